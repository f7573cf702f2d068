//! JSON read as it comes: only the members that are wanted are kept, and the elements of lists are handed on one by one.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead, Read};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::{Fault, Stop, scan};

const LINE_MAX: usize = 256 << 20;

/// The members that are wanted, by path from the top: `eval.model`, `samples[].scores`. `[]` is a list whose elements are
/// handed on, with the members that follow. Of a list within a list, the elements of the inner one are handed on; the members
/// beside it in the outer one then come before.
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
    pub(super) fn new(paths: &[&'static str]) -> Self {
        let mut top = Node::default();
        for path in paths {
            let mut node = &mut top;
            let mut parts = path.split("[]").map(|part| part.strip_prefix('.').unwrap_or(part)).peekable();
            while let Some(part) = parts.next() {
                node = node.descend(part);
                if parts.peek().is_none() {
                    node.kept = Some(part);
                } else {
                    node = node.elements.get_or_insert_default();
                }
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

pub(super) fn read_lines(mut input: impl BufRead, wanted: &Wanted, take: &mut Take<'_>) -> Result<(), Stop> {
    let mut line = Vec::new();
    let before = Members::default();
    for number in 1u64.. {
        line.clear();
        let place = format!("line {number}");
        let most = LINE_MAX as u64 + 1;
        let read = input.by_ref().take(most).read_until(b'\n', &mut line);
        match read {
            Err(error) => return Err(Fault::new(place, error.to_string(), "a line that can be read").into()),
            Ok(0) => break,
            Ok(_) if line.len() > LINE_MAX => {
                let found = format!("a line of more than {} MiB", LINE_MAX >> 20);
                return Err(Fault::new(place, found, "a shorter line").into());
            }
            Ok(_) if line.trim_ascii().is_empty() => continue,
            Ok(_) => {}
        }
        let own = members(&line, wanted).map_err(|stop| in_line(stop, &place))?;
        take(&Element { place: &place, before: &before, own: &own, line: &line })?;
    }
    Ok(())
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

/// Reads such objects, as consoles print them, and hands them on.
fn read_blocks(mut input: impl BufRead, wanted: &Wanted, take: &mut Take<'_>) -> Result<(), Stop> {
    let (mut block, mut begin) = (Vec::new(), 1);
    let before = Members::default();
    for number in 1u64.. {
        let place = format!("line {begin}");
        let room = (LINE_MAX as u64 + 1).saturating_sub(block.len() as u64);
        let at = block.len();
        let read = input.by_ref().take(room).read_until(b'\n', &mut block);
        let read =
            read.map_err(|error| Fault::new(place.as_str(), error.to_string(), "a line that can be read"))?;
        if block.len() > LINE_MAX {
            let found = format!("an object of more than {} MiB", LINE_MAX >> 20);
            return Err(Fault::new(place, found, "a shorter one").into());
        }
        let is_end = read == 0 || block.get(at..).is_some_and(|line| line.trim_ascii_end() == b"}");
        if is_end && !block.trim_ascii().is_empty() {
            let own = members(&block, wanted).map_err(|stop| in_line(stop, &place))?;
            take(&Element { place: &place, before: &before, own: &own, line: &block })?;
        }
        if is_end {
            block.clear();
            begin = number + 1;
        }
        if read == 0 {
            break;
        }
    }
    Ok(())
}

/// Reads JSON lines, objects over several lines, a list, or a single text: hands on each object.
pub(super) fn read_objects(
    input: &super::Input,
    paths: &[&'static str],
    take: &mut Take<'_>,
) -> Result<(), Stop> {
    let head = input.head(1 << 20)?;
    let wanted = Wanted::new(paths);
    if is_lines(&head) {
        return read_lines(input.json()?, &wanted, take);
    }
    if is_blocks(&head) {
        return read_blocks(input.json()?, &wanted, take);
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

/// Returns the fault of a line, whose number says enough.
fn in_line(stop: Stop, place: &str) -> Stop {
    match stop {
        Stop::Fault(fault) => Stop::Fault(Box::new(Fault { place: place.to_owned(), ..*fault })),
        Stop::Enough => Stop::Enough,
    }
}

/// Returns the paths of the members at the beginning of a text, as far as it goes: `$`, `eval.model`, `[].task_id`. Of a
/// list the first elements count.
pub(super) fn outline(head: &[u8]) -> Vec<String> {
    let mut paths = Vec::new();
    let mut text = serde_json::Deserializer::from_slice(head);
    // Where it is cut off or broken, what was read so far counts.
    let _ = Outline { paths: &mut paths, path: String::new(), depth: 0 }.deserialize(&mut text);
    paths
}

struct Outline<'a> {
    paths: &'a mut Vec<String>,
    path: String,
    depth: u8,
}

/// Levels of members, and members in all, that an outline has.
const DEPTH: u8 = 4;
const MOST: usize = 2000;

impl<'de> DeserializeSeed<'de> for Outline<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        if self.depth >= DEPTH || self.paths.len() > MOST {
            return input.deserialize_ignored_any(IgnoredAny).map(drop);
        }
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Outline<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            let path = if self.path.is_empty() { name } else { format!("{}.{name}", self.path) };
            self.paths.push(path.clone());
            map.next_value_seed(Outline { paths: self.paths, path, depth: self.depth + 1 })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let path = format!("{}[]", self.path);
        self.paths.push(path.clone());
        let element = Outline { paths: self.paths, path, depth: self.depth };
        if list.next_element_seed(element)?.is_some() {
            while list.next_element::<IgnoredAny>()?.is_some() {}
        }
        Ok(())
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        // Of a few members the value tells the format.
        if matches!(self.path.as_str(), "schema_version" | "trajectory_format" | "schema") {
            self.paths.push(format!("{}={text}", self.path));
        }
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
