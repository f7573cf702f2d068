//! The server gives the answers of the library, whose numbers the tests of the command line work out by hand.

use std::sync::Arc;

use karat::Engine;
use karat::answers::LeaderboardMethod;
use karat::answers::basis::Basis;
use karat::answers::leaderboard::LeaderboardAnswer;
use karat::answers::leaderboard::method::{Page, answer, rank, rank_by_official};
use karat::answers::leaderboard::officials::Officials;
use karat::card::CompiledCard;
use karat::engine::{Options, Scored};
use karat::error::Place;
use karat::leaderboard::Settings;
use karat::rows::{Loader, Selection};
use karat::standing::events::Events;
use karat_core::timestamp::Timestamp;
use karat_standing::stand::Interval;
use serde_json::{Value, json};

use crate::common::Running;
use crate::requests::{SOLVED, with_card};

const CLAIMS: &str = include_str!("../../../reader/tests/claims.json");
const MOMENT: &str = "2027-01-01T00:00:00Z";
const METHODS: [LeaderboardMethod; 3] =
    [LeaderboardMethod::Bootstrap, LeaderboardMethod::Student, LeaderboardMethod::Census];

/// Returns the leaderboard as the library gives it, by official scores if the card has them.
fn of_library(card: &str, items: &str, method: LeaderboardMethod) -> LeaderboardAnswer {
    let card = Arc::new(CompiledCard::parse(card).unwrap());
    let mut engine = Engine::new(Arc::clone(&card), Options::default()).unwrap();
    let mut loader = Loader::new(Selection::default()).unwrap();
    let scorer = loader.scorer(&card);
    for (line, item) in items.lines().enumerate() {
        let place =
            Place { file: String::from("items.jsonl"), line: Some(line as u64 + 1), nth: 1, is_row: false };
        let bytes = item.as_bytes();
        let add = |scored: &Scored<'_>| loader.add_from(&place, scorer, &scored.record, bytes);
        engine.visit_at(&place, bytes, add).unwrap();
    }
    let rows = loader.finish().unwrap();
    let settings = Settings::usual(&rows);
    let all: Vec<usize> = (0..rows.rows.len()).collect();
    let ranked = if card.standing.is_some() {
        let interval = Interval { plan: settings.plan, level: settings.level };
        let interval = (method == LeaderboardMethod::Bootstrap).then_some(interval);
        let moment = Timestamp::parse(MOMENT).unwrap();
        let officials = Officials::new(&rows, &card, &Events::default(), moment, interval).unwrap();
        rank_by_official(&rows, &all, method, &settings, Page::ALL, &officials)
    } else {
        rank(&rows, &all, None, method, &settings, Page::ALL)
    };
    answer(Basis::new(&rows, &settings), method, None, vec![ranked.unwrap().leaderboard], Page::ALL)
}

/// Returns the first leaderboard of an answer, without what only a log knows of its rows.
fn shown(mut answer: Value) -> Value {
    let mut board = answer["leaderboards"][0].take();
    for row in board["rows"].as_array_mut().unwrap() {
        row.as_object_mut().unwrap().retain(|name, _| name != "backfilled" && name != "corrected");
    }
    board
}

/// Returns lines of `subject task solved` as items of the days of December.
fn dated(rows: &str) -> String {
    let line = |(at, row): (usize, &str)| {
        let row: Vec<&str> = row.split_whitespace().collect();
        let (day, solved) = (1 + at % 28, row[2].parse::<f64>().unwrap());
        let time = format!("2026-12-{day:02}T00:00:00Z");
        json!({"id": at.to_string(), "subject": row[0], "task": row[1], "time": time, "solved": solved})
            .to_string()
    };
    rows.lines().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn leaderboards_and_standings_are_those_of_the_library() {
    let one_task = "a t1 1\na t1 0.8\na t1 0.9\nb t1 0.5\nb t1 0.7\nc t1 0.1";
    let equal = "a t1 0.1\na t1 0.2\na t2 0.3\na t2 0\nb t1 0.15\nb t2 0.15";
    let many: String = (0..8).map(|task| format!("a t{task} 1\nb t{task} 0\nc t{task} 0.{task}\n")).collect();
    let swings = "a t1 0.9\na t2 0.1\na t3 0.95\nb t1 0.2\nb t2 0.3\nb t3 0.2";
    let outcomes = [("1", "stopped", 0.5), ("2", "refused", 0.5), ("3", "succeeded", 1.0)].map(
        |(id, outcome, solved)| {
            json!({"id": id, "subject": "a", "task": id, "time": format!("2026-12-0{id}T00:00:00Z"),
                "outcome": outcome, "solved": solved})
            .to_string()
        },
    );
    let without_score = [
        json!({"id": "1", "subject": "a", "task": "t1", "outcome": "succeeded", "solved": 0.4}),
        json!({"id": "2", "subject": "a", "task": "t2", "outcome": "succeeded"}),
        json!({"id": "3", "subject": "b", "task": "t1", "outcome": "succeeded", "solved": 0.5}),
        json!({"id": "4", "subject": "b", "task": "t2", "outcome": "failed"}),
        json!({"id": "5", "subject": "c", "task": "t1", "outcome": "succeeded"}),
    ]
    .map(|mut item| {
        item["time"] = json!("2026-12-01T00:00:00Z");
        item.to_string()
    });
    let window = "[standing]\nscore = \"window\"\n";
    let latest = "[standing]\nscore = \"latest\"\n";
    for (scale, standing, items) in [
        ("", String::new(), dated(one_task)),
        ("", String::new(), dated(equal)),
        ("", String::new(), dated(&many)),
        ("", String::new(), without_score.join("\n")),
        ("", window.to_owned(), without_score.join("\n")),
        ("", format!("{window}outcomes = {{ stopped = \"scored\" }}\n"), outcomes.join("\n")),
        ("", format!("{window}window = {{ tasks = 2 }}\n"), dated(swings)),
        ("scale = { max = 10, publish = \"half-up\", places = 1 }\n", window.to_owned(), dated(&many)),
        ("scale = { max = 1000, publish = \"half-up\" }\n", window.to_owned(), dated(equal)),
        (
            "scale = { max = 100, publish = \"half-up\", places = 1 }\n",
            format!("{window}gate = {{ dimension = \"solved\", step = [{{ below = 0.5, cap = 30 }}] }}\n"),
            dated(swings),
        ),
        ("", format!("{latest}decay = {{ grace_days = 0 }}\n"), dated(swings)),
        (
            "scale = { max = 100, publish = \"half-up\" }\n",
            format!("{latest}review = {{ swing_points = 20, cumulative_points = 30 }}\n"),
            dated(swings),
        ),
    ] {
        let card = format!("{scale}{SOLVED}{standing}");
        let server = with_card(&card);
        // History: it counts from the times that it states, as files do.
        let path = "/v1/backfill?card=solved@1.0.0&reason=moved";
        server.post(path, Some(&server.admin), "application/x-ndjson", &items).is(201);
        for method in METHODS {
            let query = format!("card=solved@1.0.0&as_of={MOMENT}&method={}", method.name());
            let found = server.get(&format!("/v1/leaderboards?{query}")).is(200).json();
            let expected = of_library(&card, &items, method);
            let expected: Value = serde_json::from_str(&karat::answers::write(&expected)).unwrap();
            assert_eq!(found["outcome_sources"], expected["outcome_sources"], "{standing}");
            let board = shown(expected);
            assert_eq!(shown(found), board, "{} {scale}{standing}{items}", method.name());
            if standing.is_empty() {
                continue;
            }
            for row in board["rows"].as_array().unwrap() {
                let subject = row["subject"].as_str().unwrap();
                let query = format!("{subject}?card=solved@1.0.0&as_of={MOMENT}");
                let stands = server.get(&format!("/v1/standings/{query}")).is(200).json();
                assert_eq!(stands["points"], row["official"]["points"], "{subject}: {standing}");
                let page = server.get(&format!("/subjects/{query}")).is(200).body.clone();
                let points = row["official"]["points"].as_f64().unwrap();
                let written = [
                    format!("{points}"),
                    format!("{points:.1}"),
                    format!("{points:.2}"),
                    format!("{points:.3}"),
                ];
                let is_shown = |it: &String| page.contains(&format!("official score</dt><dd>{it} <small>"));
                assert!(written.iter().any(is_shown), "{subject}: {points} {standing}{page}");
            }
        }
    }
}

/// Claims that cannot be, and those that hardly can: the server refuses and tells what the library does, and keeps nothing that
/// is refused.
#[test]
fn items_are_refused_and_told_of_as_by_the_library() {
    let claims: Value = serde_json::from_str(CLAIMS).unwrap();
    let server = Running::new();
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", SOLVED).is(201);
    for (name, case) in claims["cases"].as_array().unwrap().iter().enumerate() {
        let base = &claims["bases"][case["base"].as_str().unwrap()];
        let mut item = base["item"].clone();
        let own = base["name"][0].as_str().unwrap();
        let own_name = json!(format!("{}{name}", base["name"][1].as_str().unwrap()));
        let changes = case["change"].as_object().unwrap().iter();
        for (pointer, value) in
            [(own, &own_name)].into_iter().chain(changes.map(|(it, value)| (&**it, value)))
        {
            let (parent, member) = pointer.rsplit_once('/').unwrap();
            item.pointer_mut(parent).unwrap()[member] = value.clone();
        }
        let (card, item) = (base["card"].as_str().unwrap(), item.to_string());
        let mut engine = match card.starts_with("solved") {
            true => Engine::new(Arc::new(CompiledCard::parse(SOLVED).unwrap()), Options::default()).unwrap(),
            false => Engine::open(card).unwrap(),
        };
        let size = server.get("/v1/log").at("/size");
        let sent = server.send(&format!("card={card}"), &item);
        match engine.score(item.as_bytes()) {
            Ok(record) => {
                assert_eq!(sent.status, 201, "{case}: {}", sent.body);
                assert_eq!(karat_evidence::canonical_json(&sent.at("/content")), record.as_str(), "{case}");
            }
            Err(error) => {
                sent.is_problem(422, "evidence-refused");
                let told = |it: &Value| (it["field"].clone(), it["detail"].clone());
                let told: Vec<_> = sent.at("/problems").as_array().unwrap().iter().map(told).collect();
                let expected = error.problems().iter().map(|it| (json!(it.path), json!(it.detail)));
                assert_eq!(told, expected.collect::<Vec<_>>(), "{case}");
                assert_eq!(server.get("/v1/log").at("/size"), size, "{case}: nothing is kept");
            }
        }
    }
}
