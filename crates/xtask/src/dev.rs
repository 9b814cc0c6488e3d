//! A debug build that follows every save.

use std::{
    ffi::OsString,
    process::{Child, Command},
    thread::sleep,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};

use crate::{
    build,
    fingerprint::fingerprint,
    project::{self, Project, announce, say},
    setup,
};

/// What the server is made from; the web app is read from `dist/` by debug builds.
const SERVER: [&str; 6] = [
    "Cargo.lock",
    "Cargo.toml",
    "crates/models",
    "crates/runtime",
    "crates/server",
    "crates/store",
];

/// How long the server may take to end before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// Rebuilds the web app and the server when their files change, until one of them can't be started.
pub(crate) fn dev(project: &mut Project, arguments: &[OsString]) -> Result<()> {
    setup::for_building(project)?;
    // What Trunk writes from here on is not the release build.
    build::app_stamp(project).remove();
    say("Building the web app, again at every save; reload the page to see a change");
    project::run(project.command("trunk").args(["build", "--skip-version-check"]))?;
    let mut trunk = start(project.command("trunk").args(["watch", "--skip-version-check"]))?;
    loop {
        let sources = fingerprint(&project.root, &SERVER)?;
        say("Building the server");
        let built = project::run(project.command("cargo").args(["build", "--package", "hamlet"]));
        let mut server = match built {
            Ok(()) => {
                let program = project.target.join("debug/hamlet");
                let mut command = project.command(&program.to_string_lossy());
                Some(start(command.arg("serve").args(arguments))?)
            }
            Err(error) => {
                eprintln!("{error:#}: waiting for a change");
                None
            }
        };
        while fingerprint(&project.root, &SERVER)? == sources {
            if let Some(status) = trunk.try_wait()? {
                bail!("Trunk ended with {status}");
            }
            if let Some(child) = &mut server
                && let Some(status) = child.try_wait()?
            {
                eprintln!("The server ended with {status}: waiting for a change");
                server = None;
            }
            sleep(Duration::from_millis(500));
        }
        if let Some(server) = server {
            stop(server)?;
        }
    }
}

fn start(command: &mut Command) -> Result<Child> {
    announce(command);
    command
        .spawn()
        .with_context(|| format!("can't start {}", command.get_program().to_string_lossy()))
}

/// Asks a process to end, and kills it if it takes too long.
fn stop(mut child: Child) -> Result<()> {
    kill(Pid::from_raw(child.id().cast_signed()), Signal::SIGTERM)?;
    let asked = Instant::now();
    while child.try_wait()?.is_none() {
        if asked.elapsed() > GRACE {
            child.kill()?;
        }
        sleep(Duration::from_millis(20));
    }
    Ok(())
}
