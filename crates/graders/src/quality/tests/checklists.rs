//! Checklists.

use serde_json::{Value, json};

use crate::quality::{Checklist, UnknownCriterion};

fn load(criteria: Value) -> Result<Checklist, String> {
    Checklist::load(&criteria, UnknownCriterion::Refuse).map_err(|problems| problems.to_string())
}

fn meets(criterion: Value, text: &str) -> bool {
    load(json!([criterion])).unwrap().grade(text).met == 1
}

#[test]
fn keywords_are_found_without_regard_to_case() {
    assert!(meets(json!({"text": "DaTa"}), "lots of dATa"));
    assert!(meets(json!({"text": "ÉTÉ"}), "l'été"));
    assert!(!meets(json!({"type": "keyword", "text": "data"}), "dat a"));
}

#[test]
fn value_stands_for_text() {
    assert!(meets(json!({"type": "keyword", "value": "total"}), "in total"));
    assert!(!meets(json!({"type": "keyword", "value": "total"}), "anything at all"));
    assert!(load(json!([{"text": "a", "value": "b"}])).unwrap_err().contains("`a`, and `b` as `value`"));
    assert!(meets(json!({"text": "same", "value": "same"}), "the same"));
}

#[test]
fn a_json_key_stands_at_the_top_of_an_object_exactly() {
    let criterion = json!({"type": "json_key", "text": "State"});
    assert!(meets(criterion.clone(), r#" {"State": null} "#));
    assert!(meets(criterion.clone(), r#"{"\u0053tate": 1}"#));
    for text in [r#"{"state": 1}"#, r#"{"a": {"State": 1}}"#, r#"["State"]"#, r#"ok {"State": 1}"#, ""] {
        assert!(!meets(criterion.clone(), text), "{text}");
    }
    let grade = load(json!([criterion])).unwrap().grade(r#"{"State": 1, "State": 2}"#);
    assert!(grade.criteria[0].reason.as_deref().unwrap().contains("stands twice"));
}

#[test]
fn patterns_are_searched_without_regard_to_case() {
    let pattern = |pattern: &str, text: &str| meets(json!({"type": "regex", "pattern": pattern}), text);
    assert!(pattern("colou?r", "the COLOR"));
    assert!(pattern(r"\d{2}", "n: 17"));
    assert!(pattern("^b$", "b") && !pattern("^b$", "a\nb"));
    assert!(pattern("done$", "Done\n") && !pattern("done$", "done\n\n") && !pattern(r"done\z", "done\n"));
    assert!(!pattern(r"a[$]", "a\n"));
    assert!(pattern("é", "É"));
}

#[test]
fn what_no_text_can_fail_is_refused_when_the_task_is_loaded() {
    for criterion in [
        json!({"type": "keyword", "text": ""}),
        json!({"type": "keyword"}),
        json!({"type": "keyword", "text": null}),
        json!({"type": "keyword", "text": " \n"}),
        json!({"type": "json_key", "text": ""}),
        json!({"type": "regex", "pattern": ""}),
        json!({"type": "regex", "pattern": "a*"}),
        json!({"type": "regex", "pattern": "(?s).*"}),
        json!({"type": "regex", "pattern": "x|"}),
    ] {
        let refused = load(json!([{"text": "fine"}, criterion])).unwrap_err();
        assert!(refused.starts_with("$.reference.goal_checklist[1]."), "{refused}");
    }
    assert!(load(json!([])).unwrap_err().contains("1 to 1000 criteria"));
    assert!(load(Value::Null).unwrap_err().contains("found nothing"));
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let refused = load(json!([
        {"type": "keywrod", "text": "a"},
        {"type": "regex", "pattern": "(?=a)"},
        {"type": "regex", "pattern": r"(a)\1"},
        {"type": 3, "text": "a"},
        "a",
        {"type": "regex", "pattern": "("},
    ]))
    .unwrap_err();
    assert_eq!(refused.lines().count(), 6, "{refused}");
    assert!(refused.contains("did you mean `keyword`?") && refused.contains("look-around"), "{refused}");
}

#[test]
fn an_unknown_kind_is_refused_or_unmet() {
    let criteria = json!([{"type": "vibe"}, {"text": "a"}]);
    assert!(load(criteria.clone()).is_err());
    let grade = Checklist::load(&criteria, UnknownCriterion::Unmet).unwrap().grade("a");
    assert_eq!((grade.value, grade.met), (0.5, 1));
    assert_eq!(json!(grade)["criteria"][0]["reason"], "no such kind of criterion");
    assert_eq!(json!(grade)["criteria"][1]["is_met"], true);
}

#[test]
fn a_criterion_that_stands_twice_counts_twice() {
    let grade = load(json!([{"text": "a"}, {"text": "a"}, {"text": "b"}])).unwrap().grade("a");
    assert_eq!(grade.value, 2.0 / 3.0);
}
