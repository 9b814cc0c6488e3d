//! An account of the server, as its owner's programs use it: over connections of its own, by `/v1` and the vals' hosts.

use std::sync::Arc;

use axum::{
    body::Body,
    http::{Method, Request, Response, StatusCode, header},
};
use bytes::Bytes;
use hamlet_models::{BaseRun, ExtendedVal, FullRun, Page, Privacy, RunId, ValKind};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::{
    client::legacy::{Client, connect::HttpConnector},
    rt::TokioExecutor,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What was tried, or a sentence that says what came instead.
pub(crate) type Tried<T> = Result<T, String>;

/// Someone with a token.
#[derive(Clone)]
pub(crate) struct Account {
    url: Arc<str>,
    token: Arc<str>,
    http: Client<HttpConnector, Body>,
}

impl Account {
    pub(crate) fn new(url: &str, token: &str) -> Self {
        // What is kept open would be counted as left behind.
        let http = Client::builder(TokioExecutor::new())
            .pool_max_idle_per_host(0)
            .build_http();
        Self {
            url: url.into(),
            token: token.into(),
            http,
        }
    }

    /// Sends a request to the interface.
    pub(crate) async fn call(&self, method: Method, path: &str, body: &Value) -> Tried<(StatusCode, Bytes)> {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header(header::CONTENT_TYPE, "application/json");
        let body = if body.is_null() {
            Body::empty()
        } else {
            Body::from(body.to_string())
        };
        let response = self.send(request.body(body).expect("a request")).await?;
        Ok((response.status(), whole(response).await?))
    }

    /// What a call that has to succeed answers.
    async fn ask<T: DeserializeOwned>(&self, method: Method, path: &str, body: &Value) -> Tried<T> {
        let (status, answer) = self.call(method.clone(), path, body).await?;
        let answered = || format!("{method} {path}: {status} {}", String::from_utf8_lossy(&answer));
        if !status.is_success() {
            return Err(answered());
        }
        serde_json::from_slice(&answer).map_err(|error| format!("{error}: {}", answered()))
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &str) -> Tried<T> {
        self.ask(Method::GET, path, &Value::Null).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Tried<T> {
        self.ask(Method::POST, path, body).await
    }

    /// Makes a val of this name, kind and code.
    pub(crate) async fn make(
        &self,
        name: &str,
        kind: ValKind,
        privacy: Privacy,
        code: &str,
    ) -> Tried<ExtendedVal> {
        let new = json!({"name": name, "type": kind, "privacy": privacy, "code": code});
        self.post("/v1/vals", &new).await
    }

    /// Makes a private val of this kind and code, under a name of its own.
    pub(crate) async fn make_any(&self, kind: ValKind, code: &str) -> Tried<ExtendedVal> {
        let new = json!({"type": kind, "privacy": "private", "code": code});
        self.post("/v1/vals", &new).await
    }

    /// Sets a secret, which every run of the account has from now on.
    pub(crate) async fn set_secret(&self, name: &str, value: &str) -> Tried<()> {
        let path = format!("/v1/me/secrets/{name}");
        let secret: Tried<Value> = self.ask(Method::PUT, &path, &json!({"value": value})).await;
        secret.map(drop)
    }

    /// Runs a val that is not an HTTP val, as from its page, and gives what is recorded of that in the end.
    pub(crate) async fn run(&self, val: &ExtendedVal, given: &Value) -> Tried<FullRun> {
        let run = self.start(val, given).await?;
        self.ended(run).await
    }

    /// Starts a run of a val, as from its page.
    pub(crate) async fn start(&self, val: &ExtendedVal, given: &Value) -> Tried<RunId> {
        let run: BaseRun = self.post(&format!("/v1/vals/{}/runs", val.val.id), given).await?;
        Ok(run.id)
    }

    /// What is recorded of a run once it is over.
    pub(crate) async fn ended(&self, run: RunId) -> Tried<FullRun> {
        // Following a run takes as long as the run does.
        let events = format!("/v1/runs/{run}/events");
        let (status, events) = self.call(Method::GET, &events, &Value::Null).await?;
        let recorded: FullRun = self.get(&format!("/v1/runs/{run}")).await?;
        if status != StatusCode::OK || !recorded.status.is_over() {
            let events = String::from_utf8_lossy(&events);
            return Err(format!("the run's events end with it: {status} {events}"));
        }
        Ok(recorded)
    }

    /// The runs of a val, newest first.
    pub(crate) async fn runs(&self, val: &ExtendedVal) -> Tried<Vec<BaseRun>> {
        let runs: Page<BaseRun> = self.get(&format!("/v1/vals/{}/runs", val.val.id)).await?;
        Ok(runs.data)
    }

    /// Sends a request to an HTTP val's own host, and gives the answer as soon as its head is there.
    pub(crate) async fn open(
        &self,
        val: &ExtendedVal,
        method: Method,
        path: &str,
        body: Body,
    ) -> Tried<Response<Incoming>> {
        let endpoint = val.val.links.endpoint.as_deref().expect("an HTTP val");
        let (_, host) = endpoint.split_once("://").expect("an address");
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header(header::HOST, host.trim_end_matches('/'))
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token));
        self.send(request.body(body).expect("a request")).await
    }

    /// The whole answer of an HTTP val to `GET`.
    pub(crate) async fn visit(&self, val: &ExtendedVal, path: &str) -> Tried<(StatusCode, Bytes)> {
        let response = self.open(val, Method::GET, path, Body::empty()).await?;
        Ok((response.status(), whole(response).await?))
    }

    async fn send(&self, request: Request<Body>) -> Tried<Response<Incoming>> {
        let asked = format!("{} {}", request.method(), request.uri());
        let response = self.http.request(request).await;
        response.map_err(|error| format!("{asked}: {error:?}"))
    }
}

/// The whole body of a response.
pub(crate) async fn whole(response: Response<Incoming>) -> Tried<Bytes> {
    let body = response.into_body().collect().await;
    Ok(body.map_err(|error| format!("the body: {error:?}"))?.to_bytes())
}
