//! Checks of a challenge before it is published.

use karat::engine;
use karat_evidence::Problems;
use karat_graders::arena::{Evaluator, ExecutionEnd, MatchGrade, MatchOptions, TaskGrade, grade_match};
use karat_graders::execution::{Judge, Verdict};
use karat_reader::Kind as EvidenceKind;
use karat_stats::rating::arena::Arena as Rules;

use crate::arena::{Challenge, Instance, NAME_MAX_BYTES, is_name};
use crate::prelude::*;

/// The longest time limit: a day.
const TIME_LIMIT_MAX_SECONDS: u32 = 86_400;
/// The largest number of instances of a challenge.
const INSTANCES_MAX: usize = 1000;

/// Checks that matches of a challenge can be played, and scored by `pool`, of its scorecard. Where code has to run, the files of the
/// challenge are looked at, and its reference, if it has one, is run by `judge`.
pub(super) fn check(challenge: &Challenge, pool: &ScorerPool, judge: &dyn Judge) -> Result<(), Problem> {
    let mut faults = Faults::default();
    for (field, name) in [("$.slug", &challenge.slug), ("$.category", &challenge.category)] {
        if !is_name(name) {
            faults.text(field, name, format_args!("3 to {NAME_MAX_BYTES} small letters, digits and hyphens"));
        }
    }
    if challenge.title.trim().is_empty() {
        faults.found("$.title", "an empty text", "the task in one line");
    }
    let difficulties = Rules::default().difficulties;
    let difficulties: Vec<&str> = difficulties.iter().map(|(name, _)| name.as_str()).collect();
    if !difficulties.contains(&challenge.difficulty.as_str()) {
        let expected = format!("one of {}", difficulties.join(", "));
        faults.text("$.difficulty", &challenge.difficulty, expected);
    }
    let seconds = challenge.time_limit_seconds;
    if !(1..=TIME_LIMIT_MAX_SECONDS).contains(&seconds) {
        faults.found("$.time_limit_seconds", seconds, format_args!("1 to {TIME_LIMIT_MAX_SECONDS} seconds"));
    }
    let instances = challenge.instances.len();
    if !(1..=INSTANCES_MAX).contains(&instances) {
        faults.found("$.instances", instances, format_args!("1 to {INSTANCES_MAX} of them"));
    }
    // An instance is rated once: the same one twice under two numbers would be rated twice.
    let mut seen = BTreeMap::new();
    let task = |instance: &Instance| json!([instance.input, instance.workspace_files, instance.seed]);
    let shown =
        |instance: &Instance| json!([instance.input, instance.workspace_files, instance.ground_truth]);
    let practice = challenge.practice.as_ref().map(shown);
    for (place, instance) in challenge.instances.iter().enumerate() {
        let task = task(instance);
        if practice.as_ref() == Some(&shown(instance)) {
            faults.found(
                format!("$.instances[{place}]"),
                "the instance for practice",
                "one that no one has seen",
            );
        }
        if let Some(first) = seen.insert(canonical_json(&task), place) {
            let found = format!("the same as instance {first}");
            faults.found(format!("$.instances[{place}]"), found, "another seed, input or workspace");
        }
    }
    if challenge.blind.is_some() {
        faults.found("$.blind", "a value", "none: the server sets it");
    }
    let mut loaded = None;
    let is_match = engine::kind(&pool.card).is_ok_and(|kind| kind == EvidenceKind::Match);
    match pool.card.evaluator().filter(|_| is_match && pool.card.scorer().is_ok()) {
        None => {
            let expected = "a scorecard of a challenge: of the family `arena`, with an `evaluator`";
            faults.text("$.card", &pool.name(), expected);
        }
        Some(evaluator) => {
            let wanted = evaluator.files();
            for name in challenge.files.keys().filter(|name| !wanted.contains_key(name.as_str())) {
                let named: Vec<&str> = wanted.keys().copied().collect();
                let expected = match named.is_empty() {
                    true => String::from("none: its scorecard runs nothing"),
                    false => format!("those of its scorecard: {}", named.join(", ")),
                };
                faults.text("$.files", name, expected);
            }
            if challenge.reference.is_some() && !evaluator.runs_code() {
                faults.found("$.reference", "an answer", "none: nothing is run, so that no reference can be");
            }
            match challenge.with_files(evaluator) {
                Ok(evaluator) => loaded = Some(evaluator),
                Err(problems) => {
                    for problem in problems.iter() {
                        let detail = format!("found {}, expected {}", problem.found, problem.expected);
                        faults.add("$.files", format!("{}: {detail}", problem.path));
                    }
                }
            }
            // Comparing an empty answer shows that the right one can be compared at all.
            let named = |(place, it)| (format!("$.instances[{place}]"), it);
            let instances = challenge.instances.iter().enumerate().map(named);
            let practice = challenge.practice.iter().map(|it| (String::from("$.practice"), it));
            for (own, instance) in instances.chain(practice) {
                let Some(evaluator) = &loaded else { break };
                let Err(problems) = probe(challenge, instance, evaluator, &json!({}), None) else { continue };
                for problem in problems.iter() {
                    let inner = problem.path.strip_prefix("$.").unwrap_or(&problem.path);
                    let field = match inner.starts_with("constraints") {
                        true => format!("$.{inner}"),
                        false => format!("{own}.{inner}"),
                    };
                    faults.found(field, &problem.found, &problem.expected);
                }
            }
        }
    }
    // What takes long comes last, and only where all else is right.
    if let (Some(reference), Some(evaluator), true) = (&challenge.reference, &loaded, faults.0.is_empty()) {
        faults.0.extend(unfit_reference(challenge, evaluator, reference, judge)?);
    }
    faults.check()
}

/// Runs the reference at every instance that may give another result, and returns what is wrong with it.
fn unfit_reference(
    challenge: &Challenge,
    evaluator: &Evaluator,
    reference: &Value,
    judge: &dyn Judge,
) -> Result<Vec<ProblemPart>, Problem> {
    let field = "$.reference";
    let mut wrong: Vec<String> = Vec::new();
    for (place, instance) in challenge.instances.iter().enumerate() {
        let grade = match probe(challenge, instance, evaluator, reference, Some(judge)) {
            Ok(grade) => grade,
            Err(problems) => {
                for problem in problems.iter() {
                    let detail = format!("found {}, expected {}", problem.found, problem.expected);
                    wrong.push(format!("instance {place}: {}: {detail}", problem.path));
                }
                break;
            }
        };
        if let Some(why) = grade.evaluation.no_verdict() {
            refuse!(NoVerdict at field, "there is no verdict on the reference: {why}");
        }
        let Some(execution) = &grade.evaluation.execution else { break };
        let tasks = match &execution.end {
            ExecutionEnd::Judged { tasks, .. } => tasks.as_slice(),
            ExecutionEnd::Unfit(why) => {
                wrong.push(format!("instance {place}: {why}"));
                break;
            }
            ExecutionEnd::NoVerdict(_) => break,
        };
        let mut has_script = false;
        for task in tasks {
            let TaskGrade::Tests { file, cases, .. } = task else {
                has_script = true;
                continue;
            };
            for case in cases.iter().filter(|case| case.verdict != Verdict::Pass) {
                let reason = case.reason.as_deref().unwrap_or("another result");
                let (name, file) = (case.name.escape_debug(), file.escape_debug());
                wrong.push(format!(
                    "instance {place}: found {reason} in case `{name}` of `{file}`, expected a pass"
                ));
            }
        }
        // Cases are the same at every instance; what a script sees is not.
        if !has_script || !wrong.is_empty() {
            break;
        }
    }
    Ok(wrong.into_iter().map(|detail| ProblemPart::new(field, detail)).collect())
}

/// Grades an answer to that instance.
fn probe(
    challenge: &Challenge,
    instance: &Instance,
    evaluator: &Evaluator,
    answer: &Value,
    judge: Option<&dyn Judge>,
) -> Result<MatchGrade, Problems> {
    let moment = "2000-01-01T00:00:00Z";
    let parts = json!({
        "match_id": "probe",
        "agent_id": "probe",
        "started_at": moment,
        "submitted_at": moment,
        "time_limit_secs": challenge.time_limit_seconds,
        "attempt_number": 1,
        "memoryless": false,
        "constraints": challenge.constraints,
        "ground_truth": instance.ground_truth,
        "payload": {"answer": answer},
    });
    grade_match(&parts, evaluator, &MatchOptions::default(), judge)
}
