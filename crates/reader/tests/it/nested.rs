//! Facts by their paths: nested in objects and arrays, or flat as tables have them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;

use insta::assert_snapshot;
use karat_core::facts::Fact;
use karat_core::scorecard::FieldPath;
use karat_evidence::source::{Layout, Source};
use karat_reader::{FactType, Kind, Reader, ReaderOptions};
use proptest::prelude::*;

fn wanted() -> Vec<(String, FactType)> {
    [
        ("$.metrics.cost", FactType::Number),
        ("$.metrics.solved", FactType::Boolean),
        ("$.scores[1].value", FactType::Number),
        ("$[\"the domain\"]", FactType::Text),
        ("plain", FactType::Number),
    ]
    .map(|(field, fact_type)| (field.to_owned(), fact_type))
    .to_vec()
}

fn reader() -> Reader {
    let options =
        ReaderOptions { subject_field: Some("$.agent.name".to_owned()), task_field: Some("case".to_owned()) };
    Reader::new(Kind::Facts, &wanted(), options).unwrap()
}

fn problems(text: &str) -> String {
    reader().read(text.as_bytes()).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn facts_are_found_by_their_paths_and_what_lies_beside_them_is_unread() {
    let mut reader = reader();
    let evidence = reader
        .read(
            br#"{"agent": {"name": "bot", "mood": 1}, "case": "c-7", "metrics": {"cost": 0.5, "solved": true, "x": 1},
                 "scores": [{"value": 1}, {"value": 2, "note": ""}], "the domain": "tax", "plain": 3, "other": {}}"#,
        )
        .unwrap();
    let item = evidence.item();
    assert_eq!((item.subject, item.context.task), ("bot", Some("c-7")));
    let facts =
        [Fact::Number(0.5), Fact::Flag(true), Fact::Number(2.0), Fact::Text("tax"), Fact::Number(3.0)];
    assert_eq!(item.facts, facts);
    drop(evidence);
    let unread: Vec<&str> = reader.unknown_fields().map(|(path, _)| path).collect();
    assert_eq!(unread, ["$.metrics.x", "$.other", "$.scores[1].note"]);
}

#[test]
fn what_is_absent_or_null_at_any_level_is_missing() {
    for text in [
        r#"{"agent": {"name": "a"}}"#,
        r#"{"agent": {"name": "a"}, "metrics": null, "scores": [], "the domain": null}"#,
        r#"{"agent": {"name": "a"}, "metrics": {}, "scores": [{"value": 1}]}"#,
        r#"{"agent": {"name": "a"}, "metrics": {"cost": null}, "scores": [{}, {"value": null}]}"#,
        r#"{"agent.name": "a", "scores": [{}, null]}"#,
    ] {
        let mut reader = reader();
        let evidence = reader.read(text.as_bytes()).unwrap();
        assert_eq!(evidence.item().facts, [Fact::Missing; 5], "{text}");
    }
}

#[test]
fn errors_name_the_path() {
    assert_snapshot!(problems(r#"{"agent": {"name": "a"}, "metrics": {"cost": "1,5", "solved": "yes"}, "scores": [0, {"value": "95%"}], "the domain": 5}"#), @r#"
    $.metrics.cost: found the text `1,5`, expected a number; write it with a point for decimals, and no marks between thousands (line 1, column 46)
    $.metrics.solved: found the text `yes`, expected `true` or `false`; write it as `true` or `false`, without quotes (line 1, column 63)
    $.scores[1].value: found the text `95%`, expected a number; write 95 % as 0.95; or as 95, and divide by 100 in the formula (line 1, column 95)
    $["the domain"]: found `5`, expected a text; write it in quotes (line 1, column 118)
    "#);
    assert_snapshot!(problems(r#"{"agent": {"name": "a"}, "metrics": 7, "scores": {"value": 1}}"#), @r"
    $.metrics: found `7`, expected an object; a `path` of the scorecard leads into it (line 1, column 37)
    $.scores: found an object, expected an array; a `path` of the scorecard leads into it (line 1, column 50)
    ");
    assert_snapshot!(problems(r#"{"agent": {"name": "a"}, "metrics": {"cost": 1}, "metrics.cost": 1}"#), @r#"$["metrics.cost"]: found the same fact a second time, expected one value; give it nested, or as a field of the item, and not both (line 1, column 66)"#);
}

#[test]
fn a_column_of_a_table_has_the_path_without_its_root() {
    let table = "agent.name;case;metrics.cost;metrics.solved;the domain\nbot;7;0.25;no;tax\nbot;8;NA;;\n";
    let mut source = Source::new(table.as_bytes(), Layout::Csv, &wanted(), 1000);
    let mut reader = reader();
    let mut found = String::new();
    while let Some(item) = source.next_item() {
        let item = item.unwrap().bytes.to_vec();
        let evidence = reader.read(&item).unwrap();
        writeln!(found, "{:?} {:?}", evidence.item().context.task, evidence.item().facts).unwrap();
    }
    assert_snapshot!(found, @r#"
    Some("7") [Number(0.25), Flag(false), Missing, Text("tax"), Missing]
    Some("8") [Missing, Missing, Missing, Missing, Missing]
    "#);
    assert_eq!(reader.unknown_fields().count(), 0);
}

/// Builds an object with a number at the end of a path.
fn nest(path: &[String], number: f64) -> String {
    path.iter().rev().fold(format!("{number}"), |inner, name| {
        format!("{{{}:{inner}}}", serde_json::to_string(name).unwrap())
    })
}

proptest! {
    #[test]
    fn a_nested_fact_and_its_column_are_one(
        names in proptest::collection::vec("[a-zé_ .\"'\\\\0-9]{1,5}", 2..6),
        number in -1e9f64..1e9,
    ) {
        let path = names.iter().fold(String::from("$"), |path, name| {
            path + "[\"" + &name.replace('\\', "\\\\").replace('"', "\\\"") + "\"]"
        });
        let column = FieldPath::parse(&path).unwrap().column();
        let options = ReaderOptions { subject_field: Some("who".to_owned()), ..ReaderOptions::default() };
        let mut reader = Reader::new(Kind::Facts, &[(path, FactType::Number)], options).unwrap();
        let nested = nest(&names, number);
        let nested = format!(r#"{{"who":"a",{}"#, &nested[1..]);
        let flat = format!(r#"{{"who":"a",{}:{number}}}"#, serde_json::to_string(&column).unwrap());
        for text in [nested, flat] {
            let evidence = reader.read(text.as_bytes()).unwrap();
            prop_assert_eq!(evidence.item().facts, [Fact::Number(number)], "{}", text);
        }
    }
}
