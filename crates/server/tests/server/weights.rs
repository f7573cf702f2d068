//! Weights from outside: who proposes and decides, what is in force when, and what is scored with it.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use karat_core::timestamp::Timestamp;
use karat_server::Options;
use karat_server::clock::Clock;
use karat_store::Receipt;
use karat_store::log::VerifyingKey;
use serde_json::{Value, json};

use crate::common::{Answer, Folder, Running};

const CARD: &str = r#"
schema = "karat/scorecard/1"
id = "pair"
version = "1.0.0"
title = "Two dimensions"
evidence = "facts"
mean = "weighted-mean"
scale = { max = 1000, publish = "half-up" }
facts = { a = { min = 0, max = 1, from = "harness" }, b = { min = 0, max = 1, from = "harness" } }
override = { tolerance = 0.001 }
dimension = [{ key = "a", weight = 0.6 }, { key = "b", weight = 0.4 }]
standing = { score = "latest" }
"#;
const PATH: &str = "/v1/scorecards/pair@1.0.0/weights";

/// A server with the card, the keys of a proposer and of two deciders, and a clock that stands still.
struct Weighed {
    server: Running,
    clock: Clock,
    proposer: String,
    deciders: [String; 2],
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_790_000_000 + second)
}

impl Weighed {
    fn new() -> Self {
        let clock = Clock::fixed(at(0));
        let server = start(Folder::new(), None, &clock);
        server.post("/v1/scorecards", Some(&server.admin), "application/toml", CARD).is(201);
        let key = |name: &str, scope: &str| server.key(&json!({"name": name, "scopes": [scope, "read"]}));
        let (proposer, deciders) =
            (key("loop", "write:evidence"), [key("ann", "review"), key("bo", "review")]);
        Self { server, clock, proposer, deciders }
    }

    fn at(&self, second: i64) -> &Self {
        self.clock.put(at(second));
        self
    }

    fn propose_as(&self, key: &str, id: &str, weights: Value) -> Answer {
        let body = json!({"id": id, "reason": "higher agreement", "weights": weights}).to_string();
        self.server.post(PATH, Some(key), "application/json", body)
    }

    fn propose(&self, id: &str, weights: Value) -> Answer {
        self.propose_as(&self.proposer, id, weights)
    }

    fn decide_as(&self, key: &str, id: &str, decision: &str) -> Answer {
        let body = json!({"decision": decision, "reason": "seen"}).to_string();
        self.server.post(&format!("{PATH}/{id}/decision"), Some(key), "application/json", body)
    }

    fn decide(&self, id: &str, decision: &str) -> Answer {
        self.decide_as(&self.deciders[0], id, decision)
    }

    /// Sends the item with that id and returns its record.
    fn send(&self, id: &str) -> Value {
        let item = json!({"subject": "ibis", "id": id, "a": 1, "b": 0});
        self.server.send("card=pair@1.0.0", &item.to_string()).is(201).at("/content")
    }

    /// Returns points and the proposal in force, by the standing and by the leaderboard.
    fn official(&self, query: &str) -> (Value, Value) {
        let standing = self.server.get(&format!("/v1/standings/ibis?card=pair@1.0.0&{query}"));
        let board = self.server.get(&format!("/v1/leaderboards?card=pair@1.0.0&level=0.5&{query}"));
        let student = self.server.get(&format!("/v1/leaderboards?card=pair@1.0.0&method=means&{query}"));
        let found = (standing.is(200).at("/points"), standing.at("/weights/in_force/id"));
        for board in [board, student] {
            let row = board.is(200).at("/leaderboards/0/rows/0/official/points");
            assert_eq!((row, board.at("/leaderboards/0/weights/id")), found, "{}", board.body);
        }
        found
    }

    fn in_force(&self, query: &str) -> Value {
        self.server.get(&format!("{PATH}?{query}")).is(200).at("/in_force/id")
    }
}

fn start(folder: Folder, admin: Option<String>, clock: &Clock) -> Running {
    Running::with_clock("127.0.0.1:0", folder, Options::default(), admin, clock.clone())
}

#[test]
fn accepted_weights_score_what_comes_after_them() {
    let weighed = Weighed::new();
    let before = weighed.at(10).send("1");
    assert_eq!((&before["score"]["published"], &before["override"]), (&json!(600), &Value::Null));
    let proposed = weighed.at(20).propose("p", json!({"a": 0.25, "b": 0.75}));
    assert_eq!(proposed.is(201).at("/proposal/status"), "proposed");
    assert_eq!(proposed.at("/proposal/time"), at(20).to_string());
    assert_eq!(weighed.send("2")["score"]["published"], 600, "a proposal is not in force");
    assert_eq!(weighed.official(""), (json!(600), Value::Null));
    let accepted = weighed.at(30).decide("p", "accept");
    assert_eq!(accepted.is(201).at("/proposal/status"), "accepted");
    let after = weighed.send("3");
    assert_eq!(after["score"]["published"], 250);
    assert_eq!(after["override"]["outcome"], "applied");
    assert_eq!(after["override"]["given"], json!({"a": 0.25, "b": 0.75}));
    let batch = weighed.server.post(
        "/v1/evidence?card=pair",
        Some(&weighed.server.admin),
        "application/x-ndjson",
        r#"{"subject":"ibis","id":"4","a":1,"b":0}"#,
    );
    let position = batch.is(200).at("/items/0/position");
    let record = weighed.server.get(&format!("/v1/records/{position}"));
    assert_eq!(record.is(200).at("/record/override/outcome"), "applied");
    // The official score is of the weights at its moment; what was known before does not change.
    assert_eq!(weighed.official(""), (json!(250), json!("p")));
    let moment = |second| format!("as_of={}", at(second));
    for page in ["/leaderboards?card=pair@1.0.0", "/subjects/ibis?card=pair@1.0.0", "/scorecards/pair@1.0.0"]
    {
        let page = weighed.server.get(page);
        assert!(page.is(200).body.contains(" are in force since "), "{}", page.body);
    }
    assert_eq!(weighed.official(&moment(29)), (json!(600), Value::Null));
    assert_eq!(weighed.official(&moment(30)), (json!(250), json!("p")));
    assert_eq!(weighed.official(&format!("{}&known_at={}", moment(30), at(29))), (json!(600), Value::Null));
    assert_eq!(weighed.in_force(&moment(29)), Value::Null);
    assert_eq!(weighed.in_force(&moment(30)), "p");
    assert_eq!(weighed.in_force(&format!("known_at={}", at(29))), Value::Null);
    // The same item again keeps its record.
    let again = weighed.server.send("card=pair@1.0.0", r#"{"subject":"ibis","id":"1","a":1,"b":0}"#);
    assert_eq!(
        (again.is(200).at("/repeated"), again.at("/content/score/published")),
        (json!(true), json!(600))
    );
    // The page of the record explains it with its weights.
    let page = weighed.server.get(&format!("/records/{position}"));
    assert!(page.is(200).body.contains("from outside: a 0.25 and b 0.75"), "{}", page.body);
    let verified = weighed.server.get(&format!("/records/{position}/verify"));
    assert!(!verified.is(200).body.contains("failed"), "{}", verified.body);
    let explained = weighed.server.get(&format!("/v1/records/{position}/explanation"));
    assert_eq!(explained.is(200).at("/rows/0/share"), 0.25);
}

#[test]
fn nobody_decides_on_an_own_proposal_and_nothing_is_stored_then() {
    let weighed = Weighed::new();
    let both = weighed.server.key(&json!({"name": "both", "scopes": ["write:evidence", "review"]}));
    let id = |name: &str| {
        let keys = weighed.server.get_with("/v1/keys", Some(&weighed.server.admin)).is(200).at("/keys");
        let keys = keys.as_array().unwrap().clone();
        keys.into_iter().find(|key| key["name"] == name).unwrap()["id"].clone()
    };
    weighed.at(1).propose_as(&both, "p", json!({"a": 0.5, "b": 0.5})).is(201);
    let size = weighed.server.get("/v1/log").at("/size");
    for decision in ["accept", "refuse", "revoke"] {
        let refused = weighed.at(2).decide_as(&both, "p", decision);
        refused.is_problem(403, "forbidden");
        assert!(refused.at("/detail").as_str().unwrap().contains("another key"), "{}", refused.body);
    }
    // Scopes, and keys of one subject.
    weighed.decide_as(&weighed.proposer, "p", "accept").is_problem(403, "forbidden");
    weighed.propose_as(&weighed.deciders[0], "q", json!({})).is_problem(403, "forbidden");
    let own = weighed.server.key(&json!({"name": "x", "scopes": ["write:evidence"], "subject": "ibis"}));
    let size_with_key = weighed.server.get("/v1/log").at("/size");
    assert_eq!(size_with_key.as_u64(), size.as_u64().map(|size| size + 1));
    weighed.propose_as(&own, "q", json!({"a": 0.5, "b": 0.5})).is_problem(403, "forbidden");
    weighed.server.post(PATH, None, "application/json", "{}").is_problem(401, "unauthenticated");
    weighed.decide("nothing", "accept").is_problem(404, "not-found");
    weighed.decide("p", "revoke").is_problem(409, "conflict");
    weighed.decide("p", "approve").is_problem(400, "bad-request");
    assert_eq!(weighed.server.get("/v1/log").at("/size"), size_with_key);
    // Another key may, once.
    weighed.decide("p", "refuse").is(201);
    weighed.at(3).decide("p", "accept").is_problem(409, "conflict");
    let history = weighed.server.get(PATH);
    assert_eq!(history.is(200).at("/proposals/0/proposer"), id("both"));
    assert_eq!(history.at("/proposals/0/decisions/0/decider"), id("ann"));
    assert_eq!(history.at("/proposals/0/decisions/0/time"), at(2).to_string());
    assert_eq!(history.at("/proposals/0/status"), "refused");
}

#[test]
fn a_sum_that_is_off_is_refused_with_its_reason_wherever_people_look() {
    let weighed = Weighed::new();
    weighed.send("1");
    let cases = [
        ("below", json!({"a": 0.5989}), Some("0.9989,")),
        ("edge-below", json!({"a": 0.599}), None),
        ("edge-above", json!({"b": 0.401}), None),
        ("above", json!({"b": 0.401001}), Some("1.001001,")),
        ("unknown", json!({"c": 0.5}), Some("`c`")),
        ("negative", json!({"a": -0.5, "b": 1.5}), Some("`a`")),
    ];
    for (second, (id, weights, why)) in (10..).zip(&cases) {
        let proposed = weighed.at(second).propose(id, weights.clone());
        let told = proposed.is(201).at("/proposal/check_refusal");
        let Some(why) = why else {
            assert_eq!((told, proposed.at("/proposal/status")), (Value::Null, json!("proposed")));
            continue;
        };
        assert_eq!(proposed.at("/proposal/status"), "refused");
        let told = told.as_str().unwrap();
        assert!(told.contains(why), "{id}: {told}");
        let history = weighed.server.get(&format!("{PATH}?limit=1"));
        assert_eq!(history.is(200).at("/proposals/0/check_refusal"), told);
        let text = |page: Answer| {
            page.is(200).body.replace("&quot;", "\"").replace("<code>", "`").replace("</code>", "`")
        };
        let plain = told.replace('`', "");
        let shown = text(weighed.server.get("/scorecards/pair@1.0.0"));
        assert!(shown.contains(told) || shown.contains(&plain), "{told}: {shown}");
        let standing = weighed.server.get("/v1/standings/ibis?card=pair@1.0.0");
        assert_eq!(standing.is(200).at("/weights/refused/0/reason"), told);
        assert_eq!(standing.at("/weights/in_force"), Value::Null);
        weighed.decide(id, "accept").is_problem(409, "conflict");
    }
    let history = weighed.server.get(PATH);
    assert_eq!((history.at("/open"), history.at("/tolerance")), (json!(2), json!(0.001)));
    assert_eq!(weighed.send("2")["score"]["published"], 600);
    // What is not a proposal at all is not stored.
    for (body, field) in [
        (r#"{"id":"x","reason":"r","weights":{"a":0.6,"a":0.6}}"#, "$.weights.a"),
        (r#"{"id":"x","reason":"r","weights":{"a":0.1234567}}"#, "$.weights"),
        (r#"{"id":"x","reason":"r","weights":{"a":"1"}}"#, "$.weights"),
        (r#"{"id":"x","reason":"r","weights":[]}"#, "$.weights"),
        (r#"{"id":"x","reason":"r","weights":{"a":9000000000000.000001}}"#, "$.weights"),
        (r#"{"id":" ","reason":"r","weights":{}}"#, "$.id"),
        (r#"{"id":"x","reason":"","weights":{}}"#, "$.reason"),
        (r#"{"id":"x","reason":"r","weights":{},"event":"weights-accepted"}"#, "$.event"),
        (r#"{"id":"x","reason":"r","weights":{},"more":1}"#, "$.more"),
    ] {
        let refused = weighed.server.post(PATH, Some(&weighed.proposer), "application/json", body);
        assert_eq!(refused.is_problem(400, "bad-request").at("/field"), field, "{}", refused.body);
    }
    let other = |card: &str| {
        let path = format!("/v1/scorecards/{card}/weights");
        let body = r#"{"id":"x","reason":"r","weights":{}}"#;
        weighed.server.post(&path, Some(&weighed.proposer), "application/json", body)
    };
    other("workflow@1.0.0").is_problem(422, "unanswerable");
    other("arena").is_problem(422, "unanswerable");
    other("nothing").is_problem(404, "not-found");
    assert_eq!(
        weighed.server.get("/v1/scorecards/workflow@1.0.0/weights").is(200).at("/tolerance"),
        Value::Null
    );
}

#[test]
fn of_two_proposals_the_one_accepted_last_is_in_force_until_it_is_revoked() {
    let weighed = Weighed::new();
    weighed.send("0");
    weighed.at(1).propose("p", json!({"a": 0.5, "b": 0.5})).is(201);
    weighed.propose("q", json!({"a": 0.1, "b": 0.9})).is(201);
    weighed.propose("p", json!({"a": 0.2, "b": 0.8})).is_problem(409, "conflict");
    let again = weighed.at(5).propose("p", json!({"b": 0.5, "a": 0.5}));
    assert_eq!(
        (again.is(200).at("/repeated"), again.at("/proposal/time")),
        (json!(true), json!(at(1).to_string()))
    );
    let listed = |weighed: &Weighed| {
        let history = weighed.server.get(PATH);
        let proposals = history.is(200).at("/proposals").as_array().unwrap().clone();
        let status =
            |it: &Value| (it["id"].as_str().unwrap().to_owned(), it["status"].as_str().unwrap().to_owned());
        (proposals.iter().map(status).collect::<Vec<_>>(), history.at("/weights"))
    };
    let (p, q) = ("p".to_owned(), "q".to_owned());
    weighed.at(10).decide("q", "accept").is(201);
    assert_eq!(weighed.send("1")["score"]["published"], 100);
    // What no second makes right is not to be sent again.
    let unknown = weighed.decide("none", "accept");
    assert!(
        unknown.is_problem(404, "not-found").body.contains("there is no proposal `none`"),
        "{}",
        unknown.body
    );
    // Standings count by seconds, so two decisions in one second have no order.
    weighed.decide_as(&weighed.deciders[1], "p", "accept").is_problem(409, "conflict");
    weighed.at(11).decide_as(&weighed.deciders[1], "p", "accept").is(201);
    assert_eq!(weighed.send("2")["score"]["published"], 500);
    let (status, weights) = listed(&weighed);
    assert_eq!(status, [(q.clone(), "replaced".to_owned()), (p.clone(), "accepted".to_owned())]);
    assert_eq!(weights, json!({"a": 0.5, "b": 0.5}));
    assert_eq!(weighed.official(""), (json!(500), json!("p")));
    weighed.at(12).decide("p", "revoke").is(201);
    let after = weighed.send("3");
    assert_eq!((&after["score"]["published"], &after["override"]), (&json!(600), &Value::Null));
    assert_eq!(weighed.official(""), (json!(600), Value::Null));
    for (second, found) in [(9, Value::Null), (10, json!("q")), (11, json!("p")), (12, Value::Null)] {
        let query = format!("as_of={}", at(second));
        assert_eq!(weighed.in_force(&query), found, "{second}");
        assert_eq!(weighed.official(&query).1, found, "{second}");
    }
    let (status, weights) = listed(&weighed);
    assert_eq!(status, [(q, "replaced".to_owned()), (p, "revoked".to_owned())]);
    assert_eq!(weights, json!({"a": 0.6, "b": 0.4}));
    // The list comes in parts.
    let first = weighed.server.get(&format!("{PATH}?limit=1"));
    assert_eq!((first.at("/proposals/0/id"), first.at("/next")), (json!("q"), json!(1)));
    let second = weighed.server.get(&format!("{PATH}?limit=1&skip=1"));
    assert_eq!((second.at("/proposals/0/id"), second.at("/next")), (json!("p"), Value::Null));
}

#[test]
fn a_restart_keeps_the_weights_in_force_and_receipts_hold() {
    let weighed = Weighed::new();
    weighed.send("1");
    weighed.at(1).propose("p", json!({"a": 0.5, "b": 0.5})).is(201);
    weighed.propose("q", json!({"a": 0.9})).is(201);
    weighed.at(2).decide("p", "accept").is(201);
    weighed.send("2");
    let paths = [
        PATH.to_owned(),
        "/v1/records".to_owned(),
        "/v1/leaderboards?card=pair@1.0.0&method=means".to_owned(),
        "/v1/standings?card=pair@1.0.0".to_owned(),
        format!("/v1/standings?card=pair@1.0.0&as_of={}", at(1)),
    ];
    let Weighed { server, clock, .. } = weighed;
    let asked = |server: &Running| paths.clone().map(|path| server.get(&path).is(200).body.clone());
    let (before, admin) = (asked(&server), server.admin.clone());
    let mut folder = server.stop();
    for has_cache in [true, false] {
        if !has_cache {
            std::fs::remove_file(folder.path().join(karat_server::folder::INDEX)).unwrap();
        }
        let server = start(folder, Some(admin.clone()), &clock);
        assert_eq!(asked(&server), before);
        folder = server.stop();
    }
    let server = start(folder, Some(admin), &clock);
    let sent = server.send("card=pair@1.0.0", r#"{"subject":"ibis","id":"3","a":1,"b":0}"#);
    assert_eq!(sent.is(201).at("/content/score/published"), 500);
    let key: VerifyingKey = server.get("/v1/log").at("/key").as_str().unwrap().parse().unwrap();
    let receipt = server.get(sent.at("/receipt").as_str().unwrap());
    let receipt = Receipt::parse(receipt.is(200).body.as_bytes()).unwrap();
    assert!(receipt.verify(&key).holds(), "{}", receipt.verify(&key));
    // The log goes on: after the weights, the new weights.
    server
        .post(PATH, Some(&server.admin), "application/json", r#"{"id":"r","reason":"r","weights":{}}"#)
        .is(201);
}

#[test]
fn of_many_at_once_one_proposes_and_one_decides() {
    let weighed = Weighed::new();
    let clients = 8;
    let at_once = |ask: &(dyn Fn(usize) -> Answer + Sync)| -> Vec<u16> {
        std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..clients).map(|client| scope.spawn(move || ask(client).status)).collect();
            let mut found: Vec<u16> = threads.into_iter().map(|it| it.join().unwrap()).collect();
            found.sort_unstable();
            found
        })
    };
    let proposed = at_once(&|client| weighed.propose("p", json!({"a": 0.5, "b": 0.5 + client as f64 / 1e4})));
    assert_eq!(proposed, [vec![201], vec![409; clients - 1]].concat());
    weighed.at(1);
    let decided = at_once(&|client| {
        let decision = if client % 2 == 0 { "accept" } else { "refuse" };
        weighed.decide_as(&weighed.deciders[client / 4], "p", decision)
    });
    assert_eq!(decided, [vec![201], vec![409; clients - 1]].concat());
    let proposal = weighed.server.get(PATH).at("/proposals/0");
    assert_eq!(proposal["decisions"].as_array().unwrap().len(), 1, "{proposal}");
}

/// The weights count that are in force when an item has arrived, and not when its request began.
#[test]
fn a_body_that_comes_slowly_is_scored_with_the_weights_of_its_end() {
    let weighed = Weighed::new();
    weighed.at(1).propose("p", json!({"a": 0.25, "b": 0.75})).is(201);
    let open = |id: &str, media: &str| {
        let body = format!(r#"{{"subject":"ibis","id":"{id}","a":1,"b":0}}"#);
        let head = format!(
            "POST /v1/evidence?card=pair@1.0.0 HTTP/1.1\r\nhost: {}\r\nconnection: close\r\nauthorization: Bearer {}\r\n\
             content-type: {media}\r\ncontent-length: {}\r\n\r\n",
            weighed.server.address,
            weighed.server.admin,
            body.len()
        );
        let mut stream = TcpStream::connect(weighed.server.address).unwrap();
        let (now, later) = body.split_at(9);
        stream.write_all(format!("{head}{now}").as_bytes()).unwrap();
        (stream, later.to_owned())
    };
    let waiting = [open("1", "application/json"), open("2", "application/x-ndjson")];
    // Time for the server to read the heads.
    std::thread::sleep(Duration::from_millis(300));
    weighed.at(2).decide("p", "accept").is(201);
    for (mut stream, later) in waiting {
        stream.write_all(later.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 20"), "{answer}");
    }
    let records = weighed.server.get("/v1/records?card=pair@1.0.0").is(200).at("/records");
    let used: Vec<&Value> =
        records.as_array().unwrap().iter().map(|it| &it["record"]["override"]["outcome"]).collect();
    assert_eq!(used, ["applied", "applied"], "{records}");
}
