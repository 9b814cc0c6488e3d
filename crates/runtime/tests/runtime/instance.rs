//! What an HTTP val finds of the instance: the run that asks.

use futures_util::future::join_all;
use serde_json::json;

use crate::harness::{Host, Val};

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
