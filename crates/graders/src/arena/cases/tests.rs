//! Case files and comparisons, sound and hostile.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const FILE: &str = r#"
function = "route"
compare  = { primitive = "exact_match" }
all_or_nothing = ["small"]

[[case]]
name   = "empty graph"
args   = [[], 0, 0]
expect = []
group  = "small"

[[case]]
name   = "one way"
args   = [[[0, 1]], 0, 1]
expect = [0, 1]
group  = "small"
weight = 3

[[case]]
name = "as a program"
stdin = "3\n1 2 3\n"
expect_stdout = "6\n"
weight = 2

[[case]]
name = "no way"
function = "graphs.route"
args_json = '[null, {"to": 9007199254740993}]'
expect_json = "null"
compare = { primitive = "exact_match", case_sensitive = false }
weight = 4
group = "other"
"#;

fn told(problems: &Problems) -> Vec<(u64, &str)> {
    let place = |problem: &karat_evidence::Problem| problem.line.unwrap_or_default();
    problems.iter().map(|problem| (place(problem), problem.path.as_str())).collect()
}

#[test]
fn a_file_becomes_cases() {
    let file = CaseFile::parse(FILE).unwrap();
    let cases = file.cases();
    assert_eq!(cases.len(), 4);
    assert_eq!(
        cases[0].run,
        Run::Call { function: "route".into(), args: vec![json!([]), json!(0), json!(0)] }
    );
    assert_eq!(cases[0].compare, Compare::exact());
    assert_eq!(cases[2].run, Run::Program { stdin: "3\n1 2 3\n".into() });
    assert_eq!((&cases[2].expect, &cases[2].compare), (&json!("6\n"), &Compare::tokens()));
    let Run::Call { function, args } = &cases[3].run else { panic!("{:?}", cases[3].run) };
    assert_eq!(
        (function.as_str(), args[1].to_string()),
        ("graphs.route", r#"{"to":9007199254740993}"#.into())
    );
    assert_eq!(cases[3].expect, Value::Null);
    assert_eq!(cases[3].compare.options["case_sensitive"], json!(false));
}

fn reports(values: &[f64]) -> Vec<CaseReport> {
    let report = |value: &f64| CaseReport {
        name: "c".into(),
        value: *value,
        verdict: match *value {
            1.0 => Verdict::Pass,
            0.0 => Verdict::Fail,
            _ => Verdict::Partial,
        },
        reason: None,
        fuel: 1,
        near_limit: false,
    };
    values.iter().map(report).collect()
}

#[test]
fn a_group_counts_as_a_whole_where_the_file_says_so() {
    let file = CaseFile::parse(FILE).unwrap();
    for (values, value) in [
        ([1.0, 1.0, 1.0, 1.0], 1.0),
        ([0.0, 0.0, 0.0, 0.0], 0.0),
        ([1.0, 0.0, 1.0, 1.0], 0.6),
        ([1.0, 0.5, 1.0, 0.5], 0.4),
        ([1.0, 1.0, 0.5, 0.0], 0.5),
    ] {
        assert_eq!(file.value(&reports(&values)), value, "{values:?}");
    }
    // A verdict that is missing is a failure.
    assert_eq!(file.value(&reports(&[1.0, 1.0])), 0.4);
    assert_eq!(file.value(&[]), 0.0);
}

#[test]
fn everything_that_is_wrong_with_a_file_is_told_with_its_place() {
    let problems = CaseFile::parse(
        r#"function = "ro ute"
all_or_nothing = ["smal", 3]
speed = 1
[[case]]
name = "a"
args = 5
expect = 99999999999999999999
[[case]]
name = "a"
args = []
expect = [1, 9007199254740992]
[[case]]
name = ""
stdin = "x"
args = []
group = "\u0007"
weight = -1
[[case]]
name = "d"
args = [nan, 2026-01-01]
expect = {a = 1}
compare = { primitive = "set_overlap", mesure = "recall" }
[[case]]
args = []
args_json = "["
expect_json = "[1, 18446744073709551616]"
compare = { primitive = "exact_mach" }
[[case]]
name = "f"
expect_stdout = "x"
"#,
    )
    .unwrap_err();
    let expected = [
        (1, "$.function"),
        (2, "$.all_or_nothing[1]"),
        (3, "$.speed"),
        (6, "$.case[0].args"),
        (7, "$.case[0].expect"),
        (9, "$.case[1].name"),
        (11, "$.case[1].expect"),
        (13, "$.case[2].name"),
        (12, "$.case[2].expect_stdout"),
        (15, "$.case[2].args"),
        (16, "$.case[2].group"),
        (17, "$.case[2].weight"),
        (20, "$.case[3].args[0]"),
        (20, "$.case[3].args[1]"),
        (21, "$.case[3].expect"),
        (22, "$.case[3].compare.mesure"),
        (23, "$.case[4].name"),
        (25, "$.case[4].args_json"),
        (26, "$.case[4].expect_json"),
        (27, "$.case[4].compare.primitive"),
        (30, "$.case[5].expect_stdout"),
        (28, "$.case[5].args"),
        (28, "$.case[5].expect"),
    ];
    let (told, mut expected) = (told(&problems), expected.to_vec());
    expected.sort_by_key(|(line, _)| *line);
    for place in &expected {
        assert!(told.contains(place), "{place:?} is not in {told:#?}");
    }
    assert_eq!(told.len(), expected.len(), "{problems}");
    assert!(told.is_sorted_by_key(|(line, _)| *line), "{told:?}");
}

#[test]
fn a_file_without_cases_or_weight_is_refused() {
    for (text, path) in [
        ("", "$.case"),
        ("case = []", "$.case"),
        ("case = 3", "$.case"),
        ("[[case]]\nname = 'a'\nstdin = ''\nexpect_stdout = ''\nweight = 0", "$.case"),
        (
            "all_or_nothing = ['g']\n[[case]]\nname = 'a'\nstdin = ''\nexpect_stdout = ''",
            "$.all_or_nothing[0]",
        ),
        ("[[case]]\nname = 'a'\nargs = []\nexpect = 1", "$.case[0].function"),
        ("[case", "$"),
    ] {
        let problems = CaseFile::parse(text).unwrap_err();
        assert_eq!(problems.len(), 1, "{text}: {problems}");
        assert_eq!(problems.iter().next().unwrap().path, path, "{text}");
    }
    let case = |at: usize| format!("[[case]]\nname = '{at}'\nstdin = ''\nexpect_stdout = ''\n");
    let file = |count| (0..count).map(case).collect::<String>();
    assert!(CaseFile::parse(&file(CaseFile::MAX_CASES)).is_ok());
    assert!(CaseFile::parse(&file(CaseFile::MAX_CASES + 1)).is_err());
}

#[test]
fn comparisons_are_those_of_the_arena() {
    let compare = |options: Value| serde_json::from_value::<Compare>(options).unwrap();
    for (options, found, expected, value) in [
        (json!({"primitive": "exact_match", "options": {"deep": true}}), json!(["A"]), json!(["a"]), 1.0),
        (json!({"primitive": "exact_match_ratio"}), json!([1, 2]), json!([1, 3]), 0.5),
        (json!({"primitive": "numeric_tolerance", "options": {"tolerance": 0.5}}), json!(1.4), json!(1), 1.0),
        (json!({"primitive": "set_overlap"}), json!([1, 2]), json!([2, 1]), 1.0),
        (json!({"primitive": "fuzzy_string"}), json!("abcd"), json!("abce"), 0.75),
        (json!({"primitive": "coverage_ratio"}), json!(1), json!(4), 0.25),
        (json!({"primitive": "tokens"}), json!(" 1\t2\r\n"), json!("1 2"), 1.0),
        (json!({"primitive": "tokens"}), json!("12"), json!("1 2"), 0.0),
        (json!({"primitive": "tokens"}), json!(12), json!("12"), 0.0),
        // What cannot be compared is not agreement.
        (json!({"primitive": "set_overlap"}), json!(3), json!([2, 1]), 0.0),
        (json!({"primitive": "numeric_tolerance"}), json!(null), json!(1), 0.0),
    ] {
        assert_eq!(
            compare(options.clone()).value(&found, &expected).unwrap(),
            value,
            "{options} {found} {expected}"
        );
    }
    for (options, expected) in [
        (json!({"primitive": "exact_mach"}), json!(1)),
        (json!({"primitive": "tokens", "options": {"deep": true}}), json!("1")),
        (json!({"primitive": "tokens"}), json!(1)),
        (json!({"primitive": "exact_match"}), json!([1])),
        (json!({"primitive": "set_overlap", "options": {"measure": "dice"}}), json!([1])),
        (json!({"primitive": "time_decay"}), json!(1)),
    ] {
        assert!(compare(options.clone()).value(&json!(1), &expected).is_err(), "{options}");
    }
}

/// Any text that looks a little like a case file.
fn texts() -> impl Strategy<Value = String> {
    let lines = prop::sample::select(vec![
        "[[case]]",
        "[case]",
        "name = 'a'",
        "name = 'b'",
        "args = [1, [2, {a = 3}]]",
        "args_json = '[1e400, null]'",
        "args_json = '[9999999999999999999999]'",
        "expect = 1",
        "expect = [1, 'x']",
        "expect_json = 'null'",
        "stdin = 'x'",
        "expect_stdout = 'y'",
        "function = 'f'",
        "function = 'a.b.c'",
        "group = 'g'",
        "weight = 0",
        "weight = 1e300",
        "weight = inf",
        "compare = { primitive = 'tokens' }",
        "compare = { primitive = 'numeric_tolerance', tolerance = 1 }",
        "all_or_nothing = ['g', 'h']",
        "[case.args]",
        "x = 0x7fffffffffffffffff",
    ]);
    prop::collection::vec(lines, 0..14).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #[test]
    fn no_text_makes_the_reader_panic(text in texts(), noise in ".{0,40}") {
        for text in [text.clone(), format!("{text}\n{noise}")] {
            match CaseFile::parse(&text) {
                Ok(file) => {
                    prop_assert!(!file.cases().is_empty());
                    for case in file.cases() {
                        // What the reader takes, the comparison takes.
                        prop_assert!(case.compare.value(&Value::Null, &case.expect).is_ok(), "{text}");
                    }
                    let all = reports(&vec![1.0; file.cases().len()]);
                    prop_assert_eq!(file.value(&all), 1.0);
                }
                Err(problems) => prop_assert!(!problems.is_empty()),
            }
        }
    }

    #[test]
    fn a_value_lies_within_0_and_1_and_never_falls_with_a_case(
        values in prop::collection::vec(0.0_f64..=1.0, 4),
        at in 0_usize..4,
    ) {
        let file = CaseFile::parse(FILE).unwrap();
        let value = file.value(&reports(&values));
        prop_assert!((0.0..=1.0).contains(&value));
        let mut better = values;
        better[at] = 1.0;
        prop_assert!(file.value(&reports(&better)) >= value);
    }
}
