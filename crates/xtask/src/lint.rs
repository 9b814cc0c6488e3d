//! Format, types and lints, cheapest first.

use anyhow::Result;

use crate::{
    packages,
    project::{self, Project, say},
    setup, tools,
};

/// Where TypeScript and JavaScript is written by hand.
const SCRIPTS: [&str; 6] = [
    "bench/src",
    "e2e",
    "editor",
    "crates/runtime/worker",
    "crates/server/std",
    "crates/xtask/src",
];

/// Checks format, types and lints; a warning is a failure.
pub(crate) fn lint(project: &mut Project) -> Result<()> {
    setup::for_linting(project)?;
    say("Format (seconds)");
    project::run(project.command("cargo").args(["fmt", "--all", "--check"]))?;
    packages::ensure(project, "editor", "the code editor, and Deno that runs vals")?;
    packages::ensure(project, "e2e", "the end-to-end tests")?;
    let deno = packages::deno(project)?;
    let mut format = project.command(&deno.to_string_lossy());
    format.args([
        "fmt",
        "--check",
        "--quiet",
        "--no-config",
        "--line-width=110",
        "--ignore=**/dist,**/node_modules",
    ]);
    project::run(format.args(SCRIPTS))?;

    say("Types of the scripts (seconds)");
    for folder in ["editor", "e2e"] {
        let project_file = format!("{folder}/tsconfig.json");
        let mut tsc = project.command("node");
        tsc.args([
            "editor/node_modules/typescript/bin/tsc",
            "--noEmit",
            "--project",
            &project_file,
        ]);
        project::run(&mut tsc)?;
    }

    tools::wasm_target(project)?;
    say("Lints of the server and the tools (about 5 minutes the first time, then a minute)");
    project::run(project.command("cargo").args(
        "clippy --locked --workspace --exclude hamlet-app --all-targets -- --deny warnings".split(' '),
    ))?;
    say("Lints of the web app (about 3 minutes the first time, then half a minute)");
    project::run(project.command("cargo").args(
        "clippy --locked --package hamlet-app --all-features --target wasm32-unknown-unknown --all-targets -- --deny warnings"
            .split(' '),
    ))
}
