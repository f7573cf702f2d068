//! A match as it was played: graded by the evaluator of its challenge, then read like a match that was graded elsewhere.

use crate::graders::Work;
use crate::kinds::arena_match::{self, MatchFacts};
use karat_evidence::json::check::{Check, Identity, UnknownFields};
use karat_evidence::json::document::{Node, Tape, Value};
use karat_evidence::json::locate;
use karat_evidence::json::note::Note;
use karat_evidence::json::parse::{Limits, parse};
use karat_evidence::json::problem::Problem;
use karat_evidence::json::value;
use karat_graders::arena::{Challenge, MatchGrade, grade_match};

/// The memory of a graded match, used again for every item.
#[derive(Debug, Default)]
pub(crate) struct Graded {
    text: String,
    tape: Tape,
}

/// Reads a match. With a `payload` it is given as played, and the card's evaluator grades it; any other was graded.
pub(crate) fn read<'a>(
    root: Node<'a>,
    check: &mut Check<'_>,
    work: &mut Work<'_>,
    graded: &'a mut Graded,
) -> (MatchFacts<'a>, Identity<'a>) {
    let payload = root.children().find(|member| member.key() == "payload" && !member.is_null());
    let Some(payload) = payload else {
        let read = arena_match::read(root, work.graders.challenge.as_ref(), check);
        if check.problems.is_empty() {
            arena_match::findings(root, check, &mut work.seen);
        }
        return read;
    };
    let Some(evaluator) = &work.graders.evaluator else {
        let hint = "score it under a challenge whose card has an `evaluator`";
        check.refuse_as(payload, "a match as it was played", "a match with `scores`", hint);
        return Default::default();
    };
    check.refuse_inexact(root);
    if !check.problems.is_empty() {
        return Default::default();
    }
    let judge = work.graders.judge.as_deref();
    let grade = match grade_match(&value::of_node(root), evaluator, &work.graders.matches, judge) {
        Ok(grade) => grade,
        Err(problems) => {
            check.problems.extend(&problems);
            return Default::default();
        }
    };
    work.watch.ended("grade");
    if let serde_json::Value::Object(detail) = grade.detail() {
        work.seen.extend(detail);
    }
    suspect_trajectory(payload, &grade, check);
    graded.text = value::canonical_json(&grade.evidence);
    let Graded { text, tape } = graded;
    read_graded(text, tape, &grade, work.graders.challenge.as_ref(), check)
}

fn member<'a>(node: Node<'a>, name: &str) -> Option<Node<'a>> {
    node.children().find(|member| member.key() == name)
}

/// Says why a match is not verified although it has a trajectory, and which model calls took no token.
fn suspect_trajectory(payload: Node<'_>, grade: &MatchGrade, check: &mut Check<'_>) {
    let log = |name: &str| member(member(payload, "metadata")?, name);
    let (Some(log), Some(trajectory)) = (log("replay_log"), &grade.trajectory) else { return };
    if !trajectory.valid {
        for warning in &trajectory.warnings {
            let step = warning.step.and_then(|step| log.children().nth(step));
            check.suspect(step.unwrap_or(log), format!("not verified: {}", warning.message));
        }
    }
    for step in log.children() {
        let is = |name: &str, value: Value<'_>| member(step, name).is_some_and(|node| node.value() == value);
        let is_error = is("error", Value::Flag(true));
        if is("type", Value::Text("llm_call")) && is("input_tokens", Value::Number(0.0)) && !is_error {
            check.suspect(step, "a model call without input tokens".to_owned());
        }
    }
}

/// Reads the evidence that a grade became. It is in no file, so its lines say nothing; and its fields are ours, so all
/// of them are known.
fn read_graded<'a>(
    text: &'a str,
    tape: &'a mut Tape,
    grade: &MatchGrade,
    challenge: Option<&Challenge>,
    check: &mut Check<'_>,
) -> (MatchFacts<'a>, Identity<'a>) {
    let without_place = |problem: &mut Problem| (problem.line, problem.column) = (None, None);
    // The item it comes from was within its limits.
    let limits = Limits { max_bytes: usize::MAX, max_depth: Limits::DEEPEST };
    let document = match parse(tape, text.as_bytes(), &limits) {
        Ok(document) => document,
        Err(problems) => {
            check.problems.extend(&problems.map(without_place));
            return Default::default();
        }
    };
    let (mut notes, mut unknown) = (Vec::new(), UnknownFields::default());
    let mut inner = Check::new(&mut notes, &mut unknown);
    let read = arena_match::read(document.root(), challenge, &mut inner);
    let suspicions = inner.take_suspicions();
    check.problems.extend(&inner.problems.map(without_place));
    // What the grader itself found is in the item already, or among what it saw.
    let of_form = suspicions.into_iter().filter(|note| note.path.starts_with(WARNINGS));
    check.pass_on_suspicions(of_form.map(|note| in_payload(note, grade)));
    check.pass_on(notes.into_iter().map(|note| in_payload(note, grade)));
    read
}

const WARNINGS: &str = "$.submission_warnings[";

/// Turns a note on a warning of a grade into a note on the field of the answer that the warning is about.
fn in_payload(note: Note, grade: &MatchGrade) -> Note {
    let at = note.path.strip_prefix(WARNINGS).and_then(|rest| rest.strip_suffix(']'));
    let warning = at.and_then(|at| grade.submission_warnings.get(at.parse::<usize>().ok()?));
    let Some(warning) = warning else { return note };
    let mut path = "$.payload.answer".to_owned();
    locate::push_member(&mut path, &warning.field);
    Note { path, text: format!("{}; {}", warning.message, note.text) }
}
