//! What makes a test of the interface five lines.

use std::{path::Path, str::FromStr, sync::Arc, time::Duration};

use axum::{
    body::Body,
    http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, header},
};
use bytes::Bytes;
use hamlet_models::{
    BaseRun, ExtendedVal, NewToken, NewVal, Page, Privacy, Problem, ProblemCode, RunStatus, Scopes, UserId,
    ValKind,
};
use hamlet_server::{
    App,
    auth::new_token_secret,
    config::{Config, Settings},
    server::Server,
};
use hamlet_store::{Bucket, NewUser, Store, StoreRole, hash_secret};
use http_body_util::BodyExt;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::deno::deno;

/// A server over a store of its own, without a port.
pub(crate) struct TestApp {
    pub(crate) app: App,
    pub(crate) store: Store,
    // Kept for its parts, which end when it is dropped.
    pub(crate) server: Server,
    _folder: TempDir,
}

impl TestApp {
    /// One that keeps vals but runs none.
    pub(crate) async fn new() -> Self {
        Self::with_settings(Settings::default()).await
    }

    /// One with these settings, which keeps vals but runs none.
    pub(crate) async fn with_settings(settings: Settings) -> Self {
        Self::with_bucket(settings, None).await
    }

    /// One with these settings that keeps bytes in a bucket, if there is one, and runs no vals.
    pub(crate) async fn with_bucket(settings: Settings, bucket: Option<Bucket>) -> Self {
        Self::with(settings, |config| config.bucket = bucket).await
    }

    /// One with changes to what no setting says, which keeps vals but runs none.
    pub(crate) async fn with_config(change: impl FnOnce(&mut Config)) -> Self {
        Self::with(Settings::default(), change).await
    }

    async fn with(settings: Settings, change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (config, store) = Self::open(&folder, settings, change).await;
        let server = Server::start_without_runtime(config, store.clone())
            .await
            .expect("a server");
        Self::over(server, store, folder)
    }

    /// One that runs vals on the real Deno.
    pub(crate) async fn running() -> Self {
        Self::running_with(Settings::default()).await
    }

    /// One with these settings that runs vals on the real Deno.
    pub(crate) async fn running_with(settings: Settings) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = Settings {
            deno: Some(deno()),
            blank_workers: Some(1),
            ..settings
        };
        let (config, store) = Self::open(&folder, settings, |_| ()).await;
        let server = Server::start(config, store.clone())
            .await
            .expect("a server that runs vals");
        Self::over(server, store, folder)
    }

    async fn open(
        folder: &TempDir,
        settings: Settings,
        change: impl FnOnce(&mut Config),
    ) -> (Arc<Config>, Store) {
        let settings = Settings {
            data_dir: Some(folder.path().join("data")),
            ..settings
        };
        let mut config = Config::try_from(settings).expect("settings");
        change(&mut config);
        // This program is the tests', which becomes no worker.
        config.launcher = env!("CARGO_BIN_EXE_hamlet").into();
        let store = Store::open(&config.store(StoreRole::Server))
            .await
            .expect("a store");
        (Arc::new(config), store)
    }

    fn over(server: Server, store: Store, folder: TempDir) -> Self {
        Self {
            app: server.app.clone(),
            store,
            server,
            _folder: folder,
        }
    }

    /// Everything that is kept.
    pub(crate) fn data_dir(&self) -> &Path {
        &self.server.state.config.data_dir
    }

    /// A new user with a token that may do everything.
    pub(crate) async fn user(&self, name: &str) -> Client {
        self.user_with_password(name, None).await
    }

    /// A new user with a token, and this hash of a password.
    pub(crate) async fn user_with_password(&self, name: &str, password: Option<&str>) -> Client {
        let password_hash = match password {
            Some(password) => {
                let hash = self.server.state.passwords.hash(password.to_owned()).await;
                Some(hash.expect("a hash"))
            }
            None => None,
        };
        let new = NewUser {
            username: name.parse().expect("a username"),
            admin: false,
            password_hash,
        };
        let user = self.store.create_user(&new).await.expect("a user");
        let client = Client {
            app: self.app.clone(),
            id: user.id,
            headers: HeaderMap::new(),
        };
        self.token(&client, Scopes::all()).await
    }

    /// The same user with another token, which has these scopes.
    pub(crate) async fn token(&self, client: &Client, scopes: Scopes) -> Client {
        let secret = new_token_secret();
        let new = NewToken {
            name: "test".parse().expect("a token's name"),
            scopes,
            expires_at: None,
        };
        self.store
            .create_token(client.id, &new, hash_secret(&secret))
            .await
            .expect("a token");
        client.with_token(&secret)
    }

    /// Someone without a token.
    pub(crate) fn anonymous(&self) -> Client {
        Client {
            app: self.app.clone(),
            id: UserId(uuid::Uuid::nil()),
            headers: HeaderMap::new(),
        }
    }
}

/// A run that goes on until it is cancelled.
pub(crate) struct Endless {
    owner: Client,
    cancel: String,
}

impl Endless {
    /// One that goes on.
    pub(crate) async fn start(owner: &Client) -> Self {
        let code = "export default await new Promise((done) => setTimeout(done, 1e6))";
        let val = owner
            .write_val("endless", ValKind::Script, Privacy::Private, code)
            .await;
        let path = format!("/v1/vals/{}/runs", val.id);
        let mut run: BaseRun = owner.post(&path, &serde_json::json!({})).await.json();
        while run.status != RunStatus::Running {
            tokio::task::yield_now().await;
            run = owner.get(&path).await.json::<Page<BaseRun>>().data.remove(0);
        }
        Self {
            owner: owner.clone(),
            cancel: format!("/v1/vals/{}/evaluations/{}/cancel", val.id, run.id),
        }
    }

    /// Ends it.
    pub(crate) async fn cancel(self) {
        self.owner
            .post(&self.cancel, &serde_json::json!({}))
            .await
            .value();
    }
}

/// Lets so much time pass for all that waits for a time.
pub(crate) async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// A body whose parts are sent as the test goes on; it ends when the sender is dropped.
pub(crate) fn body_in_parts() -> (UnboundedSender<Bytes>, Body) {
    let (sender, parts) = unbounded_channel();
    let parts = futures_util::stream::unfold(parts, |mut parts| async {
        let part: Bytes = parts.recv().await?;
        Some((Ok::<_, std::io::Error>(part), parts))
    });
    (sender, Body::from_stream(parts))
}

/// Someone who uses the interface.
#[derive(Clone)]
pub(crate) struct Client {
    app: App,
    /// The user; none has the nil id.
    pub(crate) id: UserId,
    headers: HeaderMap,
}

impl Client {
    /// The same user with this token.
    pub(crate) fn with_token(&self, secret: &str) -> Self {
        let mut client = Self {
            headers: HeaderMap::new(),
            ..self.clone()
        };
        client.set("authorization", &format!("Bearer {secret}"));
        client
    }

    /// The same user, who sends this header with everything.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.set(name, value);
        client
    }

    fn set(&mut self, name: &str, value: &str) {
        let name = HeaderName::from_str(name).expect("a header's name");
        self.headers
            .insert(name, HeaderValue::from_str(value).expect("a header's value"));
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, Body::empty()).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, Body::empty()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &impl Serialize) -> Answer {
        self.send_json(Method::POST, path, body).await
    }

    pub(crate) async fn put(&self, path: &str, body: &impl Serialize) -> Answer {
        self.send_json(Method::PUT, path, body).await
    }

    async fn send_json(&self, method: Method, path: &str, body: &impl Serialize) -> Answer {
        let body = serde_json::to_vec(body).expect("JSON");
        self.with("content-type", "application/json")
            .send(method, path, body.into())
            .await
    }

    /// Sends a request; the address may be absolute, as links are.
    pub(crate) async fn send(&self, method: Method, path: &str, body: Body) -> Answer {
        let path = path.strip_prefix("http://hamlet.test").unwrap_or(path);
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = path.parse().expect("an address");
        *request.headers_mut() = self.headers.clone();
        request
            .headers_mut()
            .entry(header::HOST)
            .or_insert(HeaderValue::from_static("hamlet.test"));
        Answer::of(self.app.clone().answer(request).await).await
    }

    /// The token that goes with everything.
    pub(crate) fn authorization(&self) -> &str {
        self.headers
            .get(header::AUTHORIZATION)
            .map_or("", |value| value.to_str().expect("text"))
    }

    /// Sends a request and answers as soon as the head of the response is there.
    pub(crate) async fn open(&self, request: Request<Body>) -> axum::response::Response {
        self.app.clone().answer(request).await
    }

    /// Makes a val of this name, kind and code.
    pub(crate) async fn write_val(
        &self,
        name: &str,
        kind: ValKind,
        privacy: Privacy,
        code: &str,
    ) -> ExtendedVal {
        let new = NewVal {
            name: Some(name.parse().expect("a val's name")),
            kind: Some(kind),
            privacy: Some(privacy),
            ..NewVal::of_code(code)
        };
        self.post("/v1/vals", &new).await.json()
    }

    /// Makes a val of this name.
    pub(crate) async fn create_val(&self, name: &str, privacy: Privacy) -> ExtendedVal {
        let new = NewVal {
            name: Some(name.parse().expect("a val's name")),
            privacy: Some(privacy),
            ..NewVal::of_code("export default 1")
        };
        self.post("/v1/vals", &new).await.json()
    }
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    /// The whole of a response.
    pub(crate) async fn of(response: axum::response::Response) -> Self {
        let (parts, body) = response.into_parts();
        Self {
            status: parts.status,
            headers: parts.headers,
            body: body.collect().await.expect("a body").to_bytes(),
        }
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("UTF-8")
    }

    /// The header's text; empty if there is none.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().expect("text"))
    }

    /// The body of a success.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> T {
        assert!(self.status.is_success(), "{}: {}", self.status, self.text());
        assert_eq!(self.header("content-type"), "application/json");
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(crate) fn value(&self) -> Value {
        self.json()
    }

    /// The body of a failure, which has to be whole.
    pub(crate) fn problem(&self) -> Problem {
        assert!(!self.status.is_success(), "{}: {}", self.status, self.text());
        assert_eq!(
            self.header("content-type"),
            "application/json",
            "{}: {}",
            self.status,
            self.text()
        );
        let problem: Problem =
            serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()));
        assert!(!problem.message.is_empty() && !problem.error.is_empty());
        assert_eq!(problem.code.status(), self.status.as_u16(), "{}", self.text());
        problem
    }

    /// Asserts that this is a whole failure of this kind.
    #[track_caller]
    pub(crate) fn refused(&self, code: ProblemCode) -> Problem {
        let problem = self.problem();
        assert_eq!(problem.code, code, "{}", self.text());
        problem
    }

    /// Asserts that this is a success without a body.
    #[track_caller]
    pub(crate) fn nothing(&self) {
        assert_eq!(self.status, StatusCode::NO_CONTENT, "{}", self.text());
        assert!(self.body.is_empty());
    }
}
