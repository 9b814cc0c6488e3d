//! npm packages: installed anew only when their lock file has changed.

use std::{fs, path::PathBuf};

use anyhow::{Context, Result, bail};

use crate::{
    fingerprint::{Stamp, fingerprint},
    project::{self, Project, say},
};

/// Has the packages that a folder's lock file names.
pub(crate) fn ensure(project: &Project, folder: &str, purpose: &str) -> Result<()> {
    let stamp = Stamp(project.root.join(folder).join("node_modules/.installed"));
    let locked = fingerprint(&project.root.join(folder), &["package.json", "package-lock.json"])?;
    if stamp.says(&locked) {
        return Ok(());
    }
    if project.find("npm").is_none() {
        bail!("npm was not found: install Node 20 or newer with npm (https://nodejs.org), then try again");
    }
    say(&format!("Setting up the npm packages of {purpose} (a minute)"));
    let mut install = project.command("npm");
    // The programs inside work without what packages would run at installation.
    install.args([
        "ci",
        "--ignore-scripts",
        "--no-audit",
        "--no-fund",
        "--prefix",
        folder,
    ]);
    project::run(&mut install)?;
    Ok(stamp.write(&locked)?)
}

/// The pinned Deno, which an npm package carries.
pub(crate) fn deno(project: &Project) -> Result<PathBuf> {
    let folder = project.root.join("editor/node_modules/@deno");
    let entries =
        fs::read_dir(&folder).with_context(|| format!("no Deno for this machine in {}", folder.display()))?;
    entries
        .filter_map(|entry| Some(entry.ok()?.path().join("deno")))
        .find(|path| path.is_file())
        .with_context(|| format!("no Deno for this machine in {}", folder.display()))
}
