//! Keys and their permissions.

use std::fs;

use serde_json::json;

use crate::common::Running;

/// A card with one fact that the subject states and one that is measured.
pub const CARD: &str = r#"
schema   = "karat/scorecard/1"
id       = "told"
version  = "1.0.0"
title    = "Told and measured"
about    = "One fact of each."
evidence = "facts"
mean     = "weighted-mean"
scale    = { max = 100, publish = "half-up" }

[facts]
told     = { unit = "1", min = 0, max = 1, from = "subject" }
measured = { unit = "1", min = 0, max = 1, from = "harness" }
unsaid   = { unit = "1", min = 0, max = 1 }

[[dimension]]
key     = "told"
weight  = 1
missing = "exclude"

[[dimension]]
key     = "measured"
weight  = 1
missing = "exclude"

[[dimension]]
key     = "unsaid"
weight  = 1
missing = "exclude"
"#;

const TOLD: &str = "/v1/evidence?card=told@1.0.0";

fn publish(server: &Running) {
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", CARD).is(201);
}

#[test]
fn writing_needs_a_key_and_reading_on_loopback_needs_none() {
    let server = Running::new();
    let item = r#"{"subject":"bot","id":"1","told":1}"#;
    let sent = server.post(TOLD, None, "application/json", item);
    sent.is_problem(401, "unauthenticated");
    assert_eq!(sent.header("www-authenticate"), Some("Bearer realm=\"karat\""));
    for wrong in ["karat_", "karat_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "karat_%00", "a b"]
    {
        server.post(TOLD, Some(wrong), "application/json", item).is_problem(401, "unauthenticated");
        // A wrong key is refused even if no key is needed.
        server.get_with("/v1/records", Some(wrong)).is_problem(401, "unauthenticated");
    }
    server.get("/v1/records").is(200);
    server.get("/v1/keys").is_problem(401, "unauthenticated");
    server.get("/v1/reviews").is_problem(401, "unauthenticated");
}

#[test]
fn each_scope_allows_what_it_says_and_nothing_else() {
    let server = Running::new();
    publish(&server);
    let key = |scope: &str| server.key(&json!({"name": scope, "scopes": [scope]}));
    let (read, write, review) = (key("read"), key("write:evidence"), key("review"));
    let item = r#"{"subject":"bot","id":"1","measured":1}"#;
    for (key, allowed) in [(&read, false), (&write, true), (&review, false)] {
        let sent = server.post(TOLD, Some(key), "application/json", item);
        if allowed {
            sent.is(201)
        } else {
            sent.is_problem(403, "forbidden")
        };
    }
    for (key, allowed) in [(&read, false), (&write, false), (&review, true)] {
        let queue = server.get_with("/v1/reviews", Some(key));
        if allowed {
            queue.is(200)
        } else {
            queue.is_problem(403, "forbidden")
        };
        server.get_with("/v1/keys", Some(key)).is_problem(403, "forbidden");
        server.post("/v1/keys", Some(key), "application/json", "{}").is_problem(403, "forbidden");
        server.post("/v1/scorecards", Some(key), "application/toml", CARD).is_problem(403, "forbidden");
    }
}

#[test]
fn a_key_of_a_subject_writes_about_it_and_only_what_it_may_say() {
    let server = Running::new();
    publish(&server);
    let key = server.key(&json!({"name": "bot", "scopes": ["write:evidence"], "subject": "bot"}));
    let send = |item: &str| server.post(TOLD, Some(&key), "application/json", item);
    send(r#"{"subject":"bot","id":"1","told":1}"#).is(201);
    send(r#"{"subject":"bot","id":"1","told":1}"#).is(200);
    send(r#"{"subject":"other","id":"1","told":1}"#).is_problem(403, "forbidden");
    let refused = send(r#"{"subject":"bot","id":"2","told":1,"measured":1}"#);
    refused.is_problem(403, "forbidden");
    assert_eq!(refused.at("/field"), "facts.measured");
    // A fact without a provenance in the card may not come from the subject.
    send(r#"{"subject":"bot","id":"2","unsaid":1}"#).is_problem(403, "forbidden");
    let lines =
        "{\"subject\":\"bot\",\"id\":\"3\",\"told\":1}\n{\"subject\":\"bot\",\"id\":\"4\",\"measured\":1}\n";
    let batch = server.post(TOLD, Some(&key), "application/x-ndjson", lines);
    assert_eq!((batch.at("/items/0/status"), batch.at("/items/1/status")), (json!(201), json!(403)));
}

#[test]
fn ids_of_different_subjects_do_not_meet() {
    let server = Running::new();
    publish(&server);
    server.send("card=told@1.0.0", r#"{"subject":"a/b","id":"c","told":1}"#).is(201);
    server.send("card=told@1.0.0", r#"{"subject":"a","id":"b/c","told":1}"#).is(201);
    server.send("card=told@1.0.0", r#"{"subject":"a%2Fb","id":"c","told":0}"#).is(201);
}

#[test]
fn a_revoked_key_is_worth_nothing_and_the_last_administrator_stays() {
    let server = Running::new();
    let key = server.key(&json!({"name": "ci", "scopes": ["write:evidence"]}));
    let listed = server.get_with("/v1/keys", Some(&server.admin));
    assert!(!listed.body.contains("karat_"), "a list has no secret");
    let id = |name: &str| {
        let keys = listed.at("/keys");
        let found = keys.as_array().unwrap().iter().find(|it| it["name"] == name).unwrap();
        found["id"].as_str().unwrap().to_owned()
    };
    let twice = json!({"name": "ci", "scopes": ["read"]}).to_string();
    server.post("/v1/keys", Some(&server.admin), "application/json", twice).is_problem(409, "conflict");
    server.delete(&format!("/v1/keys/{}", id("ci")), &key).is_problem(403, "forbidden");
    server.delete(&format!("/v1/keys/{}", id("ci")), &server.admin).is(204);
    server.delete(&format!("/v1/keys/{}", id("ci")), &server.admin).is_problem(404, "not-found");
    server.post(TOLD, Some(&key), "application/json", "{}").is_problem(401, "unauthenticated");
    server.delete(&format!("/v1/keys/{}", id("first")), &server.admin).is_problem(409, "conflict");
    // The same is true after a restart.
    let admin = server.admin.clone();
    let server = Running::in_folder(server.stop(), karat_server::Options::default(), Some(admin));
    server.post(TOLD, Some(&key), "application/json", "{}").is_problem(401, "unauthenticated");
    server.get_with("/v1/keys", Some(&server.admin)).is(200);
}

#[test]
fn what_is_wrong_with_a_request_for_a_key_is_told_with_its_member() {
    let server = Running::new();
    let make = |body: &str| server.post("/v1/keys", Some(&server.admin), "application/json", body);
    for (body, field) in [
        (r#"{"name":"x","scopes":["admn"]}"#, "$.scopes[0]"),
        (r#"{"name":"x","scopes":["read"],"more":1}"#, "$.more"),
        (r#"{"name":"x","scopes":[]}"#, "$.scopes"),
        (r#"{"name":"","scopes":["read"]}"#, "$.name"),
        (r#"{"name":"x","scopes":["review"],"subject":"bot"}"#, "$.scopes"),
        (r#"{"name":"x","scopes":["read"],"subject":"bot","reports":["harness"]}"#, "$.reports"),
        ("[]", "$"),
    ] {
        let made = make(body);
        made.is_problem(400, "bad-request");
        assert_eq!(made.at("/field"), field, "{body}");
    }
}

#[test]
fn no_file_of_the_server_has_a_key() {
    let server = Running::new();
    let key = server.key(&json!({"name": "ci", "scopes": ["read"]}));
    let secrets = [server.admin.clone(), key];
    let folder = server.stop();
    for file in fs::read_dir(folder.path()).unwrap() {
        let bytes = fs::read(file.unwrap().path()).unwrap();
        for secret in &secrets {
            let secret = secret.trim_start_matches("karat_").as_bytes();
            assert!(!bytes.windows(secret.len()).any(|window| window == secret));
        }
    }
}
