//! Sets up what is missing, and nothing else: when nothing is, it takes a second.

use anyhow::Result;

use crate::{
    browser::{self, Browser},
    packages,
    project::{self, Project, say},
    tools::{self, TRUNK, WASM_BINDGEN, WASM_PACK},
};

/// What every verb may need.
pub(crate) fn everything(project: &mut Project) -> Result<()> {
    for_building(project)?;
    for_testing(project)?;
    eprintln!("\nEverything is set up. Next: cargo xtask run");
    Ok(())
}

/// What the web app and the server are built with, and the Deno that runs vals.
pub(crate) fn for_building(project: &mut Project) -> Result<()> {
    tools::wasm_target(project)?;
    TRUNK.ensure(project)?;
    WASM_BINDGEN.ensure(project)?;
    packages::ensure(project, "editor", "the code editor, and Deno that runs vals")?;
    let deno = packages::deno(project)?;
    project.set_variable("HAMLET_DENO", deno);
    Ok(())
}

/// What the tests need beside that.
pub(crate) fn for_testing(project: &mut Project) -> Result<Browser> {
    WASM_PACK.ensure(project)?;
    packages::ensure(project, "e2e", "the end-to-end tests")?;
    browser::ensure(project)
}

/// rustfmt and clippy, which a minimal toolchain lacks.
pub(crate) fn for_linting(project: &Project) -> Result<()> {
    for (component, program) in [("rustfmt", "cargo-fmt"), ("clippy", "cargo-clippy")] {
        if project::output(project.command(program).arg("--version")).is_none() {
            say(&format!("Setting up {component} (seconds)"));
            project::run(project.command("rustup").args(["component", "add", component]))?;
        }
    }
    Ok(())
}
