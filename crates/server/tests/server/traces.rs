//! Reasoning traces: each counts for the novelty of the next, in the order of the log, also after a start and for a stranger who
//! has the log.

use std::fmt::Write as _;
use std::path::PathBuf;

use karat_core::timestamp::Timestamp;
use karat_graders::trace::novelty::Settings;
use karat_server::Options;
use karat_server::cards::Cards;
use karat_server::clock::Clock;
use karat_server::replay::{Replay, Replayed};
use karat_server::traces::TraceOptions;
use karat_store::port::Backend as _;
use karat_store::sqlite::Sqlite;
use karat_store::{Kind, Reader};
use serde_json::{Value, json};

use crate::common::{Answer, Folder, Running};

pub const CARD: &str = "card=trace@1.0.0";
const HOUR: u64 = 3_600_000;

/// Returns a trace of `agent` with a vector of four numbers.
pub fn trace(agent: &str, id: &str, vector: [f64; 4]) -> Value {
    json!({
        "@context": "https://openknowledgepulse.org/schema/v1", "@type": "ReasoningTrace",
        "id": format!("kp:trace:{id}"),
        "metadata": {
            "created_at": "2026-03-18T09:00:00Z", "agent_id": agent, "task_domain": "finance", "success": true,
            "quality_score": 0.5, "visibility": "network", "privacy_level": "aggregated",
        },
        "task": {"objective": "Find the margin"},
        "steps": [{"step_id": 0, "type": "thought", "content": "There is a table"}],
        "outcome": {"result_summary": "done", "confidence": 0.9},
        "vector": vector,
    })
}

pub const EAST: [f64; 4] = [1.0, 0.0, 0.0, 0.0];
pub const NORTH: [f64; 4] = [0.0, 1.0, 0.0, 0.0];
const NORTH_EAST: [f64; 4] = [3.0, 4.0, 0.0, 0.0];

pub fn options(settings: Settings) -> Options {
    let traces = TraceOptions { cache: Settings { dimension: 4, ..settings }, ..TraceOptions::default() };
    Options { traces, ..Options::default() }
}

pub fn plain() -> Options {
    options(Settings::default())
}

pub fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_774_000_000 + second)
}

pub fn running(folder: Folder, options: Options, admin: Option<String>, clock: &Clock) -> Running {
    Running::with_clock("127.0.0.1:0", folder, options, admin, clock.clone())
}

/// Returns the novelty that the record of an answer has; null if it is missing.
pub fn novelty(answer: &Answer) -> Value {
    assert!(answer.status < 300, "{}", answer.body);
    answer.at("/content/facts/novelty")
}

#[test]
fn a_copy_scores_as_a_copy_whoever_sends_it_and_however() {
    let server = Running::with(plain());
    assert_eq!(novelty(&server.send(CARD, &trace("a", "1", EAST).to_string())), 0.5, "the first of all");
    let copy = server.send(CARD, &trace("a", "2", EAST).to_string());
    assert_eq!(novelty(&copy), 0.0);
    assert_eq!(copy.at("/content/grading/novelty/nearest/id"), "a/kp:trace:1");
    // Neither under the id of the original, nor by another subject, nor scaled.
    assert_eq!(novelty(&server.send(CARD, &trace("b", "1", EAST).to_string())), 0.0);
    assert_eq!(novelty(&server.send(CARD, &trace("c", "3", [7.0, 0.0, 0.0, 0.0]).to_string())), 0.0);
    assert_eq!(novelty(&server.send(CARD, &trace("c", "4", NORTH_EAST).to_string())), 0.4);
    // Without a vector there is nothing to compare, and what the trace says of itself does not count.
    let mut silent = trace("c", "5", EAST);
    silent.as_object_mut().unwrap().remove("vector");
    silent["novelty"] = json!(1);
    let silent = server.send(CARD, &silent.to_string());
    assert_eq!(novelty(&silent), Value::Null);
    assert_eq!(silent.at("/content/grading/novelty/basis"), "no_vector");
    // Within a batch too.
    let batch: String = ["x", "y", "z"].iter().fold(String::new(), |mut lines, id| {
        writeln!(lines, "{}", trace(id, id, [0.0, 0.0, 1.0, 0.0])).unwrap();
        lines
    });
    let sent =
        server.post(&format!("/v1/evidence?{CARD}"), Some(&server.admin), "application/x-ndjson", batch);
    assert_eq!(sent.is(200).at("/accepted"), 3);
    let of_line = |line: usize| {
        let position = sent.at(&format!("/items/{line}/position"));
        server.get(&format!("/v1/records/{position}")).at("/record/facts/novelty")
    };
    assert_eq!([0, 1, 2].map(of_line), [json!(1), json!(0), json!(0)]);
}

#[test]
fn after_the_time_to_live_a_topic_is_new_again() {
    let clock = Clock::fixed(at(0));
    let hour = options(Settings { ttl_milliseconds: Some(HOUR), ..Settings::default() });
    let server = running(Folder::new(), hour, None, &clock);
    let first = server.send(CARD, &trace("a", "1", EAST).to_string());
    assert_eq!(first.at("/content/as_of"), at(0).to_string(), "it counts from when it arrived");
    assert_eq!(first.at("/content/grading/novelty/ttl_milliseconds"), HOUR);
    clock.put(at(3599));
    assert_eq!(novelty(&server.send(CARD, &trace("b", "1", EAST).to_string())), 0.0);
    clock.put(at(3600));
    let other = server.send(CARD, &trace("c", "1", NORTH).to_string());
    assert_eq!(novelty(&other), 1.0, "the copy is alive");
    assert_eq!(other.at("/content/grading/novelty/expired"), 1);
    clock.put(at(3600 + 3599));
    assert_eq!(novelty(&server.send(CARD, &trace("d", "1", EAST).to_string())), 1.0);
}

#[test]
fn nobody_moves_the_cache_in_time() {
    let clock = Clock::fixed(at(0));
    let server = running(Folder::new(), plain(), None, &clock);
    let send = |id: &str, as_of: Timestamp| {
        server.send(&format!("{CARD}&as_of={as_of}"), &trace("a", id, EAST).to_string())
    };
    send("1", at(-1000)).is(201);
    // A moment to come would keep all others out.
    let ahead = send("2", at(1));
    ahead.is_problem(400, "bad-request");
    assert!(ahead.body.contains("lies ahead of the clock of the server"), "{}", ahead.body);
    let behind = send("2", at(-1001));
    behind.is_problem(400, "bad-request");
    assert!(behind.body.contains("in the order of time"), "{}", behind.body);
    send("2", at(0)).is(201);
    // A clock that is put back a little: what arrives now is not before it.
    clock.put(at(-10));
    let next = server.send(CARD, &trace("a", "3", EAST).to_string());
    assert_eq!(next.is(201).at("/content/as_of"), at(0).to_string());
    // The same again is answered as it was, at whatever moment.
    let again = send("1", at(-1001));
    assert_eq!((again.is(200).at("/repeated"), novelty(&again)), (json!(true), json!(0.5)));
}

#[test]
fn what_is_refused_or_repeated_leaves_nothing_in_the_cache() {
    let server = Running::with(plain());
    let first = server.send(CARD, &trace("a", "1", EAST).to_string());
    first.is(201);
    let cache = |answer: &Answer| answer.at("/content/grading/novelty/cache");
    let one = server.send(CARD, &trace("b", "1", NORTH).to_string());
    let digest = cache(&one);
    // Sent again, also with the members in another order; with other content; with a vector of another length.
    let again = server.send(CARD, &serde_json::to_string_pretty(&trace("a", "1", EAST)).unwrap());
    assert_eq!((again.is(200).at("/repeated"), again.at("/content")), (json!(true), first.at("/content")));
    server.send(CARD, &trace("a", "1", NORTH_EAST).to_string()).is_problem(409, "conflict");
    let mut long = trace("a", "2", EAST);
    long["vector"] = json!([1, 0, 0, 0, 0]);
    let long = server.send(CARD, &long.to_string());
    long.is_problem(422, "evidence-refused");
    assert!(long.body.contains("the dimension of the cache"), "{}", long.body);
    // Two of one id in a batch: the second is the first again, or a conflict.
    let lines = [trace("c", "1", EAST), trace("c", "1", EAST), trace("c", "1", NORTH), trace("c", "2", EAST)];
    let batch = lines.map(|line| line.to_string()).join("\n");
    let sent =
        server.post(&format!("/v1/evidence?{CARD}"), Some(&server.admin), "application/x-ndjson", batch);
    let statuses = [0, 1, 2, 3].map(|line| sent.is(200).at(&format!("/items/{line}/status")));
    assert_eq!(statuses, [201, 200, 409, 201], "{}", sent.body);
    let last = server.send(CARD, &trace("d", "1", EAST).to_string());
    assert_eq!(last.at("/content/grading/novelty/compared"), 4, "a/1, b/1, c/1, c/2");
    assert_ne!(cache(&last), digest);
}

#[test]
fn a_correction_is_not_a_copy_of_what_it_corrects() {
    let server = Running::with(plain());
    server.send(CARD, &trace("a", "1", EAST).to_string()).is(201);
    server.send(CARD, &trace("b", "1", NORTH).to_string()).is(201);
    let corrects = |id: &str, vector, old: &str| {
        server.send(&format!("{CARD}&replaces=kp:trace:{old}"), &trace("a", id, vector).to_string())
    };
    let corrected = corrects("2", [0.9, 0.0, 0.1, 0.0], "1");
    assert_eq!(novelty(&corrected), 1.0);
    assert_eq!(corrected.at("/content/grading/novelty/compared"), 1);
    // Of others it may well be a copy.
    assert_eq!(novelty(&corrects("3", NORTH, "2")), 0.0);
    // What was corrected before cannot be corrected again, and the refused one is not in the cache.
    corrects("4", EAST, "1").is_problem(409, "conflict");
    corrects("5", EAST, "none").is_problem(404, "not-found");
    assert_eq!(
        server.send(CARD, &trace("d", "1", EAST).to_string()).at("/content/grading/novelty/compared"),
        4
    );
}

/// Returns a stream of traces, some of which are alike.
fn stream(count: usize) -> Vec<String> {
    let mut state = 7_u64;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % limit
    };
    let mut number = || below(5) as f64 - 2.0;
    (0..count)
        .map(|at| {
            let vector = [number(), number(), number(), 1.0];
            let mut trace = trace(&format!("agent-{}", at % 7), &at.to_string(), vector);
            if at % 11 == 3 {
                trace.as_object_mut().unwrap().remove("vector");
            }
            trace.to_string()
        })
        .collect()
}

/// Sends traces one second after the other and returns their records as they are stored.
fn records(server: &Running, clock: &Clock, traces: &[String], first: usize) -> Vec<String> {
    let send = |(place, trace): (usize, &String)| {
        clock.put(at((first + place) as i64));
        let sent = server.send(CARD, trace);
        let position = sent.is(201).at("/record/position");
        server.get(&format!("/v1/records/{position}")).at("/record").to_string()
    };
    traces.iter().enumerate().map(send).collect()
}

/// Copies a folder as it is, as a machine that loses power leaves it.
pub fn copied(folder: &Folder) -> Folder {
    let copy = Folder::new();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
    }
    copy
}

#[test]
fn servers_that_are_stopped_or_killed_go_on_as_one_that_was_not() {
    let settings = Settings { capacity: 20, ttl_milliseconds: Some(21_000), ..Settings::default() };
    let traces = stream(120);
    let clock = Clock::fixed(at(0));
    let whole = running(Folder::new(), options(settings), None, &clock);
    let expected = records(&whole, &clock, &traces, 0);
    assert!(expected.iter().any(|record| record.contains("\"expired\":1")));

    for (stop, is_killed, has_file) in
        [(1, false, true), (60, false, false), (60, true, true), (95, false, true)]
    {
        let clock = Clock::fixed(at(0));
        let server = running(Folder::new(), options(settings), None, &clock);
        let (before, after) = traces.split_at(stop);
        let mut found = records(&server, &clock, before, 0);
        let admin = server.admin.clone();
        let folder = if is_killed { copied(&server.folder) } else { server.stop() };
        let file = folder.path().join("trace@1.0.0.vectors");
        assert_eq!(file.exists(), !is_killed, "it is saved when the server stops");
        if !has_file {
            std::fs::remove_file(file).unwrap();
        }
        let server = running(folder, options(settings), Some(admin), &clock);
        found.extend(records(&server, &clock, after, stop));
        assert!(found == expected, "stopped after {stop}");
    }
}

#[test]
fn a_file_of_another_cache_is_not_used() {
    let traces = stream(30);
    let clock = Clock::fixed(at(0));
    let server = running(Folder::new(), plain(), None, &clock);
    let (before, after) = traces.split_at(20);
    records(&server, &clock, before, 0);
    let admin = server.admin.clone();
    let folder = server.stop();
    let path = folder.path().join("trace@1.0.0.vectors");
    let sound = std::fs::read(&path).unwrap();
    let mut answers = Vec::new();
    let mut forged = sound.clone();
    // The first number of the last vector, before the digest.
    let place = forged.len() - 32 - 16;
    forged[place] ^= 1;
    for content in [sound.clone(), forged, sound[..sound.len() / 2].to_vec(), Vec::new()] {
        let copy = copied(&folder);
        std::fs::write(copy.path().join("trace@1.0.0.vectors"), content).unwrap();
        let server = running(copy, plain(), Some(admin.clone()), &clock);
        answers.push(records(&server, &clock, after, 20));
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    // With other settings the cache follows from the log under those.
    let few = Settings { capacity: 5, ..Settings::default() };
    let server = running(copied(&folder), options(few), Some(admin), &clock);
    let found = records(&server, &clock, after, 20);
    clock.put(at(0));
    let few = running(Folder::new(), options(few), None, &clock);
    records(&few, &clock, before, 0);
    assert_eq!(found, records(&few, &clock, after, 20));
}

#[test]
fn traces_that_arrive_at_once_are_scored_in_the_order_of_the_log() {
    let server = Running::with(plain());
    let traces = stream(160);
    std::thread::scope(|scope| {
        for part in traces.chunks(20) {
            let server = &server;
            scope.spawn(move || {
                for trace in part {
                    server.send(CARD, trace).is(201);
                }
            });
        }
    });
    let positions: Vec<Value> = {
        let listed = server.get("/v1/records?card=trace@1.0.0&limit=500");
        let all = listed.is(200).at("/records");
        let mut all: Vec<(u64, Value)> = all
            .as_array()
            .unwrap()
            .iter()
            .map(|record| (record["position"].as_u64().unwrap(), record.clone()))
            .collect();
        all.sort_by_key(|(position, _)| *position);
        all.into_iter().map(|(position, _)| json!(position)).collect()
    };
    assert_eq!(positions.len(), traces.len());
    // Sent one by one in that order, at the moments that the records have, they give the same records.
    let clock = Clock::system();
    let other = running(Folder::new(), plain(), None, &clock);
    for position in positions {
        let shown = server.get(&format!("/v1/records/{position}")).at("/record");
        let (subject, id) = (shown["subject"].as_str().unwrap(), shown["evidence"]["id"].as_str().unwrap());
        let trace = traces.iter().find(|trace| {
            let trace: Value = serde_json::from_str(trace).unwrap();
            trace["id"] == id && trace["metadata"]["agent_id"] == subject
        });
        let query = match shown["as_of"].as_str() {
            Some(as_of) => format!("{CARD}&as_of={as_of}"),
            None => CARD.to_owned(),
        };
        let again = other.send(&query, trace.unwrap());
        assert_eq!(again.is(201).at("/content"), shown);
    }
}

/// Scores every record of a log again, and returns what became of them.
pub fn replayed(folder: &Folder) -> Vec<Replayed> {
    let database = folder.path().join(karat_server::folder::STORE);
    let open = || Reader::new(Sqlite::open(&database).unwrap().reader().unwrap());
    let (mut reader, mut again) = (open(), open());
    let cards = Cards::of_store(&mut reader).unwrap().compiled();
    let mut replay = Replay::new(cards, None);
    let size = reader.head().unwrap().size;
    let items = reader.items(0..size).unwrap().into_iter().filter(|item| item.entry.kind == Kind::Record);
    items.map(|item| replay.next(&mut again, &item).unwrap()).collect()
}

#[test]
fn the_log_gives_every_record_again() {
    let settings = Settings { capacity: 10, ttl_milliseconds: Some(30_000), ..Settings::default() };
    let clock = Clock::fixed(at(0));
    let server = running(Folder::new(), options(settings), None, &clock);
    let traces = stream(40);
    let (before, after) = traces.split_at(20);
    records(&server, &clock, before, 0);
    let corrected = server.send(
        &format!("{CARD}&replaces=kp:trace:0"),
        &trace("agent-0", "corrected", [1.0, 2.0, 3.0, 4.0]).to_string(),
    );
    corrected.is(201);
    let other = include_str!("../../../../examples/workflow/worked-example.json");
    server.send("card=workflow@1.0.0", other).is(201);
    let admin = server.admin.clone();
    // With other settings from then on.
    let server = running(server.stop(), plain(), Some(admin), &clock);
    records(&server, &clock, after, 20);
    let folder = server.stop();
    let all = replayed(&folder);
    assert_eq!(all.len(), 42);
    assert!(all.iter().all(|it| *it == Replayed::Same), "{all:?}");
}

#[test]
fn other_weights_forget_nothing_that_was_seen() {
    const WEIGHED: &str = r#"
schema = "karat/scorecard/1"
id = "weighed"
version = "1.0.0"
title = "Two dimensions of traces"
evidence = "reasoning-trace"
mean = "weighted-mean"
scale = { max = 1000, publish = "half-up" }
facts = { novelty = { min = 0, max = 1, from = "harness" }, confidence = { min = 0, max = 1, from = "subject" } }
override = { tolerance = 0.001 }
dimension = [
    { key = "novelty", weight = 0.6, missing = { default = 0.5 } },
    { key = "confidence", weight = 0.4, missing = "withhold" },
]
standing = { score = "latest" }
"#;
    let clock = Clock::fixed(at(0));
    let server = running(Folder::new(), plain(), None, &clock);
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", WEIGHED).is(201);
    let key = |scope: &str| server.key(&json!({"name": scope, "scopes": [scope, "read"]}));
    let (proposer, decider) = (key("write:evidence"), key("review"));
    let send = |id: &str, second: i64| {
        clock.put(at(second));
        server.send("card=weighed@1.0.0", &trace("a", id, EAST).to_string())
    };
    assert_eq!(send("1", 1).at("/content/score/published"), 660, "0.6 x 0.5 + 0.4 x 0.9");
    let path = "/v1/scorecards/weighed@1.0.0/weights";
    let body = json!({"id": "p", "reason": "agrees", "weights": {"novelty": 0.5, "confidence": 0.5}});
    server.post(path, Some(&proposer), "application/json", body.to_string()).is(201);
    let decision = json!({"decision": "accept", "reason": "seen"}).to_string();
    server.post(&format!("{path}/p/decision"), Some(&decider), "application/json", decision).is(201);
    let copy = send("2", 2);
    assert_eq!((novelty(&copy), copy.at("/content/score/published")), (json!(0), json!(450)));
    let all = replayed(&server.stop());
    assert_eq!(all, [Replayed::Same, Replayed::Same]);
}

/// The evidence of one card may take an id while a trace of that id is on its way into another.
#[test]
fn what_the_store_refuses_at_the_last_moment_leaves_nothing_in_the_cache() {
    let server = Running::with(plain());
    let text = include_str!("../../../../scorecards/trace/1.0.0.toml");
    let text = text.replacen("= \"trace\"", "= \"other\"", 1);
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", &text).is(201);
    std::thread::scope(|scope| {
        for (card, vector) in [("trace@1.0.0", EAST), ("other@1.0.0", NORTH)] {
            let server = &server;
            scope.spawn(move || {
                for number in 0..150 {
                    let trace = trace("a", &number.to_string(), vector).to_string();
                    let sent = server.send(&format!("card={card}"), &trace);
                    assert!([201, 409].contains(&sent.status), "{}", sent.body);
                }
            });
        }
    });
    let all = replayed(&server.stop());
    assert_eq!(all.len(), 150, "each id was taken once");
    assert!(all.iter().all(|it| *it == Replayed::Same), "{all:?}");
}

/// Returns the folder of the model, as `crates/graders/tests/it/embedder.rs` finds it, which also reports a missing one.
fn model() -> Option<PathBuf> {
    let cache = || {
        let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let cache = cache.unwrap_or_else(|| std::env::home_dir().unwrap_or_default().join(".cache"));
        cache.join("karat-ci/embedder")
    };
    Some(std::env::var_os("KARAT_EMBEDDER").map_or_else(cache, PathBuf::from)).filter(|it| it.is_dir())
}

#[test]
fn a_subject_may_send_a_text_that_the_server_embeds_and_no_vector_of_its_own() {
    let key = json!({"name": "own", "scopes": ["write:evidence", "read"], "subject": "a"});
    let send = |server: &Running, id: &str, secret: &str| {
        let trace = trace("a", id, EAST).to_string();
        server.post(&format!("/v1/evidence?{CARD}"), Some(secret), "application/json", trace)
    };
    let server = Running::with(plain());
    let own = send(&server, "1", &server.key(&key));
    own.is_problem(403, "forbidden");
    let Some(embedder) = model() else { return };
    let traces = TraceOptions { embedder: Some(embedder), ..TraceOptions::default() };
    let server = Running::with(Options { traces, ..Options::default() });
    let secret = server.key(&key);
    assert_eq!(novelty(&send(&server, "1", &secret)), 0.5);
    // The vector does not match the text, which is the same.
    let copy = novelty(&send(&server, "2", &secret));
    assert!(copy.as_f64().unwrap() < 1e-9, "{copy}");
}

#[test]
fn without_any_vector_a_trace_is_scored_from_itself_alone() {
    let server = Running::with(plain());
    let mut own = trace("a", "1", EAST);
    own.as_object_mut().unwrap().remove("vector");
    let sent = server.send(CARD, &own.to_string());
    assert_eq!(sent.is(201).at("/content/as_of"), Value::Null);
    assert_eq!(sent.at("/content/grading/novelty"), json!({"basis": "no_embedder"}));
    // A refused vector begins no cache.
    let mut wrong = trace("a", "2", EAST);
    wrong["vector"] = json!([1]);
    server.send(CARD, &wrong.to_string()).is_problem(422, "evidence-refused");
    own["id"] = json!("kp:trace:3");
    let sent = server.send(CARD, &own.to_string());
    assert_eq!(sent.is(201).at("/content/grading/novelty"), json!({"basis": "no_embedder"}));
}
