//! Formats: files of none, and the same log in several forms.

use serde_json::Value;

use super::{Options, by_name, facts, fixture, read, read_as, refused};
use crate::{IMPORTERS, Importer};

#[test]
fn names_lead_back_to_their_format() {
    for format in IMPORTERS.iter().copied() {
        assert_eq!(Importer::named(format.name), Some(format));
    }
    assert_eq!(Importer::named("Inspect"), None);
}

#[test]
fn evidence_of_karat_is_no_log() {
    for text in [
        "", "{}", "[]", "7", r#"{"subject": "a", "solved": 1, "task": "t"}"#, "subject,solved\na,1\n",
        "{\"task_id\": 1, \"reward\": 1}\n", "- a\n- b\n", "<html></html>", "\u{0}\u{0}",
        r#"{"schema": "karat/record/2", "subject": "a"}"#,
    ] {
        assert_eq!(refused("x", text.as_bytes()), "no known format", "{text}");
    }
}

#[test]
fn another_metric_of_lm_eval_can_be_asked_for() {
    let lines = fixture("lm-eval/samples/org__model/samples_sums_2026-01-21T03-44-18.458309.jsonl");
    let wanted = Options { score: Some(String::from("acc_norm")), ..Options::default() };
    let (items, _) = read_as("m/samples_x.jsonl", &lines, by_name("lm-eval"), &wanted).unwrap();
    assert_eq!(items[0]["solved"], 0);
}

#[test]
fn results_of_promptfoo_are_the_same_in_one_document_and_in_lines() {
    let whole = fixture("promptfoo/evaluation/results.json");
    let document: Value = serde_json::from_slice(&whole).unwrap();
    let rows: Vec<String> =
        document["results"]["results"].as_array().unwrap().iter().map(Value::to_string).collect();
    let (format, items, _) = read("results.json", &whole);
    let (_, lines, _) = read("rows.jsonl", (rows.join("\n") + "\n").as_bytes());
    assert_eq!((lines.len(), items.len()), (rows.len(), rows.len()));
    for (line, item) in lines.into_iter().zip(items) {
        assert_eq!((&line["solved"], &line["tokens"]), (&item["solved"], &item["tokens"]));
        assert!(facts(format, "rows.jsonl", line).contains("rows/"));
    }
}

#[test]
fn what_the_benchmark_of_aider_prints_is_a_leaderboard() {
    let list = String::from_utf8(fixture("aider/records/board.yml")).unwrap();
    let rule = "\u{2500}".repeat(20);
    let printed = list.replace("# b\n", "").replace(
        "\n- dirname",
        &format!("\ncosts: $0.02/test-case\n{rule} tmp.benchmarks/b {rule}\n- dirname"),
    );
    let printed = format!("{rule} tmp.benchmarks/a {rule}\n{printed}");
    assert_eq!(read("stats.txt", printed.as_bytes()).1.len(), 2);
    assert_eq!(read("board.yml", list.as_bytes()).1.len(), 2);
}
