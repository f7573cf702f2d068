//! Text from right to left within text from left to right: kept to itself, so that it does not move what is around it.
//!
//! A name may be in Hebrew or Arabic letters. Beside it stand numbers and punctuation, which would change their places with
//! it: `5 (אבג)` may be seen as `(5 (אבג`. So every run of such letters is isolated (Unicode Standard Annex 9), at one place
//! for all pages and at one for the terminal.

use std::borrow::Cow;
use std::ops::Range;

/// Begins an isolated run, and ends it.
const MARKS: (&str, &str) = ("\u{2068}", "\u{2069}");
/// The same as elements of HTML.
const ELEMENTS: (&str, &str) = ("<bdi>", "</bdi>");
/// Elements whose text may have no elements in it, or only those of SVG.
const WITHOUT_ELEMENTS: [&str; 4] = ["title", "option", "textarea", "svg"];
/// Elements whose text is not a text.
const NO_TEXT: [&str; 2] = ["script", "style"];

/// Isolates the runs of a line for a terminal.
pub fn isolated(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_from_right) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(marked(text, MARKS))
}

/// Isolates the runs of a page, except for those in attributes.
pub(crate) fn isolated_page(page: String) -> String {
    if !page.chars().any(is_from_right) {
        return page;
    }
    let mut out = String::with_capacity(page.len() + 256);
    let mut rest = page.as_str();
    // The element that ends with the next tag of its name.
    let mut within: Option<&str> = None;
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        put(&mut out, text, within);
        let end = end_of_tag(tag);
        let (tag, after) = tag.split_at(end);
        out.push_str(tag);
        rest = after;
        within = match within {
            Some(name) if !is_tag(tag, "</", name) => Some(name),
            Some(_) => None,
            None => WITHOUT_ELEMENTS.into_iter().chain(NO_TEXT).find(|name| is_tag(tag, "<", name)),
        };
        if let Some(name) = within.filter(|name| NO_TEXT.contains(name)) {
            let end = rest.find(&format!("</{name}")).unwrap_or(rest.len());
            let (text, after) = rest.split_at(end);
            out.push_str(text);
            rest = after;
        }
    }
    put(&mut out, rest, within);
    out
}

fn put(out: &mut String, text: &str, within: Option<&str>) {
    let marks = if within.is_some() { MARKS } else { ELEMENTS };
    out.push_str(&marked(text, marks));
}

/// Returns the length of the tag at the start: a `>` in quotation marks does not end it.
fn end_of_tag(text: &str) -> usize {
    let mut is_quoted = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'>' if !is_quoted => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn is_tag(tag: &str, start: &str, name: &str) -> bool {
    let rest = tag.strip_prefix(start).and_then(|tag| tag.strip_prefix(name));
    rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_ascii_alphanumeric()))
}

fn marked(text: &str, (begin, end): (&str, &str)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for Range { start, end: last } in runs(text) {
        out.push_str(text.get(done..start).unwrap_or_default());
        out.push_str(begin);
        out.push_str(text.get(start..last).unwrap_or_default());
        out.push_str(end);
        done = last;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// Returns the runs from right to left: from one such letter to the last before a letter of another direction or the end of
/// the line.
fn runs(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut is_open = false;
    for (at, it) in text.char_indices() {
        if is_from_right(it) {
            let end = at + it.len_utf8();
            match found.last_mut().filter(|_| is_open) {
                Some(run) => run.end = end,
                None => found.push(at..end),
            }
            is_open = true;
        } else if it.is_alphabetic() || it == '\n' {
            is_open = false;
        }
    }
    found
}

/// Returns true if a character is in a block of scripts that are written from right to left.
fn is_from_right(it: char) -> bool {
    matches!(it, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_kept_to_themselves() {
        for (text, expected) in [
            ("bot 5", "bot 5"),
            ("\u{5d0}\u{5d1} 5 (x)", "[\u{5d0}\u{5d1}] 5 (x)"),
            ("a \u{5d0} \u{5d1}-1, \u{62f}! b \u{5d2}", "a [\u{5d0} \u{5d1}-1, \u{62f}]! b [\u{5d2}]"),
            ("\u{5d0}\n\u{5d1}", "[\u{5d0}]\n[\u{5d1}]"),
            ("\u{5d0}\u{1b}[1m\u{5d1}", "[\u{5d0}]\u{1b}[1m[\u{5d1}]"),
        ] {
            assert_eq!(
                isolated(text),
                expected
                    .replace('[', "\u{2068}")
                    .replace(']', "\u{2069}")
                    .replace("\u{1b}\u{2068}1m", "\u{1b}[1m")
            );
        }
    }

    #[test]
    fn pages_isolate_outside_of_tags() {
        let page = "<title>\u{5d0}</title><p title=\"\u{5d0}>\">\u{5d0} & 5</p><option>\u{5d1}</option>\
                    <svg><text>\u{5d1}</text></svg><script>'\u{5d2}<a>'</script><i>\u{5d2}</i>";
        let expected = "<title>\u{2068}\u{5d0}\u{2069}</title><p title=\"\u{5d0}>\"><bdi>\u{5d0}</bdi> & 5</p>\
                        <option>\u{2068}\u{5d1}\u{2069}</option><svg><text>\u{2068}\u{5d1}\u{2069}</text></svg>\
                        <script>'\u{5d2}<a>'</script><i><bdi>\u{5d2}</bdi></i>";
        assert_eq!(isolated_page(page.to_owned()), expected);
        assert_eq!(isolated_page("<p>a</p>".to_owned()), "<p>a</p>");
    }
}
