//! Steps that run code in the sandbox of a judge, with a judge that this file plays: what it is asked, and what becomes of its
//! answers. A judge that is missing stops the run, and fails no step.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test may stop it")]

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use karat_graders::execution::{self, Identity, Judge, Limits, Report, Task, TaskReport, Unjudged};
use karat_run::{Ended, Event, Fault, Job, Outcome, Recording};
use karat_runner::{Executors, Stop, Surroundings};
use serde_json::{Value, json};

/// A judge that gives the answers that it was made with.
#[derive(Debug, Default)]
struct Played {
    answers: Mutex<VecDeque<Result<TaskReport, Unjudged>>>,
    asked: Mutex<Vec<execution::Job>>,
    delay: Duration,
}

impl Judge for Played {
    fn judge(&self, job: &execution::Job) -> Result<Report, Unjudged> {
        // The first is the preparation, which is at once.
        let is_first = self.asked.lock().unwrap().is_empty();
        self.asked.lock().unwrap().push(job.clone());
        if !is_first {
            thread::sleep(self.delay);
        }
        let answer = self.answers.lock().unwrap().pop_front();
        let result =
            answer.unwrap_or_else(|| Err(Unjudged::NoVerdict("nothing more was told".to_owned())))?;
        let judge = Identity {
            engine: "played".to_owned(),
            runtime: job.runtime.clone(),
            runtime_digest: "sha256:00".to_owned(),
            version: "1".to_owned(),
        };
        Ok(Report { judge, results: vec![result] })
    }
}

fn gave(output: Value) -> Result<TaskReport, Unjudged> {
    Ok(TaskReport::Run { output: Some(output), reason: None, fuel: 7, near_limit: false })
}

fn failed(reason: &str) -> Result<TaskReport, Unjudged> {
    Ok(TaskReport::Run { output: None, reason: Some(reason.to_owned()), fuel: 7, near_limit: false })
}

fn judge(answers: Vec<Result<TaskReport, Unjudged>>) -> Arc<Played> {
    // The preparation before each run.
    let answers = std::iter::once(gave(json!({}))).chain(answers).collect();
    Arc::new(Played { answers: Mutex::new(answers), ..Played::default() })
}

fn executors(judge: &Arc<Played>, more: &str) -> Result<Executors, Vec<Fault>> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("step.py"), "def run(request):\n    return {}\n").unwrap();
    fs::write(folder.path().join("step.wasm"), b"\0asm\x01\0\0\0").unwrap();
    let file =
        format!("[run]\nbackoff_seconds = 0\n[executor.sn1]\nkind = \"judge\"\ncost = 0.001\n{more}\n");
    let judge = || -> Arc<dyn Judge> { Arc::<Played>::clone(judge) };
    Executors::parse(&file, &Surroundings { folder: folder.path(), variable: &|_| None, judge: &judge })
}

fn job(params: &Value, handling: &Value) -> Job {
    let plan = json!({
        "nodes": [{"id": "a", "subnet": "sn1", "action": "do", "params": params}], "error_handling": {"a": handling},
    });
    let task = json!({"task_type": "agent", "reference": {"goal_checklist": [{"text": "done"}]}});
    Job::new(plan.to_string().as_bytes(), task.to_string().as_bytes(), Some("m"), None).unwrap().0
}

fn run(judge: &Arc<Played>, more: &str, job: &Job) -> Result<Ended, Vec<Fault>> {
    let executors = executors(judge, more).unwrap_or_else(|faults| panic!("{faults:?}"));
    let ended = karat_runner::live(job, &executors, &Stop::default(), &|_| {})?;
    let recording = Recording::parse(&ended.recording.text()).unwrap();
    assert_eq!(job.replay(&recording).unwrap().evidence, ended.run.evidence);
    Ok(ended)
}

const PYTHON: &str = "runtime = \"python\"\nsource = \"step.py\"";

/// Returns outcome, output and reason of each attempt.
fn attempts(ended: &Ended) -> Vec<(Outcome, Option<Value>, Option<String>)> {
    let one = |event: &Event| match event {
        Event::Attempt(attempt) => (attempt.outcome, attempt.output.clone(), attempt.reason.clone()),
        other => panic!("{other:?}"),
    };
    ended.run.events.iter().map(one).collect()
}

#[test]
fn the_request_is_the_argument_and_the_result_is_the_output() {
    let played = judge(vec![gave(json!({"text": "done", "artifacts": {"metadata": {"n": 1.0}}}))]);
    let job = job(&json!({"q": "ü"}), &json!({}));
    let ended =
        run(&played, &format!("{PYTHON}\nfuel = 3_000_000\nmemory_mib = 17\noutput_kib = 3"), &job).unwrap();
    let output = json!({"text": "done", "artifacts": {"metadata": {"n": 1}}});
    assert_eq!(attempts(&ended), [(Outcome::Success, Some(output), None)]);
    assert_eq!(ended.recording.attempts()[0].cost_nano_tao, 1_000_000);
    let asked = played.asked.lock().unwrap();
    assert_eq!(asked.len(), 2, "the preparation, and the attempt");
    let job = &asked[1];
    assert_eq!(job.limits, Limits { fuel: 3_000_000, memory_mib: 17, output_kib: 3 });
    assert_eq!(job.files["solution.py"], "def run(request):\n    return {}\n");
    let [Task::Run { run: execution::Run::Call { function, args } }] = &job.tasks[..] else {
        panic!("{:?}", job.tasks)
    };
    let request = json!({"step": "a", "attempt": 1, "subnet": "sn1", "action": "do", "params": {"q": "ü"}});
    assert_eq!((function.as_str(), &args[..]), ("run", &[request][..]));
}

#[test]
fn each_attempt_has_its_own_seed_which_is_the_same_everywhere() {
    let seeds = || {
        let played = judge(vec![failed("exception: E"), gave(json!({}))]);
        let ended = run(&played, PYTHON, &job(&json!({}), &json!({"retry_count": 1}))).unwrap();
        let expected = [
            (Outcome::Failed, None, Some("exception: E".to_owned())),
            (Outcome::Success, Some(json!({})), None),
        ];
        assert_eq!(attempts(&ended), expected);
        let asked = played.asked.lock().unwrap();
        [asked[1].seed, asked[2].seed]
    };
    let [first, second] = seeds();
    assert!(first != second && seeds() == [first, second]);
}

#[test]
fn what_code_does_is_a_failed_attempt_at_worst() {
    let deep = (0..40).fold(json!(1), |inside, _| json!([inside]));
    for (answer, outcome, reason) in [
        (gave(json!("done")), Outcome::Success, None),
        (gave(json!({"text": "done"})), Outcome::Success, None),
        (failed("limit:fuel"), Outcome::Failed, Some("limit:fuel")),
        (
            gave(Value::Null),
            Outcome::Failed,
            Some("its result is neither an output such as {\"text\": …} nor a text"),
        ),
        (
            gave(json!([])),
            Outcome::Failed,
            Some("its result is neither an output such as {\"text\": …} nor a text"),
        ),
        (gave(json!({"text": 1})), Outcome::Failed, Some("`text` of its output is not a text")),
        (gave(json!({"a": deep})), Outcome::Failed, Some("its output is nested deeper than 32")),
    ] {
        let ended = run(&judge(vec![answer.clone()]), PYTHON, &job(&json!({}), &json!({}))).unwrap();
        let found = &attempts(&ended)[0];
        assert_eq!((found.0, found.2.as_deref()), (outcome, reason), "{answer:?}");
        assert!(ended.fault.is_none());
        // An answer says nothing of the cost.
        assert_eq!(ended.recording.attempts()[0].cost_nano_tao, 1_000_000);
    }
}

#[test]
fn code_may_be_in_the_parameters_and_may_be_a_program() {
    let from = "runtime = \"python\"\nsource_from = \"/code/main\"\nfunction = \"\"";
    let played = judge(vec![gave(json!("{\"text\": \"done\"}\n"))]);
    let ended = run(&played, from, &job(&json!({"code": {"main": "print(1)"}}), &json!({}))).unwrap();
    assert_eq!(attempts(&ended)[0].1, Some(json!({"text": "done"})));
    {
        let asked = played.asked.lock().unwrap();
        assert_eq!(asked[1].files["solution.py"], "print(1)");
        let [Task::Run { run: execution::Run::Program { stdin } }] = &asked[1].tasks[..] else {
            panic!("{:?}", asked[1].tasks)
        };
        assert!(stdin.contains("\"step\":\"a\""));
    }
    // Without the code, nothing is asked but the preparation.
    let played = judge(vec![]);
    let ended = run(&played, from, &job(&json!({"code": 7}), &json!({}))).unwrap();
    let reason = attempts(&ended)[0].2.clone().unwrap();
    assert_eq!(reason, "its parameters have no code as a text at `/code/main`");
    assert_eq!(played.asked.lock().unwrap().len(), 1);
    // A module of the validator, which does not write JSON.
    let module = "runtime = \"wasm\"\nsource = \"step.wasm\"";
    let played = judge(vec![gave(json!("done\n"))]);
    let ended = run(&played, module, &job(&json!({}), &json!({}))).unwrap();
    assert_eq!(attempts(&ended)[0].1, Some(json!({"text": "done\n"})));
    assert_eq!(played.asked.lock().unwrap()[1].files["solution.wasm"], "AGFzbQEAAAA=");
}

#[test]
fn a_judge_that_is_missing_stops_the_run_and_fails_no_step() {
    let gone = || Err(Unjudged::NoVerdict("there is no karat-judge".to_owned()));
    // Before anything is paid for.
    let played = Arc::new(Played { answers: Mutex::new([gone()].into()), ..Played::default() });
    let faults = run(&played, PYTHON, &job(&json!({}), &json!({}))).unwrap_err();
    assert_eq!(faults[0].to_string(), "the executor `sn1`: the judge cannot work: there is no karat-judge");
    // In the middle.
    let ended = run(&judge(vec![gone()]), PYTHON, &job(&json!({}), &json!({"retry_count": 2}))).unwrap();
    assert_eq!(ended.fault.as_deref(), Some("the judge cannot work: there is no karat-judge"));
    assert!(ended.run.is_stopped && ended.recording.attempts().is_empty());
    // The program that is looked for is not there at all.
    let none = || -> Arc<dyn Judge> {
        let missing = Path::new("/nowhere/karat-judge");
        Arc::new(karat_process::Judges::found(Some(missing), karat_process::Options::default()))
    };
    let file = "[executor.sn1]\nkind = \"judge\"\ncost = 0\nruntime = \"python\"\nsource_from = \"/code\"\n";
    let around = Surroundings { folder: Path::new("."), variable: &|_| None, judge: &none };
    let executors = Executors::parse(file, &around).unwrap();
    let faults =
        karat_runner::live(&job(&json!({}), &json!({})), &executors, &Stop::default(), &|_| {}).unwrap_err();
    assert!(faults[0].to_string().contains("karat-judge"), "{}", faults[0]);
}

#[test]
fn the_time_of_the_plan_and_the_wish_to_stop_are_heeded() {
    let slow = |answers| {
        let played = judge(answers);
        Arc::new(Played {
            answers: Mutex::new(played.answers.lock().unwrap().clone()),
            delay: Duration::from_secs(2),
            ..Played::default()
        })
    };
    let began = Instant::now();
    let ended =
        run(&slow(vec![gave(json!({}))]), PYTHON, &job(&json!({}), &json!({"timeout_seconds": 0.05})));
    assert_eq!(attempts(&ended.unwrap())[0].0, Outcome::Timeout);
    let played = slow(vec![gave(json!({}))]);
    let executors = executors(&played, PYTHON).unwrap();
    let stop = Stop::default();
    let ended = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(100));
            stop.ask();
        });
        karat_runner::live(&job(&json!({}), &json!({})), &executors, &stop, &|_| {}).unwrap()
    });
    assert!(ended.run.is_stopped && ended.fault.is_none());
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[test]
fn everything_wrong_in_the_file_is_said_at_once() {
    let played = judge(vec![]);
    let file = "runtime = \"pyhton\"\ndigest = \"sha256:xyz\"\nsource = \"none.py\"\nsource_from = \"code\"\n\
                function = \"a b\"\nfuel = 1\nmemory_mib = 99999\noutput_kib = 1073741824\nseconds_max = 3";
    let faults = executors(&played, file).unwrap_err();
    let said: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let expected = [
        "there is no runtime `pyhton`; did you mean `python`? (line 6, column 11)",
        "`sha256:xyz` is not the digest of a runtime; `karat judge doctor` shows those that are here (line 7, column 10)",
        "`source` and `source_from` exclude each other; keep one (line 9, column 15)",
        "`a b` is not a name (line 10, column 12)",
        "`fuel` of `[executor.sn1]` must be a whole number from 1000000 to 20000000000 (line 11, column 8)",
        "`memory_mib` of `[executor.sn1]` must be a whole number from 16 to 1024 (line 12, column 14)",
        "`output_kib` of `[executor.sn1]` must be a whole number from 1 to 1024 (line 13, column 14)",
    ];
    for line in expected {
        assert!(said.iter().any(|it| it == line), "{line}\n{}", said.join("\n"));
    }
    assert_eq!(said.len(), expected.len() + 1, "{}", said.join("\n"));
    for (file, line) in [
        ("runtime = \"python\"", "nothing says which code is run; add `source = \"FILE\"`, or"),
        ("runtime = \"python\"\nsource = \"none.py\"", "cannot read `none.py`: "),
        ("source = \"step.py\"", "`[executor.sn1]` has no `runtime`; add `runtime = \"python\"`"),
        (
            "runtime = \"python\"\nsource_from = \"code\"",
            "`code` is not a JSON Pointer; it begins with a slash",
        ),
    ] {
        let faults = executors(&played, file).unwrap_err();
        assert!(faults.len() == 1 && faults[0].to_string().starts_with(line), "{faults:?}");
    }
}

/// A judge without a sandbox: it runs Python as it is here. Enough to see what the example does.
#[cfg(unix)]
#[derive(Debug)]
struct Native;

#[cfg(unix)]
impl Judge for Native {
    fn judge(&self, job: &execution::Job) -> Result<Report, Unjudged> {
        use std::io::Write as _;
        use std::process::{Command, Stdio};

        const PROGRAM: &str = "import json, sys\njob = json.load(sys.stdin)\nspace = {}\n\
            exec(job['files']['solution.py'], space)\ncall = job['tasks'][0]['run']['call']\n\
            print(json.dumps(space[call['function']](*call['args'])))";
        let mut command = Command::new("/usr/bin/env");
        command
            .args(["python3", "-c", PROGRAM])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let text = serde_json::to_string(job).unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        let ended = child.wait_with_output().unwrap();
        let result = match serde_json::from_slice(&ended.stdout) {
            Ok(output) => gave(output),
            Err(_) => failed("exception"),
        };
        let judge = Identity {
            engine: "native".to_owned(),
            runtime: job.runtime.clone(),
            runtime_digest: "sha256:00".to_owned(),
            version: "1".to_owned(),
        };
        Ok(Report { judge, results: vec![result?] })
    }
}

#[cfg(unix)]
#[test]
fn the_example_finds_the_shortest_tour() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/run/sandbox");
    let file = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    let native = || -> Arc<dyn Judge> { Arc::new(Native) };
    let around = Surroundings { folder: &folder, variable: &|_| None, judge: &native };
    let executors = Executors::parse(&file("executors.toml"), &around).unwrap();
    let (job, notes) =
        Job::new(file("plan.json").as_bytes(), file("task.json").as_bytes(), None, Some(3)).unwrap();
    assert!(notes.plan.is_empty() && notes.task.is_empty(), "{notes:?}");
    assert!(job.missing(&executors.subnets()).is_empty());
    // The plan has the code of the file beside it.
    let plan: Value = serde_json::from_str(&file("plan.json")).unwrap();
    assert_eq!(plan["workflow_plan"]["nodes"][1]["params"]["code"], json!(file("tour.py")));
    let ended = karat_runner::live(&job, &executors, &Stop::default(), &|_| {}).unwrap();
    let item: Value = serde_json::from_str(&ended.run.evidence).unwrap();
    let text = &item["result"]["final_output"]["text"];
    assert_eq!(text, "Aster - Birk - Esk - Calm - Dove - Aster: 26.0 nm");
    assert_eq!(ended.run.account.steps_completed, 2);
}
