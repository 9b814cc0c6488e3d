//! Names that lead to a private address: when asked again, beside a public one, by another name, or after a redirect.

use std::net::Ipv4Addr;

use hamlet_models::{Privacy, ValKind};
use serde::Deserialize;
use serde_json::json;

use crate::{
    own_network::{Network, PUBLIC, Traps, in_own_network},
    test_app::{Client, TestApp},
};

const LOOPBACK: Ipv4Addr = Ipv4Addr::LOCALHOST;
const METADATA: Ipv4Addr = Ipv4Addr::new(169, 254, 169, 254);
const LAN: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// What each name leads to, one after the other.
const NAMES: [(&str, &[&[Ipv4Addr]]); 7] = [
    ("then-here.example", &[&[PUBLIC], &[LOOPBACK]]),
    ("first-here.example", &[&[LOOPBACK], &[PUBLIC]]),
    ("then-metadata.example", &[&[PUBLIC], &[PUBLIC], &[METADATA]]),
    ("then-lan.example", &[&[PUBLIC], &[LAN], &[LAN]]),
    ("both.example", &[&[PUBLIC, LOOPBACK]]),
    ("both-turned.example", &[&[LOOPBACK, PUBLIC]]),
    (
        "either.example",
        &[&[PUBLIC, METADATA], &[LAN, PUBLIC], &[PUBLIC]],
    ),
];
/// Another name of this machine.
const ALIAS: &str = "alias.example";
/// Addresses that are no names; the last ones as only some read them.
const NUMBERS: [&str; 9] = [
    "127.0.0.1",
    "127.9.9.9",
    "169.254.169.254",
    "10.0.0.1",
    "192.168.0.1",
    "[::1]",
    "0.0.0.0",
    "2130706433",
    "[::ffff:10.0.0.1]",
];
/// How often each name is tried.
const TRIES: usize = 4;

/// What came of trying one way.
#[derive(Deserialize)]
struct Tried {
    reached: usize,
    why: String,
}

/// Has the val try this way to these hosts.
async fn try_way(ada: &Client, way: &str, hosts: &[&str]) -> Tried {
    let args = json!({"args": [way, hosts, TRIES]});
    ada.post("/v1/run/ada.rebinds", &args).await.json()
}

async fn write_rebinds(ada: &Client) {
    let code = include_str!("rebinding/val.ts");
    ada.write_val("rebinds", ValKind::Script, Privacy::Private, code)
        .await;
}

/// Sees to it that all that may be reached is there, by every name.
fn spread(network: &Network, hosts: &[&str]) {
    for (name, turns) in NAMES {
        network.names.turn(name, turns);
    }
    network.names.alias(ALIAS, "localhost", LOOPBACK);
    network.origins.put("http://far.example/", "it is public");
    for host in hosts {
        let send = |path: &str, to: &str| {
            let from = format!("http://sends.example/to/{host}/{path}");
            network.origins.redirect(&from, &format!("http://{host}/{to}"));
        };
        send("", "");
        for nth in 0..TRIES {
            send(&nth.to_string(), &format!("redirected-{nth}.js"));
        }
        for scheme in ["http", "https"] {
            network
                .origins
                .put(&format!("{scheme}://{host}/"), "it is public");
            for kind in ["module", "unseen", "redirected", "worker"] {
                for nth in 0..TRIES {
                    let url = format!("{scheme}://{host}/{kind}-{nth}.js");
                    network.origins.put(&url, "self.postMessage?.('it is public');");
                }
            }
        }
    }
}

#[test]
fn no_way_leads_to_a_private_address_by_a_name_whose_answer_changes() {
    in_own_network(async |network| {
        let app = TestApp::running().await;
        let ada = app.user("ada").await;
        write_rebinds(&ada).await;
        let hosts = NAMES.map(|(name, _)| name);
        let own = [ALIAS, "localhost"];
        spread(&network, &[&hosts[..], &own].concat());
        let traps = Traps::set(&[80, 443]).await;

        let ways = "import { ways } from 'https://esm.town/v/ada/rebinds'; export default ways;";
        let ways = ada.post("/v1/eval", &json!({"code": ways})).await;
        for way in ways.json::<Vec<String>>() {
            let tried = try_way(&ada, &way, &hosts).await;
            assert_eq!(traps.who_came(), [""; 0], "{way}");
            let asked = network.origins.asked().len();
            assert!(
                tried.reached + asked > 0,
                "{way} has to reach the public addresses: {}",
                tried.why
            );
            try_way(&ada, &way, &own).await;
            assert_eq!(traps.who_came(), [""; 0], "{way}");
        }
    });
}

#[test]
fn no_redirect_leads_to_a_private_address() {
    in_own_network(async |network| {
        let app = TestApp::running().await;
        let ada = app.user("ada").await;
        write_rebinds(&ada).await;
        spread(&network, &NUMBERS);
        let traps = Traps::set(&[80, 443]).await;

        for way in ["a redirect", "import by a redirect"] {
            let tried = try_way(&ada, way, &NUMBERS).await;
            assert_eq!((tried.reached, traps.who_came()), (0, Vec::new()), "{way}");
            let asked = network.origins.asked().len();
            assert!(
                asked >= NUMBERS.len(),
                "{way} has to come to the redirects: {asked}"
            );
        }
    });
}
