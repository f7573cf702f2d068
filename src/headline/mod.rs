//! Headlines: what an answer found, in a sentence for people who read one, and two or three more for those who read on.
//!
//! Nothing is computed here, and no page writes such a sentence itself: a headline is made of an answer, so a reader of the
//! answer in JSON can make it again.

mod card;
mod leaderboard;
mod problem;
mod record;
mod rest;
mod standing;
#[cfg(test)]
mod tests;

use crate::text::{clean, fit_name, list};

pub use card::{card, weights};
pub use leaderboard::{boards, entry, leaderboard, possible, reading, subject};
pub use problem::{Told, problem};
pub(crate) use record::what_changed;
pub use record::{record, verification};
pub use rest::*;
pub use standing::{standing, standings};

/// The most columns of a name in a headline.
const NAME: usize = 32;
/// The most names in a headline.
const NAMES: usize = 2;

/// The finding of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Headline {
    /// The finding: a sentence without its full stop.
    pub text: String,
    /// Whole sentences below it: how much, how sure, what else.
    pub lead: Vec<String>,
    /// True if a leaderboard has a leader that comparisons separate from all others.
    pub is_clear: bool,
}

impl Headline {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    fn and(mut self, lead: impl IntoIterator<Item = String>) -> Self {
        self.lead.extend(lead.into_iter().filter(|it| !it.is_empty()).map(|it| sentence(&it)));
        self
    }
}

/// Returns a name that fits into a headline: the middle of a longer one is left out.
pub fn name(text: &str) -> String {
    fit_name(text, NAME).trim_end().to_owned()
}

/// Names the first few, and counts where there are more: `ibis and kite`, `5 others`.
pub fn names<S: AsRef<str>>(all: &[S], most: usize, noun: &str) -> String {
    if all.len() > most {
        return format!("{} {noun}", all.len());
    }
    list(&all.iter().map(|it| name(it.as_ref())).collect::<Vec<_>>())
}

/// Writes a number of things: `one task`, `16 tasks`.
fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("one {noun}") } else { format!("{number} {noun}s") }
}

/// Returns a text as a sentence, with its full stop.
pub fn sentence(text: &str) -> String {
    let text = clean(text);
    let end = if text.ends_with(['.', '?', '!']) { "" } else { "." };
    format!("{text}{end}")
}

/// Returns a text with a capital.
pub fn capital(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}

/// Returns the day of a timestamp as people write it: `8 June 2026`; any other text as it is.
pub fn day(time: &str) -> String {
    const MONTHS: [&str; 12] = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
        "November", "December",
    ];
    let written = || {
        let (year, rest) = time.split_once('-')?;
        let (month, rest) = rest.split_once('-')?;
        let day: u32 = rest.get(..2)?.parse().ok()?;
        let month = MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
        Some(format!("{day} {month} {year}"))
    };
    written().unwrap_or_else(|| time.to_owned())
}
