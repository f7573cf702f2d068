//! The canonical form of a document after RFC 8785: sorted keys, no white space, ECMAScript numbers.

use std::cmp::Ordering;

use karat_core::json;

use crate::json::document::EXACT;
use crate::json::document::{Document, Node, Value};

/// Reusable memory of the writer.
#[derive(Debug, Default)]
pub struct Canonical {
    bytes: Vec<u8>,
    /// Members of the objects that are being written: first eight bytes of the key, place in the tape.
    order: Vec<(u64, u32)>,
    duplicates: Vec<usize>,
}

impl Canonical {
    /// Writes the canonical form; the members whose key is given twice in one object are found on the way.
    pub fn write(&mut self, document: Document<'_>) {
        self.bytes.clear();
        self.order.clear();
        self.duplicates.clear();
        self.value(document.root());
    }

    /// Returns the canonical form that was written last.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the places of the members whose key has already been given in the same object.
    pub fn duplicates(&self) -> &[usize] {
        &self.duplicates
    }

    // Recursion goes as deep as the document, which the parser limits.
    fn value(&mut self, node: Node<'_>) {
        match node.value() {
            Value::Null => self.bytes.extend_from_slice(b"null"),
            Value::Flag(true) => self.bytes.extend_from_slice(b"true"),
            Value::Flag(false) => self.bytes.extend_from_slice(b"false"),
            Value::Number(number) => self.number(number),
            Value::Array => {
                self.bytes.push(b'[');
                for (at, element) in node.children().enumerate() {
                    if at > 0 {
                        self.bytes.push(b',');
                    }
                    self.value(element);
                }
                self.bytes.push(b']');
            }
            Value::Object => self.object(node),
            // JSON lets fewer characters go unescaped than RFC 8785: what had no escape is canonical unchanged.
            Value::Text(text) => match node.verbatim_text() {
                Some(verbatim) => self.bytes.extend_from_slice(verbatim),
                None => json::write_string(&mut self.bytes, text),
            },
        }
    }

    fn object(&mut self, node: Node<'_>) {
        let document = node.document();
        let first = self.order.len();
        self.order.extend(node.children().map(|member| (member.key_prefix(), member.at() as u32)));
        let members = self.order.get_mut(first..).unwrap_or_default();
        let compare = |a: &(u64, u32), b: &(u64, u32)| {
            by_prefix(a.0, b.0)
                .unwrap_or_else(|| {
                    let [a, b] = [a.1, b.1].map(|at| document.node(at as usize).key_bytes());
                    by_utf16(a, b)
                })
                // The later of two equal keys is the duplicate.
                .then(a.1.cmp(&b.1))
        };
        if !members.is_sorted_by(|a, b| compare(a, b) == Ordering::Less) {
            members.sort_unstable_by(compare);
        }

        self.bytes.push(b'{');
        let mut previous = None;
        for at in first..self.order.len() {
            let Some(&(prefix, place)) = self.order.get(at) else { break };
            let member = document.node(place as usize);
            if previous.is_some_and(|(before, key)| before == prefix && key == member.key_bytes()) {
                self.duplicates.push(member.at());
            }
            if previous.is_some() {
                self.bytes.push(b',');
            }
            previous = Some((prefix, member.key_bytes()));
            if let Some(verbatim) = member.verbatim_member() {
                self.bytes.extend_from_slice(verbatim);
                continue;
            }
            match member.verbatim_key() {
                Some(key) => self.bytes.extend_from_slice(key),
                None => json::write_string(&mut self.bytes, member.key()),
            }
            self.bytes.push(b':');
            self.value(member);
        }
        self.bytes.push(b'}');
        self.order.truncate(first);
    }

    fn number(&mut self, number: f64) {
        let whole = number as i64;
        if whole as f64 == number && number.abs() < EXACT {
            json::write_integer(&mut self.bytes, whole);
        } else if !self.short_decimal(number) {
            json::write_number(&mut self.bytes, number);
        }
    }

    /// Writes a number that has one to four decimals and is not large, as most measurements do.
    ///
    /// A quotient of doubles is rounded correctly, so `digits / power == number` says that this decimal reads back as
    /// the number; with at most 15 digits no shorter decimal does.
    fn short_decimal(&mut self, number: f64) -> bool {
        const LARGEST: f64 = 1e9;
        let magnitude = number.abs();
        if magnitude >= LARGEST {
            return false;
        }
        for (power, places) in [(10.0, 1), (100.0, 2), (1000.0, 3), (10_000.0, 4)] {
            let digits = (magnitude * power).round_ties_even();
            if digits / power == magnitude {
                let digits = digits as i64;
                let power = power as i64;
                if number < 0.0 {
                    self.bytes.push(b'-');
                }
                json::write_integer(&mut self.bytes, digits / power);
                self.bytes.push(b'.');
                let fraction = digits % power;
                let zeros = (1..places).filter(|&place| fraction < 10_i64.pow(places - place)).count();
                self.bytes.extend(std::iter::repeat_n(b'0', zeros));
                json::write_integer(&mut self.bytes, fraction);
                return true;
            }
        }
        false
    }
}

/// Returns the order of two keys, if their first bytes decide it.
fn by_prefix(a: u64, b: u64) -> Option<Ordering> {
    /// One bit for each byte: whether it may begin a character outside ASCII.
    const HIGH: u64 = 0x8080_8080_8080_8080;
    (a != b && (a | b) & HIGH == 0).then(|| a.cmp(&b))
}

/// Compares by UTF-16 code units. The order differs from that of UTF-8 bytes in one point: characters outside the basic
/// plane (lead byte `F0` and above) come before U+E000 to U+FFFF (lead bytes `EE` and `EF`).
pub fn by_utf16(a: &[u8], b: &[u8]) -> Ordering {
    let differing = a.iter().zip(b).find(|(a, b)| a != b);
    match differing {
        Some((&a, &b)) if a >= 0xee && b >= 0xee && (a >= 0xf0) != (b >= 0xf0) => b.cmp(&a),
        Some((a, b)) => a.cmp(b),
        None => a.len().cmp(&b.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::document::Tape;
    use proptest::prelude::*;

    fn canonical(text: &str) -> String {
        let mut tape = Tape::default();
        tape.parse(text, 64).unwrap();
        let mut writer = Canonical::default();
        writer.write(Document::new(&tape, text));
        String::from_utf8(writer.bytes().to_vec()).unwrap()
    }

    #[test]
    fn rfc_8785_section_3_2_2() {
        let text = r#"{
          "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
          "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
          "literals": [null, true, false]
        }"#;
        assert_eq!(
            canonical(text),
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
             \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}"
        );
    }

    #[test]
    fn rfc_8785_section_3_2_3_orders_keys_by_utf_16() {
        let text = "{\"\\u20ac\":1,\"\\r\":2,\"\\ufb33\":3,\"1\":4,\"\\ud83d\\ude00\":5,\"\\u0080\":6,\"\\u00f6\":7}";
        assert_eq!(
            canonical(text),
            "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}"
        );
    }

    #[test]
    fn numbers_are_those_of_ecmascript() {
        for (given, written) in [
            ("-0", "0"),
            ("-0.0", "0"),
            ("1e3", "1000"),
            ("9007199254740991", "9007199254740991"),
            ("9007199254740993", "9007199254740992"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("-5e-324", "-5e-324"),
            ("18446744073709551616", "18446744073709552000"),
        ] {
            assert_eq!(canonical(given), written, "{given}");
        }
    }

    #[test]
    fn short_decimals_are_written_like_all_others() {
        let mut writer = Canonical::default();
        for digits in 0..30_000 {
            for power in [10.0, 100.0, 1000.0, 10_000.0, 100_000.0, 3.0] {
                for number in [
                    f64::from(digits) / power,
                    f64::from(-digits) / power,
                    f64::from(digits) * 1e4 + 1.0 / power,
                ] {
                    let mut expected = Vec::new();
                    json::write_number(&mut expected, number);
                    writer.bytes.clear();
                    writer.number(number);
                    assert_eq!(writer.bytes, expected, "{number}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn every_number_is_written_as_ecmascript_does(number in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL) {
            let mut expected = Vec::new();
            json::write_number(&mut expected, number);
            let mut writer = Canonical::default();
            writer.number(number);
            prop_assert_eq!(writer.bytes, expected);
        }

        #[test]
        fn keys_are_ordered_as_utf_16_code_units(keys in prop::collection::btree_set("[a-z\u{7f}-\u{10ffff}]{0,12}", 0..12)) {
            let mut sorted: Vec<&String> = keys.iter().collect();
            sorted.sort_by_key(|key| key.encode_utf16().collect::<Vec<_>>());
            let members = |keys: Vec<&String>| keys.iter().map(|key| format!("\"{key}\":1")).collect::<Vec<_>>().join(",");
            let text = format!("{{{}}}", members(keys.iter().collect()));
            prop_assert_eq!(canonical(&text), format!("{{{}}}", members(sorted)));
        }
    }
}
