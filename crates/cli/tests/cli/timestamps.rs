//! The same timestamps everywhere: flags, parameters of requests, evidence, events, records.

use karat::record::Record;
use karat::standing::events;
use karat_reader::{Kind, Reader, ReaderOptions};

use crate::common::{Folder, example, karat};
use crate::serve::Server;

const SOUND: [&str; 11] = [
    "2026-01-31T12:00:00Z", "2026-01-31T12:00:00.5Z", "2026-01-31T12:00:00.123456789123Z",
    "2026-01-31T12:00:00+02:00", "2026-01-31T12:00:00-11:30", "2026-01-31T12:00:00-00:00",
    "2024-02-29T23:59:59Z", "2000-02-29T00:00:00+23:59", "1969-12-31T23:59:59.999Z", "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999Z",
];

const HOSTILE: [(&str, &str); 33] = [
    ("yesterday", "give date"),
    ("1769860800", "give date"),
    ("20260131T120000Z", "give date"),
    ("2026-1-31T12:00:00Z", "give date"),
    ("+002026-01-31T12:00:00Z", "give date"),
    ("２026-01-31T12:00:00Z", "give date"),
    ("2026-01-31T12:00:00.Z", "give date"),
    ("2026-01-31T12:00:00Zz", "give date"),
    ("2026-01-31T12:00:00Z[UTC]", "give date"),
    ("2026-W05-6T12:00:00Z", "give date"),
    ("2026-06-01", "add the time"),
    ("2026-01-31 12:00:00Z", "capital `T`"),
    ("2026-01-31t12:00:00Z", "capital `T`"),
    ("2026-01-31T12:00", "add the seconds"),
    ("2026-01-31T12:00Z", "add the seconds"),
    ("2026-01-31T12:00:00", "`+02:00`"),
    ("2026-01-31T12:00:00z", "`+02:00`"),
    ("2026-01-31T12:00:00,5Z", "`+02:00`"),
    ("2026-01-31T12:00:00+0200", "`+02:00`"),
    ("2026-01-31T12:00:00+02", "`+02:00`"),
    ("2026-01-31T12:00:00UTC", "`+02:00`"),
    ("2026-01-31T12:00:00−01:00", "`+02:00`"),
    ("2026-02-29T12:00:00Z", "no such day"),
    ("1900-02-29T12:00:00Z", "no such day"),
    ("2026-13-01T12:00:00Z", "no such day"),
    ("2026-04-31T12:00:00Z", "no such day"),
    ("2026-01-31T24:00:00Z", "hours go up to 23"),
    ("2026-01-31T12:60:00Z", "hours go up to 23"),
    ("2026-01-31T12:00:00+24:00", "hours go up to 23"),
    ("2026-12-31T23:59:60Z", "give second 59"),
    ("2017-01-01T05:29:60.25+05:30", "give second 59"),
    ("0000-01-01T00:00:00+00:01", "0000 to 9999"),
    ("9999-12-31T23:59:59-00:01", "0000 to 9999"),
];

/// Sends every text through `door`, which returns the answer. A refusal of the timestamp names RFC 3339 and gives
/// the hint.
fn ask(door: &str, answer: impl Fn(&str) -> String) {
    ask_these(door, &HOSTILE, answer);
}

fn ask_these(door: &str, hostile: &[(&str, &str)], answer: impl Fn(&str) -> String) {
    for text in SOUND {
        let answer = answer(text);
        assert!(!answer.contains("RFC 3339"), "{door}: {text}: {answer}");
    }
    for (text, hint) in hostile {
        let answer = answer(text);
        assert!(
            answer.contains("expected an RFC 3339 timestamp such as `2026-01-31T12:00:00Z`"),
            "{door}: {text}: {answer}"
        );
        assert!(answer.contains(hint), "{door}: {text}: {answer}");
    }
}

#[test]
fn every_flag_reads_the_same_timestamps() {
    let runs = "examples/workflow/closed-gate.json";
    for before in [
        ["score", "-c", "workflow", runs, "--as-of"].as_slice(),
        &["leaderboard", "-c", "workflow", runs, "--since"],
        &["rescore", "missing.db", "-c", "workflow", "--known-at"],
    ] {
        // People write flags: a date alone is one more form.
        let hostile: Vec<_> = HOSTILE.into_iter().filter(|(text, _)| *text != "2026-06-01").collect();
        ask_these(before.last().unwrap(), &hostile, |text| karat(&[before, &[text]].concat()).stderr);
    }
    // The other flags are read by the same function.
    for before in [
        ["leaderboard", "-c", "workflow", runs, "--until"].as_slice(),
        &["leaderboard", "-c", "workflow", runs, "--as-of"],
        &["grade", "workflow-run", runs, "--as-of"],
        &["standing", "-c", "trust", runs, "--as-of"],
    ] {
        let run = karat(&[before, &["2026-06-01T00:00"]].concat());
        assert_eq!((run.status, run.stdout.as_str()), (2, ""), "{before:?}");
        assert!(run.stderr.contains("invalid value '2026-06-01T00:00'"), "{}", run.stderr);
        assert!(run.stderr.contains("add the seconds, such as `:00`"), "{}", run.stderr);
        let run = karat(&[before, &["2026-06-01"]].concat());
        assert!(run.stderr.starts_with("note: `2026-06-01` is 2026-06-01T00:00:00Z\n"), "{}", run.stderr);
    }
}

#[test]
fn a_date_and_now_give_the_bytes_of_the_moment_that_they_mean() {
    let runs = ["examples/cards/task-run.toml", "examples/leaderboard/runs.csv"];
    for verb in [&["score"][..], &["standing"], &["leaderboard"]] {
        let at = |moment: &str| karat(&[verb, &["--as-of", moment, "-c", runs[0], runs[1]]].concat());
        let (date, full) = (at("2026-06-01"), at("2026-06-01T00:00:00Z"));
        assert_eq!((date.status, date.stdout == full.stdout), (0, true), "{verb:?}");
        assert_eq!(full.stderr, "", "{verb:?}");
        let now = at("now");
        let moment = now.stderr.strip_prefix("note: `now` is ").unwrap().lines().next().unwrap();
        assert!(moment.ends_with('Z') && moment > "2026-01-01", "{moment}");
        assert_eq!((now.status, now.stdout == at(moment).stdout), (0, true), "{verb:?} {moment}");
    }
    // Two flags of one command mean one moment, which is said once.
    let both = karat(&["leaderboard", "--since", "now", "--until", "now", "-c", runs[0], runs[1]]);
    assert_eq!(both.stderr.matches("`now` is").count(), 1, "{}", both.stderr);
}

#[test]
fn every_parameter_reads_the_same_timestamps() {
    let folder = Folder::new();
    let server = Server::new(folder.path(), &[]);
    let run = example("workflow/closed-gate.json");
    for (method, path, body) in [
        ("GET", "/v1/records?since=", ""),
        ("GET", "/v1/records?until=", ""),
        ("GET", "/v1/records?known_at=", ""),
        ("GET", "/v1/leaderboards?card=workflow@1.0.0&since=", ""),
        ("GET", "/v1/standings?card=workflow@1.0.0&as_of=", ""),
        ("POST", "/v1/evidence?card=workflow@1.0.0&as_of=", run.as_str()),
    ] {
        ask(path, |text| {
            let text: String = text.bytes().map(|byte| format!("%{byte:02X}")).collect();
            let (status, answer) = server.ask(method, &format!("{path}{text}"), body);
            assert!(status < 500, "{answer}");
            answer
        });
    }
}

#[test]
fn every_kind_of_evidence_reads_the_same_timestamps() {
    let result = r#""output_quality": 1, "result": {"steps_completed": 1, "total_steps": 1}"#;
    for (kind, before, after) in [
        (Kind::WorkflowRun, r#"{"id": 1, "time": ""#, format!(r#"", {result}}}"#)),
        (
            Kind::WorkflowRun,
            r#"{"id": 1, "output_quality": 1, "workflow_plan": {"nodes": [{"id": "a"}]}, "result": {"attempts": [
                {"step": "a", "outcome": "success", "end": ""#,
            r#""}]}}"#.to_owned(),
        ),
        (
            Kind::Match,
            r#"{"agent_id": "a", "match_id": "m", "scores": {"correctness": 1}, "submitted_at": ""#,
            r#""}"#.to_owned(),
        ),
        (
            Kind::AgentDimensions,
            r#"{"agent_id": "a", "dimensions": {"accuracy": 0.9}, "time": ""#,
            r#""}"#.to_owned(),
        ),
        (
            Kind::AgentEvidence,
            r#"{"agent_id": "a", "evaluations": [{"id": "e", "runner": {"id": "lab", "independence": "third-party"},
                "checks": [{"id": "c", "category": "task", "task": "t", "passed": true}], "time": ""#,
            r#""}]}"#.to_owned(),
        ),
    ] {
        ask(before, |text| {
            let mut reader = Reader::new(kind, &[], ReaderOptions::default()).unwrap();
            match reader.read(format!("{before}{text}{after}").as_bytes()) {
                Ok(_) => String::new(),
                Err(problems) => problems.to_string(),
            }
        });
    }
}

#[test]
fn events_read_the_same_timestamps() {
    ask("events", |text| {
        let line = format!(r#"{{"event": "hold-placed", "subject": "a", "time": "{text}"}}"#);
        events::read("f", &line).map_or_else(|failure| format!("{failure:?}"), |_| String::new())
    });
}

#[test]
fn records_read_the_same_timestamps() {
    let sound = karat(&["score", "--card", "workflow", "examples/workflow/worked-example.json"]).stdout;
    let refused = |member: &str, text: &str| {
        let claim = sound.replacen(&format!("\"{member}\":null"), &format!("\"{member}\":\"{text}\""), 1);
        assert_ne!(claim, sound);
        Record::parse(claim.as_bytes()).map_or_else(|error| error.to_string(), |_| String::new())
    };
    ask("as_of", |text| refused("as_of", text));
    ask("evidence.time", |text| refused("time", text));
}
