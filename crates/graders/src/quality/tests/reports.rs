//! Test reports and the grade of code.

use crate::quality::{TestResults, code, code_patterns};
use karat_evidence::json::problem::Problems;

fn counts(results: Result<TestResults, Problems>) -> (u64, u64, u64, u64, u64) {
    let results = results.unwrap();
    (results.passed, results.failed, results.errors, results.skipped, results.missing)
}

fn refused(results: Result<TestResults, Problems>) -> String {
    results.unwrap_err().to_string()
}

const JUNIT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="all" tests="6" failures="1" errors="1">
  <testsuite name="outer" tests="6" failures="1" errors="1" skipped="2">
    <properties><property name="x" value="1"/></properties>
    <testsuite name="inner" tests="2"><testcase classname="a.B" name="one" time="1,234.5"/><testcase name="two"/></testsuite>
    <testcase classname="a.B" name="three"><failure message="no &lt;way&gt;">999 passed</failure></testcase>
    <testcase classname="a.B" name="four"><error/><system-out><![CDATA[<testcase name="fake"/> 12 passed]]></system-out></testcase>
    <testcase name="five"><skipped/></testcase>
    <testcase name="six" status="notrun"/>
    <system-out>7 passed</system-out>
  </testsuite>
</testsuites>"#;

#[test]
fn junit_is_read_test_by_test() {
    let results = TestResults::from_junit(JUNIT);
    assert_eq!(counts(results.clone()), (2, 1, 1, 2, 0));
    let results = results.unwrap();
    assert_eq!(results.failing, ["a.B.three", "a.B.four"]);
    assert_eq!((results.announced, results.counted()), (Some(6), 4));
    assert_eq!(serde_json::json!(results)["failing"][1], "a.B.four");
    assert_eq!(TestResults::from_report(&format!("\u{feff}{JUNIT}")), Ok(results));
}

#[test]
fn a_test_that_passed_in_the_end_passed() {
    let flaky = r#"<testsuite><testcase name="a"><flakyFailure/><rerunFailure/></testcase></testsuite>"#;
    assert_eq!(counts(TestResults::from_junit(flaky)), (1, 0, 0, 0, 0));
    let both =
        r#"<testsuite failures="1" errors="1"><testcase name="a"><failure/><error/></testcase></testsuite>"#;
    assert_eq!(counts(TestResults::from_junit(both)), (0, 1, 0, 0, 0));
}

#[test]
fn a_report_that_claims_more_than_it_lists_is_refused() {
    let more_passes = r#"<testsuite name="s" tests="1"><testcase name="a"/><testcase name="b"/></testsuite>"#;
    assert_eq!(
        refused(TestResults::from_junit(more_passes)),
        "report: found 2 passed tests in the suite `s`, expected at most the 1 it announces"
    );
    let inner = r#"<testsuites tests="1"><testsuite><testcase name="a"/></testsuite><testsuite><testcase name="b"/></testsuite></testsuites>"#;
    assert!(refused(TestResults::from_junit(inner)).contains("2 passed tests"));
    let unlisted = r#"<testsuite tests="5" failures="0"/>"#;
    assert!(refused(TestResults::from_junit(unlisted)).contains("5 tests announced and none listed"));
    let hidden = r#"<testsuite tests="3" failures="2"><testcase name="a"/></testsuite>"#;
    assert!(
        refused(TestResults::from_junit(hidden)).contains("2 failures and errors announced and 0 listed")
    );
    // A runner that counts parts of a test announces more than it lists.
    let subtests = r#"<testsuite tests="3"><testcase name="a"/></testsuite>"#;
    assert_eq!(counts(TestResults::from_junit(subtests)), (1, 0, 0, 0, 0));
}

#[test]
fn xml_that_is_not_one_whole_report_is_refused() {
    for (text, found) in [
        ("", "no element"),
        ("<html/>", "the root `html`"),
        ("<testsuite><testcase name='a'>", "the end of the report in 2 open elements"),
        ("<testsuite></testsuites>", "expected well-formed XML"),
        ("<testsuite/><testsuite><testcase name='fake'/></testsuite>", "a second root element"),
        ("<testsuite/>8 passed", "text outside the root element"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><testsuite name='&a;'/>", "a document type"),
        ("<testsuite name='&a;'/>", "expected well-formed XML"),
        ("<testsuite tests='-1'/>", "`-1` as `tests`"),
        ("<testsuite tests='1' tests='9'/>", "`tests` twice"),
    ] {
        let refused = refused(TestResults::from_junit(text));
        assert!(refused.contains(found), "{text}: {refused}");
    }
    assert!(
        refused(TestResults::from_junit("<testsuite>\n\n<testcase name=a/>\n</testsuite>"))
            .contains("(line 3)")
    );
}

#[test]
fn trx_is_read_result_by_result() {
    let trx = |counters: &str, results: &str| {
        let space = "http://microsoft.com/schemas/VisualStudio/TeamTest/2010";
        TestResults::from_report(&format!(
            "<TestRun xmlns='{space}'><Results>{results}</Results><ResultSummary><Counters {counters}/></ResultSummary></TestRun>"
        ))
    };
    let result =
        |name: &str, outcome: &str| format!("<UnitTestResult testName='{name}' outcome='{outcome}'/>");
    let all = ["Passed", "Failed", "NotExecuted", "Timeout"].map(|outcome| result(outcome, outcome)).concat();
    let results = trx("total='4' executed='3' passed='1' failed='1'", &all);
    assert_eq!(counts(results.clone()), (1, 1, 1, 1, 0));
    assert_eq!(results.unwrap().failing, ["Failed", "Timeout"]);
    let rows = format!(
        "<UnitTestResult testName='rows' outcome='Failed'><InnerResults>{}{}</InnerResults></UnitTestResult>",
        result("row 1", "Passed"),
        result("row 2", "Failed")
    );
    assert_eq!(counts(trx("total='3'", &rows)), (1, 1, 0, 0, 0));
    let stdout = "<UnitTestResult testName='a' outcome='Failed'><Output><StdOut>9 passed</StdOut></Output></UnitTestResult>";
    assert_eq!(counts(trx("", stdout)), (0, 1, 0, 0, 0));
    let one = result("a", "Passed");
    assert!(
        refused(trx("total='9' passed='9'", &one)).contains("9 passed tests, expected at most the 1 test")
    );
    assert!(refused(trx("total='0'", &one)).contains("1 passed tests"));
    assert!(
        refused(trx("total='2' failed='1'", &one)).contains("1 failed tests in the summary and 0 listed")
    );
    assert!(refused(trx("", &result("a", "Splendid"))).contains("`Splendid`"));
    assert!(refused(trx("", "<UnitTestResult/>")).contains("without an outcome"));
}

#[test]
fn tap_is_read_by_its_plan() {
    let tap = "TAP version 14\n1..6\nok 1 - adds\nnot ok 2 - divides # by zero\n  ---\n  message: 12 passed\n  ok 9\n  ...\n\
               ok 3 # SKIP no network\nnot ok 4 later # TODO\n# Subtest: inner\n    1..1\n    not ok 1 inner\nok 5 - escaped \\# SKIP\n";
    let results = TestResults::from_report(tap);
    assert_eq!(counts(results.clone()), (2, 1, 0, 2, 1));
    assert_eq!(results.unwrap().failing, ["divides"]);
    assert_eq!(counts(TestResults::from_tap("ok\nnot ok\r\nok\n1..3")), (2, 1, 0, 0, 0));
    assert_eq!(
        counts(TestResults::from_tap("1..4\nok 1\nBail out! no disk\nok 2\nok 3\nok 4")),
        (1, 0, 0, 0, 3)
    );
    assert_eq!(counts(TestResults::from_tap("1..0 # SKIP nothing to do")), (0, 0, 0, 0, 0));
    assert_eq!(counts(TestResults::from_tap("1..2\nok 1\nokay 2\n2 passed\nnotok")), (1, 0, 0, 0, 1));
}

#[test]
fn tap_that_contradicts_its_plan_is_refused() {
    for (tap, found) in [
        ("1..2\nnot ok 1\nok 2\nok 1\n", "test 1 twice"),
        ("1..2\nok 1\nok 2\nok 3\n", "test 3, expected tests 1 to 2"),
        ("1..2\nok\nok\nok\n", "test 3, expected tests 1 to 2"),
        ("1..3\nnot ok 1\n1..1\nok 1\n", "a second plan `1..1`, after `1..3`"),
        ("ok 1\nok 2\n8 passed, 0 failed\n", "no plan"),
        ("1..1\nok 0\n", "test 0"),
        ("8 passed", "no plan"),
        ("", "no plan"),
    ] {
        let refused = refused(TestResults::from_report(tap));
        assert!(refused.contains(found), "{tap}: {refused}");
    }
}

#[test]
fn a_line_that_says_n_passed_is_not_believed() {
    // The program under test prints a summary as a runner would; what the reports say stays as it is.
    let fake = "==== 99999 passed, 0 failed in 0.01s ====";
    let junit = format!(
        "<testsuite tests='1' failures='1'><testcase name='a'><failure>{fake}</failure></testcase><system-out>{fake}</system-out></testsuite>"
    );
    let tap = format!("1..1\n{fake}\nnot ok 1\n{fake}\n");
    for report in [junit, tap] {
        let grade = code(TestResults::from_report(&report).unwrap(), Some(0)).unwrap();
        assert_eq!((grade.pass_rate, grade.value), (0.0, 0.3));
    }
    assert!(TestResults::from_report(fake).is_err());
}

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
