//! Steps behind walls: the same answers as without, and nothing that a program tries is more than a failed attempt.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test may stop it")]

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;
use std::time::{Duration, Instant};

use karat_run::{Ended, Event, Job, Outcome, Recording};
use karat_runner::{Executors, Stop, Surroundings};
use serde_json::json;

const SECRET: &str = "correct-horse-battery-staple";
const FINE: &str = "echo '{\"output\": {\"text\": \"done\"}}'";

/// A folder that anyone may look into, with a program for each subnet.
struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        for (name, mode) in [("data", 0o755), ("results", 0o777), ("hidden", 0o755)] {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("file"), name).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        }
        Self { folder }
    }

    fn parse(&self, file: &str) -> Result<Executors, String> {
        let variable = |name: &str| match name {
            "PATH" => Some("/usr/local/bin:/usr/bin:/bin".to_owned()),
            "KEY" => Some(SECRET.to_owned()),
            _ => None,
        };
        let judge = || -> std::sync::Arc<dyn karat_graders::execution::Judge> {
            unreachable!("no executor asks one")
        };
        let around = Surroundings { folder: self.folder.path(), variable: &variable, judge: &judge };
        let listed = |faults: Vec<karat_run::Fault>| {
            faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
        };
        Executors::parse(file, &around).map_err(listed)
    }

    /// Runs a plan of one step by a script for the shell, with settings of its executor.
    fn run(&self, settings: &str, script: &str, handling: serde_json::Value) -> Ended {
        let script = format!("#!/bin/sh\n{script}\n");
        let path = self.folder.path().join("step.sh");
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        let file = format!(
            "[executor.sn1]\nkind = \"command\"\ncommand = [\"./step.sh\"]\nenvironment = [\"PATH\"]\ncost = 0.001\n\
             sandbox = \"best\"\n{settings}\n"
        );
        let executors = self.parse(&file).unwrap_or_else(|faults| panic!("{faults}"));
        let job = job(handling);
        let ended = karat_runner::live(&job, &executors, &Stop::default(), &|_| {})
            .unwrap_or_else(|faults| panic!("{faults:?}"));
        let recording = Recording::parse(&ended.recording.text()).unwrap();
        assert_eq!(job.replay(&recording).unwrap().evidence, ended.run.evidence);
        assert!(!ended.recording.text().contains("horse"), "a secret is never told");
        ended
    }
}

fn job(handling: serde_json::Value) -> Job {
    let plan = json!({"nodes": [{"id": "a", "subnet": "sn1", "action": "do", "params": {"q": "x"}}], "edges": [],
        "error_handling": handling});
    let task = json!({"task_id": "t", "task_type": "agent", "reference": {"goal_checklist": [{"text": "done"}]},
        "constraints": {"max_budget_tao": 1, "max_latency_seconds": 30}});
    let job = Job::new(plan.to_string().as_bytes(), task.to_string().as_bytes(), Some("miner-7"), Some(3));
    job.unwrap_or_else(|refusal| panic!("{refusal:?}")).0
}

/// Returns the outcome of the only attempt, and its reason or the text of its output.
fn only(ended: &Ended) -> (Outcome, String) {
    let [Event::Attempt(attempt)] = ended.run.events.as_slice() else { panic!("{:?}", ended.run.events) };
    let text = attempt.output.as_ref().and_then(|it| it["text"].as_str()).unwrap_or_default();
    (attempt.outcome, attempt.reason.clone().unwrap_or_else(|| text.to_owned()))
}

#[test]
fn a_step_behind_walls_answers_and_sees_what_it_may_and_nothing_else() {
    let bench = Bench::new();
    let script = "read request\n\
        [ \"$KEY\" = correct-horse-battery-staple ] || exit 9\n\
        (cd /tmp && echo scratch > scratch) || exit 8\n\
        text=\"$(cat data/file) $(cat hidden/file 2> /dev/null) $(cat results/file) ${#request}\"\n\
        echo result > results/new || exit 7\n\
        echo x > data/new && exit 6\n\
        printf '{\"output\": {\"text\": \"%s\"}}' \"$text\"";
    let ended = bench.run("read = [\"data\"]\nwrite = [\"results\"]\nsecrets = [\"KEY\"]", script, json!({}));
    let (outcome, text) = only(&ended);
    assert_eq!(outcome, Outcome::Success, "{text}");
    // The hidden file is not there, and the request is all that was asked.
    assert!(text.starts_with("data  results ") && !text.contains("hidden"), "{text}");
    assert_eq!(fs::read_to_string(bench.folder.path().join("results/new")).unwrap(), "result\n");
    assert!(!bench.folder.path().join("data/new").exists());
}

#[test]
fn whatever_a_program_does_is_a_failed_attempt_each_time_the_same() {
    let bench = Bench::new();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("exec 3<> /dev/tcp/127.0.0.1/{port}");
    let connect =
        format!("command -v bash > /dev/null || exit 5\nbash -c '{connect}' 2> /dev/null && exit 0\nexit 5");
    let cases = [
        ("", "exit 3", "exit status 3"),
        ("", "kill -KILL $$", "ended by signal 9"),
        (
            "",
            "echo nonsense",
            "its answer: $: found `nonsense`, expected a value; put a text in double quotes; write `true`, `false`, `null` in \
             lower case (line 1, column 2)",
        ),
        ("", connect.as_str(), "exit status 5"),
        (
            "output_kib = 64",
            "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done",
            "it wrote more than 64 KiB",
        ),
        ("seconds_max = 0.5", "sleep 60", "stopped after 0.5 s, the limit of its executor"),
        (
            "seconds_max = 1\nprocesses = 16", "b() { b | b & }; b; sleep 60",
            "stopped after 1 s, the limit of its executor",
        ),
        (
            "cpu_seconds = 1",
            "while :; do :; done",
            "over its limit of 1 s of CPU time, and twice more of 3 s, alone",
        ),
        ("cpu_seconds = 1\nnetwork = true", "while :; do :; done", "over its limit of CPU time"),
    ];
    for (settings, script, expected) in cases {
        for _ in 0..2 {
            let (outcome, reason) = only(&bench.run(settings, script, json!({})));
            assert_eq!((outcome, reason.as_str()), (Outcome::Failed, expected), "{settings} {script}");
        }
    }
    let (outcome, _) = only(&bench.run("", "sleep 60", json!({"a": {"timeout_seconds": 0.4}})));
    assert_eq!(outcome, Outcome::Timeout);
}

/// A new session and a parent that is gone: a group of processes does not hold them.
#[test]
fn what_leaves_its_group_ends_all_the_same() {
    let bench = Bench::new();
    let late = "(setsid sh -c 'sleep 0.5; echo late > results/late' > /dev/null 2>&1 &)";
    let (outcome, text) = only(&bench.run("write = [\"results\"]", &format!("{late}\n{FINE}"), json!({})));
    assert_eq!(outcome, Outcome::Success, "{text}");
    thread::sleep(Duration::from_millis(1000));
    assert!(!bench.folder.path().join("results/late").exists());
}

#[test]
fn a_time_that_decides_only_sometimes_stops_the_run_without_a_verdict() {
    let bench = Bench::new();
    // The first run works on and on, the others end: as on a machine that is busy at first. Folders that are written to would
    // be a way out, so what tells them apart is the limit that they are run with.
    let script = format!("[ \"$(ulimit -t)\" = 1 ] && while :; do :; done\n{FINE}");
    let ended = bench.run("cpu_seconds = 1", &script, json!({}));
    assert!(ended.run.is_stopped && ended.run.events.is_empty(), "{:?}", ended.run.events);
    let fault = ended.fault.unwrap();
    assert!(fault.starts_with("no verdict: `") && fault.contains("alone, not over 3 s"), "{fault}");
}

#[test]
fn an_interrupt_ends_a_program_behind_walls() {
    let bench = Bench::new();
    let begun = Instant::now();
    let file =
        "[executor.sn1]\nkind = \"command\"\ncommand = [\"sleep\", \"300\"]\ncost = 0\nsandbox = \"best\"";
    let executors = bench.parse(file).unwrap();
    let stop = Stop::default();
    let ended = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(300));
            stop.ask();
        });
        karat_runner::live(&job(json!({})), &executors, &stop, &|_| {}).unwrap()
    });
    assert!(ended.run.is_stopped && ended.fault.is_none() && begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_sandbox_that_cannot_be_is_refused_before_anything_runs() {
    let bench = Bench::new();
    let head = "[executor.sn1]\nkind = \"command\"\ncommand = [\"true\"]\ncost = 0\n";
    let refused = |settings: &str| bench.parse(&format!("{head}{settings}")).unwrap_err();
    assert_eq!(
        refused("sandbox = \"strikt\""),
        "there is no sandbox `strikt`; did you mean `strict`? (line 5, column 11)"
    );
    let hint = "add `sandbox = \"strict\"`, or \"best\": what this machine has";
    assert_eq!(
        refused("read = [\"data\"]\nnetwork = true\nwrite = []"),
        format!(
            "`read` needs a sandbox; {hint} (line 5, column 8)\n`network` needs a sandbox; {hint} (line 6, column 11)\n\
             `write` needs a sandbox; {hint} (line 7, column 9)"
        )
    );
    let missing = refused("sandbox = \"best\"\nread = [\"data\", \"dta\"]");
    assert!(missing.starts_with("`read` names `dta`: No such file or directory"), "{missing}");
    let whole = refused("sandbox = \"best\"\nwrite = [\"/\"]");
    assert!(whole.contains("name folders below it"), "{whole}");
    // Strict is either whole, or refused with what is missing.
    let best = bench.parse(&format!("{head}sandbox = \"best\"")).unwrap();
    match bench.parse(&format!("{head}sandbox = \"strict\"")) {
        Ok(strict) => assert!(best.gaps().is_empty() && strict.gaps().is_empty()),
        Err(why) => {
            let [gap] = best.gaps() else { panic!("{:?}", best.gaps()) };
            let (_, what) = gap.message.split_once("missing here: ").unwrap();
            assert!(why.contains("no strict sandbox on this machine") && why.contains(what), "{why}");
        }
    }
}

#[test]
fn a_link_in_place_of_a_folder_that_another_step_reads_leads_nowhere() {
    let bench = Bench::new();
    let inner = bench.folder.path().join("results/inner");
    fs::create_dir(&inner).unwrap();
    for (name, script) in [
        (
            "one.sh",
            format!("mv results/inner results/old && ln -s ../hidden results/inner || exit 1\n{FINE}"),
        ),
        ("two.sh", format!("cat hidden/file && exit 1\n{FINE}")),
    ] {
        let path = bench.folder.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    }
    let executor = |subnet: &str, script: &str, paths: &str| {
        format!(
            "[executor.{subnet}]\nkind = \"command\"\ncommand = [\"./{script}\"]\nenvironment = [\"PATH\"]\n\
             cost = 0.001\nsandbox = \"best\"\n{paths}\n"
        )
    };
    let file = executor("sn1", "one.sh", "write = [\"results\"]")
        + &executor("sn2", "two.sh", "read = [\"results/inner\"]");
    let executors = bench.parse(&file).unwrap_or_else(|faults| panic!("{faults}"));
    let node = |id: &str, subnet: &str| json!({"id": id, "subnet": subnet, "action": "do", "params": {}});
    let plan = json!({"nodes": [node("a", "sn1"), node("b", "sn2")], "edges": [{"from": "a", "to": "b"}]});
    let task = json!({"task_id": "t", "task_type": "agent", "reference": {"goal_checklist": [{"text": "done"}]},
        "constraints": {"max_budget_tao": 1, "max_latency_seconds": 30}});
    let job = Job::new(plan.to_string().as_bytes(), task.to_string().as_bytes(), Some("miner-7"), Some(0));
    let (job, _) = job.unwrap_or_else(|refusal| panic!("{refusal:?}"));
    let ended = karat_runner::live(&job, &executors, &Stop::default(), &|_| {})
        .unwrap_or_else(|faults| panic!("{faults:?}"));
    assert!(fs::symlink_metadata(&inner).unwrap().is_symlink(), "the first step did its worst");
    let last = ended.run.events.iter().rev().find_map(|event| match event {
        Event::Attempt(attempt) => Some(attempt),
        _ => None,
    });
    let last = last.unwrap();
    assert_eq!((last.step.as_str(), last.outcome), ("b", Outcome::Failed));
    assert!(
        last.reason.as_deref().unwrap_or_default().contains("no longer what it was"),
        "{:?}",
        last.reason
    );
}

/// A program behind walls does not get to put its own program in the place of another one.
#[test]
fn no_program_is_where_another_one_may_write() {
    let bench = Bench::new();
    for path in ["results/tool.sh", "tool.sh"] {
        let path = bench.folder.path().join(path);
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(bench.folder.path(), Permissions::from_mode(0o777)).unwrap();
    std::os::unix::fs::symlink("results/tool.sh", bench.folder.path().join("link.sh")).unwrap();
    let executor = |subnet: &str, program: &str, settings: &str| {
        format!("[executor.{subnet}]\nkind = \"command\"\ncommand = [\"{program}\"]\ncost = 0\n{settings}\n")
    };
    let writes = |into: &str| executor("sn1", "true", &format!("sandbox = \"best\"\nwrite = [\"{into}\"]"));
    let best = "sandbox = \"best\"";
    for (into, other, is_refused) in [
        ("results", executor("sn2", "./results/tool.sh", ""), true),
        ("results", executor("sn2", "./results/tool.sh", best), true),
        ("results", executor("sn2", "./link.sh", best), true),
        ("results/tool.sh", executor("sn2", "./link.sh", best), true),
        // Beside its folder, and where it starts.
        (".", executor("sn2", "true", ""), true),
        (".", executor("sn2", "./tool.sh", best), true),
        (".", executor("sn2", "true", best), false),
        ("results", executor("sn2", "./tool.sh", ""), false),
        ("results", executor("sn2", "true", ""), false),
    ] {
        fs::set_permissions(bench.folder.path().join("results/tool.sh"), Permissions::from_mode(0o777))
            .unwrap();
        let parsed = bench.parse(&(writes(into) + &other));
        match parsed {
            Err(why) => {
                assert!(is_refused, "{into} {other}: {why}");
                assert!(why.starts_with("`sn1` may write to `") && why.contains("of `sn2` "), "{why}");
                assert!(
                    why.ends_with("name a folder in which there is nothing else (line 6, column 9)"),
                    "{why}"
                );
            }
            Ok(_) => assert!(!is_refused, "{into} {other}"),
        }
        // Into its own folder it may.
        bench.parse(&writes(into)).unwrap();
    }
}

/// The program and the folder are those that were there when the file was read.
#[test]
fn a_program_that_was_replaced_fails_its_attempt() {
    for sandbox in ["off", "best"] {
        let bench = Bench::new();
        let path = bench.folder.path().join("tool.sh");
        let write = |name: &str, text: &str| {
            let path = bench.folder.path().join(name);
            fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        };
        write("tool.sh", FINE);
        let file = format!(
            "[executor.sn1]\nkind = \"command\"\ncommand = [\"./tool.sh\"]\ncost = 0\nsandbox = \"{sandbox}\"\n"
        );
        let executors = bench.parse(&file).unwrap();
        let run =
            || only(&karat_runner::live(&job(json!({})), &executors, &Stop::default(), &|_| {}).unwrap());
        assert_eq!(run(), (Outcome::Success, "done".to_owned()));
        write("new.sh", "exit 0");
        fs::rename(bench.folder.path().join("new.sh"), &path).unwrap();
        let (outcome, reason) = run();
        assert_eq!(outcome, Outcome::Failed);
        assert!(reason.ends_with("tool.sh` is no longer what it was when the run began"), "{reason}");
    }
}
