//! Chromium and its driver, for the browser and the end-to-end tests.

use std::{env, path::PathBuf};

use anyhow::{Context, Result, bail};

use crate::project::{self, Project, say};

/// A browser, and what drives it.
pub(crate) struct Browser {
    /// The browser's program.
    pub(crate) chrome: PathBuf,
    /// Its WebDriver.
    pub(crate) driver: PathBuf,
}

const CHROMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
];

/// Finds a browser; installs Debian's where that is possible.
pub(crate) fn ensure(project: &Project) -> Result<Browser> {
    if let Some(browser) = find(project) {
        return Ok(browser);
    }
    install(project).context(
        "the browser tests need Chromium and ChromeDriver of the same version: install them (on Debian: \
         apt-get install chromium chromium-driver), or name them in CHROME and CHROMEDRIVER",
    )?;
    find(project).context("Chromium was installed but is not on the path")
}

fn find(project: &Project) -> Option<Browser> {
    let chrome = named("CHROME").or_else(|| CHROMES.iter().find_map(|name| project.find(name)))?;
    let driver = named("CHROMEDRIVER").or_else(|| project.find("chromedriver"))?;
    Some(Browser { chrome, driver })
}

fn named(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).map(PathBuf::from)
}

fn install(project: &Project) -> Result<()> {
    if project.find("apt-get").is_none() {
        bail!("there is no apt-get to install a browser with");
    }
    let root = project::output(project.command("id").arg("-u")).is_some_and(|id| id == "0");
    if !root && project::output(project.command("sudo").args(["-n", "true"])).is_none() {
        bail!("installing a browser needs root");
    }
    say("Setting up Chromium and ChromeDriver, for the browser tests (2 minutes)");
    for arguments in [
        &["update"][..],
        &[
            "install",
            "--yes",
            "--no-install-recommends",
            "chromium",
            "chromium-driver",
        ],
    ] {
        let mut command = if root {
            project.command("apt-get")
        } else {
            let mut sudo = project.command("sudo");
            sudo.args(["-n", "apt-get"]);
            sudo
        };
        project::run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))?;
    }
    Ok(())
}
