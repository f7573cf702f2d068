//! Scripts of a challenge: they see the answer and the truth, and return points.

use std::collections::BTreeMap;

use karat_graders::execution::{Fault, Job, TaskReport};
use serde_json::Value;
use wasmtime::Error;

use crate::answer::Answer;
use crate::cases::host;
use crate::error::JudgeError;
use crate::guest::{Request, Runtime};
use crate::host::Stop;
use crate::primitives;
use crate::runtimes::Language;

/// A script, and what it is run on.
#[derive(Debug, Clone, Copy)]
pub struct Script<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// Its text.
    pub source: &'a str,
    /// The dimensions that it has to return.
    pub dimensions: &'a [String],
    /// The answer of the submission.
    pub answer: &'a Value,
    /// The correct answer.
    pub truth: &'a Value,
    /// The rest of the match.
    pub r#match: &'a Value,
}

const POINTS_MAX: f64 = 1000.0;

/// Runs a script.
///
/// # Errors
///
/// If the script raises, reaches a limit, or returns anything but points of its dimensions: it is at fault then. If this
/// machine has no room for an instance.
pub fn run(runtime: &Runtime, job: &Job, script: &Script<'_>) -> Result<TaskReport, JudgeError> {
    let Script { file, source, answer, truth, r#match, .. } = *script;
    let mut host = host(job);
    host.ask = Some(Box::new(|what, request| match what {
        "primitive" => Ok(primitives::answer(request)),
        _ => Err(Error::from(Stop::Trap("asks for what no script may have".to_owned()))),
    }));
    let mut guest = runtime.instance(host, job.limits.fuel)?;
    let ended = guest.call(Request::Script { file, source, answer, truth, r#match, seed: job.seed }.text());
    let fault = |line: usize, found: &str, expected: &str| {
        let place = if line == 0 { "the whole file".to_owned() } else { format!("line {line}") };
        let (found, expected) = (found.to_owned(), expected.to_owned());
        JudgeError::Refused(vec![Fault { file: file.to_owned(), place, found, expected }])
    };
    let returns = match runtime.language {
        Language::Python => {
            "`def evaluate(answer, truth, match)` that returns points for each dimension, whatever the answer is"
        }
        Language::JavaScript => {
            "`function evaluate(answer, truth, match)` that returns points for each dimension, whatever the answer is"
        }
    };
    let text = match &ended.result {
        Ok(text) => text,
        Err(stop) => return Err(fault(0, &stop.to_string(), returns)),
    };
    match Answer::read(text) {
        Answer::Result(json) => match points(json, script.dimensions) {
            Ok(scores) => Ok(TaskReport::Script { scores, fuel: ended.fuel }),
            Err(findings) => {
                let faults = findings.into_iter().map(|(place, found, expected)| Fault {
                    file: file.to_owned(),
                    place,
                    found,
                    expected,
                });
                Err(JudgeError::Refused(faults.collect()))
            }
        },
        Answer::Fault(line, found) => Err(fault(line, found, returns)),
        Answer::Raised(found) => Err(fault(0, found, returns)),
    }
}

/// Place, found and expected.
type Finding = (String, String, String);

/// Reads what a script returned.
fn points(json: &str, dimensions: &[String]) -> Result<BTreeMap<String, f64>, Vec<Finding>> {
    let whole = "what `evaluate` returned".to_owned();
    let expected = || format!("{{{}}}, each 0 to 1000", dimensions.join(", "));
    let Ok(Value::Object(members)) = serde_json::from_str(json) else {
        return Err(vec![(whole, "no dictionary".to_owned(), expected())]);
    };
    let mut findings = Vec::new();
    let mut scores = BTreeMap::new();
    for name in dimensions {
        let place = format!("`{name}` of {whole}");
        match members.get(name) {
            None => findings.push((place, "nothing".to_owned(), "points, 0 to 1000".to_owned())),
            Some(value) => match value.as_f64().filter(|points| (0.0..=POINTS_MAX).contains(points)) {
                // Negative zero is zero.
                Some(points) => drop(scores.insert(name.clone(), points + 0.0)),
                None => findings.push((place, value.to_string(), "a number from 0 to 1000".to_owned())),
            },
        }
    }
    for name in members.keys().filter(|name| !dimensions.contains(name)) {
        findings.push((
            format!("`{name}` of {whole}"),
            "a dimension that does not name this script".to_owned(),
            expected(),
        ));
    }
    if findings.is_empty() { Ok(scores) } else { Err(findings) }
}

#[cfg(test)]
mod tests {
    use super::points;

    #[test]
    fn points_are_exactly_those_of_the_dimensions() {
        let dimensions = ["correctness".to_owned(), "speed".to_owned()];
        let scores = points(r#"{"speed": -0.0, "correctness": 1000}"#, &dimensions).unwrap();
        assert_eq!(
            scores.into_iter().collect::<Vec<_>>(),
            [("correctness".to_owned(), 1000.0), ("speed".to_owned(), 0.0)]
        );
        for (json, count) in [
            ("null", 1),
            ("[]", 1),
            ("{}", 2),
            (r#"{"speed": 1}"#, 1),
            (r#"{"speed": 1000.0001, "correctness": -1}"#, 2),
            (r#"{"speed": true, "correctness": "1"}"#, 2),
            (r#"{"speed": 1, "correctness": 2, "style": 3}"#, 1),
        ] {
            assert_eq!(points(json, &dimensions).unwrap_err().len(), count, "{json}");
        }
    }
}
