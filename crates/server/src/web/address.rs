//! Addresses of pages. Names come from strangers: every one is written so that it is one part of an address.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What stays as it is: letters, digits and what RFC 3986 calls unreserved, besides `@`.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'@');

/// `text` as one part of a path or query.
pub fn part(text: &str) -> String {
    utf8_percent_encode(text, KEPT).to_string()
}

/// The page of a subject; of its scores by one scorecard where one is given.
pub fn subject(name: &str, card: Option<&str>) -> String {
    // A browser takes these for steps up the path, however they are written.
    let is_step = matches!(name, "." | ".." | "");
    let query =
        [is_step.then(|| format!("name={}", part(name))), card.map(|card| format!("card={}", part(card)))];
    let query: Vec<String> = query.into_iter().flatten().collect();
    let path = if is_step { String::from("/subjects") } else { format!("/subjects/{}", part(name)) };
    if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
}

/// The page of the record at a place of the log.
pub fn record(position: u64) -> String {
    format!("/records/{position}")
}

/// The page of a scorecard.
pub fn scorecard(name: &str) -> String {
    format!("/scorecards/{}", part(name))
}

/// The same page with other values of its query: `fields` with those that say something.
pub fn query(path: &str, fields: &[(&str, &str)]) -> String {
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
