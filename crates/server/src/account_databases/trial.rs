//! What keeps accounts' SQL in, tried: a process as that of an account's database, which tells what it could not do.

use std::{
    ffi::OsString,
    fs,
    io::{self, Write},
    path::Path,
    process::{ExitCode, Stdio},
};

use anyhow::{Context, bail};
use hamlet_runtime::Trial;
use hamlet_store::SqlLimits;
use tokio::process::Command;

use super::{frames::Orders, serve};

/// The first argument of a program that is to try what keeps accounts' SQL in.
pub(crate) const TRY_ACCOUNT: &str = "try-account";
/// Another account's file, beside the one that is served.
const BESIDE: &str = "beside.db";

/// Has a process try it that serves a database in this folder, which is empty.
pub(crate) async fn try_out(launcher: &Path, folder: &Path, limits: SqlLimits) -> anyhow::Result<Vec<Trial>> {
    fs::write(folder.join(BESIDE), "another account's")?;
    let orders = Orders {
        path: folder.join("own.db"),
        limits,
        strict: false,
    };
    let output = Command::new(launcher)
        .arg(TRY_ACCOUNT)
        .arg(serde_json::to_string(&orders)?)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output()
        .await?;
    if !output.status.success() {
        bail!("its process ended: {}", String::from_utf8_lossy(&output.stderr));
    }
    serde_json::from_slice(&output.stdout).context("its process can't be understood")
}

/// The process that tries it. To be called before it has a second thread.
pub(crate) fn try_account(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let orders = arguments
        .next()
        .and_then(|orders| serde_json::from_str::<Orders>(orders.to_str()?).ok());
    let tried = orders
        .ok_or_else(|| "it has no orders".to_owned())
        .and_then(|orders| {
            let (_database, enclosure) = serve::open(&orders).map_err(|error| error.to_string())?;
            let found = enclosure.try_out(&orders.path.with_file_name(BESIDE));
            serde_json::to_writer(io::stdout(), &found).map_err(|error| error.to_string())
        });
    match tried {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            let _ = writeln!(io::stderr(), "hamlet: {why}");
            ExitCode::FAILURE
        }
    }
}
