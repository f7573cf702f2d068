//! Scores printed by the script of a challenge.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::members::{Members, located};
use karat_evidence::json::problem::Problems;

/// Scores that a script printed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvaluatorOutput {
    /// Raw score by dimension, as printed.
    pub scores: BTreeMap<String, f64>,
    /// The line that held them, from 1.
    pub line: usize,
    /// Earlier lines that could have been taken for the result. The script prints one; more of them hint at a submission that
    /// prints to the same stream, and hopes to be taken for the script.
    pub other_results: usize,
}

/// Finds the scores in the output of a test suite or script: the last line that is a JSON object with an object `scores`. Lines
/// are scanned from the end, so that what is printed before does not matter.
///
/// # Errors
///
/// If the exit status is not 0 (none means a script that was stopped), whatever was printed; if there is no such line;
/// if a score in it is not a number, or below 0. None of these may fall back to another evaluator.
pub fn parse_evaluator_output(stdout: &str, exit_code: Option<i32>) -> Result<EvaluatorOutput, Problems> {
    if exit_code != Some(0) {
        let found =
            exit_code.map_or_else(|| "no exit status".to_owned(), |code| format!("exit status {code}"));
        let hint = "read what the evaluator printed to standard error";
        return Err(Problems::one("$.exit_code", found, "exit status 0", hint));
    }
    let mut results = stdout.lines().enumerate().filter_map(|(at, line)| {
        // Only a line with an object can hold one: whatever else is printed need not be parsed.
        let object = line.trim_start().starts_with('{');
        let value: Value = serde_json::from_str(if object { line } else { return None }).ok()?;
        let scores = value.get("scores").filter(|scores| scores.is_object())?.clone();
        Some((at + 1, scores))
    });
    let first = results.next();
    let (count, last) = results.fold((1, first), |(count, _), result| (count + 1, Some(result)));
    let Some((line, scores)) = last else {
        let hint = "print `{\"scores\": {\"DIMENSION\": NUMBER}}` on its own line";
        let found = format!("no scores in {} lines", stdout.lines().count());
        return Err(Problems::one("$.stdout", found, "a line with an object `scores`", hint));
    };
    let mut problems = Problems::default();
    let members = Members::of(&scores, "$.scores", &mut problems);
    let mut read = BTreeMap::new();
    for (dimension, score) in members.iter().flat_map(Members::iter) {
        if let Some(score) = score.number(0.0, f64::MAX, "a number not below 0", &mut problems) {
            read.insert(dimension.to_owned(), score);
        }
    }
    if problems.is_empty() {
        Ok(EvaluatorOutput { scores: read, line, other_results: count - 1 })
    } else {
        Err(located(&problems, |_| Some((line as u64, 1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(stdout: &str) -> Result<EvaluatorOutput, Problems> {
        parse_evaluator_output(stdout, Some(0))
    }

    #[test]
    fn the_last_result_counts_and_others_are_told() {
        let output =
            parse("{\"scores\": {\"a\": 1}}\nnoise\n {\"scores\": {\"a\": 2, \"b\": 3.5}} \r\n[{}]\nbye")
                .unwrap();
        assert_eq!(output.scores, BTreeMap::from([("a".to_owned(), 2.0), ("b".to_owned(), 3.5)]));
        assert_eq!((output.line, output.other_results), (3, 1));
    }

    #[test]
    fn what_is_no_result() {
        for stdout in [
            "", "nothing useful", "{\"scores\": null}", "{\"scores\": [1]}", "{\"scores\": 1}", "[1]", "{",
            "5 passed",
        ] {
            let problems = parse(stdout).unwrap_err();
            assert_eq!(problems.iter().next().unwrap().path, "$.stdout", "{stdout}");
        }
        // A later line without a result does not hide an earlier one.
        assert_eq!(parse("{\"scores\": {}}\n{\"scores\": []}").unwrap().line, 1);
        let nested = format!("{}1{}", "{\"scores\":".repeat(100_000), "}".repeat(100_000));
        assert!(parse(&nested).is_err());
    }

    #[test]
    fn a_failed_script_has_no_scores() {
        let printed = "{\"scores\": {\"a\": 1}}";
        for exit_code in [Some(1), Some(-1), None] {
            let problems = parse_evaluator_output(printed, exit_code).unwrap_err();
            assert_eq!(problems.iter().next().unwrap().path, "$.exit_code");
        }
    }

    #[test]
    fn scores_are_numbers() {
        let problems = parse("\n{\"scores\": {\"a\": \"1\", \"b\": -1, \"c\": 1}}").unwrap_err();
        let text = problems.to_string();
        assert!(
            text.contains("$.scores.a: found the text `1`") && text.contains("(line 2, column 1)"),
            "{text}"
        );
        assert_eq!(problems.len(), 2);
    }
}
