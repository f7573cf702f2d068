//! OTLP in protobuf: the messages of traces, as far as they are read, and those of answers. Nothing is built of a message but
//! what is read, so memory stays within the size of the request however many members it claims to have.

use std::io::Read as _;

use serde_json::{Map, Value};

use super::super::{Fault, Input, Stop, json};
use super::trace::Span;
use super::{Take, evaluation};

/// Largest request, in bytes.
const MOST: u64 = 256 << 20;
const EXPECTED: &str = "a request of OTLP in protobuf";

#[derive(Clone, Copy)]
enum Member<'a> {
    Number(u64),
    Bytes(&'a [u8]),
    /// Four bytes, which no member that is read has.
    Short,
}

/// The members of a message, each with its tag.
struct Members<'a> {
    rest: &'a [u8],
}

/// The reason why bytes are not a message.
struct Broken(&'static str);

impl<'a> Members<'a> {
    fn of(message: &'a [u8]) -> Self {
        Self { rest: message }
    }

    fn number(&mut self) -> Result<u64, Broken> {
        let mut number = 0u64;
        for shift in (0..70).step_by(7) {
            let (first, rest) = self.rest.split_first().ok_or(Broken("a number that is cut off"))?;
            self.rest = rest;
            // Of ten bytes the last has one bit.
            if shift == 63 && *first > 1 {
                break;
            }
            number |= u64::from(first & 0x7f) << shift;
            if first & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Broken("a number of more than 64 bits"))
    }

    fn bytes(&mut self, length: u64) -> Result<&'a [u8], Broken> {
        let at = usize::try_from(length).ok().and_then(|length| self.rest.split_at_checked(length));
        let (bytes, rest) = at.ok_or(Broken("a member that is longer than its message"))?;
        self.rest = rest;
        Ok(bytes)
    }

    fn member(&mut self) -> Result<Option<(u64, Member<'a>)>, Broken> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let key = self.number()?;
        let member = match key & 7 {
            0 => Member::Number(self.number()?),
            1 => {
                let bytes = self.bytes(8)?.try_into().map_err(|_| Broken("a number that is cut off"))?;
                Member::Number(u64::from_le_bytes(bytes))
            }
            2 => {
                let length = self.number()?;
                Member::Bytes(self.bytes(length)?)
            }
            5 => {
                self.bytes(4)?;
                Member::Short
            }
            _ => return Err(Broken("a member of an unknown type")),
        };
        Ok(Some((key >> 3, member)))
    }

    /// Hands each member to `take`.
    fn each(mut self, mut take: impl FnMut(u64, Member<'a>) -> Result<(), Failed>) -> Result<(), Failed> {
        while let Some((tag, member)) = self.member()? {
            take(tag, member)?;
        }
        Ok(())
    }
}

/// The reason to read no further.
enum Failed {
    Broken(Broken),
    Stop(Stop),
}

impl From<Broken> for Failed {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

pub(super) fn read(input: &Input, take: &mut Take<'_>) -> Result<(), Stop> {
    let mut bytes = Vec::new();
    input.open()?.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(Fault::new("", "more than 256 MiB", "a smaller request").into());
    }
    let mut number = 0u64;
    let read = Members::of(&bytes).each(|tag, member| match (tag, member) {
        (1, Member::Bytes(part)) => resource_spans(part, &mut number, take),
        _ => Ok(()),
    });
    match read {
        Ok(()) => Ok(()),
        Err(Failed::Stop(stop)) => Err(stop),
        Err(Failed::Broken(Broken(found))) => {
            let place = if number > 0 { format!("after span {number}") } else { String::new() };
            Err(Fault::new(place, found, EXPECTED).into())
        }
    }
}

fn resource_spans(part: &[u8], number: &mut u64, take: &mut Take<'_>) -> Result<(), Failed> {
    // The resource may come after its spans.
    let mut resource = Map::new();
    Members::of(part).each(|tag, member| match (tag, member) {
        (1, Member::Bytes(message)) => {
            Members::of(message).each(|tag, member| attribute(tag, member, 1, &mut resource))
        }
        _ => Ok(()),
    })?;
    let service = resource.get("service.name").and_then(json::name);
    Members::of(part).each(|tag, member| match (tag, member) {
        // Scopes, and instrumentation libraries as they were called before.
        (2 | 1000, Member::Bytes(scope)) => Members::of(scope).each(|tag, member| match (tag, member) {
            (2, Member::Bytes(message)) => {
                *number += 1;
                let span = span(message, service.clone())?;
                take(&format!("span {number}"), span).map_err(Failed::Stop)
            }
            _ => Ok(()),
        }),
        _ => Ok(()),
    })
}

fn span(message: &[u8], service: Option<String>) -> Result<Span, Failed> {
    let mut span = Span { service, ..Span::default() };
    Members::of(message).each(|tag, member| {
        match (tag, member) {
            (1, Member::Bytes(id)) => span.trace = digits(id),
            (2, Member::Bytes(id)) => span.id = digits(id),
            (4, Member::Bytes(id)) => span.parent = digits(id),
            (5, Member::Bytes(name)) => span.name = text(name)?,
            (7, Member::Number(time)) => span.start = (time > 0).then(|| time.into()),
            (8, Member::Number(time)) => span.end = (time > 0).then(|| time.into()),
            (9, member) => attribute(1, member, 1, &mut span.attributes)?,
            (11, Member::Bytes(event)) => {
                let (mut name, mut at, mut about) = (String::new(), None, Map::new());
                Members::of(event).each(|tag, member| match (tag, member) {
                    (1, Member::Number(time)) => {
                        at = (time > 0).then(|| time.into());
                        Ok(())
                    }
                    (2, Member::Bytes(bytes)) => {
                        name = text(bytes)?;
                        Ok(())
                    }
                    (tag, member) => attribute(tag, member, 3, &mut about),
                })?;
                span.evaluations.extend(evaluation(&name, at, &about));
            }
            (15, Member::Bytes(status)) => Members::of(status).each(|tag, member| {
                if let (3, Member::Number(code)) = (tag, member) {
                    span.is_error = code == 2;
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    })?;
    Ok(span)
}

fn attribute(tag: u64, member: Member<'_>, wanted: u64, into: &mut Map<String, Value>) -> Result<(), Failed> {
    let (true, Member::Bytes(pair)) = (tag == wanted, member) else { return Ok(()) };
    let (mut key, mut value) = (String::new(), None);
    Members::of(pair).each(|tag, member| {
        match (tag, member) {
            (1, Member::Bytes(name)) => key = text(name)?,
            (2, Member::Bytes(message)) => Members::of(message).each(|tag, member| {
                value = match (tag, member) {
                    (1, Member::Bytes(bytes)) => Some(Value::from(text(bytes)?)),
                    (2, Member::Number(flag)) => Some(Value::from(flag != 0)),
                    (3, Member::Number(whole)) => Some(Value::from(whole.cast_signed())),
                    (4, Member::Number(bits)) => {
                        Some(f64::from_bits(bits)).filter(|number| number.is_finite()).map(Value::from)
                    }
                    // Lists and objects are not read.
                    _ => None,
                };
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    })?;
    if let Some(value) = value {
        into.insert(key, value);
    }
    Ok(())
}

fn text(bytes: &[u8]) -> Result<String, Broken> {
    let text = std::str::from_utf8(bytes).map_err(|_| Broken("a text that is not UTF-8"))?;
    Ok(text.to_owned())
}

/// Returns bytes as hexadecimal digits.
fn digits(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    halves.filter_map(|half| DIGITS.get(usize::from(half)).copied().map(char::from)).collect()
}

/// Writes a member that has bytes.
pub(super) fn write_bytes(out: &mut Vec<u8>, tag: u8, bytes: &[u8]) {
    out.push(tag << 3 | 2);
    write_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

pub(super) fn write_member(out: &mut Vec<u8>, tag: u8, number: u64) {
    out.push(tag << 3);
    write_number(out, number);
}

fn write_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
