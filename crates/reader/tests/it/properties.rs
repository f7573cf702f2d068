//! Properties for any input.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use karat_core::facts::Fact;
use karat_evidence::source::{Layout, Source};
use karat_reader::{FactType, Kind, Reader, ReaderOptions, embedding_text};
use proptest::prelude::*;
use serde_json::{Map, Value};

const TRACE: &str = r#"{"@context":"https://knowledgepulse.dev/schema/v1","@type":"ReasoningTrace","id":"kp:trace:1",
"metadata":{"created_at":"2026-03-14T00:20:00Z","task_domain":"code","success":true,"quality_score":0.5,
"visibility":"org","privacy_level":"private"},"task":{"objective":"x"},"steps":[{"step_id":0,"type":"thought",
"tool":{"name":"t\u00e9"},"latency_ms":1.5}],"outcome":{"result_summary":"","confidence":1}}"#;

fn readers() -> Vec<Reader> {
    let reader = |kind: Kind| {
        let mut wanted: Vec<_> =
            kind.vocabulary().iter().map(|spec| (spec.name.to_owned(), spec.fact_type)).collect();
        if kind == Kind::Facts {
            wanted = vec![("a".to_owned(), FactType::Number), ("b".to_owned(), FactType::Boolean)];
        }
        Reader::new(kind, &wanted, ReaderOptions::default()).unwrap()
    };
    Kind::ALL.into_iter().map(reader).collect()
}

/// Any JSON value, with the field names of the readers among the keys so that they are reached.
fn json() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        "[a-z]{0,3}",
        Just("id".to_owned()),
        Just("subject".to_owned()),
        Just("steps".to_owned()),
        Just("result".to_owned()),
        Just("workflow_plan".to_owned()),
        Just("nodes".to_owned()),
        Just("edges".to_owned()),
        Just("from".to_owned()),
        Just("to".to_owned()),
        Just("dimensions".to_owned()),
        Just("scores".to_owned()),
        "[\u{0}-\u{ffff}\u{1f600}-\u{1f64f}]{0,4}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-100_i32..100).prop_map(|number| Value::from(f64::from(number) / 8.0)),
        prop::num::f64::NORMAL.prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        "[a-c]".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// Writes the same value with its members reversed, white space everywhere, and every character of a text escaped.
fn disguised(value: &Value, out: &mut String) {
    match value {
        Value::Array(elements) => {
            out.push_str("[ ");
            for (at, element) in elements.iter().enumerate() {
                out.push_str(if at > 0 { "\n,\t" } else { "" });
                disguised(element, out);
            }
            out.push_str("\r\n]");
        }
        Value::Object(members) => {
            out.push('{');
            for (at, (key, member)) in members.iter().rev().enumerate() {
                out.push_str(if at > 0 { " , " } else { "" });
                escaped(key, out);
                out.push_str(" : ");
                disguised(member, out);
            }
            out.push_str(" }");
        }
        Value::String(text) => escaped(text, out),
        other => out.push_str(&other.to_string()),
    }
}

fn escaped(text: &str, out: &mut String) {
    out.push('"');
    for unit in text.encode_utf16() {
        out.push_str(&format!("\\u{unit:04X}"));
    }
    out.push('"');
}

proptest! {
    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for mut reader in readers() {
            let _ = reader.read(&bytes);
        }
        let _ = embedding_text(&bytes);
    }

    #[test]
    fn no_json_makes_a_reader_panic(value in json()) {
        let text = value.to_string();
        for mut reader in readers() {
            let _ = reader.read(text.as_bytes());
        }
    }

    #[test]
    fn no_damage_makes_a_reader_panic(at in 0..TRACE.len(), byte in any::<u8>(), cut in any::<bool>()) {
        let mut bytes = TRACE.as_bytes().to_vec();
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        for mut reader in readers() {
            if let Err(problems) = reader.read(&bytes) {
                prop_assert!(!problems.is_empty());
                prop_assert!(problems.iter().all(|problem| problem.path.starts_with('$')));
            }
        }
    }

    #[test]
    fn the_digest_depends_on_neither_order_nor_space_nor_escapes(mut members in prop::collection::btree_map("[a-z]{1,4}", json(), 0..5)) {
        members.insert("subject".to_owned(), Value::from("s"));
        // What has a meaning and another content is refused.
        for name in ["id", "a", "b", "n", "time", "task"] {
            members.remove(name);
        }
        let value = Value::Object(members.into_iter().collect());
        let mut other = String::new();
        disguised(&value, &mut other);
        let mut reader = Reader::new(Kind::Facts, &[], ReaderOptions::default()).unwrap();
        let digest = |reader: &mut Reader, text: &str| reader.read(text.as_bytes()).map(|read| read.item().digest);
        let plain = digest(&mut reader, &value.to_string());
        prop_assert!(plain.is_ok());
        prop_assert_eq!(plain, digest(&mut reader, &other));
    }

    #[test]
    fn a_reader_forgets_the_item_before(first in json(), second in json()) {
        let (first, second) = (first.to_string(), second.to_string());
        for (mut used, mut fresh) in readers().into_iter().zip(readers()) {
            let _ = used.read(first.as_bytes());
            let told = |reader: &mut Reader| match reader.read(second.as_bytes()) {
                Ok(read) => format!("{:?} {:?}", read.item(), read.notes()),
                Err(problems) => problems.to_string(),
            };
            prop_assert_eq!(told(&mut used), told(&mut fresh));
        }
    }

    #[test]
    fn numbers_come_out_as_they_went_in(number in prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL) {
        let wanted = [("a".to_owned(), FactType::Number)];
        let mut reader = Reader::new(Kind::Facts, &wanted, ReaderOptions::default()).unwrap();
        let text = format!("{{\"subject\": \"s\", \"a\": {number:e}}}");
        let read = reader.read(text.as_bytes()).unwrap();
        prop_assert_eq!(read.item().facts, [Fact::Number(number)]);
    }

    #[test]
    fn a_source_ends_and_keeps_every_line(lines in prop::collection::vec("[ -~]{0,30}", 0..10), bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let text = lines.join("\n");
        let mut source = Source::new(text.as_bytes(), Layout::JsonLines, &[], 1000);
        let mut found = Vec::new();
        while let Some(item) = source.next_item() {
            match item {
                Ok(item) => found.push(String::from_utf8_lossy(item.bytes).into_owned()),
                Err(error) => prop_assert!(!error.resumable),
            }
        }
        let expected: Vec<_> = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
        prop_assert_eq!(found, expected);

        for layout in [Layout::Auto, Layout::JsonLines, Layout::Csv] {
            let mut source = Source::new(&bytes[..], layout, &[], 20);
            let mut count = 0;
            while source.next_item().is_some() {
                count += 1;
                prop_assert!(count <= 2 * bytes.len() + 1);
            }
        }
    }
}

/// Returns the bits of a number as a layout gives it, or the words of its refusal.
fn number_in(layout: Layout, text: &str) -> Result<u64, String> {
    let wanted = [("a".to_owned(), FactType::Number)];
    let mut reader = Reader::new(Kind::Facts, &wanted, ReaderOptions::default()).unwrap();
    let file = match layout {
        Layout::Csv => format!("subject,a\ns,{text}\n"),
        Layout::JsonLines => format!("{{\"subject\":\"s\",\"a\":{text}}}\n"),
        Layout::Auto => format!("[\n{{\"subject\":\"s\",\"a\":{text}}}]"),
    };
    let mut source = Source::new(file.as_bytes(), layout, &wanted, 1 << 20);
    let item = source.next_item().unwrap().unwrap();
    match reader.read(item.bytes) {
        Ok(read) => match read.item().facts {
            [Fact::Number(number)] => Ok(number.to_bits()),
            _ => Err("no number".to_owned()),
        },
        Err(problems) => Err(problems.to_string()),
    }
}

#[test]
fn a_number_is_one_thing_in_every_format() {
    for (cell, json) in [
        ("1e16", "1e16"),
        ("1e+16", "1e+16"),
        ("1E18", "1E18"),
        ("-1e18", "-1e18"),
        ("+1e16", "1e16"),
        ("1234567890123456789.5", "1234567890123456789.5"),
        ("9007199254740993.0", "9007199254740993.0"),
        ("9007199254740991", "9007199254740991"),
        ("1e21", "1e21"),
        ("1e308", "1e308"),
        ("0.1", "0.1"),
        ("+5", "5"),
        (".5", "0.5"),
        ("-.5e1", "-0.5e1"),
        ("5.", "5.0"),
        ("5.e3", "5.0e3"),
        ("007", "7"),
        ("-000.10", "-0.10"),
        ("00", "0"),
        ("9007199254740992", "9007199254740992"),
        ("1000000000000000000", "1e18"),
        ("1e-400", "0"),
        ("-0", "0"),
    ] {
        let [read, lines, array] = [(Layout::Csv, cell), (Layout::JsonLines, json), (Layout::Auto, json)]
            .map(|(layout, text)| number_in(layout, text).unwrap());
        assert_eq!((read, read), (lines, array), "{cell}");
    }
    for refused in ["9007199254740993", "-9007199254740993", "1795794098088241123", "1234567890123456789012"]
    {
        for layout in [Layout::Csv, Layout::JsonLines, Layout::Auto] {
            let said = number_in(layout, refused).unwrap_err();
            assert!(
                said.contains(&format!("found `{refused}`, expected a whole number that a double holds")),
                "{said}"
            );
        }
    }
    for text in ["3,5", "1.234,5", "1e400", "0x10", "1_000", "5 %", "1e", ".", "+", "--5", "1.2.3"] {
        let cell = format!("\"{text}\"");
        assert!(
            [Layout::Csv, Layout::JsonLines, Layout::Auto].iter().all(|it| number_in(*it, &cell).is_err()),
            "{text}"
        );
    }
}

proptest! {
    /// A cell is read as the same number as in JSON, or refused with the same digits.
    #[test]
    fn a_cell_is_the_number_that_json_writes(
        text in "-?(0|[1-9][0-9]{0,24}|900719925474099[0-9])(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,3})?",
        zeros in "0{0,3}",
    ) {
        let [cell, lines, array] = [Layout::Csv, Layout::JsonLines, Layout::Auto].map(|it| number_in(it, &text));
        prop_assert_eq!(&lines, &array);
        match (&cell, &lines) {
            (Ok(cell), Ok(json)) => prop_assert_eq!(cell, json),
            (Err(cell), Err(json)) => {
                let found = format!("found `{text}`");
                prop_assert!(cell.contains(&found) == json.contains(&found) || text.contains(['e', 'E']), "{cell} {json}");
            }
            _ => prop_assert!(false, "{:?} {:?}", cell, lines),
        }
        // As spreadsheets write it.
        let (sign, digits) = text.split_at(usize::from(text.starts_with('-')));
        let sign = if sign.is_empty() { "+" } else { sign };
        let padded = number_in(Layout::Csv, &format!("{sign}{zeros}{digits}"));
        prop_assert_eq!(padded.map_err(drop), cell.map_err(drop));
    }
}
