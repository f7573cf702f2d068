//! Tiers: each condition on its own, and monotone in all of them.

use alloc::format;
use alloc::string::ToString;

use super::*;
use karat_core::number::BILLION;
use proptest::prelude::*;

/// Meets platinum in every respect.
fn best() -> TierFacts {
    let last = trust_tiers().pop().unwrap();
    TierFacts {
        points: Some(last.points),
        coverage: last.coverage,
        readings: last.floors.into_iter().collect(),
        evaluations: last.evaluations,
        distinct_days: last.distinct_days,
        confidence: Some(last.confidence),
        independent_runners: last.independent_runners,
        newest_batch_seconds: last.newest_batch_seconds,
        open_tiers: None,
    }
}

#[test]
fn every_line_is_inclusive_and_every_condition_blocks_alone() {
    let rules = trust_tiers();
    let reached = tier(&rules, &best());
    assert_eq!((reached.reached, reached.next, reached.missing), (4, None, Vec::new()));
    let blocked = |facts: TierFacts| {
        let standing = tier(&rules, &facts);
        assert_eq!((standing.reached, standing.name.as_deref()), (3, Some("gold")));
        standing.single_blocker().unwrap().to_string()
    };
    assert_eq!(blocked(TierFacts { points: Some(899), ..best() }), "score is 899, needs 900 or more");
    assert_eq!(
        blocked(TierFacts { coverage: 899_999_999, ..best() }),
        "coverage is 0.899999999, needs 0.9 or more"
    );
    assert_eq!(
        blocked(TierFacts { evaluations: 99, ..best() }),
        "number of evaluations is 99, needs 100 or more"
    );
    assert_eq!(
        blocked(TierFacts { distinct_days: 29, ..best() }),
        "number of distinct days is 29, needs 30 or more"
    );
    assert_eq!(
        blocked(TierFacts { confidence: Some(790_000_000), ..best() }),
        "confidence is 0.79, needs 0.8 or more"
    );
    assert_eq!(
        blocked(TierFacts { independent_runners: 2, ..best() }),
        "number of independent runners is 2, needs 3 or more"
    );
    let mut without_bond = best();
    without_bond.readings.remove("bond");
    assert_eq!(blocked(without_bond), "bond is not measured, needs 0.6 or more");
    assert_eq!(blocked(TierFacts { open_tiers: Some(3), ..best() }), "the security gate keeps the tier shut");
}

#[test]
fn freshness_is_told_in_days_rounded_away_from_the_line() {
    let rules = trust_tiers();
    let stale = TierFacts { newest_batch_seconds: Some(90 * DAY_SECONDS + 1), ..best() };
    let standing = tier(&rules, &stale);
    assert_eq!(standing.name.as_deref(), Some("silver"), "gold asks for 90 days too");
    let told = standing.single_blocker().unwrap().to_string();
    assert_eq!(told, "newest full batch is 91 days old, needs 90 or less");
    let never = tier(&rules, &TierFacts { newest_batch_seconds: None, ..best() });
    let told = never.single_blocker().unwrap().to_string();
    assert_eq!(told, "there is no full batch of evaluations, needs one of the last 180 days");
}

#[test]
fn a_tier_needs_those_below_it() {
    let odd = [
        TierRule { name: "low".into(), points: 500, ..TierRule::default() },
        TierRule { name: "high".into(), points: 100, ..TierRule::default() },
    ];
    let standing = tier(&odd, &TierFacts { points: Some(200), ..TierFacts::default() });
    assert_eq!((standing.reached, standing.name, standing.next.as_deref()), (0, None, Some("low")));
    assert_eq!(tier(&[], &best()).name, None);
}

#[test]
fn all_that_is_missing_is_told_and_there_is_no_single_blocker() {
    let standing = tier(&trust_tiers(), &TierFacts::default());
    assert_eq!(standing.missing.len(), 8);
    assert_eq!(standing.single_blocker(), None);
    assert_eq!(standing.missing[0].to_string(), "score is not measured, needs 400 or more");
}

#[test]
fn security_must_reach_its_own_line() {
    let mut facts = best();
    facts.readings.insert("security".into(), 700_000_000);
    let standing = tier(&trust_tiers(), &facts);
    assert_eq!(standing.single_blocker().unwrap().to_string(), "security is 0.7, needs 0.8 or more");
}

fn any_facts() -> impl Strategy<Value = TierFacts> {
    let readings = prop::collection::btree_map(
        prop::sample::select(alloc::vec!["accuracy", "safety", "reliability", "security", "bond"]),
        0i64..=BILLION,
        0..6,
    );
    let counts = (0u64..120, 0u64..40, 0u64..5);
    let shares = (0i64..=BILLION, prop::option::of(0i64..=BILLION));
    (
        prop::option::of(0i64..=1000),
        shares,
        readings,
        counts,
        prop::option::of(0i64..200 * DAY_SECONDS),
        prop::option::of(0usize..5),
    )
        .prop_map(
            |(points, (coverage, confidence), readings, counts, newest_batch_seconds, open_tiers)| {
                TierFacts {
                    points,
                    coverage,
                    readings: readings.into_iter().map(|(key, reading)| (key.into(), reading)).collect(),
                    evaluations: counts.0,
                    distinct_days: counts.1,
                    confidence,
                    independent_runners: counts.2,
                    newest_batch_seconds,
                    open_tiers,
                }
            },
        )
}

proptest! {
    #[test]
    fn tiers_are_monotone(facts in any_facts(), more in any_facts(), floors in prop::collection::vec(0i64..=BILLION, 4)) {
        // Lines that random facts do reach.
        let rules: Vec<TierRule> = floors.iter().enumerate().map(|(at, floor)| TierRule {
            name: format!("{at}"),
            points: at as i64 * 200,
            coverage: floor / 4,
            floors: if at > 1 { alloc::vec![("accuracy".into(), floor / 2)] } else { Vec::new() },
            evaluations: at as u64 * 10,
            distinct_days: at as u64 * 3,
            confidence: floor / 5,
            independent_runners: at as u64 / 2,
            newest_batch_seconds: (at > 0).then_some((200 - 40 * at as i64) * DAY_SECONDS),
        }).collect();
        let mut readings = facts.readings.clone();
        for (key, reading) in &more.readings {
            let best = readings.get(key).copied().max(Some(*reading)).unwrap();
            readings.insert(key.clone(), best);
        }
        let youngest = [facts.newest_batch_seconds, more.newest_batch_seconds].into_iter().flatten().min();
        let widest = facts.open_tiers.zip(more.open_tiers).map(|(a, b)| a.max(b));
        let better = TierFacts {
            points: facts.points.max(more.points),
            coverage: facts.coverage.max(more.coverage),
            readings,
            evaluations: facts.evaluations.max(more.evaluations),
            distinct_days: facts.distinct_days.max(more.distinct_days),
            confidence: facts.confidence.max(more.confidence),
            independent_runners: facts.independent_runners.max(more.independent_runners),
            newest_batch_seconds: youngest,
            open_tiers: widest,
        };
        prop_assert!(tier(&rules, &better).reached >= tier(&rules, &facts).reached);
    }
}

#[test]
fn the_tiers_of_the_trust_cards_are_the_trust_tiers() {
    for text in [
        include_str!("../../../../scorecards/trust/1.0.0.toml"),
        include_str!("../../../../scorecards/trust/1.1.0.toml"),
    ] {
        let card = karat_checker::parse(text, &|_| None).unwrap();
        assert_eq!(card.standing.unwrap().tiers, trust_tiers());
    }
}
