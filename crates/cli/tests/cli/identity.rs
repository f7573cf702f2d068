//! The identity of items: rows without an id are observations, however equal; an id is one item, however often given.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fmt::Write as _;

use serde_json::Value;

use crate::common::{Folder, Run, numbers, reference};
use karat::card::CompiledCard;

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
        &["stress", "-c", "card.toml"],
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

/// The second implementation finds the same names, repetitions, conflicts and digest over all items on drawn tables: ids and
/// none, equal rows and changed ones, two formats, blank lines.
#[test]
fn identities_are_those_of_the_model() {
    let model = reference("identity.py");
    let card = CompiledCard::parse(CARD).unwrap().card().digest.to_string();
    let mut draw = numbers(99);
    let (mut conflicts, mut repetitions) = (0, 0);
    for round in 0..24 {
        let folder = Folder::new();
        folder.write("card.toml", CARD);
        // In half of the rounds an id has one content, so that there is no conflict.
        let is_fixed = round % 2 == 0;
        let (mut table, mut lines) = (String::from("id,subject,solved,note\n"), String::new());
        for _ in 0..2 + draw(30) {
            let id = ["", "1", "r2", "é", "a b", "\"q\"", "ö x"][draw(7) as usize];
            let subject = ["a", "b", "ж", ""][if id.is_empty() { draw(3) } else { draw(4) } as usize];
            let solved = if is_fixed { id.len() as u64 % 3 } else { draw(3) };
            let solved = ["0", "0.25", "1"][solved as usize];
            let quoted = id.replace('"', "\"\"");
            writeln!(
                table,
                "\"{quoted}\",{subject},{solved},{}",
                ["", "\"two\nlines\""][draw(2) as usize * usize::from(id.is_empty())]
            )
            .unwrap();
            let mut item = serde_json::json!({ "solved": solved.parse::<f64>().unwrap() });
            for (name, value) in [("id", id), ("subject", subject)] {
                if !value.is_empty() {
                    item[name] = value.into();
                }
            }
            writeln!(lines, "{item}{}", ["", "\n"][draw(2) as usize]).unwrap();
        }
        // A cell without a number is left out of the item, and so of its digest.
        writeln!(table, ",a,{},", ["NA", "NaN", " none ", "-"][draw(4) as usize]).unwrap();
        folder.write("rows.csv", &table);
        folder.write("rows.jsonl", &lines);
        let question = serde_json::json!({
            "card": card, "numbers": ["solved"], "key": null, "files": [["rows.csv", table], ["rows.jsonl", lines]],
        });
        let expected: Value = serde_json::from_str(&model(&question.to_string())).unwrap();
        let run = folder.karat(&["leaderboard", "--json", "-c", "card.toml", "rows.csv", "rows.jsonl"]);
        let differing = expected["conflicts"].as_array().unwrap();
        conflicts += differing.len();
        if !differing.is_empty() {
            assert_eq!(run.status, 1, "{}", run.stdout);
            for pair in differing {
                let (subject, id) = (pair[0].as_str().unwrap(), pair[1].as_str().unwrap());
                let named = format!("`{subject}` has two items `{id}` that differ");
                assert!(run.stderr.contains(&named), "{named}: {}", run.stderr);
            }
            continue;
        }
        let items = json(&run)["items"].clone();
        repetitions += expected["repeated"].as_u64().unwrap();
        assert_eq!(items["repeated"], expected["repeated"]);
        assert_eq!(items["count"], expected["items"].as_array().unwrap().len());
        assert_eq!(items["digest"], expected["digest"], "{table}{lines}");
    }
    assert!(conflicts > 12 && repetitions > 12, "{conflicts} conflicts, {repetitions} repetitions");
}
