//! The identity of items: rows without an id are observations, however equal; an id is one item, however often given.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fmt::Write as _;

use serde_json::Value;

use crate::common::{Folder, Run, numbers};

const CARD: &str = r#"
schema = "karat/scorecard/1"
id = "solved"
version = "1.0.0"
title = "Share of tasks solved"
evidence = "facts"

[facts]
solved = { min = 0, max = 1 }

[[dimension]]
key = "solved"
label = "Solved"
weight = 1
formula = "solved"
"#;

fn json(run: &Run) -> Value {
    assert_eq!(run.status, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

/// The mean is that of all rows, whatever is equal, in whatever order, in however many files and formats.
#[test]
fn rows_without_an_id_all_count() {
    let mut draw = numbers(7);
    for round in 0..12 {
        let (rows, solved) = (2 + draw(120), draw(120));
        let solved = solved.min(rows);
        let folder = Folder::new();
        folder.write("card.toml", CARD);
        let mut results: Vec<u64> = (0..rows).map(|at| u64::from(at < solved)).collect();
        for at in (1..results.len()).rev() {
            results.swap(at, draw(at as u64 + 1) as usize);
        }
        let cut = draw(rows) as usize;
        let (mut table, mut lines) = (String::from("subject,solved\n"), String::new());
        results[..cut].iter().for_each(|it| writeln!(table, "a,{it}").unwrap());
        results[cut..]
            .iter()
            .for_each(|it| writeln!(lines, r#"{{"subject": "a", "solved": {it}}}"#).unwrap());
        let mut files = Vec::new();
        for (name, text) in [("rows.csv", &table), ("rows.jsonl", &lines)] {
            if text.lines().count() > usize::from(name == "rows.csv") {
                folder.write(name, text);
                files.push(name);
            }
        }
        let ask = |verb: &[&str]| folder.karat(&[verb, &files].concat());
        let scored = ask(&["score", "--json", "--card", "card.toml"]);
        assert_eq!(scored.stdout.lines().count() as u64, rows, "{}", scored.stderr);
        let board = json(&ask(&["leaderboard", "--json", "--card", "card.toml"]));
        let row = &board["leaderboards"][0]["rows"][0];
        let mean = row["score"]["mean"].as_f64().unwrap();
        assert!(
            (mean - solved as f64 / rows as f64).abs() < 1e-9,
            "round {round}: {mean} of {solved}/{rows}"
        );
        assert_eq!((&row["items"], &board["items"]["repeated"]), (&rows.into(), &0.into()));
        // The records say the same as the evidence.
        folder.write("records.jsonl", &scored.stdout);
        let again = json(&folder.karat(&["leaderboard", "--json", "--card", "card.toml", "records.jsonl"]));
        assert_eq!(again["leaderboards"], board["leaderboards"]);
        assert_eq!(again["items"]["digest"], board["items"]["digest"]);
    }
}

#[test]
fn a_row_is_found_by_its_file_and_line() {
    let folder = Folder::new();
    folder.write("card.toml", CARD);
    folder.write("runs.csv", "subject,solved\na,1\na,1\nb,0\nb,0.25\n");
    let explain =
        |item: &str| folder.karat(&["explain", "--json", "-c", "card.toml", "-i", item, "runs.csv"]);
    let found = json(&explain("runs.csv:5"));
    assert_eq!(
        (&found["record"]["subject"], &found["record"]["facts"]["solved"]),
        (&"b".into(), &0.25.into())
    );
    let missing = explain("runs.csv:6");
    assert_eq!(missing.status, 1);
    assert!(missing.stderr.contains("`runs.csv` has no item `runs.csv:6`"), "{}", missing.stderr);
    // In another folder, the name has the folder; the file and the line find it as well.
    std::fs::create_dir(folder.path().join("may")).unwrap();
    folder.write("may/runs.csv", "subject,solved\na,1\nb,0.75\n");
    let found =
        json(&folder.karat(&["explain", "--json", "-c", "card.toml", "-i", "runs.csv:3", "may/runs.csv"]));
    assert_eq!(found["record"]["evidence"]["id"], "may/runs.csv:3");
    // The record is verified with its evidence under any name.
    folder.write("record.json", &found["record"].to_string());
    let (row, line) = ("subject,solved\nx,0\ny,0\nb,0.75\n", r#"{"subject": "b", "solved": 0.75}"#);
    for (name, text) in [("moved.csv", row), ("moved.json", line)] {
        folder.write(name, text);
        let verified =
            folder.karat(&["explain", "--json", "-c", "card.toml", "record.json", "--evidence", name]);
        assert_eq!(verified.status, 0, "{name}: {}", verified.stderr);
    }
}

#[test]
fn a_file_counts_once() {
    let folder = Folder::new();
    folder.write("card.toml", CARD);
    folder.write("runs.csv", "subject,solved\na,1\na,0\nb,1\nb,0\n");
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    let verbs: [&[&str]; 5] = [
        &["score", "-c", "card.toml"],
        &["leaderboard", "-c", "card.toml"],
        &["standing", "--as-of", "2026-05-01T00:00:00Z", "-c", "card.toml"],
        &["compare", "a", "b", "-c", "card.toml"],
        &["stress", "card.toml"],
    ];
    for verb in verbs {
        for other in ["runs.csv", "./runs.csv", "sub/../runs.csv"] {
            let run = folder.karat(&[verb, &["runs.csv", other]].concat());
            assert_ne!(run.status, 0, "{verb:?} {other}");
            assert!(run.stderr.contains("is given twice"), "{verb:?} {other}: {}", run.stderr);
        }
    }
}

#[test]
fn an_id_is_one_item() {
    let folder = Folder::new();
    folder.write("card.toml", CARD);
    folder.write("one.csv", "id,subject,solved\nr1,a,1\nr2,a,0\nr1,a,1\n");
    let board = json(&folder.karat(&["leaderboard", "--json", "-c", "card.toml", "one.csv"]));
    assert_eq!((&board["items"]["count"], &board["items"]["repeated"]), (&2.into(), &1.into()));
    let screen = folder.karat(&["leaderboard", "--table", "-c", "card.toml", "one.csv"]);
    assert!(screen.stdout.contains("given again"), "{}", screen.stdout);
    folder.write("other.csv", "id,subject,solved\nr1,a,0\n");
    let conflict = folder.karat(&["leaderboard", "--json", "-c", "card.toml", "one.csv", "other.csv"]);
    assert_ne!(conflict.status, 0);
    assert!(conflict.stderr.contains("r1") && conflict.stderr.contains("other.csv:2"), "{}", conflict.stderr);
}
