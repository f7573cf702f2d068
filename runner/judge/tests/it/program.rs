//! The program: lines in, lines out.

use std::io::{BufRead as _, BufReader, Write};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::*;

fn start(arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_karat-judge"))
        .args(arguments)
        .arg("--runtimes")
        .arg(runtimes())
        .arg("--cache")
        .arg(cache())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn run(arguments: &[&str], input: &[u8]) -> Output {
    let mut child = start(arguments);
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join().unwrap();
    output
}

fn lines(output: &Output) -> Vec<Value> {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone())
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn every_line_is_answered_whatever_it_is() {
    let good = json!({"id": 1, "job": job("def solve(): return 1", vec![case("a", call(&[]), json!(1))])});
    let mut other = good.clone();
    other["id"] = json!("two");
    other["job"]["runtime_digest"] = json!(format!("sha256:{}", "0".repeat(64)));
    let mut unknown = good.clone();
    unknown["job"]["runtime"] = json!("cobol");
    let mut broken = good.clone();
    broken["job"]["tasks"][0]["cases"][0]["compare"]["primitive"] = json!("guess");
    let large = good.to_string().replace("\"expect\":1", "\"expect\":99999999999999999999");
    let input = [
        good.to_string(),
        other.to_string(),
        unknown.to_string(),
        broken.to_string(),
        large,
        "nonsense".to_owned(),
        "{\"id\": 7}".to_owned(),
        String::new(),
        good.to_string(),
    ]
    .join("\n");
    let mut bytes = input.into_bytes();
    bytes.extend(b"\n\xff\xfe\n");
    let found = lines(&run(&[], &bytes));
    assert_eq!(found[0]["karat-judge"], 1);
    assert_eq!(found[0]["engine"], "wasmtime 48.0.8");
    assert!(found[0]["runtimes"]["python"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(found[1]["report"]["results"][0]["cases"][0]["verdict"], "pass");
    assert_eq!(found[1]["report"]["judge"]["runtime_digest"], found[0]["runtimes"]["python"]);
    assert_eq!(found[2]["id"], "two");
    assert!(found[2]["no_verdict"].as_str().unwrap().contains("scripts/build-runtime"));
    assert!(found[3]["no_verdict"].as_str().unwrap().contains("cobol"));
    assert_eq!(found[4]["refused"][0]["file"], "hidden.toml");
    assert!(found[5]["no_verdict"].as_str().unwrap().contains("99999999999999999999"));
    assert!(found[6]["no_verdict"].as_str().unwrap().contains("not a request"));
    assert_eq!(found[7]["id"], 7);
    assert_eq!(found[8], found[1]);
    assert!(found[9]["no_verdict"].is_string());
    assert_eq!(found.len(), 10);
}

#[test]
fn both_engines_print_the_same_bytes() {
    let jobs = [
        "def solve(): return 1", "def solve(): return [",
        "import random\ndef solve(): return random.random()",
    ];
    let input: String = jobs
        .iter()
        .enumerate()
        .map(|(id, code)| {
            format!("{}\n", json!({"id": id, "job": job(code, vec![case("a", call(&[]), json!(1))])}))
        })
        .collect();
    let outputs = ["cranelift", "pulley"].map(|engine| run(&["--engine", engine], input.as_bytes()).stdout);
    assert!(outputs[0] == outputs[1] && !outputs[0].is_empty());
    assert_eq!(run(&["--open"], input.as_bytes()).stdout, outputs[0]);
}

#[test]
fn options() {
    assert_eq!(lines(&run(&["--list"], b"")).len(), 1);
    let test = run(&["--self-test"], b"");
    assert!(test.status.success());
    // Three jobs for each language.
    assert_eq!(String::from_utf8_lossy(&test.stdout).matches("ok    ").count(), 6);
    let help = String::from_utf8(run(&["--help"], b"").stdout).unwrap();
    assert!(help.lines().count() <= 40);
    for (arguments, words) in [
        (&["--engine", "jit"][..], "unknown engine `jit`"),
        (&["--engine"], "karat-judge: "),
        (&["--fast"], "unknown option `--fast`"),
    ] {
        let output = run(arguments, b"");
        assert_eq!(output.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&output.stderr).contains(words));
    }
}

/// A cache that someone else could write to is not used, and damaged code is compiled again.
#[cfg(unix)]
#[test]
fn the_cache_is_private_and_checked() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let open = folder.path().join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_karat-judge"))
        .arg("--self-test")
        .arg("--runtimes")
        .arg(runtimes())
        .arg("--cache")
        .arg(&open)
        .output()
        .unwrap();
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("chmod 700"));
    let none = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_karat-judge"))
        .arg("--self-test")
        .arg("--runtimes")
        .arg(none.path())
        .arg("--cache")
        .arg(cache())
        .output()
        .unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("scripts/build-runtime makes it"));
}

/// A job that takes some ten seconds.
fn long() -> String {
    let mut job = job("def solve():\n while True: pass", vec![case("a", call(&[]), json!(1))]);
    job.limits.fuel = 20_000_000_000;
    format!("{}\n", json!({"id": 1, "job": job}))
}

/// A judge whose client died wastes no time on its job: not even while the input is still open.
#[test]
fn it_ends_with_the_client_that_reads_its_answers() {
    let mut child = start(&[]);
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut greeting = String::new();
    stdout.read_line(&mut greeting).unwrap();
    assert!(greeting.contains("karat-judge"));
    stdin.write_all(long().as_bytes()).unwrap();
    stdin.flush().unwrap();
    std::thread::sleep(Duration::from_millis(300));
    assert!(child.try_wait().unwrap().is_none(), "it works");
    drop(stdout);
    let until = Instant::now() + Duration::from_secs(3);
    while child.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "it still works for no one");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(child.wait().unwrap().code(), Some(1));
    drop(stdin);
}

/// A client that has said everything and only reads still gets every answer.
#[test]
fn the_end_of_the_input_cuts_no_answer_off() {
    let slow = job(
        "def solve(): return sum(range(10 ** 6))",
        vec![case("a", call(&[]), json!(499_999_500_000_i64))],
    );
    let line = format!("{}\n", json!({"id": 5, "job": slow}));
    let answers = lines(&run(&[], line.repeat(3).as_bytes()));
    assert_eq!(answers.len(), 4);
    assert!(answers[1..].iter().all(|answer| *answer == answers[1]));
    assert!(answers[1]["report"]["results"][0]["cases"][0]["verdict"].is_string());
}

/// The process that waits for jobs has given up what the library gives up, and holds no file open.
#[cfg(target_os = "linux")]
#[test]
fn the_program_is_confined_before_its_first_job() {
    let mut child = start(&[]);
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut String::new()).unwrap();
    let folder = std::path::PathBuf::from(format!("/proc/{}", child.id()));
    let status = std::fs::read_to_string(folder.join("status")).unwrap();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_else(|| panic!("no {name}: {status}")).split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!((field("Seccomp"), field("NoNewPrivs")), ("2".to_owned(), "1".to_owned()));
    assert_eq!(field("CapEff"), "0000000000000000");
    assert_ne!(field("Uid"), "0");
    let limits = std::fs::read_to_string(folder.join("limits")).unwrap();
    let data = limits.lines().find(|line| line.starts_with("Max data size")).unwrap();
    assert!(data.contains(&karat_judge::confine::MEMORY.to_string()), "{data}");
    // Of an ordinary user they cannot be seen: the process lets no one look into it.
    if let Ok(files) = std::fs::read_dir(folder.join("fd")) {
        // Streams and pipes may be inherited, and what runs was mapped; no other file is open.
        let unexpected: Vec<String> = files
            .filter_map(|file| {
                Some(std::fs::read_link(file.ok()?.path()).ok()?.to_string_lossy().into_owned())
            })
            .filter(|to| to.starts_with('/') && !to.starts_with("/dev/") && !to.ends_with(".cwasm"))
            .collect();
        assert!(unexpected.is_empty(), "{unexpected:?}");
    }
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
}

/// Returns the processes whose command line has a word.
#[cfg(target_os = "linux")]
fn with_word(word: &str) -> Vec<String> {
    let processes =
        std::fs::read_dir("/proc").unwrap().filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let has_word = |id: &String| {
        let words = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).any(|found| found == word.as_bytes())
    };
    processes.filter(|id| id.parse::<u32>().is_ok() && has_word(id)).collect()
}

/// The compiling child ends with the judge, and both with the client, however it ended.
#[cfg(target_os = "linux")]
#[test]
fn no_process_compiles_for_no_one() {
    for is_killed in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let cache = folder.path().join("compiled");
        let cache = cache.to_str().unwrap();
        let mut child = Command::new(env!("CARGO_BIN_EXE_karat-judge"))
            .arg("--runtimes")
            .arg(runtimes())
            .args(["--cache", cache])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut words = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        words.read_line(&mut line).unwrap();
        assert!(line.contains("compiles"), "{line}");
        assert_eq!(with_word(cache).len(), 2, "the judge, and what compiles");
        if is_killed {
            child.kill().unwrap();
        } else {
            drop(child.stdout.take());
        }
        let until = Instant::now() + Duration::from_secs(5);
        let left = || with_word(cache).into_iter().filter(|id| *id != child.id().to_string()).count();
        while left() > 0 {
            assert!(Instant::now() < until, "it still compiles");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!child.wait().unwrap().success());
        // Unfinished code is not kept, and the next one can begin.
        let files = std::fs::read_dir(cache).unwrap().map(|file| file.unwrap().file_name());
        assert!(files.filter_map(|name| name.into_string().ok()).all(|name| !name.ends_with(".cwasm")));
    }
}
