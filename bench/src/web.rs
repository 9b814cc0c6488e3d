//! The web app: what a first visit downloads, and what Lighthouse says.

use std::{io::Write, path::Path};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    Options,
    load::{self, post},
    process,
    report::{Limit, figure, heading, note, ratio},
};

/// Measures sizes, then audits a val's page.
pub(crate) async fn measure(options: &Options) -> Result<()> {
    sizes(&options.app)?;
    audit(options).await
}

/// What `/v/…` loads before the editor, compressed as the server sends it.
fn sizes(app: &Path) -> Result<()> {
    heading("First load of a val's page, without the editor");
    let mut total = 0;
    for entry in std::fs::read_dir(app).with_context(|| format!("no built app in {}", app.display()))? {
        let path = entry?.path();
        let Some(extension) = path.extension().and_then(|extension| extension.to_str()) else {
            continue;
        };
        if !["html", "js", "css", "wasm", "svg"].contains(&extension) {
            continue;
        }
        let mut writer = brotli::CompressorWriter::new(Vec::new(), 1 << 16, 11, 22);
        writer.write_all(&std::fs::read(&path)?)?;
        let size = writer.into_inner().len();
        total += size;
        if extension == "wasm" {
            ratio(
                "wasm, brotli, in kB",
                size as f64 / 1e3,
                &Limit::AtMost(250.0, 200.0),
            );
        } else {
            figure(extension, size as f64 / 1e3, "kB");
        }
    }
    ratio(
        "all, brotli, in kB",
        total as f64 / 1e3,
        &Limit::AtMost(330.0, 260.0),
    );
    Ok(())
}

/// Lighthouse, mobile, on a public val's page.
async fn audit(options: &Options) -> Result<()> {
    heading("Lighthouse, mobile");
    let Some(lighthouse) = &options.lighthouse else {
        note("Lighthouse was not given (--lighthouse PATH): no audit");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let (hamlet, token) = process::hamlet(options, &folder.path().join("hamlet")).await?;
    let host = hamlet.address.to_string();
    let val = json!({"name": "hello", "code": "export default () => \"Hello!\";\n", "privacy": "public"})
        .to_string();
    let made = load::json(
        hamlet.address,
        &post(
            &host,
            "/v1/vals",
            &format!("authorization: Bearer {token}\r\n"),
            &val,
        ),
    )
    .await?;
    let url = made["url"].as_str().context("a val without a page")?;
    for page in [
        url.to_owned(),
        format!("http://{host}/"),
        format!("http://{host}/u/bench"),
    ] {
        let report = folder.path().join("report.json");
        let status = Command::new(lighthouse)
            .arg(&page)
            .args(["--quiet", "--output=json", "--only-categories=performance,accessibility,best-practices"])
            .arg(format!("--output-path={}", report.display()))
            .arg("--chrome-flags=--headless=new --no-sandbox --disable-dev-shm-usage --disable-background-networking --disable-component-update --disable-sync")
            .kill_on_drop(true)
            .status()
            .await?;
        anyhow::ensure!(status.success(), "Lighthouse ended with {status}");
        let report: Value = serde_json::from_slice(&std::fs::read(&report)?)?;
        note(page.trim_start_matches(&format!("http://{host}")));
        for (category, least, aim) in [
            ("performance", 90.0, 95.0),
            ("accessibility", 100.0, 100.0),
            ("best-practices", 100.0, 100.0),
        ] {
            let score = report["categories"][category]["score"]
                .as_f64()
                .unwrap_or(f64::NAN)
                * 100.0;
            ratio(category, score, &Limit::AtLeast(least, aim));
        }
        let shift = report["audits"]["cumulative-layout-shift"]["numericValue"]
            .as_f64()
            .unwrap_or(f64::NAN);
        ratio("cumulative layout shift", shift, &Limit::AtMost(0.02, 0.0));
        let paint = report["audits"]["largest-contentful-paint"]["numericValue"]
            .as_f64()
            .unwrap_or(f64::NAN);
        figure("largest contentful paint", paint, "ms");
    }
    hamlet.stop().await
}
