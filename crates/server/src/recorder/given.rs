//! What a run was given: noted cheaply when it begins, and made into what is kept of it where runs are written.

mod copied_body;

use axum::http::{self, HeaderMap, HeaderName, header};
use base64::{Engine, engine::general_purpose::STANDARD};
use hamlet_models::{KeptRequest, RunInput, RunRequest};
use hamlet_runtime::{Body, Input};
use hamlet_store::KeptInput;
use serde_json::{Map, Value};

use super::cut;
use crate::auth::TOKEN_PREFIX;
use copied_body::BodyCopy;

/// Of a message, this many bytes are kept, about.
const MOST_MESSAGE_BYTES: usize = 1_000_000;
/// What a value within a message weighs beside its text, about.
const VALUE_BYTES: usize = 16;

/// Headers whose values are credentials, and how the names of others end.
const CREDENTIALS: [HeaderName; 3] = [header::AUTHORIZATION, header::PROXY_AUTHORIZATION, header::COOKIE];
const CREDENTIAL_ENDINGS: [&str; 3] = ["-token", "-secret", "api-key"];

/// What a run was given.
pub enum Given {
    /// Nothing but what its record has.
    Nothing,
    /// A request, whose body may still come.
    Request(GivenRequest),
    /// What is kept as it is.
    Kept {
        /// What it was given.
        input: KeptInput,
        /// What that weighs, about.
        bytes: usize,
    },
}

/// A request to an HTTP val; its method and address are in the run's record.
pub struct GivenRequest {
    headers: Headers,
    /// None where there is no body.
    body: Option<BodyCopy>,
}

/// The headers of a request, copied: their own values would keep the connection from using its buffer again.
struct Headers {
    /// Each name, and where its value ends.
    names: Vec<(HeaderName, usize)>,
    values: Vec<u8>,
}

impl Headers {
    fn of(headers: &HeaderMap) -> Self {
        let mut copied = Self {
            names: Vec::with_capacity(headers.len()),
            values: Vec::with_capacity(headers.values().map(|value| value.len()).sum()),
        };
        for (name, value) in headers {
            copied.values.extend_from_slice(value.as_bytes());
            copied.names.push((name.clone(), copied.values.len()));
        }
        copied
    }

    fn iter(&self) -> impl Iterator<Item = (&HeaderName, &[u8])> {
        let mut from = 0;
        self.names.iter().map(move |(name, end)| {
            let value = self.values.get(from..*end).unwrap_or_default();
            from = *end;
            (name, value)
        })
    }
}

impl GivenRequest {
    /// Notes a request, and of its body the first bytes as they pass: the request to send in its place is answered.
    pub fn note(request: http::Request<Body>, most_bytes: usize) -> (Self, http::Request<Body>) {
        let headers = Headers::of(request.headers());
        let (head, body) = request.into_parts();
        let (copy, body) = BodyCopy::of(body, most_bytes);
        (
            Self { headers, body: copy },
            http::Request::from_parts(head, body),
        )
    }

    fn keep(&self, asked: &RunRequest) -> KeptInput {
        let (body, size, mut is_cut) = self.body.as_ref().map(BodyCopy::so_far).unwrap_or_default();
        let headers = self.headers.iter().map(|(name, value)| {
            let text = String::from_utf8_lossy(value);
            let kept = !is_credential(name) && !text.contains(TOKEN_PREFIX);
            is_cut |= kept && matches!(text, std::borrow::Cow::Owned(_));
            (name.as_str().to_owned(), kept.then(|| text.into_owned()))
        });
        let headers = headers.collect();
        let (mut body, base64) = as_text(body, is_cut);
        if let Some(token) = body.find(TOKEN_PREFIX).filter(|_| !base64) {
            body.truncate(token);
            is_cut = true;
        }
        let request = KeptRequest {
            method: asked.method.clone(),
            url: asked.url.clone(),
            headers,
            body,
            base64,
            size,
        };
        KeptInput {
            input: RunInput::Request(request),
            cut: is_cut || asked.url.contains(TOKEN_PREFIX),
        }
    }
}

impl Given {
    /// What a run of a val of another kind than HTTP is given.
    pub fn of(input: &Input) -> Self {
        match input {
            Input::Script { .. } | Input::Eval { .. } => Self::Nothing,
            Input::Interval { last_run_at } => Self::Kept {
                input: KeptInput {
                    input: RunInput::LastRunAt(*last_run_at),
                    cut: false,
                },
                bytes: VALUE_BYTES,
            },
            Input::Email(message) => keep_message(message, MOST_MESSAGE_BYTES),
        }
    }

    /// What it weighs when the run begins, about.
    pub(super) fn head_bytes(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Request(request) => {
                let weights = request
                    .headers
                    .iter()
                    .map(|(name, value)| name.as_str().len() + value.len());
                weights.sum()
            }
            Self::Kept { bytes, .. } => *bytes,
        }
    }

    /// What has been copied of a body.
    pub(super) fn body_bytes(&self) -> usize {
        match self {
            Self::Request(GivenRequest { body: Some(body), .. }) => body.len(),
            Self::Request(GivenRequest { body: None, .. }) | Self::Nothing | Self::Kept { .. } => 0,
        }
    }

    /// Whether nothing more of it will come.
    pub(super) fn is_whole(&self) -> bool {
        match self {
            Self::Request(GivenRequest { body: Some(body), .. }) => body.has_ended(),
            Self::Request(GivenRequest { body: None, .. }) | Self::Nothing | Self::Kept { .. } => true,
        }
    }

    /// What is kept of it, as far as it has come; `asked` is what the run's record says of a request.
    pub(super) fn keep(&self, asked: Option<&RunRequest>) -> Option<KeptInput> {
        match self {
            Self::Nothing => None,
            Self::Request(request) => asked.map(|asked| request.keep(asked)),
            Self::Kept { input, .. } => Some(input.clone()),
        }
    }
}

fn is_credential(name: &HeaderName) -> bool {
    CREDENTIALS.contains(name)
        || CREDENTIAL_ENDINGS
            .iter()
            .any(|ending| name.as_str().ends_with(ending))
}

/// An address with the tokens of this instance in it made unreadable.
pub fn without_tokens(address: String) -> String {
    if !address.contains(TOKEN_PREFIX) {
        return address;
    }
    let mut parts = address.split(TOKEN_PREFIX);
    let mut masked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        masked.extend([TOKEN_PREFIX, "***", rest]);
    }
    masked
}

/// The bytes as text if they are UTF-8, up to a character that was cut in two; else in base64.
pub fn as_text(bytes: Vec<u8>, cut: bool) -> (String, bool) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => {
            let (end, broken) = (error.utf8_error().valid_up_to(), error.utf8_error().error_len());
            let mut bytes = error.into_bytes();
            if cut && broken.is_none() {
                bytes.truncate(end);
                return (String::from_utf8_lossy(&bytes).into_owned(), false);
            }
            (STANDARD.encode(bytes), true)
        }
    }
}

/// What is kept of a message: its texts before its files, as long as there is room.
fn keep_message(message: &Value, most_bytes: usize) -> Given {
    let mut room = Room {
        bytes: most_bytes,
        cut: false,
    };
    let mut kept = Map::new();
    if let Value::Object(fields) = message {
        let is_files = |name: &str| name == "attachments";
        let texts = fields.iter().filter(|(name, _)| !is_files(name));
        let files = fields.iter().filter(|(name, _)| is_files(name));
        for (name, value) in texts.chain(files) {
            kept.insert(name.clone(), room.take(value));
        }
    }
    Given::Kept {
        input: KeptInput {
            input: RunInput::Email(Value::Object(kept)),
            cut: room.cut,
        },
        bytes: most_bytes - room.bytes,
    }
}

/// The room that is left for a message.
struct Room {
    bytes: usize,
    cut: bool,
}

impl Room {
    /// The value, as far as there is room for it.
    fn take(&mut self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.take_text(text)),
            Value::Array(items) => {
                let taken = items.iter().map_while(|item| {
                    self.spend(VALUE_BYTES)?;
                    Some(self.take(item))
                });
                Value::Array(taken.collect())
            }
            Value::Object(fields) => {
                let taken = fields.iter().map_while(|(name, value)| {
                    self.spend(VALUE_BYTES + name.len())?;
                    Some((name.clone(), self.take(value)))
                });
                Value::Object(taken.collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        }
    }

    fn take_text(&mut self, text: &str) -> String {
        let kept = cut(text, self.bytes);
        self.cut |= kept.len() < text.len();
        self.bytes -= kept.len();
        kept.to_owned()
    }

    fn spend(&mut self, bytes: usize) -> Option<()> {
        match self.bytes.checked_sub(bytes) {
            Some(left) => {
                self.bytes = left;
                Some(())
            }
            None => {
                self.cut = true;
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt, Empty};
    use serde_json::json;

    use super::*;

    fn noted(headers: &[(&str, &[u8])]) -> KeptInput {
        let body = Empty::new().map_err(|never| match never {}).boxed_unsync();
        let mut request = http::Request::new(body);
        for (name, value) in headers {
            let name = HeaderName::try_from(*name).expect("a name");
            let value = http::HeaderValue::from_bytes(value).expect("a value");
            request.headers_mut().append(name, value);
        }
        let (given, _) = GivenRequest::note(request, 10);
        let asked = RunRequest {
            method: "GET".into(),
            url: "http://a.localhost/".into(),
            status: None,
        };
        given.keep(&asked)
    }

    fn headers_of(kept: &KeptInput) -> Vec<(&str, Option<&str>)> {
        let RunInput::Request(request) = &kept.input else {
            panic!("a request is kept as one: {kept:?}");
        };
        request
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_deref()))
            .collect()
    }

    #[test]
    fn of_headers_with_credentials_only_the_names_are_kept() {
        let kept = noted(&[
            ("accept", b"a"),
            ("accept", b"b"),
            ("authorization", b"Bearer secret"),
            ("cookie", b"session=secret"),
            ("x-api-key", b"secret"),
            ("x-gitlab-token", b"secret"),
            ("x-note", b"my hmlt_secret"),
        ]);
        assert_eq!(
            headers_of(&kept),
            [
                ("accept", Some("a")),
                ("accept", Some("b")),
                ("authorization", None),
                ("cookie", None),
                ("x-api-key", None),
                ("x-gitlab-token", None),
                ("x-note", None),
            ]
        );
        assert!(!kept.cut);
        assert!(!serde_json::to_string(&kept).expect("JSON").contains("secret"));
    }

    #[test]
    fn a_header_that_is_no_text_can_not_be_given_again() {
        let kept = noted(&[("x-odd", b"\xff"), ("x-even", "é".as_bytes())]);
        assert_eq!(
            headers_of(&kept),
            [("x-odd", Some("\u{fffd}")), ("x-even", Some("é"))]
        );
        assert!(kept.cut);
    }

    #[test]
    fn an_address_shows_no_token() {
        for (address, expected) in [
            ("http://a/?b=c", "http://a/?b=c"),
            (
                "http://a/?t=hmlt_Ab1&c=hmlt_2#x",
                "http://a/?t=hmlt_***&c=hmlt_***#x",
            ),
        ] {
            assert_eq!(without_tokens(address.to_owned()), expected);
        }
    }

    #[test]
    fn of_a_message_the_texts_are_kept_before_the_files() {
        let message = json!({
            "from": "ada@example.com",
            "to": ["eve@example.com"],
            "attachments": [{"name": "a", "type": "b", "content": "x".repeat(400)}],
        });
        let kept = |most_bytes: usize| match keep_message(&message, most_bytes) {
            Given::Kept {
                input:
                    KeptInput {
                        input: RunInput::Email(kept),
                        cut,
                    },
                bytes,
            } => (kept, cut, bytes),
            _ => panic!("a message is kept as one"),
        };
        let (whole, cut, bytes) = kept(1_000);
        assert_eq!((whole, cut), (message.clone(), false));
        assert!((400..1_000).contains(&bytes), "{bytes}");
        let (part, cut, bytes) = kept(200);
        assert_eq!(
            (&part["from"], &part["to"], cut),
            (&message["from"], &message["to"], true)
        );
        assert!(bytes <= 200 && part.to_string().len() < 300, "{part}");
    }

    #[test]
    fn a_body_is_text_if_it_can_be() {
        assert_eq!(as_text("é".into(), false), ("é".to_owned(), false));
        assert_eq!(
            as_text(vec![b'a', 0xc3], true),
            ("a".to_owned(), false),
            "a character cut in two"
        );
        assert_eq!(
            as_text(vec![b'a', 0xc3], false),
            ("YcM=".to_owned(), true),
            "broken from the start"
        );
        assert_eq!(as_text(vec![0xff, b'a'], true), ("/2E=".to_owned(), true));
    }
}
