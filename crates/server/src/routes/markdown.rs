//! Markdown to HTML that is safe to show.

use axum::Json;
use hamlet_models::{Markdown, RenderedMarkdown};
use pulldown_cmark::{Event, Options, Parser};
use utoipa_axum::{router::OpenApiRouter, routes};

use crate::{
    error::{ApiError, ApiResult},
    extract::ApiJson,
    state::AppState,
};

/// How deep quotes and lists may lie in each other. What makes HTML safe looks through all that is open at each of them.
const MOST_LEVELS: usize = 100;
/// Longer texts are rendered beside the threads that answer requests.
const LONG_BYTES: usize = 4_096;

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(render_markdown))
}

/// Renders Markdown as HTML without scripts, styles, frames or forms.
#[utoipa::path(post, path = "/v1/markdown", tag = "instance", request_body = Markdown,
    responses((status = 200, description = "The HTML", body = RenderedMarkdown), ApiError))]
async fn render_markdown(
    ApiJson(Markdown { markdown }): ApiJson<Markdown>,
) -> ApiResult<Json<RenderedMarkdown>> {
    let html = if markdown.len() > LONG_BYTES {
        let rendered = tokio::task::spawn_blocking(move || to_safe_html(&markdown)).await;
        rendered.map_err(|error| ApiError::Internal(error.into()))?
    } else {
        to_safe_html(&markdown)
    };
    let html = html.ok_or_else(|| {
        let why = format!("the text has at most {MOST_LEVELS} levels of quotes and lists in each other");
        ApiError::invalid("markdown", why)
    })?;
    Ok(Json(RenderedMarkdown { html }))
}

/// `None` if it is nested too deeply.
fn to_safe_html(markdown: &str) -> Option<String> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_GFM;
    let levels = Parser::new_ext(markdown, options).scan(0_usize, |level, event| {
        match event {
            Event::Start(_) => *level += 1,
            Event::End(_) => *level -= 1,
            _ => {}
        }
        Some(*level)
    });
    if levels.max().is_some_and(|level| level > MOST_LEVELS) {
        return None;
    }
    let mut html = String::with_capacity(markdown.len() * 2);
    pulldown_cmark::html::push_html(&mut html, Parser::new_ext(markdown, options));
    let clean = ammonia::Builder::default()
        .link_rel(Some("noopener noreferrer nofollow"))
        .clean(&html);
    Some(clean.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn safe(markdown: &str) -> String {
        to_safe_html(markdown).expect("HTML")
    }

    #[test]
    fn what_is_nested_beyond_reason_is_not_rendered() {
        for part in [">", "- ", "1. "] {
            let nested = |times| part.repeat(times) + "a";
            assert_eq!(to_safe_html(&nested(20_000)), None, "{part}");
            assert!(to_safe_html(&nested(20)).is_some(), "{part}");
        }
    }

    #[test]
    fn markdown_becomes_html() {
        let html = safe("# Hi\n\n*a* ~~b~~ `c`\n\n| x |\n|---|\n| y |\n\n[l](https://example.com)");
        for part in [
            "<h1>Hi</h1>",
            "<em>a</em>",
            "<del>b</del>",
            "<code>c</code>",
            "<td>y</td>",
            "https://example.com",
        ] {
            assert!(html.contains(part), "{part} in {html}");
        }
    }

    #[test]
    fn nothing_that_acts_comes_through() {
        let html = safe(
            "<script>alert(1)</script><img src=x onerror=alert(1)><style>*{}</style><iframe src=//x></iframe>\n\n\
             [a](javascript:alert(1)) <form action=/v1><input></form> <svg onload=alert(1)> <a href=\"data:text/html,x\">d</a>",
        );
        for part in [
            "script",
            "onerror",
            "style",
            "iframe",
            "javascript:",
            "form",
            "input",
            "svg",
            "data:",
        ] {
            assert!(!html.contains(part), "{part} in {html}");
        }
    }
}
