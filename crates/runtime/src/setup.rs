//! What has to be there before the first worker: a Deno that is new enough, an empty folder, the workers' own modules.

use std::{fs, io, os::unix::fs::DirBuilderExt, path::PathBuf, process::Stdio};

use tokio::process::Command;

use crate::{RuntimeConfig, RuntimeError, compile, system};

/// The oldest Deno that vals are written for.
const OLDEST_DENO: (u64, u64) = (2, 9);
/// The system takes 107 bytes for the path of a Unix socket, and a worker's is this much longer than the work folder's.
const LONGEST_WORK_DIR: usize = 107 - "/18446744073/socket".len();

/// The workers' own modules, in the order of nothing: they import each other.
const BOOTSTRAP: [(&str, &str); 9] = [
    ("main", include_str!("../worker/main.ts")),
    ("natives", include_str!("../worker/natives.ts")),
    ("channel", include_str!("../worker/channel.ts")),
    ("console", include_str!("../worker/console.ts")),
    ("errors", include_str!("../worker/errors.ts")),
    ("modules", include_str!("../worker/modules.ts")),
    ("entry", include_str!("../worker/entry.ts")),
    ("evaluate", include_str!("../worker/evaluate.ts")),
    ("serve", include_str!("../worker/serve.ts")),
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
    match fs::remove_dir_all(work_dir) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause.into()),
        _ => {}
    }
    fs::DirBuilder::new()
        .mode(0o700)
        .recursive(true)
        .create(work_dir)?;
    fs::create_dir_all(&config.cache_dir)?;
    let dir = work_dir.join("bootstrap");
    fs::create_dir(&dir)?;
    for (name, source) in BOOTSTRAP {
        let code = compile::strip_types(source).map_err(io::Error::other)?;
        fs::write(dir.join(format!("{name}.mjs")), code.replace(".ts\";", ".mjs\";"))?;
    }
    Ok(dir.join("main.mjs"))
}
