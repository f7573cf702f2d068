//! Numbers worked out by hand, on the command line: who an item is, how old its evidence is, what is certain about few results.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use serde_json::{Value, json};

use crate::common::{Folder, example, finish, program};
use crate::leaderboard::{near, parsed, rows_of, standing};

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

fn ids(records: &[Value]) -> Vec<&str> {
    records.iter().map(|it| it["evidence"]["id"].as_str().unwrap()).collect()
}

#[test]
fn every_item_of_a_file_counts_wherever_its_lines_break() {
    let (one, zero) = (r#"{"subject":"a","solved":1}"#, r#"{"subject":"a","solved":0}"#);
    for (name, text, names) in [
        ("a.json", format!("[{one},{one},{one},{zero}]"), ["1", "1#2", "1#3", "1#4"]),
        ("a.json", format!("[{one}, {one},\n\n{one}, {zero}]"), ["1", "1#2", "3", "3#2"]),
        ("a.json", format!("[\n{one},\n{one},\n{one},\n{zero}\n]\n"), ["2", "3", "4", "5"]),
        ("a.jsonl", format!("{one}\n{one}\n\r\n{one}\n{zero}"), ["1", "2", "4", "5"]),
        ("a.csv", "subject,solved\r\na,1\r\na,1\r\na,1\r\na,0\r\n".to_owned(), ["2", "3", "4", "5"]),
        (
            "a.csv",
            "note,subject,solved\n\"x\ny\",a,1\n\"x\ny\",a,1\n,a,1\n,a,0\n".to_owned(),
            ["2", "4", "6", "7"],
        ),
    ] {
        let folder = folder(name, &text);
        let names = names.map(|line| format!("{name}:{line}"));
        let read = format!("-c solved.toml {name}");
        assert_eq!(ids(&lines(&folder, &format!("score --json {read}"))), names, "{text}");
        let found = asked(&folder, &format!("leaderboard --json {read}"));
        assert_eq!((&found["items"]["count"], &found["items"]["repeated"]), (&4.into(), &0.into()), "{text}");
        near(&standing(&found, "a")["score"]["mean"], 0.75);
        let last = asked(&folder, &format!("explain --json -i {} {read}", names[3]));
        assert_eq!(last["record"]["score"]["exact"], 0, "{text}");
        // From a pipe, the same items with another name.
        let piped = finish(program(folder.path()).args(["score", "-c", "solved.toml"]), &text);
        let piped: Vec<Value> =
            piped.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(ids(&piped), names.map(|it| it.replace(name, "-")), "{text}");
    }
}

#[test]
fn items_of_every_kind_count_without_an_id() {
    let without = |text: String, member: &str| {
        let mut item: Value = serde_json::from_str(&text).unwrap();
        assert!(item.as_object_mut().unwrap().remove(member).is_some(), "{member}");
        item.to_string()
    };
    for (card, item) in [
        ("workflow", without(example("workflow/worked-example.json"), "run_id")),
        ("log-forensics", without(example("arena/documented-823.json"), "match_id")),
        ("trust@1.0.0", example("trust/coverage.jsonl").lines().nth(1).unwrap().to_owned()),
        ("trust@1.1.0", without(example("trust/agent.json"), "id")),
    ] {
        let folder = folder("items.json", &format!("[{item},{item},{item}]"));
        let run = folder.karat(&["leaderboard", "--json", "--by", "mean", "-c", card, "items.json"]);
        assert_eq!(run.status, 0, "{card}: {}", run.stderr);
        let found: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!((&found["items"]["count"], &found["items"]["repeated"]), (&3.into(), &0.into()), "{card}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_is_itself_under_every_name() {
    let folder = folder("a.csv", "subject,solved\na,1\na,0\n");
    std::os::unix::fs::symlink("a.csv", folder.path().join("linked.csv")).unwrap();
    std::fs::hard_link(folder.path().join("a.csv"), folder.path().join("second.csv")).unwrap();
    for files in [
        ["a.csv", "linked.csv"],
        ["linked.csv", "a.csv"],
        ["a.csv", "second.csv"],
        ["-", "a.csv"],
        ["a.csv", "-"],
    ] {
        let input = std::fs::File::open(folder.path().join("a.csv")).unwrap();
        let mut command = program(folder.path());
        command.args(["leaderboard", "--json", "-c", "solved.toml"]).args(files).stdin(input);
        let run = command.output().unwrap();
        let told = String::from_utf8(run.stderr).unwrap();
        assert!(told.contains("is given twice"), "{files:?}: {told}");
        assert!(run.stdout.is_empty(), "{files:?}");
    }
    // A copy is another file: what happened twice may be written twice.
    std::fs::copy(folder.path().join("a.csv"), folder.path().join("copy.csv")).unwrap();
    assert_eq!(asked(&folder, "leaderboard -c solved.toml a.csv copy.csv")["items"]["count"], 4);
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
    assert!(
        taken.status == 1 && taken.stderr.contains("two items `a.csv:3` that differ"),
        "{}",
        taken.stderr
    );
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
            &record["dimensions"][0]["reading"],
            &record["dimensions"][1]["reading"],
            &record["score"]["exact"],
        ];
        assert_eq!(values.map(|it| it.as_f64().unwrap()), [x, y, score], "{rule}");
    }
}

/// A value of the first day of 2025 is a year old on the first of 2026, whatever was sent since.
#[test]
fn a_new_item_makes_nothing_younger_that_it_does_not_measure() {
    let first = r#"{"agent_id":"a","id":"1","time":"2025-01-01T00:00:00Z","dimensions":{"accuracy":0.9,"security":0.9}}"#;
    let fresh = |more: &str| format!(r#"{{"agent_id":"a","id":"2","time":"2026-01-01T00:00:00Z",{more}}}"#);
    // 358 / 7000.
    let old = 0.848_857_143;
    for (second, accuracy) in [
        (String::new(), old),
        (first.to_owned(), old),
        (fresh(r#""dimensions":{"teamwork":1}"#), old),
        (fresh(r#""dimensions":{"accuracy":null,"teamwork":1}"#), old),
        (fresh(r#""dimensions":{"teamwork":"not-applicable"}"#), old),
        (fresh(r#""dimensions":{"security":0.9,"bond":1,"latency":1}"#), old),
        (fresh(r#""dimensions":{"accuracy":{"score":0.9,"age_seconds":31536000}}"#), old),
        (fresh(r#""dimensions":{},"critical_incident_open":false"#), old),
        // Only a new measurement does.
        (fresh(r#""dimensions":{"accuracy":0.9}"#), 0.9),
    ] {
        let folder = folder("items.jsonl", &format!("{first}\n{second}\n"));
        let found = asked(&folder, "standing --json -c trust@1.0.0 --as-of 2026-01-01T00:00:00Z items.jsonl");
        let of = found["dimensions"].as_array().unwrap().iter().find(|it| it["key"] == "accuracy").unwrap();
        assert_eq!((&of["measured"], of["value"].as_f64()), (&0.9.into(), Some(accuracy)), "{second}");
    }
}

/// A trivial collaboration among the evidence of an agent changes teamwork alone.
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

#[test]
fn a_group_keeps_its_mean_and_its_gaps_under_stress() {
    let head = "schema = \"karat/scorecard/1\"\nid = \"tree\"\nversion = \"1.0.0\"\ntitle = \"t\"\nevidence = \"facts\"\n[facts]\n";
    let facts = "x = { min = 0, max = 1 }\ny = { min = 0, max = 1 }\nz = { min = 0, max = 1 }\n";
    let member = |key: &str, group: &str| format!("[[dimension]]\nkey = \"{key}\"\nweight = 1\n{group}");
    let one = format!(
        "{head}{facts}{}{}{}[[group]]\nkey = \"g\"\nmean = \"MEAN\"\nweight = 1\n",
        member("x", ""),
        member("y", "group = \"g\"\n"),
        member("z", "group = \"g\"\n")
    );
    let above =
        "[[group]]\nkey = \"h\"\nmean = \"minimum\"\nweight = 1\n[[group]]\nkey = \"g\"\ngroup = \"h\"\n";
    let two = one
        .replacen("weight = 1\n[[dim", "weight = 1\ngroup = \"h\"\n[[dim", 1)
        .replace("[[group]]\nkey = \"g\"\n", above);
    let items = concat!(
        r#"{"subject":"a","id":"1","x":0.4,"y":0.9}"#,
        "\n",
        r#"{"subject":"b","id":"2","x":0.6,"y":0.64,"z":0.36}"#,
        "\n",
        r#"{"subject":"c","id":"3","x":0.2}"#
    );
    for (card, mean, a, b) in [
        // Of b: sqrt(0.64 * 0.36) = 0.48; 2 / (1 / 0.64 + 1 / 0.36) = 0.4608; beside x = 0.6. Of a only y is there.
        (&one, "geometric", 0.65, 0.54),
        (&one, "harmonic", 0.65, 0.5304),
        (&one, "minimum", 0.65, 0.48),
        (&one, "weighted-mean", 0.65, 0.55),
        // The least of x and the group.
        (&two, "geometric", 0.4, 0.48),
        (&two, "harmonic", 0.4, 0.4608),
    ] {
        let folder = folder("tree.toml", &card.replace("MEAN", mean));
        folder.write("items.jsonl", items);
        let alone = asked(&folder, "stress tree.toml items.jsonl --resamples 100");
        let beside = asked(&folder, "leaderboard -c tree.toml items.jsonl --resamples 100 --robustness");
        for robustness in [&alone["robustness"], &beside["leaderboards"][0]["robustness"]] {
            let all = robustness["weights_around"]["subjects"].as_array().unwrap();
            let of = |subject: &str| &all.iter().find(|it| it["subject"] == subject).unwrap()["composite"];
            near(of("a"), a);
            near(of("b"), b);
            near(of("c"), 0.2);
        }
    }
}
