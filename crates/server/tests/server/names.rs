//! Names that look like another's are shown as such, at every door.

use karat_core::timestamp::Timestamp;
use karat_server::Options;
use karat_server::clock::Clock;
use serde_json::{Value, json};

use crate::common::{Folder, Running};

/// A moment before all items, in seconds.
const NOW: i64 = 1_780_000_000;
const LATIN: &str = "paypal";
const CYRILLIC: &str = "p\u{430}ypal";
const DIGIT: &str = "paypa1";

fn send(server: &Running, card: &str, subject: &str, number: u64) {
    let item = match card {
        "support-agent" => json!({"subject": subject, "id": number.to_string(), "task": "t",
            "time": "2026-03-01T09:00:00Z", "outcome": "succeeded", "accuracy": 0.5}),
        _ => json!({"match_id": number.to_string(), "agent_id": subject, "scores": {
            "correctness": 900, "speed": 780, "methodology": 690, "completeness": 760}}),
    };
    server.send(&format!("card={card}"), &item.to_string()).is(201);
}

fn rows(answer: &Value) -> Vec<(String, Value)> {
    let rows = answer["leaderboards"][0]["rows"].as_array().unwrap().iter();
    rows.map(|row| (row["subject"].as_str().unwrap().to_owned(), row["looks_like"].clone())).collect()
}

#[test]
fn subjects_that_look_alike_are_flagged_at_every_door() {
    let clock = Clock::fixed(Timestamp::from_seconds(NOW));
    let server = Running::with_clock("127.0.0.1:0", Folder::new(), Options::default(), None, clock.clone());
    send(&server, "log-forensics@1.0.0", LATIN, 1);
    send(&server, "log-forensics@1.0.0", "ebay", 2);
    let list = |server: &Running| server.get("/v1/subjects").is(200).at("/subjects");
    assert!(list(&server).as_array().unwrap().iter().all(|it| it["looks_like"].is_null()));
    clock.put(Timestamp::from_seconds(NOW + 100));
    // One is on another leaderboard alone.
    send(&server, "log-forensics@1.0.0", DIGIT, 3);
    send(&server, "incident-review@1.0.0", CYRILLIC, 4);

    let others = |name: &str| {
        let mut others = vec![LATIN, CYRILLIC, DIGIT];
        others.retain(|other| *other != name);
        others.sort_unstable();
        json!(others)
    };
    for subject in list(&server).as_array().unwrap() {
        let name = subject["name"].as_str().unwrap();
        let expected = if name == "ebay" { Value::Null } else { others(name) };
        assert_eq!(subject["looks_like"], expected, "{name}");
    }
    for (before, name) in [("paypa0", DIGIT), ("paypa1", LATIN), ("paypam", CYRILLIC)] {
        let part = server.get(&format!("/v1/subjects?limit=1&after={before}")).is(200).at("/subjects/0");
        assert_eq!((&part["name"], &part["looks_like"]), (&json!(name), &others(name)), "alone on its page");
    }
    assert_eq!(server.get("/v1/subjects/paypal/history").is(200).at("/looks_like"), others(LATIN));
    assert_eq!(server.get("/v1/subjects/ebay/history").is(200).at("/looks_like"), Value::Null);

    let board = |query: &str| {
        server.get(&format!("/v1/leaderboards?card=log-forensics@1.0.0&{query}")).is(200).json()
    };
    for (name, found) in rows(&board("by=mean")) {
        assert_eq!(found, if name == "ebay" { Value::Null } else { others(&name) }, "{name}");
    }
    let page = rows(&board("by=mean&limit=1&skip=1&method=means"));
    assert_eq!(page.len(), 1);
    assert_eq!(page[0].1, if page[0].0 == "ebay" { Value::Null } else { others(&page[0].0) });
    // The past is unchanged: no subject that looks like it had come yet.
    let then = Timestamp::from_seconds(NOW + 50);
    let past = rows(&board(&format!("by=mean&as_of={then}&known_at={then}")));
    assert_eq!(past.len(), 2);
    assert!(past.iter().all(|(_, found)| found.is_null()), "{past:?}");

    let standing = server.get("/v1/standings/paypal?card=log-forensics@1.0.0");
    assert_eq!(standing.is(200).at("/looks_like"), others(LATIN));
    let standings = server.get("/v1/standings?card=log-forensics@1.0.0&limit=1&after=paypa");
    assert_eq!(standings.is(200).at("/standings/0/looks_like"), others(DIGIT));

    for path in ["/?card=log-forensics@1.0.0", "/subjects/paypa1?card=log-forensics@1.0.0"] {
        let page = server.get(path).is(200).body.clone();
        assert!(
            page.contains("these names look alike") && page.contains("(p\\u{430}ypal)"),
            "{path}: {page}"
        );
    }
    let page = server.get("/subjects/ebay?card=log-forensics@1.0.0").is(200).body.clone();
    assert!(!page.contains("look alike"), "{page}");
}

#[test]
fn names_that_look_alike_are_known_after_a_start() {
    let server = Running::new();
    send(&server, "log-forensics@1.0.0", LATIN, 1);
    send(&server, "log-forensics@1.0.0", DIGIT, 2);
    let admin = server.admin.clone();
    let server = Running::in_folder(server.stop(), Options::default(), Some(admin));
    assert_eq!(server.get("/v1/subjects").at("/subjects/0/looks_like"), json!([LATIN]));
    send(&server, "log-forensics@1.0.0", CYRILLIC, 3);
    assert_eq!(server.get("/v1/subjects").at("/subjects/0/looks_like"), json!([LATIN, CYRILLIC]));
}

#[test]
fn names_of_keys_that_look_alike_are_flagged() {
    let server = Running::new();
    let make = |name: &str| {
        let body = json!({"name": name, "scopes": ["read"]}).to_string();
        server.post("/v1/keys", Some(&server.admin), "application/json", body).is(201).at("/looks_like")
    };
    assert_eq!(make("ci of team blue"), Value::Null);
    assert_eq!(make("ci of team b1ue"), json!(["ci of team blue"]));
    let keys = server.get_with("/v1/keys", Some(&server.admin)).is(200).at("/keys");
    let found: Vec<(&str, &Value)> = keys
        .as_array()
        .unwrap()
        .iter()
        .map(|key| (key["name"].as_str().unwrap(), &key["looks_like"]))
        .collect();
    for (name, like) in found {
        let expected = match name {
            "ci of team blue" => json!(["ci of team b1ue"]),
            "ci of team b1ue" => json!(["ci of team blue"]),
            _ => Value::Null,
        };
        assert_eq!(*like, expected, "{name}");
    }
}

/// Of many names that look alike, a row shows the first ones that came and how many more there are.
#[test]
fn a_crowd_of_look_alikes_is_shown_in_part() {
    let server = Running::new();
    let name = |at: usize| -> String {
        (0..5).map(|bit| if at >> bit & 1 == 1 { '\u{43e}' } else { 'o' }).collect()
    };
    let line = |at: usize| {
        let item = json!({"match_id": at.to_string(), "agent_id": name(at), "scores": {
            "correctness": 900, "speed": 780, "methodology": 690, "completeness": 760}});
        format!("{item}\n")
    };
    let lines: String = (0..32).map(line).collect();
    let path = "/v1/evidence?card=log-forensics@1.0.0";
    server.post(path, Some(&server.admin), "application/x-ndjson", lines).is(200);
    let list = server.get("/v1/subjects").is(200).at("/subjects");
    for (at, row) in list.as_array().unwrap().iter().enumerate() {
        let others = row["looks_like"].as_array().unwrap();
        assert_eq!((others.len(), &row["looks_like_more"]), (16, &json!(15)), "{at}");
        assert!(!others.contains(&row["name"]));
        assert!(
            others.contains(&json!(name(0))) || row["name"] == json!(name(0)),
            "the first to come is shown"
        );
    }
}
