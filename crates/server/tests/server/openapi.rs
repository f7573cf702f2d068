//! The committed description of the API.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Running, declared};

#[test]
fn the_committed_description_is_that_of_the_routes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let now = karat_server::api::openapi::json().unwrap();
    if std::env::var_os("KARAT_WRITE_OPENAPI").is_some() {
        fs::write(&path, &now).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == now,
        "docs/openapi.json is not that of the routes; to write it anew: \
         KARAT_WRITE_OPENAPI=1 cargo test -p karat-server --test server openapi"
    );
}

#[test]
fn the_server_gives_its_description() {
    let server = Running::new();
    assert_eq!(server.get("/v1/openapi.json").is(200).body, karat_server::api::openapi::json().unwrap());
}

#[test]
fn every_operation_says_how_it_can_fail_and_has_a_name_of_its_own() {
    let document: Value = serde_json::from_str(&karat_server::api::openapi::json().unwrap()).unwrap();
    let mut names = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name.to_owned()), "{method} {path}: a second `{name}`");
            for (status, response) in operation["responses"].as_object().unwrap() {
                let is_problem = response.pointer("/content/application~1problem+json").is_some();
                assert_eq!(is_problem, status.as_str() >= "400", "{method} {path} {status}");
            }
        }
    }
    assert!(names.len() > 20, "{names:?}");
}

/// Calls `see` with every schema in `value`, and its place.
fn walk(value: &Value, place: &str, see: &mut dyn FnMut(&Value, &str)) {
    see(value, place);
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(key, member)| walk(member, &format!("{place}/{key}"), see));
        }
        Value::Array(elements) => {
            elements.iter().zip(0..).for_each(|(element, at)| walk(element, &format!("{place}/{at}"), see));
        }
        _ => {}
    }
}

#[test]
fn every_object_says_what_its_members_are() {
    let document: Value = serde_json::from_str(&karat_server::api::openapi::json().unwrap()).unwrap();
    let mut bare = Vec::new();
    walk(&document, "", &mut |value, place| {
        let Some(members) = value.as_object() else { return };
        let is_object = match &value["type"] {
            Value::Array(types) => types.iter().any(|it| it == "object"),
            only => only == "object",
        };
        let says = ["properties", "additionalProperties", "$ref", "allOf", "oneOf"];
        // A member called `type` is not a schema.
        let is_schema = members.get("type").is_some_and(|it| it.is_string() || it.is_array());
        if is_object && is_schema && !says.iter().any(|name| members.contains_key(*name)) {
            bare.push(place.to_owned());
        }
    });
    assert_eq!(bare, Vec::<String>::new());
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let contents = response["content"].as_object();
                let all_typed = contents.is_some_and(|all| {
                    all.values().all(|it| it["schema"].as_object().is_some_and(|schema| !schema.is_empty()))
                });
                assert!(all_typed || status == "204", "{method} {path} {status}: {response}");
            }
        }
    }
}

#[test]
fn every_reference_leads_to_a_schema_and_every_schema_is_used() {
    let document: Value = serde_json::from_str(&karat_server::api::openapi::json().unwrap()).unwrap();
    let mut used = BTreeSet::new();
    walk(&document, "", &mut |value, place| {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            let path = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(path).is_some(), "{place}: {reference}");
            used.insert(path.rsplit('/').next().unwrap().to_owned());
        }
    });
    let known: BTreeSet<String> =
        document["components"]["schemas"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(known.difference(&used).collect::<Vec<_>>(), Vec::<&String>::new());
    let vague = ["Line", "List", "Part", "Answer", "Kept", "Detail", "Happening", "State", "Entry", "Record"];
    assert!(vague.iter().all(|name| !known.contains(*name)), "{known:?}");
}

#[test]
fn the_statuses_of_an_operation_are_found_by_its_path() {
    // Every answer that a test of the server gets is compared with these.
    let has = |method: &str, path: &str, status: u16| declared(method, path).map(|all| all.contains(&status));
    assert_eq!(has("get", "/v1/log/cosigned?witnesses=1", 404), Some(true));
    assert_eq!(has("get", "/v1/log/rotations", 404), Some(false));
    assert_eq!(has("get", "/tile/0/x001/067", 200), Some(true));
    assert_eq!(has("post", "/v1/evidence?card=run", 201), Some(true));
    assert_eq!((declared("get", "/arena"), declared("delete", "/v1/evidence")), (None, None));
    let server = Running::new();
    server.get("/v1/log/cosigned?witnesses=1").is_problem(404, "not-found");
}
