//! What an HTTP val finds of the instance: its interface, by every name and wherever it leads, and the run that asks.

use futures_util::future::join_all;
use serde_json::json;

use crate::harness::{Host, Val};

#[tokio::test]
async fn a_request_to_the_instance_is_led_on_as_any_other() {
    let host = Host::new().await;
    let val = Val::http(
        "const own = 'http://127.0.0.1:18787';
         const tell = async (path, init) => {
           try {
             const answer = await fetch(typeof path === 'string' ? own + path : path, init);
             const copy = answer.clone();
             return [await answer.text(), answer.url, answer.redirected, copy.url === answer.url];
           } catch (error) {
             return error.name + ': ' + error.message;
           }
         };
         const post = { method: 'POST', body: 'hi', headers: { authorization: 'Bearer x', 'content-type': 'a/b' } };
         export default async () => Response.json([
           await tell('/straight?q#part'),
           await tell('/led/302?/v/ada/lib'),
           await tell('/led/303?/after', post),
           await tell('/led/307?/again', post),
           await tell(new Request(own + '/led/302?/as/request', post)),
           await tell('/led/302?http://hamlet.test/other/name', { headers: { authorization: 'Bearer x' } }),
           await tell('/led/302?/led/302?/there', { redirect: 'error' }),
           (await fetch(own + '/led/302?/there', { redirect: 'manual' })).headers.get('location'),
           (await tell('/led/307?/again', { ...post, body: new Blob(['hi']).stream(), duplex: 'half' })),
           (await tell('/led/302?ftp://elsewhere/')),
         ]);",
    );
    let (_, said) = host.get(&val, "/").await;
    let said: serde_json::Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"));
    let own = |path: &str| format!("http://127.0.0.1:18787{path}");
    let expected = json!([
        ["GET /straight no token ", own("/straight?q"), false, true],
        ["GET /v/ada/lib no token ", own("/v/ada/lib"), true, true],
        ["GET /after Bearer x ", own("/after"), true, true],
        ["POST /again Bearer x hi", own("/again"), true, true],
        ["GET /as/request Bearer x ", own("/as/request"), true, true],
        [
            "GET /other/name no token ",
            "http://hamlet.test/other/name",
            true,
            true
        ],
        format!(
            "TypeError: {} leads to {}",
            own("/led/302?/led/302?/there"),
            own("/led/302?/there")
        ),
        "/there",
        "TypeError: The request was led elsewhere, and a body that is a stream can't be sent again",
        format!(
            "TypeError: {} leads to ftp://elsewhere/, which is no address",
            own("/led/302?ftp://elsewhere/")
        ),
    ]);
    assert_eq!(said, expected, "{said:#}");
}

#[tokio::test]
async fn a_request_that_the_instance_leads_in_a_circle_ends() {
    let host = Host::new().await;
    let val = Val::http(
        "export default async () => {
           let address = '/end';
           for (let hops = 0; hops < 21; hops++) address = '/led/302?' + address;
           const led = (from) => fetch('http://127.0.0.1:18787' + from).then((answer) => answer.text(), (error) => error.name);
           return Response.json([await led(address), await led(address.slice('/led/302?'.length))]);
         };",
    );
    let (_, said) = host.get(&val, "/").await;
    assert_eq!(said, r#"["TypeError","GET /end no token "]"#);
}

#[tokio::test]
async fn the_instance_is_reached_by_every_name_of_its_own() {
    let host = Host::new().await;
    let val = Val::http(
        "export default async () => Response.json(await Promise.all([
           fetch('HTTP://HAMLET.TEST:80/v1/me'), fetch(new URL('http://hamlet.test/v1/me')),
         ].map(async (asked) => { const answer = await asked; return [answer.url, await answer.text()]; })));",
    );
    let (_, said) = host.get(&val, "/").await;
    let one = r#"["http://hamlet.test/v1/me","GET /v1/me no token "]"#;
    assert_eq!(said, format!("[{one},{one}]"));
}

#[tokio::test]
async fn code_finds_the_run_that_it_belongs_to() {
    let host = Host::new().await;
    let val = Val::http(
        "const atFirst = Deno.env.get('HAMLET_RUN_ID');
         export default async (request) => {
           await new Promise((resolve) => setTimeout(resolve, 20));
           const { HAMLET_RUN_ID, WHO } = Deno.env.toObject();
           return Response.json({ atFirst, WHO, has: Deno.env.has('HAMLET_RUN_ID'), ids: [...new Set([
             Deno.env.get('HAMLET_RUN_ID'), process.env.HAMLET_RUN_ID, HAMLET_RUN_ID, { ...process.env }.HAMLET_RUN_ID,
           ])] });
         };",
    );
    let answers = join_all((0..3).map(|_| host.get(&val, "/"))).await;
    let answers: Vec<serde_json::Value> = answers
        .iter()
        .map(|(_, said)| serde_json::from_str(said).unwrap_or_else(|_| panic!("{said}")))
        .collect();
    let mut found: Vec<&str> = answers
        .iter()
        .map(|answer| {
            let ids = answer["ids"].as_array().expect("a list");
            assert_eq!((ids.len(), &answer["has"]), (1, &json!(true)), "{answer}");
            ids[0].as_str().expect("an id")
        })
        .collect();
    assert!(found.contains(&answers[0]["atFirst"].as_str().expect("an id")));
    let mut runs: Vec<String> = val
        .record
        .now()
        .ended
        .iter()
        .map(|(id, _)| id.to_string())
        .collect();
    found.sort_unstable();
    runs.sort_unstable();
    assert_eq!(found, runs);
}
