//! Observations of graders as lists: the same for every grader, so that a document has all that a record has.

use karat_core::facts::Fact;
use karat_reader::{Evidence, FactSpec};
use serde_json::{Map, Value};
use unicode_width::UnicodeWidthStr as _;

use super::{Cell, Column, Document, Entry, Part, Row, Table};
use crate::text::{Tone, clean, list, own_name};

/// The most lines of one grader, and the most members of a list of plain values.
const LINES: usize = 40;
const MEMBERS: usize = 8;
/// The widest object that is shown beside its name.
const FLAT: usize = 48;

/// Returns the document of the facts of evidence, and what graders saw; `is_read` if its source was read just now.
pub fn evidence(evidence: &Evidence<'_>, vocabulary: &[FactSpec], is_read: bool) -> Document {
    let item = evidence.item();
    let id = own_name(item.subject, item.id).map_or_else(String::new, |id| format!(" {id}"));
    let mut document =
        Document { name: "grade", title: format!("{}{id}", item.subject), ..Document::default() };
    let row = |(spec, fact): (&FactSpec, &Fact<'_>)| {
        let unit = if matches!(spec.unit, "1" | "count") { "" } else { spec.unit };
        let value = match fact {
            Fact::Missing => Cell::text("missing"),
            Fact::Number(number) => Cell::text(format!("{number} {unit}").trim_end()),
            Fact::Flag(flag) => Cell::Flag(*flag),
            Fact::Text(text) => Cell::text(*text),
        };
        Row::from(vec![Cell::text(spec.name), value])
    };
    let columns = vec![Column::name("fact"), Column::text("value")];
    let rows = vocabulary.iter().zip(item.facts).map(row).collect();
    document.parts.push(Part::Table(Table::new("", columns, rows)));
    let seen: Option<Value> = item.grading.and_then(|seen| serde_json::from_str(seen).ok());
    document.parts.extend(seen.iter().flat_map(|seen| grading(seen, is_read)));
    let suspicions = item.suspicions.iter().map(|suspicion| format!("warning: {suspicion}"));
    let notes = evidence.notes().iter().map(|note| format!("note: {note}"));
    document.note(Tone::Care, suspicions.chain(notes));
    document
}

/// Returns the observations of each grader, at most `LINES` of them; empty without a grader. The source of the item
/// is what it says of itself, unless this program just read it there.
pub fn grading(grading: &Value, is_read: bool) -> Vec<Part> {
    let Value::Object(graders) = grading else { return Vec::new() };
    let mut parts = Vec::new();
    for (name, seen) in graders {
        if name == "source" {
            let whose = if is_read { "Source" } else { "Source, claimed by the item: it was not read here" };
            parts.push(Part::Heading(whose.to_owned()));
            parts.push(Part::List(source(seen)));
            continue;
        }
        let mut entries = Vec::new();
        tree(seen, 0, &mut entries);
        parts.push(Part::Heading(format!("Seen by the grader of {}", title(name))));
        let more = entries.len().saturating_sub(LINES);
        entries.truncate(LINES);
        parts.push(Part::List(entries));
        let more = (more > 0).then(|| format!("and {more} more lines; --json has them all"));
        parts.extend(more.map(|line| Part::Note(Tone::Plain, line)));
    }
    parts
}

/// Returns the file that the item was made from, and the place in it.
fn source(seen: &Value) -> Vec<Entry> {
    let part = |name: &str| seen.get(name).and_then(Value::as_str).map(str::to_owned);
    let place = match (part("file"), part("place")) {
        (Some(file), Some(place)) => Some(format!("{file}, {place}")),
        (file, place) => file.or(place),
    };
    let form = part("format").map(|format| format!("read as {format}"));
    let lines = [place, form, part("digest")].into_iter().flatten();
    lines.map(|text| Entry { depth: 0, name: String::new(), text }).collect()
}

/// Returns `trajectory_validation` in words.
fn title(name: &str) -> String {
    clean(name).replace('_', " ")
}

/// Adds a value, below its name.
fn tree(value: &Value, depth: usize, entries: &mut Vec<Entry>) {
    let bare = |text: String| Entry { depth, name: String::new(), text };
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, value)| member(name, value, depth, entries));
        }
        Value::Array(elements) => {
            for element in elements {
                match element {
                    Value::Object(members) if is_flat(members) => entries.push(bare(flat(members))),
                    Value::Object(members) => {
                        let (plain, nested): (Vec<_>, Vec<_>) =
                            members.iter().partition(|(_, value)| short(value).is_some());
                        let plain: Map<String, Value> =
                            plain.into_iter().map(|(name, value)| (name.clone(), value.clone())).collect();
                        entries.push(bare(flat(&plain)));
                        for (name, value) in nested {
                            member(name, value, depth + 1, entries);
                        }
                    }
                    other => match short(other) {
                        Some(text) => entries.push(bare(text)),
                        None => tree(other, depth + 1, entries),
                    },
                }
            }
        }
        plain => entries.push(bare(short(plain).unwrap_or_default())),
    }
}

/// Adds a member of an object: beside its name if it fits, else below it. The only member of a member is joined with
/// it: `outcome, graded, match`.
fn member(name: &str, value: &Value, depth: usize, entries: &mut Vec<Entry>) {
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
    let is_below = beside.is_none();
    entries.push(Entry { depth, name, text: beside.unwrap_or_default() });
    if is_below {
        tree(value, depth + 1, entries);
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
    use crate::write::screen::{Layout, parts};

    fn shown(seen: &Value, is_read: bool) -> String {
        let text = parts(&grading(seen, is_read), Layout { width: 80, most: usize::MAX, all: "" });
        let plain = text.split('\u{1b}').enumerate();
        plain.map(|(at, part)| if at == 0 { part } else { part.split_once('m').unwrap().1 }).collect()
    }

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
        assert_eq!(
            shown(&seen, false),
            "\nSeen by the grader of quality\n  criteria\n    kind keyword, met yes\n    kind regex, met no\n  \
             matched                  a and b\n  met                      1\n  parts\n    field x\n      \
             outcome, missing, why    no field\n"
        );
    }

    #[test]
    fn a_source_is_a_claim_until_it_is_read() {
        let seen = json!({"source": {"file": "a\u{202e}.eval", "place": "p", "digest": "sha256:0"}});
        assert_eq!(shown(&seen, true), "\nSource\n  a\u{fffd}.eval, p\n  sha256:0\n");
        assert_eq!(
            shown(&seen, false),
            shown(&seen, true).replace("Source", "Source, claimed by the item: it was not read here")
        );
    }

    #[test]
    fn a_long_list_is_cut_and_says_so() {
        let seen = json!({"log": {"steps": (0..100).map(|id| json!({"id": id})).collect::<Vec<_>>()}});
        assert!(shown(&seen, false).contains("and 61 more lines"));
        assert_eq!(grading(&Value::Null, false), []);
    }
}
