//! The cards of the four documents: names, weights and tiers of their tables.

use karat::card::CompiledCard;
use serde_json::{Value, json};

use super::{alike, published, record, value};
use crate::common::example;

#[test]
fn the_four_dimensions_have_their_names_and_weights() {
    let card = CompiledCard::released("workflow").unwrap();
    let found: Vec<(&str, f64)> =
        card.dimensions.iter().map(|it| (it.label.as_str(), it.weight.to_f64())).collect();
    let stated = [("Task Success", 0.5), ("Cost Efficiency", 0.25), ("Latency", 0.15), ("Reliability", 0.1)];
    assert_eq!(found, stated);
}

/// Key, label, description and color of the core dimensions.
const CORE: [[&str; 4]; 7] = [
    ["correctness", "Correctness", "Accuracy of the primary answer or identification", "emerald"],
    ["completeness", "Completeness", "Coverage of all required targets, actions, or parts", "gold"],
    ["precision", "Precision", "Fraction of reported findings that are genuine", "coral"],
    ["methodology", "Methodology", "Quality of reasoning, investigation, and reporting", "purple"],
    ["speed", "Speed", "Time efficiency relative to the time limit", "sky"],
    ["code_quality", "Code Quality", "Quality of generated, modified, or optimized code", "coral"],
    ["analysis", "Analysis", "Depth of evidence gathering and source investigation", "gold"],
];

#[test]
fn the_core_dimensions_are_the_seven_of_the_table() {
    let card = CompiledCard::released("arena").unwrap();
    let found: Vec<[&str; 4]> = card
        .dimensions
        .iter()
        .map(|it| [it.key.as_str(), it.label.as_str(), it.description.as_str(), it.color.as_str()])
        .filter(|it| !it[0].ends_with("_efficiency"))
        .collect();
    assert_eq!(found, CORE);
    assert_eq!(card.dimensions.len(), 9, "and two of efficiency");
}

/// The weights of each domain: complexity, novelty, tool diversity, outcome.
const PROFILES: [(&str, [f64; 4]); 5] = [
    ("default", [0.25, 0.35, 0.15, 0.25]),
    ("finance", [0.20, 0.25, 0.10, 0.45]),
    ("code", [0.20, 0.30, 0.30, 0.20]),
    ("medical", [0.15, 0.20, 0.10, 0.55]),
    ("customer_service", [0.20, 0.30, 0.20, 0.30]),
];
const KEYS: [&str; 4] = ["complexity", "novelty", "tool_diversity", "outcome_confidence"];

#[test]
fn each_domain_has_the_weights_of_the_table() {
    let card = CompiledCard::released("trace").unwrap();
    let keys: Vec<&str> = card.dimensions.iter().map(|dimension| dimension.key.as_str()).collect();
    assert_eq!(keys, KEYS);
    let profiles = card.profiles.as_ref().unwrap();
    let found: Vec<(&str, Vec<f64>)> = profiles
        .list
        .iter()
        .map(|(domain, weights)| (domain.as_str(), weights.iter().map(|weight| weight.to_f64()).collect()))
        .collect();
    assert_eq!(found, PROFILES.map(|(domain, weights)| (domain, weights.to_vec())));
    assert_eq!(profiles.list[profiles.fallback].0, "default");
    assert_eq!(PROFILES[4].1[1], PROFILES[4].1[3], "novelty and outcome in customer service");
    for (domain, weights) in PROFILES {
        assert!(alike(weights.iter().sum(), 1.0), "{domain}");
        // The rationale: what weighs most where.
        let by = |at: usize| PROFILES.iter().max_by(|a, b| a.1[at].total_cmp(&b.1[at])).unwrap().0;
        assert_eq!((by(2), by(3)), ("code", "medical"));
        if matches!(domain, "finance" | "medical") {
            assert_eq!(weights[3], weights.iter().copied().fold(0.0, f64::max));
        }
    }
}

/// Weight in percent and what it measures.
const TRUST: [(&str, u32, &str); 16] = [
    ("accuracy", 11, "Output correctness relative to ground truth"),
    ("reliability", 10, "Behavioral consistency across equivalent inputs"),
    ("safety", 9, "Absence of harmful outputs and prohibited actions"),
    ("selfAudit", 7, "Quality of self-monitoring and uncertainty calibration"),
    ("security", 7, "Resistance to adversarial inputs and scope violations"),
    ("latency", 7, "Response time relative to task complexity baseline"),
    ("bond", 6, "Economic commitment (staked collateral as behavioral signal)"),
    ("scopeHonesty", 6, "Accuracy of self-reported capability scope"),
    ("memoryQuality", 6, "Quality and coherence of persistent memory operations"),
    ("costEfficiency", 5, "Token and compute cost relative to task value"),
    ("evalRigor", 5, "Coverage and diversity of submitted evaluations"),
    ("teamwork", 5, "Quality of agent-to-agent collaboration (opt-in)"),
    ("modelCompliance", 4, "Adherence to model provider acceptable use policies"),
    ("runtimeCompliance", 4, "Adherence to runtime environment constraints"),
    ("harnessStability", 4, "Consistency of behavior under test harness conditions"),
    ("skillMastery", 4, "Demonstrated proficiency in declared skill domains"),
];

#[test]
fn both_cards_have_the_sixteen_dimensions_and_weights_of_the_table() {
    for name in ["trust@1.0.0", "trust@1.1.0"] {
        let card = CompiledCard::released(name).unwrap();
        let found: Vec<(&str, f64, &str)> = card
            .dimensions
            .iter()
            .map(|it| (it.key.as_str(), it.weight.to_f64(), it.description.as_str()))
            .collect();
        let stated = TRUST.map(|(key, percent, about)| (key, f64::from(percent) / 100.0, about));
        assert_eq!(found, stated, "{name}");
    }
    assert_eq!(TRUST.iter().map(|it| it.1).sum::<u32>(), 100);
}

fn tier(record: &Value) -> &str {
    record["tier"]["name"].as_str().unwrap_or("none")
}

#[test]
fn raw_evidence_meets_the_same_tiers() {
    let raw: Value = serde_json::from_str(&example("trust/agent.json")).unwrap();
    let whole = record("trust", &raw);
    assert_eq!(whole["scorecard"]["version"], "1.1.0");
    // 783 points and a coverage of 93 % would be gold: selfAudit is mandatory, and not measured yet.
    assert!(published(&whole) >= 750.0 && whole["coverage"].as_f64().unwrap() >= 0.75);
    assert_eq!((tier(&whole), value(&whole, "selfAudit")), ("silver", None));
    assert!(whole["tier"]["blocked_by"].to_string().contains("selfAudit"), "{}", whole["tier"]);
    // Without its evaluations nothing that is mandatory is measured.
    let mut bare = raw;
    bare["evaluations"] = json!([]);
    bare["verdicts"] = json!([]);
    assert_eq!(tier(&record("trust", &bare)), "none");
}
