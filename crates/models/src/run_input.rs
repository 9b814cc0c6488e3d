//! What a run was given, as far as it is kept.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::Timestamp;

/// What a run of an HTTP, e-mail or scheduled val was given; the arguments of scripts are kept as `args`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum RunInput {
    /// What an HTTP val was asked.
    Request(KeptRequest),
    /// The message, in the shape that e-mail vals get.
    #[schema(value_type = Object)]
    Email(Value),
    /// When the scheduled val had run before, as it was told; `null` for the first time.
    LastRunAt(Option<Timestamp>),
}

/// A request as an HTTP val got it, but for the values of headers that carry credentials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct KeptRequest {
    /// The method.
    pub method: String,
    /// The public address.
    pub url: String,
    /// Names and values, in order; a value that carries credentials is not kept, and is `null`.
    pub headers: Vec<(String, Option<String>)>,
    /// The body: as it is if it is UTF-8, else in base64.
    pub body: String,
    /// Whether `body` is base64.
    pub base64: bool,
    /// How many bytes of the body came, also where what is kept of it was cut.
    pub size: u64,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_input_is_read_as_it_was_written() {
        let request = KeptRequest {
            method: "POST".into(),
            url: "http://ada-hello.localhost/a".into(),
            headers: vec![("a".into(), Some("b".into())), ("cookie".into(), None)],
            body: "/2E=".into(),
            base64: true,
            size: 2,
        };
        for (input, json) in [
            (
                RunInput::Request(request),
                json!({"request": {"method": "POST", "url": "http://ada-hello.localhost/a",
                    "headers": [["a", "b"], ["cookie", null]], "body": "/2E=", "base64": true, "size": 2}}),
            ),
            (
                RunInput::Email(json!({"from": "ada@example.com"})),
                json!({"email": {"from": "ada@example.com"}}),
            ),
            (RunInput::LastRunAt(None), json!({"lastRunAt": null})),
            (
                RunInput::LastRunAt(Some(Timestamp::from_millis(0))),
                json!({"lastRunAt": "1970-01-01T00:00:00.000Z"}),
            ),
        ] {
            assert_eq!(serde_json::to_value(&input).expect("JSON"), json);
            assert_eq!(serde_json::from_value::<RunInput>(json).expect("an input"), input);
        }
    }
}
