//! `https://esm.town/v/std/…`, imported by vals on the real Deno, over the real interface.

use std::{fs, path::Path, process::Command};

use axum::http::StatusCode;
use hamlet_models::{ExtendedVal, Privacy, ProblemCode, RunStatus, ValKind};
use hamlet_server::auth::VAL_WRITE;
use serde_json::{Value, json};

use crate::{
    deno::deno,
    test_app::{Client, TestApp},
};

/// What a script with this code comes to.
async fn value_of(client: &Client, code: &str) -> Value {
    let answer = client.post("/v1/eval", &json!({ "code": code })).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
    answer.value()
}

#[tokio::test]
async fn a_val_keeps_and_reads_blobs() {
    let app = TestApp::running().await;
    let (ada, eve) = (app.user("ada").await, app.user("eve").await);
    let code = r#"
        import { blob } from "https://esm.town/v/std/blob";
        await blob.setJSON("a/b", { n: 1 });
        await blob.set("text", "hello");
        await blob.set("bytes", new Uint8Array([0, 255]));
        await blob.copy("text", "copied");
        await blob.move("copied", "moved #1");
        const missing = await blob.getJSON("missing");
        const thrown = await blob.get("missing").catch((error) => error.name);
        await blob.delete("text");
        export default [
          await blob.getJSON("a/b"),
          missing === undefined,
          thrown,
          Array.from(new Uint8Array(await (await blob.get("bytes")).arrayBuffer())),
          await (await blob.get("moved #1")).text(),
          (await blob.list()).map((item) => [item.key, item.size]),
          (await blob.list("a/")).length,
        ];
    "#;
    assert_eq!(
        value_of(&ada, code).await,
        json!([
            {"n": 1}, true, "ValTownBlobNotFoundError", [0, 255], "hello",
            [["a/b", 7], ["bytes", 2], ["moved #1", 5]], 1,
        ])
    );
    assert_eq!(ada.get("/v1/blob/moved%20%231").await.text(), "hello");
    let list = "import { list } from 'https://esm.town/v/std/blob'; export default await list()";
    assert_eq!(value_of(&eve, list).await, json!([]), "each account has its own");
}

#[tokio::test]
async fn whatever_fails_of_a_blob_is_an_error_of_its_own() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = r#"
        import { blob, ValTownBlobError } from "https://esm.town/v/std/blob";
        const circle: Record<string, unknown> = {};
        circle.circle = circle;
        await blob.set("text", "hello");
        const tries: [string, () => Promise<unknown>][] = [
          ["no address can name it", () => blob.get(".")],
          ["no address can name it", () => blob.set("..", "x")],
          ["no address can name it", () => blob.getJSON("")],
          ["half a character", () => blob.set("a\ud800", "x")],
          ["half a character", () => blob.list("\udfff")],
          ["is no JSON", () => blob.getJSON("text")],
          ["undefined can't be kept", () => blob.setJSON("nothing", undefined)],
          ["function can't be kept", () => blob.setJSON("nothing", () => 1)],
          ["can't be kept as JSON", () => blob.setJSON("nothing", circle)],
          ["512 characters", () => blob.set("k".repeat(600), "x")],
          ["did not answer", () => {
            Deno.env.set("VALTOWN_API_URL", "http://127.0.0.1:1");
            return blob.get("text");
          }],
          ...[() => blob.list(), () => blob.getJSON("text"), () => blob.copy("text", "copy")].map((fails) => {
            const broken = () => new ReadableStream({ start: (body) => body.error(new Error("it broke off")) });
            return ["did not answer: it broke off", () => {
              globalThis.fetch = () => Promise.resolve(new Response(broken()));
              return fails();
            }];
          }),
        ];
        const odd = [];
        const keys = (await blob.list()).map((item) => item.key);
        for (const [words, fails] of tries) {
          const thrown = await fails().catch((error) => error);
          if (!(thrown instanceof ValTownBlobError) || !thrown.message.includes(words)) odd.push([words, `${thrown}`]);
        }
        export default [odd, keys];
    "#;
    assert_eq!(value_of(&ada, code).await, json!([[], ["text"]]));
    assert_eq!(
        ada.get("/v1/blob").await.value().as_array().map(Vec::len),
        Some(1)
    );
}

#[tokio::test]
async fn numbers_are_bound_as_they_are_or_refused() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = r#"
        import { sqlite, SqliteError } from "https://esm.town/v/std/sqlite";
        const bound = async (value) => {
          const sql = "select typeof(:it), cast(:it as text)";
          try {
            return (await sqlite.execute({ sql, args: { it: value } })).rows[0];
          } catch (error) {
            return error instanceof SqliteError ? error.message : `${error}`;
          }
        };
        export default await Promise.all([
          2n, 9007199254740993n, -(2n ** 63n), 2n ** 63n - 1n, 2n ** 63n, Infinity, -Infinity, NaN, 1.5,
        ].map(bound));
    "#;
    let too_large = "9223372036854775808 can't be bound to a parameter: SQLite's whole numbers have 64 bits.";
    let infinite = |number: &str| {
        format!("{number} can't be bound to a parameter: it has to be a finite number, or null.")
    };
    assert_eq!(
        value_of(&ada, code).await,
        json!([
            ["integer", "2"],
            ["integer", "9007199254740993"],
            ["integer", "-9223372036854775808"],
            ["integer", "9223372036854775807"],
            too_large,
            infinite("Infinity"),
            infinite("-Infinity"),
            infinite("NaN"),
            ["real", "1.5"],
        ])
    );
}

#[tokio::test]
async fn a_val_asks_its_accounts_database() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = r#"
        import { sqlite } from "https://esm.town/v/std/sqlite?v=4";
        await sqlite.batch([
          "create table t (id integer primary key, body text, data blob)",
          { sql: "insert into t (body, data) values (:body, :data)", args: { body: "one", data: new Uint8Array([1, 2]) } },
        ], "write");
        await sqlite.execute({ sql: "insert into t (body) values (?)", args: [2n] });
        const thrown = await sqlite.execute("select * from missing").catch((error) => [error.name, error.message]);
        const { columns, rows } = await sqlite.execute("select body, data from t order by id");
        export default [columns, rows, thrown];
    "#;
    let value = value_of(&ada, code).await;
    assert_eq!(value[0], json!(["body", "data"]));
    assert_eq!(value[1], json!([["one", {"base64": "AQI="}], ["2", null]]));
    assert_eq!(value[2][0], "SqliteError");
    assert!(
        value[2][1]
            .as_str()
            .is_some_and(|message| message.contains("no such table")),
        "{value}"
    );
}

#[tokio::test]
async fn a_val_fetches() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = r#"
        import { fetch, fetchJSON, fetchText } from "https://esm.town/v/std/fetch";
        const me = Deno.env.get("VALTOWN_API_URL") + "/v1/me";
        const headers = { authorization: `Bearer ${Deno.env.get("valtown")}` };
        const thrown = await fetchJSON("data:text/plain,no").catch((error) => error.message);
        export default [
          (await fetchJSON(me, { headers })).username,
          JSON.parse(await fetchText(me, { headers })).username,
          (await fetch(me)).status,
          await fetchText("data:text/plain,hi"),
          thrown,
        ];
    "#;
    let value = value_of(&ada, code).await;
    assert_eq!(
        value.as_array().map(|values| &values[..4]),
        Some(&[json!("ada"), json!("ada"), json!(401), json!("hi")][..])
    );
    assert!(
        value[4]
            .as_str()
            .is_some_and(|message| message.contains("begins with: no"))
    );
}

#[tokio::test]
async fn a_val_fetches_wherever_the_instance_leads_by_whichever_of_its_names() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    ada.write_val("lib", ValKind::Script, Privacy::Public, "export const one = 1;")
        .await;
    let code = r#"
        const own = Deno.env.get("VALTOWN_API_URL");
        const read = async (address) => {
          const answer = await fetch(address);
          return [answer.url.replace(own, "own"), answer.redirected, await answer.text()];
        };
        const other = own.replace("127.0.0.1", "localhost");
        export default [await read(`${own}/v/ada/lib`), (await fetch(`${other}/v1/alias/ada/lib`)).status];
    "#;
    assert_eq!(
        value_of(&ada, code).await,
        json!([["own/v/ada/lib?v=0", true, "export const one = 1;"], 200])
    );
}

#[tokio::test]
async fn a_function_is_a_handler_by_rpc() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = r#"
        import { rpc } from "https://esm.town/v/std/rpc";
        export default rpc(async (a: number, b = 10) => ({ sum: a + b }));
    "#;
    ada.write_val("sum", ValKind::Http, Privacy::Public, code).await;
    let page = app.anonymous().with("host", "ada-sum.localhost:8787");
    for answer in [
        page.post("/", &json!({"args": [1, 2]})).await,
        page.post("/", &json!([1, 2])).await,
        page.get("/?args=[1,2]").await,
    ] {
        assert_eq!(answer.value(), json!({"sum": 3}));
    }
    assert_eq!(
        page.post("/", &json!({"args": 1})).await.status,
        StatusCode::BAD_REQUEST
    );
}

async fn setter(ada: &Client, name: &str) -> ExtendedVal {
    let code = r#"
        import { set } from "https://esm.town/v/std/set";
        export default (value: unknown) => set("kept", value);
    "#;
    ada.write_val(name, ValKind::Script, Privacy::Private, code).await
}

#[tokio::test]
async fn a_value_is_kept_as_a_val_by_a_val_that_is_granted_to() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let val = setter(&ada, "setter").await;
    let refused = ada
        .post("/v1/run/ada.setter", &json!([1]))
        .await
        .refused(ProblemCode::RunFailed);
    assert!(refused.message.contains("val:write"), "{}", refused.message);

    let grant = json!({"grants": ["val:write"]});
    let path = format!("/v1/vals/{}", val.id);
    ada.put(&path, &grant).await.nothing();
    assert_eq!(ada.get(&path).await.value()["grants"], json!(["val:write"]));
    for (n, value) in [json!({"n": 1}), json!({"n": 2})].into_iter().enumerate() {
        assert_eq!(
            ada.post("/v1/run/ada.setter", &json!([value])).await.status,
            StatusCode::OK
        );
        let kept = ada.get("/v1/alias/ada/kept").await.value();
        assert_eq!(
            (&kept["version"], &kept["privacy"]),
            (&json!(n), &json!("private"))
        );
    }
    let read = "import { kept } from 'https://esm.town/v/ada/kept'; export default kept";
    assert_eq!(value_of(&ada, read).await, json!({"n": 2}));
}

#[tokio::test]
async fn a_val_is_granted_nothing_that_who_grants_it_lacks() {
    let app = TestApp::new().await;
    let ada = app.user("ada").await;
    let path = format!("/v1/vals/{}", ada.create_val("val", Privacy::Private).await.id);
    let writer = app.token(&ada, [VAL_WRITE].into_iter().collect()).await;
    writer
        .put(&path, &json!({"grants": ["user:write"]}))
        .await
        .refused(ProblemCode::MissingScope);
    writer
        .put(&path, &json!({"grants": ["val:write"]}))
        .await
        .nothing();
    ada.put(&path, &json!({"grants": ["run:write"]}))
        .await
        .refused(ProblemCode::Invalid);
    ada.put(&path, &json!({"grants": []})).await.nothing();
    assert_eq!(ada.get(&path).await.value()["grants"], json!([]));
}

#[tokio::test]
async fn a_module_is_the_same_by_this_instances_own_address() {
    let app = TestApp::running().await;
    let ada = app.user("ada").await;
    let code = "import { blob as one } from 'https://esm.town/v/std/blob';
        import { blob as other } from 'http://localhost:8787/v/std/blob.ts';
        export default one === other";
    assert_eq!(value_of(&ada, code).await, json!(true));
    let missing = json!({"code": "import 'https://esm.town/v/std/missing'"});
    let refused = ada
        .post("/v1/eval", &missing)
        .await
        .refused(ProblemCode::EvaluationFailed);
    assert!(refused.message.contains("std/missing"), "{}", refused.message);
    let runs = ada.get("/v1/me/runs").await.value();
    assert_eq!(runs["data"][0]["status"], json!(RunStatus::Error));
}

#[tokio::test]
async fn a_module_is_served_to_everyone() {
    let app = TestApp::new().await;
    let module = app.anonymous().get("/v/std/blob?v=12").await;
    assert_eq!(
        (module.status, module.header("content-type")),
        (StatusCode::OK, "application/typescript; charset=utf-8")
    );
    assert!(module.text().contains("export const blob"));
    app.anonymous()
        .get("/v/std/missing")
        .await
        .refused(ProblemCode::NotFound);
}

#[test]
fn its_types_hold() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("std");
    let modules: Vec<_> = fs::read_dir(&folder)
        .expect("the modules")
        .map(|entry| entry.expect("a module").path())
        .collect();
    let imports: Value = modules
        .iter()
        .map(|path| path.file_stem().and_then(|name| name.to_str()).expect("a name"))
        .map(|name| {
            (
                format!("https://esm.town/v/std/{name}"),
                json!(folder.join(format!("{name}.ts"))),
            )
        })
        .collect::<serde_json::Map<_, _>>()
        .into();
    let cache = tempfile::tempdir().expect("a folder");
    let map = cache.path().join("imports.json");
    fs::write(&map, json!({ "imports": imports }).to_string()).expect("a file");
    let checked = Command::new(deno())
        .args(["check", "--no-config", "--no-lock", "--import-map"])
        .arg(&map)
        .args(&modules)
        .env("DENO_DIR", cache.path())
        .output()
        .expect("Deno");
    assert!(
        checked.status.success(),
        "{}",
        String::from_utf8_lossy(&checked.stderr)
    );
}
