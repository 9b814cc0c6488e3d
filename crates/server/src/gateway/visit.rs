//! How the owner's browser opens a private val: the web app's session is for its own host alone, so that host sends
//! the browser to the val with a pass that works for a minute, and the gateway keeps it in a cookie of the val's host.
//! Both are for this val alone, and end with the session or token that asked. Within its minute a pass works again, so
//! that a page that is loaded twice is no dead end.

use std::time::Duration;

use axum::{
    http::{HeaderMap, HeaderValue, Request, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use hamlet_store::ValRecord;

use crate::{
    auth::{CurrentUser, Lasting, Visit, by_lasting},
    error::ApiResult,
    present::Links,
    state::AppState,
};

/// The name of the pass in the address.
const VISIT: &str = "hamlet_visit";

/// The name of the cookie; under HTTPS one that no other val's page can set.
fn cookie_name(is_https: bool) -> &'static str {
    if is_https { "__Host-hamlet_visit" } else { VISIT }
}

/// How long a pass in an address works.
const PASS_FOR: Duration = Duration::from_secs(60);
/// How long a browser that was let in stays so.
const STAYS_FOR: Duration = Duration::from_secs(12 * 60 * 60);

/// The address at which the owner's browser is let in to their val.
pub fn address_of(state: &AppState, links: &Links, val: &ValRecord, asked_with: Lasting) -> String {
    let visit = Visit {
        val_id: val.id,
        asked_with,
    };
    let pass = state.visits.issue(&visit, PASS_FOR);
    format!("{}/?{VISIT}={pass}", links.endpoint(val))
}

/// Who visits this val by this pass, if it is for this val, and what it was asked for with works still.
pub(super) async fn visitor(state: &AppState, val: &ValRecord, pass: &str) -> ApiResult<Option<CurrentUser>> {
    match state.visits.verify(pass) {
        Some(visit) if visit.val_id == val.id => by_lasting(state, visit.asked_with).await,
        Some(_) | None => Ok(None),
    }
}

/// Takes the pass out of the cookies, on however many lines they are, so that the val doesn't see it.
fn take_cookie(headers: &mut HeaderMap, name: &str) -> Option<String> {
    let pass_in = |cookie| pass_in_cookie(cookie, name);
    let lines: Vec<HeaderValue> = headers.get_all(header::COOKIE).iter().cloned().collect();
    let pass = lines.iter().flat_map(cookies).find_map(pass_in)?;
    headers.remove(header::COOKIE);
    for line in &lines {
        let others: Vec<&[u8]> = cookies(line).filter(|cookie| pass_in(cookie).is_none()).collect();
        if let Ok(others) = HeaderValue::from_bytes(&others.join(&b"; "[..]))
            && !others.is_empty()
        {
            headers.append(header::COOKIE, others);
        }
    }
    String::from_utf8(pass.to_vec()).ok()
}

/// The cookies of one line; what a browser sends there need not be text.
fn cookies(line: &HeaderValue) -> impl Iterator<Item = &[u8]> {
    line.as_bytes()
        .split(|&byte| byte == b';')
        .map(<[u8]>::trim_ascii)
}

fn pass_in_cookie<'a>(cookie: &'a [u8], name: &str) -> Option<&'a [u8]> {
    cookie.strip_prefix(name.as_bytes())?.strip_prefix(b"=")
}

fn pass_in(pair: &str) -> Option<&str> {
    pair.split_once('=')
        .filter(|(name, _)| *name == VISIT)
        .map(|(_, value)| value)
}

/// The pass in the address, if there is one, and the address without it.
pub(super) fn of_address(uri: &Uri) -> Option<(&str, String)> {
    let query = uri.query()?;
    let pass = query.split('&').find_map(pass_in)?;
    let rest: Vec<&str> = query.split('&').filter(|pair| pass_in(pair).is_none()).collect();
    let query = if rest.is_empty() {
        String::new()
    } else {
        format!("?{}", rest.join("&"))
    };
    Some((pass, format!("{}{query}", uri.path())))
}

/// Whether a cookie speaks for its owner here: pages of other vals may be of the same site, and must not act with it.
fn is_owners_will<B>(request: &Request<B>) -> bool {
    let said = |name: &str| request.headers().get(name).map(HeaderValue::as_bytes);
    match said("sec-fetch-site") {
        None | Some(b"same-origin" | b"none") => true,
        // A link that was followed.
        Some(_) => request.method().is_safe() && said("sec-fetch-mode") == Some(b"navigate"),
    }
}

/// The pass that the browser kept, which the val doesn't get to see.
pub(super) fn take_pass<B>(request: &mut Request<B>, is_https: bool) -> Option<String> {
    let is_owners_will = is_owners_will(request);
    take_cookie(request.headers_mut(), cookie_name(is_https)).filter(|_| is_owners_will)
}

/// Lets the browser in if the pass is good, and sends it on to the address without the pass.
pub(super) fn let_in(state: &AppState, pass: &str, address: &str) -> Response {
    let cookie = state.visits.verify(pass).and_then(|visit| {
        let pass = state.visits.issue(&visit, STAYS_FOR);
        let is_https = state.config.is_https();
        let name = cookie_name(is_https);
        let secure = if is_https { "; Secure" } else { "" };
        let seconds = STAYS_FOR.as_secs();
        let cookie = format!("{name}={pass}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::try_from(cookie).ok()
    });
    // More than one slash would name another host.
    let location = format!("/{}", address.trim_start_matches(['/', '\\']));
    let fixed = [
        (header::LOCATION, location),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    let mut response = (StatusCode::FOUND, fixed).into_response();
    if let Some(mut cookie) = cookie {
        cookie.set_sensitive(true);
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pass_is_taken_and_the_vals_own_cookies_are_left() {
        for (cookies, pass, left) in [
            ("a=1; hamlet_visit=p; b=2", Some("p"), Some("a=1; b=2")),
            ("hamlet_visit=p", Some("p"), None),
            ("a=1", None, Some("a=1")),
            ("xhamlet_visit=p", None, Some("xhamlet_visit=p")),
            (
                "a=1\nhamlet_visit=p; b=2\nhamlet_visit=q",
                Some("p"),
                Some("a=1\nb=2"),
            ),
            ("a=é; hamlet_visit=p", Some("p"), Some("a=é")),
        ] {
            let mut headers = HeaderMap::new();
            for line in cookies.lines() {
                headers.append(header::COOKIE, HeaderValue::from_str(line).expect("a line"));
            }
            assert_eq!(take_cookie(&mut headers, VISIT).as_deref(), pass, "{cookies}");
            let lines: Vec<&str> = headers
                .get_all(header::COOKIE)
                .iter()
                .map(|line| str::from_utf8(line.as_bytes()).expect("text"))
                .collect();
            assert_eq!(lines.join("\n"), left.unwrap_or_default(), "{cookies}");
        }
    }

    #[test]
    fn another_page_can_not_act_with_the_pass() {
        let may = |method: &str, site: Option<&str>, mode: &str| {
            let request = Request::builder().method(method).header("sec-fetch-mode", mode);
            let request = site
                .into_iter()
                .fold(request, |request, site| request.header("sec-fetch-site", site));
            let cookie = request
                .header(header::COOKIE, "hamlet_visit=p")
                .body(())
                .expect("a request");
            let mut request = cookie;
            let pass = take_pass(&mut request, false);
            assert!(
                !request.headers().contains_key(header::COOKIE),
                "the val never sees it"
            );
            pass.is_some()
        };
        assert!(may("POST", Some("same-origin"), "cors") && may("GET", Some("none"), "navigate"));
        assert!(may("GET", Some("cross-site"), "navigate") && may("POST", None, "cors"));
        assert!(!may("GET", Some("same-site"), "no-cors") && !may("POST", Some("same-site"), "navigate"));
    }

    #[test]
    fn an_address_loses_its_pass_and_nothing_else() {
        let of = |address: &'static str| {
            of_address(&Uri::from_static(address)).map(|(pass, rest)| (pass.to_owned(), rest))
        };
        assert_eq!(
            of("/a?b=c&hamlet_visit=p&d"),
            Some(("p".to_owned(), "/a?b=c&d".to_owned()))
        );
        assert_eq!(of("/?hamlet_visit=p"), Some(("p".to_owned(), "/".to_owned())));
        assert_eq!(of("/?b=c"), None);
        assert_eq!(of("/"), None);
    }
}
