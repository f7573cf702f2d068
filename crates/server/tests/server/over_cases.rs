//! Means over cases in a log: what they are is asked on arrival, and what no one can bring together takes no answer from others.

use std::fs;

use karat_server::Options;
use serde_json::{Value, json};

use crate::common::Running;

const CARD: &str = r#"
schema = "karat/scorecard/1"
id = "share"
version = "1.0.0"
title = "Share of cases"
evidence = "facts"
facts = { solved = { min = 0, max = 1 } }
dimension = [{ key = "solved", weight = 1 }]
"#;
const STOOD: &str = "[standing]\nscore = \"window\"\nwindow = { tasks = 5 }\n";
const LINES: &str = "application/x-ndjson";

/// Returns a server with a card of each kind, and with `b` at the task `t`.
fn started() -> Running {
    let server = Running::new();
    for card in [CARD.to_owned(), format!("{}{STOOD}", CARD.replace("\"share\"", "\"stood\""))] {
        server.post("/v1/scorecards", Some(&server.admin), "application/toml", card).is(201);
    }
    for card in ["share", "stood"] {
        let rival = json!({"subject": "b", "task": "t", "id": "x", "solved": 0.81, "n": 1000});
        server.send(&format!("card={card}@1.0.0"), &rival.to_string()).is(201);
    }
    server
}

fn row(id: &str, solved: f64, more: Value) -> String {
    let mut row = json!({"subject": "a", "task": "t", "id": id, "solved": solved});
    row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    row.to_string()
}

/// Subject, mean and cases of each row, and the subjects without a rank with their reasons.
type Board = (Vec<(String, f64, Value)>, Vec<(String, String)>);

/// Returns the leaderboard of a card.
fn board(server: &Running, query: &str) -> Board {
    let found = server.get(&format!("/v1/leaderboards?card={query}")).is(200).at("/leaderboards/0");
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let row = |row: &Value| {
        let mean = row["mean"]["mean"].as_f64().or(row["score"]["mean"].as_f64()).unwrap();
        (text(&row["subject"]), (mean * 1e6).round() / 1e6, row["cases"].clone())
    };
    let unranked = found["unranked"].as_array().cloned().unwrap_or_default();
    let mut rows: Vec<_> = found["rows"].as_array().unwrap().iter().map(row).collect();
    rows.sort_by(|one, other| one.0.cmp(&other.0));
    (rows, unranked.iter().map(|it| (text(&it["subject"]), text(&it["detail"]))).collect())
}

#[test]
fn a_row_that_does_not_say_what_it_is_is_refused_on_arrival() {
    let whole = |n: u64| json!({"n": n});
    let named = |n: u64, name: &str, of: &str| json!({"n": n, name: of});
    for (first, second, words) in [
        (whole(10), whole(990), "do not all say what they are"),
        (json!({}), whole(990), "do not all say what they are"),
        (whole(10), json!({}), "do not all say what they are"),
        (named(10, "part", "1"), whole(990), "do not all say what they are"),
        (named(10, "part", "1"), named(990, "run", "2"), "are of a `run` in one and of none in another"),
        (named(10, "run", "1"), named(10, "run", "1"), "have the same name and differ"),
    ] {
        let server = started();
        let (one, other) = (row("1", 1.0, first), row("2", 0.8, second));
        server.send("card=share@1.0.0", &one).is(201);
        let before = board(&server, "share@1.0.0");
        let refused = server.send("card=share@1.0.0", &other);
        let told = refused.is_problem(409, "conflict").at("/detail").as_str().unwrap().to_owned();
        for part in [words, "`a` has 2 rows at `t`", "item `2`", "record ", "a field `part` names"] {
            assert!(told.contains(part), "{part}: {told}");
        }
        // So does a batch, whose other lines are stored, and so does history.
        let lines = format!("{other}\n{}\n", row("3", 0.5, json!({"task": "u"})));
        let batch = server.post("/v1/evidence?card=share@1.0.0", Some(&server.admin), LINES, &lines);
        assert_eq!((batch.at("/refused"), batch.at("/items/0/status")), (json!(1), json!(409)), "{batch:?}");
        let history = "/v1/backfill?card=share@1.0.0&reason=moved";
        server.post(history, Some(&server.admin), "application/json", &other).is_problem(409, "conflict");
        // What is sent again changes nothing, and a correction may say more.
        server.send("card=share@1.0.0", &one).is(200);
        let after = board(&server, "share@1.0.0");
        assert_eq!((after.0[1].clone(), after.1.len()), (before.0[1].clone(), 0));
        server.send("card=share@1.0.0&replaces=1", &row("4", 0.9, named(5, "part", "1"))).is(201);
        server.send("card=share@1.0.0", &row("5", 0.3, named(15, "part", "2"))).is(201);
    }
    // Of two in one request the later one is refused.
    let server = started();
    let lines = format!("{}\n{}\n", row("1", 1.0, whole(10)), row("2", 0.8, whole(990)));
    let batch = server.post("/v1/evidence?card=share@1.0.0", Some(&server.admin), LINES, &lines);
    assert_eq!((batch.at("/accepted"), batch.at("/items/1/status")), (json!(1), json!(409)), "{batch:?}");
}

#[test]
fn parts_are_pooled_by_every_method_and_after_a_restart() {
    let server = started();
    let parts =
        [row("1", 1.0, json!({"n": 10, "part": 1})), row("2", 0.8, json!({"n": 990, "part": 2}))].join("\n");
    for card in ["share", "stood"] {
        let path = format!("/v1/evidence?card={card}@1.0.0");
        let sent = server.post(&path, Some(&server.admin), LINES, &parts);
        assert_eq!(sent.at("/accepted"), 2, "{sent:?}");
        // Rows that name no task are at the task of all cases.
        for id in ["x", "y"] {
            let item = json!({"subject": "c", "id": id, "solved": 0.5, "n": 10, "run": id});
            server.send(&format!("card={card}@1.0.0"), &item.to_string()).is(201);
        }
    }
    // Of a run of which a part comes later no one could say since when it counts.
    let late = server.send("card=stood@1.0.0", &row("3", 0.5, json!({"n": 5, "part": 3})));
    assert!(late.is_problem(409, "conflict").body.contains("came at different moments"), "{late:?}");
    let expected = [("a", 0.802, 1000), ("b", 0.81, 1000), ("c", 0.5, 10)]
        .map(|(name, mean, cases)| (name.to_owned(), mean, json!(cases)));
    let all = |server: &Running| {
        for query in
            ["share@1.0.0", "share@1.0.0&method=means", "stood@1.0.0&by=mean", "stood@1.0.0&method=means"]
        {
            assert_eq!(board(server, query), (expected.to_vec(), Vec::new()), "{query}");
        }
        assert_eq!(
            server.get("/v1/records?subject=c&track=(all%20cases)").at("/records").as_array().unwrap().len(),
            4
        );
        let page = server.get("/subjects/a?card=share@1.0.0");
        assert!(page.is(200).body.contains("2 items") && page.body.contains("0.802"), "{}", page.body);
    };
    all(&server);
    let secret = server.admin.clone();
    let mut folder = server.stop();
    for cache in [true, false] {
        if !cache {
            fs::remove_file(folder.path().join("index.cache")).unwrap();
        }
        let server = Running::in_folder(folder, Options::default(), Some(secret.clone()));
        all(&server);
        folder = server.stop();
    }
}

#[test]
fn a_subject_whose_rows_no_one_can_bring_together_takes_no_answer_from_others() {
    let server = started();
    for card in ["share", "stood"] {
        // An item without a task is its own, by its id; on arrival no one knows that.
        let own = json!({"subject": "a", "id": "t", "solved": 1}).to_string();
        server.send(&format!("card={card}@1.0.0"), &own).is(201);
        server.send(&format!("card={card}@1.0.0"), &row("2", 0.8, json!({"n": 990}))).is(201);
    }
    let told = |text: &str| assert!(text.contains("do not all say what they are: record "), "{text}");
    for query in ["share@1.0.0", "share@1.0.0&method=means", "stood@1.0.0", "stood@1.0.0&method=means"] {
        let (rows, unranked) = board(&server, query);
        assert_eq!((rows.len(), rows[0].0.as_str(), unranked.len()), (1, "b", 1), "{query}");
        told(&unranked[0].1);
    }
    let html = server.get("/leaderboards?card=share@1.0.0");
    told(&html.is(200).body.replace("<code>", "`").replace("</code>", "`"));
    for page in ["/subjects/a?card=share@1.0.0", "/subjects/a?card=stood@1.0.0"] {
        told(&server.get(page).is(200).body);
    }
    told(&server.get("/v1/standings/a?card=stood@1.0.0").is_problem(422, "unanswerable").body);
    server.get("/v1/standings/b?card=stood@1.0.0").is(200);
    let list = server.get("/v1/standings?card=stood@1.0.0").is(200).json();
    assert_eq!(list["standings"].as_array().unwrap().len(), 1, "{list}");
    told(list["left_out"]["a"].as_str().unwrap());
}
