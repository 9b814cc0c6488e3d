//! Secrets that are given out: how they are made, and how the web app's cookie carries one.

use axum::http::{HeaderMap, HeaderValue, header};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};

/// What every token begins with, so that a leaked one can be told for what it is.
pub const TOKEN_PREFIX: &str = "hmlt_";

/// How long a session lasts: 30 days.
pub const SESSION_SECONDS: u64 = 30 * 24 * 60 * 60;

/// The cookie's name. Under HTTPS it begins so that browsers let no other host set it, such as one that shares a parent
/// domain with this.
fn cookie_name(is_https: bool) -> &'static str {
    if is_https {
        "__Host-hamlet_session"
    } else {
        "hamlet_session"
    }
}

/// A secret of 256 random bits, of letters, digits, `-` and `_`.
pub fn new_secret() -> String {
    URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>())
}

/// The secret of a new token.
pub fn new_token_secret() -> String {
    format!("{TOKEN_PREFIX}{}", new_secret())
}

/// The session's secret, if the request has one.
pub fn session_of(headers: &HeaderMap, is_https: bool) -> Option<&str> {
    let own = cookie_name(is_https);
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|cookies| cookies.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .find_map(|(name, value)| (name == own && !value.is_empty()).then_some(value))
}

/// The cookie that carries a session; only the server reads it, and no other site's page sends it along.
pub fn session_cookie(secret: &str, is_https: bool) -> HeaderValue {
    cookie(secret, SESSION_SECONDS, is_https)
}

/// The cookie that takes a session away.
pub fn session_cookie_gone(is_https: bool) -> HeaderValue {
    cookie("", 0, is_https)
}

fn cookie(value: &str, max_age: u64, is_https: bool) -> HeaderValue {
    let secure = if is_https { "; Secure" } else { "" };
    let name = cookie_name(is_https);
    let text = format!("{name}={value}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}");
    let mut value = HeaderValue::try_from(text).expect("a secret has only letters, digits, - and _");
    value.set_sensitive(true);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_a_prefix_and_256_random_bits() {
        let (one, other) = (new_token_secret(), new_token_secret());
        assert!(one.starts_with("hmlt_"));
        assert_eq!(one.len(), 5 + 43);
        assert_ne!(one, other);
    }

    #[test]
    fn the_cookie_that_is_set_is_the_one_that_is_read() {
        for is_https in [true, false] {
            let set = session_cookie("abc", is_https);
            let text = set.to_str().expect("text");
            assert!(
                text.contains("HttpOnly") && text.contains("SameSite=Lax"),
                "{text}"
            );
            assert_eq!(
                (text.contains("; Secure"), text.starts_with("__Host-")),
                (is_https, is_https)
            );
            let pair = text.split(';').next().expect("a pair");
            let mut headers = HeaderMap::new();
            headers.insert(
                header::COOKIE,
                format!("a=b; {pair}; c").parse().expect("a header"),
            );
            assert_eq!(session_of(&headers, is_https), Some("abc"));
            assert_eq!(session_of(&headers, !is_https), None, "that one others can set");
            headers.insert(header::COOKIE, HeaderValue::from_static("xhamlet_session=abc"));
            assert_eq!(session_of(&headers, is_https), None);
        }
    }
}
