//! Numbers worked out by hand, on the command line: who an item is, how old its evidence is, what is certain about few results.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use serde_json::{Value, json};

use crate::common::{Folder, example};
use crate::leaderboard::{parsed, rows_of};

/// The share of tasks solved, and nothing else.
pub const SOLVED: &str = r#"
schema = "karat/scorecard/1"
id = "solved"
version = "1.0.0"
title = "Share of tasks solved"
evidence = "facts"
[facts]
solved = { min = 0, max = 1 }
[[dimension]]
key = "solved"
weight = 1
formula = "solved"
"#;

/// Returns a folder with the card and a file of items.
pub fn folder(name: &str, text: &str) -> Folder {
    let folder = Folder::new();
    folder.write("solved.toml", SOLVED);
    folder.write("window.toml", &format!("{SOLVED}[standing]\nscore = \"window\"\n"));
    folder.write(name, text);
    folder
}

/// Runs words in a folder, and returns the JSON.
pub fn asked(folder: &Folder, words: &str) -> Value {
    parsed(&folder.karat(&words.split_whitespace().collect::<Vec<_>>()))
}

/// Runs words in a folder, and returns the JSON of every line.
pub fn lines(folder: &Folder, words: &str) -> Vec<Value> {
    let run = folder.karat(&words.split_whitespace().collect::<Vec<_>>());
    assert_eq!(run.status, 0, "{words}: {}", run.stderr);
    run.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn ids_are_compared_as_they_are_written() {
    let count = |rows: &str| {
        let folder = folder("a.csv", &format!("id,subject,solved\n{rows}"));
        folder.karat(&["leaderboard", "--json", "-c", "solved.toml", "a.csv"])
    };
    for (rows, items, repeated) in [
        ("1,a,1\n01,a,1\n1.0,a,0\n", 3, 0),
        ("r,a,1\nR,a,1\n", 2, 0),
        ("1,a,1\n1,b,1\n", 2, 0),
        ("1,a,1\n1,a,1\n,a,1\n,a,1\n", 3, 1),
    ] {
        let found = parsed(&count(rows));
        assert_eq!(
            (&found["items"]["count"], &found["items"]["repeated"]),
            (&items.into(), &repeated.into()),
            "{rows}"
        );
    }
    // The place of a row is a name as well: a row that takes it is refused.
    let taken = count("a.csv:3,a,1\n,a,1\n");
    taken.ends(1, "two items `a.csv:3` that differ");
}

const AGES: &str = r#"
schema = "karat/scorecard/1"
id = "ages"
version = "1.0.0"
title = "Two values, each with an age"
evidence = "facts"
facts = { x = { min = 0, max = 1 }, y = { min = 0, max = 1 }, x_age = { unit = "s", min = 0 }, y_age = { unit = "s", min = 0 } }
dimension = [{ key = "x", weight = 1, age = "x_age" }, { key = "y", weight = 1, age = "y_age" }]
[standing]
score = "latest"
decay = { grace_days = 0, period_days = 1, points_per_period = 100, point = 0.001, PERIODS }
"#;

/// A point of a thousand a week, after a week of grace: the loss is (days - 7) / 7000.
#[test]
fn a_record_takes_from_each_dimension_what_its_own_age_takes() {
    let year = "2026-01-01T00:00:00Z";
    let trust = |item: Value, as_of: &str| {
        let folder = folder("item.json", &item.to_string());
        let moment = if as_of.is_empty() { String::new() } else { format!("--as-of {as_of}") };
        lines(&folder, &format!("score -c trust@1.0.0 {moment} item.json")).remove(0)
    };
    let at = |time: &str, dimensions: Value| json!({"agent_id": "a", "id": "1", "time": time, "dimensions": dimensions});
    for (item, as_of, accuracy, safety, told) in [
        // 365 days: 358 / 7000.
        (at("2025-01-01T00:00:00Z", json!({"accuracy": 0.9})), year, 0.848_857_143, None, ""),
        // The week of grace, and a second more: 1 / 604,800,000.
        (at("2025-12-25T00:00:00Z", json!({"accuracy": 0.9})), year, 0.9, None, ""),
        (at("2025-12-24T23:59:59Z", json!({"accuracy": 0.9})), year, 0.899_999_998, None, ""),
        // 7 days at the time of the item and 31 since then: 31 / 7000; beside it 24 / 7000.
        (
            at(
                "2025-12-01T00:00:00Z",
                json!({"accuracy": {"score": 0.9, "age_seconds": 604_800}, "safety": 0.9}),
            ),
            year,
            0.895_571_429,
            Some(0.896_571_429),
            "",
        ),
        // The offset is part of the moment: 14 days, and not 14 days less two hours.
        (at("2025-12-18T02:00:00+02:00", json!({"accuracy": 0.9})), year, 0.899, None, ""),
        // Nothing is taken below 0.
        (at("0001-01-01T00:00:00Z", json!({"accuracy": 0.05})), year, 0.0, None, ""),
        // Without a moment only what the item says is known, without either nothing.
        (
            json!({"agent_id": "a", "id": "1", "dimensions": {"accuracy": {"score": 0.9, "age_seconds": 1_209_600}, "safety": 0.9}}),
            "",
            0.899,
            Some(0.9),
            "1 of 2 measured dimensions not decayed: no age given",
        ),
        (at("2020-01-01T00:00:00Z", json!({"accuracy": 0.9})), "", 0.9, None, "not decayed: no age given"),
        (
            json!({"agent_id": "a", "id": "1", "dimensions": {"accuracy": 0.9}}),
            year,
            0.9,
            None,
            "not decayed: no age given",
        ),
    ] {
        let record = trust(item.clone(), as_of);
        let value = |key: &str| {
            let of = record["dimensions"].as_array().unwrap().iter().find(|it| it["key"] == key).unwrap();
            of["reading"].as_f64()
        };
        assert_eq!((value("accuracy"), value("safety")), (Some(accuracy), safety), "{item}");
        let warnings = record["warnings"].as_array().unwrap().iter();
        let said: Vec<&str> = warnings
            .filter(|it| it["code"] == "not-decayed")
            .map(|it| it["message"].as_str().unwrap())
            .collect();
        assert_eq!(said.concat(), told, "{item}");
    }
    // Other rules: a tenth a day, by whole days, by parts of them, and of the mean by its newest evidence.
    let item = r#"{"subject":"a","id":"1","x":0.8,"x_age":129600,"y":0.4,"y_age":43200}"#;
    for (rule, x, y, score) in [
        ("periods = \"whole\"", 0.7, 0.4, 0.55),
        ("periods = \"exact\"", 0.65, 0.35, 0.5),
        ("periods = \"exact\", scope = \"composite\"", 0.8, 0.4, 0.55),
        ("periods = \"whole\", scope = \"composite\"", 0.8, 0.4, 0.6),
    ] {
        let folder = folder("ages.toml", &AGES.replace("PERIODS", rule));
        folder.write("item.json", item);
        let record = lines(&folder, "score -c ages.toml item.json").remove(0);
        let values = [
            &record["dimensions"][0]["reading"], &record["dimensions"][1]["reading"],
            &record["score"]["exact"],
        ];
        assert_eq!(values.map(|it| it.as_f64().unwrap()), [x, y, score], "{rule}");
    }
}

#[test]
fn one_new_entry_makes_no_other_dimension_of_an_agent_younger() {
    let agent: Value = serde_json::from_str(&example("trust/agent.json")).unwrap();
    let readings = |agent: &Value| -> Vec<(String, Value)> {
        let folder = folder("agent.json", &agent.to_string());
        let record = lines(&folder, "score -c trust@1.1.0 --as-of 2027-06-01T00:00:00Z agent.json").remove(0);
        let all = record["dimensions"].as_array().unwrap().iter();
        all.filter(|it| it["key"] != "teamwork")
            .map(|it| (it["key"].to_string(), it["reading"].clone()))
            .collect()
    };
    let before = readings(&agent);
    assert!(before.iter().filter(|(_, reading)| reading.is_number()).count() > 8, "{before:?}");
    let mut added = agent.clone();
    let trivial = json!({"id": "late", "time": "2027-05-31T00:00:00Z", "counterparty": "c", "handoffs": 1,
        "handoffs_accepted": 1, "commitments": 1, "commitments_on_time": 1, "peer_rating": 1});
    added["collaborations"] = json!([trivial]);
    assert_eq!(readings(&added), before);
    let mut dealt = agent;
    let deal = json!({"id": "late", "time": "2027-05-31T00:00:00Z", "value_usd": 1});
    dealt["bond"]["deals"].as_array_mut().unwrap().push(deal);
    let others = |all: Vec<(String, Value)>| {
        all.into_iter().filter(|(key, _)| !key.contains("bond")).collect::<Vec<_>>()
    };
    assert_eq!(others(readings(&dealt)), others(before));
}

#[test]
fn a_leaderboard_counts_the_age_of_evidence() {
    let items = concat!(
        r#"{"agent_id":"old","id":"1","time":"2024-01-01T00:00:00Z","dimensions":{"accuracy":0.90,"security":0.90}}"#,
        "\n",
        r#"{"agent_id":"new","id":"2","time":"2025-12-31T00:00:00Z","dimensions":{"accuracy":0.85,"security":0.85}}"#
    );
    let folder = folder("items.jsonl", items);
    folder.write("records.jsonl", &folder.karat(&["score", "-c", "trust@1.0.0", "items.jsonl"]).stdout);
    // 730 days at the time of the newest item, 731 a day later: 723 and 724 of 7000, published as whole points.
    for (words, old, new) in [
        ("items.jsonl", 797.0, 850.0),
        ("records.jsonl", 797.0, 850.0),
        ("--as-of 2026-01-01T00:00:00Z items.jsonl", 797.0, 850.0),
        ("--by mean --as-of 2026-01-01T00:00:00Z items.jsonl", 796.571_429, 850.0),
        ("--by accuracy --as-of 2026-01-01T00:00:00Z items.jsonl", 0.796_571_429, 0.85),
        // 1096 and 366 days: 1089 and 359 of 7000.
        ("--as-of 2027-01-01T00:00:00Z items.jsonl", 744.0, 799.0),
    ] {
        let found = asked(&folder, &format!("leaderboard --json -c trust@1.0.0 {words}"));
        let rows = rows_of(&found["leaderboards"][0]).iter();
        let rows: Vec<(&str, f64)> =
            rows.map(|it| (it["subject"].as_str().unwrap(), it["score"]["mean"].as_f64().unwrap())).collect();
        assert_eq!(rows, [("new", new), ("old", old)], "{words}");
    }
}
