//! The key in a cookie that no script can read and no other site can use, until the browser is closed; and where a request of a
//! browser came from.

use axum::http::Uri;
use axum::http::header::{COOKIE, HOST, HeaderMap, HeaderValue, ORIGIN, REFERER};

const NAME: &str = "karat_key";
/// The header value that deletes the cookie.
pub const GONE: &str = "karat_key=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0";

/// Returns the header value that sets the cookie to a key; a secure one is never sent without TLS.
pub fn of_key(secret: &str, is_secure: bool) -> String {
    let secure = if is_secure { "; Secure" } else { "" };
    format!("{NAME}={secret}; Path=/; HttpOnly; SameSite=Strict{secure}")
}

/// Returns the key in the cookie of a browser, if it looks like a key.
pub fn secret(headers: &HeaderMap) -> Option<String> {
    let cookies = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == NAME).map(|(_, value)| value.to_owned()).filter(|value| is_key(value))
}

/// Returns true if a text looks like a key.
pub fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns the address of a page of this server, the first for any other: no form may lead to another site.
pub fn own(to: &str) -> &str {
    let is_path = to.starts_with('/') && !to.starts_with("//") && !to.starts_with("/sign-");
    let is_plain = to.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    if is_path && is_plain { to } else { "/" }
}

/// Returns true if a form was sent from a page of this server: a browser sends the origin with every form, and a page
/// of another site cannot send ours.
pub fn is_own(headers: &HeaderMap) -> bool {
    let text = |value: Option<&HeaderValue>| value.and_then(|value| value.to_str().ok()).map(str::to_owned);
    let (origin, host) = (text(headers.get(ORIGIN)), text(headers.get(HOST)));
    let site = text(headers.get("sec-fetch-site"));
    let authority = origin.as_deref().and_then(|origin| Some(origin.split_once("://")?.1.to_owned()));
    authority.is_some() && authority == host && site.is_none_or(|site| site == "same-origin")
}

/// Returns the address of the page of this server that a request came from; of another site or unknown, the first page.
pub fn came_from(headers: &HeaderMap) -> Uri {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let own = || {
        let (_, rest) = text(REFERER)?.split_once("://")?;
        let path = rest.strip_prefix(text(HOST)?)?;
        own(path).parse().ok()
    };
    own().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_page_of_this_server_is_returned_to() {
        for to in ["/", "/records/3?x=1", "/subjects/a%2Fb"] {
            assert_eq!(own(to), to);
        }
        for to in [
            "", "//evil.example", "/\\evil.example", "https://evil.example", "/\t/evil.example", "/sign-out",
            "x",
        ] {
            assert_eq!(own(to), "/", "{to}");
        }
    }
}
