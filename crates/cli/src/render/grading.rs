//! Observations of graders as lines: the same for every grader, so that a screen has all that a record has.

use serde_json::{Map, Value};

use crate::output::{FAINT, STRONG};
use karat::text::{clean, fit, list, wrap};
use unicode_width::UnicodeWidthStr as _;

/// Most lines of one grader, and most members of a list of plain values.
const LINES: usize = 40;
const MEMBERS: usize = 8;
/// Columns of a name.
const NAME: usize = 24;
const INDENT: usize = 2;
/// Widest object that is shown beside its name.
const FLAT: usize = 48;

/// Returns the observations of each grader, at most [`LINES`] of them; empty without a grader. The source of the item
/// is what it says of itself, unless this program just read it there.
pub fn grading(grading: &Value, is_read: bool, width: usize) -> String {
    let Value::Object(graders) = grading else { return String::new() };
    let mut text = String::new();
    for (name, seen) in graders {
        if name == "source" {
            text.push_str(&source(seen, is_read, width));
            continue;
        }
        let mut lines = Vec::new();
        tree(seen, 1, &mut lines);
        text.push_str(&format!("\n{STRONG}Seen{STRONG:#} by the grader of {}\n", title(name)));
        let more = lines.len().saturating_sub(LINES);
        for line in lines.iter().take(LINES) {
            text.push_str(&folded(line, width));
        }
        if more > 0 {
            text.push_str(&format!("{FAINT}  and {more} more lines; --json has them all{FAINT:#}\n"));
        }
    }
    text
}

/// Returns the file that the item was made from, and the place in it.
fn source(seen: &Value, is_read: bool, width: usize) -> String {
    let part = |name: &str| seen.get(name).and_then(Value::as_str).map(clean);
    let whose = if is_read { "" } else { ", claimed by the item: it was not read here" };
    let mut text = format!("\n{STRONG}Source{STRONG:#}{whose}\n");
    let place = match (part("file"), part("place")) {
        (Some(file), Some(place)) => Some(format!("  {file}, {place}")),
        (file, place) => file.or(place).map(|one| format!("  {one}")),
    };
    let form = part("format").map(|format| format!("  read as {format}"));
    let digest = part("digest").map(|digest| format!("  {digest}"));
    for line in [place, form, digest].into_iter().flatten() {
        text.push_str(&folded(&line, width));
    }
    text
}

/// Returns `trajectory_validation` in words.
fn title(name: &str) -> String {
    clean(name).replace('_', " ")
}

/// Returns a line, or several if it is too wide, indented further than the first.
fn folded(line: &str, width: usize) -> String {
    let line = line.trim_end();
    if line.width() <= width {
        return format!("{line}\n");
    }
    let indent = line.len() - line.trim_start().len();
    let parts = wrap(line, width.saturating_sub(indent + 2 * INDENT));
    let lines = parts.iter().enumerate().map(|(at, part)| {
        let further = if at > 0 { 2 * INDENT } else { 0 };
        format!("{:1$}{part}\n", "", indent + further)
    });
    lines.collect()
}

/// Adds a value as lines, below its name.
fn tree(value: &Value, depth: usize, lines: &mut Vec<String>) {
    let indent = " ".repeat(depth * INDENT);
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| member(name, value, depth, lines)),
        Value::Array(elements) => {
            for element in elements {
                match element {
                    Value::Object(members) if is_flat(members) => {
                        lines.push(format!("{indent}{}", flat(members)));
                    }
                    Value::Object(members) => {
                        let (plain, nested): (Vec<_>, Vec<_>) =
                            members.iter().partition(|(_, value)| short(value).is_some());
                        let plain: Map<String, Value> =
                            plain.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
                        lines.push(format!("{indent}{}", flat(&plain)));
                        for (name, value) in nested {
                            member(name, value, depth + 1, lines);
                        }
                    }
                    other => match short(other) {
                        Some(text) => lines.push(format!("{indent}{text}")),
                        None => tree(other, depth + 1, lines),
                    },
                }
            }
        }
        plain => lines.push(format!("{indent}{}", short(plain).unwrap_or_default())),
    }
}

/// Adds a member of an object: beside its name if it fits, else below it. The only member of a member is joined with
/// it: `outcome, graded, match`.
fn member(name: &str, value: &Value, depth: usize, lines: &mut Vec<String>) {
    let indent = " ".repeat(depth * INDENT);
    let mut name = title(name);
    let mut value = value;
    while let Value::Object(members) = value
        && let (Some((only, inner)), 1) = (members.iter().next(), members.len())
    {
        name.push_str(", ");
        name.push_str(&title(only));
        value = inner;
    }
    let beside = match value {
        Value::Object(members) if is_flat(members) => Some(flat(members)).filter(|text| text.width() <= FLAT),
        other => short(other),
    };
    match beside {
        Some(text) => lines.push(format!("{indent}{} {text}", fit(&name, NAME.max(name.width())))),
        None => {
            lines.push(format!("{indent}{name}"));
            tree(value, depth + 1, lines);
        }
    }
}

fn is_flat(members: &Map<String, Value>) -> bool {
    members.values().all(|value| short(value).is_some())
}

fn flat(members: &Map<String, Value>) -> String {
    let parts: Vec<String> = members
        .iter()
        .map(|(name, value)| format!("{} {}", title(name), short(value).unwrap_or_default()))
        .collect();
    parts.join(", ")
}

/// Returns a value that fits into a line.
fn short(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => String::from("-"),
        Value::Bool(true) => String::from("yes"),
        Value::Bool(false) => String::from("no"),
        Value::Number(number) => number.to_string(),
        Value::String(text) if text.is_empty() => String::from("-"),
        Value::String(text) => clean(text).into_owned(),
        Value::Array(elements) if elements.is_empty() => String::from("none"),
        Value::Object(members) if members.is_empty() => String::from("none"),
        Value::Array(elements) => {
            let plain: Option<Vec<String>> = elements.iter().take(MEMBERS).map(plain).collect();
            match (plain?, elements.len().saturating_sub(MEMBERS)) {
                (shown, 0) => list(&shown),
                (shown, more) => format!("{} and {more} more", shown.join(", ")),
            }
        }
        Value::Object(_) => return None,
    })
}

fn plain(value: &Value) -> Option<String> {
    if value.is_array() || value.is_object() { None } else { short(value) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_seen_has_a_line() {
        let seen = json!({
            "quality": {
                "met": 1,
                "criteria": [{"kind": "keyword", "met": true}, {"kind": "regex", "met": false}],
                "matched": ["a", "b"],
                "parts": [{"field": "x", "outcome": {"missing": {"why": "no field"}}}],
            },
        });
        let text = grading(&seen, false, 80);
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert_eq!(
            plain,
            "\nSeen by the grader of quality\n  criteria\n    kind keyword, met yes\n    kind regex, met no\n  \
             matched                  a and b\n  met                      1\n  parts\n    field x\n      \
             outcome, missing, why    no field\n"
        );
    }

    #[test]
    fn a_source_is_a_claim_until_it_is_read() {
        let seen = json!({"source": {"file": "a\u{202e}.eval", "place": "p", "digest": "sha256:0"}});
        let shown = |is_read| anstream::adapter::strip_str(&grading(&seen, is_read, 80)).to_string();
        assert_eq!(shown(true), "\nSource\n  a\u{fffd}.eval, p\n  sha256:0\n");
        assert_eq!(
            shown(false),
            shown(true).replace("Source", "Source, claimed by the item: it was not read here")
        );
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let seen = json!({"log": {"steps": (0..100).map(|id| json!({"id": id})).collect::<Vec<_>>()}});
        assert!(grading(&seen, false, 80).contains("and 61 more lines"));
        assert_eq!(grading(&Value::Null, false, 80), "");
    }
}
