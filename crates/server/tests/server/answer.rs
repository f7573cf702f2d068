//! Matches as evidence: the answer of the arena with their record, and the dimensions of challenges that are published.

use serde_json::{Value, json};

use crate::common::Running;

const MATCH: &str = r#"{"match_id": "m1", "agent_id": "bee", "scores": {"correctness": 900, "methodology": 500},
    "time_used_secs": 10, "time_limit_secs": 100, "verified": true, "harness_warning": "another harness",
    "constraint_violations": ["maxLlmCalls: 5 of 3"],
    "submission_warnings": [{"severity": "error", "field": "x", "message": "bad", "dimension": "speed"}]}"#;

fn answer() -> Value {
    json!({
        "score": 525,
        "score_breakdown": {
            "correctness": {"score": 900, "weight": 0.5, "weighted": 450},
            "speed": {"score": 0, "weight": 0.2, "weighted": 0},
            "methodology": {"score": 500, "weight": 0.15, "weighted": 75},
            "completeness": {"score": 0, "weight": 0.15, "weighted": 0},
        },
        "submission_warnings": [{"severity": "error", "field": "x", "message": "bad", "dimension": "speed"}],
        "constraint_violations": ["maxLlmCalls: 5 of 3"],
        "harness_warning": "another harness",
    })
}

#[test]
fn a_match_is_answered_as_the_arena_does() {
    let server = Running::new();
    let sent = server.send("card=log-forensics@1.0.0", MATCH);
    assert_eq!(sent.is(201).at("/content/match"), answer());
    let position = sent.at("/record/position");
    assert_eq!(server.get(&format!("/v1/records/{position}")).at("/record/match"), answer());
    let explained = server.get(&format!("/v1/records/{position}/explanation"));
    assert_eq!(explained.is(200).at("/record/match"), answer());
    let page = server.get(&format!("/records/{position}"));
    for told in [
        "Breakdown", "score times weight, not rounded; the total is 525",
        "Error at x: bad; it makes speed 0", "maxLlmCalls: 5 of 3", "another harness",
    ] {
        assert!(page.is(200).body.contains(told), "{told}: {}", page.body);
    }
    // What is not a match has none of this.
    let run = include_str!("../../../../examples/workflow/worked-example.json");
    let other = server.send("card=workflow@1.0.0", run);
    assert_eq!(other.is(201).at("/content").get("match"), None);
    let page = server.get(&format!("/records/{}", other.at("/record/position")));
    assert!(!page.is(200).body.contains("Breakdown"), "{}", page.body);
}

/// Returns a challenge with these lines of `[dims]` and after.
fn challenge(dims: &str) -> String {
    format!(
        "schema = \"karat/scorecard/1\"\nid = \"mine\"\nversion = \"1.0.0\"\ntitle = \"Mine\"\n\
         base = \"arena@1.0.0\"\n[dims]\n{dims}\n"
    )
}

#[test]
fn dimensions_are_checked_before_a_challenge_is_published() {
    let server = Running::new();
    let post = |path: &str, text: &str| server.post(path, Some(&server.admin), "application/toml", text);
    let described = |member: &str| format!("speed = 0.5\nanalysis = 0.5\n[describe.speed]\n{member}");
    let label = |letter: &str, times: usize| described(&format!("label = \"{}\"", letter.repeat(times)));
    let cases = [
        (String::from("speed = 0.5\nanalysis = 0.5"), ""),
        (String::from("speed = 0.5\nanalysis = 0.5009"), ""),
        (String::from("speed = 0.5\nanalysis = 0.501"), "the weights sum to 1.001, they must sum to 1"),
        (String::from("speed = 0.5\nanalysis = 0.499"), "the weights sum to 0.999"),
        (String::from("speed = 0\nanalysis = 1"), ""),
        (String::from("speed = 1"), "1 dimensions are picked"),
        (String::from("speed = -0.5\nanalysis = 1.5"), "the weight of `speed` is negative"),
        (String::from("speed = \"0.5\"\nanalysis = 0.5"), "number"),
        (String::from("speed = true\nanalysis = 0.5"), "number"),
        (String::from("speed = nan\nanalysis = 0.5"), ":"),
        (String::from("speed = 0.5\nspeed = 0.5"), "duplicate"),
        (String::from("speed = 0.5\npace = 0.5"), "has no dimension `pace`"),
        (String::from("Speed = 0.5\nanalysis = 0.5"), "has no dimension `Speed`"),
        (label("l", 40), ""),
        (label("l", 41), "the label of `speed` is 41 long"),
        (label("🦀", 20), ""),
        (label("🦀", 21), "the label of `speed` is 42 long"),
        (label(" ", 1), ""),
        (described("label = \"\""), "the label of `speed` is 0 long"),
        (described(&format!("description = \"{}\"", "d".repeat(201))), "is 201 long"),
        (described("description = \"\""), "the description of `speed` is 0 long"),
        (described("color = \"red\""), "the color of `speed` is `red`"),
        (described("color = \"Sky\""), "the color of `speed` is `Sky`"),
        (described("color = 7"), "color"),
        (described("icon = \"star\""), "icon"),
    ];
    for (dims, told) in &cases {
        let checked = post("/v1/scorecards/check", &challenge(dims));
        let findings: Vec<String> = checked
            .is(200)
            .at("/findings")
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["severity"] == "error")
            .map(|finding| finding["message"].as_str().unwrap().to_owned())
            .collect();
        assert_eq!(checked.at("/is_sound"), told.is_empty(), "{dims}: {findings:?}");
        let published =
            post("/v1/scorecards", &challenge(dims).replace("mine", &format!("c{}", findings.len())));
        if told.is_empty() {
            assert_eq!(findings, [""; 0], "{dims}");
        } else {
            assert!(checked.body.contains(told), "{dims}: {findings:?}");
            published.is_problem(422, "card-refused");
        }
    }
}
