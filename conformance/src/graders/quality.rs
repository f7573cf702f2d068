//! Cases about the quality of an output: code, text, checklists, data.
//!
//! The cases come from a grader more lenient than the engine's defaults: objects get partial credit, a criterion of
//! an unknown kind is unmet, code is graded by patterns. They run with the options for that.

use karat_graders::quality::{
    self, Checklist, CodeEvidence, Evidence, Options, PartialCredit, Reference, Task, TestResults, Tokenizer,
    Transform, UnknownCriterion, code,
};
use serde_json::{Value, json};

use crate::given::Given;
use crate::judge::{all, number};

const OPTIONS: Options = Options {
    code_evidence: CodeEvidence::Patterns,
    tokenizer: Tokenizer::Reference,
    unknown_criterion: UnknownCriterion::Unmet,
    partial_credit: PartialCredit::ExpectedKeys,
};

/// Returns the answer of the function called `name`; `None` if it is not in this file.
pub fn answer(name: &str, given: &Given<'_>) -> Option<Result<Value, String>> {
    let quality = match name {
        "quality.rag" => rag(given),
        "quality.rag_tokens" => {
            let text = given.member("text");
            return Some(
                text.and_then(|text| Ok(json!({ "tokens": OPTIONS.tokenizer.tokens(text.text()?) }))),
            );
        }
        "quality.agent" => agent(given),
        "quality.data_transform" => data_transform(given),
        "quality.code_graded" => code_graded(given),
        "quality.code_patterns" => code_patterns(given),
        "quality.dispatch" => dispatch(given),
        _ => return None,
    };
    Some(quality.map(|quality| json!({ "quality": number(quality) })))
}

fn rag(given: &Given<'_>) -> Result<f64, String> {
    let (reference, text) = (given.member("reference_answer")?.text()?, given.member("text")?.text()?);
    let rouge = Reference::new(reference, OPTIONS.tokenizer).and_then(|reference| reference.grade(text));
    Ok(rouge.map_err(|problems| all(&problems))?.f1)
}

fn agent(given: &Given<'_>) -> Result<f64, String> {
    let criteria = given.member("goal_checklist")?;
    let checklist = Checklist::load(criteria.value(), OPTIONS.unknown_criterion);
    let grade = checklist.map_err(|problems| all(&problems))?.grade(given.member("text")?.text()?);
    Ok(grade.map_err(|problems| all(&problems))?.value)
}

fn data_transform(given: &Given<'_>) -> Result<f64, String> {
    let expected = given.member("expected_output")?;
    let transform = Transform::new(expected.value(), None, OPTIONS.partial_credit);
    let grade = transform.map_err(|problems| all(&problems))?.grade(given.member("text")?.text()?);
    Ok(grade.map_err(|problems| all(&problems))?.value)
}

fn code_graded(given: &Given<'_>) -> Result<f64, String> {
    let count = |name: &str| given.member(name)?.count();
    let (passed, failed) = (count("tests_passed")?, count("tests_failed")?);
    let violations = Some(count("lint_violations")?);
    let grade = TestResults::from_counts(passed, failed).and_then(|tests| code(tests, violations));
    Ok(grade.map_err(|problems| all(&problems))?.value)
}

fn code_patterns(given: &Given<'_>) -> Result<f64, String> {
    let patterns = given.member("expected_patterns")?.texts()?;
    Ok(quality::code_patterns(&patterns, given.member("code")?.text()?).value)
}

fn dispatch(given: &Given<'_>) -> Result<f64, String> {
    let (task_type, reference) = (given.member("task_type")?, given.member("reference")?);
    let task =
        Task::load(task_type.text()?, reference.value(), OPTIONS).map_err(|problems| all(&problems))?;
    let output = given.member("output")?;
    let evidence = Evidence { output: Some(output.value()), ..Evidence::default() };
    Ok(task.grade(&evidence).map_err(|problems| all(&problems))?.value)
}
