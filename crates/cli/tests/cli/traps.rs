//! Traps of scorecards as `karat card check` tells them; the server's tests check the same cards.

use std::fmt::Write as _;

use serde_json::Value;

use crate::common::Folder;

const FINDINGS: &str = include_str!("../../../checker/tests/findings.json");

fn headed(id: usize, card: &str) -> String {
    let kind = if card.contains("evidence = ") { "" } else { "evidence = \"facts\"\n" };
    format!(
        "schema = \"karat/scorecard/1\"\nid = \"case-{id}\"\nversion = \"1.0.0\"\ntitle = \"Case\"\n{kind}{card}"
    )
}

#[test]
fn every_trap_is_told_and_what_is_like_it_is_not() {
    let findings: Value = serde_json::from_str(FINDINGS).unwrap();
    let folder = Folder::new();
    for (id, case) in findings["cases"].as_array().unwrap().iter().enumerate() {
        folder.write("card.toml", &headed(id, case["card"].as_str().unwrap()));
        let run = folder.karat(&["card", "check", "--json", "card.toml"]);
        let is_refused = case["refused"] == true;
        assert_eq!(run.status, if is_refused { 13 } else { 0 }, "{case}: {}", run.stdout);
        let told: Value = serde_json::from_str(&run.stdout).unwrap();
        let is_told = |code: &Value, words: &str| {
            let all = told["diagnostics"].as_array().unwrap().iter();
            all.filter(|it| it["code"] == *code).any(|it| it["message"].as_str().unwrap().contains(words))
        };
        match case["says"].as_str() {
            Some(words) => assert!(is_told(&case["code"], words), "{case}: {}", run.stdout),
            None => assert!(!is_told(&case["without"], ""), "{case}: {}", run.stdout),
        }
        // What cannot be scored by is not usable.
        folder.write("item.jsonl", "{\"subject\": \"a\", \"q\": 1}\n");
        assert_eq!(
            folder.karat(&["score", "-c", "card.toml", "item.jsonl"]).status == 13,
            is_refused,
            "{case}"
        );
    }
}

/// As many indicators as an index has, and as many as a list may have: the mean is over all of them.
#[test]
fn long_lists_are_scored_and_longer_ones_refused() {
    for (count, is_fine) in [(300, true), (1000, true), (4097, false)] {
        let (mut facts, mut dimensions, mut item) = (String::new(), String::new(), String::new());
        for at in 0..count {
            writeln!(facts, "i{at} = {{ unit = \"1\", min = 0, max = 1 }}").unwrap();
            writeln!(dimensions, "[[dimension]]\nkey = \"i{at}\"\nweight = 1\nmissing = \"zero\"").unwrap();
            write!(item, ", \"i{at}\": {}", if at % 4 == 0 { 1 } else { 0 }).unwrap();
        }
        let folder = Folder::new();
        folder.write("card.toml", &headed(0, &format!("[facts]\n{facts}{dimensions}")));
        folder.write("item.jsonl", &format!("{{\"subject\": \"a\"{item}}}\n"));
        let run = folder.karat(&["score", "-c", "card.toml", "item.jsonl"]);
        if is_fine {
            assert_eq!(run.status, 0, "{count}: {}", run.stderr);
            let record: Value = serde_json::from_str(&run.stdout).unwrap();
            assert_eq!(record["score"]["exact"], 0.25, "{count}");
        } else {
            assert!(run.status == 13 && run.stderr.contains("KC006"), "{count}: {}", run.stderr);
        }
    }
}
