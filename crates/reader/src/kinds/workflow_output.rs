//! Quality of the output of a workflow run: given, or graded from the output itself.

use karat_core::facts::Fact;
use serde_json::Value as Json;

use crate::graders::Work;
use karat_evidence::json::check::{Check, UNIT, digits};
use karat_evidence::json::document::{Node, Value};
use karat_evidence::json::locate;
use karat_evidence::json::problem::{Problem, Problems};
use karat_evidence::json::value;
use karat_graders::quality::{CodeEvidence, Evidence, Grade, Task, TestResults};

/// Members of a run about its output.
#[derive(Default)]
pub(super) struct Output<'a> {
    pub quality: Option<Node<'a>>,
    pub task_type: Option<Node<'a>>,
    pub reference: Option<Node<'a>>,
    /// `null` is an output too: there was none.
    pub output: Option<Node<'a>>,
    pub tests: Option<Node<'a>>,
    pub lint_violations: Option<f64>,
}

impl<'a> Output<'a> {
    /// Returns the quality: graded if all that a grader needs is there, else as given. If both are there they must
    /// agree.
    pub fn grade(&self, root: Node<'_>, check: &mut Check<'_>, work: &mut Work<'_>) -> Option<f64> {
        self.check_form(check);
        self.reference.into_iter().chain(self.output).for_each(|value| check.refuse_inexact(value));
        let tests = self.tests.and_then(|node| test_results(node, check));
        let task_type = self.task_type.and_then(|node| check.text(node));
        let given = self.quality.and_then(|node| Some((node, check.number(node, UNIT)?)));
        let is_code = task_type.is_some_and(|name| name.trim().eq_ignore_ascii_case("code"));
        let material = match (task_type, self.output) {
            (Some(task_type), Some(output)) if self.reference.is_some() || is_code => {
                Some((task_type, output))
            }
            _ => None,
        };
        // Code whose test results are given elsewhere has nothing to grade here; a missing output needs no tests.
        let needs_tests = is_code
            && self.tests.is_none()
            && !self.is_by_patterns(work.graders.quality.code_evidence)
            && self.output.is_some_and(|output| !output.is_null());
        let Some((task_type, output)) = material.filter(|_| given.is_none() || !needs_tests) else {
            if self.quality.is_none() {
                let expected = "a number from 0 to 1, or what it can be graded from: `task_type`, `reference` and \
                                `result.final_output`";
                check.absent(root, "output_quality", expected);
            }
            if let (Some((node, given)), Some(Value::Null)) = (given, self.output.map(Node::value))
                && given > 0.0
            {
                let found = format!("{}, where `final_output` is `null`: there is no output", digits(given));
                check.refuse_as(node, found, "0", "give the output, or leave `final_output` out");
            }
            return given.map(|(_, given)| given);
        };
        // Problems are reported with the places of the item; a task that does not load grades nothing.
        if !check.problems.is_empty() {
            return None;
        }
        match self.graded(task_type, output, tests.as_ref(), work) {
            Err(problems) => {
                check.problems.extend(&problems);
                None
            }
            Ok(grade) => {
                if let Some((node, given)) = given
                    && (given - grade.value).abs() > TOLERANCE
                {
                    let why = grade.reason.as_ref().map_or_else(String::new, |why| format!(": {why}"));
                    let [given, worth] = [given, grade.value].map(digits);
                    let found = format!("{given}, where the output is worth {worth}{why}");
                    check.refuse_as(node, found, "the quality of the output", "leave `output_quality` out");
                }
                work.saw("quality", grade.detail());
                Some(grade.value)
            }
        }
    }

    /// Checks the form of what a grader reads, also where none does.
    fn check_form(&self, check: &mut Check<'_>) {
        if let Some(reference) = self.reference {
            check.members(reference);
        }
        let Some(output) = self.output.filter(|output| !output.is_null()) else { return };
        for member in check.members(output).filter(|member| !member.is_null()) {
            match member.key() {
                "text" => drop(check.text(member)),
                "artifacts" => {
                    for member in check.members(member).filter(|member| !member.is_null()) {
                        match member.key() {
                            "code" => drop(check.text(member)),
                            "metadata" => drop(check.members(member)),
                            _ => check.unknown("$.result.final_output.artifacts", member),
                        }
                    }
                }
                _ => check.unknown("$.result.final_output", member),
            }
        }
    }

    /// Suspects an output without any text that is worth something.
    pub fn suspect_empty(&self, quality: &Fact<'_>, check: &mut Check<'_>) {
        fn is_blank(node: Node<'_>) -> bool {
            match node.value() {
                Value::Null => true,
                Value::Text(text) => text.trim().is_empty(),
                Value::Array | Value::Object => node.children().all(is_blank),
                _ => false,
            }
        }
        let is_worth = matches!(quality, Fact::Number(quality) if *quality > 0.0);
        let empty = self.output.filter(|output| is_worth && !output.is_null() && is_blank(*output));
        if let Some(output) = empty {
            check.suspect(output, "an output without content, with a quality above 0".to_owned());
        }
    }

    /// Returns whether code is graded by patterns: as the reference says, else by `default`.
    fn is_by_patterns(&self, default: CodeEvidence) -> bool {
        let by = self.reference.and_then(|node| node.children().find(|member| member.key() == "graded_by"));
        by.filter(|by| !by.is_null())
            .map_or(default == CodeEvidence::Patterns, |by| by.value() == Value::Text("patterns"))
    }

    fn graded(
        &self,
        task_type: &str,
        output: Node<'_>,
        tests: Option<&TestResults>,
        work: &mut Work<'_>,
    ) -> Result<Grade, Problems> {
        let reference = self.reference.map_or(Json::Null, value::of_node);
        let at = self.reference.map_or_else(|| "$.reference".to_owned(), locate::path);
        let task = Task::load(task_type, &reference, work.graders.quality)
            .map_err(|problems| problems.moved("$.reference", &at))?;
        let output = value::of_node(output);
        let evidence = Evidence {
            output: Some(&output),
            tests,
            // A count is a whole number that a double holds.
            lint_violations: self.lint_violations.map(|count| count as u64),
        };
        let grade = task.grade(&evidence).map_err(|problems| {
            let problems = problems.moved("$.output", "$.result.final_output");
            problems.moved("$.tests", "$.result.tests").moved("$.lint_violations", "$.result.lint_violations")
        })?;
        work.watch.ended("grade");
        Ok(grade)
    }
}

/// Agreement of a given quality with a graded one: the grid on which readings live.
const TOLERANCE: f64 = 1e-9;

/// Returns the report of a test runner, or its numbers; what is neither is refused.
pub(super) fn test_report<'a>(node: Node<'a>, check: &mut Check<'_>) -> Option<Node<'a>> {
    if matches!(node.value(), Value::Text(_) | Value::Object) {
        return Some(node);
    }
    check.refuse(node, "a report as the runner wrote it, or an object of `passed` and `failed`", "");
    None
}

/// Reads the results of tests: a report as the runner wrote it, or `{passed, failed}`.
fn test_results(node: Node<'_>, check: &mut Check<'_>) -> Option<TestResults> {
    let path = locate::path(node);
    let results = match node.value() {
        Value::Text(report) => TestResults::from_report(report),
        Value::Object => {
            let [passed, failed] = check.strict_fields(node, "$.result.tests", ["passed", "failed"]);
            let passed = check.required(node, "passed", passed, "how many tests passed")?;
            let failed = check.required(node, "failed", failed, "how many tests failed")?;
            let (passed, failed) = (check.count(passed, 0.0)?, check.count(failed, 0.0)?);
            TestResults::from_counts(passed as u64, failed as u64)
        }
        // Refused when it was met.
        _ => return None,
    };
    let in_report = |problem: &mut Problem| {
        let line = problem.line.take();
        problem.path.clone_from(&path);
        locate::place(node.document().root(), problem);
        if let Some(line) = line {
            problem.path.push_str(&format!(" (line {line} of the report)"));
        }
    };
    results.map_err(|problems| check.problems.extend(&problems.map(in_report))).ok()
}
