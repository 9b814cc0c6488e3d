//! Where Deno is. The server's tests have it too.

use std::path::{Path, PathBuf};

/// The Deno that tests run vals on: the one that `HAMLET_DENO` names, the one on the path, or the editor's package.
pub(crate) fn deno() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|folder| folder.join("deno"));
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../editor/node_modules/@deno");
    let packaged = packages
        .read_dir()
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("deno"));
    std::env::var_os("HAMLET_DENO")
        .map(PathBuf::from)
        .into_iter()
        .chain(on_path)
        .chain(packaged)
        .find(|deno| deno.is_file())
        .expect("these tests run vals on Deno 2.9 or newer: run `cargo xtask setup`, put deno on the path, or set HAMLET_DENO")
}
