//! Challenges that run what was submitted: their files, and records with a verdict and without one.

use std::path::PathBuf;

use karat_core::facts::Digest;
use karat_graders::execution::{CaseReport, Identity, Job, Judge, Report, TaskReport, Unjudged, Verdict};
use serde_json::{Value, json};

use super::*;
use crate::engine::{Engine, Options};

const CASES: &str = "function = 'add'\n[[case]]\nname = 'a'\nargs = [1, 2]\nexpect = 3\n\
                     [[case]]\nname = 'b'\nargs = [2, 2]\nexpect = 4\n";

fn text() -> String {
    let digest = Digest::of(CASES.as_bytes());
    format!(
        r#"
        schema = "karat/scorecard/1"
        id = "adder"
        version = "1.0.0"
        title = "Adder"
        base = "arena@1.0.0"
        [dims]
        correctness = 0.7
        speed = 0.3
        [submission]
        runtime = "python"
        files = {{ "solution.py" = "/code" }}
        [[evaluator.correctness]]
        primitive = "tests"
        cases = "add.toml"
        digest = "{digest}"
        "#
    )
}

fn played() -> Vec<u8> {
    json!({
        "match_id": "m", "agent_id": "a", "attempt_number": 1, "memoryless": false, "ground_truth": {},
        "started_at": "2026-03-01T12:00:00Z", "submitted_at": "2026-03-01T12:00:30Z", "time_limit_secs": 60,
        "payload": {"answer": {"code": "def add(a, b): return a + b"}},
    })
    .to_string()
    .into_bytes()
}

/// A judge that lets each case pass whose name comes before `b`.
#[derive(Debug)]
struct Half;

impl Judge for Half {
    fn judge(&self, job: &Job) -> Result<Report, Unjudged> {
        let names = ["a", "b"].into_iter();
        let cases = names.map(|name| {
            let passes = name < "b";
            CaseReport {
                name: name.to_owned(),
                value: f64::from(u8::from(passes)),
                verdict: if passes { Verdict::Pass } else { Verdict::Fail },
                reason: None,
                fuel: 10,
                near_limit: false,
            }
        });
        let runtime_digest = Digest::of(b"runtime").to_string();
        let judge = Identity {
            engine: "e".into(),
            runtime: job.runtime.clone(),
            runtime_digest,
            version: "1".into(),
        };
        Ok(Report { judge, results: vec![TaskReport::Cases { cases: cases.collect() }] })
    }
}

fn engine(card: CompiledCard, judge: Option<Arc<dyn Judge>>) -> Engine {
    Engine::new(card, Options { judge, ..Options::default() }).unwrap()
}

fn with_cases() -> CompiledCard {
    CompiledCard::parse(&text()).unwrap().with_files(&|_| Ok(CASES.as_bytes().to_vec())).unwrap()
}

fn json_of(record: &crate::record::Record) -> Value {
    serde_json::from_slice(record.as_bytes()).unwrap()
}

#[test]
fn a_verdict_becomes_a_score_and_none_becomes_no_score() {
    let judged = engine(with_cases(), Some(Arc::new(Half))).score(&played()).unwrap();
    let record = json_of(&judged);
    // 700 x 1/2 for the cases, 300 x 1/2 for the time.
    assert_eq!(
        (&record["score"]["published"], &record["item"]["outcome"]),
        (&json!(500), &Value::Null),
        "{record}"
    );
    assert_eq!(record["grading"]["execution"]["tasks"][0]["passed"], 1);

    let unjudged = engine(with_cases(), None).score(&played()).unwrap();
    let record = json_of(&unjudged);
    assert_eq!(record["evidence"]["outcome"], "no-verdict", "{record}");
    assert_eq!((&record["status"], &record["score"]), (&json!("withheld"), &Value::Null), "{record}");
    assert_eq!(record["match"]["score"], Value::Null, "{record}");
    assert_eq!(record["match"]["score_breakdown"].get("correctness"), None, "{record}");
    assert!(record["grading"]["execution"]["no_verdict"].is_string());
    // Both follow from their own facts, without judge and files.
    let card = Arc::new(CompiledCard::parse(&text()).unwrap());
    for record in [&judged, &unjudged] {
        crate::recompute::recompute(record, &card, |_| ()).unwrap();
    }
}

#[test]
fn files_lie_beside_the_card() {
    let folder = std::env::temp_dir().join(format!("karat-challenge-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path: PathBuf = folder.join("adder.toml");
    fs::write(&path, text()).unwrap();
    let score = || engine(CompiledCard::from_file(&path).unwrap(), Some(Arc::new(Half))).score(&played());

    let missing = score().unwrap_err();
    assert_eq!(missing.code(), Code::ScorecardRefused);
    let told = missing.to_string();
    assert!(told.contains("`add.toml`, which cannot be read") && told.contains("add.toml`: "), "{told}");

    fs::write(folder.join("add.toml"), "case = []").unwrap();
    let changed = score().unwrap_err().to_string();
    let (found, expected) = (Digest::of(b"case = []"), Digest::of(CASES.as_bytes()));
    assert!(changed.contains(&found.to_string()) && changed.contains(&expected.to_string()), "{changed}");
    // What needs no file works without it.
    let graded = json!({"agent_id": "a", "match_id": "m", "scores": {"correctness": 1000, "speed": 1000}});
    let mut engine = Engine::new(CompiledCard::from_file(&path).unwrap(), Options::default()).unwrap();
    assert_eq!(json_of(&engine.score_value(&graded).unwrap())["match"]["score"], json!(1000));

    fs::write(folder.join("add.toml"), CASES).unwrap();
    assert_eq!(json_of(&score().unwrap())["match"]["score"], json!(500));
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_check_shows_the_digest_to_paste() {
    let folder = std::env::temp_dir().join(format!("karat-check-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("add.toml"), CASES).unwrap();
    let digest = Digest::of(CASES.as_bytes()).to_string();
    let check = |text: String| {
        let card = CardText { name: "adder.toml".into(), text };
        cards::check_in(&card, &folder)
    };
    assert!(check(text()).card.is_some());
    let hint = format!("digest = \"{digest}\"");
    for changed in [
        text().replace(&format!("digest = \"{digest}\""), ""),
        text().replace(&digest, &format!("sha256:{}", "0".repeat(64))),
    ] {
        let checked = check(changed.clone());
        assert!(checked.card.is_none());
        let found: Vec<_> = checked.diagnostics.iter().filter(|found| found.help.contains(&hint)).collect();
        assert_eq!(found.len(), 1, "{:?}", checked.diagnostics);
        let place = changed.get(found[0].span.start..).unwrap();
        assert!(
            place.starts_with("[evaluator") || place.contains("sha256:0000") || place.contains("primitive"),
            "{place}"
        );
    }
    // A text without a folder is checked for its own form.
    let alone = text().replace(&format!("digest = \"{digest}\""), "");
    let refused = CompiledCard::parse(&alone).unwrap_err().to_string();
    assert!(refused.contains("karat card check"), "{refused}");
    fs::remove_dir_all(&folder).unwrap();
}
