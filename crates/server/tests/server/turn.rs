//! Decisions that are made when an entry is written, and not when its request began. Every log of these tests is checked at the
//! end: was each sender in force and allowed, when its entry came?

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::Duration;

use karat_server::Options;
use karat_server::clock::Clock;
use karat_server::rescore::commit;
use karat_server::state::App;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::common::{Answer, Running};
use crate::keys::CARD;

const JSON: &str = "application/json";
const LINES: &str = "application/x-ndjson";

fn with_card() -> Running {
    let server = Running::new();
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", CARD).is(201);
    server
}

/// Creates a key; returns its secret and its id.
fn key(server: &Running, name: &str, scope: &str) -> (String, String) {
    let body = json!({"name": name, "scopes": [scope]}).to_string();
    let made = server.post("/v1/keys", Some(&server.admin), JSON, body);
    let text = |pointer: &str| made.is(201).at(pointer).as_str().unwrap().to_owned();
    (text("/secret"), text("/id"))
}

fn item(subject: &str, id: &str) -> String {
    json!({"subject": subject, "id": id, "told": 1}).to_string()
}

/// Does the same work on many threads at once.
fn at_once<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = Barrier::new(count);
    let one = |at: usize| {
        barrier.wait();
        work(at)
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|at| scope.spawn(move || one(at))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn statuses(answers: &[Answer]) -> Vec<u16> {
    let mut all: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    all.sort_unstable();
    all
}

#[test]
fn a_batch_adds_nothing_after_its_key_was_revoked() {
    let server = with_card();
    let (secret, id) = key(&server, "batches", "write:evidence");
    let lines = |from: usize| -> String {
        (from..from + 3000)
            .map(|at| format!("{{\"subject\":\"a\",\"id\":\"{at}\",\"told\":1,\"rest\":\"{:>500}\"}}\n", at))
            .collect()
    };
    let parts = [lines(0), lines(3000), lines(6000)];
    let length: usize = parts.iter().map(String::len).sum();
    let mut socket = TcpStream::connect(server.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    write!(
        socket,
        "POST /v1/evidence?card=told@1.0.0 HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {secret}\r\n"
    )
    .unwrap();
    write!(socket, "content-type: {LINES}\r\ncontent-length: {length}\r\n\r\n{}", parts[0]).unwrap();
    let count = || server.get("/v1/subjects").at("/subjects/0/records").as_u64().unwrap_or(0);
    while count() < 1000 {
        thread::sleep(Duration::from_millis(20));
    }
    server.delete(&format!("/v1/keys/{id}"), &server.admin).is(204);
    let before = count();
    // The server may have ended the connection by then.
    let _ = socket.write_all(parts[1].as_bytes()).and_then(|()| socket.write_all(parts[2].as_bytes()));
    let mut answer = String::new();
    let _ = socket.read_to_string(&mut answer);
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert_eq!(count(), before, "nothing came after the key was revoked");
}

#[test]
fn a_stream_of_events_ends_with_its_key() {
    let server = with_card();
    let (secret, id) = key(&server, "reads", "read");
    let mut socket = TcpStream::connect(server.address).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(socket, "GET /v1/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {secret}\r\n\r\n")
        .unwrap();
    let mut stream = BufReader::new(socket);
    let mut line = String::new();
    while stream.read_line(&mut line).unwrap() > 2 {
        line.clear();
    }
    server.send("card=told@1.0.0", &item("a", "before")).is(201);
    let mut text = String::new();
    while !text.contains("before") {
        assert!(stream.read_line(&mut text).unwrap() > 0);
    }
    server.delete(&format!("/v1/keys/{id}"), &server.admin).is(204);
    server.send("card=told@1.0.0", &item("a", "afterwards")).is(201);
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert!(!rest.contains("afterwards"), "{rest}");
}

#[test]
fn one_administrator_is_left_whoever_revokes_whom_at_once() {
    for _ in 0..10 {
        let server = Running::new();
        let (second, second_id) = key(&server, "second", "admin");
        let listed = server.get_with("/v1/keys", Some(&second)).is(200).at("/keys");
        let first = listed.as_array().unwrap().iter().find(|key| key["name"] == "first").unwrap();
        let first_id = first["id"].as_str().unwrap();
        let answers = at_once(2, |at| match at {
            0 => server.delete(&format!("/v1/keys/{second_id}"), &server.admin),
            _ => server.delete(&format!("/v1/keys/{first_id}"), &second),
        });
        assert_eq!(statuses(&answers)[0], 204);
        assert!([401, 409].contains(&statuses(&answers)[1]), "{:?}", statuses(&answers));
        let left = [&server.admin, &second].map(|key| server.get_with("/v1/keys", Some(key)).status);
        assert!(left.contains(&200), "{left:?}");
    }
}

#[test]
fn of_keys_of_one_name_at_once_one_is_made() {
    let server = Running::new();
    let answers = at_once(64, |_| {
        let body = json!({"name": "twin", "scopes": ["review"]}).to_string();
        server.post("/v1/keys", Some(&server.admin), JSON, body)
    });
    let mut expected = vec![409; 64];
    expected[0] = 201;
    assert_eq!(statuses(&answers), expected);
}

const REVIEWED: &str = r#"
schema = "karat/scorecard/1"
id = "held"
version = "1.0.0"
title = "An agent under review"
about = "One value that waits for a decision when it swings."
evidence = "facts"
scale = { max = 1000, publish = "half-up" }
facts = { quality = { unit = "1", min = 0, max = 1, from = "harness" } }
dimension = [{ key = "quality", weight = 1 }]

[standing]
score = "latest"
review = { swing_points = 100, deadline_hours = 24 }
"#;

#[test]
fn of_decisions_on_one_score_at_once_one_is_stored() {
    let server = Running::new();
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", REVIEWED).is(201);
    let reviewers: Vec<String> =
        (0..8).map(|at| key(&server, &format!("reviewer {at}"), "review").0).collect();
    let evaluate = |id: &str, quality: f64| {
        let item = json!({"subject": "bee", "id": id, "quality": quality}).to_string();
        server.post("/v1/evidence?card=held", Some(&server.admin), JSON, item).is(201);
        // Events count by their seconds.
        thread::sleep(Duration::from_millis(1100));
    };
    evaluate("first", 0.5);
    evaluate("second", 0.9);
    let held = server.get_with("/v1/reviews?card=held@1.0.0", Some(&reviewers[0])).is(200).json();
    let seen = held["reviews"][0]["review"]["held"]["digest"].as_str().expect("a score is held").to_owned();
    let answers = at_once(32, |at| {
        let verdict = if at % 2 == 0 { "approve" } else { "reject" };
        let body = json!({"card": "held@1.0.0", "subject": "bee", "verdict": verdict, "reason": "looked at", "seen": seen,
            "evidence": [seen]});
        server.post("/v1/reviews", Some(&reviewers[at % 8]), JSON, body.to_string())
    });
    let mut expected = vec![409; 32];
    expected[0] = 201;
    assert_eq!(statuses(&answers), expected, "{}", answers[0].json());
    let review = server.get("/v1/standings/bee?card=held@1.0.0").is(200).at("/review/refusals");
    assert_eq!(review, json!([]), "what was stored counts");
}

/// A request of a schedule, by one of four keys.
#[derive(Debug, Clone)]
enum Done {
    Send(usize),
    Batch(usize),
    Correct(usize),
    Make(usize, usize),
    Revoke(usize, usize),
}

fn done() -> impl Strategy<Value = Done> {
    let key = 0usize..4;
    prop_oneof![
        4 => key.clone().prop_map(Done::Send),
        2 => key.clone().prop_map(Done::Batch),
        2 => key.clone().prop_map(Done::Correct),
        1 => (key.clone(), 0usize..3).prop_map(|(by, name)| Done::Make(by, name)),
        2 => (key.clone(), key).prop_map(|(by, whom)| Done::Revoke(by, whom)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever comes at once: what was answered is what the log has, and the log passes its check.
    #[test]
    fn any_schedule_leaves_a_log_in_which_everyone_was_allowed(
        schedules in prop::collection::vec(prop::collection::vec(done(), 1..8), 2..6),
    ) {
        let server = with_card();
        let scopes = ["admin", "admin", "write:evidence", "write:evidence"];
        let keys: Vec<(String, String)> =
            scopes.iter().enumerate().map(|(at, scope)| key(&server, &format!("key {at}"), scope)).collect();
        server.send("card=told@1.0.0", &item("old", "0")).is(201);
        let answers = at_once(schedules.len(), |thread| {
            let one = |(at, done): (usize, &Done)| {
                let name = format!("{thread}-{at}");
                let path = "/v1/evidence?card=told@1.0.0";
                match done {
                    Done::Send(by) => (*by, server.post(path, Some(&keys[*by].0), JSON, item("a", &name))),
                    Done::Batch(by) => {
                        let lines: String = (0..20).map(|line| item("b", &format!("{name}-{line}")) + "\n").collect();
                        (*by, server.post(path, Some(&keys[*by].0), LINES, lines))
                    }
                    Done::Correct(by) => {
                        let path = format!("{path}&replaces=0");
                        (*by, server.post(&path, Some(&keys[*by].0), JSON, item("old", &name)))
                    }
                    Done::Make(by, name) => {
                        let body = json!({"name": format!("name {name}"), "scopes": ["read"]}).to_string();
                        (*by, server.post("/v1/keys", Some(&keys[*by].0), JSON, body))
                    }
                    Done::Revoke(by, whom) => (*by, server.delete(&format!("/v1/keys/{}", keys[*whom].1), &keys[*by].0)),
                }
            };
            schedules[thread].iter().enumerate().map(one).collect::<Vec<_>>()
        });
        for (_, answer) in answers.iter().flatten() {
            let expected = [200, 201, 204, 401, 403, 404, 409, 422];
            prop_assert!(expected.contains(&answer.status), "{}", answer.status);
            if answer.status == 201 && !answer.at("/record").is_null() {
                let position = answer.at("/record/position").as_u64().unwrap();
                let entry = server.get(&format!("/v1/records/{position}"));
                prop_assert_eq!(entry.status, 200);
            }
        }
        let made: Vec<Value> = server.get_with("/v1/keys", Some(&server.admin)).is(200).at("/keys").as_array().unwrap().clone();
        let mut names: Vec<&str> = made.iter().map(|key| key["name"].as_str().unwrap()).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        prop_assert_eq!(names.len(), count);
    }
}

/// A new version of a scorecard takes over once it has the records of the one before, which the server scores again.
#[test]
fn a_new_version_answers_once_it_has_all_records() {
    const TIMED: &str = r#"
schema = "karat/scorecard/1"
id = "timed"
version = "1.0.0"
title = "A value that grows old"
about = "The latest value, which loses points."
evidence = "facts"
scale = { max = 1000, publish = "half-up" }
facts = { quality = { unit = "1", min = 0, max = 1, from = "harness" } }
dimension = [{ key = "quality", weight = 1 }]

[standing]
score = "latest"
decay = { grace_days = 0, points_per_period = 40 }
"#;
    let server = Running::new();
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", TIMED).is(201);
    let (secret, id) = key(&server, "harness", "write:evidence");
    let send = |server: &Running, subject: &str| {
        let item = json!({"subject": subject, "id": "1", "quality": 0.5}).to_string();
        server.post("/v1/evidence?card=timed", Some(&secret), JSON, item).is(201).json()
    };
    let first = send(&server, "bee");
    send(&server, "wasp");
    let newer = TIMED.replace("1.0.0", "2.0.0").replace("half-up", "floor");
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", &newer).is(201);
    send(&server, "ant");
    let board = |server: &Running| server.get("/v1/leaderboards?card=timed").is(200).json();
    let answered = board(&server);
    assert_eq!(answered["newer_version"], json!({"card": "timed@2.0.0", "records": 1, "of": 2}));
    assert_eq!(answered["leaderboards"][0]["rows"].as_array().unwrap().len(), 2);
    let before = server.get("/v1/standings/bee?card=timed@1.0.0").is(200).json();

    let admin = server.admin.clone();
    let folder = server.stop();
    let (sqlite, signer) = karat_server::folder::open(folder.path(), None).unwrap();
    let (app, _) = App::open(
        Arc::new(sqlite),
        signer,
        Options::default(),
        Clock::system(),
        Some(folder.path()),
        &mut |_, _| {},
    )
    .unwrap();
    let done = commit(&app, "timed@2.0.0", &mut |_, _| {}).unwrap();
    assert_eq!((done.written, done.present, done.refused.len()), (2, 0, 0));
    assert_eq!(commit(&app, "timed@2.0.0", &mut |_, _| {}).unwrap().written, 0, "once");
    drop(app);

    // As of the same moments, and of the same sender.
    let server = Running::in_folder(folder, Options::default(), Some(admin));
    let answered = board(&server);
    assert_eq!(answered["newer_version"], Value::Null);
    assert_eq!(answered["leaderboards"][0]["rows"].as_array().unwrap().len(), 3);
    let after = server.get("/v1/standings/bee?card=timed@2.0.0").is(200).json();
    for member in ["window", "first_seen", "latest"] {
        let moment = |standing: &Value| standing[member][0]["time"].clone();
        assert_eq!(moment(&after), moment(&before), "{member}: it arrived with its evidence");
    }
    let history = server.get("/v1/subjects/bee/history?card=timed@2.0.0").is(200).at("/entries/0");
    assert_eq!((&history["sender"], &history["time"]), (&json!("server"), &Value::Null));
    assert_ne!(history["position"], first["record"]["position"]);
    server.delete(&format!("/v1/keys/{id}"), &server.admin).is(204);
    let since = json!({"since": "2020-01-01T00:00:00Z", "reason": "lost"}).to_string();
    server.post(&format!("/v1/keys/{id}/withdrawal"), Some(&server.admin), JSON, since).is(201);
    server.get("/v1/leaderboards?card=timed@2.0.0").is(422);
}
