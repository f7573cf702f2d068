//! An attempt under an evaluator: every part compared, every dimension summed up.

use serde_json::Value;

use super::judged::{self, Judging};
use super::{Attempt, Comparison, DimensionGrade, Evaluation, Evaluator, Outcome, PartGrade, Test};
use crate::arena::members::Member;
use crate::arena::primitives::{
    CELLS_MAX, Grade, OverlapMeasure, SetOverlap, api_call_efficiency, coverage_ratio, described,
    exact_match, exact_match_ratio, fuzzy_string_within, numeric_tolerance, numeric_tolerance_list,
    set_overlap, time_decay,
};
use crate::arena::text;
use karat_evidence::json::problem::Problems;

pub(super) fn evaluate(
    evaluator: &Evaluator,
    attempt: &Attempt<'_>,
    judging: &Judging<'_>,
) -> Result<Evaluation, Problems> {
    let time = time_decay(attempt.used_seconds, attempt.limit_seconds)?;
    let mut problems = Problems::default();
    let mut dimensions: Vec<DimensionGrade> = Vec::with_capacity(evaluator.dimensions.len());
    for dimension in &evaluator.dimensions {
        let parts = dimension.parts.iter().map(|part| {
            let outcome = match &part.test {
                Test::Fields { comparison, field, truth } => {
                    let Some(expected) = truth.of(attempt.ground_truth) else {
                        let path = truth.path("$.ground_truth");
                        problems.refuse(&path, "nothing", "a value to compare with", "");
                        return None;
                    };
                    let expected = Member { value: expected, path: truth.path("$.ground_truth") };
                    comparison.check(&expected, &mut problems)?;
                    match field.of(attempt.submission) {
                        None => Err(Outcome::Missing),
                        Some(submitted) => comparison.compare(submitted, expected.value, CELLS_MAX),
                    }
                }
                Test::Time { .. } => Ok(time.clone()),
                Test::Calls { optimal, max } => match attempt.api_calls {
                    Some(calls) => {
                        api_call_efficiency(calls as f64, *optimal, *max).map_err(|problems| unfit(&problems))
                    }
                    None => Err(Outcome::Unfit("the arena did not count the calls".to_owned())),
                },
                // Nothing runs before it is known that everything else is in order.
                Test::Judged(_) => Err(Outcome::NoVerdict),
            };
            let (value, outcome) = match outcome {
                Ok(grade) => (Some(grade.value), Outcome::Graded(grade.seen)),
                Err(Outcome::NoVerdict) => (None, Outcome::NoVerdict),
                Err(outcome) => (Some(0.0), outcome),
            };
            let (field, file) = match &part.test {
                Test::Fields { field, .. } => (Some(field.name.clone()), None),
                Test::Judged(part) => (None, Some(part.file().to_owned())),
                _ => (None, None),
            };
            let (primitive, weight) = (part.test.primitive(), part.weight);
            Some(PartGrade { primitive, field, file, weight, value, outcome })
        });
        let parts = parts.flatten().collect();
        dimensions.push(DimensionGrade { dimension: dimension.key.clone(), value: None, parts });
    }
    if !problems.is_empty() {
        return Err(problems);
    }
    let execution = match &evaluator.judged {
        Some(judged) => Some(judged::execute(judged, attempt, judging)?),
        None => None,
    };
    if let Some(execution) = &execution {
        for (dimension, grade) in evaluator.dimensions.iter().zip(&mut dimensions) {
            for (part, graded) in dimension.parts.iter().zip(&mut grade.parts) {
                if let Test::Judged(part) = &part.test {
                    (graded.value, graded.outcome) = execution.of(part, &dimension.key);
                }
            }
        }
    }
    let answered = || {
        dimensions.iter().flat_map(|grade| &grade.parts).filter(|it| it.field.is_some() || it.file.is_some())
    };
    let something_scored = answered().any(|part| part.value.is_some_and(|value| value > 0.0));
    // What has no verdict may have scored.
    let without_score = match answered().any(|part| part.value.is_none()) {
        true => (None, Outcome::NoVerdict),
        false => (Some(0.0), Outcome::NothingScored),
    };
    for (dimension, grade) in evaluator.dimensions.iter().zip(&mut dimensions) {
        for (part, graded) in dimension.parts.iter().zip(&mut grade.parts) {
            if matches!(part.test, Test::Time { needs_score: true }) && !something_scored {
                (graded.value, graded.outcome) = without_score.clone();
            }
        }
        // At least one weight is above 0; the sums go through the parts in their order. What counts nothing needs no verdict.
        let weights = grade.parts.iter().fold(0.0, |sum, part| sum + part.weight);
        let sum = grade.parts.iter().try_fold(0.0, |sum, part| match part.value {
            Some(value) => Some(sum + value * part.weight),
            None => (part.weight == 0.0).then_some(sum),
        });
        grade.value = sum.map(|sum| sum / weights);
    }
    Ok(Evaluation { dimensions, execution: execution.map(|execution| execution.grade) })
}

impl Comparison {
    /// Refuses what the ground truth cannot be compared as: that is a fault of the challenge.
    pub(crate) fn check(self, expected: &Member<'_>, problems: &mut Problems) -> Option<()> {
        let is_structure = |value: &Value| matches!(value, Value::Array(_) | Value::Object(_));
        let all_of = |test: &dyn Fn(&Value) -> bool| {
            expected.value.as_array().is_some_and(|elements| elements.iter().all(test))
        };
        let (fits, wanted) = match self {
            Self::ExactMatch(options) => {
                (options.deep || !is_structure(expected.value), "a scalar, or `deep = true`")
            }
            Self::ExactMatchRatio(options) => (
                all_of(&|element| options.deep || !is_structure(element)),
                "an array of scalars, or `deep = true`",
            ),
            Self::NumericTolerance(_) => {
                (expected.value.is_number() || all_of(&Value::is_number), "a number or an array of them")
            }
            Self::FuzzyString(_) => (!is_structure(expected.value), "a text"),
            Self::SetOverlap(_) => (all_of(&|element| !is_structure(element)), "an array of scalars"),
            Self::CoverageRatio => (
                expected.value.is_number() || all_of(&|element| !is_structure(element)),
                "a total or an array of scalars",
            ),
        };
        if !fits {
            expected.refuse(wanted, "", problems);
        }
        fits.then_some(())
    }

    /// Compares a field of the submission with one of the ground truth that was checked; texts within `cells_max`.
    pub(crate) fn compare(
        self,
        submitted: &Value,
        expected: &Value,
        cells_max: usize,
    ) -> Result<Grade, Outcome> {
        let list = || submitted.as_array().ok_or_else(|| mismatch(submitted, "an array"));
        match (self, expected) {
            (Self::ExactMatch(options), _) => Ok(exact_match(submitted, expected, options)),
            (Self::ExactMatchRatio(options), Value::Array(expected)) => {
                Ok(exact_match_ratio(list()?, expected, options))
            }
            (Self::NumericTolerance(options), Value::Array(expected)) => {
                let numbers: Result<Vec<f64>, Outcome> = list()?.iter().map(number).collect();
                let expected: Vec<f64> = expected.iter().filter_map(Value::as_f64).collect();
                numeric_tolerance_list(&numbers?, &expected, options).map_err(|problems| unfit(&problems))
            }
            (Self::NumericTolerance(options), _) => {
                numeric_tolerance(number(submitted)?, number(expected)?, options)
                    .map_err(|problems| unfit(&problems))
            }
            (Self::FuzzyString(options), _) => {
                let form = |value| text::form(value).ok_or_else(|| mismatch(value, "a text"));
                fuzzy_string_within(&form(submitted)?, &form(expected)?, options, cells_max)
                    .map_err(|problems| Outcome::Limit(words(&problems)))
            }
            (Self::SetOverlap(options), Value::Array(expected)) => {
                set_overlap(list()?, expected, options).map_err(|problems| unfit(&problems))
            }
            (Self::CoverageRatio, Value::Array(expected)) => {
                let recall = SetOverlap { measure: OverlapMeasure::Recall, ignore_case: false };
                set_overlap(list()?, expected, recall).map_err(|problems| unfit(&problems))
            }
            (Self::CoverageRatio, _) => {
                let found = submitted.as_f64().ok_or_else(|| mismatch(submitted, "a number"))?;
                coverage_ratio(found, number(expected)?).map_err(|problems| unfit(&problems))
            }
            (Self::ExactMatchRatio(_) | Self::SetOverlap(_), _) => Err(mismatch(expected, "an array")),
        }
    }
}

/// Reads a number, or a text that is a decimal.
fn number(value: &Value) -> Result<f64, Outcome> {
    let number = match value {
        Value::String(text) => text::decimal(text),
        other => other.as_f64(),
    };
    number.ok_or_else(|| mismatch(value, "a number"))
}

fn mismatch(found: &Value, expected: &str) -> Outcome {
    Outcome::Unfit(format!("found {}, expected {expected}", described(found)))
}

fn unfit(problems: &Problems) -> Outcome {
    Outcome::Unfit(words(problems))
}

fn words(problems: &Problems) -> String {
    let told =
        problems.iter().map(|problem| format!("found {}, expected {}", problem.found, problem.expected));
    told.collect::<Vec<_>>().join("; ")
}
