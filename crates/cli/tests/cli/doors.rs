//! Every door gives the same bytes: library, command line, HTTP.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::process::Command;

use karat::Engine;
use karat::answers::LeaderboardMethod;
use karat::answers::basis::Basis;
use karat::answers::leaderboard::LeaderboardAnswer;
use karat::answers::leaderboard::columns::{self, Column};
use karat::answers::leaderboard::key::Key;
use karat::answers::leaderboard::method::{Page, answer, rank};
use karat::card::CompiledCard;
use karat::engine::Options;
use karat::error::Place;
use karat::leaderboard::{By, Settings};
use karat::rows::{Loader, Selection};
use serde_json::Value;

use crate::common::{Folder, example, finish, karat, program};
use crate::serve::{Server, ask};

/// A scorecard that comes with karat, and evidence for it: one item a file.
const ITEMS: [(&str, &str); 6] = [
    ("workflow@1.0.0", "workflow/worked-example.json"),
    ("workflow@1.0.0", "workflow/partial-dag.json"),
    ("trace@1.0.0", "trace/same-trace-finance.json"),
    ("trust@1.1.0", "trust/agent.json"),
    ("log-forensics@1.0.0", "arena/documented-823.json"),
    ("incident-review@1.0.0", "raw/match.json"),
];

#[test]
fn library_command_line_and_http_give_the_same_record() {
    let folder = Folder::new();
    let server = Server::new(folder.path(), &["scores"]);
    for (card, path) in ITEMS {
        let evidence = example(path);
        let of_library = Engine::open(card).unwrap().score(evidence.as_bytes()).unwrap();
        let of_program = karat(&["score", "--card", card, &format!("examples/{path}")]);
        assert_eq!(of_program.stdout.trim_end(), of_library.as_str(), "{path}\n{}", of_program.stderr);
        let (status, answer) = server.ask("POST", &format!("/v1/evidence?card={card}"), &evidence);
        assert_eq!(status, 201, "{answer}");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let (status, kept) = server.ask("GET", &format!("/v1/records/{}", answer["record"]["position"]), "");
        assert_eq!(status, 200, "{kept}");
        let kept: Value = serde_json::from_str(&kept).unwrap();
        let of_server = karat_evidence::canonical_json(&kept["record"]);
        assert_eq!(of_server, of_library.as_str(), "{path}");
    }
}

#[test]
fn library_command_line_and_http_refuse_the_same_item_for_the_same_reasons() {
    let folder = Folder::new();
    let server = Server::new(folder.path(), &["scores"]);
    let wrong =
        example("workflow/worked-example.json").replace("\"task_id\": \"rag-012\"", "\"task_id\": [1]");
    folder.write("wrong.json", &wrong);
    let error = Engine::open("workflow").unwrap().score(wrong.as_bytes()).unwrap_err();
    let reason = &error.problems()[0];
    let of_program = folder.karat(&["score", "--card", "workflow", "wrong.json"]);
    assert!(of_program.stderr.contains(&reason.detail), "{}", of_program.stderr);
    let (status, answer) = server.ask("POST", "/v1/evidence?card=workflow", &wrong);
    assert_eq!(status, 422, "{answer}");
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["problems"][0]["field"], reason.path);
    assert_eq!(answer["problems"][0]["detail"], reason.detail);
}

#[test]
fn command_line_and_http_find_the_same_novelty() {
    let folder = Folder::new();
    let server =
        Server::new(folder.path(), &["scores", "--dimension", "4", "--capacity", "2", "--ttl", "1h"]);
    let settings = ["--dimension", "4", "--capacity", "2", "--ttl", "1h"];
    assert_eq!(folder.karat(&[&["cache", "new", "own.cache"], &settings[..]].concat()).status, 0);
    let first = example("raw/traces.jsonl");
    // Copies under other names, and one without a vector.
    let copies = first.replace("agent-", "copyist-").replace("kp:trace:raw", "kp:trace:copy");
    let silent = copies
        .lines()
        .next()
        .unwrap()
        .replace("copy", "silent")
        .replace(", \"vector\": [0.8, 0.6, 0, 0]", "");
    let traces: Vec<&str> = first.lines().chain(copies.lines()).chain([silent.as_str()]).collect();
    folder.write("traces.jsonl", &traces.join("\n"));
    let as_of = "2026-11-01T00:00:00Z";
    let score = ["score", "-c", "trace", "--cache", "own.cache", "--as-of", as_of, "traces.jsonl"];
    let of_program = folder.karat(&score);
    assert_eq!(of_program.status, 0, "{}", of_program.screen());
    let of_server: Vec<String> = traces
        .iter()
        .map(|trace| {
            let (status, answer) =
                server.ask("POST", &format!("/v1/evidence?card=trace&as_of={as_of}"), trace);
            assert_eq!(status, 201, "{answer}");
            let answer: Value = serde_json::from_str(&answer).unwrap();
            karat_evidence::canonical_json(&answer["content"])
        })
        .collect();
    assert_eq!(of_program.stdout.lines().collect::<Vec<_>>(), of_server);
    assert!(of_server[5].contains("\"compared\":2") && of_server[6].contains("no_vector"), "{of_server:?}");
}

/// Weights that `karat tune` proposes, accepted by another key: the server scores, stands and ranks with them as the
/// command line does with the same file and the same events.
#[test]
fn command_line_and_http_take_the_same_weights_for_the_same_events() {
    let folder = Folder::new();
    for name in ["runs.csv", "wins.csv"] {
        folder.write(name, &example(&format!("tune/{name}")));
    }
    let card = example("tune/desk.toml") + "\n[standing]\nscore = \"latest\"\n";
    folder.write("desk.toml", &card);
    let moment = "2026-06-01T00:00:00Z";
    let tune = ["tune", "-c", "desk.toml", "--wins", "wins.csv", "runs.csv", "--as-of", moment];
    let files = ["--proposer", "loop", "--proposal-out", "proposal.json", "--override-out", "weights.json"];
    let tuned = folder.karat(&[&tune[..], &files].concat());
    assert_eq!(tuned.status, 0, "{}", tuned.screen());
    let proposal = std::fs::read_to_string(folder.path().join("proposal.json")).unwrap();
    let id = serde_json::from_str::<Value>(&proposal).unwrap()["id"].as_str().unwrap().to_owned();

    let server = Server::new(folder.path(), &["scores"]);
    let json = |(status, body): (u16, String)| -> Value {
        assert!(matches!(status, 200 | 201), "{status} {body}");
        serde_json::from_str(&body).unwrap()
    };
    json(server.post("application/toml", "/v1/scorecards", &card));
    let item = |subject: &str, id: &str, accuracy: f64| {
        format!(
            r#"{{"subject":"{subject}","id":"{id}","task":"t{id}","time":"2026-05-0{id}T00:00:00Z","accuracy":{accuracy},"tone":0.5,"brevity":0.25,"kept":1}}"#
        )
    };
    let send = |item: &str| {
        let answer = json(server.ask("POST", "/v1/evidence?card=desk@1.0.0", item));
        (karat_evidence::canonical_json(&answer["content"]), answer["receipt"].as_str().unwrap().to_owned())
    };
    let before = [item("ara", "1", 0.875), item("bo", "1", 0.5)];
    let after = [item("ara", "2", 0.75), item("bo", "2", 0.625)];
    let mut records: Vec<String> = before.iter().map(|item| send(item).0).collect();
    // The file is a proposal as it is; a second one is refused by the check, and a third by someone.
    let path = "/v1/scorecards/desk@1.0.0/weights";
    let proposed = json(server.ask("POST", path, &proposal));
    assert_eq!(proposed["proposal"]["status"], "proposed", "{proposed}");
    let off = r#"{"id":"off","reason":"r","weights":{"tone":0.5}}"#;
    assert_eq!(json(server.ask("POST", path, off))["proposal"]["status"], "refused");
    json(server.ask("POST", path, r#"{"id":"not","reason":"r","weights":{}}"#));
    let key = json(server.ask("POST", "/v1/keys", r#"{"name":"ann","scopes":["review"]}"#));
    let decide = |id: &str, decision: &str| {
        let body = format!(r#"{{"decision":"{decision}","reason":"seen"}}"#);
        let secret = key["secret"].as_str().unwrap();
        json(ask(server.address(), secret, "POST", &format!("{path}/{id}/decision"), &body).unwrap())
    };
    decide("not", "refuse");
    // Two decisions are not of one second.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    decide(&id, "accept");
    let (_, receipt) =
        after.iter().map(|item| send(item)).inspect(|it| records.push(it.0.clone())).last().unwrap();

    // Records: as `karat score`, before with the own weights and after with the override.
    folder.write("before.jsonl", &before.join("\n"));
    folder.write("after.jsonl", &after.join("\n"));
    let own = folder.karat(&["score", "-c", "desk.toml", "before.jsonl"]).stdout;
    let tuned =
        folder.karat(&["score", "-c", "desk.toml", "--override", "weights.json", "after.jsonl"]).stdout;
    assert_eq!(records.join("\n") + "\n", own + &tuned);
    folder.write("records.jsonl", &(records.join("\n") + "\n"));
    folder.write("record.json", &records[2]);
    let explained = folder.karat(&["explain", "record.json", "-c", "desk.toml"]);
    assert_eq!(explained.status, 0, "{}", explained.screen());

    // Standings and leaderboards, with the arrivals and the events that the log has.
    let stored = json(server.ask("GET", "/v1/records?card=desk@1.0.0", ""));
    let stored: Vec<String> = stored["records"].as_array().unwrap().iter().map(ToString::to_string).collect();
    folder.write("stored.jsonl", &stored.join("\n"));
    let database = "scores/karat.db";
    let events = ["proposed", "accepted"].map(|what| format!("desk@1.0.0/{id}/{what}"));
    let others = ["off/proposed", "not/proposed", "not/refused"].map(|name| format!("desk@1.0.0/{name}"));
    let mut lines: Vec<(u64, String)> = Vec::new();
    for name in events.iter().chain(&others) {
        let found = folder.karat(&["log", "receipt", database, name, "--kind", "weights"]);
        let found: Value =
            serde_json::from_str(&found.stdout).unwrap_or_else(|_| panic!("{}", found.screen()));
        lines.push((found["index"].as_u64().unwrap(), found["content"].as_str().unwrap().to_owned()));
    }
    lines.sort();
    let lines: Vec<String> = lines.into_iter().map(|(_, line)| line).collect();
    folder.write("events.jsonl", &lines.join("\n"));
    let accepted: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    let accepted = accepted["time"].as_str().unwrap();
    for (as_of, in_force) in
        [(moment, Value::Null), (accepted, id.as_str().into()), ("2099-01-01T00:00:00Z", id.as_str().into())]
    {
        let flags =
            ["stored.jsonl", "-c", "desk.toml", "--events", "events.jsonl", "--as-of", as_of, "--json"];
        let of_program = folder.karat(&[&["standing"], &flags[..]].concat());
        assert_eq!(of_program.status, 0, "{}", of_program.screen());
        let as_of = as_of.replace('+', "%2B");
        let of_server = json(server.ask("GET", &format!("/v1/standings?card=desk@1.0.0&as_of={as_of}"), ""));
        let of_server: Vec<String> =
            of_server["standings"].as_array().unwrap().iter().map(karat_evidence::canonical_json).collect();
        assert_eq!(of_program.stdout.lines().collect::<Vec<_>>(), of_server, "{as_of}");
        let first: Value = serde_json::from_str(&of_server[0]).unwrap();
        // Without a proposal up to then there is nothing to say.
        assert_eq!(first["weights"].pointer("/in_force/id").cloned().unwrap_or_default(), in_force);
        let of_program = folder.karat(&[&["leaderboard"], &flags[..]].concat());
        let of_program: Value = serde_json::from_str(&of_program.stdout).unwrap();
        let of_server =
            json(server.ask("GET", &format!("/v1/leaderboards?card=desk@1.0.0&as_of={as_of}"), ""));
        assert_eq!(of_program["leaderboards"], of_server["leaderboards"], "{as_of}");
        assert_eq!(of_server["leaderboards"][0]["weights"]["id"], in_force);
    }
    let screen = folder.karat(&[
        "standing", "records.jsonl", "-c", "desk.toml", "--events", "events.jsonl", "--as-of", accepted,
        "--table",
    ]);
    for part in ["are in force since", "the weights `off` are refused", "more than 0.001 from 1"] {
        let text = screen.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(part), "{part}: {text}");
    }

    // Receipts and the log.
    let (_, receipt) = server.ask("GET", &receipt, "");
    folder.write("receipt.json", &receipt);
    let verified = folder.karat(&["verify", "receipt.json", "--key", "scores/log.pub", "-c", "desk.toml"]);
    assert_eq!(verified.status, 0, "{}", verified.screen());
    server.end("TERM");
    let audited = folder.karat(&["log", "verify", database, "--key", "scores/log.pub"]);
    assert_eq!(audited.status, 0, "{}", audited.screen());
    let shown = folder.karat(&["log", "show", database, "--json"]);
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(shown["kinds"]["weights"], 5, "{shown}");
    // Scored again, every record has the weights that it had.
    let again = folder.karat(&["rescore", database, "-c", "desk.toml", "--json"]);
    assert_eq!(again.status, 0, "{}", again.screen());
    let moved = again.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let moved: Vec<Value> = moved.filter_map(|it| it.get("difference").cloned()).collect();
    assert_eq!(moved, [0, 0, 0, 0], "{}", again.stdout);
}

/// The two kinds of evidence of trust, each with the version that takes it.
const TRUST: [(&str, &str); 2] =
    [("trust@1.0.0", "trust/coverage.jsonl"), ("trust@1.1.0", "trust/agent.json")];

#[test]
fn a_name_without_a_version_takes_either_kind_at_every_verb() {
    let folder = Folder::new();
    for (card, path) in TRUST {
        let evidence = example(path);
        let first = match path.ends_with('l') {
            true => evidence.lines().next().unwrap().to_owned(),
            false => evidence.clone(),
        };
        assert_eq!(CompiledCard::open_for("trust", first.as_bytes()).unwrap().name(), card);
        folder.write("items", &evidence);
        let said = format!("note: for this evidence `trust` means `{card}`\n");
        let expected = folder.karat(&["score", "-c", card, "items"]).stdout;
        assert!(expected.contains(card.split_once('@').unwrap().1), "{expected}");
        folder.write("records", &expected);
        // A file, standard input and a pipe that can be opened once.
        let from_file = folder.karat(&["score", "-c", "trust", "items"]);
        let from_input = finish(program(folder.path()).args(["score", "-c", "trust"]), &evidence);
        let script = format!("'{}' score -c trust <(cat items)", env!("CARGO_BIN_EXE_karat"));
        let from_pipe = finish(Command::new("bash").current_dir(folder.path()).args(["-c", &script]), "");
        for run in [&from_file, &from_input, &from_pipe] {
            assert!(run.stderr.starts_with(&said), "{}", run.stderr);
            assert_eq!(run.stdout.lines().count(), expected.lines().count(), "{}", run.stderr);
        }
        assert_eq!(from_file.stdout, expected);
        let subject = serde_json::from_str::<Value>(&first).unwrap()["agent_id"].as_str().unwrap().to_owned();
        let at = ["--as-of", "2026-06-01T00:00:00Z"];
        for file in ["items", "records"] {
            for verb in [
                &["explain", "--table", "-s", &subject][..],
                &["leaderboard", "--table"],
                &["standing", "--table", at[0], at[1]],
                &["card", "diff", card],
            ] {
                if verb[0] == "card" && file == "records" {
                    continue;
                }
                let rest: &[&str] = if verb[0] == "card" { &["trust", file] } else { &["-c", "trust", file] };
                let run = folder.karat(&[verb, rest].concat());
                // Items without a time have no standing.
                let is_timeless = verb[0] == "standing" && card == "trust@1.0.0";
                assert!(run.status == 0 || is_timeless, "{verb:?} {file}: {}", run.screen());
                assert!(run.stderr.starts_with(&said), "{verb:?} {file}: {}", run.stderr);
                assert!(is_timeless || run.stdout.contains(card), "{verb:?} {file}: {}", run.stdout);
            }
        }
    }
    let kinds = [("agent-dimensions", "trust/coverage.jsonl"), ("agent-evidence", "trust/agent.json")];
    for ((kind, path), (card, _)) in kinds.into_iter().zip(TRUST) {
        let run = karat(&["grade", kind, "-c", "trust", &format!("examples/{path}")]);
        assert!(run.status == 0 && run.stderr.contains(card), "{}", run.screen());
    }
}

#[test]
fn two_kinds_in_one_run_are_refused() {
    for (first, second) in [(TRUST[0], TRUST[1]), (TRUST[1], TRUST[0])] {
        let files = [first, second].map(|(_, path)| format!("examples/{path}"));
        for verb in ["score", "leaderboard"] {
            let run = karat(&[verb, "-c", "trust", &files[0], &files[1]]);
            assert_eq!(run.status, 1, "{}", run.screen());
            let hint = format!("`{}` reads evidence of kind `agent-", first.0);
            assert!(run.stderr.contains(&hint) && run.stderr.contains(&files[1]), "{}", run.stderr);
        }
    }
}

#[test]
fn a_name_without_a_version_takes_either_kind_over_http() {
    let folder = Folder::new();
    let server = Server::new(folder.path(), &["scores"]);
    let read = |(status, answer): (u16, String)| {
        assert!(status == 200 || status == 201, "{answer}");
        serde_json::from_str::<Value>(&answer).unwrap()
    };
    let mut raw: Value = serde_json::from_str(&example("trust/agent.json")).unwrap();
    let one = read(server.ask("POST", "/v1/evidence?card=trust", &raw.to_string()));
    assert_eq!(one["content"]["scorecard"]["version"], "1.1.0");
    // Records by one version only: that is the one that a question means.
    let board = read(server.ask("GET", "/v1/leaderboards?card=trust", ""));
    assert_eq!(board["leaderboards"][0]["rows"][0]["subject"], "ledger-clerk", "{board}");
    // Without evidence or records in question, the last card.
    assert_eq!(read(server.ask("GET", "/v1/scorecards/trust", ""))["version"], "1.0.0");
    let receipt = server.ask("GET", &format!("/v1/receipts/{}", one["record"]["position"]), "").1;
    folder.write("receipt.json", &receipt);
    let verified = |card: &str| folder.karat(&["verify", "--json", "-c", card, "receipt.json"]).stdout;
    assert_eq!(verified("trust"), verified("trust@1.1.0"));
    assert_ne!(verified("trust"), verified("trust@1.0.0"));
    let rescored = folder.karat(&["rescore", "--table", "scores", "--card", "trust"]);
    assert!(rescored.stdout.contains("trust@1.1.0\n1 record"), "{}", rescored.screen());
    // In a batch each line by itself.
    raw["agent_id"] = "another".into();
    raw["id"] = "another-1".into();
    let given = r#"{"agent_id": "given", "id": "given-1", "dimensions": {"accuracy": 0.9, "safety": 0.8}}"#;
    let body = format!("{raw}\n{given}\n");
    let batch = read(server.post("application/x-ndjson", "/v1/evidence?card=trust", &body));
    let ids: Vec<&str> =
        batch["items"].as_array().unwrap().iter().filter_map(|it| it["record"].as_str()).collect();
    assert_eq!(ids, ["another/another-1/trust@1.1.0", "given/given-1/trust@1.0.0"], "{batch}");
    // Neither kind: refused by the last card, which says what it reads.
    let (status, refused) = server.ask("POST", "/v1/evidence?card=trust", r#"{"steps": []}"#);
    assert!(status == 422 && refused.contains("agent-dimensions"), "{status} {refused}");
}

/// A scorecard with a nested fact, and items with fields that it does not declare, some with odd names.
const NESTED: &str = r#"
schema = "karat/scorecard/1"
id = "nested"
version = "1.0.0"
title = "Nested"
evidence = "facts"
scale = { max = 100, publish = "half-up", places = 2 }
[facts]
solved = { type = "boolean" }
cost = { path = "$.metrics.cost", min = 0 }
[[dimension]]
key = "solved"
weight = 0.75
formula = "solved"
[[dimension]]
key = "thrift"
weight = 0.25
formula = "solved * clamp(1 - cost, 0, 1)"
[[gate]]
name = "dear"
when = "cost > 0.875"
cap = 10
"#;

fn nested_items() -> Vec<String> {
    let mut items = Vec::new();
    for (at, subject) in ["ara", "bo", "cy"].into_iter().enumerate() {
        for task in 0..8 {
            let number = (at * 5 + task * 3) % 16;
            let item = serde_json::json!({
                "subject": subject, "id": format!("{subject}-{task}"), "task": format!("t{task}"),
                "time": format!("2026-05-0{}T00:00:00Z", task + 1),
                "solved": number % 3 != 0,
                "metrics": {"cost": number as f64 / 16.0, "tokens": 100 * number, "the.model": if task < 4 { "a|b" } else { "<i>" }},
                "latency.p50": number as f64 / 8.0,
                "shards": [{"name": if task % 2 == 0 { "even" } else { "odd" }}],
            });
            items.push(item.to_string());
        }
    }
    items
}

/// Questions: what to rank by, what to group by, which columns to add.
const QUESTIONS: [(&str, &str, &str); 10] = [
    ("mean", "", ""),
    ("thrift", "", "cost,cost:p50,cost:p95,gates,outcomes"),
    ("cost", "", "metrics.tokens:sum"),
    ("metrics.tokens:asc", "", ""),
    ("$.metrics.tokens:desc", "", "latency.p50:p95,latency.p50:min,latency.p50:max"),
    ("latency.p50:asc", "shards[0].name", "metrics.tokens:count"),
    ("", "$.shards[0].name", "shards[0].name:counts"),
    ("", "metrics[\"the.model\"]", "tiers,bands"),
    ("mean", "solved", "solved,$.metrics.tokens"),
    ("solved", "task", "latency.p50"),
];

/// Returns the leaderboards as the library gives them.
fn of_library(card: &str, items: &[String], (by, group, with): (&str, &str, &str)) -> LeaderboardAnswer {
    let card = std::sync::Arc::new(CompiledCard::parse(card).unwrap());
    let mut engine = Engine::new(card.clone(), Options::default()).unwrap();
    let columns = Column::parse(with).unwrap();
    let key = Some(Key::parse(by)).filter(|key| !by.is_empty() && key.field().is_some());
    let kept: Vec<String> =
        columns.iter().filter_map(Column::kept).chain(key.clone().map(|it| it.name)).collect();
    let labels: Vec<String> = Some(group.to_owned()).filter(|it| !it.is_empty()).into_iter().collect();
    let mut loader = Loader::new(Selection { labels: &labels, kept: &kept, ..Selection::default() }).unwrap();
    let scorer = loader.scorer(&card);
    for (line, item) in items.iter().enumerate() {
        let place =
            Place { file: String::from("items.jsonl"), line: Some(line as u64 + 1), nth: 1, is_row: false };
        let bytes = item.as_bytes();
        engine
            .visit_at(&place, bytes, |scored| loader.add_from(&place, scorer, &scored.record, bytes))
            .unwrap();
    }
    let mut rows = loader.finish().unwrap();
    let by = match key {
        None => By::Score,
        Some(key) => match rows.dimension(&key.name) {
            Some(dimension) => By::Dimension(dimension),
            None => {
                assert!(key.rank(&mut rows, "by").unwrap());
                By::Fact
            }
        },
    };
    let settings = Settings { by, ..Settings::usual(&rows) };
    let boards = rows.groups().into_iter().map(|(value, of_group)| {
        let name = value.map(|value| format!("{group} = {value}"));
        let ranked = rank(&rows, &of_group, name, LeaderboardMethod::Pairs, &settings, Page::ALL).unwrap();
        let mut board = ranked.leaderboard;
        columns::add(&mut board, &rows, &of_group, &columns, "with").unwrap();
        board
    });
    let boards = boards.collect();
    answer(Basis::new(&rows, &settings), LeaderboardMethod::Pairs, labels.first().cloned(), boards, Page::ALL)
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Returns the texts of the cells of every row of a page.
fn cells(page: &str) -> Vec<Vec<String>> {
    let plain = |html: &str| {
        let text: Vec<&str> =
            html.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
        let text = text
            .concat()
            .replace("&lt;", "<")
            .replace("&gt;", ">")
            .replace("&quot;", "\"")
            .replace("&amp;", "&");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let rows = page.split("<tr").skip(1).map(|row| row.split("</tr>").next().unwrap());
    rows.map(|row| {
        let cells = row.split("<t").skip(1).filter(|cell| cell.starts_with(['h', 'd']));
        cells.map(|cell| plain(&format!("<t{cell}"))).collect()
    })
    .collect()
}

#[test]
fn every_door_ranks_by_groups_by_and_adds_columns_of_any_field_alike() {
    let folder = Folder::new();
    let items = nested_items();
    folder.write("nested.toml", NESTED);
    folder.write("items.jsonl", &items.join("\n"));
    let server = Server::new(folder.path(), &["scores"]);
    assert_eq!(server.post("application/toml", "/v1/scorecards", NESTED).0, 201);
    for item in &items {
        let (status, answer) = server.ask("POST", "/v1/evidence?card=nested", item);
        assert_eq!(status, 201, "{answer}");
    }
    for question in QUESTIONS {
        let (by, group, with) = question;
        let flags = [("--by", by), ("--group-by", group), ("--with", with)];
        let flags: Vec<&str> = flags
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .flat_map(|(flag, value)| [*flag, *value])
            .collect();
        let run = folder
            .karat(&[&["leaderboard", "--json", "-c", "nested.toml", "items.jsonl"], &flags[..]].concat());
        assert_eq!((run.status, run.stderr.as_str()), (0, ""), "{question:?}");
        let of_program: Value = serde_json::from_str(&run.stdout).unwrap();
        let library = of_library(NESTED, &items, question);
        let text = karat::answers::write(&library.leaderboards);
        assert_eq!(karat_evidence::canonical_json(&of_program["leaderboards"]), text, "{question:?}");
        let query = |names: [&str; 3]| -> String {
            let parts = names.into_iter().zip([by, group, with]).filter(|(_, value)| !value.is_empty());
            parts.map(|(name, value)| format!("&{name}={}", encoded(value))).collect()
        };
        let path = format!("/v1/leaderboards?card=nested{}", query(["by", "group_by", "with"]));
        let (status, of_server) = server.ask("GET", &path, "");
        assert_eq!(status, 200, "{question:?}: {of_server}");
        let of_server: Value = serde_json::from_str(&of_server).unwrap();
        assert_eq!(karat_evidence::canonical_json(&of_server["leaderboards"]), text, "{question:?}");
        // The page shows each row of each leaderboard with its columns.
        let (status, page) =
            server.ask("GET", &format!("/leaderboards?card=nested{}", query(["by", "group_by", "with"])), "");
        assert_eq!(status, 200, "{page}");
        let rows = cells(&page);
        let mut at = 0;
        for board in &library.leaderboards {
            for row in &board.rows {
                let wanted: Vec<String> = [row.subject.clone()]
                    .into_iter()
                    .chain(
                        board
                            .columns
                            .iter()
                            .map(|key| row.column(key).map_or(String::from("none"), karat::text::plain)),
                    )
                    .collect();
                let is_row = |cells: &Vec<String>| {
                    let mut cells = cells.iter();
                    wanted.iter().all(|part| cells.any(|cell| cell == part))
                };
                let found = rows.iter().skip(at).position(is_row);
                at += found.unwrap_or_else(|| panic!("{question:?}: {wanted:?} in {:?}", &rows[at..])) + 1;
            }
        }
    }
}

/// Answers about tasks and judges over HTTP match the command line for the same items, and their pages show them.
#[test]
fn questions_about_records_are_answered_over_http_as_by_the_command() {
    let folder = Folder::new();
    for name in ["cards/judged.toml", "labels/answers.jsonl"] {
        folder.write(name.rsplit('/').next().unwrap(), &example(name));
    }
    let server = Server::new(folder.path(), &["scores"]);
    let (status, body) = server.post("application/toml", "/v1/scorecards", &example("cards/judged.toml"));
    assert_eq!(status, 201, "{body}");
    let (status, body) = server.post(
        "application/x-ndjson",
        "/v1/evidence?card=judged@1.0.0",
        &example("labels/answers.jsonl"),
    );
    assert!(matches!(status, 200 | 201), "{status} {body}");
    let flags = "--label human --verdict judge --family family --bias-by length";
    let query = "label=human&verdict=judge&family=family&bias_by=length";
    for (name, flags, query) in [
        ("judges", flags, query),
        ("tasks", "--rate 0.1", "rate=0.1"),
        ("trend", "--run judge", "run=judge"),
        ("grid", "--run judge", "run=judge"),
        ("stress", "--draws 60 --seed 7 --concentration 5", "draws=60&seed=7&concentration=5"),
    ] {
        let run = folder.line(&format!("{name} --card judged.toml answers.jsonl {flags} --format json"));
        assert_eq!(run.status, 0, "{}", run.screen());
        let (status, body) = server.ask("GET", &format!("/v1/{name}?card=judged@1.0.0&{query}"), "");
        assert_eq!(status, 200, "{body}");
        assert_eq!(body.trim_end(), run.stdout.trim_end(), "{name}");
        let (status, page) = server.ask("GET", &format!("/{name}?card=judged@1.0.0&{query}"), "");
        assert_eq!(status, 200, "{page}");
        assert!(page.contains("aster") || page.contains("question-01"), "{page}");
        let (status, body) = server.ask("GET", &format!("/v1/{name}?card=judged@1.0.0&{query}&lable=x"), "");
        assert!(status == 400 && body.contains("unknown field `lable`"), "{status} {body}");
    }
    let (status, body) = server.ask("GET", "/v1/judges?card=judged@1.0.0&label=reviewer", "");
    assert!(status == 400 && body.contains("reviewer") && !body.contains("--"), "{status} {body}");
}

#[test]
fn every_door_refuses_the_same_questions_in_the_same_words() {
    let folder = Folder::new();
    let items = nested_items();
    folder.write("nested.toml", NESTED);
    folder.write("items.jsonl", &items.join("\n"));
    let server = Server::new(folder.path(), &["scores"]);
    assert_eq!(server.post("application/toml", "/v1/scorecards", NESTED).0, 201);
    items.iter().for_each(|item| assert_eq!(server.ask("POST", "/v1/evidence?card=nested", item).0, 201));
    for (flag, name, value, why) in [
        ("--group-by", "group_by", "latency.p5", "no item has a field `latency.p5`"),
        ("--group-by", "group_by", "metrics.the.model", "no item has a field `metrics.the.model`"),
        ("--with", "with", "metrics.token", "no item has a field `metrics.token`"),
        ("--with", "with", "shards[0].name", "`shards[0].name` is `even` at "),
        ("--with", "with", "cost:p100", "`p100` is not a statistic of a fact"),
        ("--by", "by", "metrics.tokens", "the scorecard does not say whether more or less of it is better"),
        ("--by", "by", "shards[0].name:asc", "`shards[0].name` is `even` at "),
    ] {
        let run = folder.karat(&["leaderboard", "-c", "nested.toml", "items.jsonl", flag, value]);
        assert!(matches!(run.status, 1 | 2) && run.stderr.contains(why), "{value}: {}", run.stderr);
        let (status, answer) =
            server.ask("GET", &format!("/v1/leaderboards?card=nested&{name}={}", encoded(value)), "");
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(matches!(status, 400 | 422), "{value}: {answer}");
        assert!(answer["detail"].as_str().unwrap().contains(why), "{value}: {answer}");
        // Where there is something near, every door says so.
        let near =
            run.stderr.lines().find_map(|line| line.split_once("did you mean ")).map(|(_, near)| near.trim());
        assert!(
            near.is_none_or(|near| answer["detail"].as_str().unwrap().contains(near)),
            "{value}: {answer}"
        );
    }
}
