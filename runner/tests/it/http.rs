//! Executors that are services, against small servers on this machine.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of a test may stop it")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use karat_graders::execution::Judge;
use karat_process::{Judges, Options};
use karat_run::{Ended, Event, Job, Outcome, Recording};
use karat_runner::{Executors, Stop, Surroundings};
use serde_json::{Value, json};

const SECRET: &str = "correct-horse-battery-staple";

/// A server that gives the same response to everyone, and keeps what it was sent.
struct Server {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Starts a server whose `respond` writes the response.
    fn new(respond: impl Fn(&mut std::net::TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&requests);
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut bytes = Vec::new();
                let mut buffer = [0; 4096];
                while !is_whole(&bytes) {
                    match stream.read(&mut buffer) {
                        Ok(count) if count > 0 => bytes.extend_from_slice(&buffer[..count]),
                        _ => break,
                    }
                }
                kept.lock().unwrap().push(String::from_utf8_lossy(&bytes).into_owned());
                respond(&mut stream);
            }
        });
        Self { address, requests }
    }

    fn with(response: &'static str) -> Self {
        Self::new(move |stream| drop(stream.write_all(response.as_bytes())))
    }

    fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn is_whole(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
    length.is_none_or(|length: usize| body.len() >= length)
}

fn response(status: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

fn executors(address: &str, hosts: &str, more: &str) -> Executors {
    let file = format!(
        "[run]\nbackoff_seconds = 0\n[http]\n{hosts}\n[executor.sn1]\nkind = \"http\"\n\
         url = \"http://{address}/step?x=1\"\ncost = 0.001\n{more}\n"
    );
    let variable = |name: &str| (name == "KEY").then(|| SECRET.to_owned());
    let none = || -> Arc<dyn Judge> { Arc::new(Judges::found(None, Options::default())) };
    let around = Surroundings { folder: Path::new("."), variable: &variable, judge: &none };
    Executors::parse(&file, &around).unwrap_or_else(|faults| panic!("{faults:?}"))
}

fn job(timeout: Option<f64>) -> Job {
    let handling = timeout.map_or_else(|| json!({}), |limit| json!({"a": {"timeout_seconds": limit}}));
    let plan = json!({"nodes": [{"id": "a", "subnet": "sn1", "action": "do", "params": {"q": "ü"}}], "error_handling": handling});
    let task = json!({"task_type": "agent", "reference": {"goal_checklist": [{"text": "done"}]}});
    Job::new(plan.to_string().as_bytes(), task.to_string().as_bytes(), Some("m"), None).unwrap().0
}

fn run(executors: &Executors, timeout: Option<f64>) -> Ended {
    let job = job(timeout);
    let ended = karat_runner::live(&job, executors, &Stop::default(), &|_| {}).unwrap();
    let recording = Recording::parse(&ended.recording.text()).unwrap();
    assert_eq!(job.replay(&recording).unwrap().evidence, ended.run.evidence);
    ended
}

fn outcome(ended: &Ended) -> (Outcome, String) {
    let [Event::Attempt(attempt)] = ended.run.events.as_slice() else { panic!("{:?}", ended.fault) };
    (attempt.outcome, attempt.reason.clone().unwrap_or_default())
}

fn hosts(address: &str) -> String {
    format!("hosts = [\"{address}\"]\nprivate_addresses = true")
}

#[test]
fn a_service_is_posted_the_request_and_its_body_is_the_answer() {
    let body = r#"{"output": {"text": "done"}, "cost": 0.003}"#;
    let server = Server::new(move |stream| drop(stream.write_all(response("200 OK", body).as_bytes())));
    let more = "headers = { x-team = \"karat\" }\nsecrets = [\"KEY\"]\nsecret_headers = { authorization = \"Bearer ${KEY}\" }";
    let ended = run(&executors(&server.address, &hosts(&server.address), more), None);
    assert_eq!(outcome(&ended), (Outcome::Success, String::new()));
    assert_eq!(ended.recording.attempts()[0].cost_nano_tao, 3_000_000);
    let [request] = server.requests().try_into().unwrap_or_else(|all| panic!("{all:?}"));
    assert!(request.starts_with("POST /step?x=1 HTTP/1.1\r\n"), "{request}");
    for part in [
        "x-team: karat", "authorization: Bearer correct-horse-battery-staple",
        "content-type: application/json",
    ] {
        assert!(request.contains(part), "{request}");
    }
    let sent = r#"{"action":"do","attempt":1,"params":{"q":"ü"},"step":"a","subnet":"sn1"}"#;
    assert!(request.ends_with(sent), "{request}");
    assert_eq!(ended.recording.attempts()[0].key, karat_core::facts::Digest::of(sent.as_bytes()));
    assert!(!ended.recording.text().contains("horse") && !ended.run.evidence.contains("horse"));
}

#[test]
fn what_is_no_answer_is_a_failed_attempt() {
    let failed = |server: &Server, more: &str| {
        let ended = run(&executors(&server.address, &hosts(&server.address), more), None);
        let (outcome, reason) = outcome(&ended);
        assert_eq!(outcome, Outcome::Failed);
        reason
    };
    let error = Server::with("HTTP/1.1 503 Busy\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    assert_eq!(failed(&error, ""), "HTTP status 503");
    let nonsense = Server::with("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n[]");
    assert_eq!(failed(&nonsense, ""), "its answer is not a JSON object");
    let cut = Server::with("HTTP/1.1 200 OK\r\ncontent-length: 200\r\nconnection: close\r\n\r\n{\"output\"");
    assert!(failed(&cut, "").starts_with("its answer broke off: "));
    let gone = { TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string() };
    let reason = outcome(&run(&executors(&gone, &hosts(&gone), ""), None)).1;
    assert!(reason.starts_with("no answer: "), "{reason}");

    // A body without end is read up to the limit, and not one without a length either.
    let sent = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&sent);
    let endless = Server::new(move |stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
        while count.load(Ordering::SeqCst) < 64 << 20 && stream.write_all(&[b'x'; 1 << 16]).is_ok() {
            count.fetch_add(1 << 16, Ordering::SeqCst);
        }
    });
    assert_eq!(failed(&endless, "output_kib = 8"), "it sent more than 8 KiB");
    assert!(sent.load(Ordering::SeqCst) < 64 << 20);
    let echo = Server::with(
        "HTTP/1.1 200 OK\r\ncontent-length: 43\r\nconnection: close\r\n\r\n{\"error\": \"correct-horse-battery-staple no\"}",
    );
    let more = "secrets = [\"KEY\"]\nsecret_headers = { k = \"${KEY}\" }";
    assert!(!failed(&echo, more).contains("horse"));
}

#[test]
fn no_redirect_is_followed() {
    let target =
        Server::with("HTTP/1.1 200 OK\r\ncontent-length: 14\r\nconnection: close\r\n\r\n{\"output\": {}}");
    let to = format!(
        "HTTP/1.1 307 Elsewhere\r\nlocation: http://{}/\r\ncontent-length: 0\r\nconnection: close\r\n\r\n",
        target.address
    );
    let first = Server::new(move |stream| drop(stream.write_all(to.as_bytes())));
    let ended = run(&executors(&first.address, &hosts(&first.address), ""), None);
    assert_eq!(outcome(&ended), (Outcome::Failed, "HTTP status 307".to_owned()));
    assert!(target.requests().is_empty());
}

#[test]
fn a_slow_service_is_left_at_the_limit_of_the_plan() {
    // A byte now and then keeps every single read alive.
    let server = Server::new(|stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
        for _ in 0..100 {
            thread::sleep(Duration::from_millis(50));
            if stream.write_all(b" ").is_err() {
                break;
            }
        }
    });
    let begun = Instant::now();
    let ended = run(&executors(&server.address, &hosts(&server.address), ""), Some(0.3));
    assert_eq!(outcome(&ended).0, Outcome::Timeout);
    assert!(begun.elapsed() < Duration::from_secs(3));
}

#[test]
fn a_private_address_is_not_connected_to_unless_it_is_allowed() {
    let server =
        Server::with("HTTP/1.1 200 OK\r\ncontent-length: 14\r\nconnection: close\r\n\r\n{\"output\": {}}");
    let port = server.address.rsplit(':').next().unwrap();
    for host in [server.address.clone(), format!("localhost:{port}"), format!("[::ffff:127.0.0.1]:{port}")] {
        let executors = executors(&host, &format!("hosts = [\"{host}\"]"), "");
        let ended = karat_runner::live(&job(None), &executors, &Stop::default(), &|_| {}).unwrap();
        // It is the validator who has it wrong: no step fails for it.
        assert!(ended.run.is_stopped && ended.run.events.is_empty());
        let fault = ended.fault.unwrap();
        assert!(fault.contains("leads to a private address"), "{fault}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn an_interrupt_does_not_wait_for_a_service() {
    let server = Server::new(|_| thread::sleep(Duration::from_secs(30)));
    let executors = executors(&server.address, &hosts(&server.address), "");
    let stop = Stop::default();
    let begun = Instant::now();
    let ended = thread::scope(|scope| {
        scope.spawn(|| {
            while server.requests().is_empty() {
                thread::sleep(Duration::from_millis(5));
            }
            stop.ask();
        });
        karat_runner::live(&job(None), &executors, &stop, &|_| {}).unwrap()
    });
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert!(ended.run.is_stopped);
    let item: Value = serde_json::from_str(&ended.run.evidence).unwrap();
    assert_eq!((&item["outcome"], &item["result"]["attempts"]), (&json!("stopped"), &json!([])));
}
