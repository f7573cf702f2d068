//! Numbers worked out by hand, over HTTP: who an item is, how old its evidence is, what is certain about few results.

use karat_core::timestamp::Timestamp;
use karat_server::Options;
use karat_server::clock::Clock;
use serde_json::{Value, json};

use crate::common::{Folder, Running};

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
const WORKED: &str = include_str!("../../../../examples/workflow/worked-example.json");
const DOCUMENTED: &str = include_str!("../../../../examples/arena/documented-823.json");
const COVERAGE: &str = include_str!("../../../../examples/trust/coverage.jsonl");
const LINES: &str = "application/x-ndjson";

/// Returns a server with a card; it is long after every item of these tests.
pub fn with_card(card: &str) -> Running {
    let clock = Clock::fixed(Timestamp::parse("2027-01-01T00:00:00Z").unwrap());
    let server = Running::with_clock("127.0.0.1:0", Folder::new(), Options::default(), None, clock);
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", card).is(201);
    server
}

/// Sends lines, none of which is refused.
pub fn fill(server: &Running, card: &str, lines: &str) {
    let sent = server.post(&format!("/v1/evidence?card={card}"), Some(&server.admin), LINES, lines);
    assert_eq!(sent.is(200).at("/refused"), 0, "{}", sent.body);
}

/// Returns lines of `subject task solved` as items, each with its own id.
pub fn items(rows: &str) -> String {
    let rows = rows.lines().map(|row| row.split_whitespace().collect::<Vec<_>>()).enumerate();
    let line = |(at, row): (usize, Vec<&str>)| {
        let solved: f64 = row[2].parse().unwrap();
        json!({"id": format!("{at}"), "subject": row[0], "task": row[1], "solved": solved}).to_string() + "\n"
    };
    rows.map(line).collect()
}

pub fn row(found: &Value, subject: &str) -> Value {
    let mut rows = found["leaderboards"][0]["rows"].as_array().unwrap().iter();
    rows.find(|it| it["subject"] == subject).cloned().unwrap_or_else(|| panic!("{subject}: {found}"))
}

#[track_caller]
pub fn near(found: &Value, expected: f64) {
    assert!(found.as_f64().is_some_and(|it| (it - expected).abs() < 4e-9), "{found}, expected {expected}");
}

/// A request may be sent again, and an item may be like another: the name of the request tells the two apart.
#[test]
fn equal_lines_of_every_kind_are_as_many_items_as_there_are() {
    let without = |text: &str, member: &str| {
        let mut item: Value = serde_json::from_str(text).unwrap();
        item.as_object_mut().unwrap().remove(member).unwrap();
        item.to_string()
    };
    let server = with_card(SOLVED);
    for (card, item) in [
        ("solved@1.0.0", r#"{"subject":"a","solved":1}"#.to_owned()),
        ("workflow@1.0.0", without(WORKED, "run_id")),
        ("log-forensics@1.0.0", without(DOCUMENTED, "match_id")),
        ("trust@1.0.0", COVERAGE.lines().nth(1).unwrap().to_owned()),
    ] {
        let path = format!("/v1/evidence?card={card}");
        let post =
            |name: Option<&str>, body: &str| server.post_keyed(&path, &server.admin, LINES, name, body);
        let counts = |name: Option<&str>, body: &str| {
            let sent = post(name, body);
            ["/accepted", "/repeated", "/refused"].map(|count| sent.is(200).at(count).as_u64().unwrap())
        };
        let three = format!("{item}\n{item}\n\n{item}\n");
        let count = || server.get(&format!("/v1/leaderboards?card={card}")).is(200).at("/items/count");
        assert_eq!(counts(None, &three), [0, 0, 3], "{card}");
        assert_eq!(counts(Some("night"), &three), [3, 0, 0], "{card}");
        assert_eq!(counts(Some("\"night\""), &three), [0, 3, 0], "{card}");
        assert_eq!(count(), 3, "{card}");
        // A longer batch under the same name adds its last line; one under another name is another batch.
        assert_eq!(counts(Some("night"), &format!("{three}{item}")), [1, 3, 0], "{card}");
        assert_eq!(counts(Some("Night"), &item), [1, 0, 0], "{card}");
        assert_eq!(count(), 5, "{card}");
    }
}

#[test]
fn a_name_of_a_request_is_never_taken_for_another_item() {
    let server = with_card(SOLVED);
    let line = |solved: u32| format!(r#"{{"subject":"a","solved":{solved}}}"#);
    let path = "/v1/evidence?card=solved@1.0.0";
    let post =
        |name: &str, body: &str| server.post_keyed(path, &server.admin, LINES, Some(name), body).json();
    let statuses = |answer: &Value| -> Vec<u64> {
        answer["items"].as_array().unwrap().iter().map(|it| it["status"].as_u64().unwrap()).collect()
    };
    // Its own id is the name that line 2 of the batch would get.
    server.send("card=solved@1.0.0", r#"{"id":"night:2","subject":"a","solved":1}"#).is(201);
    let batch = format!("{}\n{}\n{}\n", line(1), line(1), line(1));
    assert_eq!(statuses(&post("night", &batch)), [201, 409, 201]);
    // The same name with the lines in another order is another content, where they differ.
    assert_eq!(statuses(&post("day", &format!("{}\n{}\n", line(1), line(0)))), [201, 201]);
    assert_eq!(statuses(&post("day", &format!("{}\n{}\n", line(0), line(1)))), [409, 409]);
    // Only the lines without an id need a name.
    let mixed = format!("{}\n{}\n", r#"{"id":"own","subject":"a","solved":1}"#, line(1));
    let sent = server.post(path, Some(&server.admin), LINES, &mixed).json();
    assert_eq!(statuses(&sent), [201, 422]);
    assert_eq!(server.get("/v1/leaderboards?card=solved@1.0.0").at("/items/count"), 6);
}

/// A point of a thousand a week, after a week of grace: the loss is (days - 7) / 7000.
#[test]
fn a_record_takes_from_each_dimension_what_its_own_age_takes() {
    let server = with_card(SOLVED);
    let year = "as_of=2026-01-01T00:00:00Z";
    for (name, (rest, moment, accuracy, told)) in [
        // 365 days: 358 / 7000.
        (r#""time":"2025-01-01T00:00:00Z","dimensions":{"accuracy":0.9}"#, year, 0.848_857_143, ""),
        (r#""time":"2025-12-25T00:00:00Z","dimensions":{"accuracy":0.9}"#, year, 0.9, ""),
        (r#""time":"2025-12-18T02:00:00+02:00","dimensions":{"accuracy":0.9}"#, year, 0.899, ""),
        // 7 days at the time of the item and 31 since: 31 / 7000.
        (
            r#""time":"2025-12-01T00:00:00Z","dimensions":{"accuracy":{"score":0.9,"age_seconds":604800}}"#,
            year,
            0.895_571_429,
            "",
        ),
        (r#""dimensions":{"accuracy":{"score":0.9,"age_seconds":1209600}}"#, "", 0.899, ""),
        (r#""dimensions":{"accuracy":0.9}"#, year, 0.9, "not decayed: no age given"),
        (
            r#""time":"2020-01-01T00:00:00Z","dimensions":{"accuracy":0.9}"#,
            "",
            0.9,
            "not decayed: no age given",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let sent = server.send(
            &format!("card=trust@1.0.0&{moment}"),
            &format!(r#"{{"agent_id":"a","id":"{name}",{rest}}}"#),
        );
        let record = sent.is(201).at("/content");
        assert_eq!(record["dimensions"][0]["reading"].as_f64(), Some(accuracy), "{rest}");
        let warnings = record["warnings"].as_array().unwrap().iter();
        let said: Vec<&str> = warnings
            .filter(|it| it["code"] == "not-decayed")
            .map(|it| it["message"].as_str().unwrap())
            .collect();
        assert_eq!(said.concat(), told, "{rest}");
    }
}

/// A value of the first day of 2025 is a year old on the first of 2026, whatever was sent since.
#[test]
fn a_new_item_makes_nothing_younger_that_it_does_not_measure() {
    let server = with_card(SOLVED);
    for (subject, more, accuracy) in [
        ("nothing", None, 0.848_857_143),
        ("teamwork", Some(r#""dimensions":{"teamwork":1}"#), 0.848_857_143),
        ("null", Some(r#""dimensions":{"accuracy":null,"teamwork":1}"#), 0.848_857_143),
        ("apart", Some(r#""dimensions":{"bond":"not-applicable"}"#), 0.848_857_143),
        (
            "restated",
            Some(r#""dimensions":{"accuracy":{"score":0.9,"age_seconds":31536000}}"#),
            0.848_857_143,
        ),
        ("measured", Some(r#""dimensions":{"accuracy":0.9}"#), 0.9),
    ] {
        let send = |id: u32, time: &str, rest: &str| {
            let item = format!(r#"{{"agent_id":"{subject}","id":"{id}","time":"{time}",{rest}}}"#);
            server.send("card=trust@1.0.0", &item).is(201);
        };
        send(1, "2025-01-01T00:00:00Z", r#""dimensions":{"accuracy":0.9,"security":0.9}"#);
        if let Some(more) = more {
            send(2, "2026-01-01T00:00:00Z", more);
        }
        let found =
            server.get(&format!("/v1/standings/{subject}?card=trust@1.0.0&as_of=2026-01-01T00:00:00Z"));
        let found = found.is(200).json();
        let of = found["dimensions"].as_array().unwrap().iter().find(|it| it["key"] == "accuracy").unwrap();
        assert_eq!((&of["measured"], of["value"].as_f64()), (&json!(0.9), Some(accuracy)), "{subject}");
    }
}

#[test]
fn a_leaderboard_counts_the_age_of_evidence() {
    let server = with_card(SOLVED);
    let lines = concat!(
        r#"{"agent_id":"old","id":"1","time":"2024-01-01T00:00:00Z","dimensions":{"accuracy":0.90,"security":0.90}}"#,
        "\n",
        r#"{"agent_id":"new","id":"2","time":"2025-12-31T00:00:00Z","dimensions":{"accuracy":0.85,"security":0.85}}"#
    );
    fill(&server, "trust@1.0.0", lines);
    // 731 days: 724 / 7000. 1096 and 366: 1089 and 359 of 7000, also by the clock of the server.
    for (query, old, new) in [
        ("&as_of=2026-01-01T00:00:00Z", 797.0, 850.0),
        ("&as_of=2027-01-01T00:00:00Z", 744.0, 799.0),
        ("", 744.0, 799.0),
    ] {
        let found = server.get(&format!("/v1/leaderboards?card=trust@1.0.0{query}")).is(200).json();
        assert_eq!(found["leaderboards"][0]["rows"][0]["subject"], "new", "{query}");
        near(&row(&found, "old")["score"]["mean"], old);
        near(&row(&found, "new")["score"]["mean"], new);
    }
}

/// An item without a time counts from its arrival on, and stops nothing.
#[test]
fn an_item_without_a_time_has_that_of_its_arrival() {
    let server =
        with_card(&format!("{SOLVED}[standing]\nscore = \"latest\"\ndecay = {{ grace_days = 0 }}\n"));
    let card = "solved@1.0.0";
    fill(&server, card, r#"{"id":"1","subject":"timely","time":"2026-12-25T00:00:00Z","solved":0.5}"#);
    fill(&server, card, r#"{"id":"2","subject":"timeless","solved":0.9}"#);
    fill(&server, card, r#"{"id":"3","subject":"both","time":"2026-12-25T00:00:00Z","solved":0.5}"#);
    fill(&server, card, r#"{"id":"4","subject":"both","solved":0.7}"#);
    // It is the first of 2027: what arrived just now is the newest, and has lost nothing; 7 days took 0.001.
    for (subject, points) in [("timely", 0.499), ("timeless", 0.9), ("both", 0.7)] {
        let found = server.get(&format!("/v1/standings/{subject}?card={card}"));
        near(&found.is(200).at("/points"), points);
    }
    let all = server.get(&format!("/v1/standings?card={card}")).is(200).at("/standings");
    assert_eq!(all.as_array().unwrap().len(), 3);
    let board = server.get(&format!("/v1/leaderboards?card={card}")).is(200).json();
    assert_eq!(board["leaderboards"][0]["by"], "official");
    near(&row(&board, "timely")["score"]["mean"], 0.499);
    // A week before, what had not arrived was not there.
    let before = server.get(&format!("/v1/standings/both?card={card}&as_of=2026-12-25T00:00:00Z"));
    near(&before.is(200).at("/points"), 0.5);
    // A correction may lack the time that the first one had.
    server.send(&format!("card={card}&replaces=1"), r#"{"id":"5","subject":"timely","solved":0.6}"#).is(201);
    near(&server.get(&format!("/v1/standings/timely?card={card}")).is(200).at("/points"), 0.6);
}

#[test]
fn every_question_reads_the_same_timestamps() {
    let server = with_card(SOLVED);
    fill(&server, "solved@1.0.0", r#"{"id":"1","subject":"a","time":"2026-12-31T23:59:59Z","solved":1}"#);
    for question in [
        "/v1/records?since=",
        "/v1/records?until=",
        "/v1/records?known_at=",
        "/v1/leaderboards?card=solved@1.0.0&since=",
    ] {
        for (moment, status) in [
            ("2026-12-31T23:59:59Z", 200),
            ("2026-12-31T23:59:59.999Z", 200),
            ("2027-01-01T01:59:59%2B02:00", 200),
            ("2026-12-31T23:59:60Z", 400),
            ("2026-12-31T23:59:60.5Z", 400),
            ("2027-01-01T05:29:60%2B05:30", 400),
            ("2026-12-31T24:00:00Z", 400),
            ("2026-12-31 23:59:59Z", 400),
            ("2026-12-31T23:59:59", 400),
            ("2026-12-31", 400),
        ] {
            let moment = moment.replace(' ', "%20");
            let found = server.get(&format!("{question}{moment}")).status;
            // A question without an answer was understood.
            assert_eq!(if found == 422 { 200 } else { found }, status, "{question}{moment}");
        }
    }
    let count = |query: &str| {
        server.get(&format!("/v1/records?{query}")).is(200).at("/records").as_array().unwrap().len()
    };
    assert_eq!((count("since=2026-12-31T23:59:59Z"), count("since=2026-12-31T23:59:59.001Z")), (1, 0));
    assert_eq!((count("until=2026-12-31T23:59:59Z"), count("until=2027-01-01T01:59:59.001%2B02:00")), (0, 1));
}
