//! What an HTTP val was asked and answered: headers, and the body as what it is.

use hamlet_models::HttpResponse;
use leptos::prelude::*;

use crate::{
    components::value_tree::ValueTree,
    ui::{copy::CopyButton, html_frame::HtmlFrame, number},
};

/// What a body is, by what its answer says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BodyKind {
    Empty,
    Json,
    Html,
    Image,
    Text,
    Binary,
}

/// What an HTTP val answered.
#[component]
pub fn HttpAnswer(
    /// The answer.
    response: HttpResponse,
    /// Whether what is kept of its body was cut.
    #[prop(optional)]
    cut: bool,
) -> AnyView {
    let message = HttpMessage {
        headers: response.headers,
        body: response.body,
        base64: response.base64,
    };
    view! {
        <div class="http-answer">
            <p class="http-answer__status">
                <strong class=status_class(response.status)>{response.status}</strong>
                " "
                {status_words(response.status)}
                <span class="http-answer__size">{number::bytes(response.size)}</span>
            </p>
            {message.show(cut)}
        </div>
    }
    .into_any()
}

/// A request or an answer, but for its first line.
pub struct HttpMessage {
    /// Names and values, in order.
    pub headers: Vec<(String, String)>,
    /// The body: as it is, or in base64.
    pub body: String,
    /// Whether `body` is base64.
    pub base64: bool,
}

impl HttpMessage {
    /// Shows the headers on demand, and the body as what it is; `cut` says that this is only its beginning.
    pub fn show(self, cut: bool) -> AnyView {
        let cut = cut.then(|| {
            view! { <p class="http-answer__cut">"The body is longer than what is kept: this is its beginning."</p> }
        });
        let headers: Vec<AnyView> = self
            .headers
            .iter()
            .map(|(name, value)| {
                view! {
                    <div class="http-answer__header">
                        <dt>{name.clone()}</dt>
                        <dd>{value.clone()}</dd>
                    </div>
                }
                .into_any()
            })
            .collect();
        let kind = body_kind(&self);
        view! {
            <details class="http-answer__headers">
                <summary>{number::plural(headers.len() as u64, "header", "headers")}</summary>
                <dl>{headers}</dl>
            </details>
            {cut}
            {body(kind, self)}
        }
        .into_any()
    }
}

fn content_type(response: &HttpMessage) -> &str {
    let named = response
        .headers
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    named.map_or("", |(_, value)| {
        value.split(';').next().unwrap_or_default().trim()
    })
}

fn body_kind(response: &HttpMessage) -> BodyKind {
    let kind = content_type(response).to_ascii_lowercase();
    match kind.as_str() {
        _ if response.body.is_empty() => BodyKind::Empty,
        // Drawn by the browser as an image, an SVG runs no script.
        kind if kind.starts_with("image/") => BodyKind::Image,
        _ if response.base64 => BodyKind::Binary,
        kind if kind.ends_with("/json") || kind.ends_with("+json") => BodyKind::Json,
        "text/html" | "application/xhtml+xml" => BodyKind::Html,
        _ => BodyKind::Text,
    }
}

fn body(kind: BodyKind, response: HttpMessage) -> AnyView {
    match kind {
        BodyKind::Empty => view! { <p class="http-answer__none">"No body."</p> }.into_any(),
        BodyKind::Binary => {
            view! { <p class="http-answer__none">"The body is no text and no image."</p> }.into_any()
        }
        BodyKind::Image => {
            let source = image_source(&response);
            view! { <img class="http-answer__image" src=source alt="The body, an image" /> }.into_any()
        }
        BodyKind::Json => match serde_json::from_str(&response.body) {
            Ok(value) => two_ways(
                "Tree",
                move || {
                    view! { <ValueTree value=serde_json::Value::clone(&value) label="The body" /> }.into_any()
                },
                response.body,
            ),
            Err(_) => text(response.body),
        },
        BodyKind::Html => {
            let page = response.body.clone();
            two_ways("Rendered", move || rendered(page.clone()), response.body)
        }
        BodyKind::Text => text(response.body),
    }
}

/// A body that can be shown as what it is, or as the text that was sent.
fn two_ways(word: &'static str, shown: impl Fn() -> AnyView + Send + 'static, source: String) -> AnyView {
    let as_text = RwSignal::new(false);
    let choice = move |value: bool, word: &'static str| {
        view! {
            <button
                type="button"
                class="http-answer__choice"
                aria-pressed=move || (as_text.get() == value).to_string()
                on:click=move |_| as_text.set(value)
            >
                {word}
            </button>
        }
        .into_any()
    };
    view! {
        <div class="http-answer__choices" role="group" aria-label="Show the body as">
            {choice(false, word)} {choice(true, "Text")}
        </div>
        {move || if as_text.get() { text(source.clone()) } else { shown() }}
    }
    .into_any()
}

fn text(body: String) -> AnyView {
    view! {
        <div class="http-answer__text">
            <CopyButton text=Signal::stored(body.clone()) what="body" />
            <pre tabindex="0" aria-label="The body">{body}</pre>
        </div>
    }
    .into_any()
}

/// The page, and what it lacks.
fn rendered(page: String) -> AnyView {
    view! {
        <HtmlFrame html=page title="The body, rendered" />
        <p class="http-answer__none">"Rendered without scripts. Open the address to see the page as visitors do."</p>
    }
    .into_any()
}

fn image_source(response: &HttpMessage) -> String {
    let kind = content_type(response);
    if response.base64 {
        format!("data:{kind};base64,{}", response.body)
    } else {
        format!(
            "data:{kind},{}",
            String::from(js_sys::encode_uri_component(&response.body))
        )
    }
}

fn status_class(status: u16) -> &'static str {
    match status {
        0..400 => "http-answer__code",
        400..500 => "http-answer__code http-answer__code--refused",
        _ => "http-answer__code http-answer__code--failed",
    }
}

fn status_words(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        204 => "No content",
        301 | 308 => "Moved for good",
        302 | 303 | 307 => "Found elsewhere",
        304 => "Not modified",
        400 => "Bad request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not found",
        405 => "Method not allowed",
        500 => "Internal error",
        502 => "Bad gateway",
        503 => "Not available",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use wasm_bindgen_test::wasm_bindgen_test;

    use super::*;

    fn message(kind: &str, body: &str, base64: bool) -> HttpMessage {
        let headers = vec![("Content-Type".to_owned(), kind.to_owned())];
        HttpMessage {
            headers,
            body: body.to_owned(),
            base64,
        }
    }

    #[wasm_bindgen_test]
    fn a_body_is_what_its_answer_says() {
        for (kind, body, base64, expected) in [
            ("application/json; charset=utf-8", "{}", false, BodyKind::Json),
            ("application/problem+json", "{}", false, BodyKind::Json),
            ("text/html;charset=utf-8", "<p>", false, BodyKind::Html),
            ("image/png", "iVBO", true, BodyKind::Image),
            ("image/svg+xml", "<svg/>", false, BodyKind::Image),
            ("application/octet-stream", "AAAA", true, BodyKind::Binary),
            ("text/plain", "hi", false, BodyKind::Text),
            ("", "hi", false, BodyKind::Text),
            ("text/html", "", false, BodyKind::Empty),
        ] {
            assert_eq!(body_kind(&message(kind, body, base64)), expected, "{kind}");
        }
    }
}
