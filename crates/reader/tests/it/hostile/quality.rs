//! Texts, checklists, patterns, JSON in outputs, schemas.

use karat_graders::quality::{
    Checklist, CodeEvidence, Evidence, Options, PartialCredit, Patterns, Reference, Task, Tokenizer,
    Transform, TransformOutcome, UnknownCriterion,
};
use serde_json::{Map, Value, json};

use super::{HALF_PAIRS, SCRIPTS, deep, deep_texts, ends, numbers, ten_megabytes};

fn checklist(criteria: &Value) -> Checklist {
    Checklist::load(criteria, UnknownCriterion::Refuse).unwrap()
}

fn transform(expected: Value, schema: Option<&Value>) -> Transform {
    Transform::new(&expected, schema, PartialCredit::Keys).unwrap()
}

#[test]
fn rouge_of_ten_megabytes() {
    for piece in ["y", "a1 ", "ational ", "e\u{301}x", "漢", "\u{130}"] {
        ends(move || {
            let reference = Reference::new("one two three of these tokens", Tokenizer::Reference).unwrap();
            match reference.grade(&ten_megabytes(piece)) {
                Ok(rouge) => assert!(rouge.f1 < 0.1),
                Err(refused) => assert!(refused.to_string().contains("at most 1000000 tokens"), "{refused}"),
            }
            let reference = Reference::new(&piece.repeat(100_000), Tokenizer::Reference);
            assert!(reference.is_err() || reference.unwrap().len() <= 1);
        });
    }
}

#[test]
fn rouge_of_ten_megabytes_in_every_script() {
    for script in SCRIPTS {
        ends(move || {
            let reference = Reference::new(script, Tokenizer::Unicode).unwrap();
            let same = reference.grade(script).unwrap();
            assert_eq!(same.f1, if reference.is_empty() { 0.0 } else { 1.0 }, "{script:?}");
            assert_eq!(same.answer_tokens, reference.len());
            // Not ten megabytes of each: some letters become eighteen, and there are many scripts.
            let long = script.repeat(300_000 / script.len());
            match reference.grade(&long) {
                Ok(rouge) => assert!(rouge.f1 < 0.1 && rouge.recall <= 1.0),
                Err(refused) => assert!(refused.to_string().contains("tokens"), "{refused}"),
            }
        });
    }
    ends(|| {
        let reference = Reference::new("狗看见了猫", Tokenizer::Unicode).unwrap();
        let refused = reference.grade(&ten_megabytes("猫")).unwrap_err().to_string();
        assert!(refused.contains("3333333 tokens"), "{refused}");
        // One letter and its marks: they are sorted, all of them.
        let marks = format!("a{}", "\u{345}\u{301}\u{327}\u{5b0}".repeat(300_000));
        assert_eq!(reference.grade(&marks).unwrap().answer_tokens, 1);
    });
}

#[test]
fn a_reference_and_an_answer_of_the_most_tokens() {
    ends(|| {
        let words = |count: usize, seed: usize| -> String {
            numbers().skip(seed).take(count).map(|number| format!("w{} ", number % 9973)).collect()
        };
        let reference = Reference::new(&words(Reference::TOKENS_MAX, 1), Tokenizer::Reference).unwrap();
        let rouge = reference.grade(&words(300_000, 7)).unwrap();
        assert_eq!((rouge.reference_tokens, rouge.answer_tokens), (Reference::TOKENS_MAX, 300_000));
        assert!((0.0..0.1).contains(&rouge.f1));
    });
}

#[test]
fn checklists_over_ten_megabytes() {
    ends(|| {
        // Almost there at every place; the more there are, the shorter the text, so that the test does not take long.
        for (count, bytes) in [(Checklist::CRITERIA_MAX, 500_000), (30, 10_000_000)] {
            let keyword = |at: usize| json!({"text": format!("{}{at}", "a".repeat(30))});
            let mut criteria: Vec<Value> = (2..count).map(keyword).collect();
            criteria.push(json!({"type": "json_key", "text": "key"}));
            criteria.push(json!({"text": "a b"}));
            let grade = checklist(&json!(criteria)).grade(&"a".repeat(bytes)).unwrap();
            assert_eq!((grade.met, grade.criteria.len()), (0, count));
            assert!(json!(grade).to_string().len() < 1_000_000);
        }
        // The keyword is as long as the text, and longer in lower case.
        let long = ten_megabytes("\u{130}");
        assert_eq!(checklist(&json!([{"text": long}])).grade(&long).unwrap().met, 1);
    });
}

#[test]
fn checklists_in_every_script() {
    for script in SCRIPTS.into_iter().filter(|script| !script.trim().is_empty()) {
        let pattern: String = script.chars().map(|c| format!(r"\x{{{:x}}}", u32::from(c))).collect();
        let criteria = json!([{"text": script}, {"type": "regex", "pattern": pattern}]);
        assert_eq!(checklist(&criteria).grade(&format!("x {script} x")).unwrap().met, 2, "{script:?}");
        assert_eq!(checklist(&criteria).grade("nothing of it").unwrap().met, 0, "{script:?}");
        let key = json!([{"type": "json_key", "text": script}]);
        assert_eq!(checklist(&key).grade(&json!({script: 1}).to_string()).unwrap().met, 1, "{script:?}");
    }
}

#[test]
fn patterns_that_explode_where_they_are_read() {
    for pattern in [
        r"\w".repeat(5_000_000),
        r"\pL".repeat(1_000_000),
        "a".repeat(10_000_000),
        "(a|b)".repeat(100_000),
        "[a-z&&[^aeiou]]".repeat(100_000),
        "(?i)".repeat(1_000_000),
        "(".repeat(10_000),
        "[[".repeat(5_000),
        "((((a{99}){99}){99}){99}){99}".to_owned(),
        r"(\p{L}{1000}){1000}".to_owned(),
        "a{4294967295}".to_owned(),
        "(a*)*{100000}{100000}".to_owned(),
        format!("{}a", "(?:a|".repeat(3_000)),
        format!("(?x){}", "#\n".repeat(4_000)),
    ] {
        ends(move || {
            let criteria = json!([{"type": "regex", "pattern": pattern}]);
            assert!(Checklist::load(&criteria, UnknownCriterion::Refuse).is_err(), "{pattern:.40}");
            let schema = json!({"type": "string", "pattern": pattern});
            // What is short and well-formed is refused by itself or not at all, but in its time.
            let loaded = Transform::new(&json!("\"x\""), Some(&schema), PartialCredit::None);
            assert!(loaded.is_err(), "{pattern:.40}");
        });
    }
}

#[test]
fn patterns_that_explode_where_they_are_searched() {
    // Exponential for an engine that backtracks, and more states than one that remembers them can keep.
    let patterns =
        ["^(a+)+$", "^(a|a)*$", "(.*a){20}x", "(a|ab|abc)*d", r"(\w+\s?)+!", "a[ab]{300}c", "(x+x+)+y"];
    ends(move || {
        let criteria: Vec<Value> =
            patterns.iter().map(|pattern| json!({"type": "regex", "pattern": pattern})).collect();
        let letters: String =
            numbers().take(60_000).map(|number| if number & 1 == 0 { 'a' } else { 'b' }).collect();
        let grade = checklist(&json!(criteria)).grade(&letters).unwrap();
        assert!(grade.criteria.iter().all(|criterion| criterion.reason.is_none()), "all were searched");
        assert_eq!(grade.met, 0);
    });
    ends(move || {
        let all: Vec<Value> = patterns.iter().map(|pattern| json!({"pattern": pattern})).collect();
        let schema = json!({"type": "string", "allOf": all});
        let refused = |text: &str| {
            // The expected value has to satisfy the schema, so it is not text.
            let expected = json!({"any": 1});
            let schema = json!({"if": {"type": "string"}, "then": schema});
            transform(expected, Some(&schema)).grade(text).map(|grade| grade.outcome)
        };
        assert_eq!(refused(&format!("\"{}!\"", "a".repeat(50_000))), Ok(TransformOutcome::Invalid));
        assert!(refused(&format!("\"{}!\"", "a".repeat(10_000_000))).is_err());
    });
}

#[test]
fn code_of_ten_megabytes() {
    ends(|| {
        let almost: Vec<String> = (0..30).map(|at| format!("{}{at}", "ab".repeat(20))).collect();
        assert_eq!(Patterns::load(&json!(almost)).unwrap().grade(&ten_megabytes("ab")).found, 0);
        assert!(Patterns::load(&json!(vec!["a"; Patterns::PATTERNS_MAX + 1])).is_err());
    });
}

#[test]
fn json_in_outputs_is_deep() {
    for text in deep_texts() {
        ends(move || {
            let grade = transform(json!({"a": 1}), None).grade(&text).unwrap();
            assert_eq!(grade.value, 0.0);
            assert!(matches!(grade.outcome, TransformOutcome::NotJson | TransformOutcome::Ambiguous));
            let grade = checklist(&json!([{"type": "json_key", "text": "a"}])).grade(&text).unwrap();
            assert!(grade.met == 0 && grade.criteria[0].reason.is_some());
        });
    }
    let deep: &Value = Box::leak(Box::new(deep(json!(1), None)));
    ends(move || {
        assert!(Transform::new(deep, None, PartialCredit::None).is_err());
        assert!(Transform::new(&json!(1), Some(deep), PartialCredit::None).is_err());
        let schema = json!({"const": 1});
        assert!(Transform::new(deep, Some(&schema), PartialCredit::None).is_err());
        assert!(Checklist::load(deep, UnknownCriterion::Unmet).is_err());
        assert!(Patterns::load(deep).is_err());
    });
}

#[test]
fn json_in_outputs_is_wide() {
    ends(|| {
        let object = |last: usize| -> Value {
            let members = (0..100_000).map(|at| (format!("key {at}"), json!(at / last)));
            members.collect::<Map<_, _>>().into()
        };
        let grade = transform(object(1), None).grade(&object(2).to_string()).unwrap();
        assert_eq!(grade.keys.unwrap().matched, 1, "0 is 0");
        // The difference is at the bottom, behind what is the same at every level.
        let nested = |bottom: Value| {
            let same: Vec<usize> = (0..1000).collect();
            (0..100).fold(bottom, |inner, _| json!({"a": same, "b": inner}))
        };
        let grade = transform(nested(json!(1)), None).grade(&nested(json!(2)).to_string()).unwrap();
        assert!(grade.reason.ends_with("is `2`, expected `1`"), "{}", grade.reason);
        // A number of ten million digits, and as many numbers.
        assert_eq!(transform(json!(1), None).grade(&ten_megabytes("1")).unwrap().value, 0.0);
        let list = format!("[{}1]", ten_megabytes("1,"));
        assert_eq!(transform(json!([1]), None).grade(&list).unwrap().value, 0.0);
    });
}

#[test]
fn values_that_keep_a_schema_busy() {
    let array = |element: &str| format!("[{}{element}]", format!("{element},").repeat(100_000));
    let distinct = |count: usize| -> String {
        let list: Vec<String> = (0..count).map(|at| format!("[{at}]")).collect();
        format!("[{}]", list.join(","))
    };
    for (schema, text) in [
        (json!({"items": {"anyOf": vec![json!({"minimum": 5}); 100]}}), array("1")),
        (json!({"contains": {"const": 2}}), array("1")),
        (
            json!({"if": {"type": "array"}, "then": {"uniqueItems": true, "minItems": 200_000}}),
            distinct(100_000),
        ),
        (json!({"items": {"$ref": "#"}}), array("[[1]]")),
        (json!({"unevaluatedItems": false, "contains": {"const": 2}}), array("1")),
    ] {
        ends(move || {
            // An expected value that every one of these takes.
            let grade = transform(json!({"other": 1}), Some(&schema)).grade(&text).unwrap();
            assert_eq!(grade.value, 0.0);
            assert!(grade.reason.len() < 1000);
        });
    }
}

#[test]
fn half_surrogate_pairs_are_not_taken_for_other_text() {
    for text in HALF_PAIRS {
        let whole = format!(r#"{{"a": {text}}}"#);
        assert_eq!(
            transform(json!("\"\u{fffd}\""), None).grade(text).unwrap().outcome,
            TransformOutcome::NotJson
        );
        assert_eq!(transform(json!({"a": "\u{fffd}"}), None).grade(&whole).unwrap().value, 0.0, "{text}");
        let key = format!(r#"{{{text}: 1, "a": 1}}"#);
        let grade = checklist(&json!([{"type": "json_key", "text": "a"}])).grade(&key).unwrap();
        assert!(grade.met == 0 && grade.criteria[0].reason.is_some(), "{text}");
    }
}

#[test]
fn tasks_of_ten_megabytes() {
    ends(|| {
        let long = ten_megabytes("rag ");
        let output = json!({"text": long, "artifacts": {"code": long}});
        let evidence = Evidence { output: Some(&output), ..Evidence::default() };
        let grade = |task_type: &str, reference: &Value, options| {
            Task::load(task_type, reference, options).and_then(|task| task.grade(&evidence))
        };
        let unknown = grade(&long, &json!({}), Options::default()).unwrap();
        assert!(unknown.value == 0.0 && unknown.reason.unwrap().len() < 200);
        let refused = grade("rag", &json!({"reference_answer": "rag"}), Options::default()).unwrap_err();
        assert!(refused.to_string().contains("2500000 tokens"), "{refused}");
        let patterns = Options { code_evidence: CodeEvidence::Patterns, ..Options::default() };
        assert_eq!(grade("code", &json!({"expected_patterns": [long]}), patterns).unwrap().value, 1.0);
        let same = grade("data_transform", &json!({"expected_output": long}), Options::default()).unwrap();
        assert_eq!(same.value, 1.0);
    });
}
