//! A network of a test's own, in which it is everybody: what a val sends anywhere is seen to arrive, or not to.
//!
//! Such a test runs itself once more, in namespaces for the network, mounts and processes. There it has whatever
//! addresses it gives itself and every port of them, answers who asks for a name, and vouches for every host.

mod names;
mod origins;
mod traps;

use std::{
    any::type_name,
    env, fs,
    net::Ipv4Addr,
    path::{Path, PathBuf},
    process::{Command, Output},
};

pub(crate) use self::{
    names::Names,
    origins::Origins,
    traps::{PRIVATE, Traps},
};

/// The address of everyone who is on the network.
pub(crate) const PUBLIC: Ipv4Addr = Ipv4Addr::new(203, 0, 113, 7);
/// Where a test runs within its network: the folder of what it was given.
const INSIDE: &str = "HAMLET_TEST_NETWORK";
/// What libtest ends with if a test failed.
const FAILED: i32 = 101;

/// Takes the addresses, and puts the files of the folder before those of the system; then becomes the test.
const SET_UP: &str = r#"
set -e
ip link set lo up
for address in $ADDRESSES; do ip address add "$address/32" dev lo; done
for file in resolv.conf hosts nsswitch.conf; do
    if [ -e "/etc/$file" ]; then mount --bind "$HAMLET_TEST_NETWORK/$file" "/etc/$file"; fi
done
ulimit -n "$(ulimit -Hn)"
exec "$@"
"#;

/// Who is on the network.
pub(crate) struct Network {
    pub(crate) names: Names,
    pub(crate) origins: Origins,
}

impl Network {
    async fn start(folder: &Path) -> Self {
        let names = Names::start().await;
        let origins = Origins::start(names.clone(), &authority(folder)).await;
        Self { names, origins }
    }
}

/// The certificate of who vouches for the hosts of this network.
fn authority(folder: &Path) -> PathBuf {
    folder.join("authority.pem")
}

/// Runs a test in a network of its own. A system that gives it none is told of, and is a failure in CI alone.
///
/// To be called by the test's function itself, whose name it needs.
pub(crate) fn in_own_network<T: AsyncFnOnce(Network)>(test: T) {
    if let Some(folder) = env::var_os(INSIDE) {
        tokio::runtime::Runtime::new()
            .expect("a runtime")
            .block_on(async { test(Network::start(Path::new(&folder)).await).await });
        return;
    }
    let closure = type_name::<T>();
    let (_, path) = closure.split_once("::").expect("a path");
    let name = path.trim_end_matches("::{{closure}}");
    match run_inside(name) {
        Ok(output) if output.status.success() => {
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(said.contains("1 passed"), "{name} is no test: {said}");
        }
        Ok(output) if output.status.code().is_none_or(|code| code == FAILED) => {
            panic!("in a network of its own: {}", said(&output));
        }
        Ok(output) => none_here(name, &said(&output)),
        Err(error) => none_here(name, &error.to_string()),
    }
}

fn none_here(name: &str, why: &str) {
    assert!(
        env::var_os("CI").is_none(),
        "a test has no network of its own: {why}"
    );
    eprintln!("{name} was not run: this system gives it no network of its own: {why}");
}

fn said(output: &Output) -> String {
    let [out, err] = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said));
    format!("{}\n{out}{err}", output.status)
}

/// Runs the test of this name in namespaces that end with it.
fn run_inside(name: &str) -> std::io::Result<Output> {
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("resolv.conf"), "nameserver 127.0.0.1\n")?;
    fs::write(folder.path().join("hosts"), "127.0.0.1 localhost\n")?;
    fs::write(folder.path().join("nsswitch.conf"), "hosts: files dns\n")?;
    let addresses: Vec<String> = [PUBLIC]
        .iter()
        .chain(&PRIVATE)
        .filter(|address| !address.is_loopback())
        .map(Ipv4Addr::to_string)
        .collect();
    Command::new("unshare")
        .args("--user --map-root-user --net --mount --pid --fork --mount-proc --kill-child".split(' '))
        .args(["sh", "-c", SET_UP, "sh"])
        .arg(env::current_exe()?)
        .args([name, "--exact", "--nocapture"])
        .env(INSIDE, folder.path())
        .env("ADDRESSES", addresses.join(" "))
        .env("DENO_CERT", authority(folder.path()))
        .output()
}
