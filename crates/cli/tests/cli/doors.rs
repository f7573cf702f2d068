//! Every door gives the same bytes: library, command line, HTTP.
#![cfg(unix)]

use std::process::Command;

use karat::Engine;
use karat::card::CompiledCard;
use serde_json::Value;

use crate::common::{Folder, example, finish, karat, program};
use crate::serve::Server;

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
