//! JSON read as it comes: only the members that are wanted are kept, and the elements of lists are handed on one by one.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use serde::de::IgnoredAny;
use serde_json::Value;

pub(super) use super::scan::outline;
use super::{Fault, Stop, scan};

/// Longest line, or object over several lines, in bytes.
const PART_MAX: usize = 256 << 20;

/// The members that are wanted. The elements of a list are handed on, with those of their members that are wanted. Of a list
/// within a list, the elements of the inner one are handed on; the members beside it in the outer one then come before.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    top: Node,
}

#[derive(Debug, Default)]
pub(super) struct Node {
    /// The name under which the value is kept.
    pub kept: Option<&'static str>,
    pub members: BTreeMap<&'static str, Node>,
    pub elements: Option<Box<Node>>,
    /// True for the element of a list that has lists in it: their elements are handed on, and it is not.
    pub is_outer: bool,
}

impl Wanted {
    /// Takes lists, such as `a.samples[]`, each with the paths of the members of its elements, between blanks: `id eval.model`.
    /// Members outside of lists belong to the list `""`; the path `.` is the whole element.
    pub(super) fn of(lists: &[(&'static str, &'static str)]) -> Self {
        let mut top = Node::default();
        for (list, paths) in lists {
            for path in paths.split_ascii_whitespace().map(|path| if path == "." { "" } else { path }) {
                let mut node = &mut top;
                for outer in list.split_terminator("[]") {
                    node = node.descend(outer).elements.get_or_insert_default();
                }
                let node = node.descend(path);
                node.kept = Some(path);
            }
        }
        top.find_outer();
        Self { top }
    }
}

impl Node {
    fn descend(&mut self, path: &'static str) -> &mut Self {
        let parts = path.split('.').filter(|part| !part.is_empty());
        parts.fold(self, |node, part| node.members.entry(part).or_default())
    }

    /// Marks the elements of lists that have lists in them, and returns whether there is a list here.
    fn find_outer(&mut self) -> bool {
        let inner = self.members.values_mut().fold(false, |found, node| node.find_outer() | found);
        match &mut self.elements {
            Some(element) => {
                element.is_outer = element.find_outer();
                true
            }
            None => inner,
        }
    }

    /// Takes the values that are kept here away from `members`.
    pub(super) fn forget(&self, members: &mut Members) {
        if let Some(kept) = self.kept {
            members.0.remove(kept);
        }
        self.members.values().for_each(|node| node.forget(members));
    }
}

/// Members that were kept, by the path under which they were wanted.
#[derive(Debug, Default, Clone)]
pub(super) struct Members(BTreeMap<&'static str, Value>);

impl Members {
    /// Keeps a value, and returns the one that was kept under that name before.
    pub(super) fn insert(&mut self, name: &'static str, value: Value) -> Option<Value> {
        self.0.insert(name, value)
    }

    pub(super) fn get(&self, path: &str) -> Option<&Value> {
        self.0.get(path).filter(|value| !value.is_null())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn text(&self, path: &str) -> Option<&str> {
        self.get(path)?.as_str().filter(|text| !text.trim().is_empty())
    }

    /// Returns a text, or a number as it is written.
    pub(super) fn name(&self, path: &str) -> Option<String> {
        self.get(path).and_then(name)
    }

    pub(super) fn number(&self, path: &str) -> Option<f64> {
        self.get(path).and_then(Value::as_f64)
    }

    pub(super) fn flag(&self, path: &str) -> Option<bool> {
        self.get(path).and_then(Value::as_bool)
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.get(path).is_some()
    }
}

/// Returns a text, or a number or truth as it is written.
pub(super) fn name(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// Returns what a word says of success, as people and judges write it: 1 or 0.
pub(super) fn verdict(word: &str) -> Option<f64> {
    match word.trim().to_ascii_lowercase().as_str() {
        "pass" | "passed" | "correct" | "true" | "yes" | "success" | "succeeded" | "solved" => Some(1.0),
        "fail" | "failed" | "failure" | "incorrect" | "wrong" | "false" | "no" | "unsolved" => Some(0.0),
        _ => None,
    }
}

/// Returns an object, which may be written as a text of JSON.
pub(super) fn members_of(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) => serde_json::from_str(text).ok().filter(Value::is_object),
        value => value.is_object().then(|| value.clone()),
    }
}

/// An element of a list, or a line.
pub(super) struct Element<'a> {
    /// The place: `$.samples[3]`, `line 4`.
    pub place: &'a str,
    /// The members outside the list that came before.
    pub before: &'a Members,
    pub own: &'a Members,
    /// The whole line; empty for an element of a list.
    pub line: &'a [u8],
}

pub(super) type Take<'a> = dyn FnMut(&Element<'_>) -> Result<(), Stop> + 'a;

/// Reads one JSON text, hands on the elements, and returns the members outside of lists.
pub(super) fn read(input: impl Read, wanted: &Wanted, take: &mut Take<'_>) -> Result<Members, Stop> {
    let mut hand = |element: &Element<'_>| take(element);
    let mut walk = scan::Walk::new(&mut hand);
    scan::scan(input, &wanted.top, &mut walk)?;
    Ok(walk.before)
}

/// Hands on the parts of a text, each of which ends with a line that `is_end`, with the place of its first line. Blank ones are
/// passed over.
pub(super) fn parts(
    mut input: impl BufRead,
    is_end: fn(&[u8]) -> bool,
    mut take: impl FnMut(&str, &[u8]) -> Result<(), Stop>,
) -> Result<(), Stop> {
    let (mut part, mut place) = (Vec::new(), String::from("line 1"));
    for next in 2u64.. {
        let at = part.len();
        let room = (PART_MAX as u64 + 1).saturating_sub(at as u64);
        let read = input.by_ref().take(room).read_until(b'\n', &mut part);
        let read = read.map_err(|error| Fault::new(&place, error.to_string(), "a line that can be read"))?;
        if part.len() > PART_MAX {
            let found = format!("a line or object of more than {} MiB", PART_MAX >> 20);
            return Err(Fault::new(place, found, "a shorter one").into());
        }
        if read == 0 || is_end(part.get(at..).unwrap_or_default()) {
            if !part.trim_ascii().is_empty() {
                take(&place, &part)?;
            }
            part.clear();
            place = format!("line {next}");
        }
        if read == 0 {
            break;
        }
    }
    Ok(())
}

fn read_parts(
    input: impl BufRead,
    wanted: &Wanted,
    is_end: fn(&[u8]) -> bool,
    take: &mut Take<'_>,
) -> Result<(), Stop> {
    let before = Members::default();
    parts(input, is_end, |place, line| {
        // The number of the line says enough.
        let own = members(line, wanted).map_err(|stop| stop.at(|_| place.to_owned()))?;
        take(&Element { place, before: &before, own: &own, line })
    })
}

pub(super) fn read_lines(input: impl BufRead, wanted: &Wanted, take: &mut Take<'_>) -> Result<(), Stop> {
    read_parts(input, wanted, |_| true, take)
}

/// Returns whether a text has one JSON text on each line, and is not one text over many.
pub(super) fn is_lines(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let mut lines = head.split(|&byte| byte == b'\n');
    let first = lines.next().unwrap_or_default();
    let is_whole = lines.next().is_some();
    // A first line that is longer than what is at hand is a separate text only if nothing else says so.
    first.first() == Some(&b'{') && is_whole && serde_json::from_slice::<IgnoredAny>(first).is_ok()
}

/// Returns whether a text has several objects over lines, each of which ends with a brace at the beginning of a line.
fn is_blocks(head: &[u8]) -> bool {
    let mut texts = serde_json::Deserializer::from_slice(head).into_iter::<IgnoredAny>();
    head.trim_ascii_start().starts_with(b"{")
        && texts.next().is_some_and(|first| first.is_ok())
        && head.get(texts.byte_offset()..).is_some_and(|rest| rest.trim_ascii_start().starts_with(b"{"))
}

/// Reads JSON lines, objects over several lines, a list, or a single text: hands on each object.
pub(super) fn read_objects(
    input: &super::Input,
    paths: &'static str,
    take: &mut Take<'_>,
) -> Result<(), Stop> {
    let head = input.head(1 << 20)?;
    let wanted = Wanted::of(&[("", paths), ("[]", paths)]);
    if is_lines(&head) {
        return read_lines(input.json()?, &wanted, take);
    }
    if is_blocks(&head) {
        return read_parts(input.json()?, &wanted, |line| line.trim_ascii_end() == b"}", take);
    }
    let own = read(input.json()?, &wanted, take)?;
    if own.0.is_empty() {
        return Ok(());
    }
    take(&Element { place: "$", before: &Members::default(), own: &own, line: &[] })
}

/// Returns the wanted members of a text, which has no list to hand on.
pub(super) fn members(text: &[u8], wanted: &Wanted) -> Result<Members, Stop> {
    let mut none = |_: &Element<'_>| Ok(());
    let mut walk = scan::Walk::new(&mut none);
    scan::scan_bytes(text, &wanted.top, &mut walk)?;
    Ok(walk.before)
}
