//! What an HTTP val finds of the instance: its interface, by every name and wherever it leads, and the run that asks.

use futures_util::future::join_all;
use hamlet_models::ValKind;
use hamlet_runtime::Input;
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

/// What `node:http` gets of each of these addresses, or why it gets nothing.
const GET_BY_NODE: &str = "
    import http, { get as named } from 'node:http';
    export const byNode = (address, options = {}, get = http.get) => new Promise((resolve) => {
      const asked = get(address, options, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part) => text += part).on('end', () => resolve(text));
      });
      asked.on('error', (error) => resolve(error.name));
    });
    export const byName = (address) => byNode(address, {}, named);";

#[tokio::test]
async fn node_s_http_reaches_the_instance_and_no_other_private_address() {
    let host = Host::new().await;
    let elsewhere = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let port = elsewhere.local_addr().expect("its address").port();
    let val = Val::http(&format!(
        "{GET_BY_NODE}
         import net from 'node:net';
         const own = 'http://127.0.0.1:18787';
         const raw = (...to) => new Promise((resolve) => {{
           const socket = net.connect(...to);
           socket.on('connect', () => {{ socket.destroy(); resolve('connected'); }});
           socket.on('error', (error) => resolve(error.name));
         }});
         export default async () => Response.json([
           await byNode(own + '/v1/me', {{ headers: {{ authorization: 'Bearer x' }} }}),
           await byName(own + '/v1/named?q'),
           await byNode('http://HAMLET.test/other', {{ agent: new http.Agent({{ keepAlive: true }}) }}),
           await byNode('http://127.0.0.1:{port}/'),
           await byNode('http://localhost:{port}/'),
           await raw(18787, '127.0.0.1'), await raw({{ port: '18787', host: '127.0.0.1' }}), await raw({port}, '127.0.0.1'),
         ]);"
    ));
    let (_, said) = host.get(&val, "/").await;
    let said: serde_json::Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"));
    let expected = json!([
        "GET /v1/me Bearer x ",
        "GET /v1/named no token ",
        "GET /other no token ",
        "NotCapable",
        "NotCapable",
        "connected",
        "connected",
        "NotCapable",
    ]);
    assert_eq!(said, expected, "{said:#}");
}

#[tokio::test]
async fn node_s_http_of_an_imported_val_reaches_the_instance() {
    let host = Host::new().await;
    let val = Val::new(
        ValKind::Script,
        "import { byNode } from 'https://esm.town/v/ada/node';
         const { byName } = await import('https://esm.town/v/ada/node');
         export default [await byNode('http://127.0.0.1:18787/a'), await byName('http://127.0.0.1:18787/b')];",
    );
    val.vals.save("ada", "node", GET_BY_NODE);
    let value = host.run(&val, Input::Script { args: None }).await.outcome;
    assert_eq!(
        value.return_value.as_deref(),
        Some(r#"["GET /a no token ","GET /b no token "]"#),
        "{:?}",
        value.error
    );
}

#[tokio::test]
async fn threads_reach_the_instance_and_no_other_private_address() {
    let host = Host::new().await;
    let elsewhere = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await
        .expect("a port");
    let port = elsewhere.local_addr().expect("its address").port();
    let val = Val::http(&format!(
        "const asks = `
           const told = (address) => fetch(address).then((answer) => answer.text(), (error) => error.name);
           self.onmessage = async ({{ data }}) => self.postMessage([self.name, ...await Promise.all(data.map(told))]);`;
         const asksOfAnother = `
           const another = new Worker('data:text/javascript,' + encodeURIComponent(${{JSON.stringify(asks)}}), {{ type: 'module' }});
           another.onmessage = ({{ data }}) => self.postMessage(data);
           self.onmessage = ({{ data }}) => another.postMessage(data);`;
         const threaded = (address, options = {{}}) => new Promise((resolve, reject) => {{
           const thread = new Worker(address, {{ type: 'module', ...options }});
           if (!(thread instanceof Worker)) throw new Error('no Worker');
           thread.onmessage = ({{ data }}) => {{ thread.terminate(); resolve(data); }};
           thread.onerror = (event) => {{ event.preventDefault(); reject(new Error(event.message)); }};
           thread.postMessage(['http://127.0.0.1:18787/v1/me', 'http://hamlet.test/b', 'http://127.0.0.1:{port}/']);
         }});
         export default async () => {{
           const blob = URL.createObjectURL(new Blob(['const typed: string = \"\";' + asks], {{ type: 'text/typescript' }}));
           const ofBlob = threaded(blob, {{ name: 'blob' }});
           URL.revokeObjectURL(blob);
           const data = (code) => 'data:text/javascript,' + encodeURIComponent(code);
           return Response.json([
             await ofBlob,
             await threaded(new URL(data(asks)), {{ name: 'data' }}),
             await threaded(data(asksOfAnother)),
             await threaded('nowhere').catch((error) => error.name),
           ]);
         }};"
    ));
    let (_, said) = host.get(&val, "/").await;
    let said: serde_json::Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"));
    let asked = |name: &str| json!([name, "GET /v1/me no token ", "GET /b no token ", "NotCapable"]);
    let expected = json!([asked("blob"), asked("data"), asked(""), "URIError"]);
    assert_eq!(said, expected, "{said:#}");
}
