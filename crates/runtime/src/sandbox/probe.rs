//! Whether the lock holds: tried by a process that wears it.

use std::{
    fs, io,
    net::{TcpListener, UdpSocket},
    process::{Command, Stdio},
};

use nix::{
    libc::EAFNOSUPPORT,
    sys::{prctl, resource::getrlimit, signal::kill},
    unistd::{Pid, truncate},
};

use super::{Finding, LAUNCH, Layer, Lock, launch::Missing, limits, rights};
use crate::RuntimeError;

/// Asks a process that has put on this lock; `why_no_cgroup` explains a lock without one.
pub(crate) async fn probe(
    launcher: &std::path::Path,
    lock: &Lock,
    why_no_cgroup: Option<&str>,
) -> Result<Vec<Finding>, RuntimeError> {
    let broken = |why: String| {
        RuntimeError::Sandbox(format!(
            "the launcher of workers, {}, does not work: {why}",
            launcher.display()
        ))
    };
    let asked = tokio::process::Command::new(launcher)
        .arg(LAUNCH)
        .arg(serde_json::to_string(lock).map_err(|cause| broken(cause.to_string()))?)
        .env_clear()
        .current_dir(&lock.scratch)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await;
    let output = asked.map_err(|cause| broken(cause.to_string()))?;
    let mut findings: Vec<Finding> = serde_json::from_slice(&output.stdout).map_err(|_| {
        broken(format!(
            "it says {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ))
    })?;
    if let Some(why) = why_no_cgroup
        && let Some(cgroup) = findings.iter_mut().find(|finding| finding.layer == Layer::Cgroup)
    {
        why.clone_into(&mut cgroup.proof);
    }
    Ok(findings)
}

/// Tries each layer from inside.
pub(super) fn find(lock: &Lock, missing: &Missing) -> Vec<Finding> {
    Layer::ALL
        .into_iter()
        .map(|layer| {
            let (holds, tried) = attempt(layer, lock);
            let part = match layer {
                Layer::Ports | Layer::Signals => Layer::Files,
                Layer::Ipv6 => Layer::Programs,
                own => own,
            };
            let why = missing.iter().find(|(of, _)| *of == part);
            let proof = match why {
                Some((_, why)) if !holds => format!("{tried} ({why})"),
                None if !holds && layer == Layer::Ports => {
                    format!("{tried} (Landlock knows of ports since Linux 6.7)")
                }
                _ => tried,
            };
            Finding { layer, holds, proof }
        })
        .collect()
}

/// Whether the layer holds, and what was tried.
fn attempt(layer: Layer, lock: &Lock) -> (bool, String) {
    match layer {
        Layer::NewPrivileges => {
            let set = prctl::get_no_new_privs() == Ok(true);
            let few = rights::are_few().unwrap_or(false);
            let said = match (set, few) {
                (true, true) => "no_new_privs is set, and no capability is left that matters",
                (true, false) => "no_new_privs is set, but capabilities are left",
                (false, _) => "no_new_privs is not set",
            };
            (set && few, said.to_owned())
        }
        Layer::Files => {
            let listing = refused("listing /", fs::read_dir("/"), is_denied);
            let what = "cutting a file that it may only read";
            let cutting = refused(what, cut_a_module(lock), is_denied);
            (listing.0 && cutting.0, format!("{}; {}", listing.1, cutting.1))
        }
        Layer::Ports => refused(
            "listening on 127.0.0.1",
            TcpListener::bind("127.0.0.1:0"),
            is_denied,
        ),
        Layer::Signals => {
            let sent = kill(Pid::parent(), None).map_err(io::Error::from);
            refused("a signal to the server", sent, is_denied)
        }
        Layer::Programs => {
            let mut command = Command::new(&lock.deno);
            let child = command
                .arg("--version")
                .stdin(Stdio::null())
                .stdout(Stdio::null());
            let ended = child.stderr(Stdio::null()).status();
            refused("starting a program", ended, is_denied)
        }
        Layer::Ipv6 => refused("an IPv6 socket", UdpSocket::bind("[::1]:0"), |error| {
            error.raw_os_error() == Some(EAFNOSUPPORT)
        }),
        Layer::Limits => {
            let within = limits::of_worker(lock.memory_mb)
                .into_iter()
                .all(|(resource, most)| getrlimit(resource).is_ok_and(|(_, hard)| hard <= most));
            let said = if within { "all are set" } else { "one is not set" };
            (within, said.to_owned())
        }
        Layer::Cgroup => {
            let group = lock.cgroup.as_ref().and_then(|group| group.file_name());
            let name = group.map(|name| name.to_string_lossy().into_owned());
            let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
            let inside = name.is_some_and(|name| own.lines().any(|line| line.ends_with(&name)));
            let said = if inside {
                "it is in a group of its own"
            } else {
                "it is in no group of its own"
            };
            (inside, said.to_owned())
        }
    }
}

/// Gives one of the worker's own modules, which it may only read, the length that it has.
fn cut_a_module(lock: &Lock) -> io::Result<()> {
    let module = fs::read_dir(&lock.bootstrap)?.next().transpose()?;
    let module = module.ok_or(io::ErrorKind::NotFound)?;
    let length = i64::try_from(module.metadata()?.len()).map_err(io::Error::other)?;
    Ok(truncate(&module.path(), length)?)
}

pub(super) fn is_denied(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

/// Whether what was tried failed as it was wanted to, and what came of it.
pub(super) fn refused<T>(
    what: &str,
    tried: io::Result<T>,
    as_wanted: impl Fn(&io::Error) -> bool,
) -> (bool, String) {
    match tried {
        Ok(_) => (false, format!("{what} is allowed")),
        Err(error) => (as_wanted(&error), format!("{what} is refused: {error}")),
    }
}
