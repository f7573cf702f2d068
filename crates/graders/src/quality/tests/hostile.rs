//! Input made to hurt: none panics, hangs or takes time out of proportion.

use serde_json::{Value, json};

use crate::quality::{Checklist, PartialCredit, Transform, UnknownCriterion};

#[test]
fn patterns_of_a_task_share_what_they_may_take() {
    let load = |patterns: &[String]| {
        let criteria: Vec<Value> =
            patterns.iter().map(|pattern| json!({"type": "regex", "pattern": pattern})).collect();
        Checklist::load(&json!(criteria), UnknownCriterion::Refuse)
    };
    let large =
        |count: usize| -> Vec<String> { (0..count).map(|at| format!(r"\p{{L}}{{2,18}}{at}")).collect() };
    assert!(load(&large(10)).is_ok());
    assert!(load(&large(100)).unwrap_err().to_string().contains("size limit"));
    // Each of these letters is a class of 700 ranges before anything is compiled.
    let long = load(&[r"\w".repeat(5_000_000)]).unwrap_err().to_string();
    assert!(long.contains("at most 16384 bytes of them together"), "{long}");

    let schema = |patterns: &[String]| {
        let patterns: Vec<Value> = patterns.iter().map(|pattern| json!({"pattern": pattern})).collect();
        Transform::new(&json!(1), Some(&json!({"allOf": patterns})), PartialCredit::None)
    };
    assert!(schema(&large(10)).is_ok());
    assert!(schema(&large(100)).is_err());
    let long = schema(&[r"\w".repeat(20_000)]).unwrap_err().to_string();
    assert!(long.contains("at most 1000 each and 16384 together"), "{long}");
    // What a search takes is the product of pattern and text.
    let transform = schema(&["a[ab]{2000}c".to_owned()]).unwrap();
    let refused = transform.grade(&format!("{:?}", "ab".repeat(5_000_000))).unwrap_err().to_string();
    assert!(refused.contains("a text of 10000002 bytes, expected at most 65536 bytes"), "{refused}");
    let checklist = |kind: &str| json!([{"type": kind, "text": "total", "pattern": "total"}]);
    let [searched, found] =
        ["regex", "keyword"].map(|kind| Checklist::load(&checklist(kind), UnknownCriterion::Refuse).unwrap());
    let long = format!("total{}", " ".repeat(Checklist::SEARCHED_BYTES_MAX));
    assert!(searched.grade(&long).unwrap_err().to_string().contains("at most 65536 bytes"));
    assert_eq!(
        [searched.grade(&long[5..]), found.grade(&long)].map(|grade| grade.unwrap().value),
        [0.0, 1.0]
    );
}

#[test]
fn schemas_that_turn_in_circles() {
    let value = json!({"a": {"a": {"a": 1}}});
    for schema in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"properties": {"a": {"$ref": "#/properties/a"}}}),
        json!({"not": {"$ref": "#"}}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
    ] {
        // Valid, refused or no schema: only that it ends.
        let _ = Transform::new(&value, Some(&schema), PartialCredit::None);
    }
    // Two ways at each of 100 levels.
    let twice = json!({
        "anyOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}, "required": ["b"]}],
        "not": {"type": "integer"},
    });
    let deep = format!("{}1{}", r#"{"a":"#.repeat(100), "}".repeat(100));
    let transform = Transform::new(&json!("{}"), Some(&twice), PartialCredit::None).unwrap();
    assert_eq!(transform.grade(&deep).unwrap().value, 0.0);
    let refused =
        |schema| Transform::new(&json!("1"), Some(&schema), PartialCredit::None).unwrap_err().to_string();
    // Two ways that both lead on to two, and one way that leads on for long.
    let definitions = |count: usize, ways: usize| -> Value {
        let way = |at: usize| json!({"$ref": format!("#/$defs/d{}", at + 1)});
        let definition = |at: usize| (format!("d{at}"), json!({"allOf": vec![way(at); ways]}));
        let mut definitions: serde_json::Map<_, _> = (0..count).map(definition).collect();
        definitions.insert(format!("d{count}"), json!({"type": "string"}));
        json!({"$defs": definitions, "$ref": "#/$defs/d0"})
    };
    assert!(refused(definitions(40, 2)).contains("at most 10000 subschemas"));
    // Ways that a walk sees only if it reads keys as the validator does: behind `%61` as `a`, and below names that elsewhere
    // are keywords.
    let percent = json!({"$defs": {"a": true, "%61": true}, "$ref": "#/$defs/%61"});
    assert!(refused(percent).contains("without percent signs"));
    let mut hidden = definitions(30, 2);
    hidden["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    for definition in hidden["$defs"].as_object_mut().unwrap().values_mut() {
        *definition = json!({"dependencies": {"const": definition.take()}});
    }
    assert!(refused(hidden).contains("at most 10000 subschemas"));
    let nots = (0..100).fold(json!({"$ref": "#"}), |inner, _| json!({"not": inner}));
    assert!(refused(json!({"properties": {"a": nots}})).contains("nested at most 60 deep"));
    assert!(refused(definitions(5000, 1)).contains("nested at most 200 deep"));
    assert!(Transform::new(&json!("\"x\""), Some(&definitions(60, 1)), PartialCredit::None).is_ok());
}
