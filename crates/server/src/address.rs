//! Addresses of pages. Names come from strangers: each is encoded so that it is one segment of an address.

use axum::http::HeaderMap;
use axum::http::header::HOST as HOST_HEADER;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::Options;

/// Characters that are not encoded: letters, digits, the unreserved characters of RFC 3986, and `@`.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'@');

/// The host of a request without one.
const HOST: &str = "localhost:7373";

/// Returns the host by which the visitor reached the server, safe for a shell.
pub fn host(headers: &HeaderMap) -> String {
    let host = headers.get(HOST_HEADER).and_then(|host| host.to_str().ok()).unwrap_or(HOST);
    let is_plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".:-[]".contains(&byte));
    if is_plain { host.to_owned() } else { HOST.to_owned() }
}

/// Returns where the visitor reached the server: by TLS behind a proxy, unless that says otherwise. Without one any client could say so.
pub fn origin(options: &Options, headers: &HeaderMap) -> String {
    let said = headers.get("x-forwarded-proto");
    let is_secure = !options.proxies.is_empty() && said.is_none_or(|scheme| scheme.as_bytes() == b"https");
    format!("{}://{}", if is_secure { "https" } else { "http" }, host(headers))
}

/// Encodes `text` as one segment of a path or query.
pub fn part(text: &str) -> String {
    utf8_percent_encode(text, KEPT).to_string()
}

/// Returns the page of a subject; with a card, of its scores by that card.
pub fn subject(name: &str, card: Option<&str>) -> String {
    // Browsers take these as steps up the path, even if encoded.
    let is_step = matches!(name, "." | ".." | "");
    let query =
        [is_step.then(|| format!("name={}", part(name))), card.map(|card| format!("card={}", part(card)))];
    let query: Vec<String> = query.into_iter().flatten().collect();
    let path = if is_step { String::from("/subjects") } else { format!("/subjects/{}", part(name)) };
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

/// Returns the page of the record at a position in the log.
pub fn record(position: u64) -> String {
    format!("/records/{position}")
}

/// Returns the page of a scorecard.
pub fn scorecard(name: &str) -> String {
    format!("/scorecards/{}", part(name))
}

/// Returns the page of the leaderboard of a scorecard.
pub fn leaderboard(card: &str) -> String {
    query("/leaderboards", &[("card", card)])
}

/// Returns the page of a challenge of the arena.
pub fn challenge(slug: &str) -> String {
    format!("/arena/challenges/{}", part(slug))
}

/// Returns the page of an agent of the arena.
pub fn agent(name: &str) -> String {
    format!("/arena/agents/{}", part(name))
}

/// Returns the page of a match of the arena.
pub fn game(id: &str) -> String {
    format!("/arena/matches/{}", part(id))
}

/// Returns the same page with another query: those of `fields` that are not empty.
pub(crate) fn query(path: &str, fields: &[(&str, &str)]) -> String {
    let said: Vec<String> = fields
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| format!("{name}={}", part(value)))
        .collect();
    if said.is_empty() { path.to_owned() } else { format!("{path}?{}", said.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_part_of_an_address() {
        assert_eq!(subject("team/bot?x#y", None), "/subjects/team%2Fbot%3Fx%23y");
        assert_eq!(subject("..", Some("trust@1.0.0")), "/subjects?name=..&card=trust@1.0.0");
        assert_eq!(subject("\"><script>", None), "/subjects/%22%3E%3Cscript%3E");
        assert_eq!(query("/", &[("card", "a b"), ("since", "")]), "/?card=a%20b");
    }
}
