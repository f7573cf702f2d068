//! Tasks: the grader that fits the type of a task.

use serde_json::{Map, Value, json};

use super::checklist::{Checklist, ChecklistGrade, UnknownCriterion};
use super::code::{CodeGrade, Patterns, PatternsGrade, code};
use super::rouge::{Overlap, Reference, RougeL};
use super::tokens::Tokenizer;
use super::transform::{PartialCredit, Transform, TransformGrade};
use super::{described, refuse};
use karat_evidence::json::problem::{Problems, nearest, quoted};
use karat_evidence::report::TestResults;

/// Options for grading tasks that do not state their own.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Options {
    /// Evidence by which code is graded.
    pub code_evidence: CodeEvidence,
    /// Tokenizer of texts.
    pub tokenizer: Tokenizer,
    /// Treatment of a criterion of an unknown kind.
    pub unknown_criterion: UnknownCriterion,
    /// Credit for an object that is not the expected one.
    pub partial_credit: PartialCredit,
}

/// Evidence by which code is graded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CodeEvidence {
    /// The results of its tests and the count of its lint violations.
    #[default]
    Tests,
    /// Patterns that it contains: the code is not run, so this says little.
    Patterns,
}

/// A task, checked and ready to grade outputs.
#[derive(Debug)]
pub struct Task {
    task_type: String,
    grader: Grader,
}

#[derive(Debug)]
enum Grader {
    Tests,
    Patterns(Patterns),
    Rag(Reference),
    Agent(Checklist),
    DataTransform(Transform),
    Unknown,
}

/// Output to be graded.
#[derive(Debug, Clone, Copy, Default)]
pub struct Evidence<'a> {
    /// The output of a run, `{text, artifacts: {code}}`; none, or `null`, if there was none.
    pub output: Option<&'a Value>,
    /// The results of the tests of its code, as the runner reported them.
    pub tests: Option<&'a TestResults>,
    /// Violations found by the linter in its code.
    pub lint_violations: Option<u64>,
}

/// The quality of an output.
#[derive(Debug, Clone, PartialEq)]
pub struct Grade {
    /// The quality, 0 to 1.
    pub value: f64,
    /// The type of the task.
    pub task_type: String,
    /// Reason why nothing was graded, or a remark.
    pub reason: Option<String>,
    /// Observations of the grader, if it had something to grade.
    pub grading: Option<Grading>,
}

/// Observations of the grader of a type of task.
#[derive(Debug, Clone, PartialEq)]
pub enum Grading {
    /// Code by its tests.
    Tests(CodeGrade),
    /// Code by the patterns in it.
    Patterns(PatternsGrade),
    /// A text, and which tokens of the reference it has, if the texts are not too long to find out.
    Rag(RougeL, Option<Overlap>),
    /// A checklist.
    Agent(ChecklistGrade),
    /// A data transformation.
    DataTransform(TransformGrade),
}

const TYPES: [&str; 4] = ["code", "rag", "agent", "data_transform"];

impl Task {
    /// Prepares a task from its type and its reference, the ground truth.
    ///
    /// The type is `code`, `rag`, `agent` or `data_transform`, without regard to case and white space around it; outputs
    /// of a task of another type are worth 0, with the reason. The reference holds
    ///
    /// - for `code` perhaps `graded_by`, `tests` or `patterns`; by patterns `expected_patterns`, an array of texts;
    /// - for `rag` `reference_answer`, a text, and perhaps `tokenizer`, `reference` or `unicode`;
    /// - for `agent` `goal_checklist`, see [`Checklist::load`];
    /// - for `data_transform` `expected_output`, and perhaps `schema` and `partial_credit` (`none`, `keys` or
    ///   `expected_keys`), see [`Transform::new`].
    ///
    /// # Errors
    ///
    /// If the grader refuses something in the reference.
    pub fn load(task_type: &str, reference: &Value, options: Options) -> Result<Self, Problems> {
        let task_type = task_type.trim().to_lowercase();
        let code_evidence = match (task_type.as_str(), member(reference, "graded_by")) {
            ("code", Value::String(name)) if name == "tests" => CodeEvidence::Tests,
            ("code", Value::String(name)) if name == "patterns" => CodeEvidence::Patterns,
            ("code", other) if !other.is_null() => {
                return Err(refuse("$.reference.graded_by", described(other), "`tests` or `patterns`", ""));
            }
            _ => options.code_evidence,
        };
        let grader = match (task_type.as_str(), code_evidence) {
            ("code", CodeEvidence::Tests) => Grader::Tests,
            ("code", CodeEvidence::Patterns) => {
                Grader::Patterns(Patterns::load(member(reference, "expected_patterns"))?)
            }
            ("rag", _) => Grader::Rag(load_reference(reference, options.tokenizer)?),
            ("agent", _) => Grader::Agent(Checklist::load(
                member(reference, "goal_checklist"),
                options.unknown_criterion,
            )?),
            ("data_transform", _) => {
                Grader::DataTransform(load_transform(reference, options.partial_credit)?)
            }
            _ => Grader::Unknown,
        };
        Ok(Self { task_type, grader })
    }

    /// Grades an output. None, and empty code, are worth 0, with the reason.
    ///
    /// # Errors
    ///
    /// If an output is not an object, a text or code is not a text; if there are no test results or no count of
    /// violations where code is graded by them; if the grader refuses the output.
    pub fn grade(&self, evidence: &Evidence<'_>) -> Result<Grade, Problems> {
        let nothing = |reason: String| Grade {
            value: 0.0,
            task_type: self.task_type.clone(),
            reason: Some(reason),
            grading: None,
        };
        let output = match evidence.output {
            None | Some(Value::Null) => return Ok(nothing("there is no output".to_owned())),
            Some(output) => Output::read(output)?,
        };
        let (value, reason, grading) = match &self.grader {
            Grader::Unknown => {
                let hint = nearest(&self.task_type, TYPES)
                    .map_or(String::new(), |known| format!("; did you mean `{known}`?"));
                return Ok(nothing(format!("no grader for tasks of type {}{hint}", quoted(&self.task_type))));
            }
            Grader::Tests | Grader::Patterns(_) if output.code.trim().is_empty() => {
                return Ok(nothing("there is no code".to_owned()));
            }
            Grader::Tests => {
                let Some(tests) = evidence.tests else {
                    let hint = "run the tests, or grade the code by patterns";
                    let expected = "the results of the tests of the code";
                    return Err(refuse("$.tests", "nothing".to_owned(), expected, hint));
                };
                let grade = code(tests.clone(), evidence.lint_violations)?;
                (grade.value, None, Grading::Tests(grade))
            }
            Grader::Patterns(patterns) => {
                let grade = patterns.grade(output.code);
                (grade.value, None, Grading::Patterns(grade))
            }
            Grader::Rag(reference) => {
                let (rouge, overlap) = (reference.grade(output.text)?, reference.overlap(output.text)?);
                let reason = match (reference.is_empty(), rouge.answer_tokens) {
                    (true, _) => Some("the reference has no tokens with this tokeniser".to_owned()),
                    (false, 0) => Some("the answer has no tokens with this tokeniser".to_owned()),
                    _ => None,
                };
                (rouge.f1, reason, Grading::Rag(rouge, overlap))
            }
            Grader::Agent(checklist) => {
                let grade = checklist.grade(output.text)?;
                (grade.value, None, Grading::Agent(grade))
            }
            Grader::DataTransform(transform) => {
                let grade = transform.grade(output.text)?;
                (grade.value, None, Grading::DataTransform(grade))
            }
        };
        Ok(Grade { value, task_type: self.task_type.clone(), reason, grading: Some(grading) })
    }
}

impl Grade {
    /// Returns the observations: `task_type`, `quality`, perhaps `reason`, and the detail of the grader.
    pub fn detail(&self) -> Value {
        let mut detail = Map::new();
        detail.insert("task_type".to_owned(), json!(self.task_type));
        detail.insert("quality".to_owned(), json!(self.value));
        if let Some(reason) = &self.reason {
            detail.insert("reason".to_owned(), json!(reason));
        }
        let seen = match &self.grading {
            None => return Value::Object(detail),
            Some(Grading::Tests(grade)) => vec![json!(grade)],
            Some(Grading::Patterns(grade)) => vec![json!(grade)],
            Some(Grading::Rag(rouge, overlap)) => vec![json!(rouge), json!(overlap)],
            Some(Grading::Agent(grade)) => vec![json!(grade)],
            Some(Grading::DataTransform(grade)) => vec![json!(grade)],
        };
        for part in seen {
            if let Value::Object(part) = part {
                detail.extend(part.into_iter().filter(|(name, _)| name != "reason" || self.reason.is_none()));
            }
        }
        Value::Object(detail)
    }
}

struct Output<'a> {
    text: &'a str,
    code: &'a str,
}

impl<'a> Output<'a> {
    fn read(output: &'a Value) -> Result<Self, Problems> {
        if !output.is_object() {
            return Err(refuse("$.output", described(output), "an object", ""));
        }
        let text = |value: &'a Value, path: &str| match value {
            Value::Null => Ok(""),
            Value::String(text) => Ok(text.as_str()),
            other => Err(refuse(path, described(other), "a text", "")),
        };
        let code = member(member(output, "artifacts"), "code");
        Ok(Self {
            text: text(member(output, "text"), "$.output.text")?,
            code: text(code, "$.output.artifacts.code")?,
        })
    }
}

fn load_reference(reference: &Value, tokenizer: Tokenizer) -> Result<Reference, Problems> {
    let tokenizer = match member(reference, "tokenizer") {
        Value::Null => tokenizer,
        Value::String(name) if name == Tokenizer::Reference.name() => Tokenizer::Reference,
        Value::String(name) if name == Tokenizer::Unicode.name() => Tokenizer::Unicode,
        other => {
            return Err(refuse("$.reference.tokenizer", described(other), "`reference` or `unicode`", ""));
        }
    };
    match member(reference, "reference_answer") {
        Value::String(text) if !text.trim().is_empty() => Reference::new(text, tokenizer),
        other => {
            let hint = "every answer would score 0";
            Err(refuse("$.reference.reference_answer", described(other), "a text that is not blank", hint))
        }
    }
}

fn load_transform(reference: &Value, partial_credit: PartialCredit) -> Result<Transform, Problems> {
    let partial_credit = match member(reference, "partial_credit") {
        Value::Null => partial_credit,
        Value::String(name) if name == "none" => PartialCredit::None,
        Value::String(name) if name == "keys" => PartialCredit::Keys,
        Value::String(name) if name == "expected_keys" => PartialCredit::ExpectedKeys,
        other => {
            let expected = "`none`, `keys` or `expected_keys`";
            return Err(refuse("$.reference.partial_credit", described(other), expected, ""));
        }
    };
    let schema = Some(member(reference, "schema")).filter(|schema| !schema.is_null());
    Transform::new(member(reference, "expected_output"), schema, partial_credit)
}

/// Returns a member of an object; null if it is absent.
fn member<'a>(value: &'a Value, name: &str) -> &'a Value {
    value.get(name).unwrap_or(&Value::Null)
}
