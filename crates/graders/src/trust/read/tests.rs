//! Tests of reading: accepted texts, and the words of refusals.

use proptest::prelude::*;

use super::*;

/// Reads evidence of an agent with these members.
fn read(members: &str) -> Result<AgentEvidence, Problems> {
    AgentEvidence::from_json(format!(r#"{{"agent_id": "a", {members}}}"#).as_bytes())
}

fn told(members: &str) -> Vec<String> {
    read(members).unwrap_err().to_string().lines().map(str::to_owned).collect()
}

/// Makes an evaluation with these checks.
fn checks(checks: &str) -> String {
    format!(
        r#""evaluations": [{{"id": "e", "time": "2026-01-01T00:00:00Z",
           "runner": {{"id": "lab", "independence": "third-party"}}, "checks": [{checks}]}}]"#
    )
}

#[test]
fn defaults_are_those_of_the_document() {
    let given = checks(r#"{"id": "c", "category": "task", "task": "t", "passed": true}"#);
    let evidence = read(&given).unwrap();
    let check = &evidence.evaluations[0].checks[0];
    assert_eq!((check.method, check.level, check.completed), (Method::Deterministic, 1, true));
    assert_eq!(evidence.evaluations[0].time, Timestamp { milliseconds: 1_767_225_600_000 });
}

#[test]
fn null_stands_for_what_is_left_out() {
    let least = r#"{"id": "c", "category": "task", "task": "t", "passed": true}"#;
    let nulls = r#"{"id": "c", "category": "task", "task": "t", "passed": true, "level": null, "completed": null,
        "timed_out": null, "severity": null, "class": null, "score": null}"#;
    let others = r#", "bond": null, "memory": {"records": null}, "incidents": null, "id": null"#;
    assert_eq!(read(&(checks(nulls) + others)), read(&checks(least)));
}

#[test]
fn the_shape_is_told_with_path_line_and_column() {
    let text = b"{\n  \"agent_id\": \"a\",\n  \"incidents\": [{\"id\": \"i\", \"time\": \"yesterday\"}]\n}";
    let problem = AgentEvidence::from_json(text).unwrap_err().to_string();
    assert_eq!(
        problem,
        "$.incidents[0].time: found string \"yesterday\", expected an RFC 3339 timestamp such as `2026-01-31T12:00:00Z`; give date, `T`, time with seconds, and `Z` or an offset (line 3, column 48)"
    );
    let shape = |members: &str| told(members).join("").rsplit_once(" (line").unwrap().0.to_owned();
    assert_eq!(
        shape(r#""incidents": [{"id": "i", "time": "2026-01-01T00:00:00Z", "severity": "bad"}]"#),
        "$.incidents[0].severity: found unknown variant `bad`, expected one of `critical`, `high`, `warning`, `info`"
    );
    assert_eq!(
        shape(r#""incidents": [{"id": "i"}]"#),
        "$.incidents[0].time: found nothing, expected a value"
    );
    assert!(
        shape(r#""incidents": [{"id": "i", "sevrity": 1}]"#).starts_with(
            "$.incidents[0].sevrity: found unknown field `sevrity`, expected one of `id`, `time`"
        )
    );
    assert_eq!(shape(r#""incidents": {}"#), "$.incidents: found map, expected an array");
    assert_eq!(shape(r#""agent_id": "b""#), "$.agent_id: found the field twice, expected every field once");
    assert!(AgentEvidence::from_json(b"{\"agent_id\": \"a\"} x").is_err());
    assert!(AgentEvidence::from_json(b"").is_err());
    assert!(AgentEvidence::from_json(b"\xff").is_err());
}

#[test]
fn a_check_has_one_result() {
    let result =
        |rest: &str| told(&checks(&format!(r#"{{"id": "c", "category": "task", "task": "t"{rest}}}"#)));
    let at = "$.evaluations[0].checks[0]";
    assert_eq!(
        result(""),
        [format!(
            "{at}: found no result, expected one of `passed`, `score` and `observed`; say `\"completed\": false` if there \
             was no output"
        )]
    );
    assert_eq!(
        result(r#", "passed": true, "score": 2"#),
        [
            format!("{at}.score: found `2`, expected a number from 0 to 1"),
            format!("{at}: found 2 results, expected one of `passed`, `score` and `observed`"),
        ]
    );
    assert_eq!(result(r#", "method": "jury", "passed": true"#).len(), 1);
    assert_eq!(result(r#", "completed": false, "passed": true"#).len(), 1);
    assert!(read(&checks(r#"{"id": "c", "category": "task", "task": "t", "completed": false}"#)).is_ok());
}

#[test]
fn everything_is_told_at_once() {
    let given = format!(
        r#""task_classes": [{{"name": "chat", "latency_budget_seconds": 0}}], {},
        "verdicts": [
            {{"id": "v1", "check": "c1", "judge": "j", "score": 5, "max_score": 10}},
            {{"id": "v2", "check": "c3", "judge": "j", "score": 11, "max_score": 10}},
            {{"id": "v3", "check": "c3", "judge": "j", "score": 1}},
            {{"id": "v4", "check": "c33", "judge": "j", "score": 1}}],
        "bond": {{
            "deposits": [{{"id": "d", "time": "2026-01-02T00:00:00Z", "amount_usd": 10,
                           "withdrawn_at": "2026-01-01T00:00:00Z"}}],
            "slashes": [{{"id": "s", "time": "2026-01-03T00:00:00Z", "deposit": "d", "amount_usd": 11}}]}},
        "collaborations": [{{"id": "w", "time": "2026-01-01T00:00:00Z", "counterparty": "b", "handoffs": 1,
            "handoffs_accepted": 2, "commitments": 0, "commitments_on_time": 0, "peer_rating": -1}}]"#,
        checks(
            r#"{"id": "c1", "category": "control", "task": "t", "class": "audit-loging", "passed": true},
               {"id": "c2", "category": "task", "task": " ", "class": "chatt", "passed": true},
               {"id": "c2", "category": "attack", "task": "t", "passed": true},
               {"id": "c3", "category": "task", "task": "t", "method": "jury", "confidence": 1.5}"#
        )
    );
    let check = |at: usize| format!("$.evaluations[0].checks[{at}]");
    let expected = [
        "$.task_classes[0].latency_budget_seconds: found `0`, expected a number above 0".to_owned(),
        format!("{}.id: found `c2` of another item, expected its own id; a correction is a separate item", check(2)),
        format!(
            "{}.class: found `audit-loging`, expected one of {}; did you mean `audit-logging`?",
            check(0),
            CONTROLS.join(", ")
        ),
        format!("{}.task: found a text without letters, expected a name", check(1)),
        format!("{}.class: found `chatt`, expected a class of `$.task_classes`; did you mean `chat`?", check(1)),
        format!("{}.class: found nothing, expected the attack that is checked", check(2)),
        format!("{}.confidence: found `1.5`, expected a number from 0 to 1", check(3)),
        "$.verdicts[0].check: found `c1`, which no jury decides, expected a check with a jury; give the check \
         `\"method\": \"jury\"`"
            .to_owned(),
        "$.verdicts[1].score: found `11`, expected a number from 0 to 10".to_owned(),
        "$.verdicts[2].judge: found `j` once more, expected every judge once in a panel".to_owned(),
        "$.verdicts[3].check: found `c33`, expected the id of a check; did you mean `c3`?".to_owned(),
        "$.bond.deposits[0].withdrawn_at: found a moment before the item's own `time`, expected a later one".to_owned(),
        "$.bond.slashes[0].time: found a moment at which the deposit was not posted, expected one between posting and \
         withdrawal"
            .to_owned(),
        "$.bond.slashes[0].amount_usd: found `11`, expected no more than is left of the deposit".to_owned(),
        "$.collaborations[0].handoffs_accepted: found 2 of 1, expected a count of at most 1".to_owned(),
        "$.collaborations[0].peer_rating: found `-1`, expected a number from 0 to 1".to_owned(),
    ];
    assert_eq!(told(&given), expected);
}

#[test]
fn hostile_texts_are_refused() {
    let deep = format!(r#"{{"agent_id": {}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert!(AgentEvidence::from_json(deep.as_bytes()).is_err());
    let deep = format!(r#"{{"x": {}1{}}}"#, "[".repeat(100_000), "]".repeat(100_000));
    assert!(AgentEvidence::from_json(deep.as_bytes()).is_err());
    assert!(
        read(r#""incidents": [{"id": "i", "time": "+275760-09-13T00:00:00Z", "severity": "high"}]"#).is_err()
    );
    assert!(read(r#""task_classes": [{"name": "x", "cost_baseline_usd": 1e999}]"#).is_err());
    assert!(AgentEvidence::from_json(br#"{"agent_id": "\ud800"}"#).is_err());
    let long = "x".repeat(1_000_000);
    let problems = told(&checks(&format!(
        r#"{{"id": "{long}", "category": "control", "task": "t", "class": "{long}"}}"#
    )));
    assert!(
        problems.iter().map(String::len).sum::<usize>() < 2000,
        "a message shows the beginning of a text"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_stops_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..200), cut in 0usize..400) {
        let _ = AgentEvidence::from_json(&bytes);
        let whole = format!(r#"{{"agent_id": "a", {}}}"#, checks(r#"{"id": "c", "category": "task", "task": "t"}"#));
        let _ = AgentEvidence::from_json(whole.get(..cut.min(whole.len())).unwrap_or_default().as_bytes());
    }
}
