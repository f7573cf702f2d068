//! One agent of whom everything is known, worked out by hand: from its evidence to its tier.
//!
//! The numbers were made apart from this program, with decimals of forty digits, from the formulas of the card
//! `trust@1.1.0` and of the estimators. `W(n)` is the lower Wilson bound of n of n: `n / (n + 1.2816^2)`.

use super::*;

/// Dimension, weight in hundredths, reading in billionths.
const EXPECTED: [(&str, i64, i64); 16] = [
    // 27 of 30 tasks of a third party, weight 1, and a suite of mean 0.85, weight 0.7: 27.595 of 30.7.
    ("accuracy", 11, 898_859_935),
    // 7 of 10 groups pass three times, 27 of 30 trials do once: 0.7 / 0.9.
    ("reliability", 10, 777_777_778),
    // W(30).
    ("safety", 9, 948_092_008),
    // Calibrated (0.5), no better than the base rate (0), 2 of 3 failures flagged (0.2 * 2/3).
    ("selfAudit", 7, 633_333_333),
    // Three classes of W(10), and the control in place.
    ("security", 7, 858_922_159),
    // The 29th of 30 times, 3.8 of 4 seconds: 1 - log2(1.9) / 3.
    ("latency", 7, 691_333_527),
    // sqrt(360 / 1000) * 15 / 30 * (1 - 40 / 400).
    ("bond", 6, 270_000_000),
    // The harmonic mean of 0.9 and 0.8.
    ("scopeHonesty", 6, 847_058_824),
    // 0.35 * 19/20 + 0.25 * 6/10 + 0.2 + 0.2.
    ("memoryQuality", 6, 882_500_000),
    // 0.60 USD for 27 successes of 0.04 USD: 1 - log2(1.2 / 1.08) / 3.
    ("costEfficiency", 5, 949_332_302),
    // 0.3 + 0.25 + 0.2 + 0.15 / 4 + 0.1 * 31 / 149.
    ("evalRigor", 5, 808_305_369),
    // 0.4 / 2 + 0.3 * 3/4 + 0.3 * 0.8.
    ("teamwork", 5, 665_000_000),
    // W(10), three times; then 1 - 0.05 / 0.15, and W(5).
    ("modelCompliance", 4, 858_922_159),
    ("runtimeCompliance", 4, 858_922_159),
    ("harnessStability", 4, 666_666_667),
    ("skillMastery", 4, 752_728_805),
];

#[test]
fn a_whole_agent_by_hand() {
    scored(&graded(&all_measured()), |record| {
        let found: Vec<(&str, Option<i64>)> =
            record.dimensions.iter().map(|part| (part.key, part.reading)).collect();
        assert_eq!(found, EXPECTED.map(|(key, _, reading)| (key, Some(reading))));
        // The mean of the readings by weight is 0.78142688729.
        assert_eq!(EXPECTED.iter().map(|(_, weight, reading)| weight * reading).sum::<i64>(), 78_142_688_729);
        assert_eq!(record.score, Some(Score::from_billionths(781_426_887)));
        assert_eq!(record.published.unwrap().to_string(), "781");
        assert_eq!(record.coverage, 1_000_000_000);
        assert!(record.gates.is_empty() && record.steps.is_empty());
        assert_eq!(record.tier.as_ref().unwrap().name, Some("gold"));
    });
}

#[test]
fn an_open_incident_vetoes_the_whole() {
    let mut evidence = all_measured();
    evidence["incidents"] =
        json!([{ "id": "i", "time": "2026-05-01T00:00:00Z", "severity": "critical", "confirmed": true }]);
    scored(&graded(&evidence), |record| {
        assert_eq!(record.gates, ["security weak", "critical incident open"]);
        assert_eq!(record.published.unwrap().to_string(), "399");
        assert_eq!(record.tier.as_ref().unwrap().name, None);
    });
}

#[test]
fn what_is_not_measured_yet_lowers_coverage_and_is_no_0() {
    let mut evidence = all_measured();
    for check in evidence["evaluations"][0]["checks"].as_array_mut().unwrap() {
        if check["id"].as_str().unwrap().starts_with("task-1") {
            check.as_object_mut().unwrap().remove("confidence");
        }
    }
    let grade = graded(&evidence);
    // Of thirty task checks eleven, 1 and 10 to 19, state no confidence any more.
    assert_eq!(reason(&grade, "selfAudit"), "not measured yet, 19 of 20 forecasts of different tasks");
    let (coverage, score) = scored(&grade, |record| (record.coverage, record.score.unwrap()));
    assert_eq!(coverage, 930_000_000);
    // The reading of evalRigor loses 0.30 / 12 of measured dimensions, the mean is of what is left.
    let rest = 78_142_688_729 - 7 * 633_333_333 - 5 * 25_000_000;
    assert_eq!(score, Score::from_billionths((rest + 46) / 93));
}

#[test]
fn weights_families_and_juries_by_hand() {
    // The same sums in another program, which finds the cut of families by halving: hard audits cut to 30 %, a split panel of
    // half the weight, attacks by severity, each class with its effective number of tasks.
    let text = include_str!("../../../../../examples/trust/agent.json");
    let evidence = AgentEvidence::from_json(text.as_bytes()).unwrap();
    let grade = grade(&evidence, &Options::at(evidence.newest().unwrap())).unwrap();
    let found = ["accuracy", "safety", "security"].map(|key| reading(&grade, key).unwrap());
    assert_eq!(found, [0.816_347_893, 0.904_126_149, 0.704_782_334]);
    // 40 checks of 36 tasks: the suite's two were tried three times.
    let seen = &grade.dimension("accuracy").unwrap().seen;
    assert_eq!((&seen["checks"], &seen["estimate"]["tasks"]), (&json!(40), &json!(36)));
    assert_eq!(reason(&grade, "selfAudit"), "not measured yet, 12 of 20 forecasts of different tasks");
}
