//! Text for people: code in backticks, timestamps as days, digests as code.

use karat_core::timestamp::Timestamp;
use maud::{Markup, html};

use crate::headline::{capital, day};

/// Shows a text: what is in backticks as code, a timestamp as people write it, a digest as code.
pub fn words(text: &str) -> Markup {
    html! {
        @for (at, part) in text.split('`').enumerate() {
            @if at % 2 == 1 { code { (part) } } @else { (told(part)) }
        }
    }
}

/// Shows a sentence, with a capital if it begins with a word and not with the name of a card or a digest.
pub fn with_capital(text: &str) -> Markup {
    let first = text.split(' ').next().unwrap_or_default().trim_end_matches(',');
    match first.bytes().all(|it| it.is_ascii_lowercase()) {
        true => words(&capital(text)),
        false => words(text),
    }
}

/// Shows a text that may have names in it, which stay as they are: a timestamp as people write it, a digest as code.
pub fn told(text: &str) -> Markup {
    let marked = |word: &str| {
        let own = word.trim_start_matches('(').trim_end_matches([' ', ',', ';', '.', ':', ')']);
        let (before, after) = word.split_once(own)?;
        let shown = match moment(own) {
            Some(shown) => html! { time datetime=(own) { (shown) } },
            None if is_digest(own) => html! { code { (own) } },
            None => return None,
        };
        Some(html! { (before) (shown) (after) })
    };
    html! {
        @for word in text.split_inclusive(' ') {
            @match marked(word) { Some(marked) => (marked), None => (word) }
        }
    }
}

/// Returns a timestamp as people write it: `8 June 2026, 12:00 UTC`.
pub fn moment(text: &str) -> Option<String> {
    let is_like = text.len() >= 20 && text.ends_with('Z') && text.as_bytes().get(10) == Some(&b'T');
    let time = is_like.then(|| Timestamp::parse(text).ok()).flatten()?.to_string();
    let clock = time.get(11..16)?;
    Some(format!("{}, {clock} UTC", day(&time)))
}

fn is_digest(word: &str) -> bool {
    let hex = word.strip_prefix("sha256:").unwrap_or(word);
    hex.len() >= 40 && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
}
