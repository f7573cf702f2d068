//! Threads of `karat score`: the same bytes for any number of them, and nothing held back.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use crate::common::{Folder, example, finish, karat, numbers, program};

/// A folder with a scorecard of facts, `mine.toml`.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("mine.toml", &karat(&["card", "new", "mine"]).stdout);
    folder
}

/// Returns items of `mine.toml`: good ones, refused ones, no JSON, and fields that nothing reads; a name of a field comes
/// again in other items, and there are more names than are listed.
fn facts(below: &mut impl FnMut(u64) -> u64, items: u64, faults: u64) -> String {
    let mut text = String::new();
    for _ in 0..items {
        let (solved, unread) = (below(60), below(1500));
        text.push_str(&match below(12) {
            _ if below(1000) < faults => String::from("{\"subject\": \"broken\", \"solved\": }\n"),
            0 => format!("{{\"subject\":\"a\",\"solved\":{solved},\"asked\":50,\"x{unread}\":1}}\n"),
            1 => format!("{{\"subject\":\"b\",\"solved\":{solved},\"asked\":50,\"x{}\":1}}\n", unread / 100),
            2 => String::from("\n"),
            _ => format!(
                "{{\"id\":\"{unread}\",\"subject\":\"c\",\"solved\":{},\"asked\":50,\"cost_usd\":3.2,\"budget_usd\":5}}\n",
                solved.min(50)
            ),
        });
    }
    text
}

/// Returns a table of the same facts, with rows that are too short.
fn table(below: &mut impl FnMut(u64) -> u64, items: u64, faults: u64) -> String {
    let mut text = String::from("subject,solved,asked,note\n");
    for _ in 0..items {
        match below(1000) {
            fault if fault < faults => text.push_str("a,1\n"),
            _ => text.push_str(&format!("s{},{},50,\"a\n{}\"\n", below(9), below(50), below(1 << 40))),
        }
    }
    text
}

/// Returns traces of which some bring a vector, after `apart` traces without: it counts for the novelty of all after it.
fn traces(below: &mut impl FnMut(u64) -> u64, apart: u64, items: u64) -> String {
    let first = example("raw/traces.jsonl").lines().next().unwrap().to_owned();
    let vector = "\"vector\": [0.8, 0.6, 0, 0]";
    assert!(first.contains(vector) && first.contains("kp:trace:raw-first"));
    let trace = |at: u64| {
        let own = format!("\"vector\": [{}, 0.{}, 0, 1]", below(9), below(9));
        let has_vector = at >= apart && below(3) > 0;
        let text = first.replace("kp:trace:raw-first", &format!("kp:trace:{at}"));
        let text =
            if has_vector { text.replace(vector, &own) } else { text.replace(&format!(", {vector}"), "") };
        text + "\n"
    };
    (0..items).map(trace).collect()
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let mut below = numbers(7);
    let folder = folder();
    let run = example("workflow/worked-example.json").replace('\n', " ") + "\n";
    folder.write("runs.jsonl", &(run.repeat(300) + "{\"run_id\": 1}\n" + &run.repeat(300)));
    folder.write("good.jsonl", &facts(&mut below, 6000, 0));
    folder.write("bad.jsonl", &facts(&mut below, 6000, 3));
    folder.write("good.csv", &table(&mut below, 9000, 0));
    folder.write("bad.csv", &table(&mut below, 9000, 2));
    folder.write("traces.jsonl", &traces(&mut below, 300, 600));
    folder.write("cut-off.json", &format!("[{run}, {run}, {{\"run_id\":"));
    let cases = [
        "-c mine.toml good.jsonl", "-c mine.toml good.jsonl --fail-under 0.5",
        "-c mine.toml good.jsonl --table", "-c mine.toml good.jsonl bad.jsonl good.csv",
        "-c mine.toml good.jsonl bad.jsonl good.csv --keep-going",
        "-c mine.toml good.csv good.jsonl --table --color always",
        "-c mine.toml bad.csv --keep-going --table", "-c mine.toml bad.csv",
        "-c mine.toml good.csv missing.csv", "-c trace traces.jsonl --budget-ms 1000000",
        "-c trace traces.jsonl --budget-ms 1000000 --table",
        "-c workflow runs.jsonl cut-off.json --keep-going", "-c workflow cut-off.json runs.jsonl",
    ];
    for case in cases {
        let score = |jobs: &str| {
            let arguments: Vec<&str> = ["score", "--jobs", jobs].into_iter().chain(case.split(' ')).collect();
            folder.karat(&arguments)
        };
        let one = score("1");
        assert!(one.stdout.len() + one.stderr.len() > 100, "{case}: {}", one.stderr);
        for jobs in ["2", "3"] {
            let many = score(jobs);
            assert_eq!(many.status, one.status, "{case}, {jobs} threads");
            assert!(many.stderr == one.stderr, "{case}, {jobs} threads: {}\n{}", many.stderr, one.stderr);
            let line = many.stdout.lines().zip(one.stdout.lines()).position(|(many, one)| many != one);
            assert!(many.stdout == one.stdout, "{case}, {jobs} threads: line {line:?} differs");
        }
    }
    let novel = folder.karat(&["score", "-c", "trace", "--jobs", "3", "traces.jsonl"]).stdout;
    assert!(novel.contains("\"basis\":\"compared\""), "no trace was compared with one before it");
}

/// Starts the program with a pipe on both sides; its lines arrive in the channel.
fn start(folder: &Folder, arguments: &[&str]) -> (Child, Receiver<String>) {
    let mut command = program(folder.path());
    command.arg("score").args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (lines, received) = channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || stdout.lines().try_for_each(|line| lines.send(line.unwrap())));
    (child, received)
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_slow_input_shows_each_record_at_once() {
    let folder = folder();
    let json: &[&str] = &["{\"subject\":\"a\",\"solved\":4,\"asked\":50}\n"; 4];
    let rows: &[&str] =
        &["subject,solved,asked,note\na,1,50,\n", "b,2,50,\n", "c,3,50,\r\n", "d,4,50,\"e\nf\"\n"];
    let array: &[&str] =
        &["[{\"subject\":\"a\",\n\"solved\":4}", ",{\"subject\":\"b\"}", "\n,{\"subject\":\"c\"}"];
    for (input, jobs) in [json, rows, array].into_iter().flat_map(|input| [(input, "1"), (input, "3")]) {
        let (mut child, received) = start(&folder, &["-c", "mine.toml", "--jobs", jobs]);
        let mut pipe = child.stdin.take().unwrap();
        for piece in input {
            pipe.write_all(piece.as_bytes()).unwrap();
            let line = received.recv_timeout(LONG).unwrap_or_else(|_| panic!("{piece:?} was held back"));
            assert!(line.starts_with('{'), "{line}");
        }
        drop(pipe);
        child.wait().unwrap();
    }
}

#[test]
fn the_first_error_ends_it_though_the_input_goes_on() {
    let folder = folder();
    for jobs in ["1", "3"] {
        let (mut child, received) = start(&folder, &["-c", "mine.toml", "--jobs", jobs]);
        let mut pipe = child.stdin.take().unwrap();
        pipe.write_all(b"{\"subject\":\"a\",\"solved\":4,\"asked\":50}\n{\"subject\":\n").unwrap();
        assert!(received.recv_timeout(LONG).unwrap().contains("\"subject\":\"a\""));
        assert!(received.recv_timeout(LONG).is_err(), "nothing comes after the error");
        let ended = (0..600).find_map(|_| {
            std::thread::sleep(Duration::from_millis(100));
            child.try_wait().unwrap()
        });
        assert_eq!(ended.and_then(|status| status.code()), Some(1), "the input is still open");
        drop(pipe);
    }
}

#[test]
fn threads_are_counted_from_one() {
    let folder = folder();
    for wrong in ["0", "-1", "many", "1025"] {
        let run =
            finish(program(folder.path()).args(["score", "-c", "mine.toml", &format!("--jobs={wrong}")]), "");
        assert!(run.status != 0 && run.stderr.contains("--jobs"), "{wrong}: {}", run.stderr);
    }
}
