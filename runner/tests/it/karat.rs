//! `karat run` and `karat judge doctor` with the program that they start: statuses, refusals, signals. The program karat is the
//! one in `KARAT`, else it is built, without its server.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use serde_json::Value;

const PLAN: &str = "examples/run/plan.json";
const TASK: &str = "examples/run/task.json";
const RECORDING: &str = "examples/run/recording.jsonl";
const EVIDENCE: &str = "examples/run/evidence.json";
const KEY: &str = "examples/run/recorder.key";

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

pub fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The program karat.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        if let Some(path) = std::env::var_os("KARAT") {
            return path.into();
        }
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("karat");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--locked", "--package", "karat-cli", "--no-default-features"]);
        cargo.current_dir(root()).arg("--target-dir").arg(&target);
        assert!(cargo.status().unwrap().success());
        target.join("debug/karat")
    })
}

/// The status and output of a command.
pub struct Run {
    pub stdout: String,
    pub stderr: String,
    pub status: i32,
}

impl Run {
    /// Returns the whole screen without digests, for a snapshot.
    pub fn screen(&self) -> String {
        let mut screen = format!("exit status {}\n", self.status);
        for (name, text) in [("output", &self.stdout), ("errors", &self.stderr)] {
            if !text.is_empty() {
                screen.push_str(&format!("--- {name}\n{}\n", without_digests(text).trim_end()));
            }
        }
        screen
    }
}

impl Run {
    /// Checks the status, and a part of the errors.
    #[track_caller]
    pub fn ends(&self, status: i32, told: &str) {
        assert_eq!(self.status, status, "{}", self.stderr);
        assert!(self.stderr.contains(told), "{told}: {}", self.stderr);
    }
}

fn without_digests(text: &str) -> String {
    let mut pieces = text.split("sha256:");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| {
        format!("{text}sha256:[digest]{}", piece.trim_start_matches(|c: char| c.is_ascii_hexdigit()))
    })
}

/// Returns karat, which starts the runner of this build.
pub fn program(folder: &Path) -> Command {
    let mut command = Command::new(built());
    command.current_dir(folder).stdin(Stdio::null()).env("KARAT_RUNNER", env!("CARGO_BIN_EXE_karat-runner"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "TERM", "CI", "KARAT_FORMAT"] {
        command.env_remove(name);
    }
    command
}

pub fn finish(command: &mut Command) -> Run {
    let output = command.output().unwrap();
    Run {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        status: output.status.code().unwrap(),
    }
}

fn karat(arguments: &[&str]) -> Run {
    finish(program(&root()).args(arguments))
}

/// A folder for one test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path().join(name), text).unwrap();
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }
}

const LAYERS: [&str; 10] =
    ["user", "processes", "files", "landlock", "network", "ipc", "memory", "tasks", "limits", "calls"];

/// Two steps by scripts: the second hands on what the first says.
fn small(folder: &Folder, first: &str, second: &str) {
    let plan = r#"{"miner_uid": 7, "workflow_plan": {"nodes": [{"id": "a", "subnet": "one", "action": "x"},
        {"id": "b", "subnet": "two", "action": "x", "params": {"of": "${a.output.text}"}}],
        "edges": [{"from": "a", "to": "b"}]}}"#;
    folder.write("plan.json", plan);
    folder.write(
        "task.json",
        r#"{"task_id": "t", "task_type": "agent", "constraints": {"max_budget_tao": 1, "max_latency_seconds": 60},
            "reference": {"goal_checklist": [{"text": "done"}]}}"#,
    );
    folder.write("one.sh", first);
    folder.write("two.sh", second);
    let executor = |name: &str| {
        format!(
            "[executor.{name}]\nkind = \"command\"\ncommand = [\"/bin/sh\", \"{name}.sh\"]\nenvironment = [\"PATH\"]\ncost = 0.01\n"
        )
    };
    folder.write("executors.toml", &format!("{}{}", executor("one"), executor("two")));
}

const DONE: &str = "echo '{\"output\": {\"text\": \"done\"}}'";

fn run_in(folder: &Folder, arguments: &[&str]) -> Run {
    finish(program(folder.path()).args(["run", "plan.json", "--task", "task.json"]).args(arguments))
}

#[test]
fn the_example_runs_and_its_run_replays() {
    let folder = Folder::new();
    let record = folder.path().join("run.jsonl").display().to_string();
    let executors = "examples/run/executors.toml";
    let live = karat(&["run", PLAN, "--task", TASK, "--executors", executors, "--record", &record]);
    assert_eq!(live.status, 0, "{}", live.stderr);
    assert_eq!(live.stderr, format!("recorded in {record}\n"));
    let replayed = karat(&["run", PLAN, "--task", TASK, "--replay", &record]);
    assert_eq!(replayed.stdout, live.stdout);
    let item: Value = serde_json::from_str(&live.stdout).unwrap();
    let first: Value = serde_json::from_str(&read(EVIDENCE)).unwrap();
    // The same in another time, unless the machine is too slow for the second attempt at the weather.
    assert_eq!(item["result"]["attempts"][0]["step"], first["result"]["attempts"][0]["step"]);
    assert_eq!(item["workflow_plan"], first["workflow_plan"]);
}

#[test]
fn a_recording_is_signed_and_named_by_its_digest_in_a_folder() {
    let folder = Folder::new();
    small(&folder, DONE, DONE);
    folder.write("run.key", &format!("me.example\n{}\n", "5a".repeat(32)));
    fs::create_dir(folder.path().join("kept")).unwrap();
    let live = run_in(&folder, &["--executors", "executors.toml", "--record", "kept", "--sign", "run.key"]);
    assert_eq!(live.status, 0, "{}", live.stderr);
    let item: Value = serde_json::from_str(&live.stdout).unwrap();
    let digits = item["id"].as_str().unwrap().trim_start_matches("sha256:").to_owned();
    let path = format!("kept/{digits}.jsonl");
    let key = live.stderr.trim().rsplit(' ').next().unwrap().to_owned();
    assert_eq!(live.stderr, format!("recorded in {path}, signed by {key}\n"));
    assert!(
        !format!("{}{}{}", live.stdout, live.stderr, fs::read_to_string(folder.path().join(&path)).unwrap())
            .contains("5a5a5a5a")
    );

    let replay = |key: &str| run_in(&folder, &["--replay", &path, "--key", key]);
    assert_eq!((replay(&key).status, replay(&key).stdout), (0, live.stdout.clone()));
    let other = read(KEY);
    let refused = replay(other.trim());
    assert_eq!((refused.status, refused.stdout.as_str()), (14, ""));
    assert!(refused.stderr.contains("no signature is by the trusted key"), "{}", refused.stderr);

    folder.write("evidence.json", &live.stdout);
    let verify = |arguments: &[&str]| {
        finish(program(folder.path()).args(["verify", "--rerun", &path, "evidence.json"]).args(arguments))
    };
    assert_eq!(verify(&["--key", &key]).status, 0);
    assert_eq!(verify(&[]).status, 12);
    assert_eq!(verify(&["--key", other.trim()]).status, 14);
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let folder = Folder::new();
    small(&folder, DONE, DONE);
    let plan = fs::read_to_string(folder.path().join("plan.json")).unwrap();
    folder.write("plan.json", &plan.replace("\"from\": \"a\"", "\"from\": \"z\""));
    folder.write("task.json", r#"{"task_type": "agent", "constraints": {"max_budget_tao": "1"}}"#);
    folder.write("executors.toml", "[executor.one]\nkind = \"command\"\ncommnd = []\n");
    let run = run_in(&folder, &["--executors", "executors.toml", "--record", "run.jsonl"]);
    assert_snapshot!(run.screen(), @r#"
    exit status 1
    --- errors
    error: plan.json: $.workflow_plan.nodes[1].params.of: found `${a.output.text}`, a step that does not lie upstream, expected a step from which edges lead here; add an edge from `a` to `b` (line 2, column 70)
    error: plan.json: $.workflow_plan.edges[0].from: found `z`, expected the id of a step of the plan; did you mean `a`? (line 3, column 28)
    error: task.json: $.constraints.max_budget_tao: found the text `1`, expected a number not below 0; write the number without quotes (line 1, column 58)
    error: executors.toml: `[executor.one]` has no `cost`; add `cost = 0.001` (line 1, column 11)
    error: executors.toml: `[executor.one]` has no field `commnd`; did you mean `command`? (line 3, column 1)
    "#);
    assert!(!folder.path().join("run.jsonl").exists());

    small(&folder, DONE, DONE);
    folder.write("executors.toml", "[executor.Two]\nkind = \"command\"\ncommand = [\"/bin/sh\"]\ncost = 0\n");
    let run = run_in(&folder, &["--executors", "executors.toml"]);
    assert_snapshot!(run.screen(), @r"
    exit status 1
    --- errors
    error: executors.toml: no executor for the subnet `one` of the step `a`; add a table `[executor.NAME]`
    ");
}

/// Nothing is paid for that could not be kept.
#[test]
fn a_place_where_nothing_can_be_recorded_is_told_before_the_run() {
    let folder = Folder::new();
    small(&folder, "touch was-run", DONE);
    folder.write("notes.txt", "mine");
    for (record, more) in
        [("notes.txt", ""), ("none/run.jsonl", ""), ("run.jsonl", "none.key"), ("run.jsonl", "notes.txt")]
    {
        let sign: &[&str] = if more.is_empty() { &[] } else { &["--sign", more] };
        let run =
            run_in(&folder, &[&["--executors", "executors.toml", "--record", record][..], sign].concat());
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{record} {more}");
        assert!(run.stderr.starts_with("error: "), "{}", run.stderr);
    }
    assert!(!folder.path().join("was-run").exists());
    assert_eq!(fs::read_to_string(folder.path().join("notes.txt")).unwrap(), "mine");
}

/// Runs the small plan, whose second step starts another session and waits, and sends a signal. Returns what the run wrote.
fn interrupted(folder: &Folder, sandbox: &str, signal: &str) -> (ExitStatus, String) {
    // Its number is seen from outside only without a namespace, so its command line has the folder in it.
    let place = folder.path().join("under-way").display().to_string();
    let waits =
        format!("setsid sh -c 'sleep 300; : {place}' &\necho x > under-way/begun\nsleep 300; : {place}");
    small(folder, DONE, &waits);
    fs::create_dir(folder.path().join("under-way")).unwrap();
    let mut executors = fs::read_to_string(folder.path().join("executors.toml")).unwrap();
    if sandbox != "off" {
        let open = fs::Permissions::from_mode(0o777);
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(folder.path().join("under-way"), open).unwrap();
        executors.push_str(&format!("sandbox = \"{sandbox}\"\nread = [\".\"]\nwrite = [\"under-way\"]\n"));
    }
    folder.write("executors.toml", &executors);
    let known = program(folder.path());
    // What `nohup` has started ignores SIGHUP, and so does all that it starts.
    let mut command = Command::new("env");
    command.arg("--default-signal=HUP").arg(known.get_program()).current_dir(folder.path());
    for (name, value) in known.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.args("run plan.json --task task.json --executors executors.toml --record run.jsonl".split(' '));
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    while !folder.path().join("under-way/begun").exists() {
        assert!(
            begun.elapsed() < Duration::from_secs(60) && child.try_wait().unwrap().is_none(),
            "{sandbox}"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    let status = child.wait().unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    let left = || {
        let lines = fs::read_dir("/proc").unwrap().flatten();
        let lines = lines.filter_map(|it| fs::read(it.path().join("cmdline")).ok());
        lines.filter(|line| String::from_utf8_lossy(line).contains(&place)).count()
    };
    let begun = Instant::now();
    while left() > 0 {
        assert!(begun.elapsed() < Duration::from_secs(20), "{sandbox} {signal}: {} are left", left());
        std::thread::sleep(Duration::from_millis(10));
    }
    (status, text)
}

#[test]
fn an_interrupt_keeps_what_was_done_and_has_a_status_of_its_own() {
    for (sandbox, signal) in
        [("off", "-INT"), ("off", "-TERM"), ("off", "-HUP"), ("best", "-INT"), ("best", "-TERM")]
    {
        let folder = Folder::new();
        let (status, text) = interrupted(&folder, sandbox, signal);
        assert_eq!(status.code(), Some(15), "{sandbox} {signal}");
        let item: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&item["outcome"], &item["result"]["attempts"][0]["step"]),
            (&"stopped".into(), &"a".into())
        );
        assert_eq!(item["result"]["attempts"].as_array().unwrap().len(), 1);
        let replayed = run_in(&folder, &["--replay", "run.jsonl"]);
        assert_eq!((replayed.status, replayed.stdout), (0, text.clone()));
        // It is not scored as if it had run to its end.
        folder.write("stopped.json", &text);
        let scored =
            finish(program(folder.path()).args(["score", "-c", "workflow", "stopped.json", "--json"]));
        let record: Value = serde_json::from_str(&scored.stdout).unwrap();
        assert_eq!(record["evidence"]["outcome"], "stopped");
    }
}

/// Killed, it can write nothing; but nothing that it started goes on, no file is half written, and the next run is whole.
#[test]
fn a_run_that_is_killed_leaves_no_process_and_no_file() {
    for sandbox in ["off", "best"] {
        let folder = Folder::new();
        let (status, text) = interrupted(&folder, sandbox, "-KILL");
        assert_eq!((status.code(), text.as_str()), (None, ""), "{sandbox}");
        let names: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
        assert!(!names.iter().any(|name| name.to_string_lossy().contains("jsonl")), "{sandbox}: {names:?}");
    }
}

#[test]
fn an_executor_that_cannot_work_is_an_error_and_no_score() {
    let folder = Folder::new();
    small(&folder, DONE, DONE);
    fs::copy(root().join(RECORDING), folder.path().join("earlier.jsonl")).unwrap();
    let text = fs::read_to_string(folder.path().join("executors.toml")).unwrap();
    let (one, _) = text.split_once("[executor.two]").unwrap();
    folder.write(
        "executors.toml",
        &format!("{one}[executor.two]\nkind = \"replay\"\nrecording = \"earlier.jsonl\"\n"),
    );
    let run = run_in(&folder, &["--executors", "executors.toml"]);
    assert_eq!(run.status, 1);
    assert_snapshot!(Run { stdout: String::new(), ..run }.screen(), @r"
    exit status 1
    --- errors
    error: step `b`, attempt 1 is not in the recording sha256:[digest]
      the run was stopped there; what was done is in its evidence
    ");
}

#[test]
fn every_layer_holds_or_is_missing_with_a_reason_and_a_remedy() {
    let run = karat(&["judge", "doctor", "--json"]);
    assert_eq!((run.status, run.stderr.as_str()), (0, ""));
    let found: Value = serde_json::from_str(&run.stdout).unwrap();
    let layers = found["sandbox"]["layers"].as_array().unwrap();
    assert_eq!(layers.iter().map(|it| it["layer"].as_str().unwrap()).collect::<Vec<_>>(), LAYERS);
    let mut is_whole = true;
    for layer in layers {
        let said = |name: &str| layer[name].as_str().is_some_and(|text| !text.is_empty());
        let holds = layer["holds"].as_bool().unwrap();
        assert!(if holds { said("means") } else { said("why") && said("remedy") }, "{layer}");
        is_whole &= holds;
    }
    assert_eq!(found["sandbox"]["strict"], is_whole);
    assert_eq!(karat(&["judge", "doctor", "--strict"]).status, if is_whole { 0 } else { 1 });

    let table = karat(&["judge", "doctor", "--table"]).stdout;
    for name in LAYERS {
        assert!(table.lines().any(|line| line.contains(&format!(" {name} "))), "{name}: {table}");
    }
    // Paths and digests are not broken.
    let is_whole_name = |line: &str| line.contains('/') || line.contains("sha256:");
    assert!(table.lines().all(|line| line.chars().count() <= 80 || is_whole_name(line)), "{table}");
    assert_eq!(table.contains("a strict sandbox can be had"), is_whole, "{table}");
}
