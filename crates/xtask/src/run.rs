//! Hamlet in release, as a user runs it.

use std::{ffi::OsString, os::unix::process::CommandExt};

use anyhow::Result;

use crate::{
    build,
    project::{Project, announce, say},
    setup,
};

/// Sets up, builds, and becomes the server: signals reach it as if it had been started alone.
pub(crate) fn run(project: &mut Project, arguments: &[OsString]) -> Result<()> {
    setup::for_building(project)?;
    let server = build::release(project)?;
    say("Starting Hamlet (Ctrl-C ends it)");
    let mut command = project.command(&server.to_string_lossy());
    command.arg("serve").args(arguments);
    announce(&command);
    Err(command.exec().into())
}
