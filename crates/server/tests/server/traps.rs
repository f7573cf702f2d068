//! Traps of scorecards as the server tells them; the tests of the command line check the same cards.

use serde_json::Value;

use crate::common::Running;

const FINDINGS: &str = include_str!("../../../core/tests/findings.json");

#[test]
fn every_trap_is_told_and_what_is_like_it_is_not() {
    let findings: Value = serde_json::from_str(FINDINGS).unwrap();
    let server = Running::new();
    for (id, case) in findings["cases"].as_array().unwrap().iter().enumerate() {
        let card = case["card"].as_str().unwrap();
        let kind = if card.contains("evidence = ") { "" } else { "evidence = \"facts\"\n" };
        let card = format!(
            "schema = \"karat/scorecard/1\"\nid = \"case-{id}\"\nversion = \"1.0.0\"\ntitle = \"Case\"\n{kind}{card}"
        );
        let told = server.post("/v1/scorecards/check", None, "application/toml", &card).is(200).json();
        let is_told = |code: &Value, words: &str| {
            let all = told["findings"].as_array().unwrap().iter();
            all.filter(|it| it["code"] == *code).any(|it| it["message"].as_str().unwrap().contains(words))
        };
        match case["says"].as_str() {
            Some(words) => assert!(is_told(&case["code"], words), "{case}: {told}"),
            None => assert!(!is_told(&case["without"], ""), "{case}: {told}"),
        }
        let is_refused = case["refused"] == true;
        assert_eq!(told["is_sound"], !is_refused, "{case}: {told}");
        let published = server.post("/v1/scorecards", Some(&server.admin), "application/toml", &card);
        assert_eq!(published.status, if is_refused { 422 } else { 201 }, "{case}: {}", published.body);
    }
}
