//! Objects of JSON (RFC 8259) whose members are texts, whole numbers, lists of texts and objects, as receipts and entries of a log
//! have them.
//!
//! The module that verifies receipts in a browser reads with this alone: a reader of all of JSON brings code for floating-point
//! numbers, which would be a third of the module.

use std::str::FromStr;

/// Most levels of a value that is passed over.
const DEPTH_MAX: usize = 128;

/// The members of an object that were not asked for yet: name and text of the value.
pub(crate) struct Members<'a>(Vec<(String, &'a str)>);

impl<'a> Members<'a> {
    /// Reads an object.
    ///
    /// # Errors
    /// If the bytes are not an object of JSON in UTF-8, or have a member twice.
    pub fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let text = std::str::from_utf8(bytes).map_err(|error| error.to_string())?;
        Scanner { text, at: 0 }.whole(Scanner::members).map(Self)
    }

    /// Takes the text of the value of a member, if the object has it.
    pub fn take(&mut self, name: &str) -> Option<&'a str> {
        let place = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.swap_remove(place).1)
    }

    /// Takes the text of the value of a member.
    ///
    /// # Errors
    /// If there is no such member.
    pub fn need(&mut self, name: &str) -> Result<&'a str, String> {
        self.take(name).ok_or_else(|| format!("missing field `{name}`"))
    }

    /// Takes a member that is a text.
    ///
    /// # Errors
    /// If there is no such member, or it is something else.
    pub fn text(&mut self, name: &str) -> Result<String, String> {
        let value = self.need(name)?;
        text(value).map_err(|error| format!("`{name}`: {error}"))
    }

    /// Takes a member that is a text or null.
    ///
    /// # Errors
    /// If there is no such member, or it is something else.
    pub fn text_or_null(&mut self, name: &str) -> Result<Option<String>, String> {
        let value = self.need(name)?;
        let text = if value == "null" { Ok(None) } else { text(value).map(Some) };
        text.map_err(|error| format!("`{name}`: {error}"))
    }

    /// Takes a member that is a whole number, written without fraction and exponent.
    ///
    /// # Errors
    /// If there is no such member, or it is something else or too large.
    pub fn whole<T: FromStr>(&mut self, name: &str) -> Result<T, String> {
        let value = self.need(name)?;
        // -0 is a floating-point number.
        let number = value.parse().ok().filter(|_| value != "-0");
        number.ok_or_else(|| format!("`{name}`: expected a whole number"))
    }

    /// Takes a member that is a list of texts.
    ///
    /// # Errors
    /// If there is no such member, or it is something else.
    pub fn texts(&mut self, name: &str) -> Result<Vec<String>, String> {
        let value = self.need(name)?;
        let list = Scanner { text: value, at: 0 }.whole(Scanner::texts);
        list.map_err(|error| format!("`{name}`: {error}"))
    }

    /// Refuses members that nothing asked for.
    ///
    /// # Errors
    /// If there is one.
    pub fn end(self) -> Result<(), String> {
        match self.0.first() {
            Some((name, _)) => Err(format!("unknown field `{}`", name.escape_debug())),
            None => Ok(()),
        }
    }
}

/// Reads a value that is a text.
///
/// # Errors
/// If it is something else.
pub(crate) fn text(value: &str) -> Result<String, String> {
    Scanner { text: value, at: 0 }.whole(Scanner::string)
}

/// A place in a text of JSON.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn whole<T>(mut self, read: impl FnOnce(&mut Self) -> Result<T, String>) -> Result<T, String> {
        let value = read(&mut self)?;
        match self.next() {
            None => Ok(value),
            Some(_) => self.refuse("the end"),
        }
    }

    fn refuse<T>(&self, expected: &str) -> Result<T, String> {
        Err(format!("expected {expected} at byte {}", self.at))
    }

    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// Returns the next byte that is not white space.
    fn next(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.byte() {
            self.at += 1;
        }
        self.byte()
    }

    fn skip(&mut self, wanted: u8) -> bool {
        let is_there = self.next() == Some(wanted);
        self.at += usize::from(is_there);
        is_there
    }

    /// Reads what is between two brackets, separated by commas.
    fn each(
        &mut self,
        [open, close]: [u8; 2],
        what: &str,
        mut read: impl FnMut(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        if !self.skip(open) {
            return self.refuse(what);
        }
        if self.skip(close) {
            return Ok(());
        }
        loop {
            read(self)?;
            if self.skip(close) {
                return Ok(());
            }
            if !self.skip(b',') {
                return self.refuse("a comma or the end of it");
            }
        }
    }

    fn members(&mut self) -> Result<Vec<(String, &'a str)>, String> {
        let mut members: Vec<(String, &'a str)> = Vec::new();
        self.each([b'{', b'}'], "an object", |scanner| {
            let name = scanner.string()?;
            if members.iter().any(|(known, _)| *known == name) {
                return Err(format!("duplicate field `{}`", name.escape_debug()));
            }
            if !scanner.skip(b':') {
                return scanner.refuse("a colon");
            }
            scanner.next();
            let begin = scanner.at;
            scanner.pass(0)?;
            members.push((name, scanner.text.get(begin..scanner.at).unwrap_or_default()));
            Ok(())
        })?;
        Ok(members)
    }

    fn texts(&mut self) -> Result<Vec<String>, String> {
        let mut texts = Vec::new();
        self.each([b'[', b']'], "a list", |scanner| {
            texts.push(scanner.string()?);
            Ok(())
        })?;
        Ok(texts)
    }

    /// Passes over a value.
    fn pass(&mut self, depth: usize) -> Result<(), String> {
        if depth > DEPTH_MAX {
            return self.refuse("fewer levels");
        }
        match self.next() {
            Some(b'"') => self.string().map(drop),
            Some(b'{') => self.each([b'{', b'}'], "an object", |scanner| {
                scanner.string()?;
                if !scanner.skip(b':') {
                    return scanner.refuse("a colon");
                }
                scanner.pass(depth + 1)
            }),
            Some(b'[') => self.each([b'[', b']'], "a list", |scanner| scanner.pass(depth + 1)),
            Some(b'-' | b'0'..=b'9') => self.number(),
            _ => {
                let rest = self.text.get(self.at..).unwrap_or_default();
                let word = ["true", "false", "null"].into_iter().find(|word| rest.starts_with(word));
                self.at += word.map_or(0, str::len);
                if word.is_none() { self.refuse("a value") } else { Ok(()) }
            }
        }
    }

    fn number(&mut self) -> Result<(), String> {
        self.at += usize::from(self.byte() == Some(b'-'));
        // A number that begins with 0 ends there.
        if self.byte() == Some(b'0') {
            self.at += 1
        } else {
            self.digits()?
        }
        if self.byte() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.byte() {
            self.at += 1;
            self.at += usize::from(matches!(self.byte(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), String> {
        let begin = self.at;
        while let Some(b'0'..=b'9') = self.byte() {
            self.at += 1;
        }
        if self.at > begin { Ok(()) } else { self.refuse("a digit") }
    }

    fn string(&mut self) -> Result<String, String> {
        if !self.skip(b'"') {
            return self.refuse("a text");
        }
        let mut read = String::new();
        loop {
            let begin = self.at;
            while self.byte().is_some_and(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            // Quotes and backslashes are never within a character.
            read.push_str(self.text.get(begin..self.at).unwrap_or_default());
            match self.byte() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(read);
                }
                Some(b'\\') => {
                    self.at += 1;
                    read.push(self.escaped()?);
                }
                _ => return self.refuse("the end of a text"),
            }
        }
    }

    fn escaped(&mut self) -> Result<char, String> {
        let byte = self.byte();
        self.at += 1;
        Ok(match byte {
            Some(plain @ (b'"' | b'\\' | b'/')) => char::from(plain),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let first = self.unit()?;
                let pair = match first {
                    0xd800..0xdc00
                        if self.text.get(self.at..).is_some_and(|rest| rest.starts_with("\\u")) =>
                    {
                        self.at += 2;
                        vec![first, self.unit()?]
                    }
                    _ => vec![first],
                };
                let mut decoded = char::decode_utf16(pair).map(Result::ok);
                match (decoded.next().flatten(), decoded.next()) {
                    (Some(character), None) => character,
                    _ => return self.refuse("a whole character before"),
                }
            }
            _ => return self.refuse("another escape before"),
        })
    }

    fn unit(&mut self) -> Result<u16, String> {
        let digits =
            self.text.get(self.at..self.at + 4).filter(|it| it.bytes().all(|it| it.is_ascii_hexdigit()));
        match digits.and_then(|digits| u16::from_str_radix(digits, 16).ok()) {
            Some(unit) => {
                self.at += 4;
                Ok(unit)
            }
            None => self.refuse("four hexadecimal digits"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// The members of an object with their values as serde_json reads them.
    fn read(bytes: &[u8]) -> Option<Vec<(String, Value)>> {
        let members = Members::read(bytes).ok()?.0;
        let value = |(name, text): (String, &str)| (name, serde_json::from_str(text).unwrap());
        let mut members: Vec<_> = members.into_iter().map(value).collect();
        members.sort_by(|a, b| a.0.cmp(&b.0));
        Some(members)
    }

    fn expected(bytes: &[u8]) -> Option<Vec<(String, Value)>> {
        match serde_json::from_slice(bytes).ok()? {
            Value::Object(members) => Some(members.into_iter().collect()),
            _ => None,
        }
    }

    #[test]
    fn values_are_read_as_by_a_reader_of_all_of_json() {
        for text in [
            "{}", " { } ", "[]", "{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1}x", "{\"a\":01}",
            "{\"a\":1.}", "{\"a\":-}", "{\"a\":1e}", "{\"a\":1e+5}", "{\"a\":-0.5E-3}", "{\"a\":tru}",
            "{\"a\":true,\"b\":null}", "{\"a\":\"\\u00e9\\ud83d\\ude00\\n\"}", "{\"a\":\"\\ud83d\"}",
            "{\"a\":\"\\ud83dx\"}", "{\"a\":\"\\ude00\"}", "{\"a\":\"\\x\"}", "{\"a\":\"\\u00g0\"}",
            "{\"a\":\"\t\"}", "{\"a\":\"", "{\"a\":[1,[{}],\"x\"]}", "{\"a\":[1,]}",
            "{\"\\u0061\":{\"b\":[]}}", "{a:1}", "{'a':1}", "nul", "\u{feff}{}",
            "{\"a\" : 1 , \"b\" : [ ] }",
        ] {
            assert_eq!(read(text.as_bytes()), expected(text.as_bytes()), "{text}");
        }
        assert!(Members::read(b"{\"a\":\"\xff\"}").is_err());
        assert!(Members::read(b"{\"a\":1,\"\\u0061\":2}").is_err(), "twice");
        let deep = |levels: usize| format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels));
        assert!(Members::read(deep(100).as_bytes()).is_ok());
        assert!(Members::read(deep(100_000).as_bytes()).is_err());
    }

    #[test]
    fn members_are_taken_once_and_have_their_types() {
        let text = br#"{"a":"x","n":17,"z":-0,"f":1.0,"l":["p","q"],"o":null,"m":[1]}"#;
        let mut members = Members::read(text).unwrap();
        assert_eq!(members.text("a").unwrap(), "x");
        assert!(members.text("a").unwrap_err().contains("missing field `a`"));
        assert_eq!(members.whole::<u64>("n"), Ok(17));
        assert!(members.whole::<i64>("z").is_err() && members.whole::<i64>("f").is_err());
        assert_eq!(members.texts("l").unwrap(), ["p", "q"]);
        assert_eq!(members.text_or_null("o"), Ok(None));
        assert!(members.texts("m").is_err());
        assert_eq!(members.end(), Ok(()));
        let left = Members::read(br#"{"b\n":1}"#).unwrap().end();
        assert_eq!(left.unwrap_err(), "unknown field `b\\n`");
    }

    proptest! {
        #[test]
        fn any_object_is_read_as_by_a_reader_of_all_of_json(
            pairs in proptest::collection::btree_map(".{0,6}", ".{0,12}", 0..5),
            at in 0usize..80, byte: u8,
        ) {
            let text = serde_json::to_string(&pairs).unwrap();
            prop_assert_eq!(read(text.as_bytes()), expected(text.as_bytes()));
            let mut broken = text.into_bytes();
            let place = at % broken.len();
            broken[place] = byte;
            if let Some(found) = read(&broken) {
                prop_assert_eq!(Some(found), expected(&broken));
            }
        }
    }
}
