//! Every test, cheapest first.

use std::time::Instant;

use anyhow::{Context, Result};
use clap::ValueEnum;

use crate::{
    browser::Browser,
    build, packages,
    project::{self, Project, say},
    setup,
};

/// A part of the tests.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suite {
    /// Units, store, API and runtime
    Rust,
    /// Components and pages in a browser
    Browser,
    /// A browser on the release build of the server
    E2e,
}

impl Suite {
    fn describe(self) -> &'static str {
        match self {
            Self::Rust => "Units, store, API and runtime (about 10 minutes the first time, then 3)",
            Self::Browser => "Components and pages in a browser (about 5 minutes the first time, then 1)",
            Self::E2e => "End to end: a browser on the release build",
        }
    }

    fn run(self, project: &Project, browser: &Browser) -> Result<()> {
        match self {
            Self::Rust => rust(project),
            Self::Browser => in_browser(project, browser),
            Self::E2e => end_to_end(project, browser),
        }
    }
}

/// Runs these suites, or all; the first that fails is the last that runs.
pub(crate) fn test(project: &mut Project, suites: &[Suite]) -> Result<()> {
    setup::for_building(project)?;
    let browser = setup::for_testing(project)?;
    let suites = if suites.is_empty() {
        Suite::value_variants()
    } else {
        suites
    };
    let mut summary = Vec::new();
    for suite in suites {
        say(suite.describe());
        let start = Instant::now();
        suite.run(project, &browser)?;
        let name = suite.to_possible_value().context("a suite without a name")?;
        summary.push(format!("{} {} s", name.get_name(), start.elapsed().as_secs()));
    }
    eprintln!("\nAll tests passed: {}", summary.join(", "));
    Ok(())
}

fn rust(project: &Project) -> Result<()> {
    let mut cargo = project.command("cargo");
    cargo.args("test --workspace --exclude hamlet-app --no-fail-fast".split(' '));
    project::run(&mut cargo)
}

/// The editor's own tests, then the root package in the browser, with the editor's bundle; wasm-pack builds it alone.
fn in_browser(project: &Project, browser: &Browser) -> Result<()> {
    project::run(project.command("node").args(["--test", "editor/test/"]))?;
    project::run(project.command("node").arg("editor/build.mjs"))?;
    let mut wasm_pack = project.command("wasm-pack");
    wasm_pack
        .args(["test", "--headless", "--chrome", "--chromedriver"])
        .arg(&browser.driver)
        .args(["--mode", "no-install"]);
    // For all tests together; the runner's own 20 s are for a few.
    wasm_pack.env("WASM_BINDGEN_TEST_TIMEOUT", "600");
    project::run(&mut wasm_pack)
}

fn end_to_end(project: &Project, browser: &Browser) -> Result<()> {
    let server = build::release(project)?;
    let deno = packages::deno(project)?;
    say("A browser on the release build (about 5 minutes)");
    let mut node = project.command("node");
    node.args(["--test", "--test-reporter=spec", "--test-concurrency=1", "e2e/"])
        .env("HAMLET_BIN", server)
        .env("HAMLET_DENO", deno)
        .env("CHROME", &browser.chrome);
    project::run(&mut node)
}
