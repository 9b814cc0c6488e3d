//! `hamlet doctor`: what keeps vals and accounts' SQL in, tried on this machine.

use std::{fs, path::PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use hamlet_runtime::check_up;

use super::print;
use crate::{
    account_databases,
    config::{Config, Settings},
    server::runtime_config,
};

/// What stands before each part of what keeps accounts' SQL in.
const SQL: &str = "accounts' SQL";

/// Says of each layer whether it holds. A server may be running meanwhile: it is not touched.
#[derive(Args)]
pub(super) struct Doctor {
    /// File of settings [default: ./hamlet.toml if there is one]
    #[arg(long, env = "HAMLET_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

impl Doctor {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let config = Config::try_from(self.settings.over_file(self.config.as_deref())?)?;
        let folder = tempfile::Builder::new().prefix("hamlet-").tempdir()?;
        let runtime = runtime_config(&config, folder.path().join("work"), folder.path().join("cache"));
        let found = check_up(runtime).await.context("vals can't run here")?;

        tell(
            true,
            "deno",
            &format!("{} at {}", found.deno_version, config.deno.display()),
        )?;
        let mut broken = Vec::new();
        let mut unusable = false;
        let (holds, proof) = match &found.permissions {
            Ok(proof) => (true, proof),
            Err(why) => (false, why),
        };
        if !holds {
            broken.push("Deno's permissions".to_owned());
        }
        tell(holds, "Deno's permissions", proof)?;
        for finding in &found.layers {
            tell(finding.holds, finding.layer.name(), &finding.proof)?;
            if !finding.holds && !finding.layer.is_extra() {
                broken.push(finding.layer.name().to_owned());
            }
        }
        let folder = folder.path().join("sqlite");
        fs::create_dir(&folder)?;
        let tried = account_databases::try_out(&config.launcher, &folder, config.sql).await;
        for trial in tried.context("accounts' SQL can't run here")? {
            let what = format!("{SQL}: {}", trial.part);
            tell(trial.holds, &what, &trial.proof)?;
            if !trial.holds {
                broken.push(what);
            }
        }
        match &found.network {
            Some(why) => tell(false, "network", why)?,
            None => tell(true, "network", "there is an IPv4 route, which is what vals use")?,
        }
        if let Some(bucket) = &config.bucket {
            let checked = bucket.check().await;
            match &checked {
                Ok(()) => tell(true, "blobs", &format!("{bucket} keeps what is written to it"))?,
                Err(error) => tell(false, "blobs", &error.to_string())?,
            }
            unusable = checked.is_err();
        }
        if found.is_root {
            tell(
                false,
                "user",
                "the server and its workers belong to root: give it a user of its own",
            )?;
        }
        if !broken.is_empty() {
            bail!(
                "vals and SQL are not locked in as they should be: {} does not hold",
                broken.join(", ")
            );
        }
        if unusable {
            bail!("blobs and mail have no place to be kept in");
        }
        Ok(())
    }
}

fn tell(holds: bool, what: &str, proof: &str) -> anyhow::Result<()> {
    let mark = if holds { "ok" } else { "no" };
    print(format_args!("{mark}  {what}: {proof}"))
}
