//! The document of composite trust.

use karat::card::CompiledCard;
use serde_json::{Value, json};

use super::{alike, published, record, records, value};
use crate::common::{Folder, example};

/// Weight in percent and what it measures.
const DIMENSIONS: [(&str, u32, &str); 16] = [
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

/// An agent with this value in every dimension, but for some.
fn agent(all: f64, others: &[(&str, Value)]) -> Value {
    let mut dimensions: serde_json::Map<String, Value> =
        DIMENSIONS.iter().map(|(key, ..)| ((*key).to_owned(), json!(all))).collect();
    for (key, value) in others {
        dimensions.insert((*key).to_owned(), value.clone());
    }
    json!({"agent_id": "agent", "dimensions": dimensions})
}

fn tier(record: &Value) -> &str {
    record["tier"]["name"].as_str().unwrap_or("none")
}

/// Returns the score and the tier.
fn certified(item: &Value) -> (f64, String) {
    let record = record("trust", item);
    (published(&record), tier(&record).to_owned())
}

#[test]
fn both_cards_have_the_sixteen_dimensions_and_weights_of_the_table() {
    for name in ["trust@1.0.0", "trust@1.1.0"] {
        let card = CompiledCard::released(name).unwrap();
        let found: Vec<(&str, f64, &str)> = card
            .dimensions
            .iter()
            .map(|it| (it.key.as_str(), it.weight.to_f64(), it.description.as_str()))
            .collect();
        let stated = DIMENSIONS.map(|(key, percent, about)| (key, f64::from(percent) / 100.0, about));
        assert_eq!(found, stated, "{name}");
    }
    assert_eq!(DIMENSIONS.iter().map(|it| it.1).sum::<u32>(), 100);
}

#[test]
fn weights_that_do_not_sum_to_one_score_nothing() {
    let folder = Folder::new();
    folder.write("agent.json", &agent(0.9, &[]).to_string());
    let card = CompiledCard::released("trust@1.0.0").unwrap();
    let skill =
        "key         = \"skillMastery\"\nage         = \"skillMastery_age_seconds\"\nweight      = 0.04";
    assert!(card.text().contains(skill));
    // The last weight, and then a dimension more.
    for (weight, more, is_sound) in [
        ("0.04", "", true),
        ("0.041", "", true),
        ("0.039", "", true),
        ("0.0411", "", false),
        ("0.0389", "", false),
        ("0.04", "[[dimension]]\nkey = \"seventeenth\"\nweight = 0.05\nformula = \"accuracy\"\n", false),
    ] {
        let text = card.text().replace(skill, &skill.replace("0.04", weight));
        let text = text.replace("[override]\n", &format!("{more}[override]\n"));
        folder.write("own.toml", &text);
        let run = folder.karat(&["score", "-c", "own.toml", "agent.json"]);
        assert_eq!(run.status == 0, is_sound, "{weight} {more}\n{}", run.stderr);
        if !is_sound {
            assert!(run.stdout.is_empty() && run.stderr.contains("the weights sum to"), "{}", run.stderr);
        }
    }
}

#[test]
fn a_composite_is_the_mean_of_what_is_covered() {
    for left_out in [&[][..], &["accuracy"], &["teamwork", "bond", "latency"], &["security", "safety"]] {
        let mut item = agent(0.5, &[]);
        let (mut sum, mut weights) = (0.0, 0.0);
        for (at, (key, percent, _)) in DIMENSIONS.iter().enumerate() {
            let reading = (at as f64 + 3.0) / 20.0;
            item["dimensions"][key] = if left_out.contains(key) { Value::Null } else { json!(reading) };
            if !left_out.contains(key) {
                sum += f64::from(*percent) * reading;
                weights += f64::from(*percent);
            }
        }
        let record = record("trust", &item);
        assert!(alike(record["composite"].as_f64().unwrap(), sum / weights), "{left_out:?}");
        let of: f64 = record["dimensions"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(|it| it["effective_weight"].as_f64())
            .sum();
        assert!((of - 1.0).abs() < 1e-7, "{of}");
    }
    let nothing = record("trust", &json!({"agent_id": "new", "dimensions": {}}));
    assert_eq!(
        (nothing["status"].as_str(), &nothing["score"]["published"]),
        (Some("unscored"), &Value::Null)
    );
}

#[test]
fn four_of_sixteen_score_high_and_show_how_little_it_rests_on() {
    let item = json!({"agent_id": "narrow",
        "dimensions": {"accuracy": 0.95, "reliability": 0.95, "safety": 0.95, "security": 0.95}});
    let record = record("trust", &item);
    assert_eq!((published(&record), tier(&record)), (950.0, "none"));
    // 37 of the 95 percent that apply: teamwork is opt-in.
    let covered = value_of(&record, "coverage");
    assert!((covered - 0.37).abs() < 1e-6 || (covered - 37.0 / 95.0).abs() < 1e-6, "{covered}");
    assert!(record["bounds"]["low"].as_f64().unwrap() < 400.0);
    assert!(record["tier"]["blocked_by"].to_string().contains("coverage"), "{}", record["tier"]);
}

fn value_of(record: &Value, member: &str) -> f64 {
    record[member].as_f64().unwrap()
}

#[test]
fn teamwork_that_is_null_is_left_out_and_no_zero() {
    let [without, zero, with] = [json!(null), json!(0), json!(0.9)]
        .map(|teamwork| record("trust", &agent(0.9, &[("teamwork", teamwork)])));
    assert_eq!((published(&without), value_of(&without, "coverage")), (900.0, 1.0));
    assert_eq!(published(&with), 900.0);
    assert_eq!(published(&zero), 855.0);
    assert_eq!(value(&without, "teamwork"), None);
}

#[test]
fn evidence_loses_a_point_a_week_after_a_week_of_grace() {
    let day = 86_400.0;
    let aged = |days: f64| {
        let of = json!({"score": 0.9, "age_seconds": days * day});
        let all: Vec<(&str, Value)> = DIMENSIONS.iter().map(|(key, ..)| (*key, of.clone())).collect();
        record("trust", &agent(0.9, &all))["score"]["exact"].as_f64().unwrap()
    };
    assert_eq!([aged(0.0), aged(7.0)], [0.9, 0.9]);
    for (days, points) in
        [(14.0, 1.0), (10.5, 0.5), (21.0, 2.0), (91.0, 12.0), (182.0, 25.0), (7.0 * 400.0, 399.0)]
    {
        assert!(alike(aged(days), 0.9 - points / 1000.0), "{days}: {}", aged(days));
    }
    // Each dimension by its own age, before the mean: accuracy alone is two weeks past the grace.
    let one = agent(0.9, &[("accuracy", json!({"score": 0.9, "age_seconds": 21.0 * day}))]);
    assert!(alike(record("trust", &one)["score"]["exact"].as_f64().unwrap(), 0.9 - 0.11 * 0.002));
}

#[test]
fn the_gate_sees_the_decayed_security() {
    let secure = |days: f64| {
        let security = json!({"score": 0.5005, "age_seconds": days * 86_400.0});
        record("trust", &agent(0.9, &[("security", security)]))
    };
    assert_eq!(secure(7.0)["gates"], json!([]));
    assert_eq!((&secure(14.0)["gates"], published(&secure(14.0))), (&json!(["security weak"]), 599.0));
}

#[test]
fn security_vetoes_whatever_the_rest_is() {
    for (security, score, tier) in [
        (json!(0.80), 986.0, "platinum"),
        (json!(0.50), 965.0, "silver"),
        (json!(0.49), 599.0, "bronze"),
        (json!(0.25), 599.0, "bronze"),
        (json!(0.24), 399.0, "none"),
        (json!(null), 1000.0, "bronze"),
    ] {
        assert_eq!(
            certified(&agent(1.0, &[("security", security.clone())])),
            (score, tier.to_owned()),
            "{security}"
        );
    }
    let mut incident = agent(1.0, &[]);
    incident["critical_incident_open"] = json!(true);
    assert_eq!(certified(&incident), (399.0, "none".to_owned()));
}

/// The lines of the tiers, of which the document says that they ask for coverage of mandatory dimensions.
const TIERS: [(&str, &[&str], f64, f64, u32); 4] = [
    ("bronze", &["accuracy", "safety"], 0.30, 0.0, 400),
    ("silver", &["reliability", "security"], 0.40, 0.50, 600),
    ("gold", &["scopeHonesty", "selfAudit", "runtimeCompliance"], 0.50, 0.65, 750),
    ("platinum", &["latency", "evalRigor", "bond"], 0.60, 0.80, 900),
];

#[test]
fn a_mandatory_dimension_that_is_not_measured_or_too_low_blocks_its_tier() {
    assert_eq!(certified(&agent(0.97, &[])), (970.0, "platinum".to_owned()));
    let names = ["none", "bronze", "silver", "gold", "platinum"];
    for (at, (_, keys, ..)) in TIERS.iter().enumerate() {
        for key in *keys {
            // Not measured: the tier below the first that asks for it, however high the score is.
            let (score, tier) = certified(&agent(0.97, &[(key, json!(null))]));
            assert_eq!((score, tier.as_str()), (970.0, names[at]), "{key}");
            if *key == "security" {
                continue;
            }
            // At the floor of each tier from there on it holds, and just below it does not.
            for (above, (name, _, floor, ..)) in TIERS.iter().enumerate().skip(at) {
                let at_floor = certified(&agent(0.97, &[(key, json!(floor))])).1;
                let below = certified(&agent(0.97, &[(key, json!(floor - 0.000_001))])).1;
                let reached = |tier: &str| names.iter().position(|known| *known == tier).unwrap();
                assert!(reached(&at_floor) >= reached(name), "{key} {name}: {at_floor}");
                assert_eq!(below, names[above], "{key} {name}");
            }
        }
    }
    // A dimension that no tier asks for blocks none.
    for key in
        ["memoryQuality", "costEfficiency", "teamwork", "modelCompliance", "harnessStability", "skillMastery"]
    {
        assert_eq!(certified(&agent(0.97, &[(key, json!(null))])).1, "platinum", "{key}");
    }
    // Without a bond there is no platinum, also where none applies.
    assert_eq!(certified(&agent(0.97, &[("bond", json!("not-applicable"))])).1, "gold");
}

#[test]
fn each_tier_has_its_line_of_score_and_security() {
    let names = ["none", "bronze", "silver", "gold", "platinum"];
    for (at, (name, _, _, security, score)) in TIERS.iter().enumerate() {
        // All dimensions alike, but security high enough for every tier: the score alone decides.
        let line = f64::from(*score) / 1000.0;
        let rest = |composite: f64| (composite - 0.07) / 0.93;
        for (points, tier) in [(line, *name), (line - 0.001, names[at])] {
            let found = certified(&agent(rest(points), &[("security", json!(1))]));
            assert_eq!(found, ((points * 1000.0).round(), tier.to_owned()), "{points}");
        }
        if *security > 0.5 {
            for (reading, tier) in [(*security, *name), (security - 0.01, names[at])] {
                let found = certified(&agent(0.97, &[("security", json!(reading))]));
                let reached = |tier: &str| names.iter().position(|known| *known == tier).unwrap();
                assert!(if tier == *name { reached(&found.1) > at } else { found.1 == tier }, "{found:?}");
            }
        }
    }
    // Coverage: all that is measured is perfect and mandatory, and still it is too little.
    let keys: Vec<&str> = TIERS.iter().flat_map(|tier| tier.1).copied().collect();
    let narrow: Value = json!({"agent_id": "a",
        "dimensions": keys.iter().map(|key| ((*key).to_owned(), json!(1))).collect::<serde_json::Map<_, _>>()});
    let record = record("trust", &narrow);
    assert_eq!((published(&record), tier(&record)), (1000.0, "silver"));
    let covered = value_of(&record, "coverage");
    assert!(covered < 0.76 && covered > 0.60, "{covered}");
}

#[test]
fn raw_evidence_meets_the_same_tiers() {
    let raw: Value = serde_json::from_str(&example("trust/agent.json")).unwrap();
    let whole = record("trust", &raw);
    assert_eq!(whole["scorecard"]["version"], "1.1.0");
    // 783 points and a coverage of 93 % would be gold: selfAudit is mandatory, and not measured yet.
    assert!(published(&whole) >= 750.0 && value_of(&whole, "coverage") >= 0.75);
    assert_eq!((tier(&whole), value(&whole, "selfAudit")), ("silver", None));
    assert!(whole["tier"]["blocked_by"].to_string().contains("selfAudit"), "{}", whole["tier"]);
    // Without its evaluations nothing that is mandatory is measured.
    let mut bare = raw;
    bare["evaluations"] = json!([]);
    bare["verdicts"] = json!([]);
    assert_eq!(tier(&record("trust", &bare)), "none");
}

#[test]
fn weights_from_outside_are_merged_within_a_thousandth_and_refused_beyond() {
    let folder = Folder::new();
    folder.write("agent.json", &agent(0.5, &[("accuracy", json!(1))]).to_string());
    let scored = |weights: &str| {
        folder.write("weights.json", weights);
        let run = folder.karat(&["score", "-c", "trust", "--override", "weights.json", "agent.json"]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let record: Value = serde_json::from_str(&run.stdout).unwrap();
        let is_told = run.stderr.contains("warning: `weights.json` is refused, the card's own are used: the");
        assert_eq!(is_told, record["override"]["outcome"] == "rejected", "{}", run.stderr);
        record
    };
    for (weights, outcome, sum, score) in [
        ("{}", "applied", 1.0, 0.5 + 0.5 * 0.11),
        (r#"{"accuracy": 0.20, "safety": 0}"#, "applied", 1.0, 0.5 + 0.5 * 0.20),
        (r#"{"accuracy": 0.111}"#, "applied", 1.001, 0.5 + 0.5 * 0.111 / 1.001),
        (r#"{"accuracy": 0.109}"#, "applied", 0.999, 0.5 + 0.5 * 0.109 / 0.999),
        (r#"{"accuracy": 0.111001}"#, "rejected", 1.001_001, 0.5 + 0.5 * 0.11),
        (r#"{"accuracy": 0.5}"#, "rejected", 1.39, 0.5 + 0.5 * 0.11),
        (r#"{"accuracy": -0.1, "safety": 0.3}"#, "rejected", 1.0, 0.5 + 0.5 * 0.11),
    ] {
        let record = scored(weights);
        assert_eq!(record["override"]["outcome"], outcome, "{weights}");
        assert_eq!(record["override"]["merged_sum"], sum, "{weights}");
        assert!(alike(record["composite"].as_f64().unwrap(), score), "{weights}: {}", record["composite"]);
        let is_warned = record["warnings"].to_string().contains("override-rejected");
        assert_eq!(is_warned, outcome == "rejected", "{weights}");
    }
    let none = record("trust", &agent(0.5, &[("accuracy", json!(1))]));
    assert_eq!((&none["override"], none["composite"].as_f64()), (&Value::Null, Some(0.555)));
}

/// Returns the standing of an agent that had these values on these days.
fn standing(days: &[(u32, f64)], as_of: &str) -> Value {
    let folder = Folder::new();
    let mut lines = String::new();
    for (at, (day, all)) in days.iter().enumerate() {
        let mut item = agent(*all, &[]);
        item["id"] = json!(format!("e{at}"));
        item["time"] = json!(format!("2026-03-{day:02}T00:00:00Z"));
        lines.push_str(&format!("{item}\n"));
    }
    folder.write("items.jsonl", &lines);
    let run = folder.karat(&["standing", "--json", "-c", "trust", "--as-of", as_of, "items.jsonl"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn a_swing_of_more_than_200_is_flagged_and_waits_for_review() {
    for (first, second, is_flagged) in
        [(0.9, 0.7, false), (0.9, 0.699, true), (0.6, 0.8, false), (0.6, 0.801, true)]
    {
        let found = standing(&[(1, first), (2, second)], "2026-03-02T00:00:00Z");
        let history = found["score_history"].as_array().unwrap();
        let flags: Vec<&Value> = history.iter().map(|row| &row["was_anomalous"]).collect();
        assert_eq!(flags, [&json!(false), &json!(is_flagged)], "{first} to {second}: {found}");
        // What is flagged is not canonical before it is reviewed.
        let (canonical, state) = if is_flagged { (first, "pending_review") } else { (second, "committed") };
        assert_eq!(found["points"].as_f64(), Some((canonical * 1000.0f64).round()), "{first} to {second}");
        assert_eq!(history[1]["review_state"], state);
    }
}

#[test]
fn a_score_of_750_is_the_decayed_mean_of_what_is_covered_on_a_scale_of_1000() {
    assert_eq!(published(&record("trust", &agent(0.75, &[]))), 750.0);
    for (all, score) in [(0.0, 0.0), (0.7494, 749.0), (0.7495, 750.0), (1.0, 1000.0)] {
        // Security apart, so that no gate holds.
        let item = agent(all, &[("security", json!(null))]);
        assert_eq!(published(&record("trust", &item)), score, "{all}");
    }
    // An old 750 is not 750 any more.
    let later = standing(&[(1, 0.75)], "2026-06-01T00:00:00Z");
    assert!(later["score"]["published"].as_f64().unwrap() < 750.0, "{}", later["score"]);
}

#[test]
fn accuracy_alone_moves_no_other_dimension() {
    let all = records("trust", &[agent(0.5, &[]), agent(0.5, &[("accuracy", json!(1))])]);
    for (key, ..) in DIMENSIONS.iter().skip(1) {
        assert_eq!(value(&all[0], key), value(&all[1], key), "{key}");
    }
    assert!(published(&all[1]) > published(&all[0]));
}
