//! Findings of the checker on made cards, and the traps of the released cards.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::path::Path;

use karat_checker::{Checked, Cliff, Direction, check_text};
use karat_core::diagnostic::{Code, Severity};
use serde_json::{Value, json};

const FINDINGS: &str = include_str!("../findings.json");

/// Reads the text of a card; empty, which no test accepts, if it cannot be read.
fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scorecards").join(name);
    std::fs::read_to_string(path).unwrap_or_default()
}

fn check(name: &str) -> Checked {
    check_text(&read(name), &|base| {
        base.split_once('@').map(|(id, version)| read(&format!("{id}/{version}.toml")))
    })
}

/// Returns whether there is a finding of this code whose message contains `words`.
fn says(checked: &Checked, code: Code, words: &str) -> bool {
    checked.diagnostics.iter().any(|it| it.code == code && it.message.contains(words))
}

/// Returns the card of a case.
fn card(within: &Value, case: &Value) -> String {
    if let Some(card) = case["card"].as_str() {
        return card.to_owned();
    }
    let card = within[case["in"].as_str().unwrap()].as_str().unwrap();
    let Some(from) = case["replace"].as_str() else {
        return card.replace('$', case["with"].as_str().unwrap_or_default());
    };
    assert_eq!(card.matches(from).count(), 1, "{case}");
    card.replace(from, case["by"].as_str().unwrap())
}

/// Returns the members of a case that are not what the checker says.
fn differences<'c>(case: &'c Value, checked: &Checked) -> Vec<&'c str> {
    let all = &checked.diagnostics;
    let is_told = |code: &Value, words: &str| {
        all.iter().any(|it| *code == it.code.as_str() && it.message.contains(words))
    };
    let begin = |expected: &Value, found: Vec<String>| {
        let expected = expected.as_array().unwrap();
        let mut pairs = expected.iter().zip(&found);
        expected.len() == found.len() && pairs.all(|(start, line)| line.starts_with(start.as_str().unwrap()))
    };
    let lines = |severity: Severity| {
        let found = all.iter().filter(move |it| it.severity == severity);
        found.map(|it| format!("{} {}", it.code, it.message))
    };
    let is_as_said = |(member, value): (&String, &Value)| match member.as_str() {
        "says" => is_told(&case["code"], value.as_str().unwrap()),
        "without" => !is_told(value, ""),
        "errors" => begin(value, lines(Severity::Error).collect()),
        // Each card is warned of something else as well.
        "warnings" => begin(value, lines(Severity::Warning).filter(|it| it.starts_with("KC307")).collect()),
        "label" => all.iter().any(|it| *value == it.label),
        "help" => all.iter().any(|it| it.help.contains(value.as_str().unwrap())),
        "reading" => {
            let reading = checked.report.as_ref().unwrap().readings[0].1;
            *value == json!([reading.low, reading.high])
        }
        "cliffs" => {
            let (found, expected) = (&checked.report.as_ref().unwrap().cliffs, value.as_array().unwrap());
            let is_same = |(cliff, expected): (&Cliff, &Value)| {
                expected[0] == cliff.condition && (expected[1].as_f64().unwrap() - cliff.points).abs() < 1e-6
            };
            found.len() == expected.len() && found.iter().zip(expected).all(is_same)
        }
        _ => true,
    };
    let members = case.as_object().unwrap().iter();
    let mut wrong: Vec<&str> =
        members.filter(|it| !is_as_said(*it)).map(|(member, _)| member.as_str()).collect();
    let is_refused = case["errors"].as_array().map_or(case["refused"] == true, |errors| !errors.is_empty());
    wrong.extend((checked.card.is_none() != is_refused).then_some("refused"));
    wrong
}

#[test]
fn every_trap_is_told_and_what_is_like_it_is_not() {
    let findings: Value = serde_json::from_str(FINDINGS).unwrap();
    let mut wrong = Vec::new();
    for (id, case) in findings["cases"].as_array().unwrap().iter().enumerate() {
        let card = card(&findings["in"], case);
        let kind = if card.contains("evidence = ") { "" } else { "evidence = \"facts\"\n" };
        let head = format!(
            "schema = \"karat/scorecard/1\"\nid = \"case-{id}\"\nversion = \"1.0.0\"\ntitle = \"Case\"\n{kind}"
        );
        let checked = check_text(&format!("{head}{card}"), &|_| None);
        let members = differences(case, &checked);
        if !members.is_empty() {
            wrong.push(format!("{id} {members:?} of {case}: {:#?}", checked.diagnostics));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn workflow() {
    for version in ["1.0.0", "1.1.0"] {
        workflow_of(version);
    }
}

fn workflow_of(version: &str) {
    let checked = check(&format!("workflow/{version}.toml"));
    assert!(says(&checked, Code::SelfReported, "`steps_total` divides"));
    assert!(says(
        &checked,
        Code::SelfReported,
        "`declared_retry_budget` itself, and the higher it is the better"
    ));
    assert!(says(&checked, Code::StrictThreshold, "`success` of exactly 0.7"));
    let report = checked.report.unwrap();
    // Crossing the gate adds at most 0.25 + 0.15.
    let cliffs: Vec<_> = report.cliffs.iter().map(|it| (it.condition.as_str(), it.points)).collect();
    assert_eq!(cliffs, [("success > 0.7", 0.4)]);
    assert_eq!(report.idle, [("reliability".to_string(), 0.1)]);
    for (fact, direction) in [
        ("output_quality", Direction::Up),
        ("steps_completed", Direction::Up),
        ("actual_tao", Direction::Down),
        ("max_budget_tao", Direction::Up),
        ("timeouts", Direction::Down),
        ("declared_retry_budget", Direction::Up),
    ] {
        let found = report.directions.iter().find(|(name, _)| name == fact);
        assert_eq!(found.map(|(_, direction)| *direction), Some(direction), "{fact}");
    }
}

#[test]
fn trace() {
    let checked = check("trace/1.0.0.toml");
    assert!(says(
        &checked,
        Code::SelfReported,
        "`outcome_confidence` (55 % of the weight in profile `medical`)"
    ));
    assert!(says(&checked, Code::SelfReported, "`step_count` divides"));
    assert!(says(&checked, Code::Fallback, "where `novelty` is missing it counts as 0.5"));
    assert!(says(
        &checked,
        Code::Fallback,
        "a `task_domain` that no profile is named after is scored as `default`"
    ));
    assert!(says(&checked, Code::HiddenState, "`novelty`"));
    assert!(says(&checked, Code::Idle, "`novelty` earns 0.175 of 1"));
    let report = checked.report.unwrap();
    let cliff = |about: &str| report.cliffs.iter().find(|it| it.about == [about]).map(|it| it.points);
    assert_eq!(cliff("single_step"), Some(0.9));
    assert_eq!(cliff("error_recovery"), Some(0.1));
    assert_eq!(cliff("zero_diversity"), Some(0.1));
    assert_eq!(cliff("complexity"), Some(0.075), "the first recovery: 0.3 of a quarter");
}

#[test]
fn trust() {
    let checked = check("trust/1.0.0.toml");
    assert!(says(&checked, Code::CoveragePicking, "16 of 16 readings are excluded"));
    assert!(!says(&checked, Code::Idle, ""));
    let report = checked.report.unwrap();
    let cliffs: Vec<_> = report.cliffs.iter().map(|it| (it.condition.as_str(), it.points)).collect();
    assert_eq!(cliffs, [("security < 0.25", 601.0), ("security < 0.50", 401.0)]);
    let down: Vec<_> =
        report.directions.iter().filter(|(_, direction)| *direction == Direction::Down).collect();
    let ages = down.iter().filter(|(name, _)| name.ends_with("_age_seconds")).count();
    assert_eq!((ages, down.len()), (16, 17), "only age and an open incident lower trust: {down:?}");
}

#[test]
fn arena() {
    let checked = check("arena/1.0.0.toml");
    assert!(
        !says(&checked, Code::Idle, ""),
        "time counts against a limit only: no time of no limit earns nothing"
    );
    let challenge = check("arena/challenges/lean-refactor.toml");
    assert!(challenge.card.is_some());
    assert!(!says(&challenge, Code::Fallback, ""), "no limit is known to be none: nothing stands in");
    // A log without calls scores full efficiency, as one with few calls nearly does: no cliff.
    assert_eq!(challenge.report.unwrap().cliffs, []);
}
