//! Canonical JSON after RFC 8785: the few pieces that records and evidence digests are written with.
//!
//! Objects are written member by member: the caller keeps to key order, and a test of the record checks it.

use alloc::vec::Vec;
use core::fmt;

pub use crate::digest::hexadecimal;

use crate::digest::{Digest, digit};

/// Returns the value of a member of an object in canonical JSON, unchanged.
///
/// ```
/// use karat_core::json::member;
/// let object = r#"{"a":{"b":1},"b":["}",{"b":2}],"c\"":"b","d":"x\"y"}"#;
/// assert_eq!(member(object, "b"), Some(r#"["}",{"b":2}]"#));
/// assert_eq!(member(object, "d"), Some(r#""x\"y""#));
/// assert_eq!([member(object, "x"), member("{}", "b"), member("", "b")], [None; 3]);
/// ```
pub fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let bytes = object.as_bytes();
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    // The start of the member in hand, and the end of its name.
    let (mut start, mut colon) = (1, None);
    for (at, &byte) in bytes.iter().enumerate() {
        if in_text {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => in_text = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_text = true,
            b'{' | b'[' => depth += 1,
            b':' if depth == 1 => colon = colon.or(Some(at)),
            b',' | b'}' if depth == 1 => {
                let colon = colon.take()?;
                let key = object.get(start..colon)?;
                if key.strip_prefix('"').and_then(|key| key.strip_suffix('"')) == Some(name) {
                    return object.get(colon + 1..at);
                }
                start = at + 1;
                depth -= usize::from(byte == b'}');
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Appends a digest as a JSON string: `sha256:` and its digits.
pub fn write_digest(out: &mut Vec<u8>, digest: Digest) {
    out.extend_from_slice(b"\"sha256:");
    out.extend_from_slice(&hexadecimal(&digest.0));
    out.push(b'"');
}

/// Appends `text` as a JSON string, escaped as RFC 8785 asks: only `"`, `\` and control characters.
///
/// ```
/// let mut out = Vec::new();
/// karat_core::json::write_string(&mut out, "a \"b\"\n\u{1}é");
/// assert_eq!(out, "\"a \\\"b\\\"\\n\\u0001é\"".as_bytes());
/// ```
pub fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    write_escaped(out, text);
    out.push(b'"');
}

/// Appends what is displayed as a JSON string, escaped the same way, without a text in between.
pub(crate) fn write_displayed(out: &mut Vec<u8>, displayed: &impl fmt::Display) {
    struct Escaped<'a>(&'a mut Vec<u8>);
    impl fmt::Write for Escaped<'_> {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            write_escaped(self.0, text);
            Ok(())
        }
    }
    out.push(b'"');
    // Memory takes everything, and what is displayed here refuses nothing.
    let _ = fmt::write(&mut Escaped(out), format_args!("{displayed}"));
    out.push(b'"');
}

fn write_escaped(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    // Most texts have none, and without a way out many bytes are looked at at once.
    if !rest.iter().fold(false, |found, &byte| found | is_special(byte)) {
        return out.extend_from_slice(rest);
    }
    while let Some(at) = rest.iter().position(|&byte| is_special(byte)) {
        let (plain, tail) = rest.split_at(at);
        out.extend_from_slice(plain);
        let Some((&special, after)) = tail.split_first() else { break };
        match special {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0x08 => out.extend_from_slice(b"\\b"),
            0x09 => out.extend_from_slice(b"\\t"),
            0x0a => out.extend_from_slice(b"\\n"),
            0x0c => out.extend_from_slice(b"\\f"),
            0x0d => out.extend_from_slice(b"\\r"),
            control => {
                out.extend_from_slice(b"\\u00");
                out.extend([digit(control >> 4), digit(control & 0xf)]);
            }
        }
        rest = after;
    }
    out.extend_from_slice(rest);
}

/// Appends a finite double in the shortest form that reads back the same, as ECMAScript prints it.
///
/// ```
/// let mut out = Vec::new();
/// karat_core::json::write_number(&mut out, 1e21);
/// assert_eq!(out, b"1e+21");
/// ```
pub fn write_number(out: &mut Vec<u8>, value: f64) {
    let mut buffer = ryu_js::Buffer::new();
    out.extend_from_slice(buffer.format(value).as_bytes());
}

/// Appends a whole number.
pub fn write_integer(out: &mut Vec<u8>, value: i64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = value.unsigned_abs();
    loop {
        at -= 1;
        if let Some(slot) = digits.get_mut(at) {
            *slot = b'0' + (rest % 10) as u8;
        }
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(digits.get(at..).unwrap_or_default());
}

/// Appends `true` or `false`.
pub(crate) fn write_flag(out: &mut Vec<u8>, flag: bool) {
    out.extend_from_slice(if flag { b"true" } else { b"false" });
}

/// Appends a value as `write` does, or `null`.
pub(crate) fn write_option<T>(out: &mut Vec<u8>, value: Option<T>, write: impl FnOnce(&mut Vec<u8>, T)) {
    match value {
        Some(value) => write(out, value),
        None => out.extend_from_slice(b"null"),
    }
}

/// Appends an array of what `write` appends for each element.
pub(crate) fn write_list<T>(out: &mut Vec<u8>, list: &[T], write: impl Fn(&T, &mut Vec<u8>)) {
    out.push(b'[');
    for (place, element) in list.iter().enumerate() {
        if place > 0 {
            out.push(b',');
        }
        write(element, out);
    }
    out.push(b']');
}
