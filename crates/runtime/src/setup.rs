//! What has to be there before the first worker: a Deno that is new enough, an empty folder, the workers' own modules.

use std::{
    fs, io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    process::Stdio,
};

use tokio::process::Command;

use crate::{RuntimeConfig, RuntimeError, compile, remove::remove_folder, system};

/// The oldest Deno that vals are written for.
const OLDEST_DENO: (u64, u64) = (2, 9);
/// The system takes 107 bytes for the path of a Unix socket, and a worker's is this much longer than the work folder's.
const LONGEST_WORK_DIR: usize = 107 - "/18446744073/socket".len();

/// The workers' own modules, each after those that it imports from.
const BOOTSTRAP: [&str; 13] = [
    include_str!("../worker/natives.ts"),
    include_str!("../worker/channel.ts"),
    include_str!("../worker/console.ts"),
    include_str!("../worker/errors.ts"),
    include_str!("../worker/modules.ts"),
    include_str!("../worker/entry.ts"),
    include_str!("../worker/evaluate.ts"),
    include_str!("../worker/serve.ts"),
    include_str!("../worker/exchange.ts"),
    include_str!("../worker/instance.ts"),
    include_str!("../worker/node.ts"),
    include_str!("../worker/threads.ts"),
    include_str!("../worker/main.ts"),
];

/// What a val's threads load before their own module.
const THREAD: [&str; 5] = [
    include_str!("../worker/natives.ts"),
    include_str!("../worker/exchange.ts"),
    include_str!("../worker/instance.ts"),
    include_str!("../worker/threads.ts"),
    include_str!("../worker/thread.ts"),
];

/// The program that runs vals.
pub(crate) struct Deno {
    /// As `2.9.6`.
    pub(crate) version: String,
    /// The program itself: what it was named by may be a link or a script that leads to it.
    pub(crate) program: PathBuf,
}

/// Asks Deno for its version and where it is; one that is too old is refused.
pub(crate) async fn check_deno(config: &RuntimeConfig) -> Result<Deno, RuntimeError> {
    let deno = &config.deno;
    let advice = "install Deno 2.9 or newer, and name it by --deno or HAMLET_DENO";
    let asked = Command::new(deno)
        .args(["eval", "--no-config"])
        .arg("console.log(`deno ${Deno.version.deno}\\n${Deno.execPath()}`)")
        .env("DENO_DIR", &config.cache_dir)
        .env("DENO_NO_UPDATE_CHECK", "1")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await;
    let output = asked.map_err(|cause| {
        RuntimeError::Deno(format!(
            "Deno could not be started from {}: {cause}; {advice}",
            deno.display()
        ))
    })?;
    let said = String::from_utf8_lossy(&output.stdout);
    let told = said
        .strip_prefix("deno ")
        .and_then(|rest| rest.trim_end().split_once('\n'));
    let (version, program) = told.ok_or_else(|| {
        RuntimeError::Deno(format!(
            "{} does not say that it is Deno; {advice}",
            deno.display()
        ))
    })?;
    let mut numbers = version
        .split(['.', '-', '+'])
        .map(|part| part.parse::<u64>().unwrap_or(0));
    let found = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if found < OLDEST_DENO {
        return Err(RuntimeError::Deno(format!(
            "{} is Deno {version}, which is too old: {advice}",
            deno.display()
        )));
    }
    Ok(Deno {
        version: version.to_owned(),
        program: program.into(),
    })
}

/// Makes the work folder new, ends what an earlier server left in it, and writes the workers' modules; gives the path
/// of their main one.
pub(crate) fn prepare(config: &RuntimeConfig) -> Result<PathBuf, RuntimeError> {
    let work_dir = &config.work_dir;
    if work_dir.as_os_str().len() > LONGEST_WORK_DIR {
        let why = format!(
            "the folder for workers has a path of more than {LONGEST_WORK_DIR} bytes, too long for a socket in it: {}",
            work_dir.display()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why).into());
    }
    system::kill_leftovers(work_dir);
    match remove_folder(work_dir) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause.into()),
        _ => {}
    }
    fs::DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(work_dir)?;
    fs::create_dir_all(&config.cache_dir)?;
    keep_no_storage(&config.cache_dir)?;
    fs::create_dir(work_dir.join("stock"))?;
    let dir = work_dir.join("bootstrap");
    fs::create_dir(&dir)?;
    let javascript =
        |sources: &[&str]| compile::strip_types(&as_one_module(sources)).map_err(io::Error::other);
    let thread = serde_json::Value::from(javascript(&THREAD)?);
    let code = format!("const threadCode = {thread};\n{}", javascript(&BOOTSTRAP)?);
    fs::write(dir.join("main.mjs"), code)?;
    Ok(dir.join("main.mjs"))
}

/// Deno keeps what scripts store for their origin in its cache, where workers of different vals have the same origin.
/// With a file in that folder's place nothing can be stored.
fn keep_no_storage(cache_dir: &Path) -> io::Result<()> {
    let storage = cache_dir.join("location_data");
    match fs::remove_dir_all(&storage) {
        Err(cause)
            if !matches!(
                cause.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Err(cause)
        }
        _ => fs::write(storage, ""),
    }
}

/// Modules that import nothing but each other's names, as one that exports nothing: a val can import any module that is
/// loaded already, and so must not find the worker's own functions there.
fn as_one_module(sources: &[&str]) -> String {
    let mut whole = String::new();
    for source in sources {
        let mut in_import = false;
        for line in source.lines() {
            in_import |= line.starts_with("import ");
            if !in_import {
                whole.push_str(line.strip_prefix("export ").unwrap_or(line));
                whole.push('\n');
            }
            in_import &= !line.ends_with(".ts\";");
        }
    }
    whole
}
