//! Data that other tools have published: run by `.ci/long`, not by `cargo test`.
//!
//! The data is not part of the repository. It is looked for in the folder that `KARAT_REAL_DATA` names, else beside the
//! workspace.

use std::fs::{self, File};
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use karat_core::facts::Fact;
use karat_evidence::source::{Layout, Source};
use karat_graders::quality::TestResults;
use karat_reader::{FactType, Kind, Reader, ReaderOptions};
use serde_json::Value;

fn source(path: &Path, wanted: &[(String, FactType)], most: usize) -> io::Result<Source<BufReader<File>>> {
    Ok(Source::new(BufReader::new(File::open(path)?), Layout::of_path(path), wanted, most))
}

fn published(name: &str) -> PathBuf {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/real");
    let path = std::env::var_os("KARAT_REAL_DATA").map_or_else(beside, PathBuf::from).join(name);
    assert!(path.exists(), "there is no `{}`: KARAT_REAL_DATA may name the folder", path.display());
    path
}

fn wanted(facts: &[(&str, FactType)]) -> Vec<(String, FactType)> {
    facts.iter().map(|&(name, fact_type)| (name.to_owned(), fact_type)).collect()
}

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
        let path = published(name);
        let wanted = wanted(facts);
        let options = ReaderOptions { subject_field: Some(subject.to_owned()), ..ReaderOptions::default() };
        let mut reader = Reader::new(Kind::Facts, &wanted, options).unwrap();
        let mut source = source(&path, &wanted, 1 << 20).unwrap();
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

#[test]
fn published_json_is_understood() {
    let folder = published("");
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
            let mut source = source(&path, &[], 16 << 20).unwrap();
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

#[test]
fn published_junit_reports_are_read() {
    let folder = published("junit-xml");
    for (name, expected) in [
        ("empty-jest-junit", (0, 0, 0, 0, 0)),
        ("jest-junit", (1, 4, 0, 1, 0)),
        ("junit-basic", (8, 1, 0, 0, 0)),
        ("junit4-basic", (5, 1, 0, 0, 0)),
        ("pulsar-test-report", (793, 1, 0, 14, 0)),
        ("python-xunit-pytest", (6, 2, 0, 2, 0)),
        ("swift-xunit", (2, 1, 0, 0, 0)),
    ] {
        let report = fs::read_to_string(folder.join(name).with_extension("xml")).unwrap();
        let found = TestResults::from_report(&report).unwrap();
        let found = (found.passed, found.failed, found.errors, found.skipped, found.missing);
        assert_eq!(found, expected, "{name}");
    }
}
