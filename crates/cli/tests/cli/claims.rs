//! Items that claim what cannot be, on the command line; the server's tests send the same ones.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use serde_json::Value;

use crate::common::{Folder, finish, program};
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
    let folder = Folder::new();
    folder.write("solved.toml", SOLVED);
    for (name, case) in claims["cases"].as_array().unwrap().iter().enumerate() {
        let base = &claims["bases"][case["base"].as_str().unwrap()];
        let card = base["card"].as_str().unwrap().replace("solved@1.0.0", "solved.toml");
        let item = item(base, &case["change"], name).to_string();
        let run = finish(program(folder.path()).args(["score", "--json", "-c", &card]), &item);
        let at = case["at"].as_str().unwrap_or_default();
        if let Some(found) = case["refused"].as_str() {
            assert_eq!((run.status, &*run.stdout), (1, ""), "{case}");
            assert!(run.stderr.contains(&format!("{at}: found {found}")), "{case}: {}", run.stderr);
            continue;
        }
        assert_eq!(run.status, 0, "{case}: {}", run.stderr);
        let record: Value = serde_json::from_str(&run.stdout).unwrap();
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

#[test]
fn the_source_of_an_item_is_a_claim_unless_the_log_is_read() {
    let folder = Folder::new();
    let report = "<testsuite><testcase name=\"adds\"/></testsuite>";
    folder.write("r.xml", report);
    folder.write("items.jsonl", &folder.karat(&["import", "r.xml"]).stdout);
    folder.write("record.json", &folder.karat(&["score", "-c", "run", "--json", "r.xml"]).stdout);
    let claimed = "Source, claimed by the item: it was not read here\n";
    for (arguments, title) in [
        (&["-c", "run", "r.xml"][..], "Source\n"),
        (&["-c", "run", "items.jsonl"], claimed),
        // A record does not show where its facts come from.
        (&["record.json"], claimed),
    ] {
        let run = folder.karat(&[&["explain", "--table"], arguments].concat());
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert!(run.stdout.contains(&format!("{title}  r.xml, line 1, test `adds`\n")), "{}", run.stdout);
    }
}
