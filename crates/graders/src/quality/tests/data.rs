//! Data transformations.

use serde_json::{Value, json};

use crate::quality::{PartialCredit, Transform, TransformOutcome};

fn plain(expected: Value) -> Transform {
    Transform::new(&expected, None, PartialCredit::None).unwrap()
}

fn refused(expected: Value, schema: Option<Value>) -> String {
    Transform::new(&expected, schema.as_ref(), PartialCredit::None).unwrap_err().to_string()
}

#[test]
fn structure_is_compared_and_not_text() {
    let transform = plain(json!({"a": 1, "b": [1, 2], "c": {"x": null}}));
    assert_eq!(transform.grade(r#" {"c": {"x": null}, "b": [1.0, 2], "a": 1} "#).value, 1.0);
    for (text, reason) in [
        (r#"{"a": "1", "b": [1, 2], "c": {"x": null}}"#, "$.a is `1`, expected `1`"),
        (r#"{"a": true, "b": [1, 2], "c": {"x": null}}"#, "$.a is `true`, expected `1`"),
        (r#"{"a": 1, "b": [2, 1], "c": {"x": null}}"#, "$.b[0] is `2`, expected `1`"),
        (r#"{"a": 1, "b": [1], "c": {"x": null}}"#, "$.b is an array of 1, expected an array of 2"),
        (r#"{"a": 1, "b": [1, 2], "c": {}}"#, "$.c.x is missing"),
        (r#"{"a": 1, "b": [1, 2], "c": {"x": null}, "d": 0}"#, "$.d is not expected"),
        ("[]", "$ is an array of 0, expected an object"),
    ] {
        let grade = transform.grade(text);
        assert_eq!(
            (grade.value, grade.outcome, grade.reason.as_str()),
            (0.0, TransformOutcome::Different, reason)
        );
    }
}

#[test]
fn an_expected_text_may_hold_json_or_be_a_text() {
    assert_eq!(plain(json!(r#"{"a": [1]}"#)).grade(r#"{"a":[1.0]}"#).value, 1.0);
    assert_eq!(plain(json!("42")).grade("42.0").value, 1.0);
    let text = plain(json!(" alpha|beta\n"));
    assert_eq!(text.grade("\talpha|beta ").value, 1.0);
    let grade = text.grade("alpha|BETA");
    assert_eq!(
        (grade.value, grade.reason.as_str()),
        (0.0, "the output is `alpha|BETA`, expected `alpha|beta`")
    );
}

#[test]
fn what_is_no_json_is_told_apart_from_what_is_ambiguous() {
    let transform = plain(json!({"a": 1}));
    for (text, outcome) in [
        ("a: 1", TransformOutcome::NotJson),
        (r#"{"a": NaN}"#, TransformOutcome::NotJson),
        (r#"{"a": "\ud800"}"#, TransformOutcome::NotJson),
        (r#"{"a": 2, "a": 1}"#, TransformOutcome::Ambiguous),
        (r#"{"a": 100000000000000000001}"#, TransformOutcome::Ambiguous),
    ] {
        let grade = transform.grade(text);
        assert_eq!((grade.value, grade.outcome), (0.0, outcome), "{text}");
        assert!(!grade.reason.is_empty() && json!(grade)["outcome"] == json!(outcome));
    }
}

#[test]
fn partial_credit_is_given_only_where_it_is_asked_for() {
    let expected = json!({"a": 1, "b": 2, "c": 3, "d": 4});
    let value = |partial, text: &str| Transform::new(&expected, None, partial).unwrap().grade(text).value;
    let half = r#"{"a": 1, "b": 2, "c": 0, "e": 5, "f": 6}"#;
    assert_eq!(value(PartialCredit::None, half), 0.0);
    assert_eq!(value(PartialCredit::Keys, half), 2.0 / 6.0);
    assert_eq!(value(PartialCredit::ExpectedKeys, half), 0.5);
    let surplus = r#"{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}"#;
    assert_eq!(value(PartialCredit::Keys, surplus), 0.8);
    assert_eq!(value(PartialCredit::ExpectedKeys, surplus), 1.0);
    assert_eq!(value(PartialCredit::Keys, r#"{"a": "1", "b": "2"}"#), 0.0, "texts are no numbers");
    assert_eq!(value(PartialCredit::Keys, "[1, 2, 3, 4]"), 0.0);
    let empty = Transform::new(&json!({}), None, PartialCredit::Keys).unwrap();
    assert_eq!((empty.grade("{}").value, empty.grade(r#"{"a": 1}"#).value), (1.0, 0.0));
    let missing = Transform::new(&json!({"a": ""}), None, PartialCredit::Keys).unwrap();
    assert_eq!(missing.grade("{}").value, 0.0, "a missing key is not an empty text");
}

#[test]
fn a_schema_comes_before_the_match() {
    let schema = json!({
        "type": "object",
        "required": ["id", "tags"],
        "additionalProperties": false,
        "properties": {
            "id": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$"},
            "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}, "uniqueItems": true},
        },
        "$defs": {"tag": {"type": "string", "maxLength": 5}},
    });
    let expected = json!({"id": "AB12", "tags": ["x", "y"]});
    let transform = Transform::new(&expected, Some(&schema), PartialCredit::Keys).unwrap();
    assert_eq!(transform.grade(&expected.to_string()).value, 1.0);
    let other = transform.grade(r#"{"id": "AB12", "tags": ["y"]}"#);
    assert_eq!((other.value, other.outcome), (0.5, TransformOutcome::Different));
    for (text, place) in [
        (r#"{"id": "ab12", "tags": ["x", "y"]}"#, "`/id` does not satisfy `/properties/id/pattern`"),
        (r#"{"id": "AB12"}"#, "the whole does not satisfy `/required`"),
        (r#"{"id": "AB12", "tags": ["toolong"]}"#, "`/tags/0` does not satisfy"),
        (r#"{"id": "AB12", "tags": [], "z": 0}"#, "the whole does not satisfy `/additionalProperties`"),
    ] {
        let grade = transform.grade(text);
        assert_eq!((grade.value, grade.outcome), (0.0, TransformOutcome::Invalid), "{text}");
        assert!(grade.reason.starts_with(place), "{}", grade.reason);
    }
}

#[test]
fn bad_tasks_are_refused() {
    assert!(refused(Value::Null, None).contains("expected the expected output"));
    assert!(refused(json!(" "), None).contains("a blank text"));
    assert!(refused(json!(r#"{"a": 1, "a": 2}"#), None).contains("stands twice"));
    assert!(refused(json!({"a": 1}), Some(json!({"type": "array"}))).contains("does not satisfy `/type`"));
    assert!(refused(json!("plain"), Some(json!({"type": "string"}))).contains("not JSON"));
    assert!(refused(json!(1), Some(json!({"type": "nmber"}))).contains("$.reference.schema"));
    assert!(refused(json!("x"), Some(json!({"pattern": "(?=a)"}))).contains("$.reference.schema"));
    let both = refused(Value::Null, Some(json!({"type": 3})));
    assert_eq!(both.lines().count(), 2, "{both}");
}

#[test]
fn a_schema_reaches_nothing_outside_itself() {
    for schema in [
        json!({"$ref": "https://example.com/schema.json"}),
        json!({"properties": {"a": {"items": {"$ref": "file:///etc/hostname"}}}}),
        json!({"allOf": [{"$ref": "other.json"}]}),
        json!({"$ref": "#/nowhere"}),
        json!({"$dynamicRef": "#a"}),
        json!({"properties": {"a": {"$id": "https://example.com/", "$ref": "#/a"}}}),
    ] {
        let found = refused(json!(1), Some(schema));
        assert!(found.starts_with("$.reference.schema"), "{found}");
    }
    let names = json!({"$id": "https://example.com/", "properties": {"$ref": {"type": "string"}, "enum": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"enum": [{"$ref": "x"}, 1]}}});
    assert!(Transform::new(&json!({"enum": 1}), Some(&names), PartialCredit::None).is_ok());
}
