//! The pinned programs that the web app is built and tested with.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::project::{self, Project, say};

const WASM: &str = "wasm32-unknown-unknown";

/// A program from the package registry, in one version.
pub(crate) struct Tool {
    package: &'static str,
    version: &'static str,
    /// What it installs.
    programs: &'static [&'static str],
    /// Arguments of `cargo install`.
    arguments: &'static [&'static str],
    /// What it is for.
    purpose: &'static str,
    /// How long compiling it takes, at most, on two cores.
    minutes: u32,
}

/// Builds the web app.
pub(crate) const TRUNK: Tool = Tool {
    package: "trunk",
    version: "0.22.1",
    programs: &["trunk"],
    // It declares a newer compiler than it needs.
    arguments: &["--locked", "--ignore-rust-version"],
    purpose: "builds the web app",
    minutes: 15,
};

/// Joins WebAssembly and JavaScript; its version is that of the `wasm-bindgen` crate in Cargo.lock.
pub(crate) const WASM_BINDGEN: Tool = Tool {
    package: "wasm-bindgen-cli",
    version: "0.2.130",
    programs: &["wasm-bindgen", "wasm-bindgen-test-runner"],
    // Its own lock file names a crate version that was taken back.
    arguments: &[],
    purpose: "joins WebAssembly and JavaScript",
    minutes: 8,
};

/// Runs the browser tests.
pub(crate) const WASM_PACK: Tool = Tool {
    package: "wasm-pack",
    version: "0.15.1",
    programs: &["wasm-pack"],
    arguments: &["--locked"],
    purpose: "runs the browser tests",
    minutes: 3,
};

impl Tool {
    /// Has the tool on the path of later commands: from the cache, else the user's path, else installed.
    pub(crate) fn ensure(&self, project: &mut Project) -> Result<()> {
        let folder = project
            .cache
            .join("tools")
            .join(format!("{}-{}", self.package, self.version));
        let programs = folder.join("bin");
        if self.is_in(project, Some(&programs)) {
            project.add_to_path(programs);
            return Ok(());
        }
        if self.is_in(project, None) {
            return Ok(());
        }
        self.install(project, &folder)?;
        if !self.is_in(project, Some(&programs)) {
            bail!("{} {} was installed but does not run", self.package, self.version);
        }
        project.add_to_path(programs);
        Ok(())
    }

    /// Whether all programs are there in just this version.
    fn is_in(&self, project: &Project, folder: Option<&Path>) -> bool {
        self.programs.iter().all(|program| {
            let path = folder.map_or_else(|| PathBuf::from(program), |folder| folder.join(program));
            project::output(project.command(&path.to_string_lossy()).arg("--version"))
                .is_some_and(|answer| is_version(&answer, self.version))
        })
    }

    fn install(&self, project: &Project, folder: &Path) -> Result<()> {
        let package = format!("{}@{}", self.package, self.version);
        say(&format!(
            "Setting up {package}, which {} (once: seconds where a ready build can be had, else up to {} minutes)",
            self.purpose, self.minutes
        ));
        if project::output(project.command("cargo").args(["binstall", "-V"])).is_some() {
            let mut binstall = project.command("cargo");
            binstall.args([
                "binstall",
                "--no-confirm",
                "--disable-strategies",
                "compile",
                "--root",
            ]);
            if project::run(binstall.arg(folder).arg(&package)).is_ok() {
                return Ok(());
            }
            eprintln!("No ready build could be had: compiling it.");
        }
        let mut install = project.command("cargo");
        install
            .args(["install", "--root"])
            .arg(folder)
            .args(self.arguments)
            .arg(&package)
            // The tools share most of what they are made of, so they share a target folder. What they do is
            // short: compiling them quickly wins more than what they would gain.
            .env("CARGO_TARGET_DIR", project.cache.join("tools-target"))
            .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
            .env("CARGO_PROFILE_RELEASE_LTO", "off");
        project::run(&mut install)
    }
}

/// Has the compiler's WebAssembly target.
pub(crate) fn wasm_target(project: &Project) -> Result<()> {
    let sysroot = project::output(project.command("rustc").args(["--print", "sysroot"])).unwrap_or_default();
    if Path::new(&sysroot).join("lib/rustlib").join(WASM).is_dir() {
        return Ok(());
    }
    say("Setting up the compiler's WebAssembly target (seconds)");
    project::run(project.command("rustup").args(["target", "add", WASM]))
}

/// Whether an answer to `--version` names this version as a word.
fn is_version(answer: &str, version: &str) -> bool {
    answer
        .split_whitespace()
        .any(|word| word.trim_start_matches('v') == version)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_a_whole_word_of_the_answer() {
        assert!(is_version("wasm-bindgen 0.2.130", "0.2.130"));
        assert!(is_version("tool v0.2.130 (abc)", "0.2.130"));
        assert!(!is_version("wasm-bindgen 0.2.13", "0.2.130"));
        assert!(!is_version("wasm-bindgen 0.2.1301", "0.2.130"));
    }

    #[test]
    fn the_pinned_wasm_bindgen_is_the_locked_one() {
        let lock = include_str!("../../../Cargo.lock");
        let locked = lock
            .split("[[package]]")
            .find(|package| package.contains("name = \"wasm-bindgen\"\n"))
            .expect("wasm-bindgen in Cargo.lock");
        assert!(locked.contains(&format!("version = \"{}\"", WASM_BINDGEN.version)));
        let trunk = include_str!("../../../Trunk.toml");
        assert!(trunk.contains(&format!("wasm_bindgen = \"{}\"", WASM_BINDGEN.version)));
    }
}
