//! JSON read as it comes: only the members that are wanted are kept, and the elements of lists are handed on one by one.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{BufRead, Read as _};

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::{Fault, Stop};

/// Longest line of JSON lines.
const LINE_MAX: usize = 256 << 20;

/// The members that are wanted, by path from the top: `eval.model`, `samples[].scores`. `[]` is a list whose elements are
/// handed on, with the members that follow. Of a list within a list, the elements of the inner one are handed on; the members
/// beside it in the outer one then come before.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    top: Node,
}

#[derive(Debug, Default)]
struct Node {
    /// The name under which the value is kept.
    kept: Option<&'static str>,
    members: BTreeMap<&'static str, Node>,
    elements: Option<Box<Node>>,
    /// True for the element of a list that has lists in it: their elements are handed on, and it is not.
    is_outer: bool,
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
    fn forget(&self, members: &mut Members) {
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
    pub(super) fn get(&self, path: &str) -> Option<&Value> {
        self.0.get(path).filter(|value| !value.is_null())
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

/// An element of a list, or a line.
pub(super) struct Element<'a> {
    /// The place: `$.samples[3]`, `line 4`.
    pub place: &'a str,
    /// The members outside the list that came before.
    pub before: &'a Members,
    /// The members of the element.
    pub own: &'a Members,
    /// The whole line; empty for an element of a list.
    pub line: &'a [u8],
}

type Take<'a> = dyn FnMut(&Element<'_>) -> Result<(), Stop> + 'a;

/// Reads one JSON text, hands on the elements, and returns the members outside of lists.
pub(super) fn read(input: impl BufRead, wanted: &Wanted, take: &mut Take<'_>) -> Result<Members, Stop> {
    let mut walk = Walk { before: Members::default(), own: None, take, stop: None, path: String::from("$") };
    let mut text = serde_json::Deserializer::from_reader(input);
    let read = Step { node: &wanted.top, walk: &mut walk }.deserialize(&mut text).and_then(|()| text.end());
    let Walk { before, stop, path, .. } = walk;
    match (stop, read) {
        (Some(stop), _) => Err(stop),
        (None, Ok(())) => Ok(before),
        (None, Err(error)) => Err(fault(&error, &path).into()),
    }
}

/// Reads one JSON text on each line and hands them on.
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
        let own =
            members(&line, wanted).map_err(|error| Fault { place: place.clone(), ..fault(&error, "") })?;
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

/// Reads JSON lines, a list, or a single text: hands on each object.
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
    let own = read(input.json()?, &wanted, take)?;
    if own.0.is_empty() {
        return Ok(());
    }
    take(&Element { place: "$", before: &Members::default(), own: &own, line: &[] })
}

/// Returns the wanted members of a text, which has no list to hand on.
pub(super) fn members(text: &[u8], wanted: &Wanted) -> serde_json::Result<Members> {
    let mut ignore = |_: &Element<'_>| Ok(());
    let mut walk =
        Walk { before: Members::default(), own: None, take: &mut ignore, stop: None, path: String::new() };
    let mut text = serde_json::Deserializer::from_slice(text);
    Step { node: &wanted.top, walk: &mut walk }.deserialize(&mut text)?;
    text.end()?;
    Ok(walk.before)
}

fn fault(error: &serde_json::Error, path: &str) -> Fault {
    let mut words = error.to_string();
    if let Some(at) = words.rfind(" at line ") {
        words.truncate(at);
    }
    let place = match (error.line(), path) {
        (0, path) => path.to_owned(),
        (line, "" | "$") => format!("line {line}, column {}", error.column()),
        (line, path) => format!("{path} (line {line}, column {})", error.column()),
    };
    let hint = if error.is_eof() { "the file is cut off: supply all of it" } else { "" };
    Fault { hint: hint.to_owned(), ..Fault::new(place, words, "well-formed JSON") }
}

/// The way through a text.
struct Walk<'a> {
    before: Members,
    /// The element that is being read.
    own: Option<Members>,
    take: &'a mut Take<'a>,
    /// The reason to read no further.
    stop: Option<Stop>,
    path: String,
}

/// One value on the way.
struct Step<'n, 'w, 'a> {
    node: &'n Node,
    walk: &'w mut Walk<'a>,
}

impl<'de> DeserializeSeed<'de> for Step<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<(), D::Error> {
        let Some(kept) = self.node.kept else { return input.deserialize_any(self) };
        let value = <Value as de::Deserialize>::deserialize(input)?;
        let Walk { before, own, .. } = self.walk;
        let members = own.as_mut().unwrap_or(before);
        match members.0.insert(kept, value) {
            None => Ok(()),
            Some(_) => Err(de::Error::custom(format!("the member `{kept}` a second time"))),
        }
    }
}

impl<'de> Visitor<'de> for Step<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { node, walk } = self;
        while let Some(found) = map.next_key_seed(Key(node))? {
            match found {
                None => drop(map.next_value::<IgnoredAny>()?),
                Some((name, node)) => {
                    let length = walk.path.len();
                    walk.path.push('.');
                    walk.path.push_str(name);
                    map.next_value_seed(Step { node, walk })?;
                    walk.path.truncate(length);
                }
            }
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { node, walk } = self;
        let Some(elements) = node.elements.as_deref() else {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        };
        let length = walk.path.len();
        for number in 0u64.. {
            walk.path.truncate(length);
            walk.path.push_str(&format!("[{number}]"));
            if elements.is_outer {
                elements.forget(&mut walk.before);
                if list.next_element_seed(Step { node: elements, walk })?.is_none() {
                    break;
                }
                continue;
            }
            walk.own = Some(Members::default());
            if list.next_element_seed(Step { node: elements, walk })?.is_none() {
                break;
            }
            let own = walk.own.take().unwrap_or_default();
            let element = Element { place: &walk.path, before: &walk.before, own: &own, line: &[] };
            if let Err(stop) = (walk.take)(&element) {
                walk.stop = Some(stop);
                return Err(de::Error::custom("stopped"));
            }
        }
        walk.own = None;
        walk.path.truncate(length);
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

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// The name of a member: that of a wanted one leads on.
struct Key<'n>(&'n Node);

impl<'de, 'n> DeserializeSeed<'de> for Key<'n> {
    type Value = Option<(&'static str, &'n Node)>;

    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_str(self)
    }
}

impl<'n> Visitor<'_> for Key<'n> {
    type Value = Option<(&'static str, &'n Node)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.members.get_key_value(name).map(|(name, node)| (*name, node)))
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
