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
fn a_file_has_a_limited_number_of_cases() {
    let case = |at: usize| format!("[[case]]\nname = '{at}'\nstdin = ''\nexpect_stdout = ''\n");
    let file = |count| (0..count).map(case).collect::<String>();
    assert!(CaseFile::parse(&file(CaseFile::MAX_CASES)).is_ok());
    assert!(CaseFile::parse(&file(CaseFile::MAX_CASES + 1)).is_err());
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
                        prop_assert!(case.compare.value(&Value::Null, &case.expect, 0).is_ok(), "{text}");
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
