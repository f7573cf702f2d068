//! The pool against judges that end, hang, flood and lie.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test may stop it")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Instant;

use karat_graders::execution::{Case, Compare, Limits, Run, TaskReport};
use serde_json::{Value, json};

use super::*;

/// The beginning of every judge here: it says what it is. `folder` is kept between processes.
const HELLO: &str = r#"
import json, os, sys, time
folder = sys.argv[1]
def say(line):
    sys.stdout.write(line if isinstance(line, str) else json.dumps(line))
    sys.stdout.write("\n")
    sys.stdout.flush()
def count(name):
    with open(os.path.join(folder, name), "a") as file:
        file.write(str(os.getpid()) + "\n")
    with open(os.path.join(folder, name)) as file:
        return len(file.readlines())
HELLO = {"karat-judge": 1, "version": "0.1.0", "engine": "fake 1.0", "runtimes": {"python": "sha256:" + "a" * 64}}
JUDGE = {"engine": "fake 1.0", "version": "0.1.0", "runtime": "python", "runtime_digest": "sha256:" + "a" * 64}
def result(task):
    if task["kind"] == "script":
        return {"kind": "script", "scores": {name: 500.0 for name in task["dimensions"]}, "fuel": 7}
    if task["kind"] == "run":
        return {"kind": "run", "output": None, "reason": "exception: E", "fuel": 2}
    case = lambda name: {"name": name, "value": 1.0, "verdict": "pass", "fuel": 3}
    names = [case["name"] for case in task["cases"]] if task["kind"] == "cases" else ["test_a"]
    return {"kind": task["kind"], "cases": [case(name) for name in names]}
def report(asked):
    results = [result(task) for task in asked["job"]["tasks"]]
    return {"id": asked["id"], "report": {"judge": dict(JUDGE), "results": results}}
def asked():
    for line in sys.stdin:
        yield json.loads(line)
"#;

/// A judge that does what it should.
const HONEST: &str = "say(HELLO)\nfor one in asked():\n    say(report(one))\n";

fn judges_with(body: &str, folder: &Path, options: Options) -> Judges {
    let code = format!("{HELLO}\n{body}");
    let arguments = ["python3".into(), "-c".into(), code.into(), folder.into()];
    let start = Start {
        program: "/usr/bin/env".into(),
        arguments: arguments.into(),
        patience: options.start,
        tells: false,
    };
    Judges::of(Ok(start), options)
}

fn options() -> Options {
    Options { processes: 2, ..Options::default() }
}

/// Options with little patience.
fn hasty() -> Options {
    Options { spare: Duration::from_millis(300), fuel_per_second: 1_000_000_000_000, ..options() }
}

fn cases(names: &[&str]) -> Task {
    let case = |name: &&str| Case {
        name: (*name).to_owned(),
        run: Run::Call { function: "solve".to_owned(), args: vec![json!(1)] },
        expect: json!(2),
        compare: Compare { primitive: "exact_match".to_owned(), options: BTreeMap::new() },
    };
    Task::Cases { file: "a.cases.toml".to_owned(), cases: names.iter().map(case).collect() }
}

fn script() -> Task {
    Task::Script {
        file: "a.py".to_owned(),
        source: "def evaluate(answer, truth, match): ...".to_owned(),
        dimensions: vec!["methodology".to_owned(), "correctness".to_owned()],
        answer: Value::Null,
        truth: Value::Null,
        r#match: Value::Null,
    }
}

fn suite() -> Task {
    Task::Suite { file: "a_test.py".to_owned(), source: "def test_a(self): ...".to_owned() }
}

fn job(tasks: Vec<Task>) -> Job {
    Job {
        runtime: "python".to_owned(),
        runtime_digest: None,
        files: BTreeMap::from([("solution.py".to_owned(), "x = 'a\\n\u{2028}é'".to_owned())]),
        limits: Limits { fuel: 1_000_000, memory_mib: 64, output_kib: 64 },
        seed: 1,
        tasks,
    }
}

/// Asks one job of a judge, and returns its answer and how many processes broke.
fn asked_of(body: &str, options: Options) -> (Result<Report, Unjudged>, u64) {
    let folder = tempfile::tempdir().unwrap();
    let judges = judges_with(body, folder.path(), options);
    let answer = judges.judge(&job(vec![cases(&["a", "b"]), script(), suite()]));
    (answer, judges.activity().broken)
}

fn no_verdict(body: &str, options: Options) -> String {
    match asked_of(body, options) {
        (Err(Unjudged::NoVerdict(why)), _) => why,
        (other, _) => panic!("expected no verdict, found {other:?} from\n{body}"),
    }
}

#[test]
fn an_honest_judge_is_asked_again_and_again_in_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let body = format!("count('starts')\n{HONEST}");
    let judges = judges_with(&body, folder.path(), options());
    for _ in 0..5 {
        let report = judges.judge(&job(vec![cases(&["a"]), script(), suite()])).unwrap();
        assert_eq!(report.judge.engine, "fake 1.0");
        assert_eq!(report.results.len(), 3);
    }
    assert_eq!(fs::read_to_string(folder.path().join("starts")).unwrap().lines().count(), 1);
    assert_eq!(judges.known_hello().unwrap().runtimes["python"], format!("sha256:{}", "a".repeat(64)));
    assert_eq!((judges.activity().reports, judges.activity().broken), (5, 0));
}

#[test]
fn jobs_of_many_threads_get_their_own_answers() {
    let folder = tempfile::tempdir().unwrap();
    let judges = judges_with(HONEST, folder.path(), options());
    thread::scope(|scope| {
        for number in 0..16 {
            let judges = &judges;
            scope.spawn(move || {
                let name = format!("case {number}");
                let report = judges.judge(&job(vec![cases(&[&name])])).unwrap();
                let TaskReport::Cases { cases } = &report.results[0] else { panic!("no cases") };
                assert_eq!(cases[0].name, name);
            });
        }
    });
    assert_eq!(judges.activity().reports, 16);
    assert!(judges.idle.lock().unwrap().len() <= 2);
}

#[test]
fn what_breaks_once_costs_nothing() {
    for (name, first) in [
        ("dies", "os._exit(3)"),
        ("dies by a signal", "os.kill(os.getpid(), 9)"),
        ("closes", "os.close(1); time.sleep(60)"),
        ("half a line", "sys.stdout.write('{\"id\":1,'); sys.stdout.flush(); os._exit(0)"),
        ("garbage", "say('Traceback (most recent call last):')"),
        ("not UTF-8", "sys.stdout.buffer.write(b'\\xff\\xfe\\n'); sys.stdout.flush()"),
        ("another id", "say(dict(report(one), id=one['id'] + 1))"),
        ("the id as a text", "say(dict(report(one), id=str(one['id'])))"),
        ("no id", "say({'report': report(one)['report']})"),
        ("nothing", "say({'id': one['id']})"),
        ("two answers in one", "say(dict(report(one), no_verdict='so'))"),
        ("an empty refusal", "say({'id': one['id'], 'refused': []})"),
        ("a deep answer", "say('[' * 100000)"),
    ] {
        let body = format!(
            "say(HELLO)\nfor one in asked():\n    if count('asked') == 1:\n        {first}\n    else:\n        say(report(one))"
        );
        let (answer, broken) = asked_of(&body, options());
        assert_eq!(answer.expect(name).results.len(), 3, "{name}");
        assert_eq!(broken, 1, "{name}");
    }
}

#[test]
fn what_breaks_always_is_no_verdict_and_says_why() {
    let always = |what: &str| format!("say(HELLO)\nfor one in asked():\n    {what}\n");
    for (what, expected) in [
        (
            "sys.stderr.write('out of\\n memory'); sys.stderr.flush(); os._exit(7)",
            "exit status 7; its last words: out of memory",
        ),
        ("os.kill(os.getpid(), 9)", "signal 9"),
        ("say('no')", "an unreadable answer"),
        ("say(dict(report(one), id=0))", "its `id` is `0`, expected 1"),
    ] {
        let why = no_verdict(&always(what), options());
        assert!(why.contains(expected) && why.contains("second one"), "{why}");
    }
    let why = no_verdict(&always("time.sleep(60)"), hasty());
    assert!(why.contains("did not answer within"), "{why}");
}

#[test]
fn reports_that_cannot_be_are_no_answers() {
    let changed = |change: &str| {
        format!(
            "say(HELLO)\nfor one in asked():\n    it = report(one)\n    all = it['report']['results']\n    {change}\n    say(it)"
        )
    };
    for change in [
        "all.pop()",
        "all.reverse()",
        "all[0]['cases'].pop()",
        "all[0]['cases'].reverse()",
        "all[0]['cases'][0]['value'] = 0.5",
        "all[0]['cases'][0]['value'] = 1.5",
        "all[0]['cases'][0]['value'] = None",
        "all[0]['cases'][0]['verdict'] = 'fail'",
        "all[0]['cases'][0]['verdict'] = 'skip'",
        "all[0]['cases'][0]['fuel'] = -1",
        "all[2]['cases'] *= 2",
        "del all[1]['scores']['correctness']",
        "all[1]['scores']['speed'] = 1.0",
        "all[1]['scores']['correctness'] = 1000.0001",
        "all[1]['scores']['correctness'] = -0.5",
        "all[1]['scores']['correctness'] = float('nan')",
        "it['report']['judge']['engine'] = 'fake 1.1'",
        "it['report']['judge']['version'] = '0.2.0'",
        "it['report']['judge']['runtime'] = 'wasm'",
        "it['report']['judge']['runtime_digest'] = 'sha256:' + 'b' * 64",
    ] {
        let why = no_verdict(&changed(change), options());
        assert!(why.contains("an unreadable answer"), "{change}: {why}");
    }
    assert!(asked_of(&changed("pass"), options()).0.is_ok());
    let of_run = |change: &str| {
        let folder = tempfile::tempdir().unwrap();
        let run = Run::Call { function: "solve".to_owned(), args: Vec::new() };
        judges_with(&changed(change), folder.path(), options()).judge(&job(vec![Task::Run { run }]))
    };
    assert!(of_run("pass").is_ok() && of_run("all[0].update(output=1, reason=None)").is_ok());
    assert!(of_run("all[0]['output'] = 1").is_err() && of_run("all[0]['reason'] = None").is_ok());
}

#[test]
fn a_judge_may_say_that_it_cannot_or_that_the_challenge_is_broken() {
    let body = "say(HELLO)\nfor one in asked():\n    say({'id': one['id'], 'no_verdict': 'there is no runtime `python`'})";
    assert_eq!(
        asked_of(body, options()),
        (Err(Unjudged::NoVerdict("there is no runtime `python`".into())), 0)
    );
    let body = "say(HELLO)\nfor one in asked():\n    say({'id': one['id'], 'refused': [{'file': 'a.py', 'place': 'line 3', 'found': 'x', 'expected': 'y'}]})";
    let (Err(Unjudged::Challenge(faults)), 0) = asked_of(body, options()) else { panic!("not refused") };
    assert_eq!(faults[0].place, "line 3");
}

#[test]
fn what_says_no_sound_hello_is_not_asked() {
    for (body, expected) in [
        ("say(dict(HELLO, **{'karat-judge': 2}))\ntime.sleep(60)", "version 2 of the protocol, expected 1"),
        ("say('usage: judge FILE')", "expected `{\"karat-judge\":1"),
        ("say({'version': '1'})", "expected `{\"karat-judge\":1"),
        ("say(dict(HELLO, runtimes=['python']))", "expected `{\"karat-judge\":1"),
        ("os._exit(4)", "exit status 4"),
        ("sys.exit('no such folder')", "no such folder"),
        ("time.sleep(60)", "did not answer within"),
    ] {
        let why = no_verdict(body, Options { start: Duration::from_secs(2), ..options() });
        assert!(why.contains(expected), "{body}: {why}");
    }
    let start = Start {
        program: "/no/such/judge".into(),
        arguments: Vec::new(),
        patience: Duration::ZERO,
        tells: false,
    };
    let judges = Judges::of(Ok(start), options());
    let Err(Unjudged::NoVerdict(why)) = judges.judge(&job(vec![])) else { panic!("a verdict of no one") };
    assert!(why.contains("cannot start") && judges.hello().unwrap_err() == why, "{why}");
}

#[test]
fn floods_are_cut() {
    let line = no_verdict(
        "say(HELLO)\nfor one in asked():\n    while True: sys.stdout.write('x' * (1 << 20))",
        options(),
    );
    assert!(line.contains("a line of more than 32 MiB"), "{line}");
    // What is written to standard error is kept in its last part only, and stops no one.
    let body = "say(HELLO)\nfor one in asked():\n    sys.stderr.write('y' * (1 << 22) + ' end')\n    sys.stderr.flush()\n    os._exit(1)";
    let why = no_verdict(body, options());
    assert!(why.contains("y end;") && why.len() < 2000, "{}", why.len());
    // Lines without end are not read: the first is the answer, and the process is not asked again.
    let body = "say(HELLO)\nfor one in asked():\n    say(report(one))\n    while True: say('z')";
    assert!(asked_of(body, options()).0.is_ok());
}

#[test]
fn a_judge_that_answers_twice_gives_no_other_job_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    let body =
        "say(HELLO)\nfor one in asked():\n    say(report(one))\n    time.sleep(0.01)\n    say(report(one))";
    let judges = judges_with(body, folder.path(), options());
    for number in 0..6 {
        let name = format!("case {number}");
        let report = judges.judge(&job(vec![cases(&[&name])])).unwrap();
        let TaskReport::Cases { cases } = &report.results[0] else { panic!("no cases") };
        assert_eq!(cases[0].name, name);
        if number % 2 == 0 {
            thread::sleep(Duration::from_millis(30));
        }
    }
    assert!(judges.activity().broken > 0);
}

#[test]
fn a_judge_that_does_not_read_stops_no_one() {
    let mut big = job(vec![cases(&["a"])]);
    big.files.insert("data".to_owned(), "x".repeat(4 << 20));
    let folder = tempfile::tempdir().unwrap();
    let judges = judges_with("say(HELLO)\ntime.sleep(60)", folder.path(), hasty());
    let began = Instant::now();
    assert!(matches!(judges.judge(&big), Err(Unjudged::NoVerdict(_))));
    assert!(began.elapsed() < Duration::from_secs(30));
    let judges = judges_with(HONEST, folder.path(), options());
    assert!(judges.judge(&big).is_ok());
}

#[test]
fn nothing_is_left_of_the_group_of_a_judge_that_hangs() {
    let folder = tempfile::tempdir().unwrap();
    let body = "count('parents')\nif os.fork() == 0:\n    count('children')\n    time.sleep(600)\nsay(HELLO)\ntime.sleep(600)";
    let judges = judges_with(body, folder.path(), hasty());
    assert!(judges.judge(&job(vec![])).is_err());
    drop(judges);
    for name in ["parents", "children"] {
        for id in fs::read_to_string(folder.path().join(name)).unwrap_or_default().lines() {
            let until = Instant::now() + Duration::from_secs(10);
            let runs = || {
                let state = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
                !state.is_empty() && !state.contains(") Z")
            };
            while runs() && Instant::now() < until {
                thread::sleep(Duration::from_millis(5));
            }
            assert!(!runs(), "{name}: {id} still runs");
        }
    }
}

#[test]
fn one_that_leaves_its_group_or_its_pipes_to_others_holds_up_no_one() {
    let began = Instant::now();
    // A member of another group is not ended with its own.
    let body = "os.setpgid(0, os.getpgid(os.getppid()))\nsay(HELLO)\nfor one in asked():\n    say('no')";
    let why = no_verdict(body, options());
    assert!(why.contains("an unreadable answer"), "{why}");
    // The pipes stay open in a session of another process.
    let body = "say(HELLO)\nfor one in asked():\n    if os.fork() == 0:\n        os.setsid()\n        time.sleep(20)\n    os._exit(3)";
    let why = no_verdict(body, options());
    assert!(why.contains("exit status 3"), "{why}");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

#[test]
fn what_it_says_is_cut_and_steers_no_terminal() {
    let body = "say(HELLO)\nfor one in asked():\n    say({'id': one['id'], 'no_verdict': '\\x1b[2J' + 'y' * 5000000})";
    let why = no_verdict(body, options());
    assert!(why.starts_with('\u{fffd}') && why.chars().count() <= 1001, "{}", why.len());
    let body = "say(HELLO)\nfault = {'file': '\\x1b', 'place': 'a', 'found': 'x' * 5000, 'expected': 'y'}\nfor one in asked():\n    say({'id': one['id'], 'refused': [fault] * 500})";
    let (Err(Unjudged::Challenge(faults)), _) = asked_of(body, options()) else { panic!("not refused") };
    let sizes = (faults.len(), faults[0].found.chars().count(), faults[0].file.as_str());
    assert_eq!(sizes, (100, 1001, "\u{fffd}"));
    let why = no_verdict("say(dict(HELLO, engine='e' * 1000))\ntime.sleep(60)", options());
    assert!(why.contains("is not a judge of this version"), "{why}");
}

#[test]
fn a_process_that_died_while_it_waited_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let body = "say(HELLO)\nfor one in asked():\n    say(report(one))\n    os._exit(0)";
    let judges = judges_with(body, folder.path(), options());
    for _ in 0..4 {
        assert!(judges.judge(&job(vec![cases(&["a"])])).is_ok());
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(judges.activity().reports, 4);
}

#[test]
fn one_that_dies_costs_no_job_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let body = "say(HELLO)\nfor one in asked():\n    if one['job']['seed'] == 13: os._exit(1)\n    time.sleep(0.02)\n    say(report(one))";
    let judges = judges_with(body, folder.path(), Options { processes: 3, ..options() });
    let lost: Vec<u64> = thread::scope(|scope| {
        let handles: Vec<_> = (0..24)
            .map(|seed| {
                let judges = &judges;
                scope.spawn(move || {
                    let one = Job { seed, ..job(vec![cases(&["a"])]) };
                    judges.judge(&one).is_err().then_some(seed)
                })
            })
            .collect();
        handles.into_iter().filter_map(|handle| handle.join().unwrap()).collect()
    });
    assert_eq!(lost, [13]);
    assert_eq!(judges.activity().broken, 2, "the job was asked twice");
}

#[test]
fn waiting_is_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let body = "say(HELLO)\nfor one in asked():\n    time.sleep(3)\n    say(report(one))";
    let options = Options { processes: 1, queue: 1, wait: Duration::from_millis(400), ..options() };
    let judges = judges_with(body, folder.path(), options);
    let (mut late, mut full) = (0, 0);
    thread::scope(|scope| {
        let first = scope.spawn(|| judges.judge(&job(vec![])));
        while judges.activity().at_work == 0 {
            thread::yield_now();
        }
        let handles: Vec<_> = (0..3).map(|_| scope.spawn(|| judges.judge(&job(vec![])))).collect();
        for handle in handles {
            match handle.join().unwrap() {
                Err(Unjudged::NoVerdict(why)) if why.contains("no judge was free within") => late += 1,
                Err(Unjudged::NoVerdict(why)) if why.contains("other jobs wait") => full += 1,
                other => panic!("{other:?}"),
            }
        }
        assert!(first.join().unwrap().is_ok());
    });
    assert_eq!((late, full), (1, 2));
}

#[test]
fn patience_grows_with_the_fuel_of_a_job_and_never_overflows() {
    let judges = Judges::of(Err(String::new()), Options::default());
    let with = |fuel, tasks| {
        let mut job = job(tasks);
        job.limits.fuel = fuel;
        judges.patience(&job)
    };
    let spare = judges.options.spare;
    assert_eq!(with(2_000_000_000, vec![cases(&["a"])]), spare + Duration::from_secs(401));
    assert_eq!(with(2_000_000_000, vec![cases(&["a", "b"]), script()]), spare + Duration::from_secs(1203));
    assert_eq!(with(1, vec![suite()]), spare + Duration::from_secs(5));
    assert!(with(u64::MAX, vec![cases(&["a", "b"])]) > Duration::from_secs(1 << 30));
}

#[test]
fn secrets_of_the_caller_do_not_reach_it() {
    let body = "say(HELLO)\nfor one in asked():\n    found = [name for name in os.environ if name.startswith('CARGO')]\n    say({'id': one['id'], 'no_verdict': ' '.join(found)})";
    // Cargo gives its tests many variables.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert_eq!(no_verdict(body, options()), "");
}

#[test]
fn a_job_that_ends_its_judges_holds_up_no_other_for_long() {
    let folder = tempfile::tempdir().unwrap();
    // Once it ends its process, then it hangs.
    let body = "say(HELLO)\nfor one in asked():\n    if one['job']['seed'] == 13:\n        if count('bad') == 1: os._exit(1)\n        time.sleep(60)\n    say(report(one))";
    let options = Options { alone: Duration::from_millis(600), spare: Duration::from_secs(8), ..hasty() };
    let judges = judges_with(body, folder.path(), options);
    thread::scope(|scope| {
        let bad = scope.spawn(|| judges.judge(&Job { seed: 13, ..job(vec![cases(&["a"])]) }));
        while fs::read_to_string(folder.path().join("bad")).unwrap_or_default().lines().count() < 2 {
            thread::sleep(Duration::from_millis(5));
        }
        // It is alone for a moment; then the others go on beside it.
        assert_eq!(judges.activity().at_work, 2);
        for _ in 0..3 {
            assert!(judges.judge(&job(vec![cases(&["a"])])).is_ok());
        }
        assert_eq!(judges.activity().at_work, 1);
        assert!(!bad.is_finished(), "the others had to wait until it was given up");
        let Err(Unjudged::NoVerdict(why)) = bad.join().unwrap() else { panic!("a verdict") };
        assert!(why.contains("exit status 1") && why.contains("did not answer within"), "{why}");
    });
}

#[test]
fn a_job_that_hangs_is_never_alone() {
    let folder = tempfile::tempdir().unwrap();
    let body = "say(HELLO)\nfor one in asked():\n    if one['job']['seed'] == 13:\n        count('bad')\n        time.sleep(60)\n    say(report(one))";
    let options = Options { spare: Duration::from_secs(3), ..hasty() };
    let judges = judges_with(body, folder.path(), options);
    thread::scope(|scope| {
        let bad = scope.spawn(|| judges.judge(&Job { seed: 13, ..job(vec![cases(&["a"])]) }));
        while fs::read_to_string(folder.path().join("bad")).unwrap_or_default().lines().count() < 2 {
            assert!(judges.judge(&job(vec![cases(&["a"])])).is_ok());
        }
        assert!(judges.judge(&job(vec![cases(&["a"])])).is_ok());
        assert!(!bad.is_finished() && judges.activity().at_work == 1);
        assert!(bad.join().unwrap().is_err());
    });
}

#[test]
fn a_job_that_cannot_be_alone_is_asked_beside_others() {
    let folder = tempfile::tempdir().unwrap();
    let body = "say(HELLO)\nfor one in asked():\n    if one['job']['seed'] == 13 and count('bad') == 1: os._exit(1)\n    if one['job']['seed'] == 7: time.sleep(6)\n    say(report(one))";
    let judges = judges_with(body, folder.path(), Options { alone: Duration::from_millis(300), ..options() });
    thread::scope(|scope| {
        let long = scope.spawn(|| judges.judge(&Job { seed: 7, ..job(vec![cases(&["a"])]) }));
        while judges.activity().at_work == 0 {
            thread::yield_now();
        }
        assert!(judges.judge(&Job { seed: 13, ..job(vec![cases(&["a"])]) }).is_ok());
        assert!(!long.is_finished(), "it waited for the long one");
        assert!(long.join().unwrap().is_ok());
    });
}
