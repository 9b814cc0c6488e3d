//! A message as it came, in the shape that e-mail vals get.

use base64::{Engine, engine::general_purpose::STANDARD};
use mail_parser::{
    Addr, Address, HeaderName, HeaderValue, Message, MessageParser, MessagePart, MimeHeaders, PartType,
};
use serde_json::{Map, Value, json};

/// What the val's handler is given; a message that can't be read is its text alone.
pub(super) fn input_of(raw: &[u8]) -> Value {
    let Some(message) = MessageParser::default().parse(raw) else {
        return input("", json!({ "text": String::from_utf8_lossy(raw) }));
    };
    let html = message.html_bodies().find_map(|part| match &part.body {
        PartType::Html(html) => Some(html.clone()),
        _ => None,
    });
    let from = message.from().and_then(Address::first).map(address);
    let from = from
        .filter(|from| !from.is_empty())
        .unwrap_or_else(|| sender(&message));
    let attachments: Vec<Value> = message.attachments().map(attachment).collect();
    let given = json!({
        "to": addresses(message.to()),
        "cc": addresses(message.cc()),
        "bcc": addresses(message.bcc()),
        "subject": message.subject(),
        "text": message.body_text(0),
        "html": html,
        "headers": headers(&message),
        "attachments": attachments,
    });
    input(&from, given)
}

/// The whole shape, with what is given of it. What a message doesn't have is left out, or empty.
pub(crate) fn input(from: &str, given: Value) -> Value {
    let mut whole = json!({"from": from, "to": [], "cc": [], "bcc": [], "headers": {}, "attachments": []});
    if let (Value::Object(whole), Value::Object(given)) = (&mut whole, given) {
        whole.extend(given.into_iter().filter(|(_, value)| !value.is_null()));
    }
    whole
}

fn addresses(given: Option<&Address<'_>>) -> Vec<String> {
    given.into_iter().flat_map(Address::iter).map(address).collect()
}

fn address(given: &Addr<'_>) -> String {
    let address = given.address.as_deref().unwrap_or_default();
    match &given.name {
        Some(name) => format!("{name} <{address}>"),
        None => address.to_owned(),
    }
}

/// The headers by their names in lower case; those that come several times are joined by commas.
fn headers(message: &Message<'_>) -> Map<String, Value> {
    let mut headers = Map::new();
    for header in message.headers() {
        let value = match &header.value {
            HeaderValue::Text(text) => text.to_string(),
            _ => {
                let raw = message
                    .raw_message
                    .get(header.offset_start as usize..header.offset_end as usize);
                let raw = String::from_utf8_lossy(raw.unwrap_or_default()).into_owned();
                raw.split_whitespace().collect::<Vec<_>>().join(" ")
            }
        };
        let name = header.name.as_str().to_ascii_lowercase();
        match headers.get_mut(&name) {
            Some(Value::String(before)) => before.extend([", ", &value]),
            _ => {
                headers.insert(name, value.into());
            }
        }
    }
    headers
}

/// Who brought it said that it is from there: the first such header is the one that was put before the message here.
fn sender(message: &Message<'_>) -> String {
    let mut headers = message.headers().iter();
    let put = headers.find(|header| header.name == HeaderName::ReturnPath);
    put.and_then(|header| header.value.as_text())
        .unwrap_or_default()
        .to_owned()
}

fn attachment(part: &MessagePart<'_>) -> Value {
    let media_type = part.content_type().map(|given| match given.subtype() {
        Some(subtype) => format!("{}/{subtype}", given.ctype()),
        None => given.ctype().to_owned(),
    });
    json!({
        "name": part.attachment_name().unwrap_or("attachment"),
        "type": media_type.unwrap_or_else(|| "application/octet-stream".to_owned()),
        "content": STANDARD.encode(part.contents()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_taken_apart() {
        let raw = b"From: Ada <ada@example.com>\r\nTo: bob.clerk@mail.test, Eve <eve@example.com>\r\n\
            Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\nX-Tag: one\r\nX-Tag: two\r\nMIME-Version: 1.0\r\n\
            Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nhello\r\n\
            --b\r\nContent-Type: image/png; name=\"a.png\"\r\nContent-Disposition: attachment; filename=\"a.png\"\r\n\
            Content-Transfer-Encoding: base64\r\n\r\nAAEC\r\n--b--\r\n";
        let input = input_of(raw);
        assert_eq!(input["from"], "Ada <ada@example.com>");
        assert_eq!(
            input["to"],
            json!(["bob.clerk@mail.test", "Eve <eve@example.com>"])
        );
        assert_eq!(
            (&input["subject"], &input["cc"]),
            (&json!("Gr\u{fc}\u{df}e"), &json!([]))
        );
        assert_eq!(input["text"].as_str().map(str::trim), Some("hello"));
        assert_eq!(input.get("html"), None);
        assert_eq!(input["headers"]["x-tag"], "one, two");
        assert_eq!(
            input["attachments"],
            json!([{"name": "a.png", "type": "image/png", "content": "AAEC"}])
        );
    }

    #[test]
    fn a_message_that_does_not_say_is_from_its_sender() {
        let path = "Return-Path: <ada@example.com>\r\n";
        for (message, from) in [
            ("Subject: hi\r\n\r\nhello", "ada@example.com"),
            ("From:\r\n\r\nhello", "ada@example.com"),
            ("Return-Path: <eve@example.com>\r\n\r\nhello", "ada@example.com"),
            (
                "From: Bob <bob@example.com>\r\n\r\nhello",
                "Bob <bob@example.com>",
            ),
        ] {
            let input = input_of(format!("{path}{message}").as_bytes());
            assert_eq!(input["from"], from, "{message}");
        }
        let bounced = input_of(b"Return-Path: <>\r\nSubject: back\r\n\r\nhello");
        assert_eq!(bounced["from"], "");
    }

    #[test]
    fn what_is_no_message_is_never_a_failure() {
        for raw in [&b""[..], b"\xff\xfe", b"no headers", b"From:\r\n\r\n"] {
            let input = input_of(raw);
            assert!(input["from"].is_string() && input["to"].is_array(), "{input}");
        }
    }
}
