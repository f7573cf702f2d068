//! When items arrive: nothing of the future, no history that was dated back, and history on purpose.

use std::fs;
use std::sync::Arc;

use karat::answers::standing::Standing;
use karat::card::CompiledCard;
use karat::error::Place;
use karat::look_alikes::LookAlikes;
use karat::recompute::base;
use karat::record::Record;
use karat::rows::{Loader, Selection, StoredRecord};
use karat::standing::{Answer as Question, events, items};
use karat_core::timestamp::Timestamp;
use karat_server::Options;
use karat_server::clock::Clock;
use karat_server::replay::Replayed;
use karat_standing::stand::stand;
use serde_json::{Value, json};

use crate::common::{Answer, Folder, Running};
use crate::traces;

const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";
/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600;
const DAY: i64 = 86_400;

const CARD: &str = r#"
schema = "karat/scorecard/1"
id = "agent"
version = "1.0.0"
title = "An agent under review"
about = "One value of which the newest counts."
evidence = "facts"
scale = { max = 1000, publish = "half-up" }
facts = { quality = { unit = "1", min = 0, max = 1, from = "harness" } }
dimension = [{ key = "quality", weight = 1 }]

[standing]
score = "latest"
review = {}
certification = { confirm_hours = 24 }
tier = [{ name = "low", score = 300, distinct_days = 9 }]
"#;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(START + seconds)
}

/// Starts with the card, at the moment of the clock.
fn running(folder: Folder, admin: Option<String>, clock: &Clock) -> Running {
    let server = Running::with_clock("127.0.0.1:0", folder, Options::default(), admin, clock.clone());
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", CARD);
    server
}

fn started() -> (Running, Clock) {
    let clock = Clock::fixed(at(0));
    (running(Folder::new(), None, &clock), clock)
}

fn item(id: &str, time: Timestamp, points: i64) -> String {
    let quality = points as f64 / 1000.0;
    json!({"subject": "bee", "id": id, "time": time.to_string(), "quality": quality}).to_string()
}

/// Returns 200 days of a swing every eight days, from 100 points to 749, up to the moment of the clock.
fn creeping() -> String {
    let day = |step: i64| (step - 25) * 8 * DAY;
    (1..=25).map(|step| item(&format!("{step:02}"), at(day(step)), 99 + step * 26) + "\n").collect()
}

fn standing(server: &Running) -> Answer {
    let found = server.get("/v1/standings/bee?card=agent@1.0.0");
    found.is(200);
    found
}

#[test]
fn history_that_was_dated_back_is_one_swing_and_is_held() {
    let (server, clock) = started();
    let ordinary = server.key(&json!({"name": "ci", "scopes": ["write:evidence"]}));
    let first = item("00", at(-200 * DAY), 100);
    server.post("/v1/evidence?card=agent", Some(&ordinary), JSON, first).is(201);
    clock.put(at(1));
    let sent = server.post("/v1/evidence?card=agent", Some(&ordinary), LINES, creeping());
    assert_eq!((sent.is(200).at("/accepted"), sent.at("/refused")), (json!(25), json!(0)));
    clock.put(at(2));
    let check = |server: &Running| {
        let found = standing(server);
        assert_eq!(
            (found.at("/points"), found.at("/gating_points")),
            (json!(100), json!(100)),
            "{}",
            found.body
        );
        assert_eq!(found.at("/review/under_review"), true);
        assert_eq!((found.at("/distinct_days"), found.at("/tier/held")), (json!(1), Value::Null));
        // All but those of the last seven days.
        let late = json!({"count": 25, "excluded": 0, "after_seconds": 7 * DAY});
        assert_eq!(found.at("/items/late"), late);
        let board = server.get("/v1/leaderboards?card=agent@1.0.0&method=means").is(200).json();
        assert_eq!(board["leaderboards"][0]["rows"][0]["official"]["points"], 100, "{board}");
        let queue = server.get_with("/v1/reviews?card=agent@1.0.0", Some(&server.admin));
        assert_eq!(queue.is(200).at("/reviews/0/subject"), "bee");
        let page = server.get("/subjects/bee?card=agent@1.0.0");
        assert!(
            page.is(200).body.contains("25 items arrived more than 7 days after they took place"),
            "{}",
            page.body
        );
        let records = server.get("/v1/records?subject=bee&limit=26");
        let late = |place: &str| records.at(&format!("/records/{place}/late_seconds"));
        assert_eq!((late("0"), late("1"), late("25")), (Value::Null, json!(8 * DAY + 1), json!(200 * DAY)));
        // As it was known before the rest arrived.
        let before = server.get(&format!("/v1/standings/bee?card=agent@1.0.0&known_at={}", at(0)));
        assert_eq!(
            (before.is(200).at("/points"), before.at("/review/under_review")),
            (json!(100), json!(false))
        );
    };
    check(&server);
    let secret = server.admin.clone();
    let server = running(server.stop(), Some(secret.clone()), &clock);
    check(&server);
    let folder = server.stop();
    fs::remove_file(folder.path().join("index.cache")).unwrap();
    check(&running(folder, Some(secret), &clock));
}

#[test]
fn an_exported_log_has_the_standing_of_the_server() {
    let (server, clock) = started();
    for (hour, points, dated_back) in [(0, 500, 0), (30, 650, 3), (60, 720, 40), (90, 300, 1)] {
        clock.put(at(hour * 3600));
        let sent = item(&hour.to_string(), at(hour * 3600 - dated_back * DAY), points);
        server.send("card=agent", &sent).is(201);
    }
    let history = item("old", at(-90 * DAY), 480);
    server.post("/v1/backfill?card=agent&reason=moved", Some(&server.admin), JSON, history).is(201);
    clock.put(at(95 * 3600));
    let as_of = at(95 * 3600);
    let mut of_server = server.get(&format!("/v1/standings/bee?card=agent@1.0.0&as_of={as_of}")).json();
    assert_eq!(of_server["items"]["late"]["count"], 1);
    assert_eq!(of_server["backfilled"]["count"], 1);
    of_server.as_object_mut().unwrap().remove("backfilled");

    let card = Arc::new(CompiledCard::parse(CARD).unwrap());
    let mut loader = Loader::new(Selection::default()).unwrap();
    let list = server.get("/v1/records?subject=bee").json();
    for (at, line) in list["records"].as_array().unwrap().iter().enumerate() {
        let line = line.to_string();
        let stored = StoredRecord::parse(line.as_bytes()).unwrap();
        let record = Record::parse(stored.record.as_bytes()).unwrap().unwrap();
        let base = base(&record, Some(&card)).unwrap();
        let place = Place { file: String::from("records"), line: Some(at as u64), nth: 1, is_row: false };
        loader.add_record(&record, &base, &place, Some(stored.arrival)).unwrap();
    }
    let rows = loader.finish().unwrap();
    let events = events::Events::default();
    let items = items::items(&rows, card.card(), &events).unwrap();
    let standings = stand(card.card(), &items, &[], as_of.seconds()).unwrap();
    let look_alikes = LookAlikes::default();
    let question = Question {
        card: card.card(),
        rows: &rows,
        standings: &standings,
        as_of,
        level: 0.95,
        events: &events,
        look_alikes: &look_alikes,
    };
    let of_files = Standing::new(&question, &standings.subjects[0]);
    let of_files: Value = serde_json::from_str(&karat::answers::write(&of_files)).unwrap();
    assert_eq!(of_files, of_server);
}

/// Under a card whose window holds everything neither arrival nor time decides: files of the same items give the same number, with
/// those without a time, and tasks weigh alike.
#[test]
fn a_plain_card_gives_the_number_of_the_files() {
    let (server, clock) = started();
    let head = &CARD[..CARD.find("[standing]").unwrap()];
    let plain =
        format!("{}[standing]\nscore = \"window\"\nwindow = {{}}\n", head.replace("\"agent\"", "\"plain\""));
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", &plain).is(201);
    let rows = [("1", "easy", None, 0.9), ("2", "easy", Some(-DAY), 0.5), ("3", "hard", None, 0.1)];
    let items = rows.map(|(id, task, time, quality)| {
        let mut item = json!({"subject": "bee", "id": id, "task": task, "quality": quality});
        if let Some(time) = time {
            item["time"] = at(time).to_string().into();
        }
        item.to_string()
    });
    for item in &items {
        server.send("card=plain", item).is(201);
        clock.put(Timestamp::from_seconds(clock.now().seconds() + 60));
    }
    let found = server.get("/v1/standings/bee?card=plain@1.0.0");
    assert_eq!((found.is(200).at("/points"), found.at("/score/exact")), (json!(400), json!("2/5")));
    let ends = [found.at("/interval/low"), found.at("/interval/high")];

    let card = Arc::new(CompiledCard::parse(&plain).unwrap());
    let mut loader = Loader::new(Selection::default()).unwrap();
    let engine = karat::Engine::new(Arc::clone(&card), karat::Options::default());
    let mut engine = engine.unwrap();
    for (at, item) in items.iter().enumerate() {
        let record = engine.score(item.as_bytes()).unwrap();
        let base = base(&record, Some(&card)).unwrap();
        let place = Place { file: String::from("runs"), line: Some(at as u64), nth: 1, is_row: false };
        loader.add_record(&record, &base, &place, None).unwrap();
    }
    let rows = loader.finish().unwrap();
    let events = events::Events::default();
    let items = items::items(&rows, card.card(), &events).unwrap();
    let of_files = stand(card.card(), &items, &[], at(0).seconds()).unwrap();
    assert_eq!((of_files.subjects[0].points, of_files.without_time.len()), (Some(400), 0));
    let of_files = of_files.subjects[0].spread.as_ref().unwrap().interval(0.95).unwrap().unwrap();
    assert_eq!(ends, [json!(of_files.low as i64), json!(of_files.high as i64)]);
    // Leaderboards of records, and of what is kept of each subject.
    for (method, moment) in [("pairs", 300), ("means", 300), ("means", 600), ("census", 600)] {
        clock.put(at(moment));
        let board = server.get(&format!("/v1/leaderboards?card=plain@1.0.0&method={method}")).is(200).json();
        let row = &board["leaderboards"][0]["rows"][0];
        assert_eq!(row["official"]["points"], 400, "{board}");
        let (expected, of) = if method == "census" {
            ([Value::Null, Value::Null], Value::Null)
        } else {
            (ends.clone(), json!("official"))
        };
        assert_eq!([&row["score"]["low"], &row["score"]["high"]], expected.each_ref(), "{method}: {board}");
        assert_eq!(row["official"]["interval_of"], of);
    }
}

#[test]
fn what_has_not_happened_yet_is_refused_at_every_door() {
    let (server, _) = started();
    let (soon, later) = (at(300), at(301));
    server.send("card=agent", &item("soon", soon, 500)).is(201);
    let refused = server.send("card=agent", &item("later", later, 500));
    let says = |answer: &Answer| {
        let detail = answer.at("/detail").as_str().unwrap().to_owned();
        assert!(detail.contains(&later.to_string()) && detail.contains(&at(0).to_string()), "{detail}");
    };
    assert_eq!(refused.is_problem(422, "evidence-refused").at("/field"), "time");
    says(&refused);
    let lines = format!("{}\n\n{}\n", item("1", at(0), 500), item("2", later, 500));
    let batch = server.post("/v1/evidence?card=agent", Some(&server.admin), LINES, &lines);
    assert_eq!((batch.is(200).at("/accepted"), batch.at("/refused")), (json!(1), json!(1)));
    assert_eq!((batch.at("/items/1/line"), batch.at("/items/1/problem/field")), (json!(3), json!("time")));
    let history = server.post("/v1/backfill?card=agent&reason=moved", Some(&server.admin), LINES, &lines);
    let problem = history.is_problem(422, "evidence-refused");
    assert_eq!((problem.at("/problems/0/line"), problem.at("/problems/0/field")), (json!(3), json!("time")));
    server.get("/v1/records?subject=bee").is(200).at("/records/1/id");
    assert_eq!(server.get("/v1/records?subject=bee").at("/records").as_array().unwrap().len(), 2);

    let mut trace = traces::trace("bee", "1", traces::EAST);
    trace["metadata"]["created_at"] = json!(later.to_string());
    trace.as_object_mut().unwrap().remove("vector");
    says(server.send(traces::CARD, &trace.to_string()).is_problem(422, "evidence-refused"));

    let weights = |time: &str| {
        let body = json!({"id": "w", "reason": "r", "weights": {"quality": 1}, "time": time}).to_string();
        server.post("/v1/scorecards/trust@1.1.0/weights", Some(&server.admin), JSON, body)
    };
    assert_eq!(weights(&later.to_string()).is_problem(400, "bad-request").at("/field"), "$.time");
    assert_eq!(weights("yesterday").is_problem(400, "bad-request").at("/field"), "$.time");
    let made = json!({"name": "gone", "scopes": ["write:evidence"]}).to_string();
    let made = server.post("/v1/keys", Some(&server.admin), JSON, made);
    let key = format!("/v1/keys/{}", made.is(201).at("/id").as_str().unwrap());
    server.delete(&key, &server.admin).is(204);
    let body = json!({"since": later.to_string(), "reason": "leaked"}).to_string();
    let withdrawn = server.post(&format!("{key}/withdrawal"), Some(&server.admin), JSON, body);
    assert_eq!(withdrawn.is_problem(400, "bad-request").at("/field"), "$.since");
}

#[test]
fn a_verdict_is_of_no_moment_before_its_evidence_or_after_the_clock() {
    let (server, _) = started();
    let time = at(-3 * DAY);
    let send =
        |id: &str, as_of: Timestamp| server.send(&format!("card=agent&as_of={as_of}"), &item(id, time, 500));
    for (id, as_of, is_fine) in [
        ("1", at(-3 * DAY), true),
        ("2", at(300), true),
        ("3", at(301), false),
        ("4", at(-3 * DAY - 1), false),
        ("5", Timestamp::parse("2020-01-01T00:00:00Z").unwrap(), false),
        ("6", Timestamp::parse("2099-01-01T00:00:00Z").unwrap(), false),
    ] {
        let sent = send(id, as_of);
        if is_fine {
            sent.is(201);
            continue;
        }
        assert_eq!(sent.is_problem(400, "bad-request").at("/field"), "as_of", "{id}");
        let detail = sent.at("/detail").as_str().unwrap().to_owned();
        let other = if as_of < time { time } else { at(0) };
        assert!(detail.contains(&as_of.to_string()) && detail.contains(&other.to_string()), "{detail}");
    }
    let lines = format!("{}\n{}\n", item("7", at(-5 * DAY), 500), item("8", time, 500));
    let query = format!("/v1/evidence?card=agent&as_of={}", at(-4 * DAY));
    let batch = server.post(&query, Some(&server.admin), LINES, lines);
    assert_eq!(
        (batch.is(200).at("/accepted"), batch.at("/items/1/problem/field")),
        (json!(1), json!("as_of"))
    );
    // A part of a run may be newer than the time that it says.
    let run = json!({
        "id": "r", "subject": "bee", "time": "2025-01-01T00:00:00Z", "output_quality": 0.5,
        "task": {"task_id": "t"}, "workflow_plan": {"nodes": [{"id": "a"}]},
        "result": {"attempts": [{"step": "a", "start": "2025-01-01T00:00:00Z", "end": "2025-06-01T00:00:00Z",
            "outcome": "success", "cost": 1}]},
    });
    let sent = server.send("card=workflow&as_of=2025-03-01T00:00:00Z", &run.to_string());
    assert!(sent.body.contains("2025-06-01T00:00:00Z"), "{}", sent.body);
    assert_eq!(sent.at("/field"), "as_of", "{}", sent.body);
    let mut trace = traces::trace("bee", "1", traces::EAST);
    trace.as_object_mut().unwrap().remove("vector");
    trace["metadata"]["created_at"] = json!(time.to_string());
    let sent = server.send(&format!("{}&as_of=2020-01-01T00:00:00Z", traces::CARD), &trace.to_string());
    assert_eq!((sent.status, sent.at("/field")), (400, json!("as_of")), "{}", sent.body);
}

#[test]
fn history_on_purpose_is_an_administrators_and_says_so() {
    let (server, clock) = started();
    let made = json!({"name": "mover", "scopes": ["admin"]}).to_string();
    let made = server.post("/v1/keys", Some(&server.admin), JSON, made);
    let text = |pointer: &str| made.is(201).at(pointer).as_str().unwrap().to_owned();
    let (mover, id) = (text("/secret"), text("/id"));
    let path = "/v1/backfill?card=agent&reason=moved%20from%20the%20old%20server";
    let ordinary = server.key(&json!({"name": "ci", "scopes": ["write:evidence", "review"]}));
    server.post(path, Some(&ordinary), LINES, creeping()).is_problem(403, "forbidden");
    server.post(path, None, LINES, creeping()).is_problem(401, "unauthenticated");
    for (reason, field) in [("", "reason"), ("%20", "reason"), (&"a".repeat(1001), "reason")] {
        let path = format!("/v1/backfill?card=agent&reason={reason}");
        let refused = server.post(&path, Some(&mover), LINES, creeping());
        assert_eq!(refused.is_problem(400, "bad-request").at("/field"), field);
    }
    let nothing = server.post(path, Some(&mover), LINES, "\n\n");
    nothing.is_problem(400, "bad-request");
    let many: String = (0..1001).map(|at| format!("{{\"id\":\"{at}\"}}\n")).collect();
    server.post(path, Some(&mover), LINES, many).is_problem(413, "too-large");
    let size = server.get("/v1/log").at("/size");
    let faulty = format!("{}{{\"subject\":\"bee\",\"id\":\"x\",\"quality\":2}}\n", creeping());
    let refused = server.post(path, Some(&mover), LINES, faulty);
    assert_eq!(refused.is_problem(422, "evidence-refused").at("/problems/0/line"), 26);
    assert_eq!(server.get("/v1/log").at("/size"), size, "nothing is stored");

    let nameless = format!("{{\"subject\":\"bee\",\"time\":\"{}\",\"quality\":0.1}}", at(-300 * DAY));
    let send = |name: Option<&str>, media: &str| server.post_keyed(path, &mover, media, name, &nameless);
    assert!(send(None, JSON).is_problem(422, "evidence-refused").body.contains("Idempotency-Key"));
    assert_eq!(send(Some("k"), JSON).is(201).at("/records/0/id"), "bee/k/agent@1.0.0");
    assert_eq!(send(Some("k"), LINES).is(201).at("/records/0/id"), "bee/k:1/agent@1.0.0");

    // One of them was sent before, so that its arrival is known and stays.
    let sent = creeping();
    let (known, _) = sent.split_once('\n').unwrap();
    server.send("card=agent", known).is(201);
    clock.put(at(10));
    let done = server.post(path, Some(&mover), LINES, &sent);
    assert_eq!((done.is(201).at("/repeated"), done.at("/records/0/repeated")), (json!(false), json!(true)));
    assert_eq!(
        (done.at("/records/24/id"), done.at("/records/24/repeated")),
        (json!("bee/25/agent@1.0.0"), json!(false))
    );
    let again = server.post(path, Some(&mover), LINES, &sent);
    assert_eq!((again.is(200).at("/repeated"), again.at("/position")), (json!(true), done.at("/position")));
    clock.put(at(20));
    let check = |server: &Running| {
        let found = standing(server);
        assert_eq!(
            (found.at("/points"), found.at("/distinct_days")),
            (json!(749), json!(25)),
            "{}",
            found.body
        );
        assert_eq!(found.at("/items/late/count"), 1);
        let by = json!({"count": 26, "by": [id]});
        assert_eq!(found.at("/backfilled"), by);
        for more in ["", "&method=means", "&by=mean"] {
            let board = server.get(&format!("/v1/leaderboards?card=agent@1.0.0{more}"));
            assert_eq!(
                (board.is(200).at("/backfilled"), board.at("/leaderboards/0/rows/0/backfilled")),
                (by.clone(), by.clone())
            );
        }
        let says = format!("26 records were backfilled by the key {id}");
        for path in ["/leaderboards?card=agent@1.0.0", "/subjects/bee?card=agent@1.0.0"] {
            let page = server.get(path);
            assert!(page.is(200).body.contains(&says), "{path}: {}", page.body);
        }
        let record = |position: &Value| server.get(&format!("/v1/records/{position}")).at("/backfilled_by");
        assert_eq!(
            (record(&done.at("/records/24/position")), record(&done.at("/records/0/position"))),
            (json!(id), Value::Null)
        );
        let page = server.get(&format!("/records/{}", done.at("/records/24/position")));
        assert!(page.body.contains("handed in as history by this key"), "{}", page.body);
    };
    check(&server);
    let secret = server.admin.clone();
    let server = running(server.stop(), Some(secret.clone()), &clock);
    check(&server);
    let folder = server.stop();
    let replayed = traces::replayed(&folder);
    assert!(replayed.len() == 27 && replayed.iter().all(|it| *it == Replayed::Same), "{replayed:?}");
    fs::remove_file(folder.path().join("index.cache")).unwrap();
    check(&running(folder, Some(secret), &clock));
}

#[test]
fn a_trace_is_not_added_to_the_past() {
    let clock = Clock::fixed(traces::at(0));
    let server = traces::running(Folder::new(), traces::plain(), None, &clock);
    let trace = traces::trace("bee", "1", traces::EAST).to_string();
    let refused =
        server.post(&format!("/v1/backfill?{}&reason=r", traces::CARD), Some(&server.admin), JSON, trace);
    assert!(
        refused.is_problem(422, "evidence-refused").body.contains("no trace can be added to the past"),
        "{}",
        refused.body
    );
}
