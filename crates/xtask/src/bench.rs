//! Measurements of the release build beside its peers.

use std::{ffi::OsString, path::PathBuf};

use anyhow::Result;

use crate::{
    browser, build, packages,
    project::{self, Project, say},
    setup,
};

/// Audits pages; the last that runs on Node 20.
const LIGHTHOUSE: &str = "12.8.2";
/// Runs handlers on Deno, behind Node.
const DENO_HTTP_WORKER: &str = "3.0.0";

/// Builds, fetches the peers that can be had, and measures.
pub(crate) fn bench(project: &mut Project, arguments: &[OsString]) -> Result<()> {
    setup::for_building(project)?;
    let server = build::release(project)?;
    let mut command = project.command("cargo");
    command.args("run --release --package hamlet-bench -- --hamlet".split(' '));
    command.arg(server).arg("--deno").arg(packages::deno(project)?);
    match pocketbase(project) {
        Ok(path) => {
            command.arg("--pocketbase").arg(path);
        }
        Err(error) => eprintln!("Without PocketBase: {error:#}"),
    }
    match deno_http_worker(project) {
        Ok(folder) => {
            command.arg("--deno-http-worker").arg(folder);
        }
        Err(error) => eprintln!("Without deno-http-worker: {error:#}"),
    }
    match lighthouse(project) {
        Ok(path) => {
            command.arg("--lighthouse").arg(path);
            command.env("CHROME_PATH", browser::ensure(project)?.chrome);
        }
        Err(error) => eprintln!("Without Lighthouse: {error:#}"),
    }
    say("Measuring (about 10 minutes; close what else is running)");
    project::run(command.args(arguments))
}

/// PocketBase, in a Python environment of its own.
fn pocketbase(project: &Project) -> Result<PathBuf> {
    let folder = project.cache.join("tools/pocketbase");
    let program = folder.join("bin/pocketbase");
    if !program.is_file() {
        say("Setting up PocketBase, to compare with (a minute)");
        project::run(project.command("python3").args(["-m", "venv"]).arg(&folder))?;
        let mut pip = project.command(&folder.join("bin/pip").to_string_lossy());
        project::run(pip.args(["install", "--quiet", "--requirement", "bench/requirements.txt"]))?;
    }
    Ok(program)
}

/// The folder that deno-http-worker is installed in.
fn deno_http_worker(project: &Project) -> Result<PathBuf> {
    let package = format!("@valtown/deno-http-worker@{DENO_HTTP_WORKER}");
    npm_tool(
        project,
        "deno-http-worker",
        DENO_HTTP_WORKER,
        &package,
        "to compare with",
    )
}

/// Lighthouse's command line.
fn lighthouse(project: &Project) -> Result<PathBuf> {
    let package = format!("lighthouse@{LIGHTHOUSE}");
    let folder = npm_tool(
        project,
        "lighthouse",
        LIGHTHOUSE,
        &package,
        "to audit the web app",
    )?;
    Ok(folder.join("node_modules/.bin/lighthouse"))
}

/// A package of npm in a folder of its own, which is answered.
fn npm_tool(project: &Project, name: &str, version: &str, package: &str, purpose: &str) -> Result<PathBuf> {
    let folder = project.cache.join(format!("tools/{name}-{version}"));
    if !folder.join("node_modules").is_dir() {
        say(&format!("Setting up {package}, {purpose} (a minute)"));
        let mut npm = project.command("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--no-save", "--prefix"]);
        project::run(npm.arg(&folder).arg(package))?;
    }
    Ok(folder)
}
