//! The form of a request: its items, their names and times, and how many there are.

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

pub fn row(found: &Value, subject: &str) -> Value {
    let mut rows = found["leaderboards"][0]["rows"].as_array().unwrap().iter();
    rows.find(|it| it["subject"] == subject).cloned().unwrap_or_else(|| panic!("{subject}: {found}"))
}

#[track_caller]
pub fn near(found: &Value, expected: f64) {
    assert!(found.as_f64().is_some_and(|it| (it - expected).abs() < 4e-9), "{found}, expected {expected}");
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
fn a_subject_with_very_many_records_is_whole_at_every_door() {
    let server = with_card(&format!("{SOLVED}[standing]\nscore = \"window\"\nwindow = {{ tasks = 4 }}\n"));
    let many = 20_500;
    // The newest four are 1, 1, 0, 1 and the others 0; a second subject has one.
    let line = |at: u64| {
        let (day, second) = (1 + at / 86_400, at % 86_400);
        let time =
            format!("2026-05-{day:02}T{:02}:{:02}:{:02}Z", second / 3600, second / 60 % 60, second % 60);
        let solved = u64::from(at + 4 >= many && at + 2 != many);
        format!(r#"{{"id":"{at}","subject":"busy","task":"t{}","time":"{time}","solved":{solved}}}"#, at % 5)
    };
    fill(&server, "solved@1.0.0", &(0..many).map(|at| line(at) + "\n").collect::<String>());
    fill(
        &server,
        "solved@1.0.0",
        r#"{"id":"1","subject":"idle","task":"t1","time":"2026-05-01T00:00:00Z","solved":0.5}"#,
    );
    let busy = server.get("/v1/standings/busy?card=solved@1.0.0").is(200).json();
    near(&busy["points"], 0.75);
    assert_eq!(busy["items"]["given"], many);
    let found = server.get("/v1/leaderboards?card=solved@1.0.0").is(200).json();
    assert_eq!(
        (&found["items"]["count"], &found["leaderboards"][0]["by"]),
        (&(many + 1).into(), &"official".into())
    );
    near(&row(&found, "busy")["score"]["mean"], 0.75);
    near(&row(&found, "idle")["score"]["mean"], 0.5);
    // Task t1 is 4,100 of the items, of which the last but three is solved.
    let one_task = server.get("/v1/leaderboards?card=solved@1.0.0&where=task=t1").is(200).json();
    near(&row(&one_task, "busy")["score"]["mean"], 1.0 / 4100.0);
    assert_eq!(row(&one_task, "idle")["score"]["mean"], 0.5);
    let page = server.get("/subjects/busy");
    assert!(page.is(200).body.contains("0.750") && !page.body.contains("no standing"), "{}", page.body);
}

/// The mean of a group is its own on trial as well: what a page says of other weights is worked out on the tree.
#[test]
fn other_weights_are_tried_on_the_tree_of_groups() {
    let card = r#"
schema = "karat/scorecard/1"
id = "tree"
version = "1.0.0"
title = "A group that is as good as its worst"
evidence = "facts"
facts = { x = { min = 0, max = 1 }, y = { min = 0, max = 1 }, z = { min = 0, max = 1 } }
dimension = [{ key = "x", weight = 1 }, { key = "y", weight = 1, group = "g" }, { key = "z", weight = 1, group = "g" }]
group = [{ key = "g", mean = "minimum", weight = 1 }]
"#;
    let server = with_card(card);
    let lines = [
        json!({"id": "1", "subject": "ann", "x": 0.9, "y": 0.9, "z": 0.2}),
        json!({"id": "2", "subject": "bob", "x": 0.5, "y": 0.8, "z": 0.8}),
        json!({"id": "3", "subject": "cy", "x": 0.4, "y": 0.75}),
    ];
    fill(&server, "tree@1.0.0", &lines.map(|line| line.to_string()).join("\n"));
    // 0.55, 0.65, 0.575; with x three times as heavy 0.725, 0.575, 0.4875. The weights of y and z change no minimum.
    for (query, order, first) in [
        ("", ["bob", "cy", "ann"], "No rank changes"),
        ("?w.y=5&w.z=0.1", ["bob", "cy", "ann"], "No rank changes"),
        ("?w.x=3", ["ann", "bob", "cy"], "would have rank 1"),
    ] {
        let page = server.get(&format!("/scorecards/tree@1.0.0/what-if{query}"));
        assert!(page.is(200).body.contains(first), "{query}: {}", page.body);
        let table = page.body.split("By the composite").nth(1).unwrap();
        let places = order.map(|subject| table.find(&format!(">{subject}<")));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{query}: {table}");
    }
    let found = server.get("/v1/leaderboards?card=tree@1.0.0").is(200).json();
    for (subject, mean) in [("ann", 0.55), ("bob", 0.65), ("cy", 0.575)] {
        near(&row(&found, subject)["score"]["mean"], mean);
    }
}
