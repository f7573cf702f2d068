//! Warnings about the form of a submission, and their effect on its scores.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::{Map, Value};

use super::primitives::described;
use karat_evidence::json::problem::quoted;

/// Severity of a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Scores 0 on the dimension that is meant.
    Error,
    /// Advice.
    Warning,
}

/// One entry of `submission_warnings`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SubmissionWarning {
    /// Severity of a warning.
    pub severity: Severity,
    /// The field of the submission, `answer` for the whole of it, `coverage` for what was left out.
    pub field: String,
    /// The text for people.
    pub message: String,
    /// The dimension that an error makes 0; none where it makes none 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dimension: Option<String>,
}

impl SubmissionWarning {
    fn new(severity: Severity, field: &str, message: String) -> Self {
        Self { severity, field: field.to_owned(), message, dimension: None }
    }
}

/// Returns an error for each field that is missing or not a text, in the order of `expected_ids`.
pub fn validate_required_strings<Id: AsRef<str>>(
    expected_ids: &[Id],
    submission: &Map<String, Value>,
) -> Vec<SubmissionWarning> {
    let error = |id: &str| {
        let message = match submission.get(id) {
            Some(Value::String(_)) => return None,
            Some(other) => format!("{} is {}, expected a text", quoted(id), described(other)),
            None => format!("{} is missing, expected a text", quoted(id)),
        };
        Some(SubmissionWarning::new(Severity::Error, id, message))
    };
    expected_ids.iter().filter_map(|id| error(id.as_ref())).collect()
}

/// Returns, for a submission of one scalar for each expected field: an error for each that is an array or object; then
/// one error on `answer` if none of the fields is there, or one warning on `coverage` if some are not. `null` is there.
pub fn validate_flat_answers<Id: AsRef<str>>(
    expected_ids: &[Id],
    submission: &Map<String, Value>,
) -> Vec<SubmissionWarning> {
    let ids = || expected_ids.iter().map(AsRef::as_ref);
    let mut warnings = Vec::new();
    for id in ids() {
        if let Some(nested @ (Value::Array(_) | Value::Object(_))) = submission.get(id) {
            let message = format!("{} is {}, expected the answer itself", quoted(id), described(nested));
            warnings.push(SubmissionWarning::new(Severity::Error, id, message));
        }
    }
    let missing = ids().filter(|id| !submission.contains_key(*id)).count();
    let first = ids().next().map_or_else(|| "none".to_owned(), quoted);
    if missing == expected_ids.len() {
        let message = format!("none of the {missing} expected fields is there, the first of them is {first}");
        warnings.push(SubmissionWarning::new(Severity::Error, "answer", message));
    } else if missing > 0 {
        let message = format!("{missing} of the {} expected fields are missing", expected_ids.len());
        warnings.push(SubmissionWarning::new(Severity::Warning, "coverage", message));
    }
    warnings
}

/// Says of every error which dimensions it makes 0: the one that it names itself, or else those that read its field. An error
/// about several dimensions becomes one for each; an error about none stays as advice. Warnings stay as they are.
pub(crate) fn assign_dimensions(
    warnings: Vec<SubmissionWarning>,
    readers: &BTreeMap<String, BTreeSet<String>>,
) -> Vec<SubmissionWarning> {
    let mut assigned = Vec::with_capacity(warnings.len());
    for warning in warnings {
        let dimensions = match warning.severity {
            Severity::Error if warning.dimension.is_none() => readers.get(&warning.field),
            _ => None,
        };
        match dimensions {
            Some(dimensions) => assigned.extend(dimensions.iter().map(|dimension| SubmissionWarning {
                dimension: Some(dimension.clone()),
                ..warning.clone()
            })),
            None => assigned.push(warning),
        }
    }
    assigned
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(warnings: &[SubmissionWarning]) -> Vec<(Severity, &str)> {
        warnings.iter().map(|warning| (warning.severity, warning.field.as_str())).collect()
    }

    #[test]
    fn required_strings() {
        use Severity::Error;
        let check =
            |submission: Value| validate_required_strings(&["q1", "q2"], submission.as_object().unwrap());
        assert_eq!(told(&check(json!({"q1": "", "q2": "b", "q3": 1}))), []);
        let warnings = check(json!({"q1": null}));
        assert_eq!(told(&warnings), [(Error, "q1"), (Error, "q2")]);
        assert_eq!(warnings[0].message, "`q1` is null, expected a text");
    }

    #[test]
    fn flat_answers() {
        use Severity::{Error, Warning};
        let check = |submission: Value| validate_flat_answers(&["p1", "p2"], submission.as_object().unwrap());
        assert_eq!(told(&check(json!({"p1": null, "p2": 1}))), []);
        assert_eq!(told(&check(json!({}))), [(Error, "answer")]);
        assert_eq!(told(&check(json!({"answers": {"p1": 1}}))), [(Error, "answer")]);
        assert_eq!(told(&check(json!({"p2": [1]}))), [(Error, "p2"), (Warning, "coverage")]);
    }

    #[test]
    fn an_error_makes_the_dimensions_zero_that_read_its_field() {
        let [error, advice] = [Severity::Error, Severity::Warning]
            .map(|severity| move |field: &str| SubmissionWarning::new(severity, field, String::new()));
        let named = SubmissionWarning { dimension: Some("speed".to_owned()), ..error("q1") };
        let both = ["completeness", "correctness"].map(str::to_owned);
        let readers = BTreeMap::from([("q1".to_owned(), BTreeSet::from(both))]);
        let warnings = assign_dimensions(vec![error("q1"), advice("q1"), error("answer"), named], &readers);
        let dimensions: Vec<Option<&str>> =
            warnings.iter().map(|warning| warning.dimension.as_deref()).collect();
        assert_eq!(dimensions, [Some("completeness"), Some("correctness"), None, None, Some("speed")]);
        let errors = warnings.iter().filter(|warning| warning.severity == Severity::Error);
        let refused: BTreeSet<&str> = errors.filter_map(|warning| warning.dimension.as_deref()).collect();
        assert_eq!(refused, BTreeSet::from(["completeness", "correctness", "speed"]));
    }
}
