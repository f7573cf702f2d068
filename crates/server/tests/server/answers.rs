//! Answers from many records: lists, histories, standings, leaderboards, reviews.

use std::time::{SystemTime, UNIX_EPOCH};

use karat_core::timestamp::Timestamp;
use karat_server::Options;
use karat_server::clock::Clock;
use serde_json::{Value, json};

use crate::common::{Folder, Running};
use crate::keys::CARD;

const SUPPORT: &str = include_str!("../../../../examples/cards/support-agent.toml");
const AGENTS: &str = include_str!("../../../../examples/standing/agents.jsonl");

/// A family of challenges, and one of its challenges.
const FAMILY: &str = r#"
schema   = "karat/scorecard/1"
id       = "races"
version  = "1.0.0"
title    = "Races"
about    = "A family of challenges."
evidence = "facts"
mean     = "weighted-sum"
scale    = { max = 100, publish = "floor" }
weights  = { sum = 1 }

[family]
pick = { min = 2, max = 2 }

[facts]
speed = { unit = "1", min = 0, max = 1, from = "harness" }
grace = { unit = "1", min = 0, max = 1, from = "judge" }

[[dimension]]
key     = "speed"
label   = "Speed"
missing = "zero"

[[dimension]]
key     = "grace"
label   = "Grace"
missing = "zero"
"#;
const CHALLENGE: &str = r#"
schema  = "karat/scorecard/1"
id      = "sprint"
version = "1.0.0"
title   = "Sprint"
about   = "A short race."
base    = "races@1.0.0"

[dims]
speed = 0.75
grace = 0.25
"#;

/// A moment after all items. Official scores are as of the present minute, so answers that are compared need a clock that
/// stands.
const NOW: Timestamp = Timestamp::from_seconds(1_780_272_030);

/// Returns a server with the agents of the examples.
pub fn agents() -> Running {
    agents_at(Clock::system())
}

fn agents_at(clock: Clock) -> Running {
    let server = Running::with_clock("127.0.0.1:0", Folder::new(), Options::default(), None, clock);
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", SUPPORT).is(201);
    let sent = server.post(
        "/v1/evidence?card=support-agent@1.0.0",
        Some(&server.admin),
        "application/x-ndjson",
        AGENTS,
    );
    assert_eq!(sent.is(200).at("/refused"), 0);
    server
}

fn hours_ago(hours: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    Timestamp { milliseconds: i64::try_from(now).unwrap() - hours * 3_600_000 }.to_string()
}

#[test]
fn a_list_comes_page_by_page_and_each_record_once() {
    let server = agents();
    let mut path = "/v1/records?limit=5".to_owned();
    let mut seen: Vec<u64> = Vec::new();
    loop {
        let list = server.get(&path);
        seen.extend(
            list.is(200).at("/records").as_array().unwrap().iter().map(|it| it["position"].as_u64().unwrap()),
        );
        match list.at("/next") {
            Value::Null => break,
            next => path = format!("/v1/records?limit=5&before={next}"),
        }
    }
    let mut sorted = seen.clone();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    sorted.dedup();
    assert_eq!(seen, sorted, "newest first, each once");
    assert_eq!(seen.len(), AGENTS.lines().count());
    for (query, count) in [
        ("subject=ibis", 3),
        ("subject=nobody", 0),
        ("subject=ibis&track=billing,shipping", 2),
        ("subject=ibis&since=2026-02-12T09:00:00Z", 2),
        ("subject=ibis&until=2026-02-12T09:00:00Z", 1),
        ("subject=ibis&trust=measured", 0),
        ("known_at=2020-01-01T00:00:00Z", 0),
        ("card=workflow", 0),
    ] {
        let list = server.get(&format!("/v1/records?{query}"));
        assert_eq!(list.is(200).at("/records").as_array().unwrap().len(), count, "{query}");
    }
}

#[test]
fn subjects_are_listed_by_name() {
    let server = agents();
    let names = |path: &str| -> Vec<String> {
        let list = server.get(path).is(200).at("/subjects");
        list.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
    };
    let all = names("/v1/subjects?card=support-agent");
    assert!(all.is_sorted() && all.contains(&"ibis".to_owned()), "{all:?}");
    let first = server.get("/v1/subjects?limit=1");
    assert_eq!(first.at("/next"), json!(all[0]));
    assert_eq!(names(&format!("/v1/subjects?after={}", all[0])), all[1..]);
}

#[test]
fn an_explanation_adds_up() {
    let server = agents();
    let list = server.get("/v1/records?subject=ibis&limit=1");
    let position = list.at("/records/0/position");
    let explained = server.get(&format!("/v1/records/{position}/explanation"));
    assert_eq!(explained.is(200).at("/verified"), true);
    assert_eq!(explained.at("/record"), list.at("/records/0/record"));
    let last = explained.at("/rows").as_array().unwrap().last().unwrap()["total"].as_f64().unwrap();
    let exact = explained.at("/record/score/exact").as_f64().unwrap();
    assert!((last - 1000.0 * exact).abs() < 1e-9, "{last} {exact}");
}

#[test]
fn a_history_tells_what_was_known_when() {
    let server = agents();
    let before = server.get("/v1/subjects/ibis/history?card=support-agent@1.0.0");
    assert_eq!(before.is(200).at("/entries").as_array().unwrap().len(), 3);
    let known = before.at("/entries/2/moment");
    std::thread::sleep(std::time::Duration::from_millis(5));
    let better = json!({"subject": "ibis", "id": "ibis-4", "task": "shipping", "time": "2026-03-08T09:00:00Z", "accuracy": 0.7});
    server.send("card=support-agent@1.0.0&replaces=ibis-3", &better.to_string()).is(201);
    let now = server.get("/v1/subjects/ibis/history");
    assert_eq!(now.at("/entries").as_array().unwrap().len(), 4);
    assert_eq!(now.at("/entries/2/replaced_by"), now.at("/entries/3/id"));
    let then = server.get(&format!("/v1/subjects/ibis/history?known_at={}", known.as_str().unwrap()));
    assert_eq!(then.at("/entries"), before.at("/entries"));
    let parts = server.get("/v1/subjects/ibis/history?limit=3");
    let rest = server.get(&format!("/v1/subjects/ibis/history?from={}", parts.at("/next")));
    assert_eq!(rest.at("/entries/0"), now.at("/entries/3"));
    server.get("/v1/subjects/nobody/history").is_problem(404, "not-found");
}

#[test]
fn a_standing_is_the_same_alone_and_in_the_list() {
    let server = agents();
    let query = "card=support-agent@1.0.0&as_of=2026-03-10T00:00:00Z";
    let heron = server.get(&format!("/v1/standings/heron?{query}"));
    assert_eq!(heron.is(200).at("/schema"), "karat/standing/2");
    // docs/guide/standing.md has the same number, from the same items with events.
    assert_eq!(heron.at("/points"), 902);
    let all = server.get(&format!("/v1/standings?{query}"));
    let of = all.is(200).at("/standings");
    assert_eq!(of.as_array().unwrap().iter().find(|it| it["subject"] == "heron"), Some(&heron.json()));
    server.get(&format!("/v1/standings/nobody?{query}")).is_problem(404, "not-found");
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", CARD).is(201);
    server.get("/v1/standings?card=told@1.0.0").is_problem(422, "unanswerable");
}

#[test]
fn a_held_score_waits_for_somebody_who_may_decide() {
    let server = Running::new();
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", SUPPORT).is(201);
    let send = |path: &str, id: &str, time: String, value: f64| {
        let item = json!({"subject": "ibis", "id": id, "time": time, "accuracy": value, "safety": value, "patience": value});
        let path = format!("/v1/{path}card=support-agent@1.0.0");
        server.post(&path, Some(&server.admin), "application/json", item.to_string()).is(201);
    };
    // A score of two days ago: if it came as late as the next one, the two would be one score.
    send("backfill?reason=moved&", "1", hours_ago(48), 0.5);
    let reviewer = server.key(&json!({"name": "ann", "scopes": ["review"]}));
    let operator = server.key(&json!({"name": "acme", "scopes": ["review"]}));
    let queue = || server.get_with("/v1/reviews", Some(&reviewer)).is(200).at("/reviews");
    let decide = |key: &str, more: Value| {
        let mut body = json!({"card": "support-agent@1.0.0", "subject": "ibis"});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        server.post("/v1/reviews", Some(key), "application/json", body.to_string())
    };
    assert_eq!(queue(), json!([]));
    let seen = karat_core::facts::Digest::of(b"nothing").to_string();
    decide(&reviewer, json!({"verdict": "approve", "reason": "looks good", "seen": seen}))
        .is_problem(409, "conflict");
    send("evidence?", "2", hours_ago(1), 0.9);
    assert_eq!(queue()[0]["subject"], "ibis");
    let first = queue()[0]["review"]["held"]["digest"].clone();
    decide(&reviewer, json!({"event": "operated", "operator": "acme"})).is(201);
    decide(&operator, json!({"verdict": "approve", "reason": "ours", "seen": first}))
        .is_problem(409, "conflict");
    decide(&reviewer, json!({"verdict": "approve", "reason": "r"})).is_problem(409, "conflict");
    for wrong in [
        json!({"verdict": "approve", "seen": first}),
        json!({"verdict": "maybe", "reason": "r", "seen": first}),
        json!({"verdict": "approve", "reason": "r", "seen": "900"}),
    ] {
        decide(&reviewer, wrong).is_problem(400, "bad-request");
    }
    decide(&reviewer, json!({"subject": "nobody", "verdict": "approve", "reason": "r", "seen": first}))
        .is_problem(404, "not-found");
    // Evidence that came after the form was opened was not seen, though the score is the same.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    send("evidence?", "3", hours_ago(1), 0.9);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let late = decide(&reviewer, json!({"verdict": "approve", "reason": "checked by hand", "seen": first}));
    late.is_problem(409, "conflict");
    let held = queue()[0]["review"]["held"].clone();
    assert_eq!((&held["points"], held["digest"] == first), (&json!(900), false));
    let decided =
        decide(&reviewer, json!({"verdict": "approve", "reason": "checked by hand", "seen": held["digest"]}));
    assert_eq!(decided.is(201).at("/review/under_review"), false);
    assert_eq!(queue(), json!([]));
    let standing = server.get("/v1/standings/ibis?card=support-agent@1.0.0");
    assert_eq!(standing.is(200).at("/points"), 900);
    let transitions = standing.at("/review/transitions").to_string();
    assert!(transitions.contains("\"reviewer\":\"ann\""), "{transitions}");
}

#[test]
fn scorecards_are_published_once_and_checked_without_being_kept() {
    let server = Running::new();
    let publish = |text: &str| server.post("/v1/scorecards", Some(&server.admin), "application/toml", text);
    publish(CARD).is(201);
    assert_eq!(publish(CARD).is(200).at("/repeated"), true);
    let other = CARD.replace("One fact of each.", "Another rule.");
    let refused = publish(&other);
    refused.is_problem(409, "conflict");
    assert_ne!(refused.at("/stored"), refused.at("/given"));
    // A released name means the released card.
    publish(&CARD.replace("\"told\"\nversion", "\"workflow\"\nversion")).is_problem(409, "conflict");
    let broken = publish(&CARD.replace("weight  = 1", "weight  = -1"));
    broken.is_problem(422, "card-refused");
    assert!(broken.at("/problems/0/line").as_u64().unwrap() > 1);
    let check = server.post("/v1/scorecards/check", None, "application/toml", CARD.replace("1.0.0", "2.0.0"));
    assert_eq!(check.is(200).at("/card/name"), "told@2.0.0");
    server.get("/v1/scorecards/told@2.0.0").is_problem(404, "not-found");
    assert_eq!(server.get("/v1/scorecards/told/text").is(200).body, CARD);
    let shown = server.get("/v1/scorecards/told");
    assert_eq!(shown.is(200).at("/text"), CARD);
    let listed = server.get("/v1/scorecards").is(200).at("/scorecards");
    assert!(listed.as_array().unwrap().len() > 9);
}

#[test]
fn a_restart_changes_no_answer() {
    let clock = Clock::fixed(NOW);
    let server = agents_at(clock.clone());
    let better = json!({"subject": "ibis", "id": "ibis-4", "task": "shipping", "time": "2026-03-08T09:00:00Z", "accuracy": 0.7});
    server.send("card=support-agent@1.0.0&replaces=ibis-3", &better.to_string()).is(201);
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", FAMILY).is(201);
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", CHALLENGE).is(201);
    server.send("card=sprint@1.0.0", r#"{"subject":"ibis","id":"s","speed":0.5}"#).is(201);
    let paths = [
        "/v1/records",
        "/v1/records?trust=judged",
        "/v1/records?track=sprint",
        "/v1/subjects",
        "/v1/leaderboards?card=support-agent@1.0.0",
        "/v1/leaderboards?card=races@1.0.0",
        "/v1/standings?card=support-agent@1.0.0&as_of=2026-03-10T00:00:00Z",
        "/v1/scorecards",
    ];
    let before = paths.map(|path| server.get(path).is(200).body.clone());
    let admin = server.admin.clone();
    let server = Running::with_clock("127.0.0.1:0", server.stop(), Options::default(), Some(admin), clock);
    assert_eq!(paths.map(|path| server.get(path).is(200).body.clone()), before);
}

#[test]
fn health_and_metrics_tell_what_was_done() {
    let server = agents();
    assert_eq!(server.get("/healthz").is(200).at("/status"), "ok");
    server.get("/v1/nowhere");
    let metrics = server.get("/metrics");
    assert!(metrics.header("content-type").unwrap().starts_with("text/plain; version=0.0.4"));
    let count = AGENTS.lines().count();
    assert!(
        metrics.body.contains(&format!("karat_items_total{{result=\"accepted\"}} {count}\n")),
        "{}",
        metrics.body
    );
    assert!(
        metrics
            .body
            .contains("karat_request_seconds_count{method=\"GET\",path=\"/healthz\",status=\"200\"} 1\n")
    );
    assert!(
        metrics.body.contains("karat_request_seconds_count{method=\"GET\",path=\"\",status=\"404\"} 1\n")
    );
    assert!(metrics.body.contains(&format!("karat_index_records {count}\n")));
}

#[test]
fn a_start_with_a_cache_of_the_index_answers_as_one_that_reads_every_record() {
    let clock = Clock::fixed(NOW);
    let server = agents_at(clock.clone());
    let better = json!({"subject": "ibis", "id": "ibis-4", "task": "shipping", "accuracy": 0.7});
    server.send("card=support-agent@1.0.0&replaces=ibis-3", &better.to_string()).is(201);
    server
        .send("card=workflow@1.0.0", include_str!("../../../../examples/workflow/worked-example.json"))
        .is(201);
    let asked = |server: &Running| {
        let paths = [
            "/v1/records?limit=100", "/v1/records?subject=ibis&trust=claimed",
            "/v1/leaderboards?card=support-agent", "/v1/leaderboards?card=workflow@1.0.0", "/v1/subjects",
            "/v1/scorecards",
        ];
        paths.map(|path| server.get(path).is(200).body.clone())
    };
    let (answers, admin) = (asked(&server), server.admin.clone());
    let mut folder = server.stop();
    let cache = folder.path().join(karat_server::folder::INDEX);
    let whole = std::fs::read(&cache).unwrap();
    assert!(whole.len() > AGENTS.lines().count() * 55, "it has the rows");
    let mut changed = whole.clone();
    changed[whole.len() / 2] ^= 1;
    for state in [Some(&whole[..]), None, Some(&changed[..]), Some(&whole[..whole.len() - 1]), Some(b"x")] {
        match state {
            Some(bytes) => std::fs::write(&cache, bytes).unwrap(),
            None => std::fs::remove_file(&cache).unwrap(),
        }
        let (options, admin) = (Options::default(), Some(admin.clone()));
        let server = Running::with_clock("127.0.0.1:0", folder, options, admin, clock.clone());
        assert_eq!(asked(&server), answers);
        folder = server.stop();
        assert_eq!(std::fs::read(&cache).unwrap(), whole, "the same rows are written again");
    }
}

#[test]
fn a_server_bounds_the_rankings_that_one_question_may_ask_for() {
    let server = agents();
    let first: Value = serde_json::from_str(AGENTS.lines().next().unwrap()).unwrap();
    let lines = (0..21).map(|number| {
        let mut line = first.clone();
        line["id"] = json!(format!("more-{number}"));
        line["subject"] = json!(format!("agent-{number}"));
        line.to_string()
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    let path = "/v1/evidence?card=support-agent@1.0.0";
    server.post(path, Some(&server.admin), "application/x-ndjson", &lines).is(200);
    let few = server.get("/v1/stress?card=support-agent&draws=50");
    assert_eq!(few.is(200).at("/robustness/draws"), 50);
    let many = server.get("/v1/stress?card=support-agent&draws=1000000");
    assert!(many.is(422).body.contains("a server draws at most"), "{}", many.body);
    server.get("/v1/stress?card=support-agent&draws=0").is(400);
    let page = server.get("/stress?card=support-agent&draws=50");
    assert!(page.is(200).body.contains("first by composite, and"), "{}", page.body);
}
