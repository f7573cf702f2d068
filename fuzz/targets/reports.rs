//! Any text is a report of tests in one of three forms, or is refused; what a program prints behind its last line adds no test.

use karat_evidence::Problems;
use karat_graders::quality::{TestResults, code};

/// Panics if an input breaks the promise.
pub fn check(bytes: &[u8]) {
    let Ok(text) = core::str::from_utf8(bytes) else { return };
    let forms =
        [TestResults::from_report, TestResults::from_junit, TestResults::from_trx, TestResults::from_tap];
    for read in forms {
        is_sound(read(text));
    }
    if let Ok(results) = TestResults::from_tap(text) {
        let more = TestResults::from_tap(&format!("{text}\n  ok 99\n# 8 passed\nall tests passed\nokay\n"));
        assert_eq!(more, Ok(results), "lines that are printed are not results");
    }
}

fn is_sound(results: Result<TestResults, Problems>) {
    let results = match results {
        Ok(results) => results,
        Err(problems) => {
            assert!(!problems.is_empty() && !problems.to_string().is_empty(), "refused without a word");
            return;
        }
    };
    let listed = results.failing.len() as u64;
    assert_eq!(listed, (results.failed + results.errors).min(TestResults::LISTED as u64), "{results:?}");
    assert!(results.passed <= results.counted(), "{results:?}");
    let counted = results.counted();
    match code(results, Some(0)) {
        Ok(grade) => assert!((0.0..=1.0).contains(&grade.value), "{grade:?}"),
        Err(_) => assert_eq!(counted, 0, "refused though a test ran"),
    }
}
