//! Webhooks: a receiver that listens hears of every event once, signed, and nothing goes to an address that is not public.

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use data_encoding::BASE64;
use karat_core::timestamp::Timestamp;
use karat_server::Options;
use karat_server::clock::Clock;
use karat_server::webhooks::Webhooks;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use crate::common::{Folder, Running};

const JSON: &str = "application/json";
/// 2026-01-01T00:00:00Z.
const START: i64 = 1_767_225_600;
const DAY: i64 = 86_400;
const SECRETS: [&str; 2] =
    ["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYX"];

const CARD: &str = r#"
schema = "karat/scorecard/1"
id = "agent"
version = "1.0.0"
title = "An agent under review"
about = "One value, and a gate."
evidence = "facts"
scale = { max = 1000, publish = "half-up" }
facts = { quality = { unit = "1", min = 0, max = 1, from = "harness" }, safety = { unit = "1", min = 0, max = 1, from = "harness" } }
dimension = [{ key = "quality", weight = 3 }, { key = "safety", weight = 1 }]
gate = [{ name = "unsafe", when = "safety < 0.5", cap = 200 }]

[standing]
score = "latest"
review = { swing_points = 100, deadline_hours = 24 }
tier = [{ name = "low", score = 300 }, { name = "high", score = 700 }]
"#;

/// A request as it came: its headers in small letters, and its body.
#[derive(Debug, Clone)]
struct Got {
    head: Vec<String>,
    body: String,
}

impl Got {
    fn header(&self, name: &str) -> &str {
        self.head.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).unwrap_or_default()
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }

    /// Returns the signature that the secret gives.
    fn signed_by(&self, secret: &str) -> String {
        let key = BASE64.decode(secret.strip_prefix("whsec_").unwrap().as_bytes()).unwrap();
        let pad = |with: u8| (0..64).map(|at| key.get(at).unwrap_or(&0) ^ with).collect::<Vec<u8>>();
        let said =
            format!("{}.{}.{}", self.header("webhook-id"), self.header("webhook-timestamp"), self.body);
        let inner = Sha256::digest([pad(0x36), said.into_bytes()].concat());
        format!("v1,{}", BASE64.encode(&Sha256::digest([pad(0x5c), inner.to_vec()].concat())))
    }
}

/// A receiver, with the statuses that it still has to answer; 204 without any.
#[derive(Clone)]
struct Receiver {
    port: u16,
    got: Arc<Mutex<Vec<Got>>>,
    answers: Arc<Mutex<VecDeque<u16>>>,
}

impl Receiver {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let it = Self { port, got: Arc::default(), answers: Arc::default() };
        let own = it.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut reader = BufReader::new(stream.unwrap());
                let mut head = Vec::new();
                loop {
                    let mut line = String::new();
                    if reader.read_line(&mut line).unwrap_or_default() == 0 || line.trim().is_empty() {
                        break;
                    }
                    head.push(line.trim().to_owned());
                }
                let mut got = Got { head, body: String::new() };
                let length = got.header("content-length").parse().unwrap_or_default();
                let mut body = vec![0; length];
                let _ = reader.read_exact(&mut body);
                got.body = String::from_utf8(body).unwrap();
                own.got.lock().unwrap().push(got);
                let status = own.answers.lock().unwrap().pop_front().unwrap_or(204);
                let head = format!("HTTP/1.1 {status} -\r\nlocation: http://127.0.0.1:{port}/other\r\n");
                let _ = reader.get_mut().write_all(format!("{head}content-length: 0\r\n\r\n").as_bytes());
            }
        });
        it
    }

    fn all(&self) -> Vec<Got> {
        self.got.lock().unwrap().clone()
    }

    /// Waits for that many requests in all.
    #[track_caller]
    fn wait(&self, count: usize) -> Vec<Got> {
        until(|| (self.all().len() >= count).then_some(()), || format!("{:#?}", self.all()));
        self.all()
    }
}

#[track_caller]
fn until<T>(mut found: impl FnMut() -> Option<T>, state: impl Fn() -> String) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(60), "{}", state());
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn write(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    path
}

/// Reads a file of webhooks; its waits are short.
fn options(folder: &Path, text: &str) -> Options {
    write(folder, "secret", &SECRETS.join("\n"));
    let read = Webhooks::read(&write(folder, "webhooks.toml", text)).unwrap();
    Options { webhooks: Webhooks { waits: vec![Duration::from_millis(20); 3], ..read }, ..Options::default() }
}

/// A server with a clock that stands, and its receiver.
struct Door {
    server: Running,
    clock: Clock,
}

impl Door {
    fn new(options: Options) -> Self {
        let clock = Clock::fixed(Timestamp::from_seconds(START));
        let server = Running::with_clock("127.0.0.1:0", Folder::new(), options, None, clock.clone());
        server.post("/v1/scorecards", Some(&server.admin), "application/toml", CARD).is(201);
        Self { server, clock }
    }

    fn restart(self, options: Options) -> Self {
        let (admin, clock) = (self.server.admin.clone(), self.clock);
        let folder = self.server.stop();
        let server = Running::with_clock("127.0.0.1:0", folder, options, Some(admin), clock.clone());
        Self { server, clock }
    }

    fn evaluate(&self, seconds: i64, subject: &str, id: &str, quality: f64, is_safe: bool) {
        let moment = Timestamp::from_seconds(START + seconds);
        self.clock.put(moment);
        let item = json!({"subject": subject, "id": id, "time": moment.to_string(), "quality": quality, "safety": f64::from(u8::from(is_safe)), "task": id.split('-').next()});
        self.server.send("card=agent@1.0.0", &item.to_string()).is(201);
    }

    fn deliveries(&self) -> Value {
        self.server.get_with("/v1/deliveries", Some(&self.server.admin)).is(200).json()
    }
}

fn types(got: &[Got]) -> Vec<String> {
    got.iter().map(|it| it.json()["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn events_are_signed_and_tried_again_and_survive_a_restart() {
    let (receiver, folder) = (Receiver::start(), TempDir::new().unwrap());
    let text = format!(
        "site = \"https://scores.example.org/\"\n[[endpoint]]\nname = \"chat\"\nurl = \"http://127.0.0.1:{}/in\"\n\
         events = [\"score.held\", \"review.decided\", \"tier.lost\", \"gate.failed\"]\nsecret_file = \"secret\"\n\
         allow_private = true\nsubject = \"bee\"\n",
        receiver.port
    );
    let options = || options(folder.path(), &text);
    let door = Door::new(options());
    door.evaluate(0, "bee", "a-1", 0.7, true);
    door.evaluate(10, "other", "a-1", 0.7, false);
    // A score that leaps is held; the answer to the event is an error, and then a redirect, which is not followed.
    receiver.answers.lock().unwrap().extend([500, 302]);
    door.evaluate(60, "bee", "a-2", 0.96, true);
    let got = receiver.wait(3);
    assert_eq!(types(&got), ["score.held"; 3]);
    let data = got[2].json()["data"].clone();
    assert_eq!(
        (&data["subject"], &data["card"], &data["score"]),
        (&json!("bee"), &json!("agent@1.0.0"), &json!(970))
    );
    assert_eq!(data["subject_page"], "https://scores.example.org/subjects/bee?card=agent@1.0.0");
    for it in &got {
        assert!(it.head[0].starts_with("POST /in "), "{:?}", it.head);
        assert_eq!(it.header("webhook-id"), got[0].header("webhook-id"));
        let signatures: Vec<&str> = it.header("webhook-signature").split(' ').collect();
        assert_eq!(signatures, SECRETS.map(|secret| it.signed_by(secret)));
        let sent: i64 = it.header("webhook-timestamp").parse().unwrap();
        assert!((sent - Clock::system().now().seconds()).abs() < 120, "{sent}");
        assert!(!it.body.contains("whsec"), "{}", it.body);
    }
    let log = until(
        || Some(door.deliveries()).filter(|log| log["endpoints"][0]["delivered"] == 1),
        || door.deliveries().to_string(),
    );
    let statuses: Vec<&Value> =
        log["deliveries"].as_array().unwrap().iter().map(|it| &it["status"]).collect();
    assert_eq!(statuses, [204, 302, 500]);
    assert_eq!(log["deliveries"][2]["event"], got[0].header("webhook-id"));
    door.server.get("/v1/deliveries").is_problem(401, "unauthenticated");
    // After a restart nothing comes again, and what was decided meanwhile does.
    let door = door.restart(options());
    door.clock.put(Timestamp::from_seconds(START + 120));
    let seen = &data["digest"];
    let decision = json!({"card": "agent@1.0.0", "subject": "bee", "verdict": "approve", "reason": "seen", "seen": seen});
    let reviewer = door.server.key(&json!({"name": "ann", "scopes": ["review"]}));
    let second = door.server.key(&json!({"name": "ben", "scopes": ["review"]}));
    door.server.post("/v1/reviews", Some(&reviewer), JSON, decision.to_string()).is(201);
    door.clock.put(Timestamp::from_seconds(START + 121));
    door.server.post("/v1/reviews", Some(&second), JSON, decision.to_string());
    let got = receiver.wait(4);
    assert_eq!(
        (types(&got)[3].as_str(), &got[3].json()["data"]["state"]),
        ("review.decided", &json!("approved"))
    );
    assert_eq!(got.len(), 4, "{got:#?}");
    // An endpoint that fails is switched off; the next start tells it of the same event, under the same id.
    receiver.answers.lock().unwrap().extend([500; 4]);
    door.evaluate(DAY, "bee", "a-3", 0.9, false);
    let off = until(
        || Some(door.deliveries()["endpoints"][0]["off"].clone()).filter(|off| !off.is_null()),
        || door.deliveries().to_string(),
    );
    assert_eq!(off, "the endpoint answered 500");
    let metrics = door.server.get("/metrics").body;
    assert!(metrics.contains("karat_webhook_off{endpoint=\"chat\"} 1\n"), "{metrics}");
    assert_eq!(receiver.all().len(), 8);
    let failed = receiver.all()[7].header("webhook-id").to_owned();
    let door = door.restart(options());
    let got = receiver.wait(9);
    assert_eq!(got[8].header("webhook-id"), failed);
    let rest = receiver.wait(10);
    let mut last = types(&rest[8..]);
    last.sort_unstable();
    last.dedup();
    assert!(last.contains(&String::from("gate.failed")) && last.len() >= 2, "{last:?}");
    let ids: std::collections::BTreeSet<_> =
        rest[8..].iter().map(|it| it.header("webhook-id").to_owned()).collect();
    assert_eq!(ids.len(), rest.len() - 8);
    drop(door);
}

#[test]
fn an_alarm_and_a_lost_tier_come_once_as_they_happen() {
    alarm_and_lost_tier(false);
}

#[test]
fn an_alarm_and_a_lost_tier_come_once_where_all_of_it_is_one_part() {
    alarm_and_lost_tier(true);
}

fn alarm_and_lost_tier(is_one_part: bool) {
    let (receiver, folder) = (Receiver::start(), TempDir::new().unwrap());
    let text = format!(
        "[[endpoint]]\nname = \"nights\"\nurl = \"http://127.0.0.1:{}/in\"\nevents = [\"trend.alarm\", \"tier.lost\"]\n\
         secret_file = \"secret\"\nallow_private = true\n[[watch]]\nname = \"nightly\"\nquery = \"card=agent@1.0.0&run=day\"\n",
        receiver.port
    );
    let options = || options(folder.path(), &text);
    let mut door = Door::new(options());
    if is_one_part {
        door = door.restart(Options::default());
    }
    for night in 0..60 {
        for task in 0..3 {
            let quality = if night < 30 { 0.7 } else { 0.5 } + f64::from(night % 7 + task) / 1000.0;
            door.evaluate(
                i64::from(night) * DAY + i64::from(task),
                "bee",
                &format!("t{task}-{night}"),
                quality,
                true,
            );
        }
    }
    if is_one_part {
        assert_eq!(receiver.all().len(), 0);
        door = door.restart(options());
    }
    let got = receiver.wait(2);
    let said = || (receiver.all(), door.deliveries());
    until(
        || (door.deliveries()["endpoints"][0]["position"].as_u64() > Some(360)).then_some(()),
        || format!("{:?}", said()),
    );
    let mut found = types(&receiver.all());
    found.sort_unstable();
    assert_eq!(found, ["tier.lost", "trend.alarm"], "{got:#?}");
    let of = |kind: &str| got.iter().find(|it| it.json()["type"] == kind).unwrap().json()["data"].clone();
    assert_eq!((&of("tier.lost")["from"], &of("tier.lost")["to"]), (&json!("high"), &json!("low")));
    assert_eq!(
        (&of("trend.alarm")["watch"], &of("trend.alarm")["first"]),
        (&json!("nightly"), &json!("2026-01-31"))
    );
}

#[test]
fn no_request_goes_to_an_address_that_is_not_public() {
    let (receiver, folder) = (Receiver::start(), TempDir::new().unwrap());
    let hosts =
        ["localhost", "127.0.0.1", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0177.0.0.1", "[::1]", "0"];
    let endpoint = |(at, host): (usize, &&str)| {
        format!(
            "[[endpoint]]\nname = \"e{at}\"\nurl = \"https://{host}:{}/in\"\nevents = [\"gate.failed\"]\nsecret_file = \"secret\"\n",
            receiver.port
        )
    };
    let text: String = hosts.iter().enumerate().map(endpoint).collect();
    let door = Door::new(options(folder.path(), &text));
    door.evaluate(0, "bee", "a-1", 0.7, false);
    let is_off = |it: &Value| !it["off"].is_null();
    let log = until(
        || Some(door.deliveries()).filter(|log| log["endpoints"].as_array().unwrap().iter().all(is_off)),
        || door.deliveries().to_string(),
    );
    for it in log["endpoints"].as_array().unwrap() {
        let why = it["off"].as_str().unwrap();
        assert!(why.contains("is not a public address") || why.contains("failed to lookup"), "{it}");
    }
    let named = log["endpoints"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|it| it["off"].as_str().unwrap().contains("public"));
    assert!(named.count() >= 6, "{log}");
    assert_eq!(receiver.all().len(), 0);
}

#[test]
fn every_fault_of_the_file_is_told_with_its_line() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "short", "whsec_AAAA");
    write(folder.path(), "open", SECRETS[0]);
    #[cfg(unix)]
    fs::set_permissions(folder.path().join("open"), std::os::unix::fs::PermissionsExt::from_mode(0o644))
        .unwrap();
    let text = r#"
[[endpoint]]
name = "chat"
url = "http://example.org/x"
events = ["score.hold"]
secret_file = "short"
[[endpoint]]
name = "chat"
urls = "https://example.org"
events = []
secret_file = "open"
[[watch]]
name = "nightly"
query = "card=agent&baseline=many"
"#;
    let found = Webhooks::read(&write(folder.path(), "webhooks.toml", text)).unwrap_err();
    let lines: Vec<String> =
        found.iter().map(|it| format!("{}: {} {}", it.line.unwrap_or_default(), it.path, it.hint)).collect();
    let expected = [
        "4: $.endpoint[0].url use https; `allow_private = true` allows http, too",
        "5: $.endpoint[0].events[0] did you mean \"score.held\"?",
        "6: $.endpoint[0].secret_file each line of it is whsec_",
        "7: $.endpoint[1].url",
        "8: $.endpoint[1].name",
        "9: $.endpoint[1].urls did you mean `url`?",
        "10: $.endpoint[1].events",
        "11: $.endpoint[1].secret_file others may read it: chmod 600",
        "14: $.watch[0].query",
    ];
    for (line, expected) in lines.iter().zip(expected) {
        assert!(line.starts_with(expected), "{line}\n{expected}\n{lines:#?}");
    }
    assert_eq!(lines.len(), expected.len(), "{lines:#?}");
    let missing = Webhooks::read(&folder.path().join("none.toml")).unwrap_err();
    assert_eq!(missing.len(), 1);
    assert!(Webhooks::read(&write(folder.path(), "empty.toml", "")).is_err());
    assert!(Webhooks::read(&write(folder.path(), "no.toml", "[[endpoint")).is_err());
}
