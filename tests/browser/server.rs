//! A made-up server in place of `window.fetch`.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use hamlet_models::{Problem, ProblemCode};
use leptos::prelude::window;
use serde::Serialize;
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use web_sys::{Request, Response, ResponseInit, Url};

use crate::harness::clear_page;

/// A request as the server saw it.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Method, path and query, as `GET /v1/vals?limit=20`.
    pub(crate) line: String,
    pub(crate) body: String,
    pub(crate) if_match: Option<String>,
}

impl Seen {
    /// The body as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).expect("a body of JSON")
    }
}

#[derive(Clone)]
enum Reply {
    Answer {
        status: u16,
        body: String,
    },
    /// No answer ever comes.
    Silence,
}

#[derive(Default)]
struct State {
    replies: HashMap<String, Reply>,
    seen: Vec<Seen>,
    down: bool,
}

/// A made-up server; the browser's own `fetch` is back when it goes.
pub(crate) struct Server {
    state: Rc<RefCell<State>>,
    real: JsValue,
    _fetch: Closure<dyn FnMut(Request) -> js_sys::Promise>,
}

impl Server {
    /// A server at which nobody is signed in and nothing is, for a page that is empty.
    pub(crate) fn start() -> Self {
        clear_page();
        let state = Rc::new(RefCell::new(State::default()));
        let answering = Rc::clone(&state);
        let fetch = Closure::<dyn FnMut(Request) -> js_sys::Promise>::new(move |request: Request| {
            let state = Rc::clone(&answering);
            future_to_promise(async move { answer(&state, request).await }).unchecked_into()
        });
        let key = JsValue::from_str("fetch");
        let real = js_sys::Reflect::get(&window(), &key).expect("a fetch");
        js_sys::Reflect::set(&window(), &key, fetch.as_ref()).expect("to set it");
        let server = Self {
            state,
            real,
            _fetch: fetch,
        };
        server.on("GET /v1/session", 200, &());
        server
    }

    /// Answers this request with this value from now on. With a query in `line` only for that query, else for any.
    pub(crate) fn on(&self, line: &str, status: u16, value: &impl Serialize) {
        let body = serde_json::to_string(value).expect("a value of JSON");
        self.reply(line, Reply::Answer { status, body });
    }

    /// Answers this request with nothing but a status.
    pub(crate) fn on_empty(&self, line: &str, status: u16) {
        self.reply(
            line,
            Reply::Answer {
                status,
                body: String::new(),
            },
        );
    }

    /// Answers this request with a body that isn't JSON.
    pub(crate) fn on_text(&self, line: &str, status: u16, body: &str) {
        self.reply(
            line,
            Reply::Answer {
                status,
                body: body.to_owned(),
            },
        );
    }

    /// Refuses this request.
    pub(crate) fn refuse(&self, line: &str, code: ProblemCode, message: &str) {
        self.on(line, code.status(), &Problem::new(code, message));
    }

    /// Never answers this request.
    pub(crate) fn keep_silent(&self, line: &str) {
        self.reply(line, Reply::Silence);
    }

    /// Whether the server can't be reached from now on.
    pub(crate) fn set_down(&self, down: bool) {
        self.state.borrow_mut().down = down;
    }

    /// The requests that began with this line.
    pub(crate) fn seen(&self, line: &str) -> Vec<Seen> {
        self.state
            .borrow()
            .seen
            .iter()
            .filter(|seen| seen.line.starts_with(line))
            .cloned()
            .collect()
    }

    fn reply(&self, line: &str, reply: Reply) {
        self.state.borrow_mut().replies.insert(line.to_owned(), reply);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = js_sys::Reflect::set(&window(), &JsValue::from_str("fetch"), &self.real);
    }
}

async fn answer(state: &RefCell<State>, request: Request) -> Result<JsValue, JsValue> {
    let url = Url::new(&request.url())?;
    let path = format!("{} {}", request.method(), url.pathname());
    let line = format!("{path}{}", url.search());
    let body = JsFuture::from(request.text()?)
        .await?
        .as_string()
        .unwrap_or_default();
    let if_match = request.headers().get("if-match")?;
    let reply = {
        let mut state = state.borrow_mut();
        if state.down {
            return Err(js_sys::TypeError::new("Failed to fetch").into());
        }
        state.seen.push(Seen {
            line: line.clone(),
            body,
            if_match,
        });
        state
            .replies
            .get(&line)
            .or_else(|| state.replies.get(&path))
            .cloned()
    };
    let (status, body) = match reply {
        Some(Reply::Answer { status, body }) => (status, body),
        Some(Reply::Silence) => {
            JsFuture::from(js_sys::Promise::new(&mut |_, _| ())).await?;
            unreachable!("a promise that nothing resolves");
        }
        None => {
            let problem = Problem::new(ProblemCode::NotFound, "no such thing");
            (404, serde_json::to_string(&problem).expect("a problem of JSON"))
        }
    };
    let init = ResponseInit::new();
    init.set_status(status);
    let body = (!body.is_empty()).then_some(body);
    Response::new_with_opt_str_and_init(body.as_deref(), &init).map(JsValue::from)
}
