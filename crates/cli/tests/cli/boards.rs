//! Every door ranks alike: evidence on the command line, its records, single posts and a batch over HTTP, the page. Over the
//! four systems and a made scorecard, with repeated items, missing values, ages, groups.
#![cfg(unix)]
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test may stop it")]

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::common::{Folder, Run, example};
use crate::serve::Server;

/// The moment at which all doors are asked.
const AS_OF: &str = "2026-06-01T00:00:00Z";

const OWN: &str = r#"
schema = "karat/scorecard/1"
id = "own"
version = "1.0.0"
title = "Groups, ages, a gate"
evidence = "facts"
scale = { max = 100, publish = "half-up", places = 1 }
facts = { quality = { min = 0, max = 1 }, quality_age_seconds = { unit = "s", min = 0 }, cost = { min = 0, max = 1 }, safety = { min = 0, max = 1 } }
dimension = [
  { key = "well", weight = 0.5, formula = "quality", group = "work", missing = "exclude" },
  { key = "cheap", weight = 0.5, formula = "1 - cost", group = "work", missing = "exclude" },
  { key = "safe", weight = 0.4, formula = "safety", missing = "exclude" },
]
group = [{ key = "work", weight = 0.6, mean = "geometric" }]

[standing]
score = "window"
window = { tasks = 6 }
shares = { cap = 0.5 }
gate = { dimension = "safe", step = [{ below = 0.4, cap = 30 }] }
"#;

/// A fixed sequence of numbers that looks random: each below the given bound.
struct Drawn(u64);

impl Drawn {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn share(&mut self) -> f64 {
        self.below(1001) as f64 / 1000.0
    }
}

/// One item of a system: number, subject, task, timestamp.
type Make = fn(&mut Drawn, usize, &str, &str, &str) -> Value;

fn workflow(drawn: &mut Drawn, at: usize, subject: &str, task: &str, time: &str) -> Value {
    let pages = ["workflow/worked-example.json", "workflow/partial-dag.json", "workflow/closed-gate.json"];
    let mut item: Value = serde_json::from_str(&example(pages[drawn.below(3) as usize])).unwrap();
    item["run_id"] = format!("run-{at}").into();
    item["miner_uid"] = subject.into();
    item["task"]["task_id"] = task.into();
    item["time"] = time.into();
    item
}

fn arena(drawn: &mut Drawn, at: usize, subject: &str, _: &str, time: &str) -> Value {
    json!({
        "match_id": format!("match-{at}"), "agent_id": subject, "challenge": "cipher-relay", "submitted_at": time,
        "scores": {"correctness": drawn.below(1001)}, "time_used_secs": drawn.below(301), "time_limit_secs": 300,
    })
}

fn trace(_: &mut Drawn, at: usize, subject: &str, _: &str, time: &str) -> Value {
    let pages = ["trace/error-recovery.json", "trace/one-tool.json", "trace/single-thought.json"];
    let mut item: Value = serde_json::from_str(&example(pages[at % 3])).unwrap();
    item["id"] = format!("kp:trace:{at}").into();
    item["metadata"]["agent_id"] = subject.into();
    item["metadata"]["created_at"] = time.into();
    item
}

fn trust(drawn: &mut Drawn, at: usize, subject: &str, _: &str, time: &str) -> Value {
    let keys = ["accuracy", "reliability", "safety", "security", "latency", "teamwork"];
    let mut dimensions = BTreeMap::new();
    for key in keys {
        dimensions.insert(
            key,
            match drawn.below(4) {
                0 => Value::Null,
                _ => json!({"score": drawn.share(), "age_seconds": drawn.below(90) * 86_400}),
            },
        );
    }
    json!({"id": format!("e{at}"), "agent_id": subject, "time": time, "dimensions": dimensions})
}

fn own(drawn: &mut Drawn, at: usize, subject: &str, task: &str, time: &str) -> Value {
    let mut item = json!({"id": format!("{at}"), "subject": subject, "task": task, "time": time});
    for fact in ["quality", "cost", "safety"] {
        if drawn.below(6) > 0 {
            item[fact] = drawn.share().into();
        }
    }
    item
}

/// Scorecard, and an item of it.
const SYSTEMS: [(&str, Make); 5] =
    [("workflow", workflow), ("cipher-relay", arena), ("trace", trace), ("trust", trust), ("own.toml", own)];

/// Returns the items of a system as lines; the last one is a repeated one.
fn lines(make: Make, seed: u64) -> Vec<String> {
    let mut drawn = Drawn(seed);
    let mut lines = Vec::new();
    for at in 0..40 {
        let subject = ["ann", "bob", "cy", "dee"][at % 4];
        let task = format!("t{}", drawn.below(7));
        let time =
            format!("2026-0{}-{:02}T{:02}:00:00Z", 1 + drawn.below(5), 1 + drawn.below(28), drawn.below(24));
        lines.push(make(&mut drawn, at, subject, &task, &time).to_string());
    }
    lines.push(lines[3].clone());
    lines
}

fn parsed(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{}", run.screen()))
}

fn without<const N: usize>(mut value: Value, members: [&str; N]) -> Value {
    for member in members {
        value.as_object_mut().unwrap().remove(member);
    }
    value
}

fn get(server: &Server, path: &str) -> Value {
    let (status, body) = server.ask("GET", path, "");
    assert_eq!(status, 200, "{path}: {body}");
    serde_json::from_str(&body).unwrap()
}

#[test]
fn every_door_gives_the_same_ranks_scores_letters_and_warnings() {
    for (place, (card, make)) in SYSTEMS.into_iter().enumerate() {
        let folder = Folder::new();
        folder.write("own.toml", OWN);
        let lines = lines(make, 7 + place as u64);
        folder.write("items.jsonl", &lines.join("\n"));
        let given = |verb: &str, more: &str| {
            let text = format!("{verb} -c {card} --as-of {AS_OF} {more} items.jsonl");
            folder.karat(&text.split_whitespace().collect::<Vec<_>>())
        };
        let of_evidence = parsed(&given("leaderboard", "--json"));
        let board = &of_evidence["leaderboards"][0];
        let is_official = card != "trace";
        assert_eq!(board["by"], if is_official { "official" } else { "mean" }, "{card}");
        assert_eq!(of_evidence["items"]["repeated"], 1, "{card}");
        assert!(board["rows"].as_array().unwrap().len() >= 3, "{card}: {board}");

        // Its records.
        let records = given("score", "--json");
        let distinct: Vec<&str> = records.stdout.lines().take(lines.len() - 1).collect();
        folder.write("records.jsonl", &distinct.join("\n"));
        let of_records =
            parsed(&folder.karat(&["leaderboard", "-c", card, "--as-of", AS_OF, "--json", "records.jsonl"]));
        assert_eq!(&of_records["leaderboards"][0], board, "{card}");

        // HTTP: half of the items one by one, half as a batch, one of them again.
        let server = Server::new(folder.path(), &["scores"]);
        let name = match card {
            "own.toml" => {
                let (status, body) = server.post("application/toml", "/v1/scorecards", OWN);
                assert_eq!(status, 201, "{body}");
                String::from("own@1.0.0")
            }
            other => serde_json::from_str::<Value>(distinct[0]).unwrap()["scorecard"]["version"]
                .as_str()
                .map(|version| format!("{other}@{version}"))
                .unwrap(),
        };
        let path = format!("/v1/evidence?card={name}&as_of={AS_OF}");
        let (single, batch) = lines.split_at(lines.len() / 2);
        for (line, record) in single.iter().zip(&distinct) {
            let (status, body) = server.ask("POST", &path, line);
            assert_eq!(status, 201, "{card}: {body}");
            let answer: Value = serde_json::from_str(&body).unwrap();
            let kept = get(&server, &format!("/v1/records/{}", answer["record"]["position"]));
            assert_eq!(karat_evidence::canonical_json(&kept["record"]), *record, "{card}");
        }
        let (status, body) = server.post("application/x-ndjson", &path, &batch.join("\n"));
        assert_eq!(status, 200, "{card}: {body}");
        let asked = format!("/v1/leaderboards?card={name}&as_of={AS_OF}");
        let of_server = get(&server, &asked);
        assert_eq!(&of_server["leaderboards"][0], board, "{card}");
        for method in ["means", "census"] {
            let of_program = parsed(&given("leaderboard", &format!("--json --method {method}")));
            let of_server = get(&server, &format!("{asked}&method={method}"));
            let (one, two) = (&of_program["leaderboards"][0], &of_server["leaderboards"][0]);
            for (one, two) in one["rows"].as_array().unwrap().iter().zip(two["rows"].as_array().unwrap()) {
                // Over HTTP only the index is read, which does not have all.
                let bare = |row: &Value| {
                    without(row.clone(), ["bounds", "cases", "dimensions", "outcomes", "items"])
                };
                assert_eq!(bare(one), bare(two), "{card} {method}");
            }
        }

        // Standings: the same document at both doors, with the official points of the leaderboard. What the server lists has
        // the arrival of each record.
        let stored = get(&server, &format!("/v1/records?card={name}&limit=1000"));
        let stored: Vec<String> =
            stored["records"].as_array().unwrap().iter().map(ToString::to_string).collect();
        folder.write("stored.jsonl", &stored.join("\n"));
        for row in board["rows"].as_array().unwrap().iter().filter(|_| is_official) {
            let subject = row["subject"].as_str().unwrap();
            let asked = ["standing", "-c", card, "--as-of", AS_OF, "--json", "-s", subject, "stored.jsonl"];
            let of_program = parsed(&folder.karat(&asked));
            let of_server = get(&server, &format!("/v1/standings/{subject}?card={name}&as_of={AS_OF}"));
            let items = |value: &Value| without(value["items"].clone(), ["digest"]);
            assert_eq!(items(&of_program), items(&of_server), "{card}");
            let bare = |value: Value| without(value, ["items", "scorecard"]);
            assert_eq!(of_program["points"], row["official"]["points"], "{card} {subject}");
            let last = row["official"]["bridge"].as_array().unwrap().last().unwrap();
            assert!(
                (last["points"].as_f64().unwrap() - row["official"]["points"].as_f64().unwrap()).abs() < 1e-8
            );
            assert_eq!(bare(of_program), bare(of_server), "{card} {subject}");
        }

        // The page has the numbers of the API at its moment.
        let at = |answer: &Value| answer["leaderboards"][0]["as_of"].clone();
        let (before, page, after) = loop {
            let before = get(&server, &format!("/v1/leaderboards?card={name}"));
            let (status, page) = server.ask("GET", &format!("/leaderboards?card={name}"), "");
            assert_eq!(status, 200);
            let after = get(&server, &format!("/v1/leaderboards?card={name}"));
            // Unless a minute has passed in between.
            if at(&before) == at(&after) {
                break (before, page, after);
            }
        };
        assert_eq!(before, after);
        let decimals = if before["scale"] == 1 { 3 } else { 1 };
        let mut rest = page.as_str();
        for row in before["leaderboards"][0]["rows"].as_array().unwrap() {
            let shown = format!("{:.decimals$}", row["score"]["mean"].as_f64().unwrap());
            let cell = format!(">{}<", row["subject"].as_str().unwrap());
            let start = rest.find(&cell).unwrap_or_else(|| panic!("{card}: {row}"));
            rest = &rest[start..];
            assert!(rest[..rest.len().min(1500)].contains(&shown), "{card}: {shown} of {row}");
        }
    }
}
