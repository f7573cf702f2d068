//! The way through one text of JSON, as it comes: what is not wanted is passed over without being kept or built, at the speed
//! of looking for quotes and brackets; what is wanted is parsed from its own bytes.

use std::io::Read;
use std::str;

use serde_json::Value;

use super::json::{Element, Members, Node, Take};
use super::{Fault, Stop};

/// Bytes read at once.
const BUFFER: usize = 1 << 16;
/// Longest wanted value, in bytes.
const VALUE_MAX: usize = 256 << 20;
/// Longest text in a log, in bytes.
const TEXT_MAX: usize = 64 << 20;
/// Levels of members, and members in all, that an outline has.
const OUTLINE_DEPTH: u8 = 4;
const OUTLINE_MAX: usize = 2000;
/// Most values within a wanted value: in memory each takes many times its bytes.
const PARTS_MAX: usize = 1 << 18;

/// A text on the way.
pub(super) struct Scan<R> {
    input: R,
    buffer: Vec<u8>,
    at: usize,
    end: usize,
    /// Line ends before the buffer, and bytes since the last of them.
    lines: usize,
    columns: usize,
    /// The bytes of a wanted value, while one is kept.
    kept: Option<Vec<u8>>,
    /// Open brackets of what is passed over: true for those of an object.
    open: Vec<bool>,
}

/// The members that were found, and who takes elements.
pub(super) struct Walk<'a> {
    pub before: Members,
    /// The element that is being read.
    own: Option<Members>,
    take: &'a mut Take<'a>,
    path: String,
}

/// The reason why a text is not JSON.
enum Wrong {
    Words(String),
    /// The text ends within something.
    End(&'static str),
    Stop(Stop),
}

impl From<std::io::Error> for Wrong {
    fn from(error: std::io::Error) -> Self {
        Self::Stop(Fault::new("", error.to_string(), "well-formed JSON").into())
    }
}

fn wrong<T>(words: &str) -> Result<T, Wrong> {
    Err(Wrong::Words(words.to_owned()))
}

impl<'a> Walk<'a> {
    pub(super) fn new(take: &'a mut Take<'a>) -> Self {
        Self { before: Members::default(), own: None, take, path: String::from("$") }
    }
}

/// Reads one text, hands on the elements that are wanted, and keeps the members outside of lists in `walk`.
pub(super) fn scan(input: impl Read, top: &Node, walk: &mut Walk<'_>) -> Result<(), Stop> {
    Scan::new(input, vec![0; BUFFER], 0).text_of(top, walk)
}

pub(super) fn scan_bytes(text: &[u8], top: &Node, walk: &mut Walk<'_>) -> Result<(), Stop> {
    Scan::new(std::io::empty(), text.to_vec(), text.len()).text_of(top, walk)
}

/// Returns the paths of the members at the beginning of a text, as far as it goes: `$`, `eval.model`, `[].task_id`. Of a
/// list the first element counts.
pub(super) fn outline(head: &[u8]) -> Vec<String> {
    let mut paths = Vec::new();
    // Where it is cut off or broken, what was read so far counts.
    let _ = Scan::new(std::io::empty(), head.to_vec(), head.len()).outline("", 0, &mut paths);
    paths
}

/// The reader of the value of a member.
type Taking<'a, S> = dyn FnMut(&mut S, &[u8]) -> Result<(), Wrong> + 'a;

impl<R: Read> Scan<R> {
    fn new(input: R, buffer: Vec<u8>, end: usize) -> Self {
        Self { input, buffer, at: 0, end, lines: 0, columns: 0, kept: None, open: Vec::new() }
    }

    fn text_of(mut self, top: &Node, walk: &mut Walk<'_>) -> Result<(), Stop> {
        let scan = &mut self;
        let read = scan.value(top, walk).and_then(|()| match scan.peek()? {
            None => Ok(()),
            Some(_) => wrong("trailing characters"),
        });
        let (words, hint) = match read {
            Ok(()) => return Ok(()),
            Err(Wrong::Stop(Stop::Fault(fault))) if fault.place.is_empty() => {
                return Err(Fault { place: walk.path.clone(), ..*fault }.into());
            }
            Err(Wrong::Stop(stop)) => return Err(stop),
            Err(Wrong::Words(words)) => (words, ""),
            Err(Wrong::End(what)) => {
                (format!("EOF while parsing {what}"), "the file is cut off: supply all of it")
            }
        };
        let (line, column) = scan.place();
        let place = match walk.path.as_str() {
            "$" => format!("line {line}, column {column}"),
            path => format!("{path} (line {line}, column {column})"),
        };
        Err(Fault { hint: hint.to_owned(), ..Fault::new(place, words, "well-formed JSON") }.into())
    }

    /// Returns the line and column of the last byte that was taken.
    fn place(&self) -> (usize, usize) {
        let taken = self.buffer.get(..self.at).unwrap_or_default();
        let lines = taken.iter().filter(|byte| **byte == b'\n').count();
        let column = match taken.iter().rposition(|byte| *byte == b'\n') {
            Some(last) => self.at - last - 1,
            None => self.columns + self.at,
        };
        (self.lines + lines + 1, column)
    }

    /// Returns the bytes that are at hand, after reading more if there is nothing; nothing at the end.
    #[inline]
    fn ready(&mut self) -> Result<&[u8], Wrong> {
        if self.at == self.end {
            self.fill()?;
        }
        Ok(self.buffer.get(self.at..self.end).unwrap_or_default())
    }

    #[cold]
    fn fill(&mut self) -> Result<(), Wrong> {
        let (line, column) = self.place();
        (self.lines, self.columns) = (line - 1, column);
        (self.at, self.end) = (0, 0);
        self.end = loop {
            match self.input.read(&mut self.buffer) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        Ok(())
    }

    /// Takes bytes, which are kept if they are part of a wanted value.
    #[inline]
    fn take(&mut self, count: usize) -> Result<(), Wrong> {
        if let Some(kept) = &mut self.kept {
            kept.extend_from_slice(self.buffer.get(self.at..self.at + count).unwrap_or_default());
            if kept.len() > VALUE_MAX {
                return Err(Wrong::Words(format!("a value of more than {} MiB", VALUE_MAX >> 20)));
            }
        }
        self.at += count;
        Ok(())
    }

    /// Returns the next byte after white space, which is not taken.
    #[inline]
    fn peek(&mut self) -> Result<Option<u8>, Wrong> {
        match self.ready()?.first() {
            Some(byte) if *byte > b' ' => Ok(Some(*byte)),
            _ => self.peek_beyond(),
        }
    }

    fn peek_beyond(&mut self) -> Result<Option<u8>, Wrong> {
        loop {
            let ready = self.ready()?;
            if ready.is_empty() {
                return Ok(None);
            }
            let blank = ready.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\r' | b'\t'));
            match blank {
                Some(0) => return Ok(ready.first().copied()),
                found => self.at += found.unwrap_or(ready.len()),
            }
        }
    }

    fn next(&mut self) -> Result<Option<u8>, Wrong> {
        let next = self.ready()?.first().copied();
        if next.is_some() {
            self.take(1)?;
        }
        Ok(next)
    }

    /// Reads a value of which a part is wanted.
    fn value(&mut self, node: &Node, walk: &mut Walk<'_>) -> Result<(), Wrong> {
        if let Some(name) = node.kept {
            let value = self.whole()?;
            let Walk { before, own, .. } = walk;
            return match own.as_mut().unwrap_or(before).insert(name, value) {
                None => Ok(()),
                Some(_) => Err(Wrong::Words(format!("the member `{name}` a second time"))),
            };
        }
        match (self.peek()?, node.elements.as_deref()) {
            (Some(b'{'), _) if !node.members.is_empty() => self.object(node, walk),
            (Some(b'['), Some(elements)) => self.list(elements, walk),
            _ => self.pass(),
        }
    }

    fn object(&mut self, node: &Node, walk: &mut Walk<'_>) -> Result<(), Wrong> {
        self.members(&mut |scan, name| match found(node, name)? {
            None => scan.pass(),
            Some((name, node)) => {
                let length = walk.path.len();
                walk.path.push('.');
                walk.path.push_str(name);
                scan.value(node, walk)?;
                walk.path.truncate(length);
                Ok(())
            }
        })
    }

    fn list(&mut self, elements: &Node, walk: &mut Walk<'_>) -> Result<(), Wrong> {
        let length = walk.path.len();
        self.elements(&mut |scan, number| {
            walk.path.truncate(length);
            walk.path.push_str(&format!("[{number}]"));
            if elements.is_outer {
                elements.forget(&mut walk.before);
                return scan.value(elements, walk);
            }
            walk.own = Some(Members::default());
            scan.value(elements, walk)?;
            let own = walk.own.take().unwrap_or_default();
            let element = Element { place: &walk.path, before: &walk.before, own: &own, line: &[] };
            (walk.take)(&element).map_err(Wrong::Stop)
        })?;
        walk.path.truncate(length);
        Ok(())
    }

    /// Takes an object, and lets `value` take the value of each member, by its name with its quotes.
    fn members(&mut self, value: &mut Taking<'_, Self>) -> Result<(), Wrong> {
        self.take(1)?;
        let mut name = Vec::new();
        if self.peek()? == Some(b'}') {
            return self.take(1);
        }
        loop {
            if self.peek()? != Some(b'"') {
                return self.expected("an object", "key must be a string");
            }
            // White space is not kept, so a name has only its own bytes.
            name.clear();
            self.kept = Some(std::mem::take(&mut name));
            let passed = self.text();
            name = self.kept.take().unwrap_or_default();
            passed?;
            self.colon()?;
            value(self, &name)?;
            match self.peek()? {
                Some(b',') => self.take(1)?,
                Some(b'}') => return self.take(1),
                _ => return self.expected("an object", "expected `,` or `}`"),
            }
        }
    }

    /// Takes a list, and lets `element` take each element, by its number.
    fn elements(
        &mut self,
        element: &mut dyn FnMut(&mut Self, u64) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        self.take(1)?;
        if self.peek()? == Some(b']') {
            return self.take(1);
        }
        for number in 0.. {
            element(self, number)?;
            match self.peek()? {
                Some(b',') => self.take(1)?,
                Some(b']') => return self.take(1),
                _ => return self.expected("a list", "expected `,` or `]`"),
            }
        }
        Ok(())
    }

    fn outline(&mut self, path: &str, depth: u8, paths: &mut Vec<String>) -> Result<(), Wrong> {
        match self.peek()? {
            _ if depth >= OUTLINE_DEPTH || paths.len() > OUTLINE_MAX => self.pass(),
            Some(b'{') => self.members(&mut |scan, name| {
                let name = read_name(name)?;
                let inner = if path.is_empty() { name } else { format!("{path}.{name}") };
                paths.push(inner.clone());
                scan.outline(&inner, depth + 1, paths)
            }),
            Some(b'[') => {
                let (inner, depth) = (format!("{path}[]"), depth + u8::from(path.ends_with("[]")));
                paths.push(inner.clone());
                self.elements(&mut |scan, number| match number {
                    0 => scan.outline(&inner, depth, paths),
                    _ => scan.pass(),
                })
            }
            // Of a few members the value tells the format.
            Some(b'"') if matches!(path, "schema_version" | "trajectory_format" | "schema") => {
                let text = self.whole()?;
                paths.push(format!("{path}={}", text.as_str().unwrap_or_default()));
                Ok(())
            }
            _ => self.pass(),
        }
    }

    /// Returns the error of another byte than expected, or of the end.
    fn expected<T>(&mut self, within: &'static str, words: &str) -> Result<T, Wrong> {
        if self.peek()?.is_none() {
            return Err(Wrong::End(within));
        }
        self.at += 1;
        wrong(words)
    }

    fn colon(&mut self) -> Result<(), Wrong> {
        match self.peek()? {
            Some(b':') => self.take(1),
            _ => self.expected("an object", "expected `:`"),
        }
    }

    fn whole(&mut self) -> Result<Value, Wrong> {
        self.peek()?;
        self.kept = Some(Vec::new());
        let passed = self.pass();
        let kept = self.kept.take().unwrap_or_default();
        passed?;
        serde_json::from_slice(&kept).map_err(|error| {
            let mut words = error.to_string();
            if let Some(at) = words.rfind(" at line ") {
                words.truncate(at);
            }
            Wrong::Words(words)
        })
    }

    /// Passes over a value of any depth, and checks that it is one.
    fn pass(&mut self) -> Result<(), Wrong> {
        self.open.clear();
        let mut parts = 0;
        loop {
            // A value begins here.
            parts += usize::from(self.kept.is_some());
            if parts > PARTS_MAX {
                return Err(Wrong::Words(format!("a value of more than {PARTS_MAX} values")));
            }
            match self.peek()? {
                Some(b'{') => {
                    self.take(1)?;
                    match self.peek()? {
                        Some(b'}') => self.take(1)?,
                        Some(b'"') => {
                            self.text()?;
                            self.colon()?;
                            self.open.push(true);
                            continue;
                        }
                        _ => return self.expected("an object", "key must be a string"),
                    }
                }
                Some(b'[') => {
                    self.take(1)?;
                    if self.peek()? == Some(b']') {
                        self.take(1)?;
                    } else {
                        self.open.push(false);
                        continue;
                    }
                }
                Some(b'"') => self.text()?,
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word(b"true")?,
                Some(b'f') => self.word(b"false")?,
                Some(b'n') => self.word(b"null")?,
                Some(b'N') => self.no_number(b"NaN")?,
                Some(b'I') => self.no_number(b"Infinity")?,
                _ => return self.expected("a value", "expected value"),
            }
            // A value ended here.
            loop {
                let Some(&is_object) = self.open.last() else { return Ok(()) };
                match (self.peek()?, is_object) {
                    (Some(b','), false) => {
                        self.take(1)?;
                        break;
                    }
                    (Some(b','), true) => {
                        self.take(1)?;
                        if self.peek()? != Some(b'"') {
                            return self.expected("an object", "key must be a string");
                        }
                        self.text()?;
                        self.colon()?;
                        break;
                    }
                    (Some(b'}'), true) | (Some(b']'), false) => {
                        self.take(1)?;
                        self.open.pop();
                    }
                    (_, true) => return self.expected("an object", "expected `,` or `}`"),
                    (_, false) => return self.expected("a list", "expected `,` or `]`"),
                }
            }
        }
    }

    /// Passes over a text with its quotes, of which the first is next.
    fn text(&mut self) -> Result<(), Wrong> {
        self.take(1)?;
        let mut long = 0;
        loop {
            let ready = self.ready()?;
            if ready.is_empty() {
                return Err(Wrong::End("a string"));
            }
            let found = memchr::memchr2(b'"', b'\\', ready);
            let plain = ready.get(..found.unwrap_or(ready.len())).unwrap_or_default();
            // Without a way out, so that many bytes are compared at once.
            if plain.iter().fold(false, |found, byte| found | (*byte < 0x20)) {
                return wrong("control character (\\u0000-\\u001F) found while parsing a string");
            }
            let (length, is_quote) = (plain.len(), found.and_then(|at| ready.get(at)) == Some(&b'"'));
            long += length;
            if long > TEXT_MAX {
                return wrong("a text of more than 64 MiB");
            }
            match found {
                None => self.take(length)?,
                Some(_) if is_quote => return self.take(length + 1),
                Some(_) => {
                    self.take(length + 1)?;
                    self.escape()?;
                }
            }
        }
    }

    fn escape(&mut self) -> Result<(), Wrong> {
        match self.next()? {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(()),
            Some(b'u') => {
                for _ in 0..4 {
                    match self.next()? {
                        Some(byte) if byte.is_ascii_hexdigit() => {}
                        Some(_) => return wrong("invalid escape"),
                        None => return Err(Wrong::End("a string")),
                    }
                }
                Ok(())
            }
            Some(_) => wrong("invalid escape"),
            None => Err(Wrong::End("a string")),
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Wrong> {
        for byte in word {
            match self.next()? {
                Some(found) if found == *byte => {}
                Some(_) => return wrong("expected ident"),
                None => return Err(Wrong::End("a value")),
            }
        }
        Ok(())
    }

    /// Takes a word that some programs write for a number that JSON cannot write; `""` is kept in its place.
    fn no_number(&mut self, word: &[u8]) -> Result<(), Wrong> {
        let mut kept = self.kept.take();
        let taken = self.word(word);
        kept.iter_mut().for_each(|kept| kept.extend_from_slice(b"\"\""));
        self.kept = kept;
        taken
    }

    /// Takes digits, and returns how many.
    fn digits(&mut self) -> Result<usize, Wrong> {
        let mut count = 0;
        loop {
            let ready = self.ready()?;
            let length = ready.iter().take_while(|byte| byte.is_ascii_digit()).count();
            let is_all = length == ready.len();
            self.take(length)?;
            count += length;
            if !is_all || length == 0 {
                return Ok(count);
            }
        }
    }

    fn number(&mut self) -> Result<(), Wrong> {
        let invalid = |next: Option<u8>| match next {
            None => Err(Wrong::End("a value")),
            Some(_) => wrong("invalid number"),
        };
        if self.ready()?.first() == Some(&b'-') {
            self.take(1)?;
            let word: &[u8] = match self.ready()?.first() {
                Some(b'N') => b"NaN",
                Some(b'I') => b"Infinity",
                _ => b"",
            };
            if !word.is_empty() {
                self.kept.as_mut().map(Vec::pop);
                return self.no_number(word);
            }
        }
        if self.ready()?.first() == Some(&b'0') {
            self.take(1)?;
            if self.ready()?.first().is_some_and(u8::is_ascii_digit) {
                return wrong("invalid number");
            }
        } else if self.digits()? == 0 {
            return invalid(self.peek()?);
        }
        if self.ready()?.first() == Some(&b'.') {
            self.take(1)?;
            if self.digits()? == 0 {
                return invalid(self.peek()?);
            }
        }
        if matches!(self.ready()?.first(), Some(b'e' | b'E')) {
            self.take(1)?;
            if matches!(self.ready()?.first(), Some(b'+' | b'-')) {
                self.take(1)?;
            }
            if self.digits()? == 0 {
                return invalid(self.peek()?);
            }
        }
        Ok(())
    }
}

/// Returns the wanted member that a name, with its quotes, is of.
fn found<'n>(node: &'n Node, name: &[u8]) -> Result<Option<(&'static str, &'n Node)>, Wrong> {
    let of = |name: &str| node.members.get_key_value(name).map(|(name, node)| (*name, node));
    if name.contains(&b'\\') {
        return Ok(of(&read_name(name)?));
    }
    let plain = name.get(1..name.len().saturating_sub(1)).unwrap_or_default();
    match str::from_utf8(plain) {
        Ok(name) => Ok(of(name)),
        Err(_) => wrong("invalid unicode code point"),
    }
}

fn read_name(name: &[u8]) -> Result<String, Wrong> {
    serde_json::from_slice(name).or_else(|_| wrong("invalid escape"))
}
