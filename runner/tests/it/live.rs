//! Live runs with real processes, and their replays: the same evidence, byte for byte; nothing is left behind.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test may stop it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use karat_graders::execution::Judge;
use karat_process::{Judges, Options};
use karat_run::{Ended, Event, Job, Outcome, Recording};
use karat_runner::{Executors, Progress, Stop, Surroundings};
use serde_json::{Value, json};

const SECRET: &str = "correct-horse-battery-staple";

/// A folder for the programs of one test, with an environment.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Reads executors. `KEY` in their environment is a secret, `PATH` that of the tests.
    fn executors(&self, file: &str) -> Executors {
        let variable = |name: &str| match name {
            "PATH" => std::env::var(name).ok(),
            "KEY" => Some(SECRET.to_owned()),
            _ => None,
        };
        let none = || -> Arc<dyn Judge> { Arc::new(Judges::found(None, Options::default())) };
        let around = Surroundings { folder: self.path(), variable: &variable, judge: &none };
        Executors::parse(file, &around).unwrap_or_else(|faults| panic!("{faults:?}"))
    }

    /// Reads executors that are scripts for the shell, one for each subnet, and settings for all of them.
    fn scripts(&self, settings: &str, scripts: &[(&str, &str)]) -> Executors {
        let mut file = String::from("[run]\nbackoff_seconds = 0.01\n");
        for (subnet, script) in scripts {
            fs::write(self.path().join(subnet), script).unwrap();
            file.push_str(&format!(
                "[executor.{subnet}]\nkind = \"command\"\ncommand = [\"/bin/sh\", \"{subnet}\"]\n\
                 environment = [\"PATH\"]\ncost = 0.001\n{settings}\n"
            ));
        }
        self.executors(&file)
    }

    fn has(&self, file: &str) -> bool {
        self.path().join(file).exists()
    }

    /// Returns the number that a script has written.
    fn number(&self, file: &str) -> i32 {
        fs::read_to_string(self.path().join(file)).unwrap().trim().parse().unwrap()
    }
}

/// A plan of steps in a row of `id, subnet, params`, and what follows them in the plan.
fn job(nodes: Value, edges: &[(&str, &str)], handling: Value) -> Job {
    let edges: Vec<Value> = edges.iter().map(|(from, to)| json!({"from": from, "to": to})).collect();
    job_of(&json!({"nodes": nodes, "edges": edges, "error_handling": handling}), &task())
}

fn task() -> Value {
    json!({"task_id": "t", "task_type": "agent", "reference": {"goal_checklist": [{"text": "done"}]},
        "constraints": {"max_budget_tao": 1, "max_latency_seconds": 30}})
}

fn job_of(plan: &Value, task: &Value) -> Job {
    let (plan, task) = (plan.to_string(), task.to_string());
    let job = Job::new(plan.as_bytes(), task.as_bytes(), Some("miner-7"), Some(3));
    job.unwrap_or_else(|refusal| panic!("{refusal:?}")).0
}

fn node(id: &str, subnet: &str, params: Value) -> Value {
    json!({"id": id, "subnet": subnet, "action": "do", "params": params})
}

fn run(job: &Job, executors: &Executors) -> Ended {
    let ended = karat_runner::live(job, executors, &Stop::default(), &|_| {})
        .unwrap_or_else(|faults| panic!("{faults:?}"));
    let recording = Recording::parse(&ended.recording.text()).unwrap();
    let replayed = job.replay(&recording).unwrap_or_else(|faults| panic!("{faults:?}"));
    assert_eq!(replayed.evidence, ended.run.evidence);
    assert_eq!(replayed.events, ended.run.events);
    ended
}

/// The log in short: step, attempt, outcome, reason.
fn log(ended: &Ended) -> Vec<String> {
    let short = ended.run.events.iter().map(|event| match event {
        Event::Attempt(attempt) => {
            let reason = attempt.reason.as_deref().map_or_else(String::new, |reason| format!(": {reason}"));
            format!("{} {} {}{reason}", attempt.step, attempt.number, attempt.outcome.name())
        }
        Event::Unresolved { step, .. } => format!("{step} unresolved"),
        Event::BudgetAbort { step, number } => format!("{step} {number} budget"),
    });
    short.collect()
}

fn only_reason(ended: &Ended) -> String {
    let [Event::Attempt(attempt)] = ended.run.events.as_slice() else { panic!("{:?}", ended.run.events) };
    attempt.reason.clone().unwrap_or_default()
}

fn is_alive(process: i32) -> bool {
    // A process that has ended and waits to be reaped by its new parent is not alive.
    fs::read_to_string(format!("/proc/{process}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z'))
}

fn assert_ends(process: i32) {
    let begun = Instant::now();
    while is_alive(process) {
        assert!(begun.elapsed() < Duration::from_secs(5), "process {process} is still there");
        thread::sleep(Duration::from_millis(5));
    }
}

const FINE: &str =
    "echo '{\"output\": {\"text\": \"done\", \"artifacts\": {\"metadata\": {\"n\": 2.0}}}, \"cost\": 0.002}'";

/// Seven steps: a timeout and a retry, a failure, a failed reference, a flood, a leftover process.
#[test]
fn a_live_run_and_its_replay_give_the_same_evidence() {
    let bench = Bench::new();
    let executors = bench.scripts(
        "output_kib = 64\nseconds_max = 20",
        &[
            ("fine", FINE),
            (
                "late",
                "[ -e again ] || { touch again; sleep 60; }\necho '{\"output\": {\"text\": \"second\"}}'",
            ),
            ("broken", "exit 3"),
            ("flood", "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done"),
            ("leftover", "sleep 300 &\necho $! > left\necho '{\"output\": {\"text\": \"done\"}}'"),
        ],
    );
    let nodes = json!([
        node("a", "fine", json!({"q": "x"})),
        node("b", "late", json!({})),
        node("c", "broken", json!({})),
        node("d", "flood", json!({})),
        node(
            "e",
            "leftover",
            json!({"of": "${a.output.text} ${a.output.artifacts.metadata.n} ${b.output.text}"})
        ),
        node("f", "fine", json!({"of": "${c.output.text}"})),
        node("g", "fine", json!({"of": "${e.output.text}"})),
    ]);
    let edges = [("a", "e"), ("b", "e"), ("c", "f"), ("e", "g"), ("d", "g")];
    let handling = json!({"b": {"retry_count": 1, "timeout_seconds": 1.5}, "c": {"retry_count": 1}});
    let job = job(nodes, &edges, handling);
    let ended = run(&job, &executors);
    assert_eq!(
        log(&ended),
        [
            "a 1 success", "b 1 timeout", "b 2 success", "c 1 failed: exit status 3",
            "c 2 failed: exit status 3", "d 1 failed: it wrote more than 64 KiB", "e 1 success",
            "f unresolved", "g 1 success",
        ]
    );
    assert_ends(bench.number("left"));
    let item: Value = serde_json::from_str(&ended.run.evidence).unwrap();
    assert_eq!(item["subject"], "miner-7");
    assert_eq!(item["id"], ended.recording.digest().to_string());
    assert_eq!(item["result"]["final_output"]["text"], "done");
    assert_eq!(item["result"]["attempts"][0]["cost"], 0.002);
    assert_eq!(item["result"]["attempts"][3]["cost"], 0.001, "a failed attempt has the cost of its executor");
    assert!(item.get("outcome").is_none());
    // What was resolved is what a recording gives back: 2.0 is 2 there.
    let attempt = &ended.recording.attempts()[6];
    let request =
        r#"{"action":"do","attempt":1,"params":{"of":"done 2 second"},"step":"e","subnet":"leftover"}"#;
    assert_eq!(attempt.key, karat_core::facts::Digest::of(request.as_bytes()));
}

#[test]
fn the_log_is_in_the_order_of_the_plan_and_not_of_arrival() {
    let bench = Bench::new();
    let slow = format!("sleep 0.2\n{FINE}");
    let executors = bench.scripts("", &[("slow", &slow), ("fast", FINE)]);
    let order = |first: &str, second: &str| {
        let job = job(json!([node("a", first, json!({})), node("b", second, json!({}))]), &[], json!({}));
        let ends = Mutex::new(Vec::new());
        let watch = |progress: Progress<'_>| {
            if let Progress::Ended(attempt) = progress {
                ends.lock().unwrap().push(attempt.step.clone());
            }
        };
        let ended = karat_runner::live(&job, &executors, &Stop::default(), &watch).unwrap();
        (log(&ended), ends.into_inner().unwrap())
    };
    let in_order = ["a 1 success", "b 1 success"].map(str::to_owned).to_vec();
    assert_eq!(order("slow", "fast"), (in_order.clone(), vec!["b".to_owned(), "a".to_owned()]));
    assert_eq!(order("fast", "slow"), (in_order, vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn hostile_programs_fail_and_leave_nothing() {
    let bench = Bench::new();
    let big = json!({"text": "x".repeat(1 << 20)});
    let forks = "i=0; while [ $i -lt 60 ]; do sleep 300 & i=$((i+1)); done; echo $! > bomb; wait";
    for (name, script, params, timeout, expected) in [
        (
            "stubborn",
            "trap '' TERM HUP INT\necho $$ > stubborn.id\nwhile :; do sleep 1; done",
            json!({}),
            0.3,
            "",
        ),
        ("bomb", forks, json!({}), 2.0, ""),
        ("silent", "exec 1>&- ; sleep 60", json!({}), 0.3, ""),
        ("unread", "sleep 60", big.clone(), 0.3, ""),
        ("deaf", "exec 0<&- ; exit 0", big, 5.0, "it gave no answer"),
        ("nonsense", "head -c 1000 /dev/urandom | tr -d '{['", json!({}), 5.0, "its answer: $: found "),
        ("killed", "kill -9 $$", json!({}), 5.0, "ended by signal 9"),
        ("paid", "echo '{\"error\": \"no credit\", \"cost\": 0.5}'", json!({}), 5.0, "no credit"),
        ("late_word", "echo '{\"output\": {}}'; exit 4", json!({}), 5.0, "exit status 4"),
    ] {
        let executors = bench.scripts("output_kib = 64\nseconds_max = 10", &[(name, script)]);
        let job = job(json!([node("a", name, params)]), &[], json!({"a": {"timeout_seconds": timeout}}));
        let begun = Instant::now();
        let ended = run(&job, &executors);
        assert!(begun.elapsed() < Duration::from_secs(8), "{name}");
        if expected.is_empty() {
            assert_eq!(log(&ended), ["a 1 timeout"], "{name}");
        } else {
            assert!(only_reason(&ended).starts_with(expected), "{name}: {}", only_reason(&ended));
        }
    }
    assert_ends(bench.number("bomb"));
    assert_ends(bench.number("stubborn.id"));
}

/// Without walls, too: a new session and a parent that is gone, at the end of the program and at its limit.
#[cfg(target_os = "linux")]
#[test]
fn what_leaves_its_group_ends_with_the_program() {
    let bench = Bench::new();
    let leaves = "(setsid sh -c 'echo $$ > left; sleep 300' > /dev/null 2>&1 &)\n\
                  while [ ! -s left ]; do sleep 0.01; done";
    for (end, expected) in [(FINE, "a 1 success"), ("sleep 300", "a 1 timeout")] {
        let executors = bench.scripts("", &[("leaves", &format!("{leaves}\n{end}"))]);
        let handling = json!({"a": {"timeout_seconds": 2.0}});
        let ended = run(&job(json!([node("a", "leaves", json!({}))]), &[], handling), &executors);
        assert_eq!(log(&ended), [expected]);
        assert_ends(bench.number("left"));
        fs::remove_file(bench.path().join("left")).unwrap();
    }
}

#[test]
fn limits_are_set_before_the_program_begins() {
    let bench = Bench::new();
    let settings = "cpu_seconds = 7\nmemory_mib = 512\nprocesses = 12345";
    let script = "p=$(ulimit -u 2> /dev/null || ulimit -p)\n\
                  echo \"{\\\"output\\\": {\\\"text\\\": \\\"$(ulimit -t) $(ulimit -v) $p $(ulimit -c)\\\"}}\"";
    let executors = bench.scripts(settings, &[("limits", script)]);
    let ended = run(&job(json!([node("a", "limits", json!({}))]), &[], json!({})), &executors);
    let item: Value = serde_json::from_str(&ended.run.evidence).unwrap();
    assert_eq!(item["result"]["final_output"]["text"], "7 524288 12345 0");

    let executors = bench.scripts("cpu_seconds = 1", &[("busy", "while :; do :; done")]);
    let ended = run(&job(json!([node("a", "busy", json!({}))]), &[], json!({})), &executors);
    let reason = if cfg!(target_os = "linux") { "over its limit of CPU time" } else { "ended by signal " };
    assert!(only_reason(&ended).starts_with(reason), "{}", only_reason(&ended));
    let executors =
        bench.scripts("memory_mib = 64", &[("greedy", "exec python3 -c 'print(len(bytearray(1 << 30)))'")]);
    let ended = run(&job(json!([node("a", "greedy", json!({}))]), &[], json!({})), &executors);
    assert!(only_reason(&ended).starts_with("exit status 1"), "{}", only_reason(&ended));
}

#[test]
fn the_environment_has_what_is_named_and_nothing_else() {
    let bench = Bench::new();
    let script =
        "[ -z \"$HOME$CARGO$USER\" ] && [ -n \"$PATH\" ] && echo '{\"output\": {\"text\": \"clean\"}}'";
    let ended = run(
        &job(json!([node("a", "env", json!({}))]), &[], json!({})),
        &bench.scripts("", &[("env", script)]),
    );
    assert_eq!(log(&ended), ["a 1 success"]);
}

#[test]
fn a_limit_of_the_executor_is_no_timeout() {
    let bench = Bench::new();
    let executors = bench.scripts("seconds_max = 0.3", &[("slow", "sleep 60")]);
    for handling in [json!({}), json!({"a": {"timeout_seconds": 100}})] {
        let ended = run(&job(json!([node("a", "slow", json!({}))]), &[], handling), &executors);
        assert_eq!(only_reason(&ended), "stopped after 0.3 s, the limit of its executor");
    }
    // Without any time there is a timeout, even if the answer is there at once.
    let executors = bench.scripts("", &[("fine", FINE)]);
    let ended = run(
        &job(json!([node("a", "fine", json!({}))]), &[], json!({"a": {"timeout_seconds": 0}})),
        &executors,
    );
    assert_eq!(log(&ended), ["a 1 timeout"]);
}

#[test]
fn an_interrupt_ends_what_is_under_way_and_keeps_what_was_done() {
    let bench = Bench::new();
    let script = "echo $$ > under-way; sleep 300 & echo $! > child; wait";
    let executors = bench.scripts("", &[("fine", FINE), ("slow", script)]);
    let job = job(
        json!([node("a", "fine", json!({})), node("b", "slow", json!({})), node("c", "fine", json!({}))]),
        &[("a", "b"), ("b", "c")],
        json!({"b": {"retry_count": 2}}),
    );
    let stop = Stop::default();
    let ended = thread::scope(|scope| {
        scope.spawn(|| {
            while !bench.has("child") {
                thread::sleep(Duration::from_millis(5));
            }
            stop.ask();
        });
        karat_runner::live(&job, &executors, &stop, &|_| {}).unwrap()
    });
    assert_eq!(log(&ended), ["a 1 success"]);
    assert!(ended.run.is_stopped && ended.recording.is_stopped() && ended.fault.is_none());
    assert_ends(bench.number("under-way"));
    assert_ends(bench.number("child"));
    let item: Value = serde_json::from_str(&ended.run.evidence).unwrap();
    assert_eq!(item["outcome"], "stopped");
    let recording = Recording::parse(&ended.recording.text()).unwrap();
    assert_eq!(job.replay(&recording).unwrap().evidence, ended.run.evidence);
}

#[test]
fn an_executor_that_cannot_work_stops_the_run_and_fails_no_step() {
    let bench = Bench::new();
    fs::write(bench.path().join("program"), "#!/bin/sh\n").unwrap();
    let earlier = run(
        &job(json!([node("a", "fine", json!({}))]), &[], json!({})),
        &bench.scripts("", &[("fine", FINE)]),
    );
    fs::write(bench.path().join("earlier.jsonl"), earlier.recording.text()).unwrap();
    let executors = bench.executors("[executor.fine]\nkind = \"replay\"\nrecording = \"earlier.jsonl\"");
    let job = job(
        json!([node("a", "fine", json!({})), node("b", "fine", json!({})), node("c", "fine", json!({}))]),
        &[("a", "b"), ("b", "c")],
        json!({}),
    );
    let ended = karat_runner::live(&job, &executors, &Stop::default(), &|_| {}).unwrap();
    assert_eq!(log(&ended), ["a 1 success"]);
    assert!(ended.run.is_stopped);
    let fault = ended.fault.unwrap();
    assert!(fault.starts_with("step `b`, attempt 1 is not in the recording sha256:"), "{fault}");
}

/// A recording as an executor takes its time, and gives what it gave.
#[test]
fn an_earlier_run_answers_as_it_did() {
    let bench = Bench::new();
    let slow = format!("sleep 0.2\n{FINE}");
    let executors = bench.scripts("", &[("slow", &slow), ("late", "sleep 60"), ("broken", "exit 2")]);
    let nodes =
        json!([node("a", "slow", json!({})), node("b", "late", json!({})), node("c", "broken", json!({}))]);
    let job = job(nodes, &[], json!({"b": {"timeout_seconds": 0.3}, "a": {"timeout_seconds": 20}}));
    let first = run(&job, &executors);
    fs::write(bench.path().join("earlier.jsonl"), first.recording.text()).unwrap();
    let file: String = ["slow", "late", "broken"]
        .map(|name| format!("[executor.{name}]\nkind = \"replay\"\nrecording = \"earlier.jsonl\"\n"))
        .concat();
    let second = run(&job, &bench.executors(&file));
    assert_eq!(log(&first), log(&second));
    for (one, other) in first.recording.attempts().iter().zip(second.recording.attempts()) {
        assert_eq!((&one.output, one.cost_nano_tao), (&other.output, other.cost_nano_tao));
        // What was late is ended at the limit of the plan again. Both ends are cut to whole microseconds.
        let took = if one.outcome == Outcome::Timeout { 300_000 } else { one.duration_microseconds };
        assert!(other.duration_microseconds + 1 >= took, "{one:?} {other:?}");
    }
}

#[test]
fn a_secret_is_given_and_never_told() {
    let bench = Bench::new();
    let script = "[ \"$KEY\" = correct-horse-battery-staple ] || exit 9\ncase $(cat) in\n\
        *tell*) echo \"{\\\"output\\\": {\\\"text\\\": \\\"it is $KEY\\\"}}\" ;;\n\
        *blame*) echo \"{\\\"error\\\": \\\"bad key $KEY\\\"}\" ;;\n\
        *shout*) echo \"$KEY\" ;;\n\
        *) echo '{\"output\": {\"text\": \"done\"}}' ;;\nesac\necho \"$KEY\" >&2";
    let executors = bench.scripts("secrets = [\"KEY\"]", &[("knows", script)]);
    let nodes = ["a", "tell", "blame", "shout"].map(|id| node(id, "knows", json!({})));
    let ended = run(&job(json!(nodes), &[], json!({})), &executors);
    assert_eq!(
        log(&ended),
        [
            "a 1 success", "blame 1 failed: its answer contains the secret `KEY`",
            "shout 1 failed: its answer contains the secret `KEY`",
            "tell 1 failed: its answer contains the secret `KEY`",
        ]
    );
    for text in [ended.recording.text(), ended.run.evidence, format!("{executors:?} {:?}", ended.run.events)]
    {
        assert!(!text.contains("horse"), "{text}");
    }
}

#[test]
fn what_was_changed_is_refused_by_name() {
    let bench = Bench::new();
    let executors = bench.scripts("", &[("fine", FINE), ("broken", "exit 2")]);
    let plan = json!({"nodes": [node("a", "fine", json!({"q": 1})), node("b", "broken", json!({"q": "${a.output.text}"})),
        node("c", "fine", json!({}))],
        "edges": [{"from": "a", "to": "b"}], "error_handling": {"b": {"retry_count": 1}}});
    let job = job_of(&plan, &task());
    let recording = run(&job, &executors).recording;
    let refusal = |plan: &Value, task: &Value, recording: &Recording| {
        let faults = job_of(plan, task).replay(recording).unwrap_err();
        let digits = |text: String| {
            text.split("sha256:")
                .map(|part| part.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
                .collect::<Vec<_>>()
                .join("DIGEST")
        };
        faults.iter().map(|fault| digits(fault.to_string())).collect::<Vec<_>>().join("\n")
    };
    let changed = |pointer: &str, value: Value| {
        let mut plan = plan.clone();
        *plan.pointer_mut(pointer).unwrap() = value;
        plan
    };
    let other_plan =
        "the recording is of another plan: of DIGEST, and this is DIGEST; give the plan that was recorded";
    assert_eq!(
        refusal(&changed("/nodes/0/params/q", json!(2)), &task(), &recording),
        format!(
            "step `a`, attempt 1 is not in the recording, which has it with another subnet, action or parameters\n{other_plan}"
        )
    );
    assert_eq!(
        refusal(&changed("/error_handling/b/retry_count", json!(2)), &task(), &recording),
        format!("step `b`, attempt 3 is not in the recording\n{other_plan}")
    );
    assert_eq!(
        refusal(&changed("/error_handling/b/retry_count", json!(0)), &task(), &recording),
        format!("step `b`, attempt 2 is in the recording, and this run does not make it\n{other_plan}")
    );
    assert_eq!(
        refusal(&changed("/nodes/2/params", json!({"n": 1})), &task(), &recording).lines().next().unwrap(),
        "step `c`, attempt 1 is not in the recording, which has it with another subnet, action or parameters"
    );
    let mut other = task();
    other["reference"]["goal_checklist"][0]["text"] = "else".into();
    assert_eq!(
        refusal(&plan, &other, &recording),
        "the recording is of another task: of DIGEST, and this is DIGEST; give the task that was recorded"
    );

    // A recording whose lines were changed, with a digest that fits.
    let forged = |change: &dyn Fn(&str) -> String| {
        let text = recording.text();
        let (body, _) = text.trim_end().rsplit_once('\n').unwrap();
        let lines: Vec<String> = body.lines().map(change).filter(|line| !line.is_empty()).collect();
        let body = format!("{}\n", lines.join("\n"));
        let digest = karat_core::facts::Digest::of(body.as_bytes());
        Recording::parse(&format!("{body}{{\"digest\":\"{digest}\"}}\n")).unwrap()
    };
    let without_b =
        forged(&|line| if line.contains("\"step\":\"b\"") { String::new() } else { line.to_owned() });
    let again = "give the recording of this very run, or record the run again";
    assert_eq!(
        refusal(&plan, &task(), &without_b),
        format!("step `b`, attempt 1 is not in the recording; {again}")
    );
    let other_answer = forged(&|line| line.replace("\"text\":\"done\"", "\"text\":\"better\""));
    assert_eq!(
        refusal(&plan, &task(), &other_answer),
        format!(
            "step `b`, attempt 1 is not in the recording, which has it with another subnet, action or parameters; {again}"
        )
    );
    let stopped = forged(&|line| line.replace("\"complete\"", "\"stopped\""));
    assert_eq!(
        refusal(&plan, &task(), &stopped),
        format!("the recording says that the run was stopped, and nothing is missing; {again}")
    );
    let longer = forged(&|line| match line.contains("\"step\":\"a\"") {
        true => line.replace("\"duration_microseconds\":", "\"duration_microseconds\":90000"),
        false => line.to_owned(),
    });
    let said = refusal(&plan, &task(), &longer);
    assert!(
        said.starts_with("the recording contradicts itself: ") && said.contains("before the end of `a`"),
        "{said}"
    );
}

/// Ten steps that are tried side by side end long before they would one after the other.
#[test]
fn steps_of_a_tier_run_side_by_side() {
    let bench = Bench::new();
    let slow = format!("sleep 0.5\n{FINE}");
    let executors = bench.scripts("", &[("slow", &slow)]);
    let nodes: Vec<Value> = (0..10).map(|at| node(&format!("s{at}"), "slow", json!({}))).collect();
    let begun = Instant::now();
    let ended = run(&job(json!(nodes), &[], json!({})), &executors);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
    let starts: BTreeMap<u64, &str> =
        ended.recording.attempts().iter().map(|it| (it.start_microseconds, it.step.as_str())).collect();
    assert_eq!(ended.recording.attempts().len(), 10);
    assert!(starts.len() > 1);
}
