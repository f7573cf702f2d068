//! Matches of a challenge that runs what was submitted: what a judge is asked, and what becomes of its answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use karat_core::facts::{Digest, Outcome};
use karat_evidence::Problems;
use karat_graders::arena::Evaluator;
use karat_graders::execution::{
    CaseReport, Fault, Identity, Job, Judge, Report, Task, TaskReport, Unjudged, Verdict,
};
use karat_reader::{Graders, Kind};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Read, read, reader};

const CASES: &str = "
    function = 'add'
    all_or_nothing = ['edge']
    [[case]]
    name = 'plain'
    args = [1, 2]
    expect = 3000017
    [[case]]
    name = 'none'
    args = [0, 0]
    expect = 0
    group = 'edge'
    [[case]]
    name = 'negative'
    args = [-1, 0]
    expect = -1
    group = 'edge'
    weight = 2
";
const SCRIPT: &str =
    "def evaluate(answer, truth, match):\n    return {'methodology': 500, 'analysis': 250}\n";
const SUITE: &str = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n";
const PICKED: [&str; 5] = ["correctness", "code_quality", "methodology", "analysis", "speed"];

fn files() -> BTreeMap<&'static str, &'static str> {
    [("hidden/add.toml", CASES), ("judge.py", SCRIPT), ("suite.py", SUITE)].into()
}

fn file(path: &str) -> Result<Vec<u8>, String> {
    files().get(path).map(|text| text.as_bytes().to_vec()).ok_or_else(|| "no such file".to_owned())
}

fn digest(path: &str) -> String {
    Digest::of(files()[path].as_bytes()).to_string()
}

fn tables() -> Value {
    let script = json!({"primitive": "script", "file": "judge.py", "digest": digest("judge.py")});
    json!({
        "evaluator": {
            "correctness": [
                {"primitive": "tests", "cases": "hidden/add.toml", "digest": digest("hidden/add.toml"), "weight": 3},
                {"primitive": "exact_match", "field": "notes"},
            ],
            "code_quality": [{"primitive": "tests", "suite": "suite.py", "digest": digest("suite.py")}],
            "methodology": [script],
            "analysis": [script],
            "speed": [{"primitive": "time_decay", "needs_score": true}],
        },
        "submission": {
            "runtime": "python",
            "files": {"solution.py": "/code", "lib/util.py": "/more/util"},
            "schema": {"type": "object", "properties": {"route": {"type": "array", "maxItems": 3}}},
        },
        "limits": {"fuel": 5_000_000, "output_kib": 1},
    })
}

fn load(tables: &Value) -> Result<Evaluator, Problems> {
    Evaluator::from_json(tables, &PICKED)?.with_files(&file)
}

fn item() -> Value {
    json!({
        "match_id": "m-1", "agent_id": "crab", "seed": 11,
        "started_at": "2026-03-01T12:00:00Z", "submitted_at": "2026-03-01T12:00:30Z", "time_limit_secs": 60,
        "attempt_number": 1, "memoryless": false, "match_nonce": "abc",
        "ground_truth": {"notes": "secret-truth", "best": 7},
        "payload": {"answer": {"code": "def add(a, b): return a + b", "more": {"util": ""}, "notes": "secret-truth"}},
    })
}

/// A judge with the answer of a test.
struct Told<F>(F, Mutex<Vec<Job>>);

impl<F> std::fmt::Debug for Told<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Told")
    }
}

impl<F: Fn(&Job) -> Result<Report, Unjudged> + Send + Sync> Judge for Told<F> {
    fn judge(&self, job: &Job) -> Result<Report, Unjudged> {
        self.1.lock().unwrap().push(job.clone());
        (self.0)(job)
    }
}

fn told<F: Fn(&Job) -> Result<Report, Unjudged> + Send + Sync>(answer: F) -> Arc<Told<F>> {
    Arc::new(Told(answer, Mutex::default()))
}

fn identity() -> Identity {
    Identity {
        engine: "engine 1".into(),
        runtime: "python".into(),
        runtime_digest: Digest::of(b"runtime").to_string(),
        version: "0.1.0".into(),
    }
}

fn case(name: &str, value: f64) -> CaseReport {
    let verdict = match value {
        1.0 => Verdict::Pass,
        0.0 => Verdict::Fail,
        _ => Verdict::Partial,
    };
    let reason = (verdict == Verdict::Fail).then(|| "exception: ValueError".to_owned());
    CaseReport { name: name.into(), value, verdict, reason, fuel: 123, near_limit: false }
}

/// A report in which each case has the value of its name.
fn report(job: &Job, value: impl Fn(&str) -> f64) -> Report {
    let result = |task: &Task| match task {
        Task::Cases { cases, .. } => {
            TaskReport::Cases { cases: cases.iter().map(|it| case(&it.name, value(&it.name))).collect() }
        }
        Task::Suite { .. } => {
            TaskReport::Suite { cases: ["T.test_a", "T.test_b"].map(|it| case(it, value(it))).into() }
        }
        Task::Script { dimensions, .. } => TaskReport::Script {
            scores: dimensions.iter().map(|it| (it.clone(), 1000.0 * value(it))).collect(),
            fuel: 99,
        },
        Task::Run { .. } => run(),
    };
    Report { judge: identity(), results: job.tasks.iter().map(result).collect() }
}

/// The result of a task that no challenge has.
fn run() -> TaskReport {
    TaskReport::Run { output: Some(json!(1000)), reason: None, fuel: 1, near_limit: false }
}

fn play_at(evaluator: Evaluator, item: &Value, judge: Option<Arc<dyn Judge>>) -> Result<Read, String> {
    let graders = Graders { evaluator: Some(evaluator), judge, ..Graders::default() };
    read(&mut reader(Kind::Match, graders), &item.to_string())
}

fn play(item: &Value, judge: Option<Arc<dyn Judge>>) -> Result<Read, String> {
    play_at(load(&tables()).unwrap(), item, judge)
}

fn values(name: &str) -> f64 {
    match name {
        "negative" | "T.test_b" => 0.0,
        "analysis" => 0.25,
        "methodology" => 0.5,
        _ => 1.0,
    }
}

#[test]
fn a_judge_is_asked_once_about_everything() {
    let judge = told(|job: &Job| Ok(report(job, values)));
    let seen = play(&item(), Some(judge.clone())).unwrap();
    let jobs = judge.1.lock().unwrap();
    let [job] = jobs.as_slice() else { panic!("{} jobs", jobs.len()) };
    assert_eq!(
        (job.seed, job.limits.fuel, job.limits.memory_mib, job.limits.output_kib),
        (11, 5_000_000, 256, 1)
    );
    assert_eq!(job.files["solution.py"], "def add(a, b): return a + b");
    assert_eq!(job.files["lib/util.py"], "");
    assert_eq!(
        job.tasks.iter().map(Task::file).collect::<Vec<_>>(),
        ["hidden/add.toml", "suite.py", "judge.py"]
    );
    let Task::Script { dimensions, truth, answer, r#match, .. } = &job.tasks[2] else { panic!("{job:?}") };
    assert_eq!(dimensions.as_slice(), ["analysis", "methodology"]);
    assert_eq!((&truth["best"], &answer["notes"]), (&json!(7), &json!("secret-truth")));
    assert_eq!(r#match["match_id"], "m-1");
    assert!(
        ["payload", "ground_truth", "match_nonce"].iter().all(|name| r#match.get(*name).is_none()),
        "{match}"
    );

    // A quarter of the cases (the group is broken) with weight 3, the notes with weight 1.
    for (name, score) in [
        ("correctness_score", json!(437.5)),
        ("code_quality_score", json!(500.0)),
        ("methodology_score", json!(500.0)),
        ("analysis_score", json!(250.0)),
        ("time_used_seconds", json!(30.0)),
        ("time_limit_seconds", json!(60.0)),
    ] {
        assert_eq!(seen.facts[name], score, "{name}");
    }
    let execution = &seen.grading["execution"];
    assert_eq!(execution["judge"], serde_json::to_value(identity()).unwrap());
    assert_eq!(execution["files"]["hidden/add.toml"], digest("hidden/add.toml"));
    assert_eq!((&execution["seed"], &execution["limits"]["fuel"]), (&json!(11), &json!(5_000_000)));
    assert_eq!(execution["tasks"][0]["value"], 0.25);
    assert_eq!(
        execution["tasks"][0]["cases"][2],
        json!({"name": "negative", "value": 0, "verdict": "fail",
        "reason": "exception: ValueError", "fuel": 123})
    );
    assert_eq!(execution["tasks"][2]["scores"], json!({"analysis": 250, "methodology": 500}));
    let part = &seen.grading["evaluation"]["dimensions"][2]["parts"][0];
    assert_eq!(
        (&part["file"], &part["outcome"]),
        (&json!("hidden/add.toml"), &json!({"tested": {"passed": 2, "tests": 3}}))
    );
    // What was expected is nowhere in what becomes public.
    let public = seen.grading.to_string();
    assert!(!public.contains("3000017") && !public.contains("expect"), "{public}");
}

#[test]
fn evidence_keeps_the_account_and_reads_the_same() {
    for judge in [None, Some(told(|job: &Job| Ok(report(job, values))))] {
        let judge = judge.map(|judge| judge as Arc<dyn Judge>);
        let evaluator = load(&tables()).unwrap();
        let grade =
            karat_graders::arena::grade_match(&item(), &evaluator, &Default::default(), judge.as_deref());
        let evidence = grade.unwrap().evidence;
        let mut stored = reader(Kind::Match, Graders::default());
        let kept = read(&mut stored, &evidence.to_string()).unwrap();
        let played = play(&item(), judge.clone()).unwrap();
        assert_eq!(kept.facts, played.facts);
        assert_eq!(kept.grading["execution"], played.grading["execution"]);
        assert_eq!(kept.notes, played.notes);
        assert_eq!(outcome(&evidence.to_string()), judge.is_none().then_some(Outcome::NoVerdict));
    }
}

fn outcome(item: &str) -> Option<Outcome> {
    reader(Kind::Match, Graders::default()).read(item.as_bytes()).unwrap().item().context.outcome
}

type Answer = fn(&Job) -> Result<Report, Unjudged>;

#[test]
fn a_judge_that_fails_gives_no_verdict_and_never_a_score() {
    let hostile: [(&str, Answer); 9] = [
        ("was killed", |_| Err(Unjudged::NoVerdict("the judge was killed\nby signal 9".into()))),
        ("0 results", |_| Ok(Report { judge: identity(), results: Vec::new() })),
        ("value NaN", |job| Ok(report(job, |_| f64::NAN))),
        ("value 2 ", |job| Ok(report(job, |_| 2.0))),
        ("value inf", |job| Ok(report(job, |_| f64::INFINITY))),
        ("the case `x`", |job| {
            let mut report = report(job, values);
            if let TaskReport::Cases { cases } = &mut report.results[0] {
                cases[0].name = "x".into();
            }
            Ok(report)
        }),
        ("another kind", |job| {
            let mut report = report(job, values);
            report.results.reverse();
            Ok(report)
        }),
        ("scores of `methodology`", |job| {
            let mut report = report(job, values);
            if let TaskReport::Script { scores, .. } = &mut report.results[2] {
                scores.remove("analysis");
            }
            Ok(report)
        }),
        ("the runtime `ruby`", |job| {
            Ok(Report { judge: Identity { runtime: "ruby".into(), ..identity() }, ..report(job, values) })
        }),
    ];
    for (why, answer) in hostile {
        let seen = play(&item(), Some(told(answer))).unwrap();
        for name in ["correctness", "code_quality", "methodology", "analysis", "speed"] {
            assert_eq!(seen.facts[&format!("{name}_score")], Value::Null, "{why}: {name}");
        }
        // The notes scored, so that the time counts.
        assert_eq!(seen.facts["time_limit_seconds"], json!(60.0), "{why}");
        let mut wrong = item();
        wrong["payload"]["answer"]["notes"] = json!("wrong");
        // Now it is not known whether anything did.
        let seen_wrong = play(&wrong, Some(told(answer))).unwrap();
        for name in ["time_limit_seconds", "speed_score"] {
            assert_eq!(seen_wrong.facts[name], Value::Null, "{why}: {name}");
        }
        let reason = seen.grading["execution"]["no_verdict"].as_str().unwrap();
        assert!(reason.contains(why), "{why}: {reason}");
        assert!(!reason.contains('\n'), "{reason}");
        assert_eq!(seen.notes.len(), 1, "{:?}", seen.notes);
    }
    let nobody = play(&item(), None).unwrap();
    assert!(nobody.grading["execution"]["no_verdict"].as_str().unwrap().contains("karat-judge"));
}

#[test]
fn an_answer_without_code_is_0_and_no_judge_is_asked() {
    let judge = told(|_: &Job| panic!("nobody has to run this"));
    let long = "x".repeat((256 << 10) + 1);
    for (pointer, value, why) in [
        ("/code", Value::Null, "found null"),
        ("/code", json!(["def"]), "an array of 1"),
        ("/code", json!(long), "262145 bytes"),
        ("/more", json!({}), "found nothing"),
        ("/more", json!("text"), "found nothing"),
        ("/route", json!([1, 2, 3, 4]), "another shape"),
        // What no schema forbids, and a script would have to read.
        (
            "/padding",
            json!(vec![Vec::<u8>::new(); 500]),
            "to read, expected at most half of its limit, 2500000",
        ),
        ("/padding", json!("x".repeat(25_000)), "to read"),
        ("/padding", json!("x".repeat(2 << 20)), "at most 1048576"),
    ] {
        let mut item = item();
        let answer = item.pointer_mut("/payload/answer").unwrap();
        answer[pointer.trim_start_matches('/')] = value;
        for judge in [None, Some(judge.clone() as Arc<dyn Judge>)] {
            let seen = play(&item, judge).unwrap();
            // The notes are right, which is a quarter.
            assert_eq!(seen.facts["correctness_score"], json!(250.0), "{why}");
            assert_eq!(seen.facts["methodology_score"], json!(0.0), "{why}");
            let reason = seen.grading["execution"]["unfit"].as_str().unwrap();
            assert!(reason.contains(why), "{why}: {reason}");
        }
    }
    // Where nothing scored, speed is worth nothing either.
    let mut item = item();
    item["payload"]["answer"] = json!({});
    let seen = play(&item, None).unwrap();
    assert_eq!(seen.facts["speed_score"], json!(0.0));
    assert_eq!(seen.facts["correctness_score"], json!(0.0));
}

#[test]
fn a_fault_of_the_challenge_refuses_every_answer_to_it() {
    let fault = Fault {
        file: "judge.py".into(),
        place: "evaluate, line 2".into(),
        found: "ZeroDivisionError\u{1b}[2J".into(),
        expected: "points for `analysis`".into(),
    };
    for faults in [vec![fault], vec![]] {
        let judge = told(move |_: &Job| Err(Unjudged::Challenge(faults.clone())));
        let graders =
            Graders { evaluator: Some(load(&tables()).unwrap()), judge: Some(judge), ..Graders::default() };
        let mut reader = reader(Kind::Match, graders);
        let problems = reader.read(item().to_string().as_bytes()).unwrap_err();
        assert!(problems.iter().all(karat_evidence::Problem::is_of_challenge), "{problems}");
        assert!(problems.iter().all(|problem| problem.line.is_none()), "{problems}");
        assert!(!problems.to_string().contains('\u{1b}'));
    }
    // Nor is an answer graded without the files.
    let unloaded = Evaluator::from_json(&tables(), &PICKED).unwrap();
    let refused = play_at(unloaded, &item(), None).unwrap_err();
    assert!(refused.starts_with("challenge.evaluator"), "{refused}");
}

#[test]
fn files_that_are_missing_or_changed_are_refused_with_their_digests() {
    let evaluator = Evaluator::from_json(&tables(), &PICKED).unwrap();
    assert!(evaluator.runs_code());
    let names: Vec<&str> = evaluator.files().into_keys().collect();
    assert_eq!(names, ["hidden/add.toml", "judge.py", "suite.py"]);
    let problems = evaluator.with_files(&|path| match path {
        "hidden/add.toml" => Ok(b"x = 1".to_vec()),
        "judge.py" => Err("not here".into()),
        _ => Ok(vec![0xff]),
    });
    let told = problems.unwrap_err().to_string();
    for part in [
        "$.evaluator.correctness[0].digest",
        &digest("hidden/add.toml"),
        &Digest::of(b"x = 1").to_string(),
        "$.evaluator.correctness[0].cases: found `x` at `$.x` of `hidden/add.toml`, line 1, column 5",
        "`judge.py`, which cannot be read: not here",
        &digest("judge.py"),
        "$.evaluator.code_quality[0].suite: found `suite.py`, which is not UTF-8",
    ] {
        assert!(told.contains(part), "{part} is not in\n{told}");
    }
}

#[test]
fn what_is_wrong_with_the_tables_is_told() {
    let tests = |part: Value| json!({"evaluator": {"correctness": [part]}, "submission": {"runtime": "python", "files": {"a.py": "/a"}}});
    let of = |changes: &[(&str, Value)]| {
        let mut tables = tables();
        for (pointer, value) in changes {
            let (parent, name) = pointer.rsplit_once('/').unwrap();
            match value {
                Value::Null => {
                    drop(tables.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(name))
                }
                value => tables.pointer_mut(parent).unwrap()[name] = value.clone(),
            }
        }
        tables
    };
    let digest = "sha256:".to_owned() + &"0".repeat(64);
    for (tables, paths) in [
        (of(&[("/submission", Value::Null)]), &["$.submission"][..]),
        (of(&[("/submission/runtime", json!("pyton"))]), &["$.submission.runtime"]),
        (of(&[("/submission/runtime", json!("wasm"))]), &["$.submission.runtime", "$.submission.files"]),
        (of(&[("/submission/runtime", json!("javascript"))]), &["$.submission.files"]),
        (of(&[("/submission/files", json!({}))]), &["$.submission.files", "$.submission.files"]),
        (
            of(&[("/submission/files", json!({"../a.py": "/a", "b.py": 3, "c.py": "/~"}))]),
            &["$.submission.files[\"../a.py\"]", "$.submission.files[\"b.py\"]"],
        ),
        (of(&[("/submission/schema", json!({"type": 3}))]), &["$.submission.schema"]),
        (of(&[("/submission/schema", Value::Null)]), &["$.submission.schema"]),
        (of(&[("/submission/digest", json!("sha256:1"))]), &["$.submission.digest"]),
        (of(&[("/submission/memory", json!(1))]), &["$.submission.memory"]),
        (of(&[("/limits/fuel", json!(999_999))]), &["$.limits.fuel"]),
        (of(&[("/limits/fuel", json!(20_000_000_001_u64))]), &["$.limits.fuel"]),
        (
            of(&[
                ("/limits/memory_mib", json!(15)),
                ("/limits/output_kib", json!(1.5)),
                ("/limits/x", json!(1)),
            ]),
            &["$.limits.x", "$.limits.memory_mib", "$.limits.output_kib"],
        ),
        (of(&[("/evaluator/analysis/0/digest", json!(digest))]), &["$.evaluator.methodology[0].digest"]),
        (of(&[("/evaluator/code_quality/0/digest", Value::Null)]), &["$.evaluator.code_quality[0].digest"]),
        (tests(json!({"primitive": "tests"})), &["$.evaluator.correctness[0].cases"]),
        (
            tests(json!({"primitive": "tests", "cases": "/etc/passwd", "digest": digest})),
            &["$.evaluator.correctness[0].cases"],
        ),
        (
            tests(json!({"primitive": "tests", "cases": "a", "suite": "b", "digest": "x", "field": "f"})),
            &[
                "$.evaluator.correctness[0].field", "$.evaluator.correctness[0].suite",
                "$.evaluator.correctness[0].digest",
            ],
        ),
        (
            json!({"evaluator": {"correctness": [{"primitive": "exact_match", "field": "f"}]}, "limits": {}, "submission": {}}),
            &["$.submission", "$.limits"],
        ),
    ] {
        let problems = Evaluator::from_json(&tables, &PICKED).unwrap_err();
        let told: Vec<&str> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(told, paths, "{tables}\n{problems}");
    }
    // Ten minutes of fuel are enough for one challenge.
    let greedy = of(&[("/limits/fuel", json!(20_000_000_000_u64))]);
    assert!(load(&greedy).is_ok());
    let many: String =
        (0..101).map(|at| format!("[[case]]\nname = '{at}'\nstdin = ''\nexpect_stdout = ''\n")).collect();
    let mut greedy = greedy;
    greedy["evaluator"] = json!({"correctness": [
        {"primitive": "tests", "cases": "many.toml", "digest": Digest::of(many.as_bytes()).to_string()}]});
    let loaded =
        Evaluator::from_json(&greedy, &PICKED).unwrap().with_files(&|_| Ok(many.clone().into_bytes()));
    assert!(loaded.unwrap_err().to_string().starts_with("$.limits.fuel"));
}

#[test]
fn a_challenge_of_scripts_alone_takes_no_files() {
    let tables = json!({
        "evaluator": {"methodology": [{"primitive": "script", "file": "judge.py", "digest": digest("judge.py")}]},
        "submission": {"schema": {"required": ["route"]}},
    });
    let judge = told(|job: &Job| Ok(report(job, values)));
    let seen = play_at(load(&tables).unwrap(), &item(), Some(judge.clone())).unwrap();
    assert_eq!(
        seen.grading["execution"]["unfit"],
        "the answer has another shape: the whole does not satisfy `/required` of the schema"
    );
    let mut item = item();
    item["payload"]["answer"]["route"] = json!([1]);
    let seen = play_at(load(&tables).unwrap(), &item, Some(judge.clone())).unwrap();
    assert_eq!(seen.facts["methodology_score"], json!(500.0));
    assert_eq!(seen.grading["execution"].get("submission"), None);
}

#[test]
fn suites_and_scripts_are_in_the_language_of_the_submission() {
    let suite = "import { test } from 'node:test';\ntest('a', () => {});\n";
    let script = "export const evaluate = (answer) => ({ methodology: answer.x, analysis: 0 });\n";
    let mut tables = tables();
    tables["submission"]["runtime"] = json!("javascript");
    tables["submission"]["files"] = json!({"solution.mjs": "/code", "data.json": "/data"});
    for (pointer, text) in [
        ("/evaluator/code_quality/0", suite),
        ("/evaluator/methodology/0", script),
        ("/evaluator/analysis/0", script),
    ] {
        tables.pointer_mut(pointer).unwrap()["digest"] = json!(Digest::of(text.as_bytes()).to_string());
    }
    let load = |suite: &str, script: &str| {
        Evaluator::from_json(&tables, &PICKED).unwrap().with_files(&|path| match path {
            "suite.py" => Ok(suite.as_bytes().to_vec()),
            "judge.py" => Ok(script.as_bytes().to_vec()),
            other => file(other),
        })
    };
    assert_eq!(load(suite, script).unwrap().submission().unwrap().0, "javascript");
    let told = load(SUITE, "export const other = 1;").unwrap_err().to_string();
    for part in ["calls of `test` or `it`", "`function evaluate(answer, truth, match)`"] {
        assert!(told.contains(part), "{part} is not in\n{told}");
    }
}

#[test]
fn files_lie_in_an_answer_where_the_challenge_wants_them() {
    let evaluator = load(&tables()).unwrap();
    let files = [("solution.py", "a"), ("lib/util.py", "b"), ("other.py", "c")];
    let files = files.map(|(path, text)| (path.to_owned(), text.to_owned()));
    assert_eq!(evaluator.answer_of(&files.into()), json!({"code": "a", "more": {"util": "b"}}));
    assert_eq!(evaluator.submission(), Some(("python", vec!["lib/util.py", "solution.py"])));
    assert_eq!(evaluator.cases("hidden/add.toml").unwrap().cases().len(), 3);
}

/// Any report that can be said, of the right shape or not.
fn reports() -> impl Strategy<Value = Report> {
    let value = || prop_oneof![Just(0.0), Just(1.0), Just(0.5), any::<f64>()];
    let verdict = || prop::sample::select(vec![Verdict::Pass, Verdict::Partial, Verdict::Fail]);
    let name = || prop::sample::select(vec!["plain", "none", "negative", "T.test_a", "", "\u{7}"]);
    let case = (name(), value(), verdict(), any::<Option<String>>(), any::<u32>(), any::<bool>()).prop_map(
        |(name, value, verdict, reason, fuel, near_limit)| CaseReport {
            name: name.into(),
            value,
            verdict,
            reason,
            fuel: fuel.into(),
            near_limit,
        },
    );
    let cases = prop_oneof![
        (value(), value(), value()).prop_map(|(a, b, c)| vec![
            case_of("plain", a),
            case_of("none", b),
            case_of("negative", c)
        ]),
        prop::collection::vec(case, 0..4),
    ];
    let key = prop::sample::select(vec!["analysis", "methodology", "speed"]);
    let scores = prop_oneof![
        (value(), value()).prop_map(|(a, b)| vec![("analysis", a), ("methodology", b * 1000.0)]),
        prop::collection::vec((key, value()), 0..3),
    ];
    let script = scores.prop_map(|scores| TaskReport::Script {
        scores: scores.into_iter().map(|(key, value)| (key.to_owned(), value)).collect(),
        fuel: 1,
    });
    let suite = cases.clone().prop_map(|cases| TaskReport::Suite { cases });
    let cases = cases.prop_map(|cases| TaskReport::Cases { cases });
    let any_result = prop_oneof![cases.clone(), suite.clone(), script.clone(), Just(run())];
    let results = prop_oneof![
        4 => (cases, suite, script).prop_map(|(a, b, c)| vec![a, b, c]),
        1 => prop::collection::vec(any_result, 0..5),
    ];
    results.prop_map(|results| Report { judge: identity(), results })
}

fn case_of(name: &str, value: f64) -> CaseReport {
    case(name, value)
}

proptest! {
    #[test]
    fn no_report_gives_more_than_there_is(report in reports()) {
        let seen = play(&item(), Some(told(move |_: &Job| Ok(report.clone())))).unwrap();
        let scores = ["correctness", "code_quality", "methodology", "analysis"].map(|name| &seen.facts[&format!("{name}_score")]);
        let no_verdict = seen.grading["execution"].get("no_verdict").is_some();
        for score in scores {
            match score.as_f64() {
                Some(score) => prop_assert!((0.0..=1000.0).contains(&score) && !no_verdict),
                None => prop_assert!(no_verdict, "{}", seen.grading),
            }
        }
    }

    #[test]
    fn the_order_of_the_parts_changes_nothing(turn in 0_usize..6, values in prop::collection::vec(prop::sample::select(vec![0.0, 0.5, 1.0]), 7)) {
        let names = ["plain", "none", "negative", "T.test_a", "T.test_b", "analysis", "methodology"];
        let value = move |name: &str| names.iter().position(|it| *it == name).map_or(1.0, |at| values[at]);
        let mut parts = vec![
            json!({"primitive": "tests", "cases": "hidden/add.toml", "digest": digest("hidden/add.toml")}),
            json!({"primitive": "tests", "suite": "suite.py", "digest": digest("suite.py")}),
            json!({"primitive": "exact_match", "field": "notes"}),
        ];
        let mut tables = tables();
        tables["evaluator"]["correctness"] = json!(parts);
        let judge = told(move |job: &Job| Ok(report(job, &value)));
        let first = play_at(load(&tables).unwrap(), &item(), Some(judge.clone())).unwrap();
        parts.rotate_left(turn % 3);
        parts.swap(0, turn / 3);
        tables["evaluator"]["correctness"] = json!(parts);
        let other = play_at(load(&tables).unwrap(), &item(), Some(judge.clone())).unwrap();
        prop_assert_eq!(&first.grading["execution"], &other.grading["execution"]);
        prop_assert_eq!(first.facts, other.facts);
        let jobs = judge.1.lock().unwrap();
        prop_assert_eq!(&jobs[0], &jobs[1]);
    }
}
