//! What vals import by `jsr:`: chosen and locked when a version is saved.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    own_network::{Origins, in_own_network},
    remote_modules::Ada,
};

/// From now on the registry has these versions of `@ada/words`, each of which says which it is, by a module of its own.
fn publish(origins: &Origins, versions: &[&str]) {
    let about = |path: &str| format!("https://jsr.io/@ada/words/{path}");
    let latest = versions.last().expect("a version");
    let all: BTreeMap<&str, Value> = versions.iter().map(|version| (*version, json!({}))).collect();
    let meta = json!({"scope": "ada", "name": "words", "latest": latest, "versions": all});
    origins.put(&about("meta.json"), meta.to_string());
    for version in versions {
        let files = [
            ("/mod.ts", "export { said } from './said.ts';".to_owned()),
            ("/said.ts", format!("export const said: string = '{version}';")),
        ];
        let manifest: BTreeMap<&str, Value> = files
            .iter()
            .map(|(path, code)| {
                let sum: String = Sha256::digest(code)
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect();
                let file = json!({"size": code.len(), "checksum": format!("sha256-{sum}")});
                (*path, file)
            })
            .collect();
        let of_version = json!({"manifest": manifest, "exports": {".": "./mod.ts"}});
        origins.put(&about(&format!("{version}_meta.json")), of_version.to_string());
        for (path, code) in files {
            origins.put(&about(&format!("{version}{path}")), code);
        }
    }
}

#[test]
fn a_version_keeps_the_package_that_its_range_came_to() {
    in_own_network(async |network| {
        let origins = &network.origins;
        publish(origins, &["1.0.0"]);
        let code = "import { said } from 'jsr:@ada/words@^1'; export default () => said;";
        let ada = Ada::new().await;
        let (id, warnings) = ada.create("main", code).await;
        assert_eq!(warnings, [""; 0]);
        assert_eq!(ada.call("main").await, Ok(json!("1.0.0")));

        publish(origins, &["1.0.0", "1.1.0"]);
        origins.asked();
        assert_eq!(ada.call("main").await, Ok(json!("1.0.0")));
        let ada = ada.restarted().await;
        assert_eq!(ada.call("main").await, Ok(json!("1.0.0")));
        assert_eq!(origins.asked(), [""; 0], "a run asks no registry");
        ada.create("new", code).await;
        assert_eq!(
            ada.call("new").await,
            Ok(json!("1.1.0")),
            "a new save takes what there is"
        );
        assert_eq!(ada.call("main").await, Ok(json!("1.0.0")), "also beside another");
        let ada = ada.without_cache().await;
        assert_eq!(
            ada.call("main").await,
            Ok(json!("1.0.0")),
            "fetched again as it was"
        );
        ada.save(&id, &format!("{code} // Again.")).await;
        assert_eq!(ada.call("main").await, Ok(json!("1.1.0")));
    });
}
