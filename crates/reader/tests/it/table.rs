//! The user's own facts: flat objects and rows of a table, and what every kind has in common.

#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test fails by panicking")]

use insta::assert_snapshot;
use karat_core::facts::{Digest, Fact, ItemContext, Outcome};
use karat_evidence::Problems;
use karat_evidence::json::document::Tape;
use karat_evidence::json::parse::{Limits, parse};
use karat_evidence::source::{Layout, Source};
use karat_reader::{FactType, Kind, Reader, ReaderOptions};

fn wanted() -> Vec<(String, FactType)> {
    vec![
        ("solved".to_owned(), FactType::Number),
        ("escalated".to_owned(), FactType::Boolean),
        ("domain".to_owned(), FactType::Text),
    ]
}

fn reader() -> Reader {
    Reader::new(Kind::Facts, &wanted(), ReaderOptions::default()).unwrap()
}

fn problems(text: &str) -> String {
    problems_of_bytes(text.as_bytes())
}

fn problems_of_bytes(bytes: &[u8]) -> String {
    reader().read(bytes).map(|_| ()).unwrap_err().to_string()
}

#[test]
fn facts_come_in_the_order_they_are_wanted() {
    let mut reader = reader();
    let evidence = reader
        .read(br#"{"domain": "tax", "solved": -0.0, "subject": "bot", "id": "7", "x": {"y": 1}}"#)
        .unwrap();
    let item = evidence.item();
    assert_eq!((item.subject, item.id), ("bot", "7"));
    assert_eq!(item.facts, [Fact::Number(0.0), Fact::Missing, Fact::Text("tax")]);
    assert!(matches!(item.facts[0], Fact::Number(zero) if zero.is_sign_positive()));
    assert_eq!(reader.unknown_fields().collect::<Vec<_>>(), [("$.x", 1)]);
}

#[test]
fn null_is_missing_and_a_fact_may_be_the_subject_too() {
    let options = ReaderOptions { subject_field: Some("domain".to_owned()), ..ReaderOptions::default() };
    let mut reader = Reader::new(Kind::Facts, &wanted(), options).unwrap();
    let evidence = reader.read(br#"{"domain": "tax", "solved": null}"#).unwrap();
    assert_eq!(evidence.item().subject, "tax");
    assert_eq!(evidence.item().facts, [Fact::Missing, Fact::Missing, Fact::Text("tax")]);
}

#[test]
fn an_item_without_id_is_identified_by_its_digest_and_one_without_subject_by_its_id() {
    let mut reader = reader();
    let digest = Digest::of(br#"{"solved":1,"subject":42}"#);
    let evidence = reader.read(br#" {"subject": 42, "solved": 1.0} "#).unwrap();
    assert_eq!(evidence.item().digest, digest);
    assert_eq!((evidence.item().subject, evidence.item().id), ("42", digest.to_string().as_str()));
    drop(evidence);
    let evidence = reader.read(br#"{"id": "run-3"}"#).unwrap();
    assert_eq!((evidence.item().subject, evidence.item().id), ("run-3", "run-3"));
}

#[test]
fn a_number_as_large_as_a_double_holds_is_read() {
    assert!(reader().read(br#"{"subject": "a", "solved": 1e300}"#).is_ok());
}

#[test]
fn unknown_facts_are_named_with_the_nearest_known() {
    let wanted = ["output_qualty", "timeouts", "budget_aborted", "mood"]
        .map(|name| (name.to_owned(), FactType::Number));
    let unknown = Reader::new(Kind::WorkflowRun, &wanted, ReaderOptions::default()).unwrap_err();
    let unknown: Vec<String> = unknown.iter().map(ToString::to_string).collect();
    assert_snapshot!(unknown.join("\n"), @r"
    unknown fact `output_qualty`; did you mean `output_quality`?
    the fact `budget_aborted` is a boolean
    unknown fact `mood`
    ");
}

#[test]
fn limits_are_kept() {
    assert_snapshot!(problems(&"[".repeat(10_000)), @"$: found brackets nested more than 64 deep, expected at most 64 levels; flatten the item (line 1, column 65)");
    assert_snapshot!(problems(&"{\"a\":".repeat(10_000)), @"$: found brackets nested more than 64 deep, expected at most 64 levels; flatten the item (line 1, column 321)");
    let nested =
        |depth: usize| format!("{{\"subject\": \"a\", \"x\": {}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(reader().read(nested(63).as_bytes()).is_ok());
    assert!(reader().read(nested(64).as_bytes()).is_err());
    let limited = |text: &str, limits| parse(&mut Tape::default(), text.as_bytes(), &limits).map(|_| ());
    let deepest = Limits { max_depth: usize::MAX, ..Limits::default() };
    assert!(limited(&nested(119), deepest).is_ok());
    assert!(limited(&nested(120), deepest).is_err());

    let short = Limits { max_bytes: 10, ..Limits::default() };
    assert_snapshot!(limited(r#"{"subject": "a"}"#, short).unwrap_err(), @"$: found an item of 16 bytes or more, expected at most 10 bytes; leave out what is not scored (line 1, column 1)");
}

#[test]
fn bytes_that_are_not_utf8_are_placed() {
    assert_snapshot!(problems_of_bytes(b"{\"subject\": \"caf\xe9\"}"), @"$: found the byte 0xe9, expected text in UTF-8; save the file as UTF-8 (line 1, column 17)");
}

#[test]
fn a_byte_order_mark_is_passed_over() {
    assert!(reader().read("\u{feff}{\"subject\": \"a\"}".as_bytes()).is_ok());
}

#[test]
fn lines_are_those_of_the_item() {
    let problems: Problems =
        reader().read(b"{\"subject\": \"a\",\n \"solved\": true}").map(|_| ()).unwrap_err();
    assert_snapshot!(problems, @r#"$.solved: found `true`, expected a number; write 1 and 0, or declare the fact with type = "boolean" (line 2, column 12)"#);
}

#[test]
fn many_problems_and_many_unknown_fields_do_not_fill_the_memory() {
    let fields: Vec<String> = (0..5000).map(|at| format!("\"x{at}\": 0")).collect();
    let mut reader = reader();
    reader.read(format!("{{\"subject\": \"a\", {}}}", fields.join(",")).as_bytes()).unwrap();
    assert!(reader.unknown_fields().count() <= 1001);
    assert_eq!(reader.unknown_fields().map(|(_, count)| count).sum::<u64>(), 5000);

    let steps = vec!["{}"; 50_000].join(",");
    let mut traces = Reader::new(Kind::ReasoningTrace, &[], ReaderOptions::default()).unwrap();
    let problems = traces.read(format!("{{\"steps\": [{steps}]}}").as_bytes()).map(|_| ()).unwrap_err();
    assert!(problems.len() > 100_000);
    assert_eq!(problems.iter().count(), Problems::LISTED);
}

#[test]
fn a_row_has_the_digest_of_the_object_that_says_the_same() {
    let table = "subject,solved,escalated,domain,note\r\nbot,12.50,TRUE,\"tax, income\",x\r\nbot2, 3 ,,,\r\n";
    let lines = "{\"note\": \"x\", \"domain\": \"tax, income\", \"escalated\": true, \"solved\": 12.5, \"subject\": \"bot\"}\n\
                 {\"subject\": \"bot2\", \"solved\": 3}\n";
    let digests = |text: &str, layout| {
        let mut reader = reader();
        let mut source = Source::new(text.as_bytes(), layout, &wanted(), 1000);
        let mut found = Vec::new();
        while let Some(item) = source.next_item() {
            found.push(reader.read(item.unwrap().bytes).unwrap().item().digest);
        }
        found
    };
    let from_table = digests(table, Layout::Csv);
    assert_eq!(from_table.len(), 2);
    assert_eq!(from_table, digests(lines, Layout::JsonLines));
    assert_eq!(from_table, digests(&format!("\u{feff}{table}"), Layout::Csv));
}

#[test]
fn a_cell_of_another_type_is_refused_like_a_value() {
    let table = "subject,solved,escalated\na,many,maybe\nb,12%,\nc,1e999,\nd,9007199254740993,\n";
    let mut reader = reader();
    let mut source = Source::new(table.as_bytes(), Layout::Csv, &wanted(), 1000);
    let mut told = Vec::new();
    while let Some(item) = source.next_item() {
        let item = item.unwrap();
        let problems = reader.read(item.bytes).map(|_| ()).unwrap_err();
        told.push(format!("row in line {}:\n{}", item.line, problems));
    }
    assert_snapshot!(told.join("\n"), @r#"
    row in line 2:
    $.solved: found the text `many`, expected a number; for words declare the fact with type = "text"; leave the field out where there is no number (line 1, column 25)
    $.escalated: found the text `maybe`, expected `true` or `false`; for more than two values declare the fact with type = "text", and give a number for the score (line 1, column 44)
    row in line 3:
    $.solved: found the text `12%`, expected a number; write 95 % as 0.95; or as 95, and divide by 100 in the formula (line 1, column 25)
    row in line 4:
    $.solved: found the text `1e999`, expected a number; leave the field out where there is no value; no number is as large (line 1, column 25)
    row in line 5:
    $.solved: found `9007199254740993`, expected a whole number that a double holds: any below 2^53; round it, as in `1e18` (line 1, column 25)
    "#);
}

#[test]
fn a_name_that_the_card_takes_may_hold_something_else() {
    let own = [
        ("time", FactType::Number),
        ("task", FactType::Boolean),
        ("outcome", FactType::Text),
        ("n", FactType::Number),
    ];
    let wanted = own.map(|(name, fact_type)| (name.to_owned(), fact_type));
    let mut reader = Reader::new(Kind::Facts, &wanted, ReaderOptions::default()).unwrap();
    let read = reader
        .read(br#"{"subject": "a", "time": 3.4, "task": true, "outcome": "passed", "n": 2.5}"#)
        .unwrap();
    assert_eq!(
        read.item().facts,
        [Fact::Number(3.4), Fact::Flag(true), Fact::Text("passed"), Fact::Number(2.5)]
    );
    assert_eq!(read.item().context, ItemContext::default());
    drop(read);
    let read = reader.read(br#"{"subject": "a", "outcome": "failed"}"#).unwrap();
    assert_eq!(read.item().context.outcome, Some(Outcome::Failed));
    assert_eq!(read.item().facts[2], Fact::Text("failed"));
    let options = ReaderOptions { subject_field: Some("task".to_owned()), ..ReaderOptions::default() };
    let mut reader = Reader::new(Kind::Facts, &[], options).unwrap();
    assert_eq!(reader.read(br#"{"task": 7}"#).unwrap().item().subject, "7");
}
