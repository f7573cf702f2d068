//! `karat serve`: it starts, prints its address, answers, refuses bad requests, and stops on a signal.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Folder, finish, program, root};

/// A server in a separate process.
pub struct Server {
    process: Child,
    stdout: BufReader<ChildStdout>,
    /// Its message at the start.
    pub started: Value,
}

impl Server {
    pub fn new(folder: &Path, arguments: &[&str]) -> Self {
        Self::at("127.0.0.1:0", folder, arguments)
    }

    /// Starts one that listens at another address.
    pub fn at(address: &str, folder: &Path, arguments: &[&str]) -> Self {
        let mut command = program(folder);
        command.args(["serve", "--listen", address, "--log", "quiet"]).args(arguments);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap();
        let mut stdout = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        Self { process, stdout, started: serde_json::from_str(&line).unwrap() }
    }

    /// Returns its address.
    pub fn address(&self) -> &str {
        let url = self.started["url"].as_str().unwrap();
        url.trim_start_matches("http://").trim_end_matches('/')
    }

    /// Returns status and body of the answer to a request with the key of the first start.
    pub fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let key = self.started["admin_key"].as_str().unwrap_or_default();
        ask(self.address(), key, method, path, body).unwrap()
    }

    /// Does the same for a body of another media type.
    pub fn post(&self, media: &str, path: &str, body: &str) -> (u16, String) {
        let key = self.started["admin_key"].as_str().unwrap_or_default();
        ask_as(self.address(), key, media, "POST", path, body).unwrap()
    }

    /// Kills it, as a loss of power would.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Sends a signal and returns the status and the rest of the output.
    pub fn end(mut self, signal: &str) -> (Option<i32>, String) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        (self.process.wait().unwrap().code(), rest)
    }
}

/// Returns status and body of the answer to a request, if there is an answer.
pub fn ask(address: &str, key: &str, method: &str, path: &str, body: &str) -> Option<(u16, String)> {
    ask_as(address, key, "application/json", method, path, body)
}

fn ask_as(
    address: &str,
    key: &str,
    media: &str,
    method: &str,
    path: &str,
    body: &str,
) -> Option<(u16, String)> {
    let mut stream = TcpStream::connect(address).ok()?;
    let authorization =
        if key.is_empty() { String::new() } else { format!("authorization: Bearer {key}\r\n") };
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{authorization}\
         content-type: {media}\r\ncontent-length: {length}\r\n\r\n"
    );
    stream.write_all(format!("{head}{body}").as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    let length: usize = head.lines().find_map(|line| line.strip_prefix("content-length: "))?.parse().ok()?;
    // An answer that was cut off does not count.
    (body.len() == length).then_some((head.split(' ').nth(1)?.parse().ok()?, body.to_owned()))
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const MATCH: &str = r#"{"match_id": "m-1", "agent_id": "bee", "scores": {"correctness": 900}}"#;

#[test]
fn the_demo_is_ready_soon_and_stops_when_it_is_told_to() {
    let folder = Folder::new();
    let begun = Instant::now();
    let server = Server::new(folder.path(), &["--demo"]);
    let (status, health) = server.ask("GET", "/healthz", "");
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    assert_eq!((status, health.contains("\"ok\"")), (200, true), "{health}");
    let (_, ratings) = server.ask("GET", "/v1/arena/ratings", "");
    let ratings: Value = serde_json::from_str(&ratings).unwrap();
    let row = |place: usize, name: &str| ratings["ratings"][place][name].clone();
    assert_eq!((row(0, "agent_id"), row(1, "agent_id")), ("cartographer".into(), "surveyor".into()));
    assert_eq!((row(0, "rank"), row(1, "rank")), (1.into(), 1.into()), "two programs work alike");
    let store = server.started["folder"].as_str().unwrap().to_owned();
    assert!(Path::new(&store).exists());
    let (status, said) = server.end("TERM");
    assert_eq!(status, Some(0));
    let said: Value = serde_json::from_str(said.trim()).unwrap();
    assert_eq!((said["state"].clone(), said["requests"].clone()), ("stopped".into(), 2.into()));
    assert!(!Path::new(&store).exists(), "a temporary folder is removed");
}

#[test]
fn the_first_start_shows_a_key_and_the_next_one_does_not() {
    let folder = Folder::new();
    let server = Server::new(folder.path(), &["scores"]);
    assert!(server.started["admin_key"].as_str().unwrap().starts_with("karat_"));
    let (status, body) = server.ask("POST", "/v1/evidence?card=log-forensics", MATCH);
    assert_eq!(status, 201, "{body}");
    assert_eq!(server.end("INT").0, Some(0));
    let server = Server::new(folder.path(), &["scores"]);
    assert_eq!(server.started["admin_key"], Value::Null);
    assert!(server.ask("GET", "/v1/records", "").1.contains("log-forensics"));
}

#[test]
fn what_it_cannot_do_is_refused_clearly() {
    let folder = Folder::new();
    let server = Server::new(folder.path(), &["scores", "--key-file", "first.key"]);
    assert_eq!(server.started["admin_key"], Value::Null);
    let key = std::fs::read_to_string(folder.path().join("first.key")).unwrap();
    assert!(key.starts_with("karat_"));
    let port = server.started["url"]
        .as_str()
        .unwrap()
        .trim_start_matches("http://")
        .trim_end_matches('/')
        .to_owned();
    folder.write("file", "");
    folder.write("taken.key", "");
    for (arguments, expected) in [
        (vec!["scores"], "another process has"),
        (vec!["other", "--listen", &port], "another program listens at"),
        (vec!["other", "--port", port.split(':').nth(1).unwrap()], "another program listens at"),
        (vec!["scores", "--demo"], "the demo begins with a new one"),
        (vec!["file"], "is a file, expected a folder"),
        (vec!["new", "--listen", "0.0.0.0:0"], "needs a key"),
        (vec!["new", "--key-file", "taken.key"], "exists already"),
        (vec!["file/new", "--key-file", "fresh.key"], "cannot"),
    ] {
        let mut command = program(folder.path());
        command.arg("serve").args(&arguments);
        if !arguments.contains(&"--listen") && !arguments.contains(&"--port") {
            command.args(["--listen", "127.0.0.1:0"]);
        }
        let run = finish(&mut command, "");
        assert_eq!((run.status, run.stdout.as_str()), (1, ""), "{arguments:?}: {}", run.stderr);
        assert!(run.stderr.contains(expected), "{arguments:?}: {}", run.stderr);
    }
    assert!(!folder.path().join("new").exists() && !folder.path().join("fresh.key").exists());
}

/// A server makes a folder and a secret key, so what was meant otherwise must not start one.
#[test]
fn options_that_a_server_does_not_have_start_none() {
    let folder = Folder::new();
    for words in
        [&["--portable"][..], &["--prot", "8080"], &["--port"], &["--port", "0", "--listen", "127.0.0.1:0"]]
    {
        let run = folder.karat(&[&["serve"], words].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{words:?}: {}", run.stderr);
        assert!(words == ["--portable"] || !run.stderr.contains("--portable"), "{}", run.stderr);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{words:?}");
    }
    let ignored = std::fs::read_to_string(root().join(".gitignore")).unwrap();
    assert!(ignored.lines().any(|line| line == "/karat-data"));
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = Folder::new();
    let closed = folder.path().join("closed");
    std::fs::create_dir(&closed).unwrap();
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o500)).unwrap();
    // A user with all rights may write there, too.
    if std::fs::write(closed.join("probe"), "").is_err() {
        let run = folder.karat(&["serve", "closed", "--listen", "127.0.0.1:0"]);
        assert_eq!(run.status, 1);
        assert!(run.stderr.contains("cannot be written; check the permissions"), "{}", run.stderr);
        assert_eq!(std::fs::read_dir(&closed).unwrap().count(), 0);
    }
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o700)).unwrap();
}

/// The commands of the page are one script; each answer of JSON that follows a block is part of what the block prints.
#[test]
fn the_commands_of_the_guide_work() {
    let page = std::fs::read_to_string(root().join("docs/guide/server.md")).unwrap();
    let folder = Folder::new();
    let server = Server::new(folder.path(), &["scores"]);
    let key = server.started["admin_key"].as_str().unwrap();
    let mut script = String::from("set -euo pipefail\n");
    let mut shown = Vec::new();
    for (at, block) in page.split("```").enumerate().filter(|(at, _)| at % 2 == 1) {
        if let Some(commands) = block.strip_prefix("bash\n") {
            let commands = commands.replace("http://127.0.0.1:7373", &format!("http://{}", server.address()));
            script
                .push_str(&format!("{}\necho; echo end-of-{at}\n", commands.replace("karat_your_key", key)));
        }
        if let Some(answer) = block.strip_prefix("json\n") {
            shown.push((at - 2, serde_json::from_str::<Value>(answer).unwrap()));
        }
    }
    let run = finish(Command::new("bash").args(["-c", &script]).current_dir(folder.path()), "");
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
    assert!(!shown.is_empty() && script.matches("curl").count() > 6);
    for (at, expected) in shown {
        let printed = run.stdout.split(&format!("end-of-{at}\n")).next().unwrap();
        let last = printed.trim_end().rsplit("end-of-").next().unwrap();
        let answer = &last[last.rfind("{\"match_id\"").unwrap()..];
        let answer: Value = serde_json::from_str(answer.trim()).unwrap();
        assert!(is_part(&expected, &answer), "{expected}\n{answer}");
    }
}

/// Returns true if every member of `part` is in `whole`.
fn is_part(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(name, value)| whole.get(name).is_some_and(|found| is_part(value, found)))
        }
        (part, whole) => part == whole,
    }
}

#[test]
fn a_log_in_a_file_has_no_colours() {
    let folder = Folder::new();
    let log = folder.path().join("server.log");
    let mut command = program(folder.path());
    command.args(["serve", "--listen", "127.0.0.1:0", "--log", "text", "data"]);
    command.stdout(Stdio::piped()).stderr(std::fs::File::create(&log).unwrap());
    let mut process = command.spawn().unwrap();
    let mut line = String::new();
    BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let started: Value = serde_json::from_str(&line).unwrap();
    let url = started["url"].as_str().unwrap();
    let asked = ask(url.trim_start_matches("http://"), "", "GET", "/healthz", "");
    // A line is written after the answer.
    let mut text = String::new();
    for _ in 0..200 {
        text = std::fs::read_to_string(&log).unwrap();
        if text.contains("/healthz") {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    process.kill().unwrap();
    process.wait().unwrap();
    assert!(asked.is_some() && text.contains("/healthz") && !text.contains('\u{1b}'), "{text}");
}
