//! Answers of `karat_standing` in the words of the model's cases.

use std::num::NonZeroU32;

use karat_core::facts::Digest;
use karat_core::number::{Decimal, Score};
use karat_core::scorecard::WindowLimits;
use karat_standing::decay::{self, DecayRule, DecayScope, Periods, lost_points};
use karat_standing::gate::{GateFacts, SecurityGate, apply};
use karat_standing::ratio::Ratio;
use karat_standing::rolling::rolling_means;
use karat_standing::shares::{
    ShareCase, ShareError, ShareRules, TooFew, shares, sixteen_bit_shares, whole_shares,
};
use karat_standing::stand::{Item, stand};
use karat_standing::tiers::{Condition, Requirement, TierFacts, TierRule, tier};
use serde_json::{Value, json};

/// Reads a whole number of the wanted size.
fn whole_number<T: TryFrom<i64>>(value: &Value) -> T {
    T::try_from(value.as_i64().unwrap()).unwrap_or_else(|_| panic!("{value} does not fit"))
}

fn list<T>(value: &Value, read: impl Fn(&Value) -> T) -> Vec<T> {
    value.as_array().unwrap().iter().map(read).collect()
}

fn scores(value: &Value) -> Vec<Score> {
    list(value, |units| Score::from_units(units.as_i64().unwrap()))
}

fn positive(value: &Value) -> Option<NonZeroU32> {
    value.as_i64().map(|_| NonZeroU32::new(whole_number(value)).unwrap())
}

const CARD: &str = r#"
schema = "karat/scorecard/1"
id = "windows"
version = "1.0.0"
title = "One dimension"
evidence = "facts"
facts = { solved = { min = 0, max = 1 } }
dimension = [{ key = "solved", weight = 1 }]
standing = { score = "window" }
"#;

pub fn window(given: &Value) -> Value {
    let mut card = karat_checker::parse(CARD, &|_| None).unwrap();
    card.standing.as_mut().unwrap().window = WindowLimits {
        tasks: positive(&given["tasks"]),
        span_seconds: positive(&given["span_seconds"]),
        is_distinct: given["is_distinct"].as_bool().unwrap(),
    };
    let items = given["entries"].as_array().unwrap().iter().map(|entry| {
        let id = entry[1].as_str().unwrap();
        Item {
            time_seconds: entry[0].as_i64(),
            score: entry[2].as_i64().map(Score::from_units),
            task: entry[3].as_str().unwrap(),
            ..Item::new("subject", id, Digest::of(id.as_bytes()))
        }
    });
    let items: Vec<Item<'_>> = items.collect();
    let standings = stand(&card, &items, &[], given["as_of"].as_i64().unwrap()).unwrap();
    let Some(subject) = standings.subjects.first() else {
        return json!({ "entries": [], "seen": 0, "mean": null });
    };
    let mean = |mean: Ratio| json!([mean.to_string(), mean.score().units(), mean.billionths()]);
    json!({
        "entries": subject.window.iter().map(|&place| items[place].id).collect::<Vec<_>>(),
        "seen": subject.items.len(),
        "mean": subject.score.map(mean),
    })
}

pub fn rolling(given: &Value) -> Value {
    let scores = scores(&given["scores"]);
    let means = rolling_means(&scores, positive(&given["tasks"]).unwrap());
    json!(means.iter().map(|mean| mean.units()).collect::<Vec<_>>())
}

fn decay_rule(given: &Value) -> DecayRule {
    let rule = &given["rule"];
    DecayRule {
        grace_seconds: whole_number(&rule["grace_seconds"]),
        period_seconds: positive(&rule["period_seconds"]).unwrap(),
        points_per_period: whole_number(&rule["points_per_period"]),
        point_billionths: whole_number(&rule["point_billionths"]),
        scope: DecayScope::Dimension,
        periods: if rule["whole"].as_bool().unwrap() { Periods::Whole } else { Periods::Exact },
    }
}

pub fn decay_points(given: &Value) -> Value {
    json!(lost_points(decay_rule(given), given["age_seconds"].as_i64().unwrap()).to_string())
}

pub fn decay_composite(given: &Value) -> Value {
    let score = Score::from_units(given["score"].as_i64().unwrap());
    let left = decay::decay_composite(decay_rule(given), score, given["age_seconds"].as_i64().unwrap());
    json!([left.to_string(), left.score().units()])
}

pub fn decay_dimensions(given: &Value) -> Value {
    let aged = list(&given["dimensions"], |dimension| {
        let reading = dimension["reading"].as_i64();
        let weight = Decimal::from_millionths(dimension["weight"].as_i64().unwrap());
        (weight, reading.map(|reading| (reading, dimension["age_seconds"].as_i64().unwrap())))
    });
    let (composite, left) = decay::decay_dimensions(decay_rule(given), &aged);
    json!({
        "dimensions": left
            .iter()
            .map(|it| json!({
                "reading": it.map(|(reading, _)| reading),
                "points": it.map(|(_, points)| points.to_string()),
            }))
            .collect::<Vec<_>>(),
        "composite": composite.map(|composite| composite.to_string()),
    })
}

fn refused(errors: &[ShareError]) -> Value {
    let problem = |error: &ShareError| match error {
        ShareError::Cap(_) => "cap".to_owned(),
        ShareError::Negative { at, .. } => format!("negative {at}"),
    };
    json!({ "refused": errors.iter().map(problem).collect::<Vec<_>>() })
}

pub fn share_out(given: &Value) -> Value {
    let rules = ShareRules {
        cap: Decimal::from_millionths(given["cap"].as_i64().unwrap()),
        too_few: if given["leave_rest"].as_bool().unwrap() { TooFew::LeaveRest } else { TooFew::RaiseCap },
    };
    match shares(&scores(&given["scores"]), &rules) {
        Ok(shared) => json!({
            "case": match shared.case {
                ShareCase::NothingToShare => "nothing to share",
                ShareCase::Proportional => "proportional",
                ShareCase::Redistributed => "redistributed",
                ShareCase::CapRaised => "cap raised",
                ShareCase::RestLeft => "rest left",
            },
            "shares": shared.shares.iter().map(|share| share.units()).collect::<Vec<_>>(),
            "positive": shared.positive,
            "capped": shared.capped,
            "unassigned": shared.unassigned.units(),
        }),
        Err(errors) => refused(&errors),
    }
}

pub fn whole(given: &Value) -> Value {
    match whole_shares(&scores(&given["shares"]), whole_number(&given["total"])) {
        Ok(whole) => json!({ "whole": whole }),
        Err(errors) => refused(&errors),
    }
}

pub fn sixteen_bit(given: &Value) -> Value {
    match sixteen_bit_shares(&scores(&given["shares"])) {
        Ok(whole) => json!({ "whole": whole }),
        Err(errors) => refused(&errors),
    }
}

fn tier_rule(rule: &Value) -> TierRule {
    TierRule {
        name: rule["name"].as_str().unwrap().into(),
        points: rule["points"].as_i64().unwrap(),
        coverage: rule["coverage"].as_i64().unwrap(),
        floors: list(&rule["floors"], |floor| {
            (floor[0].as_str().unwrap().into(), floor[1].as_i64().unwrap())
        }),
        evaluations: whole_number(&rule["evaluations"]),
        distinct_days: whole_number(&rule["distinct_days"]),
        confidence: rule["confidence"].as_i64().unwrap(),
        independent_runners: whole_number(&rule["independent_runners"]),
        newest_batch_seconds: rule["newest_batch_seconds"].as_i64(),
    }
}

fn tier_facts(facts: &Value) -> TierFacts {
    let readings = facts["readings"].as_object().unwrap().iter();
    TierFacts {
        points: facts["points"].as_i64(),
        coverage: facts["coverage"].as_i64().unwrap(),
        readings: readings.map(|(key, reading)| (key.clone(), reading.as_i64().unwrap())).collect(),
        evaluations: whole_number(&facts["evaluations"]),
        distinct_days: whole_number(&facts["distinct_days"]),
        confidence: facts["confidence"].as_i64(),
        independent_runners: whole_number(&facts["independent_runners"]),
        newest_batch_seconds: facts["newest_batch_seconds"].as_i64(),
        open_tiers: facts["open_tiers"].as_i64().map(|_| whole_number(&facts["open_tiers"])),
        least_open_tiers: None,
    }
}

fn standing_of(rules: &[TierRule], given: &Value) -> Value {
    let standing = tier(rules, &tier_facts(&given["facts"]));
    let words = |missing: &Condition| {
        let what = match &missing.requirement {
            Requirement::Points => "points".to_owned(),
            Requirement::Coverage => "coverage".into(),
            Requirement::Dimension(key) => format!("dimension {key}"),
            Requirement::Evaluations => "evaluations".into(),
            Requirement::DistinctDays => "distinct_days".into(),
            Requirement::Confidence => "confidence".into(),
            Requirement::IndependentRunners => "independent_runners".into(),
            Requirement::Freshness => "freshness".into(),
            Requirement::Gate => "gate".into(),
        };
        json!([what, missing.needed, missing.found])
    };
    json!({
        "reached": standing.reached,
        "name": standing.name,
        "next": standing.next,
        "missing": standing.missing.iter().map(words).collect::<Vec<_>>(),
        "single_blocker": standing.single_blocker().map(words),
    })
}

pub fn tier_of(given: &Value) -> Value {
    standing_of(&list(&given["rules"], tier_rule), given)
}

/// Applies the rules of the trust score, which are the engine's own.
pub fn trust_tier(given: &Value) -> Value {
    let tiers = ["1.0.0", "1.1.0"].map(|version| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scorecards/trust/");
        let text = std::fs::read_to_string(format!("{path}{version}.toml")).unwrap();
        karat_checker::parse(&text, &|_| None).unwrap().standing.unwrap().tiers
    });
    assert_eq!(tiers[0], tiers[1]);
    standing_of(&tiers[1], given)
}

pub fn gate(given: &Value) -> Value {
    let facts = GateFacts {
        reading: given["reading"].as_i64(),
        has_critical_incident: given["has_critical_incident"].as_bool().unwrap(),
        is_on_hold: given["is_on_hold"].as_bool().unwrap(),
    };
    let gated = apply(&SecurityGate::default(), given["points"].as_i64().unwrap(), &facts);
    json!({ "ungated_points": gated.ungated_points, "points": gated.points, "open_tiers": gated.open_tiers })
}
