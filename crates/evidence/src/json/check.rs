//! Typed access to the values of a document: a value that does not fit becomes a problem, an unknown member is counted.

use std::collections::BTreeMap;
use std::fmt::Display;

use karat_core::facts::{Fact, Outcome};
use karat_core::json;

use crate::json::document::{Children, Document, EXACT, Node, Value};
use crate::json::locate;
use crate::json::note::Note;
use crate::json::problem::{Problem, Problems, did_you_mean, quoted};
use crate::names::{self, NameFault};
use karat_core::timestamp::{Timestamp, TimestampError};

/// The fields that no reader knows, by path, over all items of a run.
#[derive(Debug, Default)]
pub struct UnknownFields {
    /// Each path with its place in the order of first appearance, and its count.
    counts: BTreeMap<String, (usize, u64)>,
    path: String,
    /// True if every name has a count, because those who count many items will add it to theirs.
    is_whole: bool,
}

impl UnknownFields {
    /// Names beyond this many are counted together, so that data used as keys cannot fill the memory.
    const LISTED: usize = 1000;
    const OTHERS: &'static str = "(others)";

    /// Counts nothing yet, and will count every name by itself: for few items.
    pub fn whole() -> Self {
        Self { is_whole: true, ..Self::default() }
    }

    /// Returns the paths in their order, each with its count.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.counts.iter().map(|(path, &(_, count))| (path.as_str(), count))
    }

    /// Adds the fields of items that come after these.
    pub fn add(&mut self, later: Self) {
        let mut later: Vec<_> = later.counts.into_iter().collect();
        later.sort_unstable_by_key(|&(_, (place, _))| place);
        for (path, (_, count)) in later {
            self.add_path(&path, count);
        }
    }

    fn count(&mut self, parent: &str, key: &str) {
        let mut path = std::mem::take(&mut self.path);
        path.clear();
        path.push_str(parent);
        locate::push_member(&mut path, key);
        self.add_path(&path, 1);
        self.path = path;
    }

    fn add_path(&mut self, path: &str, more: u64) {
        if let Some((_, count)) = self.counts.get_mut(path) {
            *count += more;
            return;
        }
        let is_listed = self.is_whole || self.counts.len() < Self::LISTED;
        let next = self.counts.len();
        let entry = self.counts.entry(if is_listed { path } else { Self::OTHERS }.to_owned());
        entry.or_insert((next, 0)).1 += more;
    }
}

/// An inclusive range with its name.
#[derive(Clone, Copy)]
pub struct Range {
    min: f64,
    max: f64,
    rule: &'static str,
}

/// A share.
pub const UNIT: Range = Range { min: 0.0, max: 1.0, rule: "a number from 0 to 1" };
/// The score of one dimension of a match.
pub const POINTS: Range = Range { min: 0.0, max: 1000.0, rule: "a score from 0 to 1000" };
/// A cost, a duration, an age.
pub const AMOUNT: Range = Range { min: 0.0, max: f64::MAX, rule: "a number not below 0" };
/// Any finite number.
pub const ANY: Range = Range { min: f64::MIN, max: f64::MAX, rule: "a number" };

/// Name of a subject or an item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Name<'a> {
    /// A text.
    Text(&'a str),
    /// A whole number, such as one of a database.
    Number(f64),
}

/// The names that an item gives itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Identity<'a> {
    /// The subject of the item.
    pub subject: Option<Name<'a>>,
    /// The id of the item.
    pub id: Option<Name<'a>>,
    /// Time of the item.
    pub time: Option<Timestamp>,
    /// The task that was attempted.
    pub task: Option<Name<'a>>,
    /// Outcome of the attempt.
    pub outcome: Option<Outcome>,
    /// The number of cases that its values are means over.
    pub cases: Option<u64>,
    /// The shard of a run that these cases are.
    pub part: Option<Name<'a>>,
    /// The repeat over the same cases.
    pub run: Option<Name<'a>>,
}

/// Returns the fact of a number that may be missing.
pub fn number<'a>(value: Option<f64>) -> Fact<'a> {
    value.map_or(Fact::Missing, Fact::Number)
}

/// Returns the fact of a flag that may be missing.
pub fn flag<'a>(value: Option<bool>) -> Fact<'a> {
    value.map_or(Fact::Missing, Fact::Flag)
}

/// The check of one item.
pub struct Check<'r> {
    /// The problems so far.
    pub problems: Problems,
    notes: &'r mut Vec<Note>,
    suspicions: Vec<Note>,
    unknown: &'r mut UnknownFields,
}

impl<'r> Check<'r> {
    /// Begins a check whose notes and unknown fields go into these.
    pub fn new(notes: &'r mut Vec<Note>, unknown: &'r mut UnknownFields) -> Self {
        Self { problems: Problems::default(), notes, suspicions: Vec::new(), unknown }
    }

    /// Reads the members of an object.
    pub fn members<'a>(&mut self, node: Node<'a>) -> Children<'a> {
        if node.value() != Value::Object {
            self.refuse(node, "an object", "");
        }
        // The elements of an array have no keys; they must not be taken for members.
        if node.value() == Value::Array { node.nothing() } else { node.children() }
    }

    /// Reads members of an object by their names, and counts the others; `path` names the object, with `[*]` for any
    /// element. A member that is `null` is not there.
    pub fn fields<'a, const N: usize>(
        &mut self,
        node: Node<'a>,
        path: &str,
        names: [&str; N],
    ) -> [Option<Node<'a>>; N] {
        let members = self.members(node).filter(|member| !member.is_null());
        self.by_name(members, path, names)
    }

    /// Does the same, and gives a member that is `null` as it is.
    pub fn strict_fields<'a, const N: usize>(
        &mut self,
        node: Node<'a>,
        path: &str,
        names: [&str; N],
    ) -> [Option<Node<'a>>; N] {
        let members = self.members(node);
        self.by_name(members, path, names)
    }

    fn by_name<'a, const N: usize>(
        &mut self,
        members: impl Iterator<Item = Node<'a>>,
        path: &str,
        names: [&str; N],
    ) -> [Option<Node<'a>>; N] {
        let mut found = [None; N];
        for member in members {
            match names.iter().zip(&mut found).find(|(name, _)| **name == member.key()) {
                Some((_, found)) => *found = Some(member),
                None => self.unknown(path, member),
            }
        }
        found
    }

    /// Refuses the members at these places, whose keys were given before in the same object.
    pub fn refuse_duplicates(&mut self, document: Document<'_>, places: &[usize]) {
        for &at in places {
            let node = document.node(at);
            self.refuse_as(node, "the key a second time", "each key once", "keep the one that is meant");
        }
    }

    /// Reads the elements of an array.
    pub fn elements<'a>(&mut self, node: Node<'a>) -> Children<'a> {
        if node.value() != Value::Array {
            self.refuse(node, "an array", "");
        }
        if node.value() == Value::Object { node.nothing() } else { node.children() }
    }

    /// Reads a number within a range.
    pub fn number(&mut self, node: Node<'_>, range: Range) -> Option<f64> {
        match node.value() {
            Value::Number(number) if (range.min..=range.max).contains(&number) => self.exact(node, number),
            Value::Text(text) if text.trim().parse::<f64>().is_ok_and(f64::is_finite) => {
                self.refused(node, range.rule, "write the number without quotes")
            }
            _ => self.refused(node, range.rule, ""),
        }
    }

    /// Reads a whole number not below `min`.
    pub fn count(&mut self, node: Node<'_>, min: f64) -> Option<f64> {
        let range = Range { min, max: EXACT, rule: "a whole number not below 0" };
        let rule = if min > 0.0 { "a whole number above 0" } else { range.rule };
        match node.value() {
            Value::Number(number) if number.trunc() == number && (min..=EXACT).contains(&number) => {
                self.exact(node, number)
            }
            Value::Number(number) if number > EXACT => self.refused(node, "a count below 2^53", ""),
            Value::Number(_) => self.refused(node, rule, ""),
            _ => self.number(node, Range { rule, ..range }),
        }
    }

    /// Reads `true` or `false`.
    pub fn flag(&mut self, node: Node<'_>) -> Option<bool> {
        match node.value() {
            Value::Flag(flag) => Some(flag),
            Value::Text("true" | "false") => {
                self.refused(node, "`true` or `false`", "write it without quotes")
            }
            _ => self.refused(node, "`true` or `false`", ""),
        }
    }

    /// Reads a text.
    pub fn text<'a>(&mut self, node: Node<'a>) -> Option<&'a str> {
        match node.value() {
            Value::Text(text) => Some(text),
            _ => self.refused(node, "a text", ""),
        }
    }

    /// Reads a text that is more than white space.
    pub fn filled_text<'a>(&mut self, node: Node<'a>) -> Option<&'a str> {
        match node.value() {
            Value::Text(text) if !text.trim().is_empty() => Some(text),
            _ => self.refused(node, "a text that is not blank", ""),
        }
    }

    /// Reads the name of a subject, a task or an item: a text that is a [name](names::fault), or a whole number.
    pub fn name<'a>(&mut self, node: Node<'a>) -> Option<Name<'a>> {
        match node.value() {
            Value::Number(_) => self.count(node, 0.0).map(Name::Number),
            Value::Text(text) => match names::fault(text) {
                None => Some(Name::Text(text)),
                Some(NameFault { expected, hint }) => self.refused(node, expected, hint),
            },
            _ => self.refused(node, "a name, or a whole number", ""),
        }
    }

    /// Reads a timestamp with `parse`, which is one of the functions of [`karat_core::timestamp`].
    pub fn timestamp<T>(
        &mut self,
        node: Node<'_>,
        parse: impl FnOnce(&str) -> Result<T, TimestampError>,
    ) -> Option<T> {
        let text = match node.value() {
            Value::Text(text) => Ok(text),
            _ => Err(TimestampError::Form),
        };
        text.and_then(parse).map_err(|error| self.refuse(node, error.expected(), error.hint())).ok()
    }

    /// Reads how a run ended.
    pub fn outcome(&mut self, node: Node<'_>) -> Option<Outcome> {
        self.one_of(node, &Outcome::ALL.map(Outcome::name)).and_then(Outcome::from_name)
    }

    /// Reads one of the texts of a closed list.
    pub fn one_of<'a>(&mut self, node: Node<'a>, known: &[&str]) -> Option<&'a str> {
        let text = match node.value() {
            Value::Text(text) if known.contains(&text) => return Some(text),
            Value::Text(text) => text,
            _ => "",
        };
        self.add(node, None, || {
            let names: Vec<_> = known.iter().map(|name| format!("`{name}`")).collect();
            (describe(node), one_or_more(&names), did_you_mean(text, known.iter().copied()))
        });
        None
    }

    /// Reads a field that must be there.
    pub fn required<'a>(
        &mut self,
        parent: Node<'a>,
        name: &str,
        field: Option<Node<'a>>,
        expected: &str,
    ) -> Option<Node<'a>> {
        if field.is_none() {
            self.absent(parent, name, expected);
        }
        field
    }

    /// Reports a field that is missing from `parent`. If `parent` is not an object, that was reported before.
    pub fn absent(&mut self, parent: Node<'_>, name: &str, expected: &str) {
        if parent.value() != Value::Object {
            return;
        }
        self.add(parent, Some(name), || ("nothing".to_owned(), expected.to_owned(), format!("add `{name}`")));
    }

    /// Reports a value that is not what it should be.
    pub fn refuse(&mut self, node: Node<'_>, expected: impl Display, hint: impl Display) {
        self.add(node, None, || (describe(node), expected.to_string(), hint.to_string()));
    }

    /// Reports a value that is not what it should be, and gives nothing in its place.
    fn refused<T>(&mut self, node: Node<'_>, expected: impl Display, hint: impl Display) -> Option<T> {
        self.refuse(node, expected, hint);
        None
    }

    /// Reports a value in other words than its own.
    pub fn refuse_as(
        &mut self,
        node: Node<'_>,
        found: impl Display,
        expected: impl Display,
        hint: impl Display,
    ) {
        self.add(node, None, || (found.to_string(), expected.to_string(), hint.to_string()));
    }

    /// Reports a name that is not one of the known ones.
    pub fn refuse_name<'a, K: IntoIterator<Item = &'a str>>(
        &mut self,
        node: Node<'_>,
        name: &str,
        expected: &str,
        known: impl FnOnce() -> K,
    ) {
        // Looking for the nearest name takes time, which only a problem that will be listed is worth.
        self.add(node, None, || (quoted(name), expected.to_owned(), did_you_mean(name, known())));
    }

    /// Counts a field that no one reads; `parent` is the path of its object with `[*]` for any element.
    pub fn unknown(&mut self, parent: &str, node: Node<'_>) {
        self.unknown.count(parent, node.key());
    }

    /// Notes something that does not prevent a score and that its readers should know.
    pub fn note(&mut self, node: Node<'_>, text: String) {
        self.pass_on(std::iter::once_with(|| Note { path: locate::path(node), text }));
    }

    /// Suspects something that can be so and hardly is, and that may move the score: the record will say it.
    pub fn suspect(&mut self, node: Node<'_>, text: String) {
        self.pass_on_suspicions(std::iter::once_with(|| Note { path: locate::path(node), text }));
    }

    /// Passes on what was suspected elsewhere.
    pub fn pass_on_suspicions(&mut self, suspicions: impl IntoIterator<Item = Note>) {
        let room = Problems::LISTED.saturating_sub(self.suspicions.len());
        self.suspicions.extend(suspicions.into_iter().take(room));
    }

    /// Returns what was suspected, and forgets it.
    pub fn take_suspicions(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.suspicions)
    }

    /// Passes on what was noted elsewhere.
    pub fn pass_on(&mut self, notes: impl IntoIterator<Item = Note>) {
        let room = Problems::LISTED.saturating_sub(self.notes.len());
        self.notes.extend(notes.into_iter().take(room));
    }

    /// Refuses a whole number that is written with other digits than a double has, as it is another number than the one
    /// written.
    fn exact(&mut self, node: Node<'_>, number: f64) -> Option<f64> {
        if number.abs() < EXACT {
            // Adding zero turns -0 into 0, so that no sign of zero reaches a formula.
            return Some(number + 0.0);
        }
        let literal = literal(node);
        if is_exact(literal, number) {
            return Some(number);
        }
        self.refuse_as(node, quoted(literal), HELD, "round it, as in `1e18`");
        None
    }

    /// Refuses each such number in a value of any form.
    pub fn refuse_inexact(&mut self, node: Node<'_>) {
        let document = node.document();
        let mut large = document.large(node.at()..node.end()).peekable();
        if large.peek().is_none() {
            return;
        }
        let mut ranges = locate::ranges(document);
        let mut seen = 0;
        for node in large {
            let range = ranges.nth(node.at() - seen).unwrap_or_default();
            seen = node.at() + 1;
            let literal = document.text().get(range).unwrap_or_default();
            if let Value::Number(number) = node.value()
                && !is_exact(literal, number)
            {
                self.refuse_as(node, quoted(literal), HELD, "write it as a text");
            }
        }
    }

    fn add(
        &mut self,
        node: Node<'_>,
        member: Option<&str>,
        words: impl FnOnce() -> (String, String, String),
    ) {
        self.problems.add(|| {
            let (found, expected, hint) = words();
            let mut path = locate::path(node);
            if let Some(member) = member {
                locate::push_member(&mut path, member);
            }
            let text = node.document().text();
            let (line, column) =
                locate::line_and_column(text, locate::range(node.document(), node.at()).start);
            Problem::at(path, found, expected, hint).on(line, column)
        });
    }
}

/// Returns a value as the text writes it.
fn literal(node: Node<'_>) -> &str {
    node.document().text().get(locate::range(node.document(), node.at())).unwrap_or_default()
}

/// The expectation of a whole number.
const HELD: &str = "a whole number that a double holds: any below 2^53";

/// Returns whether a double is the decimal number that was read as it. A whole number in digits has them all, also where
/// canonical JSON writes it again.
pub fn is_exact(literal: &str, number: f64) -> bool {
    number.abs() < EXACT || literal.contains(['.', 'e', 'E']) || digits(number) == literal
}

/// Describes a value in words.
pub fn describe(node: Node<'_>) -> String {
    match node.value() {
        Value::Null => "`null`".to_owned(),
        Value::Flag(flag) => format!("`{flag}`"),
        Value::Number(_) => quoted(literal(node)),
        Value::Text("") => "an empty text".to_owned(),
        Value::Text(text) => format!("the text {}", quoted(text)),
        Value::Array => "an array".to_owned(),
        Value::Object => "an object".to_owned(),
    }
}

/// Writes a number as canonical JSON does.
pub fn digits(number: f64) -> String {
    let mut out = Vec::new();
    json::write_number(&mut out, number);
    String::from_utf8(out).unwrap_or_default()
}

fn one_or_more(names: &[String]) -> String {
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.join(""),
    }
}
