//! The nearest change of a verdict: known cases, and that it is right for every card when the reading is really put in.
#![expect(clippy::unwrap_used, reason = "helpers of a test may stop it")]

use std::sync::LazyLock;

use crate::common::random::{card_text, choices, facts};
use crate::common::{card, card_of, cards, item, root};
use karat_core::evaluate::{Context, Scorer, Workspace};
use karat_core::explain::{Change, Level, LevelKind, nearest_change, next_level, with_reading_as_fact};
use karat_core::facts::Fact;
use karat_core::number::{BILLION, Decimal};
use karat_core::record::{Record, ValueStatus};
use karat_core::scorecard::Scorecard;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

fn released(path: &str) -> Scorer {
    let folder = root().join("scorecards");
    Scorer::new(card(&folder.join(path), &folder)).unwrap()
}

fn own(body: &str) -> Scorer {
    let head = "schema = \"karat/scorecard/1\"\nid = \"own\"\nversion = \"1.0.0\"\ntitle = \"Own\"\nevidence = \"facts\"\n";
    Scorer::new(card_of(&format!("{head}{body}"), &cards()).unwrap()).unwrap()
}

fn scored<T>(scorer: &Scorer, facts: &[Fact<'_>], look: impl FnOnce(&Record<'_>) -> T) -> T {
    let mut work = Workspace::new(scorer);
    look(&scorer.score(&mut work, &item(facts), &Context { as_of: None }).unwrap())
}

/// Returns the nearest change in a few words.
fn nearest(scorer: &Scorer, given: &Value) -> Option<String> {
    let facts = crate::common::facts(scorer.card(), given.as_object().unwrap());
    scored(scorer, &facts, |record| nearest_change(scorer, record).as_ref().map(describe))
}

fn describe(change: &Change<'_>) -> String {
    let Change { dimension, from, to, reaches, kind, published, .. } = change;
    let from = from.map_or("not measured".to_string(), |from| from.to_string());
    format!("{dimension} {from} -> {to}: {published}, {} {reaches}", kind.name())
}

/// Returns an agent with every dimension of the trust card at `reading`, except those that `other` gives.
fn agent(reading: f64, other: Value) -> Value {
    let scorer = released("trust/1.0.0.toml");
    let mut given = json!({ "critical_incident_open": false });
    for dimension in &scorer.card().dimensions {
        given[&dimension.key] = json!(reading);
        given[format!("{}_applies", dimension.key)] = json!(true);
    }
    given.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
    given
}

const CLOSED_GATE: &str = r#"
mean = "weighted-sum"
scale = { max = 100, publish = "exact" }
[facts]
success = { min = 0, max = 1 }
cost = { min = 0, max = 1 }
[[dimension]]
key = "success"
weight = 0.5
[[dimension]]
key = "cost"
weight = 0.5
when = "success > 0.7"
[[band]]
name = "failed"
from = 0
[[band]]
name = "passed"
from = 70
[[band]]
name = "excellent"
from = 90
"#;

#[test]
fn a_missing_dimension_measured_gives_the_coverage_that_a_tier_asks_for() {
    let missing = json!({
        "costEfficiency": null, "evalRigor": null, "teamwork": null, "modelCompliance": null,
        "harnessStability": null, "skillMastery": null,
    });
    let scorer = released("trust/1.0.0.toml");
    // Measured are 73 % at 0.78. With 4 % more at k billionths the mean is (73 * 780000000 + 4 k) / 77, and 749.5 points
    // are published as 750 from 749499999.5 billionths on: k is at least 192874990.4. With 5 % more k is larger.
    let change = nearest(&scorer, &agent(0.78, missing.clone()));
    assert_eq!(change.unwrap(), "modelCompliance not measured -> 192874991: 750, tier gold");
    // Where the score has room any reading will do; the first in card order is named.
    let change = nearest(&scorer, &agent(0.85, missing));
    assert_eq!(change.unwrap(), "costEfficiency not measured -> 0: 796, tier gold");
}

#[test]
fn at_the_top_and_on_a_scale_without_levels_there_is_nothing_to_reach() {
    let scorer = released("trust/1.0.0.toml");
    let facts = agent(0.95, json!({}));
    let facts = crate::common::facts(scorer.card(), facts.as_object().unwrap());
    scored(&scorer, &facts, |record| {
        assert_eq!(record.tier.as_ref().unwrap().name, Some("platinum"));
        assert_eq!((next_level(record), nearest_change(&scorer, record)), (None, None));
    });
    let scorer = released("workflow/1.0.0.toml");
    assert_eq!(
        nearest(&scorer, &json!({ "output_quality": 0.5, "steps_completed": 1, "steps_total": 2 })),
        None
    );
}

#[test]
fn the_weights_in_force_decide() {
    let agent = agent(0.7, json!({}));
    let base = released("trust/1.0.0.toml");
    let weights = [("accuracy", 60_000), ("reliability", 150_000)];
    let weights = weights.map(|(name, millionths)| (name.to_string(), Decimal::from_millionths(millionths)));
    let other = base.with_override(&weights).unwrap();
    assert!(other.override_use().unwrap().applied);
    // The heaviest dimension has room for 33 points, and 50 are lacking.
    assert_eq!(nearest(&base, &agent), None);
    let agent = self::agent(0.72, json!({}));
    // 29499999.5 billionths more of the mean, from 0.11 of it and from 0.15.
    assert_eq!(nearest(&base, &agent).unwrap(), "accuracy 720000000 -> 988181814: 750, tier gold");
    assert_eq!(nearest(&other, &agent).unwrap(), "reliability 720000000 -> 916666664: 750, tier gold");
}

#[test]
fn a_window_between_two_thresholds_of_the_card_is_found() {
    let card = CLOSED_GATE.replace("success > 0.7", "success > 0.70042 and success <= 0.700420003");
    let change = nearest(&own(&card), &json!({ "success": 0.6, "cost": 1 }));
    assert_eq!(change.unwrap(), "success 600000000 -> 700420001: 85.02100005, band passed");
}

/// Every card in files that can be scored and has levels.
static FILES: LazyLock<Vec<Scorer>> = LazyLock::new(|| {
    let mut found = Vec::new();
    for folder in [root().join("scorecards"), cards()] {
        let cards = crate::common::files(&folder, "toml").into_iter().map(|path| card(&path, &folder));
        found.extend(
            cards
                .filter(|card| card.bands.len() + card.tiers.len() > 1)
                .filter_map(|card| Scorer::new(card).ok()),
        );
    }
    assert!(found.len() >= 5);
    found
});

fn scorer() -> impl Strategy<Value = Scorer> {
    prop_oneof![
        any::<Index>().prop_map(|index| index.get(&FILES).clone()),
        card_text().prop_map(|text| Scorer::new(card_of(&text.text(1), &cards()).unwrap()).unwrap()),
    ]
}

fn trial(card: &Scorecard, at: usize) -> Scorer {
    Scorer::new(with_reading_as_fact(card, at).unwrap()).unwrap()
}

/// Returns the level that the item reaches as a record says it, with that reading put in.
fn level_at(trial: &Scorer, given: &[Fact<'_>], reading: i64, kind: LevelKind) -> Option<usize> {
    let mut given = given.to_vec();
    given.push(Fact::Number(reading as f64 / BILLION as f64));
    scored(trial, &given, |record| match kind {
        LevelKind::Band => record.card.bands.iter().position(|it| Some(it.name.as_str()) == record.band),
        LevelKind::Tier => {
            let tier = record.tier.as_ref().and_then(|tier| tier.name);
            record.card.tiers.iter().position(|it| Some(it.name.as_str()) == tier)
        }
    })
}

fn place(card: &Scorecard, level: &Level<'_>) -> usize {
    let found = match level.kind {
        LevelKind::Band => card.bands.iter().position(|it| it.name == level.name),
        LevelKind::Tier => card.tiers.iter().position(|it| it.name == level.name),
    };
    found.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(21),
        ..ProptestConfig::default()
    })]

    #[test]
    fn the_change_is_enough_and_nothing_smaller_is(scorer in scorer(), choices in choices()) {
        let card = scorer.card();
        let given = facts(card, &choices, false);
        scored(&scorer, &given, |record| {
            let change = nearest_change(&scorer, record);
            let Some(next) = next_level(record) else {
                prop_assert_eq!(change, None);
                return Ok(());
            };
            let wanted = place(card, &next);
            let mut least = u64::MAX;
            if let Some(change) = &change {
                let at = card.dimensions.iter().position(|it| it.key == change.dimension).unwrap();
                let now = &record.dimensions[at];
                let start = now.reading.unwrap_or(0);
                least = change.to.abs_diff(start);
                let trial = trial(card, at);
                let level = |reading| level_at(&trial, &given, reading, next.kind);
                let reached = level(change.to);
                prop_assert!(reached >= Some(wanted), "{change:?}");
                let names = [LevelKind::Band, LevelKind::Tier].map(|kind| match kind {
                    LevelKind::Band => card.bands.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(),
                    LevelKind::Tier => card.tiers.iter().map(|it| it.name.as_str()).collect(),
                });
                prop_assert_eq!(names[change.kind as usize][reached.unwrap()], change.reaches);
                if change.to != start {
                    let short = change.to - (change.to - start).signum();
                    prop_assert!(level(short) < Some(wanted), "{short} is enough: {change:?}");
                }
                let measured = matches!(now.status, ValueStatus::Scored | ValueStatus::Gated);
                prop_assert_eq!(change.from, now.reading.filter(|_| measured));
            }
            for (at, now) in record.dimensions.iter().enumerate() {
                if now.status == ValueStatus::NotApplicable {
                    continue;
                }
                let (trial, start) = (trial(card, at), now.reading.unwrap_or(0));
                for reading in (0..=BILLION).step_by(50_000_000) {
                    let nearer = reading.abs_diff(start) < least;
                    let enough = level_at(&trial, &given, reading, next.kind) >= Some(wanted);
                    prop_assert!(!(nearer && enough), "{} at {reading} is enough: {change:?}", now.key);
                }
            }
            Ok(())
        })?;
    }
}
