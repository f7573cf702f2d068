//! Input made to hurt: none panics, hangs or takes time out of proportion.

use serde_json::{Value, json};

use crate::quality::{
    Checklist, PartialCredit, Reference, TestResults, Tokenizer, Transform, UnknownCriterion,
};

const TEN_MEGABYTES: usize = 10_000_000;

fn long(piece: &str) -> String {
    piece.repeat(TEN_MEGABYTES / piece.len())
}

#[test]
fn texts_of_ten_megabytes() {
    let reference = Reference::new("one two three of these tokens", Tokenizer::Reference).unwrap();
    for piece in ["y", "tokens ", "é", "\u{130}", "ational"] {
        let text = if piece == "y" { long(piece) } else { piece.repeat(100_000) };
        match reference.grade(&text) {
            Ok(rouge) => assert!(rouge.f1 < 0.1),
            Err(refused) => panic!("{refused}"),
        }
    }
    assert!(
        Reference::new(&long("ab "), Tokenizer::Reference).unwrap_err().to_string().contains("10000 tokens")
    );
    assert!(reference.grade(&long("a").repeat(2)).unwrap_err().to_string().contains("16777216 bytes"));
}

#[test]
fn texts_of_ten_megabytes_in_other_scripts() {
    let reference = Reference::new("なまえ", Tokenizer::Unicode).unwrap();
    // Marks without a base, letters that become many, joiners, halves of flags.
    for piece in ["\u{301}", "\u{fdfa}", "\u{1f1e6}", "ก\u{e33}", "a\u{200d}"] {
        let text: String = long(piece).chars().take(20_000).collect();
        if let Ok(rouge) = reference.grade(&text) {
            assert_eq!(rouge.common_tokens, 0);
        }
    }
}

#[test]
fn a_long_reference_and_a_long_answer() {
    let words = |count: usize, step: usize| -> String {
        (0..count).map(|at| format!("w{} ", at * step % 9973)).collect()
    };
    let reference = Reference::new(&words(10_000, 1), Tokenizer::Reference).unwrap();
    let rouge = reference.grade(&words(20_000, 7)).unwrap();
    assert_eq!((rouge.reference_tokens, rouge.answer_tokens), (10_000, 20_000));
    assert!(rouge.f1 > 0.0 && rouge.f1 < 1.0);
    assert_eq!(reference.overlap(&words(20_000, 7)), Ok(None), "the table would be too large");
}

#[test]
fn patterns_built_to_explode() {
    let load = |pattern: &str| {
        Checklist::load(&json!([{"type": "regex", "pattern": pattern}]), UnknownCriterion::Refuse)
    };
    for pattern in [
        r"(\w{1000}){1000}",
        "((((a{99}){99}){99}){99}){99}",
        &"(".repeat(10_000),
        &format!("{}a{}", "(".repeat(200), ")".repeat(200)),
        "[",
        "(?P<n>a)(?P=n)",
    ] {
        assert!(load(pattern).is_err(), "{pattern:.40}");
    }
    for pattern in [r"\b\w{1,20}@\w+\.\w{2,}\b", r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$", r"\p{L}{2,10} \S+"] {
        assert!(load(pattern).is_ok(), "{pattern} is not too large");
    }
    let grade = load("a").unwrap().grade(&long("a"));
    assert_eq!(grade.criteria[0].reason.as_deref(), Some("the output has more than 65536 bytes"));
    // Exponential for an engine that backtracks.
    let text = "a".repeat(30_000) + "!";
    for pattern in ["^(a+)+$", "^(a|aa)+$", "(.*a){12}b", "(a|a|a|a)*c"] {
        assert_eq!(load(pattern).unwrap().grade(&text).met, 0, "{pattern}");
    }
}

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
    let grade = transform.grade(&format!("{:?}", "ab".repeat(5_000_000)));
    assert!(grade.reason.contains("more than 65536 bytes"), "{}", grade.reason);
}

#[test]
fn json_ten_thousand_deep() {
    let transform = Transform::new(&json!({"a": 1}), None, PartialCredit::Keys).unwrap();
    let checklist = json!([{"type": "json_key", "text": "a"}]);
    let checklist = Checklist::load(&checklist, UnknownCriterion::Refuse).unwrap();
    for text in [
        "[".repeat(10_000),
        r#"{"a":"#.repeat(10_000),
        format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)),
        format!("{}1{}", r#"{"a":"#.repeat(10_000), "}".repeat(10_000)),
    ] {
        assert_eq!(transform.grade(&text).value, 0.0);
        assert_eq!(checklist.grade(&text).value, 0.0);
        assert!(Transform::new(&json!(text), None, PartialCredit::None).is_err());
    }
    let deep = (0..10_000).fold(json!(1), |inner, _| Value::Array(vec![inner]));
    assert!(Transform::new(&deep, None, PartialCredit::None).is_err());
    assert!(Transform::new(&json!(1), Some(&deep), PartialCredit::None).is_err());
    dismantle(deep);
}

/// Drops a deep value without recursion.
fn dismantle(mut value: Value) {
    while let Value::Array(mut elements) = value {
        value = elements.pop().unwrap_or_default();
    }
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
    assert_eq!(transform.grade(&deep).value, 0.0);
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

#[test]
fn half_surrogate_pairs_are_no_text() {
    let transform = Transform::new(&json!("\"\u{fffd}\""), None, PartialCredit::None).unwrap();
    for text in [r#""\ud800""#, r#""\udfff""#, r#""\ud800\ud800""#, r#""\ud83d\u0041""#] {
        assert_eq!(transform.grade(text).value, 0.0, "{text}");
    }
    let pair = Transform::new(&json!("\"😀\""), None, PartialCredit::None).unwrap();
    assert_eq!(pair.grade(r#""\ud83d\ude00""#).value, 1.0);
}

#[test]
fn reports_of_ten_megabytes() {
    let deep = long("<testsuite>");
    assert!(TestResults::from_report(&deep).unwrap_err().to_string().contains("open elements"));
    let attributes: String = (0..100_000).map(|at| format!(" a{at}='1'")).collect();
    let wide = format!("<testsuite{attributes}><testcase name='a'/></testsuite>");
    assert_eq!(TestResults::from_report(&wide).unwrap().passed, 1);
    let failing = format!("<testsuite>{}</testsuite>", "<testcase><failure/></testcase>".repeat(20_000));
    let results = TestResults::from_report(&failing).unwrap();
    assert_eq!((results.failed, results.failing.len()), (20_000, TestResults::LISTED));
    let tap = format!("1..18446744073709551615\n{}", "ok\n".repeat(100_000));
    assert_eq!(TestResults::from_report(&tap).unwrap().passed, 100_000);
    assert!(TestResults::from_report("1..99999999999999999999999\nok 1").is_err());
    assert!(TestResults::from_report("1..1\nok 18446744073709551615\nok\n").is_err());
    let bomb = "<!DOCTYPE b [<!ENTITY a '&b;&b;'><!ENTITY b '&a;&a;'>]><testsuite>&a;</testsuite>";
    assert!(TestResults::from_report(bomb).is_err());
}
