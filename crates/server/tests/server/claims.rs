//! Items that claim what cannot be, over HTTP; the tests of the command line score the same ones.

use serde_json::Value;

use crate::common::Running;
use crate::numbers::SOLVED;

const CLAIMS: &str = include_str!("../../../reader/tests/claims.json");

/// Returns the item of a case: the base under another name, with the changed members.
fn item(base: &Value, changes: &Value, name: usize) -> Value {
    let mut item = base["item"].clone();
    let own = (base["name"][0].as_str().unwrap(), format!("{}{name}", base["name"][1].as_str().unwrap()));
    let changes = changes.as_object().unwrap().iter().map(|(pointer, value)| (&**pointer, value.clone()));
    for (pointer, value) in [(own.0, Value::from(own.1))].into_iter().chain(changes) {
        let (parent, member) = pointer.rsplit_once('/').unwrap();
        item.pointer_mut(parent).unwrap()[member] = value;
    }
    item
}

#[test]
fn claims_that_cannot_be_are_refused_and_those_that_hardly_can_are_told() {
    let claims: Value = serde_json::from_str(CLAIMS).unwrap();
    let server = Running::new();
    server.post("/v1/scorecards", Some(&server.admin), "application/toml", SOLVED).is(201);
    for (name, case) in claims["cases"].as_array().unwrap().iter().enumerate() {
        let base = &claims["bases"][case["base"].as_str().unwrap()];
        let query = format!("card={}", base["card"].as_str().unwrap());
        let size = server.get("/v1/log").at("/size");
        let sent = server.send(&query, &item(base, &case["change"], name).to_string());
        let at = case["at"].as_str().unwrap_or_default();
        if let Some(found) = case["refused"].as_str() {
            assert_eq!(
                (sent.status, sent.at("/code")),
                (422, "evidence-refused".into()),
                "{case}: {}",
                sent.body
            );
            let is_it = |it: &Value| {
                it["field"] == at && it["detail"].as_str().unwrap().starts_with(&format!("found {found}"))
            };
            assert!(sent.at("/problems").as_array().unwrap().iter().any(is_it), "{case}: {}", sent.body);
            assert_eq!(server.get("/v1/log").at("/size"), size, "{case}: nothing is kept");
            continue;
        }
        assert_eq!(sent.status, 201, "{case}: {}", sent.body);
        let record = sent.at("/content");
        let warnings = record["warnings"].as_array().unwrap().iter();
        let told: Vec<&Value> = warnings.filter(|it| it["code"] == "suspicious-evidence").collect();
        match case["suspected"].as_str() {
            Some(text) => assert!(
                told.iter().any(|it| it["message"].as_str().unwrap().starts_with(&format!("{at}: {text}"))),
                "{case}: {told:?}"
            ),
            None => assert_eq!(told, [&Value::Null; 0], "{case}"),
        }
        if let Some(score) = case["score"].as_f64() {
            assert_eq!(record["score"]["published"].as_f64(), Some(score), "{case}");
        }
        for (pointer, value) in case["grading"].as_object().into_iter().flatten() {
            let seen = record["grading"].pointer(pointer);
            // 0 and 0.0 are one number.
            let is_same = seen == Some(value)
                || seen.and_then(Value::as_f64).is_some_and(|it| value.as_f64() == Some(it));
            assert!(is_same, "{case}: {pointer} is {seen:?}");
        }
    }
}
