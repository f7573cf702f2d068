//! Certificates: what rises waits, what falls by gate or evidence does not, decay and silence have their terms.

use alloc::string::ToString;
use alloc::vec;

use super::*;
use proptest::prelude::*;

const DAY: i64 = 86_400;

/// Lines at 100, 200, 300 points; 180, 120 and 90 days of freshness.
fn tiers() -> Vec<TierRule> {
    let rule = |(at, days): (usize, i64)| TierRule {
        points: (at as i64 + 1) * 100,
        newest_batch_seconds: Some(days * DAY),
        ..TierRule::default()
    };
    [180, 120, 90].into_iter().enumerate().map(rule).collect()
}

fn at(days: i64, points: i64, undecayed: i64, silent_days: i64, open_tiers: Option<usize>) -> Recomputation {
    let facts = |points| TierFacts {
        points: Some(points),
        newest_batch_seconds: Some(silent_days * DAY),
        open_tiers,
        ..TierFacts::default()
    };
    Recomputation { at_seconds: days * DAY, facts: facts(points), undecayed: facts(undecayed) }
}

fn fresh(days: i64, points: i64) -> Recomputation {
    at(days, points, points, 0, None)
}

fn step(certificate: Certificate, now: &Recomputation) -> (Certificate, Certified) {
    certificate.next(&tiers(), &CertificationRules::default(), now).unwrap()
}

fn held(tier: usize) -> Certificate {
    Certificate { tier, latest_seconds: Some(0), ..Certificate::default() }
}

fn causes(certified: &Certified) -> Vec<(usize, &'static str)> {
    certified.changes.iter().map(|change| (change.to, change.cause.name())).collect()
}

#[test]
fn the_way_up_is_one_confirmed_tier_a_week() {
    let mut certificate = Certificate::default();
    let mut tiers = Vec::new();
    for day in 0..20 {
        (certificate, _) = step(certificate, &fresh(day, 350));
        tiers.push(certificate.tier);
    }
    let expected = [vec![0], vec![1; 7], vec![2; 7], vec![3; 5]].concat();
    assert_eq!(tiers, expected);
}

#[test]
fn a_score_at_the_line_does_not_flap() {
    let mut certificate = held(1);
    for day in 1..30 {
        (certificate, _) = step(certificate, &fresh(day, if day % 2 == 0 { 199 } else { 201 }));
        assert_eq!(certificate.tier, 1);
    }
}

#[test]
fn a_gate_and_evidence_take_a_tier_at_once() {
    let (gated, certified) = step(held(3), &at(1, 350, 350, 0, Some(1)));
    assert_eq!((gated.tier, causes(&certified)), (1, vec![(1, "gate")]));
    let (fallen, certified) = step(held(3), &fresh(1, 150));
    assert_eq!((fallen.tier, causes(&certified)), (1, vec![(1, "evidence")]));
}

#[test]
fn a_tier_lost_to_decay_alone_has_fourteen_days() {
    let (warned, certified) = step(held(3), &at(1, 299, 310, 0, None));
    assert_eq!((warned.tier, certified.at_risk_until_seconds), (3, Some(15 * DAY)));
    let (saved, certified) = step(warned, &at(14, 300, 311, 0, None));
    assert_eq!((saved.tier, certified.at_risk_until_seconds, saved.at_risk_since_seconds), (3, None, None));
    let (lost, certified) = step(warned, &at(15, 299, 310, 0, None));
    assert_eq!((lost.tier, causes(&certified)), (2, vec![(2, "decay")]));
}

#[test]
fn silence_takes_one_tier_for_ninety_days() {
    let mut certificate = held(3);
    let mut seen = Vec::new();
    for day in 1..=400 {
        let certified;
        (certificate, certified) = step(certificate, &at(day, 350, 350, day, None));
        seen.extend(causes(&certified).into_iter().map(|(to, cause)| (day, to, cause)));
    }
    assert_eq!(seen, [(91, 2, "silence"), (180, 1, "silence"), (270, 0, "silence")]);

    let (late, certified) = step(held(3), &at(1, 350, 350, 200, None));
    assert_eq!((late.tier, causes(&certified)), (1, vec![(1, "silence")]), "seen only after 200 days");
    let (renewed, _) = step(late, &fresh(2, 350));
    assert_eq!(renewed.lost_to_silence, 0);
}

#[test]
fn no_batch_at_all_is_silence_without_end() {
    let facts = TierFacts { points: Some(350), ..TierFacts::default() };
    let now = Recomputation { at_seconds: DAY, facts: facts.clone(), undecayed: facts };
    assert_eq!(step(held(3), &now).0.tier, 0);
}

#[test]
fn a_break_starts_the_wait_again() {
    let (rising, certified) = step(held(1), &fresh(0, 250));
    assert_eq!(certified.promotion_from_seconds, Some(DAY));
    let (broken, _) = step(rising, &fresh(0, 150));
    let (again, _) = step(broken, &fresh(1, 250));
    assert_eq!((again.tier, again.rising_since_seconds), (1, Some(DAY)));
}

#[test]
fn an_earlier_recomputation_is_refused() {
    let refused = held(2).next(&tiers(), &CertificationRules::default(), &fresh(-1, 350)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the recomputation is of second -86400, expected 0 or later; give them in order of time"
    );
}

#[test]
fn what_the_card_does_not_know_is_not_held() {
    let (none, _) = held(9).next(&[], &CertificationRules::default(), &fresh(1, 350)).unwrap();
    assert_eq!(none.tier, 0);
}

proptest! {
    #[test]
    fn what_is_held_never_passes_a_gate_nor_rises_unearned(
        steps in prop::collection::vec((0i64..40, 0i64..400, 0i64..60, 0i64..300, prop::option::of(0usize..4)), 1..40),
    ) {
        let (mut certificate, mut day, mut promoted) = (Certificate::default(), 0, None);
        for (passed, points, decay, silent, open) in steps {
            day += passed;
            let before = certificate.tier;
            let certified;
            (certificate, certified) = step(certificate, &at(day, points, points + decay, silent, open));
            prop_assert!(open.is_none_or(|open| certificate.tier <= open));
            if certificate.tier > before {
                prop_assert_eq!(certificate.tier, before + 1);
                prop_assert!(certified.earned.reached >= certificate.tier);
                prop_assert!(promoted.is_none_or(|last| day - last >= 7));
                promoted = Some(day);
            }
        }
    }
}
