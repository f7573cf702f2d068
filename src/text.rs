//! Text and numbers for people: what comes from outside made safe for a terminal, names and lists that fit, numbers as they
//! are written everywhere.

use std::borrow::Cow;

use karat_core::diagnostic::steers_terminal;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

pub use crate::direction::isolated;
pub use crate::estimate::{Writing, percent, plain, ranks, whole_percent};
pub use crate::number::{cut, published};

/// The importance of a note.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// It explains the answer.
    Plain,
    /// It may change what the answer means to you.
    Care,
    /// It names an error, or a loss.
    Bad,
    /// It names a gain.
    Good,
}

/// Replaces characters in `text` that could move the cursor or change the colour or direction of the rest.
pub fn clean(text: &str) -> Cow<'_, str> {
    if text.chars().any(steers_terminal) {
        Cow::Owned(text.chars().map(|c| if steers_terminal(c) { '\u{fffd}' } else { c }).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// Fits `text` into exactly `width` columns: padded with blanks, or cut with an ellipsis.
pub fn fit(text: &str, width: usize) -> String {
    let text = clean(text);
    let full = text.width();
    if full <= width {
        return format!("{text}{:1$}", "", width - full);
    }
    let mut kept = String::new();
    let mut used = 0;
    for c in text.chars() {
        let wide = c.width().unwrap_or(0);
        if used + wide + 1 > width {
            break;
        }
        kept.push(c);
        used += wide;
    }
    format!("{kept}…{:1$}", "", width.saturating_sub(used + 1))
}

/// Fits a name into exactly `width` columns: the middle of a longer one is left out, so that both ends are seen.
/// Names that differ
/// there alone get different letters, two made from what is left out.
pub(crate) fn fit_name(text: &str, width: usize) -> String {
    let text = clean(text);
    let full = text.width();
    if full <= width || width < 6 {
        return fit(&text, width);
    }
    let mark_room = if width >= 12 { 4 } else { 1 };
    // The end says more: it has numbers of items, lines and attempts.
    let free = width - mark_room;
    let head: String = taken(text.chars(), free / 3);
    let tail: String = taken(text.chars().rev(), free - head.width()).chars().rev().collect();
    let cut = text.get(head.len()..text.len() - tail.len()).unwrap_or_default();
    let mark = if mark_room == 1 { String::from("…") } else { format!("…{}…", letters_of(cut)) };
    let shown = format!("{head}{mark}{tail}");
    let used = shown.width();
    format!("{shown}{:1$}", "", width.saturating_sub(used))
}

/// Returns the first characters that fit into these columns.
fn taken(signs: impl Iterator<Item = char>, width: usize) -> String {
    let mut used = 0;
    signs
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= width
        })
        .collect()
}

/// Returns two letters or digits made from a text.
fn letters_of(text: &str) -> String {
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let digest = karat_core::facts::Digest::of(text.as_bytes()).0;
    digest
        .iter()
        .take(2)
        .filter_map(|byte| LETTERS.get(usize::from(byte % 32)))
        .map(|it| char::from(*it))
        .collect()
}

/// Wraps `text` into lines of at most `width` columns, between words. A wider word gets its own line.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let text = clean(text);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.width() + 1 + word.width() > width {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// The largest number of names in a note.
pub const NAMED: usize = 6;

/// The largest number of columns of a name in a sentence.
const NAME: usize = 40;

/// Shortens a name that is too long for a sentence; both ends stay.
pub fn short(text: &str) -> String {
    // In a sentence names stand between such marks.
    fit_name(text, NAME).trim_end().replace('`', "'")
}

/// Lists the first of several names, and the number of the rest; None if there is no name.
pub fn named<S: AsRef<str>>(names: &[S]) -> Option<String> {
    let shown: Vec<String> =
        names.iter().take(NAMED).map(|name| format!("`{}`", short(name.as_ref()))).collect();
    match names.len().saturating_sub(NAMED) {
        _ if names.is_empty() => None,
        0 => Some(list(&shown)),
        more => Some(format!("{} and {more} more", shown.join(", "))),
    }
}

/// Formats a number with its noun: `1 item`, `2 items`.
pub fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Returns the id of an item if it says more than the subject: not the subject again, not a digest. Of an item that is
/// named by its place, the folders are left out: `runs.csv:17`.
pub fn own_name<'i>(subject: &str, id: &'i str) -> Option<&'i str> {
    let shown = id.rsplit_once(['/', '\\']).map_or(id, |(_, last)| if is_place(last) { last } else { id });
    (id != subject && !id.starts_with("sha256:")).then_some(shown)
}

/// Returns true if an id ends like a file and a line: `runs.csv:17`.
fn is_place(id: &str) -> bool {
    let line = id.rsplit_once(':').map(|(file, line)| file.contains('.') && line.parse::<u64>().is_ok());
    line.unwrap_or(false)
}

/// Returns true if `wanted` names the item with that id: the id, or of a place the file and line without its folders.
pub fn is_named(wanted: &str, id: &str) -> bool {
    wanted == id || own_name("", id).is_some_and(|shown| shown == wanted)
}

/// The most characters of a course.
const COURSE: usize = 24;

/// Draws values as bars between the lowest and the highest, the means of equal stretches where there are many: `▁▄█`.
pub fn spark(values: &[f64]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let stretch = values.len().div_ceil(COURSE).max(1);
    let means: Vec<f64> =
        values.chunks(stretch).map(|own| own.iter().sum::<f64>() / own.len() as f64).collect();
    let low = means.iter().copied().fold(f64::INFINITY, f64::min);
    let range = means.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low;
    let bar = |mean: f64| {
        let at = if range > 0.0 { ((mean - low) / range * 7.0).round() as usize } else { 3 };
        BARS.get(at).copied().unwrap_or('▁')
    };
    if means.is_empty() { String::from("–") } else { means.into_iter().map(bar).collect() }
}

/// Joins names: `one`, `one and two`, `one, two and three`.
pub fn list<S: AsRef<str>>(names: &[S]) -> String {
    match names {
        [] => String::new(),
        [only] => only.as_ref().to_owned(),
        [first @ .., last] => {
            let first: Vec<&str> = first.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", first.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_course_is_drawn_between_its_ends() {
        assert_eq!(spark(&[0.0, 5.0, 10.0, 2.0]), "▁▅█▂");
        assert_eq!(spark(&[3.0, 3.0]), "▄▄");
        assert_eq!(spark(&[]), "–");
        assert_eq!(spark(&[1.0; 1000]).chars().count(), 24);
    }

    use super::*;

    #[test]
    fn a_column_keeps_its_width() {
        assert_eq!(fit("agent", 8), "agent   ");
        assert_eq!(fit("a-rather-long-name", 8), "a-rathe…");
        assert_eq!(fit("日本語の名前", 8), "日本語… ");
        assert_eq!(fit("", 2), "  ");
    }

    #[test]
    fn names_that_differ_anywhere_look_different() {
        let base = "swe-bench-verified-django__django-attempt-with-a-very-long-name-000001";
        let change = |at: usize| {
            let mut name: Vec<char> = base.chars().collect();
            name[at] = '9';
            name.into_iter().collect::<String>()
        };
        for width in [12, 16, 24, 40] {
            let shown: Vec<String> = (0..base.len()).map(change).map(|name| fit_name(&name, width)).collect();
            assert!(shown.iter().all(|it| it.width() == width), "{width}: {shown:?}");
            let own = fit_name(base, width);
            assert!(own.contains('…') && own.ends_with("0001"), "{own}");
            // Two letters differ for most; the start and the end are shown as they are.
            let same = shown.iter().filter(|it| **it == own).count();
            assert!(same <= 1, "{width}: {same} look like {own}");
        }
        assert_eq!(fit_name("short", 8), "short   ");
        assert_eq!(fit_name("日本語の長い名前です", 14).width(), 14);
        for width in 0..20 {
            assert_eq!(fit_name("a-rather-long-name-indeed", width).width(), width.max(1), "{width}");
        }
    }

    #[test]
    fn a_subject_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\r\n"), "a\u{fffd}[31mb\u{fffd}\u{fffd}");
        assert_eq!(clean("a\u{202e}b\u{2069}\u{200f}"), "a\u{fffd}b\u{fffd}\u{fffd}");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrap("one two  three", 8), ["one two", "three"]);
        assert_eq!(wrap("incomprehensible", 4), ["incomprehensible"]);
    }
}
