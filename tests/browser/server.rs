//! A made-up server in place of `window.fetch`.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use hamlet_models::{Problem, ProblemCode};
use leptos::prelude::window;
use serde::Serialize;
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::{JsFuture, future_to_promise};
use web_sys::{Event, EventSource, MessageEvent, MessageEventInit, Request, Response, ResponseInit, Url};

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
    real_events: JsValue,
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
            real_events: replace_events(),
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

    /// Keeps the streams of events that are asked for from now on; before, none is to be had.
    pub(crate) fn keep_streams(&self) {
        set_on_window("keepStreams", &JsValue::TRUE);
    }

    /// The paths of the streams that are kept.
    pub(crate) fn streams(&self) -> Vec<String> {
        kept_streams().iter().map(|stream| stream.url()).collect()
    }

    /// Sends an event to everyone who has a stream.
    pub(crate) fn tell(&self, name: &str, id: &str, value: &impl Serialize) {
        let data = serde_json::to_string(value).expect("a value of JSON");
        for stream in kept_streams() {
            let init = MessageEventInit::new();
            init.set_data(&data.as_str().into());
            init.set_last_event_id(id);
            let event = MessageEvent::new_with_event_init_dict(name, &init).expect("an event");
            stream.dispatch_event(&event).expect("to be dispatched");
        }
    }

    /// Breaks off every stream: the browser tries again by itself, or gives up.
    pub(crate) fn break_streams(&self, for_good: bool) {
        for stream in kept_streams() {
            if for_good {
                stream.close();
            }
            let event = Event::new("error").expect("an event");
            stream.dispatch_event(&event).expect("to be dispatched");
        }
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
        set_on_window("fetch", &self.real);
        set_on_window("EventSource", &self.real_events);
    }
}

/// A source of events that asks no server: it has none, unless streams are kept.
const EVENTS: &str = r"
window.keepStreams = false;
window.keptStreams = [];
const real = window.EventSource;
window.EventSource = class extends EventTarget {
    constructor(url) {
        super();
        this.url = url;
        this.readyState = window.keepStreams ? 1 : 2;
        if (window.keepStreams) window.keptStreams.push(this);
        else queueMicrotask(() => this.dispatchEvent(new Event('error')));
    }
    close() {
        this.readyState = 2;
        window.keptStreams = window.keptStreams.filter((kept) => kept !== this);
    }
};
window.EventSource.CLOSED = 2;
return real;
";

fn replace_events() -> JsValue {
    js_sys::Function::new_no_args(EVENTS)
        .call0(&JsValue::NULL)
        .expect("to run")
}

fn kept_streams() -> Vec<EventSource> {
    let kept = js_sys::Reflect::get(&window(), &JsValue::from_str("keptStreams")).expect("a list");
    let kept: js_sys::Array = kept.unchecked_into();
    kept.iter().map(JsCast::unchecked_into).collect()
}

fn set_on_window(key: &str, value: &JsValue) {
    js_sys::Reflect::set(&window(), &JsValue::from_str(key), value).expect("to set it");
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
