//! The description of the API, as it is committed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::Running;

#[test]
fn the_committed_description_is_that_of_the_routes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let now = karat_server::openapi::json().unwrap();
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
    assert_eq!(server.get("/v1/openapi.json").is(200).body, karat_server::openapi::json().unwrap());
}

#[test]
fn every_operation_says_how_it_can_fail_and_has_a_name_of_its_own() {
    let document: Value = serde_json::from_str(&karat_server::openapi::json().unwrap()).unwrap();
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
