//! Matches whose total contradicts their parts.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use karat_graders::arena::Challenge;
use karat_reader::{Graders, Kind, Reader, ReaderOptions};
use serde_json::{Value, json};

/// Reads the documented example with the members replaced, or says what is refused.
fn read(graders: Graders, changes: Value) -> Result<(), String> {
    let mut item = played();
    item.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    let mut reader = Reader::new(Kind::Match, &[], ReaderOptions::default()).unwrap().with_graders(graders);
    reader.read(item.to_string().as_bytes()).map(|_| ()).map_err(|problems| problems.to_string())
}

/// The challenge of the documented example.
fn challenge() -> Graders {
    let weights = [("correctness", 0.5), ("speed", 0.2), ("methodology", 0.15), ("completeness", 0.15)];
    let challenge = Challenge {
        id: "log-forensics".to_owned(),
        name: "log-forensics@1.0.0".to_owned(),
        weights: weights.map(|(key, weight)| (key.to_owned(), weight)).into(),
    };
    Graders { challenge: Some(challenge), ..Graders::default() }
}

/// The documented example, with the times that its speed takes.
fn played() -> Value {
    json!({
        "match_id": "m-1", "agent_id": "a", "challenge": "log-forensics", "score": 823, "result": "win",
        "score_breakdown": {
            "correctness": {"score": 900, "weight": 0.5, "weighted": 450},
            "speed": {"score": 780, "weight": 0.2, "weighted": 156},
            "methodology": {"score": 690, "weight": 0.15, "weighted": 103.5},
            "completeness": {"score": 760, "weight": 0.15, "weighted": 114},
        },
        "started_at": "2026-03-18T09:30:00Z", "submitted_at": "2026-03-18T09:31:06Z", "time_limit_secs": 300,
        "expires_at": "2026-03-18T09:35:00Z", "status": "completed", "verified": true, "memoryless": false,
        "attempt_number": 1, "trajectory_validation": {"valid": true, "checks": {"non_empty": true}},
        "trajectory": {"total_input_tokens": 100, "total_output_tokens": 10, "total_llm_calls": 1},
        "submission_warnings": [],
    })
}

/// An error about a dimension makes it 0, also where the arena has added it up: both totals can be meant.
#[test]
fn a_refused_dimension_may_be_in_the_total_or_not() {
    let scored = |score: u32| {
        let error = json!([{"severity": "error", "dimension": "correctness"}]);
        read(challenge(), json!({"submission_warnings": error, "score": score, "result": null}))
    };
    assert_eq!((scored(823), scored(373)), (Ok(()), Ok(())));
    scored(300).unwrap_err();
}

/// Without a card of a challenge there is nothing to hold a match against, but itself.
#[test]
fn a_match_without_a_challenge_is_read_as_it_is() {
    assert_eq!(read(Graders::default(), json!({"challenge": "other", "score": 1})), Ok(()));
}
