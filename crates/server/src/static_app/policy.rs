//! What the app's page may do, worked out from the page itself.

use base64::{Engine, engine::general_purpose::STANDARD};
use sha2::{Digest, Sha256};

/// The Content-Security-Policy of this page: its own inline scripts by their hashes, files of this origin, and
/// WebAssembly; pictures may come from anywhere safe, as profiles and readmes show them.
pub(super) fn of_page(html: &str) -> String {
    let scripts: String = inline(html, "script")
        .map(|script| format!(" '{}'", hash(script)))
        .collect();
    let styles: String = inline(html, "style")
        .map(|style| format!(" '{}'", hash(style)))
        .collect();
    format!(
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'{scripts}; style-src 'self'{styles}; \
         img-src 'self' data: https:; font-src 'self'; connect-src 'self'; worker-src 'self'; manifest-src 'self'; \
         frame-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'"
    )
}

fn hash(text: &str) -> String {
    format!("sha256-{}", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

/// The contents of the elements of this name that have their text in the page.
fn inline<'a>(html: &'a str, element: &'static str) -> impl Iterator<Item = &'a str> {
    let mut rest = html;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find(&format!("<{element}"))?;
            rest = &rest[at + 1 + element.len()..];
            let end = rest.find('>')?;
            let attributes = &rest[..end];
            // `<script>` and `<script type=…>`, not `<scripted>`.
            let is_element =
                attributes.is_empty() || attributes.starts_with(|c: char| c.is_ascii_whitespace());
            rest = &rest[end + 1..];
            if !is_element {
                continue;
            }
            let (text, after) = rest.split_once(&format!("</{element}>"))?;
            rest = after;
            if !text.is_empty() {
                return Some(text);
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_scripts_and_styles_are_allowed_by_hash_and_nothing_else_is() {
        let policy = of_page(
            "<head><script src=\"/a.js\"></script><script type=\"module\">alert(1)</script><style>b{}</style></head>",
        );
        // printf 'alert(1)' | openssl dgst -sha256 -binary | base64
        assert!(
            policy.contains(
                "script-src 'self' 'wasm-unsafe-eval' 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI=';"
            ),
            "{policy}"
        );
        assert!(policy.contains("style-src 'self' 'sha256-"), "{policy}");
        assert!(
            !policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"),
            "{policy}"
        );
    }

    #[test]
    fn a_page_without_inline_parts_needs_no_hash() {
        let policy = of_page("<html><link rel=\"stylesheet\" href=\"/a.css\"><body></body></html>");
        assert!(!policy.contains("sha256"), "{policy}");
        assert!(
            policy.contains("object-src 'none'") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
    }
}
