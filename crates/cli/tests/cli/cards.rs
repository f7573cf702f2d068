//! The cards of the examples; those that are released have their own guard in the core.

use std::fs;

use serde_json::Value;

use crate::common::{karat, karat_reading, root};

#[test]
fn the_checker_warns_of_nothing_that_an_example_card_leaves_unanswered() {
    let cards: Vec<_> =
        fs::read_dir(root().join("examples/cards")).unwrap().map(|it| it.unwrap().path()).collect();
    assert!(cards.len() >= 2, "only {cards:?}");
    for card in cards {
        let run = karat(&["card", "check", &card.display().to_string()]);
        let silent = run.stdout.contains("usable, 0 errors, 0 warnings");
        assert!(run.status == 0 && silent, "{}\n{}{}", card.display(), run.stderr, run.stdout);
    }
}

/// Without a time limit no time is short: a clock that shows 0 must not override the speed that the arena gives.
#[test]
fn a_match_without_a_limit_has_the_speed_it_states() {
    let match_of = |speed: &str, time: &str| {
        format!(r#"{{"match_id": "m", "agent_id": "a", "scores": {{"correctness": 900{speed}}}{time}}}"#)
    };
    let speed = |stated: &str, time: &str| {
        let item = match_of(stated, time);
        let run = karat_reading(&["score", "-c", "cipher-relay", "--json"], &item);
        let record: Value = serde_json::from_str(&run.stdout).unwrap();
        record["dimensions"][1]["reading"].clone()
    };
    let stated = r#", "speed": 300"#;
    assert_eq!(speed(stated, r#", "time_used_secs": 0"#), 0.3);
    assert_eq!(speed("", r#", "time_used_secs": 0, "time_limit_secs": 600"#), 1);
    assert_eq!(speed("", r#", "time_used_secs": 150, "time_limit_secs": 600"#), 0.75);
    assert_eq!(speed("", r#", "time_used_secs": 600, "time_limit_secs": 600"#), 0);
    // A stated speed that the times contradict is refused.
    let contradicted = match_of(stated, r#", "time_used_secs": 0, "time_limit_secs": 600"#);
    let run = karat_reading(&["score", "-c", "cipher-relay", "--json"], &contradicted);
    assert!(run.status != 0 && run.stderr.contains("$.scores.speed: found 300"), "{}", run.stderr);
}
