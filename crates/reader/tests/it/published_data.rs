//! The shared vectors of the trace system, and data that other tools have published.
//!
//! The published data is not part of the repository. It is looked for in the folder that `KARAT_REAL_DATA` names, else
//! beside the workspace; without it these tests say that they were skipped.

use std::fs;
use std::path::{Path, PathBuf};

use karat_core::facts::Fact;
use karat_evidence::source::{Layout, Source};
use karat_reader::{FactType, Kind, Reader, ReaderOptions, embedding_text};
use serde_json::Value;

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn published(name: &str) -> Option<PathBuf> {
    let folder =
        std::env::var_os("KARAT_REAL_DATA").map_or_else(|| workspace().join("../shared/real"), PathBuf::from);
    let path = folder.join(name);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: `{}` is not there; KARAT_REAL_DATA may name the folder", path.display());
    None
}

fn wanted(facts: &[(&str, FactType)]) -> Vec<(String, FactType)> {
    facts.iter().map(|&(name, fact_type)| (name.to_owned(), fact_type)).collect()
}

/// The formulas of the trace document for complexity, tool diversity and outcome confidence over our facts.
#[test]
fn the_trace_vectors_follow_from_the_facts() {
    let vectors = fs::read_to_string(workspace().join("vectors/trace.jsonl")).unwrap();
    let names = [
        ("step_count", FactType::Number),
        ("step_type_count", FactType::Number),
        ("error_recovery_count", FactType::Number),
        ("unique_tool_count", FactType::Number),
        ("confidence", FactType::Number),
        ("success", FactType::Boolean),
    ];
    let mut reader = Reader::new(Kind::ReasoningTrace, &wanted(&names), ReaderOptions::default()).unwrap();
    let (mut scored, mut refused) = (0, 0);
    for line in vectors.lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        if case["fn"] != "evaluate" {
            continue;
        }
        let id = case["id"].as_str().unwrap();
        let trace = case["input"]["trace"].to_string();
        let expected = &case["expected"];
        assert_eq!(
            embedding_text(trace.as_bytes()).unwrap(),
            expected["embedding_text"].as_str().unwrap(),
            "{id}"
        );

        let is_invalid = case["tags"].as_array().unwrap().iter().any(|tag| tag == "schema_invalid");
        let read = reader.read(trace.as_bytes());
        if is_invalid {
            assert!(read.is_err(), "{id} is against the schema");
            refused += 1;
            continue;
        }
        let read = read.unwrap_or_else(|problems| panic!("{id}: {problems}"));
        let [
            Fact::Number(n),
            Fact::Number(k),
            Fact::Number(e),
            Fact::Number(u),
            Fact::Number(confidence),
            Fact::Flag(success),
        ] = *read.item().facts
        else {
            panic!("{id}: a fact is missing")
        };
        let complexity = f64::min(1.0, k / 4.0 * 0.5 + if e > 0.0 { 0.3 } else { 0.0 } + n / 20.0 * 0.2);
        let diversity = f64::min(1.0, u / n * 3.0);
        let outcome = confidence * if success { 1.0 } else { 0.3 };
        for (value, name) in
            [(complexity, "complexity"), (diversity, "tool_diversity"), (outcome, "outcome_confidence")]
        {
            assert!((value - expected[name].as_f64().unwrap()).abs() < 1e-12, "{id}: {name}");
        }
        scored += 1;
    }
    assert_eq!((scored, refused), (39, 3));
    assert_eq!(reader.unknown_fields().count(), 0);
}

/// Tables and lists as they are published: every row and every element is cut out and read.
#[test]
fn published_tables_are_read_whole() {
    let football =
        [("home_score", FactType::Number), ("neutral", FactType::Boolean), ("tournament", FactType::Text)];
    let lichess = [("white", FactType::Text), ("result", FactType::Text)];
    let models = [("name", FactType::Text), ("id", FactType::Number)];
    for (name, subject, facts) in [
        ("international-football/results.csv", "home_team", &football[..]),
        ("lichess-encounters/encounters.csv", "white", &lichess[..]),
        ("llmfao/models.jsonl", "name", &models[..]),
    ] {
        let Some(path) = published(name) else { continue };
        let wanted = wanted(facts);
        let options = ReaderOptions { subject_field: Some(subject.to_owned()), ..ReaderOptions::default() };
        let mut reader = Reader::new(Kind::Facts, &wanted, options).unwrap();
        let mut source = Source::open(&path, &wanted, 1 << 20).unwrap();
        let mut count = 0;
        while let Some(item) = source.next_item() {
            let item = item.unwrap();
            let read = reader
                .read(item.bytes)
                .unwrap_or_else(|problems| panic!("{name}, {}: {problems}", item.line));
            assert!(
                read.item().facts.iter().all(|fact| *fact != Fact::Missing),
                "{name}, line {}",
                item.line
            );
            count += 1;
        }
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        let header = usize::from(Layout::of_path(&path) == Layout::Csv);
        assert_eq!(count, lines - header, "{name}");
    }
}

/// Every JSON file is either read or refused with a reason, and its canonical form is that of its parsed value.
#[test]
fn published_json_is_understood() {
    let Some(folder) = published("") else { return };
    let mut folders = vec![folder];
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if !["json", "jsonl", "traj"]
                .iter()
                .any(|ending| path.extension().is_some_and(|found| found == *ending))
            {
                continue;
            }
            let mut source = Source::open(&path, &[], 16 << 20).unwrap();
            while let Some(item) = source.next_item() {
                let item = item.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                let value: Value = serde_json::from_slice(item.bytes).unwrap();
                let mut reader = Reader::new(Kind::Facts, &[], ReaderOptions::default()).unwrap();
                let again = format!("{{\"subject\": \"s\", \"item\": {value}}}");
                let given = [&b"{\"item\": "[..], item.bytes, b", \"subject\": \"s\"}"].concat();
                let digest = reader.read(&given).unwrap().item().digest;
                assert_eq!(
                    reader.read(again.as_bytes()).unwrap().item().digest,
                    digest,
                    "{}",
                    path.display()
                );
                for kind in Kind::ALL {
                    let mut reader = Reader::new(kind, &[], ReaderOptions::default()).unwrap();
                    if let Err(problems) = reader.read(item.bytes) {
                        assert!(!problems.is_empty());
                    }
                }
                read += 1;
            }
        }
    }
    assert!(read > 50, "{read} items");
}
