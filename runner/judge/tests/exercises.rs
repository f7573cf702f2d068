//! Eleven exercises: the reference answer passes, three wrong ones do not, and each in its own way.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on must fail"
)]

mod shown;

use std::collections::{BTreeMap, BTreeSet};

use karat_graders::arena::{Attempt, Evaluation, ExecutionEnd, Judging, TaskGrade};
use karat_graders::execution::Verdict;
use karat_judge::EngineKind;
use serde_json::json;
use shown::exercises::{self, JAVASCRIPT, MODULES, PYTHON, ROUTES, evaluator, wrong};
use shown::{Asked, judge, text};

fn evaluate(folder: &str, stem: &str, engine: EngineKind) -> Evaluation {
    exercises::evaluate(folder, stem, &Asked(judge(engine)))
}

/// Returns what was judged: tests by name with their verdicts and reasons, or points.
fn judged(evaluation: &Evaluation) -> BTreeMap<String, String> {
    let ExecutionEnd::Judged { tasks, .. } = &evaluation.execution.as_ref().unwrap().end else {
        panic!("{:?}", evaluation.execution);
    };
    let mut judged = BTreeMap::new();
    for task in tasks {
        match task {
            TaskGrade::Tests { cases, .. } => judged.extend(cases.iter().map(|case| {
                let reason = case.reason.as_deref().unwrap_or_default();
                (case.name.clone(), format!("{:?} {reason}", case.verdict))
            })),
            TaskGrade::Script { scores, .. } => {
                judged.extend(scores.iter().map(|(name, points)| (name.clone(), points.to_string())));
            }
        }
    }
    judged
}

fn passed(evaluation: &Evaluation) -> (usize, usize) {
    let judged = judged(evaluation);
    let good = [format!("{:?} ", Verdict::Pass), "1000".to_owned()];
    (judged.values().filter(|found| good.contains(found)).count(), judged.len())
}

fn check(folders: &[&str]) {
    for folder in folders {
        let reference = evaluate(folder, "reference", EngineKind::Cranelift);
        let (good, all) = passed(&reference);
        assert_eq!(good, all, "{folder}: {:#?}", judged(&reference));
        assert!(all >= 12 || ROUTES.contains(folder), "{folder}: {all}");
        assert!(
            reference.scores().values().all(|points| *points == 1000.0),
            "{folder}: {:?}",
            reference.scores()
        );
        let wrong = wrong(folder);
        assert_eq!(wrong.len(), 3, "{folder}: {wrong:?}");
        let mut seen = BTreeSet::from([judged(&reference)]);
        for stem in wrong {
            let evaluation = evaluate(folder, &stem, EngineKind::Cranelift);
            let (good, all) = passed(&evaluation);
            println!("{folder}, {stem}: {good} of {all}, {:?}", evaluation.scores());
            assert!(good < all, "{folder}, {stem}");
            assert!(evaluation.scores()["correctness"] < 1000.0, "{folder}, {stem}");
            assert!(seen.insert(judged(&evaluation)), "{folder}, {stem} fails as another answer does");
        }
    }
}

#[test]
fn answers_in_python() {
    check(&PYTHON);
}

#[test]
fn answers_in_javascript() {
    check(&JAVASCRIPT);
}

#[test]
fn answers_as_modules() {
    check(&MODULES);
}

#[test]
fn routes() {
    check(&ROUTES);
}

#[test]
fn all_of_them_are_here() {
    let listed: BTreeSet<&str> = PYTHON.into_iter().chain(JAVASCRIPT).chain(MODULES).chain(ROUTES).collect();
    assert_eq!(exercises::all(), listed.into_iter().map(str::to_owned).collect());
}

/// The interpreter gives the same report, fuel and all. It takes its time, so this is the reference answer and those that end
/// by a limit.
#[test]
fn interpreted_they_are_the_same() {
    for (folder, stem) in [
        ("free-slots", "reference"),
        ("roll-call", "wrong-lower"),
        ("vending", "wrong-open"),
        ("till", "reference"),
        ("newest", "reference"),
        ("newest", "wrong-text"),
        ("maze", "wrong-mud"),
    ] {
        let compiled = evaluate(folder, stem, EngineKind::Cranelift);
        assert_eq!(evaluate(folder, stem, EngineKind::Pulley), compiled, "{folder}, {stem}");
    }
}

/// A script meets whatever an agent answers, and says 0 and not that it cannot.
#[test]
fn a_script_meets_any_answer() {
    let evaluator = evaluator("maze");
    let maze: Vec<String> = text("maze/maze.txt").lines().map(str::to_owned).collect();
    let truth = json!({ "maze": maze });
    let deep = (0..200).fold(json!(1), |inner, _| json!([inner]));
    for odd in [
        json!(null),
        json!(3),
        json!("RRR"),
        json!([]),
        json!({}),
        json!({"route": null}),
        json!({"route": ["R"]}),
        json!({"route": {"a": 1}}),
        json!({"route": 1e300}),
        json!({"route": "\u{0}"}),
        json!({"route": "x".repeat(100_000)}),
        json!({"route": "RL".repeat(50_000)}),
        deep,
    ] {
        let attempt = Attempt {
            submission: &odd,
            ground_truth: &truth,
            used_seconds: 0.0,
            limit_seconds: 60.0,
            api_calls: None,
        };
        let asked = Asked(judge(EngineKind::Cranelift));
        let judging = Judging { judge: Some(&asked), seed: 7, rest: Some(&json!({})) };
        let shown: String = odd.to_string().chars().take(40).collect();
        let evaluation = evaluator
            .evaluate_by(&attempt, &judging)
            .unwrap_or_else(|problems| panic!("{shown}: {problems}"));
        assert_eq!(evaluation.scores()["correctness"], 0.0, "{shown}");
    }
}
