//! Questions about more records than are read at once: all of them are answered whole, or say what they cover.

use karat_core::timestamp::Timestamp;
use karat_server::Options;
use karat_server::clock::Clock;
use serde_json::Value;

use crate::common::{Folder, Running};

const CARD: &str = r#"
schema = "karat/scorecard/1"
id = "large"
version = "1.0.0"
title = "Many items"
evidence = "facts"
facts = { solved = { min = 0, max = 1 }, thrift = { min = 0, max = 1 }, kind = { type = "text" } }
dimension = [{ key = "solved", weight = 0.75 }, { key = "thrift", weight = 0.25 }]

[standing]
score = "window"
window = { tasks = 5 }
shares = { cap = 0.1 }
"#;

const SUBJECTS: i64 = 300;
const TASKS: i64 = 70;
/// A moment after all items.
const NOW: i64 = 1_780_000_000;

/// The score of an item in thousandths of its two parts.
fn parts(subject: i64, task: i64) -> (i64, i64) {
    let mixed = (subject * 1009 + task + 1).wrapping_mul(0x5851_f42d_4c95_7f2d) >> 33;
    (mixed.rem_euclid(1001), (mixed / 1001).rem_euclid(1001))
}

fn score((solved, thrift): (i64, i64)) -> f64 {
    (0.75 * solved as f64 + 0.25 * thrift as f64) / 1000.0
}

fn line(subject: i64, task: i64) -> String {
    let (solved, thrift) = parts(subject, task);
    let time = Timestamp::from_seconds(NOW - 1_000_000 + task * 3600 + subject);
    let kind = ["even", "odd"][(task % 2) as usize];
    format!(
        r#"{{"id":"{subject}-{task}","subject":"s{subject:03}","task":"t{task}","time":"{time}","kind":"{kind}","solved":{},"thrift":{}}}"#,
        solved as f64 / 1000.0,
        thrift as f64 / 1000.0
    )
}

fn mean(tasks: impl Iterator<Item = i64>, of: impl Fn(i64) -> f64) -> f64 {
    let values: Vec<f64> = tasks.map(of).collect();
    values.iter().sum::<f64>() / values.len() as f64
}

#[track_caller]
fn near(found: &Value, expected: f64) {
    assert!((found.as_f64().unwrap() - expected).abs() < 3e-9, "{found}, expected {expected}");
}

fn number(row: &Value) -> i64 {
    row["subject"].as_str().unwrap()[1..].parse().unwrap()
}

fn filled() -> (Running, Clock) {
    let clock = Clock::fixed(Timestamp::from_seconds(NOW));
    let server = Running::with_clock("127.0.0.1:0", Folder::new(), Options::default(), None, clock.clone());
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", CARD).is(201);
    for tasks in [0..25, 25..50, 50..TASKS] {
        let lines: Vec<String> =
            tasks.flat_map(|task| (0..SUBJECTS).map(move |subject| line(subject, task))).collect();
        let sent = server.post(
            "/v1/evidence?card=large@1.0.0",
            Some(&server.admin),
            "application/x-ndjson",
            lines.join("\n"),
        );
        sent.is(200);
    }
    (server, clock)
}

#[test]
fn every_question_is_answered_about_all_records() {
    let (server, clock) = filled();
    let board =
        |query: &str| server.get(&format!("/v1/leaderboards?card=large@1.0.0&{query}")).is(200).json();
    let rows = |found: &Value, at: usize| found["leaderboards"][at]["rows"].as_array().unwrap().clone();

    // Official scores: the last five tasks; beside them the means of all.
    let official = board("limit=1000");
    assert_eq!(
        (&official["leaderboards"][0]["by"], &official["items"]["count"]),
        (&"official".into(), &21_000.into())
    );
    let all = rows(&official, 0);
    assert_eq!(all.len(), 300);
    for row in &all {
        let subject = number(row);
        near(&row["official"]["points"], mean(TASKS - 5..TASKS, |task| score(parts(subject, task))));
        near(&row["mean"]["mean"], mean(0..TASKS, |task| score(parts(subject, task))));
    }
    assert!(all.is_sorted_by(|one, two| one["score"]["mean"].as_f64() >= two["score"]["mean"].as_f64()));
    assert_eq!(rows(&board("limit=50&skip=100"), 0), all[100..150]);
    assert_eq!(board("limit=50&skip=100")["next"], 150);

    // Conditions, groups, dimensions.
    let even = (0..TASKS).step_by(2);
    let found = board("where=kind=even&limit=1000");
    assert_eq!(found["items"]["left_out"], 10_500);
    assert!(found["leaderboards"][0]["without_official"].as_str().unwrap().contains("selected"));
    for row in rows(&found, 0) {
        near(&row["score"]["mean"], mean(even.clone(), |task| score(parts(number(&row), task))));
    }
    let found = board("group_by=kind&limit=1000");
    let names: Vec<&Value> =
        found["leaderboards"].as_array().unwrap().iter().map(|board| &board["group"]).collect();
    assert_eq!(names, ["kind = even", "kind = odd"]);
    for row in rows(&found, 1) {
        near(&row["score"]["mean"], mean((1..TASKS).step_by(2), |task| score(parts(number(&row), task))));
    }
    for row in rows(&board("by=thrift&limit=1000"), 0) {
        near(&row["score"]["mean"], mean(0..TASKS, |task| parts(number(&row), task).1 as f64 / 1000.0));
    }
    server.get("/v1/leaderboards?card=large@1.0.0&where=kind=none").is_problem(422, "unanswerable");
    server
        .get("/v1/leaderboards?card=large@1.0.0&by=official&where=kind=even")
        .is_problem(400, "bad-request");

    // Standings, one by one and as a list in parts.
    let one = server.get("/v1/standings/s007?card=large@1.0.0").is(200).json();
    let row = all.iter().find(|row| row["subject"] == "s007").unwrap();
    assert_eq!(one["points"], row["official"]["points"]);
    let (mut after, mut listed) = (String::new(), Vec::new());
    loop {
        let part = server.get(&format!("/v1/standings?card=large@1.0.0&limit=90{after}")).is(200).json();
        listed.extend(part["standings"].as_array().unwrap().clone());
        match part["next"].as_str() {
            Some(next) => after = format!("&after={next}"),
            None => break,
        }
    }
    assert_eq!(listed.len(), 300);
    assert_eq!(listed[7], one);
    let shares: f64 = listed.iter().map(|it| it["share"]["share"].as_f64().unwrap()).sum();
    assert!((shares - 1.0).abs() < 1e-6, "{shares}");

    // What-if ranks all, and says what it shows of them.
    let page = server.get("/scorecards/large@1.0.0/what-if?w.thrift=0.9").is(200).body.clone();
    assert!(page.contains("The first 50 of 300 subjects are shown."), "{page}");
    let best = (0..SUBJECTS)
        .max_by(|one, two| {
            let by_mean = |subject| {
                mean(0..TASKS, |task| {
                    let (solved, thrift) = parts(subject, task);
                    (0.75 * solved as f64 + 0.9 * thrift as f64) / 1.65
                })
            };
            by_mean(*one).total_cmp(&by_mean(*two))
        })
        .unwrap();
    // The table of the shares of the weights has no links.
    let mut firsts = page.split("<tbody").skip(1).map(|table| table.split("</tr>").next().unwrap());
    let first = firsts.find(|row| row.contains("<a ")).unwrap();
    assert!(first.contains(&format!("s{best:03}")), "{best}: {first}");

    // A new item changes its own subject, at once and at every door.
    clock.put(Timestamp::from_seconds(NOW + 61));
    let item = r#"{"id":"new","subject":"s007","task":"t99","solved":1,"thrift":1,"kind":"odd"}"#;
    server.send("card=large@1.0.0", item).is(201);
    let after = rows(&board("limit=1000"), 0);
    for row in &after {
        let before = all.iter().find(|it| it["subject"] == row["subject"]).unwrap();
        assert_eq!(before["official"] != row["official"], row["subject"] == "s007", "{row}");
    }
    let row = after.iter().find(|row| row["subject"] == "s007").unwrap();
    near(
        &row["official"]["points"],
        (4.0 * mean(TASKS - 4..TASKS, |task| score(parts(7, task))) + 1.0) / 5.0,
    );
    let one = server.get("/v1/standings/s007?card=large@1.0.0").is(200).json();
    assert_eq!(one["points"], row["official"]["points"]);
    // The past is unchanged.
    let moment = Timestamp::from_seconds(NOW);
    assert_eq!(rows(&board(&format!("limit=1000&as_of={moment}&known_at={moment}")), 0), all);
}
