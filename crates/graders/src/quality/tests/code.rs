//! The grade of code.

use crate::quality::{TestResults, code, code_patterns};

#[test]
fn code_is_tests_and_tidiness() {
    let grade =
        |passed, failed, lint| code(TestResults::from_counts(passed, failed).unwrap(), Some(lint)).unwrap();
    assert_eq!(grade(8, 0, 0).value, 1.0);
    assert_eq!(grade(7, 1, 0).value, 0.7 * 0.875 + 0.3);
    assert_eq!(grade(0, 1, 3).lint_score, 1.0 - 0.05 * 3.0);
    assert_eq!(grade(1, 0, 1_000_000).value, 0.7);
    assert_eq!(grade(1, 0, u64::MAX).value, 0.7);
    assert_eq!(serde_json::json!(grade(7, 1, 2))["tests"]["failed"], 1);
}

#[test]
fn errors_and_missing_tests_count_as_failed_and_skipped_ones_do_not() {
    let tests = TestResults { passed: 1, errors: 1, missing: 2, skipped: 5, ..TestResults::default() };
    assert_eq!(code(tests, Some(0)).unwrap().pass_rate, 0.25);
}

#[test]
fn no_test_at_all_is_an_error_and_not_a_half() {
    let graded = |tests, lint| code(tests, lint).map_err(|problems| problems.to_string());
    let none = graded(TestResults::default(), Some(0)).unwrap_err();
    assert!(
        none.starts_with("$.tests: found no test that ran (0 skipped), expected at least one test"),
        "{none}"
    );
    let skipped = TestResults { skipped: 3, ..TestResults::default() };
    assert_eq!(graded(skipped, None).unwrap_err().lines().count(), 2, "nor is there a count of violations");
    assert!(TestResults::from_counts(u64::MAX, 1).is_err());
}

#[test]
fn patterns_stand_in_code_literally() {
    let patterns = ["def f", "while", "return", "return"].map(str::to_owned);
    let grade = code_patterns(&patterns, "def f(x):\n    Return x\n    return");
    assert_eq!((grade.value, grade.found, grade.missing), (0.75, 3, vec!["while".to_owned()]));
    assert_eq!(code_patterns(&[], "x").value, 0.0);
}
