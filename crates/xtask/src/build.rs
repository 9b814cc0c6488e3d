//! The web app and the server, as they are released.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    path::PathBuf,
};

use anyhow::Result;

use crate::{
    fingerprint::{Stamp, fingerprint},
    project::{self, Project, say},
    split,
};

/// What the web app is made from.
const APP: [&str; 9] = [
    "Cargo.lock",
    "Cargo.toml",
    "Trunk.toml",
    "crates/models",
    "editor",
    "index.html",
    "public",
    "src",
    "style",
];

/// The release binary, with the web app inside. Each is built only if what it is made from has changed.
pub(crate) fn release(project: &Project) -> Result<PathBuf> {
    app(project)?;
    say("Building the server (about 10 minutes the first time, seconds when nothing changed)");
    project::run(
        project
            .command("cargo")
            .args(["build", "--release", "--package", "hamlet"]),
    )?;
    Ok(project.target.join("release/hamlet"))
}

/// The web app in `dist/`. Trunk starts from nothing each time, so it is asked only when there is a change.
pub(crate) fn app(project: &Project) -> Result<()> {
    let stamp = app_stamp(project);
    let sources = fingerprint(&project.root, &APP)?;
    if stamp.says(&format!("{sources} {}", built(project)?)) {
        return Ok(());
    }
    say("Building the web app (about 5 minutes the first time, 2 after a change)");
    let mut trunk = project.command("trunk");
    trunk.args(["build", "--release", "--skip-version-check"]);
    split::prepare(&mut trunk);
    project::run(&mut trunk)?;
    split::split(project)?;
    let mut sizes = project.command("node");
    project::run(sizes.args(["crates/xtask/src/sizes.mjs", "dist"]))?;
    Ok(stamp.write(&format!("{sources} {}", built(project)?))?)
}

/// The note of what `dist/` was built from; a target folder may serve several checkouts.
pub(crate) fn app_stamp(project: &Project) -> Stamp {
    let mut hasher = DefaultHasher::new();
    project.root.hash(&mut hasher);
    Stamp(project.target.join(format!("xtask/app-{:016x}", hasher.finish())))
}

fn built(project: &Project) -> std::io::Result<String> {
    fingerprint(&project.root.join("dist"), &[""])
}
