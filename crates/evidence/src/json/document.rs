//! A parsed JSON text as a flat tape: one entry per value in pre-order, strings as ranges of the text.
//!
//! The tape holds no references, so one allocation serves every item of a run.

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// Every whole number below this (2^53) is an exact double.
pub const EXACT: f64 = 9_007_199_254_740_992.0;

/// A string: a range of the text or, if it had escapes, of the tape's unescaped text.
///
/// Packed into one word (32 bits of start, one for unescaped, 31 of length), because it is passed along for every value.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span(u64);

impl Span {
    const UNESCAPED: u64 = 1 << 31;
    /// Texts are limited to this by the reader, so every span fits.
    const LONGEST: u64 = Self::UNESCAPED - 1;

    fn new(range: Range<usize>, is_unescaped: bool) -> Self {
        let length = (range.len() as u64).min(Self::LONGEST);
        Self((range.start as u64) << 32 | if is_unescaped { Self::UNESCAPED } else { 0 } | length)
    }

    fn is_unescaped(self) -> bool {
        self.0 & Self::UNESCAPED != 0
    }

    fn start(self) -> usize {
        (self.0 >> 32) as usize
    }

    fn end(self) -> usize {
        self.start() + (self.0 & Self::LONGEST) as usize
    }

    fn range(self) -> Range<usize> {
        self.start()..self.end()
    }
}

/// One value of the tape. Containers name the index after their last descendant.
#[derive(Debug, Clone, Copy)]
enum Token {
    Null,
    Flag(bool),
    Number(f64),
    Text(Span),
    Array { end: u32 },
    Object { end: u32 },
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    key: Span,
    token: Token,
}

/// The reusable memory of a parsed document.
#[derive(Debug, Default)]
pub struct Tape {
    entries: Vec<Entry>,
    /// The places of the numbers from [`EXACT`] on, which may be others than those that the text writes.
    large: Vec<usize>,
    unescaped: String,
}

/// Reason why a text did not become a document.
#[derive(Debug)]
pub enum ParseFailure {
    /// A container deeper than allowed, at this place of the tape.
    TooDeep,
    /// Not JSON.
    Syntax(serde_json::Error),
}

impl Tape {
    /// Parses `text`, which must be one JSON value. After a failure the tape holds what came before it.
    pub fn parse(&mut self, text: &str, max_depth: usize) -> Result<(), ParseFailure> {
        self.entries.clear();
        self.large.clear();
        self.unescaped.clear();
        let mut builder = Builder { tape: self, text, depth: 0, max_depth, too_deep: false };
        let mut parser = serde_json::Deserializer::from_str(text);
        let outcome = ValueSeed { builder: &mut builder, key: Span::default() }
            .deserialize(&mut parser)
            .and_then(|()| parser.end());
        match outcome {
            Ok(()) => Ok(()),
            Err(_) if builder.too_deep => Err(ParseFailure::TooDeep),
            Err(error) => Err(ParseFailure::Syntax(error)),
        }
    }

    /// Returns the index of the value that was parsed last.
    pub fn last(&self) -> usize {
        self.entries.len().saturating_sub(1)
    }

    fn push(&mut self, key: Span, token: Token) -> usize {
        self.entries.push(Entry { key, token });
        self.entries.len() - 1
    }

    fn close(&mut self, at: usize) {
        let end = place(self.entries.len());
        if let Some(entry) = self.entries.get_mut(at) {
            entry.token = match entry.token {
                Token::Array { .. } => Token::Array { end },
                _ => Token::Object { end },
            };
        }
    }
}

/// Converts a place: a tape has fewer entries than its text has bytes, so every place fits.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// A tape together with the text it was parsed from.
#[derive(Clone, Copy)]
pub struct Document<'a> {
    tape: &'a Tape,
    text: &'a str,
}

impl<'a> Document<'a> {
    pub(crate) fn new(tape: &'a Tape, text: &'a str) -> Self {
        Self { tape, text }
    }

    /// Returns the text of the document.
    pub fn text(self) -> &'a str {
        self.text
    }

    /// Returns the outermost value.
    pub fn root(self) -> Node<'a> {
        self.node(0)
    }

    /// Returns the node at a place in the tape.
    #[inline]
    pub fn node(self, at: usize) -> Node<'a> {
        const NOTHING: &Entry = &Entry { key: Span(Span::UNESCAPED), token: Token::Null };
        Node { document: self, at, entry: self.tape.entries.get(at).unwrap_or(NOTHING) }
    }

    /// Returns the numbers from [`EXACT`] on at these places of the tape.
    pub fn large(self, places: Range<usize>) -> impl Iterator<Item = Node<'a>> {
        let before = |end| self.tape.large.partition_point(|&at| at < end);
        let large = self.tape.large.get(before(places.start)..before(places.end)).unwrap_or_default();
        large.iter().map(move |&at| self.node(at))
    }

    fn resolve(self, span: Span) -> &'a str {
        self.home(span).get(span.range()).unwrap_or_default()
    }

    /// Returns the text that a span is a range of.
    fn home(self, span: Span) -> &'a str {
        if span.is_unescaped() { &self.tape.unescaped } else { self.text }
    }

    fn bytes(self, span: Span) -> &'a [u8] {
        self.home(span).as_bytes().get(span.range()).unwrap_or_default()
    }

    /// Returns the string with its quotes, if the text has it without escapes.
    fn verbatim(self, span: Span) -> Option<&'a [u8]> {
        let quotes = span.start().saturating_sub(1)..span.end() + 1;
        if span.is_unescaped() { None } else { self.text.as_bytes().get(quotes) }
    }
}

/// One value of a document.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    document: Document<'a>,
    at: usize,
    entry: &'a Entry,
}

/// Value of a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A number.
    Number(f64),
    /// A text, without its escapes.
    Text(&'a str),
    /// An array; its elements are the children of the node.
    Array,
    /// An object; its members are the children of the node.
    Object,
}

impl<'a> Node<'a> {
    /// Returns the document of the node.
    pub fn document(self) -> Document<'a> {
        self.document
    }

    /// Returns the node's place in the tape.
    pub fn at(self) -> usize {
        self.at
    }

    /// Returns the key of the node in its object.
    #[inline]
    pub fn key(self) -> &'a str {
        self.document.resolve(self.entry.key)
    }

    /// Returns the bytes of the key.
    pub fn key_bytes(self) -> &'a [u8] {
        self.document.bytes(self.entry.key)
    }

    /// Returns the key with its quotes, if the text has it without escapes.
    pub fn verbatim_key(self) -> Option<&'a [u8]> {
        self.document.verbatim(self.entry.key)
    }

    /// Returns key and value as written, if both are strings without escapes and only a colon is between them.
    pub fn verbatim_member(self) -> Option<&'a [u8]> {
        let key = self.entry.key;
        match self.entry.token {
            Token::Text(text)
                if !key.is_unescaped()
                    && !text.is_unescaped()
                    && text.start() == key.end() + r#"":""#.len() =>
            {
                self.document.verbatim(Span::new(key.start()..text.end(), false))
            }
            _ => None,
        }
    }

    /// Returns the first eight bytes of the key as a number, so that most comparisons of keys are one of integers.
    pub fn key_prefix(self) -> u64 {
        let key = self.entry.key;
        let length = key.range().len();
        let from = self.document.home(key).as_bytes().get(key.start()..).unwrap_or_default();
        // Eight bytes are there except at the very end, so the key is cut from them by a mask and not by a loop.
        match from.first_chunk::<8>() {
            Some(eight) if length >= 8 => u64::from_be_bytes(*eight),
            Some(eight) => u64::from_be_bytes(*eight) & !(u64::MAX >> (8 * length)),
            None => {
                let bytes = from.iter().take(length).zip((0..8).rev());
                bytes.fold(0, |prefix, (&byte, place)| prefix | u64::from(byte) << (8 * place))
            }
        }
    }

    /// Returns the value.
    #[inline]
    pub fn value(self) -> Value<'a> {
        match self.entry.token {
            Token::Null => Value::Null,
            Token::Flag(flag) => Value::Flag(flag),
            Token::Number(number) => Value::Number(number),
            Token::Text(span) => Value::Text(self.document.resolve(span)),
            Token::Array { .. } => Value::Array,
            Token::Object { .. } => Value::Object,
        }
    }

    /// Returns a text with its quotes, if the document has it without escapes.
    pub fn verbatim_text(self) -> Option<&'a [u8]> {
        match self.entry.token {
            Token::Text(span) => self.document.verbatim(span),
            _ => None,
        }
    }

    /// Returns whether the value is `null`.
    #[inline]
    pub fn is_null(self) -> bool {
        matches!(self.entry.token, Token::Null)
    }

    /// Returns the index after the node's last descendant.
    pub fn end(self) -> usize {
        match self.entry.token {
            Token::Array { end } | Token::Object { end } => end as usize,
            _ => self.at + 1,
        }
    }

    /// Returns no children.
    pub fn nothing(self) -> Children<'a> {
        Children { document: self.document, next: 0, end: 0 }
    }

    /// Returns the members of an object or the elements of an array; nothing for other values.
    pub fn children(self) -> Children<'a> {
        Children { document: self.document, next: self.at + 1, end: self.end() }
    }
}

/// The direct children of a node, in the order of the text.
pub struct Children<'a> {
    document: Document<'a>,
    next: usize,
    end: usize,
}

impl<'a> Iterator for Children<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        if self.next >= self.end {
            return None;
        }
        let node = self.document.node(self.next);
        // A container that a failed parse left open ends nowhere; step over it at least.
        self.next = node.end().max(self.next + 1);
        Some(node)
    }
}

struct Builder<'t> {
    tape: &'t mut Tape,
    text: &'t str,
    depth: usize,
    max_depth: usize,
    too_deep: bool,
}

impl Builder<'_> {
    /// Returns the span of a string that the parser took straight from the text.
    fn borrowed(&mut self, string: &str) -> Span {
        let start = string.as_ptr().addr().wrapping_sub(self.text.as_ptr().addr());
        match start.checked_add(string.len()) {
            Some(end) if end <= self.text.len() => Span::new(start..end, false),
            _ => self.copied(string),
        }
    }

    fn copied(&mut self, string: &str) -> Span {
        let start = self.tape.unescaped.len();
        self.tape.unescaped.push_str(string);
        Span::new(start..self.tape.unescaped.len(), true)
    }

    fn open<E: serde::de::Error>(&mut self, key: Span, token: Token) -> Result<usize, E> {
        let at = self.tape.push(key, token);
        if self.depth >= self.max_depth {
            self.too_deep = true;
            return Err(E::custom("too deep"));
        }
        self.depth += 1;
        Ok(at)
    }

    fn close(&mut self, at: usize) {
        self.depth -= 1;
        self.tape.close(at);
    }

    /// Leaves a value on the tape where the parser stopped before it, so that the error can name its path.
    fn failed_at<E>(&mut self, before: usize, key: Span, error: E) -> E {
        if self.tape.entries.len() == before {
            self.tape.push(key, Token::Null);
        }
        error
    }
}

struct KeySeed<'b, 't>(&'b mut Builder<'t>);

impl<'de> DeserializeSeed<'de> for KeySeed<'_, '_> {
    type Value = Span;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Span, D::Error> {
        parser.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for KeySeed<'_, '_> {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E>(self, string: &'de str) -> Result<Span, E> {
        Ok(self.0.borrowed(string))
    }

    fn visit_str<E>(self, string: &str) -> Result<Span, E> {
        Ok(self.0.copied(string))
    }
}

struct ValueSeed<'b, 't> {
    builder: &'b mut Builder<'t>,
    key: Span,
}

impl ValueSeed<'_, '_> {
    fn push(self, token: Token) {
        self.builder.tape.push(self.key, token);
    }

    fn push_number(self, number: f64) {
        if number.abs() >= EXACT {
            self.builder.tape.large.push(self.builder.tape.entries.len());
        }
        self.push(Token::Number(number));
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<(), D::Error> {
        parser.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.push(Token::Null);
        Ok(())
    }

    fn visit_bool<E>(self, flag: bool) -> Result<(), E> {
        self.push(Token::Flag(flag));
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.push_number(number as f64);
        Ok(())
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.push_number(number as f64);
        Ok(())
    }

    fn visit_f64<E>(self, number: f64) -> Result<(), E> {
        self.push_number(number);
        Ok(())
    }

    fn visit_borrowed_str<E>(self, string: &'de str) -> Result<(), E> {
        let span = self.builder.borrowed(string);
        self.push(Token::Text(span));
        Ok(())
    }

    fn visit_str<E>(self, string: &str) -> Result<(), E> {
        let span = self.builder.copied(string);
        self.push(Token::Text(span));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let Self { builder, key } = self;
        let at = builder.open::<A::Error>(key, Token::Array { end: u32::MAX })?;
        loop {
            let before = builder.tape.entries.len();
            let seed = ValueSeed { builder: &mut *builder, key: Span::default() };
            match elements.next_element_seed(seed) {
                Ok(Some(())) => {}
                Ok(None) => break,
                Err(error) => return Err(builder.failed_at(before, Span::default(), error)),
            }
        }
        builder.close(at);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self { builder, key } = self;
        let at = builder.open::<A::Error>(key, Token::Object { end: u32::MAX })?;
        while let Some(key) = members.next_key_seed(KeySeed(&mut *builder))? {
            let before = builder.tape.entries.len();
            if let Err(error) = members.next_value_seed(ValueSeed { builder: &mut *builder, key }) {
                return Err(builder.failed_at(before, key, error));
            }
        }
        builder.close(at);
        Ok(())
    }
}
