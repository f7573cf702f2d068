//! Evidence in: stored, refused, sent again.

use serde_json::json;

use crate::common::Running;

const WORKED: &str = include_str!("../../../../examples/workflow/worked-example.json");
const WORKFLOW: &str = "card=workflow@1.0.0";

#[test]
fn an_item_is_scored_stored_and_answered_with_its_record() {
    let server = Running::new();
    let sent = server.send(WORKFLOW, WORKED);
    sent.is(201);
    assert_eq!(sent.at("/repeated"), false);
    assert_eq!(sent.at("/record/id"), "17/run-worked-example/workflow@1.0.0");
    assert_eq!(sent.at("/content/schema"), "karat/record/1");
    assert_eq!(sent.at("/content/evidence/digest"), sent.at("/evidence/digest"));
    let position = sent.at("/record/position");
    let shown = server.get(&format!("/v1/records/{position}"));
    assert_eq!(shown.is(200).at("/record"), sent.at("/content"));
    let by_id = server.get("/v1/records/17%2Frun-worked-example%2Fworkflow@1.0.0");
    assert_eq!(by_id.is(200).json(), shown.json());
}

#[test]
fn the_same_again_changes_nothing() {
    let server = Running::new();
    let first = server.send(WORKFLOW, WORKED);
    // The order of members and white space do not count.
    let other: serde_json::Value = serde_json::from_str(WORKED).unwrap();
    let again = server.send(WORKFLOW, &other.to_string());
    assert_eq!(again.is(200).at("/repeated"), true);
    assert_eq!(again.at("/record"), first.at("/record"));
    // Nor does another time of the verdict: a record is made once.
    let later = server.send(&format!("{WORKFLOW}&as_of=2026-01-01T00:00:00Z"), WORKED);
    assert_eq!(later.is(200).at("/record"), first.at("/record"));
    assert_eq!(later.at("/content"), first.at("/content"));
}

#[test]
fn other_content_under_an_id_is_a_conflict_with_both_digests() {
    let server = Running::new();
    let first = server.send(WORKFLOW, WORKED);
    let other = server.send(WORKFLOW, &WORKED.replace("0.875", "0.95"));
    other.is_problem(409, "conflict");
    assert_eq!(other.at("/stored"), first.at("/evidence/digest"));
    assert_ne!(other.at("/given"), other.at("/stored"));
    assert_eq!(other.at("/field"), "id");
}

#[test]
fn everything_wrong_with_an_item_is_told_at_once_and_nothing_is_kept() {
    let server = Running::new();
    let before = server.get("/v1/log").at("/size");
    let bad =
        WORKED.replace("0.875", "\"good\"").replace("\"steps_completed\": 3", "\"steps_completed\": -1");
    let sent = server.send(WORKFLOW, &bad);
    sent.is_problem(422, "evidence-refused");
    let fields: Vec<String> =
        sent.at("/problems").as_array().unwrap().iter().map(|it| it["field"].to_string()).collect();
    assert_eq!(fields, [r#""$.output_quality""#, r#""$.result.steps_completed""#]);
    assert_eq!(server.get("/v1/log").at("/size"), before);
}

#[test]
fn a_correction_names_what_it_corrects() {
    let server = Running::new();
    let first = server.send(WORKFLOW, WORKED);
    let better = WORKED.replace("run-worked-example", "run-corrected").replace("0.875", "0.9");
    let corrected = server.send(&format!("{WORKFLOW}&replaces=run-worked-example"), &better);
    corrected.is(201);
    let listed = server.get("/v1/records?subject=17");
    assert_eq!(listed.at("/records").as_array().unwrap().len(), 1);
    assert_eq!(listed.at("/records/0/id"), corrected.at("/record/id"));
    assert_eq!(listed.at("/records/0/replaces"), first.at("/record/id"));
    let old = server.get(&format!("/v1/records/{}", first.at("/record/position")));
    assert_eq!(old.at("/replaced_by"), corrected.at("/record/id"));
    let evidence = server.get(&format!("/v1/evidence/{}", first.at("/evidence/position")));
    assert_eq!(evidence.at("/replaced_by"), corrected.at("/evidence/id"));
    assert_eq!(evidence.at("/records/0"), first.at("/record/position"));
    assert_eq!(evidence.at("/records").as_array().unwrap().len(), 1);
    // A second correction of the same item must name the first one.
    let worse = WORKED.replace("run-worked-example", "run-again");
    let second = server.send(&format!("{WORKFLOW}&replaces=run-worked-example"), &worse);
    second.is_problem(409, "conflict");
    server.send(&format!("{WORKFLOW}&replaces=run-nowhere"), &worse).is_problem(404, "not-found");
    server.send(&format!("{WORKFLOW}&replaces=run-again"), &worse).is_problem(400, "bad-request");
}

#[test]
fn a_batch_is_answered_line_by_line() {
    let server = Running::new();
    let line = |id: &str| {
        let mut item: serde_json::Value = serde_json::from_str(WORKED).unwrap();
        item["run_id"] = json!(id);
        item.to_string()
    };
    let body = format!("{}\n\n{}\n{{\"run_id\": 1}}\n{}\nno json", line("a"), line("b"), line("a"));
    let answer =
        server.post(&format!("/v1/evidence?{WORKFLOW}"), Some(&server.admin), "application/x-ndjson", body);
    answer.is(200);
    assert_eq!(
        (answer.at("/accepted"), answer.at("/repeated"), answer.at("/refused")),
        (json!(2), json!(1), json!(2))
    );
    let lines: Vec<(u64, u64)> = answer
        .at("/items")
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["line"].as_u64().unwrap(), it["status"].as_u64().unwrap()))
        .collect();
    assert_eq!(lines, [(1, 201), (3, 201), (4, 422), (5, 200), (6, 422)]);
    assert_eq!(answer.at("/items/0/position"), answer.at("/items/3/position"));
}

#[test]
fn what_was_answered_is_there_after_a_restart() {
    let server = Running::new();
    let sent = server.send(WORKFLOW, WORKED);
    let admin = server.admin.clone();
    let server = Running::in_folder(server.stop(), karat_server::Options::default(), Some(admin));
    let shown = server.get(&format!("/v1/records/{}", sent.at("/record/position")));
    assert_eq!(shown.is(200).at("/record"), sent.at("/content"));
    assert_eq!(server.send(WORKFLOW, WORKED).is(200).at("/repeated"), true);
    assert_eq!(server.get("/v1/records").at("/records/0/id"), sent.at("/record/id"));
}

/// A request may be sent again, so an item that has no id needs one from outside.
#[test]
fn an_item_without_an_id_is_named_by_the_request() {
    let server = Running::new();
    let bare: serde_json::Value = {
        let mut item: serde_json::Value = serde_json::from_str(WORKED).unwrap();
        item.as_object_mut().unwrap().remove("run_id");
        item
    };
    let path = format!("/v1/evidence?{WORKFLOW}");
    let post = |media: &str, key: Option<&str>, body: &str| {
        server.post_keyed(&path, &server.admin, media, key, body)
    };
    let (one, lines) = ("application/json", "application/x-ndjson");
    let refused = post(one, None, &bare.to_string());
    refused.is_problem(422, "evidence-refused");
    assert!(refused.at("/detail").as_str().unwrap().contains("Idempotency-Key"));
    for wrong in ["", "\"\"", "two words", &"k".repeat(129)] {
        post(one, Some(wrong), &bare.to_string()).is_problem(400, "bad-request");
    }
    let first = post(one, Some("k1"), &bare.to_string());
    first.is(201);
    assert_eq!(first.at("/content/evidence/id"), "k1");
    // The same request again changes nothing, with quotation marks or without; another one is another item.
    let again = post(one, Some("\"k1\""), &bare.to_string());
    again.is(200);
    assert_eq!((again.at("/repeated"), again.at("/record")), (json!(true), first.at("/record")));
    assert_ne!(post(one, Some("k2"), &bare.to_string()).is(201).at("/record"), first.at("/record"));
    // A key that was used for another item is a conflict.
    let mut other = bare.clone();
    other["output_quality"] = json!(0.5);
    post(one, Some("k1"), &other.to_string()).is_problem(409, "conflict");
    // In a batch every line has its own name; equal lines are as many items.
    let body = format!("{bare}\n{bare}\n\n{bare}\n");
    let batch = post(lines, Some("night"), &body);
    assert_eq!((batch.is(200).at("/accepted"), batch.at("/repeated")), (json!(3), json!(0)));
    assert_eq!(batch.at("/items/2/record"), "17/night:4/workflow@1.0.0");
    assert_eq!(post(lines, Some("night"), &body).at("/repeated"), json!(3));
    assert_eq!(post(lines, None, &body).at("/refused"), json!(3));
    // Its own id counts, whatever the request is called.
    assert_eq!(post(one, Some("k9"), WORKED).is(201).at("/content/evidence/id"), "run-worked-example");
    let board = server.get("/v1/leaderboards?card=workflow@1.0.0");
    assert_eq!(board.is(200).at("/items/count"), json!(6));
}
