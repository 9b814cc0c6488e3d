//! The web app: what a first visit downloads, and what Lighthouse says.

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::process::Command;

use crate::{
    Options,
    load::{self, post},
    process,
    report::{Limit, figure, heading, note, ratio},
};

/// Audits a public val's page, the home page and a user's page.
pub(crate) async fn measure(options: &Options) -> Result<()> {
    heading("Lighthouse, mobile");
    let Some(lighthouse) = &options.lighthouse else {
        note("Lighthouse was not given (--lighthouse PATH): no audit");
        return Ok(());
    };
    let folder = tempfile::tempdir()?;
    let (hamlet, token) = process::hamlet(options, &folder.path().join("hamlet"), &[]).await?;
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
        sizes(&report)?;
    }
    hamlet.stop().await
}

/// What the page loaded of the app as it was sent, without the editor.
fn sizes(report: &Value) -> Result<()> {
    let loaded = report["audits"]["network-requests"]["details"]["items"]
        .as_array()
        .context("a report without requests")?;
    let (mut all, mut wasm) = (0.0, 0.0);
    for request in loaded {
        let url = request["url"].as_str().context("a request without an address")?;
        let size = request["transferSize"].as_f64().unwrap_or(0.0) / 1e3;
        if !url.contains("/v1/") && !url.contains("/editor/") {
            all += size;
        }
        if url.ends_with(".wasm") {
            wasm += size;
        }
    }
    ratio("wasm as sent, in kB", wasm, &Limit::AtMost(250.0, 200.0));
    ratio("all as sent, in kB", all, &Limit::AtMost(330.0, 260.0));
    Ok(())
}
