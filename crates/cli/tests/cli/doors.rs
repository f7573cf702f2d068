//! Every door gives the same bytes: library, command line, HTTP.
#![cfg(unix)]

use karat::Engine;
use serde_json::Value;

use crate::common::{Folder, example, karat};
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
