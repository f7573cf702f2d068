//! `karat push` against a real server, with faults in between: nothing is lost and nothing is there twice.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::collections::BTreeMap;
use std::io::{Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use karat::answers::{self, push::Pushed};
use serde_json::Value;

use crate::common::{Folder, Run, program};
use crate::serve::Server;

/// The fault that a request meets on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// It reaches the server, and the answer comes back.
    None,
    /// It is answered 429 with a time to wait, and does not reach the server.
    Busy,
    /// It is answered 503 without a time, and does not reach the server.
    Away,
    /// The connection is torn before the server has it.
    TornBefore,
    /// The server has it, and the answer is lost.
    TornAfter,
    /// The server has it, and half of the answer arrives.
    Half,
    /// The server has it, and the answer comes late.
    Slow,
}

/// A proxy in front of a server, which has one fault after the other, then none.
struct Proxy {
    address: String,
    requests: Arc<AtomicUsize>,
}

impl Proxy {
    fn new(server: &str, faults: &[Fault]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (server, faults) = (server.to_owned(), faults.to_vec());
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let number = counted.fetch_add(1, Ordering::Relaxed);
                let fault = faults.get(number).copied().unwrap_or(Fault::None);
                // A client that goes away is what this is about.
                let _ = pass(stream, &server, fault);
            }
        });
        Self { address, requests }
    }
}

/// Reads one request unchanged, with its body.
pub fn request(stream: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let (mut read, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let end = read.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(end) = end {
            let head = String::from_utf8_lossy(&read[..end]).to_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.map_or(0, |length| length.trim().parse().unwrap());
            if read.len() >= end + 4 + length {
                return Ok(read);
            }
        }
        match stream.read(&mut buffer)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            count => read.extend_from_slice(&buffer[..count]),
        }
    }
}

fn pass(mut client: TcpStream, server: &str, fault: Fault) -> std::io::Result<()> {
    if fault == Fault::TornBefore {
        let mut some = [0; 64];
        client.read_exact(&mut some)?;
        return Ok(());
    }
    let request = request(&mut client)?;
    let refuse = |status: &str, more: &str| {
        format!("HTTP/1.1 {status}\r\n{more}content-length: 0\r\nconnection: close\r\n\r\n")
    };
    match fault {
        Fault::Busy => {
            return client.write_all(refuse("429 Too Many Requests", "retry-after: 1\r\n").as_bytes());
        }
        Fault::Away => return client.write_all(refuse("503 Service Unavailable", "").as_bytes()),
        _ => {}
    }
    let mut upstream = TcpStream::connect(server)?;
    // One request for each connection, so that faults come in order; the host is the one that the server knows.
    let text = String::from_utf8(request).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    let kept = head.lines().filter(|line| !line.to_lowercase().starts_with("host:"));
    let head = kept.collect::<Vec<_>>().join("\r\n");
    upstream.write_all(format!("{head}\r\nhost: {server}\r\nconnection: close\r\n\r\n{body}").as_bytes())?;
    let mut answer = Vec::new();
    upstream.read_to_end(&mut answer)?;
    match fault {
        Fault::TornAfter => Ok(()),
        Fault::Half => client.write_all(&answer[..answer.len() / 2]),
        Fault::Slow => {
            thread::sleep(Duration::from_millis(300));
            client.write_all(&answer)
        }
        _ => client.write_all(&answer),
    }
}

const CARD: &str = r#"
schema   = "karat/scorecard/1"
id       = "pushed"
version  = "1.0.0"
title    = "What is pushed"
evidence = "facts"

[facts]
solved = { min = 0, max = 1 }

[[dimension]]
key     = "solved"
weight  = 1
formula = "solved"
"#;

pub struct Place {
    pub folder: Folder,
    pub server: Server,
}

impl Place {
    pub fn new() -> Self {
        let folder = Folder::new();
        let server = Server::new(folder.path(), &["scores"]);
        folder.write("card.toml", CARD);
        folder.write("key.txt", server.started["admin_key"].as_str().unwrap());
        let (status, answer) = server.post("application/toml", "/v1/scorecards", CARD);
        assert_eq!(status, 201, "{answer}");
        Self { folder, server }
    }

    pub fn push(&self, address: &str, more: &[&str]) -> Run {
        let to = format!("http://{address}");
        let first = ["push", "-c", "card.toml", "--key-file", "key.txt", "--json", "--to", &to];
        self.folder.karat(&[&first[..], more].concat())
    }

    /// Returns how often each item is stored, by its id.
    pub fn stored(&self) -> BTreeMap<String, usize> {
        let mut found = BTreeMap::new();
        let mut path = String::from("/v1/records?limit=1000");
        loop {
            let (status, page) = self.server.ask("GET", &path, "");
            assert_eq!(status, 200, "{page}");
            let page: Value = serde_json::from_str(&page).unwrap();
            for record in page["records"].as_array().unwrap() {
                let id = record["record"]["evidence"]["id"].as_str().unwrap();
                *found.entry(id.to_owned()).or_default() += 1;
            }
            match page["next"].as_u64() {
                Some(next) => path = format!("/v1/records?limit=1000&before={next}"),
                None => return found,
            }
        }
    }
}

pub fn pushed(run: &Run) -> Pushed {
    assert!(!run.stdout.is_empty(), "{}", run.stderr);
    answers::read(run.stdout.as_bytes()).unwrap().unwrap()
}

fn counts(run: &Run) -> (u64, u64, u64) {
    let pushed = pushed(run);
    (pushed.accepted, pushed.repeated, pushed.refused)
}

#[test]
fn what_is_sent_through_faults_is_there_once() {
    use Fault::{Away, Busy, Half, None, TornAfter, TornBefore};
    let place = Place::new();
    let items = 12_000;
    let lines: String = (0..items)
        .map(|n| format!("{{\"subject\": \"bee\", \"id\": \"run-{n}\", \"solved\": {}}}\n", n % 2))
        .collect();
    place.folder.write("runs.jsonl", &lines);
    // A table whose rows have no id: two are equal.
    place.folder.write("table.csv", "subject,solved\nant,1\nant,1\nant,0\n");
    let faults = [Busy, TornBefore, TornAfter, None, Half, Away, TornAfter, Busy];
    let proxy = Proxy::new(place.server.address(), &faults);
    let run = place.push(&proxy.address, &["runs.jsonl", "table.csv"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let sent = pushed(&run);
    assert_eq!(sent.accepted + sent.repeated, items + 3);
    assert_eq!((sent.refused, sent.repeats), (0, 7), "{}", run.stderr);
    // Three requests of lines and one of the table, and the seven that had to be repeated.
    assert_eq!(proxy.requests.load(Ordering::Relaxed), 11);
    assert!(run.stderr.contains("waiting 1.0 s: it answered 429"), "{}", run.stderr);
    let stored = place.stored();
    assert_eq!(stored.len() as u64, items + 3);
    assert!(stored.values().all(|count| *count == 1));
    // The names of rows are those that they have here.
    assert!(stored.keys().filter(|id| id.contains("table.csv:")).count() == 3, "{:?}", stored.keys().next());
    let again = place.push(place.server.address(), &["runs.jsonl", "table.csv"]);
    assert_eq!((again.status, counts(&again)), (0, (0, items + 3, 0)));
    assert_eq!(place.stored().len() as u64, items + 3);
}

#[test]
fn a_server_that_is_killed_loses_nothing_and_the_same_command_goes_on() {
    let mut place = Place::new();
    let lines: String = (0..6000)
        .map(|n| format!("{{\"subject\": \"bee\", \"id\": \"run-{n}\", \"solved\": 1}}\n"))
        .collect();
    place.folder.write("runs.jsonl", &lines);
    // The second request never gets an answer.
    let torn = [Fault::None, Fault::TornAfter, Fault::TornAfter];
    let proxy = Proxy::new(place.server.address(), &torn);
    let run = place.push(&proxy.address, &["runs.jsonl", "--attempts", "2"]);
    assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{}", run.stderr);
    assert!(run.stderr.contains("did not take the items in 2 attempts"), "{}", run.stderr);
    assert!(run.stderr.contains("5000 items are stored; run the same again"), "{}", run.stderr);
    place.server.kill();
    let away = place.push(place.server.address(), &["runs.jsonl", "--attempts", "2"]);
    assert_eq!(away.status, 1);
    place.server = Server::new(place.folder.path(), &["scores"]);
    let run = place.push(place.server.address(), &["runs.jsonl"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(pushed(&run).repeated + pushed(&run).accepted, 6000);
    assert!(pushed(&run).repeated >= 5000);
}

#[test]
fn a_push_that_is_killed_goes_on() {
    use Fault::{Away, Busy, Half, None, Slow, TornAfter, TornBefore};
    let place = Place::new();
    let items = 20_000;
    let lines: String = (0..items)
        .map(|n| format!("{{\"subject\": \"bee\", \"id\": \"run-{n}\", \"solved\": {}}}\n", n % 2))
        .collect();
    place.folder.write("runs.jsonl", &lines);
    place.folder.write("table.csv", "subject,solved\nant,1\nant,1\nant,0\n");
    let kinds = [None, Slow, TornAfter, Busy, Half, TornBefore, Away];
    let (mut killed, mut state) = (0, 7u64);
    // A moment for each kill, from the start of the program to long after its first request.
    for turn in 0..12 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let faults: Vec<Fault> = (0..6).map(|at| kinds[(turn * 3 + at * (turn + 1)) % kinds.len()]).collect();
        let proxy = Proxy::new(place.server.address(), &faults);
        let mut command = program(place.folder.path());
        command.args(["push", "-c", "card.toml", "--key-file", "key.txt", "--json", "--to"]);
        command.arg(format!("http://{}", proxy.address)).args(["runs.jsonl", "table.csv"]);
        let mut push = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_millis(10 + (state >> 33) % 1500));
        killed += usize::from(push.try_wait().unwrap().is_none());
        push.kill().unwrap();
        push.wait().unwrap();
        assert!(place.stored().values().all(|count| *count == 1));
    }
    assert!(killed >= 6, "{killed} were killed at work");
    let proxy = Proxy::new(place.server.address(), &kinds);
    let run = place.push(&proxy.address, &["runs.jsonl", "table.csv"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let sent = pushed(&run);
    assert_eq!((sent.accepted + sent.repeated, sent.refused), (items + 3, 0));
    assert!(sent.repeated > 0, "no push before it got anything through");
    let stored = place.stored();
    assert_eq!(stored.len() as u64, items + 3);
    assert!(stored.values().all(|count| *count == 1));
}

#[test]
fn what_is_refused_is_named_with_its_place_and_the_rest_is_stored() {
    let place = Place::new();
    place.folder.write(
        "runs.jsonl",
        "{\"subject\": \"bee\", \"id\": \"a\", \"solved\": 1}\n{\"subject\": \"bee\", \"id\": \"b\", \"solved\": 7}\n\
         not JSON\n\n{\"subject\": \"bee\", \"solved\": 0}\n{\"subject\": \"bee\", \"id\": \"a\", \"solved\": 0}\n",
    );
    let run = place.push(place.server.address(), &["runs.jsonl"]);
    assert_eq!((run.status, counts(&run)), (1, (2, 0, 3)), "{}", run.stdout);
    let places: Vec<(String, String)> =
        pushed(&run).problems.into_iter().map(|it| (it.places.join(" "), it.reason)).collect();
    let reason = |line: u32| {
        let found = places.iter().find(|(place, _)| *place == format!("runs.jsonl:{line}"));
        found.map(|(_, reason)| reason.clone()).unwrap_or_default()
    };
    assert!(reason(2).contains("facts.solved"), "{places:?}");
    assert!(reason(3).contains("found"), "{places:?}");
    assert!(reason(6).contains("another content"), "{places:?}");
    // On a screen the same, in words.
    let table = place.folder.karat(&[
        "push",
        "-c",
        "card.toml",
        "--table",
        "--key-file",
        "key.txt",
        "--to",
        &format!("http://{}", place.server.address()),
        "runs.jsonl",
    ]);
    let shown = &table.stdout;
    assert!(shown.contains("0 accepted, 2 already there, 3 refused\n"), "{shown}");
    assert_eq!(shown.lines().filter(|line| line.starts_with("runs.jsonl:")).count(), 3, "{shown}");
}

#[test]
fn items_that_a_batch_cannot_name_keep_their_names() {
    let place = Place::new();
    // Two on one line of an array, and one far down.
    place.folder.write(
        "array.json",
        "[{\"subject\": \"ant\", \"solved\": 1}, {\"subject\": \"ant\", \"solved\": 1}]",
    );
    let far = "\n".repeat(95_000);
    place.folder.write(
        "far.jsonl",
        &format!("{{\"subject\": \"ant\", \"solved\": 0}}{far}{{\"subject\": \"ant\", \"solved\": 1}}\n"),
    );
    for expected in [(4, 0, 0), (0, 4, 0)] {
        let run = place.push(place.server.address(), &["array.json", "far.jsonl"]);
        assert_eq!((run.status, counts(&run)), (0, expected), "{}{}", run.stdout, run.stderr);
    }
    let stored = place.stored();
    for name in ["array.json:1", "array.json:1#2", "far.jsonl:1", "far.jsonl:95001"] {
        assert!(stored.keys().any(|id| id.ends_with(name)), "{name}: {stored:?}");
    }
    let named = place.push(place.server.address(), &["array.json", "--name", "monday"]);
    assert_eq!(counts(&named), (2, 0, 0));
}

#[test]
fn what_cannot_be_sent_is_refused_with_a_hint() {
    let place = Place::new();
    place.folder.write("runs.jsonl", "{\"subject\": \"bee\", \"id\": \"a\", \"solved\": 1}\n");
    place.folder.write("other.key", "karat_0000000000000000000000000000000000000000000000000000");
    let address = format!("http://{}", place.server.address());
    for (more, hint) in [
        (&["-c", "card.toml", "--to", "127.0.0.1:1"][..], "is not an address such as `https://HOST`"),
        (&["-c", "card.toml", "--to", "ftp://127.0.0.1"], "is neither `https://` nor `http://`"),
        (&["-c", "card.toml", "--to", "http://127.0.0.1:1/?a=b"], "is not an address such as"),
        (&["-c", "card.toml", "--to", "http://a.invalid", "--key-file", "key.txt"], "add `--insecure`"),
        (&["-c", "crad", "--to", &address], "has none of that name either"),
        (&["-c", "card.toml", "--to", &address, "--key-file", "other.key"], "--key-file FILE"),
        (&["-c", "run", "--to", &address, "--key-file", "none.key"], "there is no such file"),
        (&["-c", "card.toml", "--to", "http://127.0.0.1:9", "--attempts", "1"], "in 1 attempt"),
    ] {
        let run = place.folder.karat(&[&["push"], more, &["runs.jsonl"]].concat());
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{more:?}");
        assert!(run.stderr.contains(hint), "{more:?}: {}", run.stderr);
    }
    assert!(place.stored().is_empty());
}

#[test]
fn equal_problems_are_told_once_with_their_number() {
    let place = Place::new();
    let lines: String = (0..6000).map(|n| format!("{{\"id\": \"{n}\", \"solved\": 7}}\n")).collect();
    place.folder.write("runs.jsonl", &lines);
    let run = place.push(place.server.address(), &["runs.jsonl"]);
    assert_eq!((run.status, counts(&run)), (1, (0, 0, 6000)), "{}", run.stderr);
    assert!(run.stdout.len() < 4000, "{} bytes", run.stdout.len());
    let problems = pushed(&run).problems;
    assert_eq!(problems.len(), 1, "{problems:?}");
    assert_eq!(problems[0].items, 6000);
    let first: Vec<String> = (1..=5).map(|line| format!("runs.jsonl:{line}")).collect();
    assert_eq!(problems[0].places, first);
    let to = format!("http://{}", place.server.address());
    let table =
        place.folder.line(&format!("push -c card.toml --key-file key.txt --table --to {to} runs.jsonl"));
    let words = table.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("runs.jsonl:1 and 5999 more"), "{}{}", table.stdout, table.stderr);
    assert!(table.stdout.lines().count() < 10, "{}{}", table.stdout, table.stderr);
}

#[test]
fn fields_of_other_names_are_sent_under_the_names_that_a_server_reads() {
    let place = Place::new();
    place.folder.write("table.csv", "model,case,solved\nant,t1,1\nbee,t2,0\n");
    // A subject that is not meant, a number that a double does not hold, and an id.
    place.folder.write(
        "runs.jsonl",
        "{\"subject\": \"x\", \"task\": \"y\", \"who\": {\"name\": \"cat\"}, \"solved\": 1, \"seed\": 123456789012345678901, \
         \"id\": \"a\"}\n",
    );
    let fields = ["--subject-field", "model", "--task-field", "case"];
    let run = place.push(place.server.address(), &[&["table.csv"], &fields[..]].concat());
    assert_eq!((run.status, counts(&run)), (0, (2, 0, 0)), "{}{}", run.stdout, run.stderr);
    let run = place.push(place.server.address(), &["runs.jsonl", "--subject-field", "$.who.name"]);
    assert_eq!((run.status, counts(&run)), (0, (1, 0, 0)), "{}{}", run.stdout, run.stderr);
    let ids: Vec<String> = place.stored().into_keys().collect();
    assert_eq!(ids, ["a", "table.csv:2", "table.csv:3"].map(String::from).to_vec());
    let (_, records) = place.server.ask("GET", "/v1/records", "");
    for part in [
        "\"subject\":\"ant\"", "\"subject\":\"bee\"", "\"subject\":\"cat\"", "\"task\":\"t1\"",
        "\"task\":\"t2\"",
    ] {
        assert!(records.contains(part), "{part}: {records}");
    }
    assert!(!records.contains("\"task\":\"y\"") || records.contains("\"subject\":\"cat\""), "{records}");
    // What lacks the field is refused here, with its place.
    let run = place.push(place.server.address(), &["table.csv", "--subject-field", "who"]);
    assert_eq!((run.status, counts(&run)), (1, (0, 0, 2)), "{}", run.stderr);
    assert!(pushed(&run).problems[0].reason.contains("`who`"), "{}", run.stdout);
    let other =
        place.folder.line("push -c log-forensics --to http://127.0.0.1:9 --task-field case table.csv");
    other.ends(1, "leave out --task-field");
}

#[test]
fn a_scorecard_that_the_server_alone_has_is_read_there() {
    let place = Place::new();
    // As a table, whose columns only the scorecard names.
    place.folder.write("table.csv", "subject,solved\nant,1\n");
    let to = format!("http://{}", place.server.address());
    for (card, expected) in [("pushed", (1, 0, 0)), ("pushed@1.0.0", (0, 1, 0))] {
        let run = place
            .folder
            .karat(&["push", "-c", card, "--key-file", "key.txt", "--json", "--to", &to, "table.csv"]);
        assert_eq!((run.status, counts(&run)), (0, expected), "{}", run.stderr);
        assert_eq!(pushed(&run).card, "pushed@1.0.0");
    }
}
