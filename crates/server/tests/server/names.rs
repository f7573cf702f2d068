//! Names at every door: those that look like another's are shown as such, and what is not seen is refused.

use karat_core::timestamp::Timestamp;
use karat_server::Options;
use karat_server::clock::Clock;
use serde_json::{Value, json};

use crate::arena::challenge;
use crate::common::{Folder, Running};
use crate::requests::{SOLVED, with_card};
use crate::workflows::{Market, task};

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

    for path in ["/leaderboards?card=log-forensics@1.0.0", "/subjects/paypa1?card=log-forensics@1.0.0"] {
        let page = server.get(path).is(200).body.clone();
        assert!(page.contains("hese names look alike") && page.contains("(p\\u{430}ypal)"), "{path}: {page}");
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

/// Every door through which a name comes in: the path, the media type, a body with `NAME` in it, and the place of the name.
fn doors() -> Vec<(&'static str, &'static str, String, &'static str)> {
    const JSON: &str = "application/json";
    let mut slug = challenge("NAME", "contender");
    slug["card"] = json!("log-forensics@1.0.0");
    let fact = |member: &str| {
        let mut item = json!({"id": "1", "subject": "bot", "task": "t", "solved": 1});
        item[member] = json!("NAME");
        item.to_string()
    };
    let of_match = |member: &str| {
        let mut item = json!({"match_id": "1", "agent_id": "bot", "scores": {"correctness": 900, "speed": 780,
            "methodology": 690, "completeness": 760}});
        item[member] = json!("NAME");
        item.to_string()
    };
    let workflow = json!({"task": task("NAME"), "card": "workflow@1.0.0", "plans_until": "2027-02-01T00:00:00Z",
        "recordings_until": "2027-03-01T00:00:00Z"});
    let signer = "ed25519:".to_owned() + &"A".repeat(43);
    let card = SOLVED.replace("id = \"solved\"", "id = \"NAME\"");
    vec![
        ("/v1/evidence?card=solved@1.0.0", JSON, fact("subject"), "$.subject"),
        ("/v1/evidence?card=solved@1.0.0", JSON, fact("id"), "$.id"),
        ("/v1/evidence?card=solved@1.0.0", JSON, fact("task"), "$.task"),
        ("/v1/evidence?card=log-forensics@1.0.0", JSON, of_match("agent_id"), "$.agent_id"),
        ("/v1/evidence?card=log-forensics@1.0.0", JSON, of_match("match_id"), "$.match_id"),
        ("/v1/backfill?card=solved@1.0.0&reason=old", JSON, fact("subject"), "$.subject"),
        ("/v1/keys", JSON, json!({"name": "NAME", "scopes": ["read"]}).to_string(), "$.name"),
        (
            "/v1/keys",
            JSON,
            json!({"name": "k", "scopes": ["read"], "subject": "NAME"}).to_string(),
            "$.subject",
        ),
        ("/v1/workflows/tasks", JSON, workflow.to_string(), "$.task.task_id"),
        (
            "/v1/workflows/recorders",
            JSON,
            json!({"recorder_id": "NAME", "key": signer}).to_string(),
            "$.recorder_id",
        ),
        (
            "/v1/arena/harnesses",
            JSON,
            json!({"harness_id": "NAME", "key": signer}).to_string(),
            "$.harness_id",
        ),
        ("/v1/arena/agents", JSON, json!({"agent_id": "NAME"}).to_string(), "$.agent_id"),
        ("/v1/arena/challenges", JSON, slug.to_string(), "$.slug"),
        ("/v1/scorecards", "application/toml", card, "id"),
    ]
}

#[test]
fn what_is_not_seen_comes_in_through_no_door() {
    let hidden = [
        "\u{ad}", "\u{34f}", "\u{61c}", "\u{115f}", "\u{17b4}", "\u{180b}", "\u{200b}", "\u{200d}",
        "\u{202e}", "\u{2064}", "\u{2800}", "\u{3164}", "\u{fe00}", "\u{fe0f}", "\u{feff}", "\u{ffa0}",
        "\u{fff0}", "\u{1bca0}", "\u{1d173}", "\u{e0041}", "\u{e0100}",
        "\u{483}\u{483}\u{483}\u{483}\u{483}",
    ];
    let server = with_card(SOLVED);
    for (path, media, body, place) in doors() {
        for hidden in hidden {
            let body = body.replace("NAME", &format!("bo{hidden}t"));
            let answer = server.post(path, Some(&server.admin), media, &body);
            assert!([400, 422].contains(&answer.status), "{path} {hidden:?}: {}", answer.body);
            assert!(answer.body.contains(place), "{path} {hidden:?}: {}", answer.body);
        }
    }
    // Each of these doors takes the name without it.
    let doors = doors().into_iter().filter(|(path, ..)| path.starts_with("/v1/evidence"));
    for (at, (path, media, body, _)) in doors.enumerate() {
        let answer =
            server.post(path, Some(&server.admin), media, body.replace("NAME", &format!("bot-{at}")));
        assert!([200, 201, 409].contains(&answer.status), "{path}: {}", answer.body);
    }
}

#[test]
fn a_run_of_a_task_that_looks_like_a_posted_one_is_not_taken() {
    let it = Market::new(1);
    it.post(&task("Ferry"), &json!({})).is(201);
    let before = it.server.get("/v1/log").at("/size");
    // Latin letters alone name a task that is posted; among those are look-alikes, too.
    for like in ["ferry", "FERRY"] {
        let refused = it.post(&task(like), &json!({}));
        refused.is_problem(409, "conflict");
        assert!(refused.body.contains("looks like the posted task `Ferry`"), "{}", refused.body);
    }
    it.post(&task("Ferry"), &json!({})).is(200);
    let run = |task: &str| {
        let text = include_str!("../../../../examples/workflow/worked-example.json");
        let mut item: Value = serde_json::from_str(text).unwrap();
        item["task"]["task_id"] = json!(task);
        item["run_id"] = json!(format!("run of {task}"));
        it.server.send("card=workflow@1.0.0", &item.to_string())
    };
    for like in ["Ferry", "ferry", "ferr\u{443}", "Ferr\u{443}"] {
        let refused = run(like);
        refused.is_problem(403, "forbidden");
        assert!(refused.body.contains("looks like one"), "{}", refused.body);
    }
    assert_eq!(it.server.get("/v1/log").at("/size"), before);
    run("Canoe").is(201);
}
