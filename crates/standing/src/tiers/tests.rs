//! Tiers: what is said of them, under those of the trust card. The model compares them with its own.

use alloc::string::ToString;

use super::*;

fn trust_tiers() -> Vec<TierRule> {
    let text = include_str!("../../../../scorecards/trust/1.1.0.toml");
    karat_checker::parse(text, &|_| None).unwrap().standing.unwrap().tiers
}

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
        least_open_tiers: None,
    }
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
