//! The `/v1` interface: reads, pages and creates.

use std::{net::SocketAddr, time::Duration};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{
    Options,
    load::{self, get, load, post},
    peers,
    process::{self, Server, free_address, peer_command},
    report::{self, Limit, figure, heading, median, median_ratio, ratio},
};

const CONNECTIONS: usize = 32;
/// How many vals lie in the store before anything is measured.
const VALS: usize = 1_000;

/// A target of one comparison: who, where, and the request.
struct Target<'a> {
    name: &'a str,
    address: SocketAddr,
    request: String,
}

/// Prints the rates of every target and answers them, a row of rounds a target.
async fn compare(options: &Options, title: &str, targets: &[Target<'_>]) -> Result<Vec<Vec<f64>>> {
    heading(&format!("{title}, {CONNECTIONS} connections"));
    let mut rates = vec![Vec::new(); targets.len()];
    let mut p99 = vec![Vec::new(); targets.len()];
    for round in 0..=options.rounds {
        for (index, target) in targets.iter().enumerate() {
            let time = Duration::from_secs_f64(options.seconds);
            let load = load(target.address, &target.request, CONNECTIONS, time)
                .await
                .context(target.name.to_owned())?;
            // The first round warms caches, files and the processor up.
            if round > 0 {
                rates[index].push(load.rate);
                p99[index].push(report::percentile_ms(&load.latencies, 0.99));
            }
        }
    }
    for (index, target) in targets.iter().enumerate() {
        figure(target.name, median(&rates[index]), "a second");
        figure(&format!("{}, p99", target.name), median(&p99[index]), "ms");
    }
    Ok(rates)
}

/// Measures reads by id, pages of 20 by time, and creates.
pub(crate) async fn measure(options: &Options) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (hamlet, token) = process::hamlet(options, &folder.path().join("hamlet"), &[]).await?;
    let host = hamlet.address.to_string();
    let authorization = format!("authorization: Bearer {token}\r\n");
    let code = sample_code();
    let new_val = json!({"code": code, "privacy": "public", "type": "script"}).to_string();
    let create = post(&host, "/v1/vals", &authorization, &new_val);

    let pocketbase = peers::pocketbase(options, &folder.path().join("pocketbase")).await?;
    let mut val = Value::Null;
    for _ in 0..VALS {
        val = load::json(hamlet.address, &create).await?;
    }
    let id = val["id"].as_str().context("a val without an id")?;
    let user = val["author"]["id"].as_str().context("a val without an author")?;

    let read = get(&host, &format!("/v1/vals/{id}"), "");
    let sample = folder.path().join("val.json");
    std::fs::write(
        &sample,
        serde_json::to_vec(&load::json(hamlet.address, &read).await?)?,
    )?;
    let bare_address = free_address()?;
    let bare_listen = bare_address.to_string();
    let sample_path = sample
        .to_str()
        .context("a temporary folder whose path is no UTF-8")?;
    let bare = Server::start(
        peer_command(&["--listen", &bare_listen, "bare", sample_path])?,
        bare_address,
    )
    .await?;

    let mut reads = vec![
        Target {
            name: "bare axum handler",
            address: bare.address,
            request: get(&bare_listen, &format!("/v1/vals/{id}"), ""),
        },
        Target {
            name: "Hamlet, GET /v1/vals/{id}",
            address: hamlet.address,
            request: read,
        },
    ];
    let mut pages = vec![Target {
        name: "Hamlet, GET /v1/users/{id}/vals?limit=20",
        address: hamlet.address,
        request: get(&host, &format!("/v1/users/{user}/vals?limit=20"), ""),
    }];
    let mut creates = vec![Target {
        name: "Hamlet, POST /v1/vals (synced)",
        address: hamlet.address,
        request: create,
    }];
    if let Some(pocketbase) = &pocketbase {
        let peer = PocketBase::fill(pocketbase, &val, &code).await?;
        reads.push(Target {
            name: "PocketBase, record by id",
            address: pocketbase.address,
            request: peer.read,
        });
        pages.push(Target {
            name: "PocketBase, page of 20 by time",
            address: pocketbase.address,
            request: peer.page,
        });
        creates.push(Target {
            name: "PocketBase, create",
            address: pocketbase.address,
            request: peer.create,
        });
    }

    let rates = compare(options, "Reads by id", &reads).await?;
    ratio(
        "Hamlet / bare handler",
        median_ratio(&rates[1], &rates[0]),
        &Limit::AtLeast(0.25, 0.5),
    );
    if let Some(peer) = rates.get(2) {
        ratio(
            "Hamlet / PocketBase",
            median_ratio(&rates[1], peer),
            &Limit::AtLeast(3.0, 3.0),
        );
    }
    let rates = compare(options, "Pages of 20, newest first", &pages).await?;
    if let Some(peer) = rates.get(1) {
        ratio(
            "Hamlet / PocketBase",
            median_ratio(&rates[0], peer),
            &Limit::AtLeast(5.0, 5.0),
        );
    }
    let rates = compare(options, "Creates", &creates).await?;
    if let Some(peer) = rates.get(1) {
        ratio(
            "Hamlet / PocketBase",
            median_ratio(&rates[0], peer),
            &Limit::AtLeast(1.0, 1.5),
        );
    } else {
        report::note("PocketBase was not given (--pocketbase PATH): no comparison with it");
    }
    if let Some(pocketbase) = pocketbase {
        pocketbase.stop().await?;
    }
    bare.stop().await?;
    hamlet.stop().await
}

/// The requests that ask PocketBase for the same.
struct PocketBase {
    read: String,
    page: String,
    create: String,
}

impl PocketBase {
    /// Fills the collection with as many records, each as large as the val's answer.
    async fn fill(server: &Server, val: &Value, code: &str) -> Result<Self> {
        let host = server.address.to_string();
        let record = json!({
            "name": val["name"], "code": code, "readme": "", "privacy": "public", "type": "script",
            "url": val["url"], "module": val["links"].to_string(),
        });
        let create = post(&host, "/api/collections/vals/records", "", &record.to_string());
        let mut made = Value::Null;
        for _ in 0..VALS {
            made = load::json(server.address, &create).await?;
        }
        let id = made["id"].as_str().context("a record without an id")?;
        Ok(Self {
            read: get(&host, &format!("/api/collections/vals/records/{id}"), ""),
            page: get(
                &host,
                "/api/collections/vals/records?perPage=20&sort=-created",
                "",
            ),
            create,
        })
    }
}

/// A val of ordinary size: about a kilobyte.
fn sample_code() -> String {
    let line = "export function greet(name: string): string { return `Hello, ${name}!`; }\n";
    line.replace("greet", "greeting").repeat(13)
}
