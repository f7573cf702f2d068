//! The check of the dimensions of a challenge, case by case.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use karat_graders::arena::validate_dimensions;
use serde_json::{Map, Value, json};

const PALETTE: &str = include_str!("../../../../scorecards/arena/1.0.0.toml");

fn dimension(key: &str, weight: impl Into<Value>) -> Value {
    json!({"key": key, "label": "Label", "weight": weight.into(), "description": "Description", "color": "gold"})
}

/// Two dimensions that are allowed, with one member of the first replaced.
fn with(name: &str, value: impl Into<Value>) -> Value {
    let mut first = dimension("correctness", 0.5);
    first[name] = value.into();
    json!([first, dimension("speed", 0.5)])
}

fn without(name: &str) -> Value {
    let mut list = with(name, 0);
    list[0].as_object_mut().unwrap().remove(name);
    list
}

fn weights(weights: &[f64]) -> Value {
    let keys =
        ["correctness", "completeness", "precision", "methodology", "speed", "code_quality", "analysis"];
    keys.iter().zip(weights).map(|(key, weight)| dimension(key, *weight)).collect()
}

fn text(letter: &str, times: usize) -> String {
    letter.repeat(times)
}

/// Each case, and a part of the problem that it must have; empty where it is allowed.
fn cases() -> Vec<(&'static str, Value, &'static str)> {
    let pair = |first: Value, second: Value| {
        with("weight", first)
            .as_array_mut()
            .map(|list| {
                list[1]["weight"] = second;
                Value::from(list.clone())
            })
            .unwrap()
    };
    let mut extra = weights(&[0.2, 0.2, 0.1, 0.1, 0.1, 0.1]);
    let efficiency = ["token_efficiency", "call_efficiency"].map(|key| dimension(key, 0.1));
    extra.as_array_mut().unwrap().extend(efficiency);
    let list = |dimensions: &[Value]| Value::from(dimensions.to_vec());
    vec![
        ("two dimensions", weights(&[0.5, 0.5]), ""),
        ("three", weights(&[0.1, 0.2, 0.7]), ""),
        ("six", weights(&[0.2, 0.2, 0.2, 0.2, 0.1, 0.1]), ""),
        ("seven", weights(&[0.2, 0.2, 0.1, 0.2, 0.1, 0.1, 0.1]), "7 dimensions are picked"),
        ("one", weights(&[1.0]), "1 dimensions are picked"),
        ("none", json!([]), "0 dimensions are picked"),
        ("both efficiency dimensions beside six", extra, ""),
        (
            "an efficiency dimension beside one",
            list(&[dimension("speed", 0.5), dimension("token_efficiency", 0.5)]),
            "1 dimensions",
        ),
        ("a key of its own", list(&[dimension("electron_push", 0.5), dimension("speed", 0.5)]), ""),
        (
            "the same key twice",
            list(&[dimension("speed", 0.5), dimension("speed", 0.5)]),
            "`speed` is picked twice",
        ),
        (
            "one key thrice",
            list(&[dimension("a", 0.3), dimension("a", 0.3), dimension("a", 0.4)]),
            "`a` is picked twice",
        ),
        // Keys.
        ("an empty key", with("key", ""), "cannot be a key"),
        ("a blank key", with("key", " "), "cannot be a key"),
        ("a letter as key", with("key", "a"), ""),
        ("an underscore as key", with("key", "_"), ""),
        ("underscores around", with("key", "_a_b_"), ""),
        ("a key of 30", with("key", text("k", 30)), ""),
        ("a key of 31", with("key", text("k", 31)), "cannot be a key"),
        ("an upper-case key", with("key", "Correctness"), "cannot be a key"),
        ("an upper-case letter inside", with("key", "codeQuality"), "cannot be a key"),
        ("a digit in the key", with("key", "top_3"), "cannot be a key"),
        ("a digit as key", with("key", "7"), "cannot be a key"),
        ("a hyphen in the key", with("key", "code-quality"), "cannot be a key"),
        ("a space in the key", with("key", "code quality"), "cannot be a key"),
        ("a line end after the key", with("key", "speedy\n"), "cannot be a key"),
        ("a letter with an accent", with("key", "qualité"), "cannot be a key"),
        ("a Cyrillic letter", with("key", "с"), "cannot be a key"),
        ("a number as key", with("key", 7), "`dimensions[0].key` is the number `7`"),
        ("null as key", with("key", Value::Null), "`dimensions[0].key` is null"),
        ("no key", without("key"), "`dimensions[0].key` is not given"),
        // Labels.
        ("an empty label", with("label", ""), "the label of `correctness` is 0 long"),
        ("a blank label", with("label", " "), ""),
        ("a label of 40", with("label", text("l", 40)), ""),
        ("a label of 41", with("label", text("l", 41)), "is 41 long"),
        ("40 letters of two bytes", with("label", text("é", 40)), ""),
        ("20 crabs, two units each", with("label", text("🦀", 20)), ""),
        ("21 crabs", with("label", text("🦀", 21)), "is 42 long"),
        ("20 letters, each with a mark", with("label", text("e\u{301}", 20)), ""),
        ("21 letters, each with a mark", with("label", text("e\u{301}", 21)), "is 42 long"),
        ("a label with a line end", with("label", "a\nb"), ""),
        ("a number as label", with("label", 1), "expected a text"),
        ("a list as label", with("label", json!(["Label"])), "is an array of 1"),
        ("null as label", with("label", Value::Null), "expected a text"),
        ("no label", without("label"), "`dimensions[0].label` is not given"),
        // Descriptions.
        ("an empty description", with("description", ""), "the description of `correctness` is 0 long"),
        ("a blank description", with("description", "\t"), ""),
        ("a description of 200", with("description", text("d", 200)), ""),
        ("a description of 201", with("description", text("d", 201)), "is 201 long"),
        ("100 crabs", with("description", text("🦀", 100)), ""),
        ("101 crabs as description", with("description", text("🦀", 101)), "is 202 long"),
        ("an object as description", with("description", json!({})), "is an object"),
        ("a flag as description", with("description", true), "is `true`"),
        ("no description", without("description"), "`dimensions[0].description` is not given"),
        // Colors.
        ("emerald", with("color", "emerald"), ""),
        ("sky", with("color", "sky"), ""),
        ("purple", with("color", "purple"), ""),
        ("coral", with("color", "coral"), ""),
        ("red", with("color", "red"), "the color of `correctness` is `red`"),
        ("a capital in the color", with("color", "Emerald"), "is `Emerald`"),
        ("a blank after the color", with("color", "gold "), "is `gold `"),
        ("a color in numbers", with("color", "#ffd700"), "must be one of"),
        ("an empty color", with("color", ""), "must be one of"),
        ("a number as color", with("color", 3), "expected a text"),
        ("no color", without("color"), "`dimensions[0].color` is not given"),
        // Weights.
        ("nought and one", weights(&[0.0, 1.0]), ""),
        ("minus nought", pair(json!(-0.0), json!(1)), ""),
        ("whole numbers", pair(json!(0), json!(1)), ""),
        ("below nought", weights(&[-0.1, 1.1]), "the weight of `correctness` is -0.1"),
        ("far below nought", weights(&[-1.0, 2.0]), "the weight of `completeness` is 2"),
        ("hardly below nought", weights(&[-1e-9, 1.0]), "must be between 0 and 1"),
        ("hardly above one", weights(&[0.0, 1.000_000_000_1]), "must be between 0 and 1"),
        ("the smallest double", weights(&[5e-324, 1.0]), ""),
        ("a weight as text", with("weight", "0.5"), "is the text `0.5`, expected a number"),
        ("NaN as text", with("weight", "NaN"), "is the text `NaN`"),
        ("NaN, which JSON has as null", with("weight", json!(f64::NAN)), "is null, expected a number"),
        ("infinity as text", with("weight", "Infinity"), "expected a number"),
        ("a huge weight", with("weight", 1e308), "the weight of `correctness`"),
        ("true as weight", with("weight", true), "is `true`, expected a number"),
        ("false as weight", with("weight", false), "expected a number"),
        ("a list as weight", with("weight", json!([0.5])), "expected a number"),
        ("an object as weight", with("weight", json!({"value": 0.5})), "expected a number"),
        ("no weight", without("weight"), "`dimensions[0].weight` is not given"),
        // Sums.
        ("hardly too little", weights(&[0.5, 0.499_999]), ""),
        ("hardly too much", weights(&[0.5, 0.500_000_1]), ""),
        ("a thousandth too much, less a little", weights(&[0.5, 0.500_999_9]), ""),
        ("a thousandth too much", weights(&[0.5, 0.501]), "the weights sum to 1.001"),
        ("a thousandth too little", weights(&[0.5, 0.499]), "the weights sum to 0.999"),
        ("a thousandth too little, less a little", weights(&[0.5, 0.499_000_1]), ""),
        ("far too little", weights(&[0.5, 0.4]), "the weights sum to 0.9, they must sum to 1"),
        ("far too much", weights(&[1.0, 1.0]), "the weights sum to 2"),
        ("nothing", weights(&[0.0, 0.0]), "the weights sum to 0"),
        ("percents", weights(&[50.0, 50.0]), "must be between 0 and 1"),
        ("thirds", weights(&[1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]), ""),
        ("sixths in four digits", weights(&[0.1667; 6]), ""),
        ("sixths in three digits", weights(&[0.167; 6]), "the weights sum to 1.002"),
        ("tenths, whose doubles do not add up", weights(&[0.1, 0.2, 0.3, 0.1, 0.2, 0.1]), ""),
        // Shapes.
        ("an unknown member", with("icon", "star"), ""),
        ("a member in another case", with("Label", 7), ""),
        (
            "a text in place of a dimension",
            json!([dimension("speed", 0.5), "accuracy"]),
            "is the text `accuracy`",
        ),
        ("null in place of a dimension", json!([null, dimension("speed", 1)]), "`dimensions[0]` is null"),
        (
            "a list in place of a dimension",
            json!([[], dimension("speed", 1)]),
            "`dimensions[0]` is an array of 0",
        ),
        ("an object in place of the list", json!({"speed": 1}), "`dimensions` is an object, expected a list"),
        ("null in place of the list", Value::Null, "`dimensions` is null"),
        ("a text in place of the list", json!("speed"), "`dimensions` is the text `speed`"),
        ("an empty dimension", json!([{}, {}]), "`dimensions[1].color` is not given"),
    ]
}

#[test]
fn each_case_is_allowed_or_has_its_problem() {
    let palette = karat_checker::parse(PALETTE, &|_| None).unwrap();
    let cases = cases();
    let names: Map<String, Value> =
        cases.iter().map(|(name, ..)| ((*name).to_owned(), true.into())).collect();
    assert_eq!(names.len(), cases.len(), "a name stands for one case");
    for (name, given, expected) in cases {
        let problems = validate_dimensions(&palette, &given);
        if expected.is_empty() {
            assert!(problems.is_empty(), "{name}: {problems:?}");
        } else {
            assert!(problems.iter().any(|problem| problem.contains(expected)), "{name}: {problems:?}");
        }
    }
}

#[test]
fn all_problems_are_told_at_once() {
    let palette = karat_checker::parse(PALETTE, &|_| None).unwrap();
    let mut given = with("color", "red");
    given[0]["label"] = json!("");
    given[1]["weight"] = json!(0.4);
    assert_eq!(validate_dimensions(&palette, &given).len(), 3);
}
