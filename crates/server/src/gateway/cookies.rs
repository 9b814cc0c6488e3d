//! What a val may set in a visitor's browser: cookies of its own host, and of no parent that it shares with others.

use axum::http::{HeaderMap, HeaderValue, header};

const DOMAIN: &[u8] = b"domain";

/// Takes `Domain` from the cookies that a val sets: each is then its own host's alone, where it works as before. A val
/// has no hosts below its own, so nothing is lost but cookies planted for other vals.
pub(super) fn keep_to_host(headers: &mut HeaderMap) {
    for (name, cookie) in headers.iter_mut() {
        if name == header::SET_COOKIE && attributes(cookie.as_bytes()).any(is_domain) {
            let bytes = cookie.as_bytes();
            let value = bytes.split(|&byte| byte == b';').next().into_iter();
            let kept: Vec<&[u8]> = value
                .chain(attributes(bytes).filter(|attribute| !is_domain(attribute)))
                .collect();
            if let Ok(narrow) = HeaderValue::from_bytes(&kept.join(&b';')) {
                *cookie = narrow;
            }
        }
    }
}

/// What follows a cookie's name and value.
fn attributes(cookie: &[u8]) -> impl Iterator<Item = &[u8]> {
    cookie.split(|&byte| byte == b';').skip(1)
}

fn is_domain(attribute: &[u8]) -> bool {
    let name = attribute.split(|&byte| byte == b'=').next().unwrap_or_default();
    name.trim_ascii().eq_ignore_ascii_case(DOMAIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_keeps_everything_but_its_domain() {
        for (set, kept) in [
            ("a=1; Domain=example.com; Path=/; Secure", "a=1; Path=/; Secure"),
            ("a=1;domain = .example.com;Max-Age=5", "a=1;Max-Age=5"),
            ("a=1; DOMAIN", "a=1"),
            ("a=\"x;domain=example.com\"", "a=\"x"),
            ("domain=example.com; Path=/", "domain=example.com; Path=/"),
            ("a=domain; HttpOnly", "a=domain; HttpOnly"),
        ] {
            let mut headers = HeaderMap::new();
            headers.append(header::SET_COOKIE, HeaderValue::from_static("first=1"));
            headers.append(header::SET_COOKIE, HeaderValue::from_static(set));
            keep_to_host(&mut headers);
            let cookies: Vec<_> = headers.get_all(header::SET_COOKIE).iter().collect();
            assert_eq!(cookies, ["first=1", kept], "{set}");
        }
    }
}
