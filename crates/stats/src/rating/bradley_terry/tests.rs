//! Tests of the fit and its intervals.

mod prior;

use super::*;
use crate::rating::outcome::{Match, Outcome};
use alloc::string::{String, ToString};
use alloc::vec;
use alloc::vec::Vec;
use proptest::prelude::*;

fn names(count: usize) -> Vec<String> {
    (0..count).map(|at| alloc::format!("c{at}")).collect()
}

fn pair(first: u32, second: u32, wins: u64, draws: u64, losses: u64) -> PairCount {
    PairCount { first, second, wins, draws, losses }
}

fn counts(competitors: usize, pairs: &[PairCount]) -> Counts {
    Counts { names: names(competitors), pairs: pairs.to_vec() }
}

const DAVIDSON: BradleyTerry = BradleyTerry { ties: Ties::Davidson, prior: None };
const HALF_WINS: BradleyTerry = BradleyTerry { ties: Ties::HalfWins, prior: None };

/// Returns a league in which all met all others, with every outcome between them.
fn league() -> Counts {
    let mut pairs = Vec::new();
    for first in 0..6u32 {
        for second in first + 1..6 {
            let gap = u64::from(second - first);
            pairs.push(pair(first, second, 4 + 3 * gap, 2 + u64::from(first), 6 - gap.min(5)));
        }
    }
    counts(6, &pairs)
}

#[test]
fn two_competitors_have_a_closed_form() {
    let two = counts(2, &[pair(0, 1, 6, 3, 2)]);
    let half = HALF_WINS.fit(&two).unwrap();
    let strength = 0.5 * libm::log(7.5 / 3.5);
    assert!((half.strengths[0] - strength).abs() < 1e-13 && (half.strengths[1] + strength).abs() < 1e-13);
    // Davidson: wins and losses in proportion, and draws over their geometric mean.
    let full = DAVIDSON.fit(&two).unwrap();
    assert!((full.strengths[0] - 0.5 * libm::log(3.0)).abs() < 1e-13);
    assert!((full.tie - 3.0 / libm::sqrt(12.0)).abs() < 1e-12);
    let found = full.predict(0, 1).unwrap();
    let expected = [6.0 / 11.0, 3.0 / 11.0, 2.0 / 11.0];
    for (found, expected) in [found.win, found.draw, found.loss].into_iter().zip(expected) {
        assert!((found - expected).abs() < 1e-13);
    }
    assert_eq!(full.predict(0, 2), None);
    assert!((full.points(1000.0).sum::<f64>() - 2000.0).abs() < 1e-9);
}

#[test]
fn everybody_scored_what_the_fit_expects() {
    let league = league();
    for model in [DAVIDSON, HALF_WINS] {
        let fit = model.fit(&league).unwrap();
        let (mut surplus, mut drawn) = (vec![0.0; 6], 0.0);
        for pair in &league.pairs {
            let found = fit.predict(pair.first, pair.second).unwrap();
            let matches = pair.matches() as f64;
            let rest = pair.wins as f64 + 0.5 * pair.draws as f64 - matches * found.score();
            surplus[pair.first as usize] += rest;
            surplus[pair.second as usize] -= rest;
            drawn += pair.draws as f64 - matches * found.draw;
            assert!((found.win + found.draw + found.loss - 1.0).abs() < 1e-14);
        }
        assert!(surplus.iter().all(|rest| rest.abs() < 1e-11), "{surplus:?}");
        assert!(model.ties == Ties::HalfWins || drawn.abs() < 1e-10, "{drawn}");
        assert!(fit.strengths.windows(2).all(|pair| pair[0] > pair[1]));
        assert!(fit.strengths.iter().sum::<f64>().abs() < 1e-13);
    }
}

#[test]
fn a_league_without_draws_is_the_same_in_both_models() {
    let cycle = counts(3, &[pair(0, 1, 5, 0, 2), pair(0, 2, 1, 0, 1), pair(1, 2, 9, 0, 4)]);
    let (davidson, half) = (DAVIDSON.fit(&cycle).unwrap(), HALF_WINS.fit(&cycle).unwrap());
    assert_eq!((&davidson.strengths, davidson.tie), (&half.strengths, 0.0));
}

#[test]
fn minorise_and_maximise_ends_where_newton_does() {
    // Hunter 2004, equation 3, for half wins.
    let league = league();
    let fit = HALF_WINS.fit(&league).unwrap();
    let mut weights = [1.0f64; 6];
    for _ in 0..3000 {
        let (mut won, mut spread) = ([0.0; 6], [0.0; 6]);
        for pair in &league.pairs {
            let (first, second) = (pair.first as usize, pair.second as usize);
            won[first] += pair.wins as f64 + 0.5 * pair.draws as f64;
            won[second] += pair.losses as f64 + 0.5 * pair.draws as f64;
            let share = pair.matches() as f64 / (weights[first] + weights[second]);
            spread[first] += share;
            spread[second] += share;
        }
        weights = core::array::from_fn(|at| won[at] / spread[at]);
    }
    let logs = weights.map(libm::log);
    let mean = logs.iter().sum::<f64>() / 6.0;
    for (log, strength) in logs.iter().zip(&fit.strengths) {
        assert!((log - mean - strength).abs() < 1e-9);
    }
}

#[test]
fn what_has_no_strengths_is_refused_by_name() {
    let told = |counts: &Counts| DAVIDSON.fit(counts).unwrap_err().to_string();
    assert_eq!(told(&counts(0, &[])), "there are 0 competitors, expected at least 2");
    assert_eq!(told(&counts(1, &[])), "there are 1 competitors, expected at least 2");
    assert_eq!(told(&counts(2, &[])), "there is no match, expected at least one");
    assert!(told(&counts(2, &[pair(0, 1, 0, 7, 0)])).starts_with("all 7 matches were drawn"));
    for wrong in [pair(1, 0, 1, 0, 1), pair(0, 2, 1, 0, 1), pair(1, 1, 1, 0, 1)] {
        assert!(matches!(DAVIDSON.fit(&counts(2, &[wrong])), Err(FitError::Pair { place: 0, .. })));
    }
    let many = counts(3, &[pair(0, 1, u64::MAX, 0, 1), pair(0, 2, u64::MAX, u64::MAX, 1)]);
    assert_eq!(told(&many), "there are 18446744073709551615 matches, expected at most 4294967295");
    assert_eq!(
        DAVIDSON.resample(&many, &DAVIDSON.fit(&league()).unwrap(), &Bootstrap { seed: 0, rounds: 0..1 }),
        Err(FitError::TooManyMatches { found: u64::MAX })
    );

    let parted =
        counts(6, &[pair(0, 1, 3, 0, 0), pair(1, 2, 1, 1, 1), pair(2, 3, 2, 0, 0), pair(1, 3, 1, 0, 0)]);
    let Err(FitError::Separated(found)) = DAVIDSON.fit(&parted) else { panic!("it holds together") };
    assert_eq!(found.only_won, ["c0"]);
    assert_eq!(found.only_lost, ["c3"]);
    assert_eq!(found.without_match, ["c4", "c5"]);
    let at = |name: &str| found.groups.iter().position(|group| group.contains(&name.to_string())).unwrap();
    assert!(at("c0") < at("c1") && at("c1") == at("c2") && at("c2") < at("c3"));
    let told = found.to_string();
    for part in [
        "without a match: `c4`, `c5`;", "never lost a point: `c0`;", "never won a point: `c3`;",
        "comparable with each other: `c1`, `c2`;", "(the largest has 2 of 6 competitors)",
    ] {
        assert!(told.contains(part), "{told}");
    }
    let largest = parted.groups().swap_remove(0);
    assert!(DAVIDSON.fit(&parted.among(&largest)).is_ok());
}

#[test]
fn many_names_are_counted_and_not_all_told() {
    let pairs: Vec<_> = (1..40).map(|at| pair(0, at, 1, 0, 0)).collect();
    let told = DAVIDSON.fit(&counts(40, &pairs)).unwrap_err().to_string();
    assert!(told.contains("`c10` and 29 more"), "{told}");
}

#[test]
fn lopsided_and_thin_leagues_still_end() {
    let steep = counts(3, &[pair(0, 1, 900_000_000, 0, 1), pair(1, 2, 900_000_000, 0, 1)]);
    let fit = DAVIDSON.fit(&steep).unwrap();
    assert!((fit.strengths[0] - libm::log(9e8)).abs() < 1e-9, "{fit:?}");
    // A chain of two hundred: every link has the odds of that pair.
    let chain: Vec<_> = (1..200).map(|at| pair(at - 1, at, 3, 0, 1)).collect();
    let fit = DAVIDSON.fit(&counts(200, &chain)).unwrap();
    for link in fit.strengths.windows(2) {
        assert!((link[0] - link[1] - libm::log(3.0)).abs() < 1e-8);
    }
}

#[test]
fn the_sandwich_of_two_has_a_closed_form() {
    // Without draws the model is right by construction, and the variance of the log odds is 1/w + 1/l.
    let two = counts(2, &[pair(0, 1, 30, 0, 10)]);
    let fit = DAVIDSON.fit(&two).unwrap();
    let covariance = fit.covariance(&two).unwrap();
    let expected = libm::sqrt(1.0 / 30.0 + 1.0 / 10.0);
    assert!((covariance.difference_error(0, 1).unwrap() - expected).abs() < 1e-12);
    assert!((covariance.standard_error(0).unwrap() - 0.5 * expected).abs() < 1e-12);
    assert_eq!(covariance.standard_error(2), None);
    // Davidson's of two is saturated as well: the log odds of wins against losses, whatever the draws.
    let drawn = counts(2, &[pair(0, 1, 30, 7, 10)]);
    let covariance = DAVIDSON.fit(&drawn).unwrap().covariance(&drawn).unwrap();
    assert!((covariance.difference_error(0, 1).unwrap() - expected).abs() < 1e-12);
    // Half wins: the delta method on the mean score.
    let covariance = HALF_WINS.fit(&drawn).unwrap().covariance(&drawn).unwrap();
    let (n, m) = (47.0, 33.5 / 47.0);
    let scatter = (30.0 + 7.0 * 0.25) / n - m * m;
    let expected = libm::sqrt(scatter / n) / (m * (1.0 - m));
    assert!((covariance.difference_error(0, 1).unwrap() - expected).abs() < 1e-12);
}

#[test]
fn covariances_are_symmetric_and_around_a_mean_of_zero() {
    let league = league();
    for model in [DAVIDSON, HALF_WINS] {
        let fit = model.fit(&league).unwrap();
        let covariance = fit.covariance(&league).unwrap();
        for one in 0..6 {
            let row: Vec<f64> = (0..6).map(|other| covariance.between(one, other).unwrap()).collect();
            assert!(row.iter().sum::<f64>().abs() < 1e-12, "{row:?}");
            for (other, value) in (0..6).zip(&row) {
                assert!((value - covariance.between(other, one).unwrap()).abs() < 1e-13);
            }
        }
        let intervals = covariance.intervals(&fit, 0.95).unwrap();
        assert!(
            intervals
                .iter()
                .zip(&fit.strengths)
                .all(|(interval, strength)| { interval.lower < *strength && *strength < interval.upper })
        );
    }
}

#[test]
fn what_the_sandwich_cannot_do_is_told() {
    let league = league();
    let fit = DAVIDSON.fit(&league).unwrap();
    let covariance = fit.covariance(&league).unwrap();
    assert!(covariance.intervals(&fit, 1.0).unwrap_err().to_string().starts_with("confidence is `1`"));
    let other = counts(2, &[pair(0, 1, 1, 0, 1)]);
    assert_eq!(fit.covariance(&other), Err(SandwichError::OtherFit { found: 6, expected: 2 }));
    let ring: Vec<_> = (1..1001).map(|at| pair(at - 1, at, 1, 0, 1)).collect();
    let ring = counts(1001, &ring);
    let fit = Fit { strengths: vec![0.0; 1001], ..fit };
    assert_eq!(fit.covariance(&ring), Err(SandwichError::TooManyCompetitors { found: 1001 }));
    assert!(covariance.intervals(&fit, 0.9).is_err());
}

#[test]
fn the_bootstrap_agrees_with_the_sandwich() {
    let pairs: Vec<_> = league().pairs;
    let many = |count: u64| 50 * count;
    let pairs: Vec<_> =
        pairs.iter().map(|p| pair(p.first, p.second, many(p.wins), many(p.draws), many(p.losses))).collect();
    let league = counts(6, &pairs);
    for model in [DAVIDSON, HALF_WINS] {
        let fit = model.fit(&league).unwrap();
        let sandwich = fit.covariance(&league).unwrap().intervals(&fit, 0.9).unwrap();
        let drawn = model.resample(&league, &fit, &Bootstrap { seed: 1, rounds: 0..400 }).unwrap();
        let bootstrap = drawn.intervals(0.9).unwrap();
        for (one, other) in sandwich.iter().zip(&bootstrap) {
            let width = one.upper - one.lower;
            assert!(((other.upper - other.lower) / width - 1.0).abs() < 0.2, "{one:?} {other:?}");
            assert!((other.lower - one.lower).abs() < 0.15 * width, "{one:?} {other:?}");
        }
    }
}

#[test]
fn rounds_are_the_same_alone_and_together() {
    let league = league();
    let fit = DAVIDSON.fit(&league).unwrap();
    let rounds = |rounds| DAVIDSON.resample(&league, &fit, &Bootstrap { seed: 9, rounds }).unwrap();
    let whole = rounds(0..40);
    assert_eq!(rounds(0..13).followed_by(rounds(13..40)), whole);
    assert_eq!(whole.strengths.len(), 40);
    let other = DAVIDSON.resample(&league, &fit, &Bootstrap { seed: 8, rounds: 0..40 }).unwrap();
    assert_ne!(other, whole);
    assert!(whole.intervals(0.95).is_ok());
    assert_eq!(whole.intervals(0.99), Err(BootstrapError::TooFewRounds { found: 40, expected: 200 }));
    assert!(matches!(whole.intervals(f64::NAN), Err(BootstrapError::Confidence { .. })));
}

#[test]
fn rounds_that_fall_apart_are_counted_and_refuse_an_interval() {
    let thin = counts(2, &[pair(0, 1, 30, 0, 1)]);
    let fit = DAVIDSON.fit(&thin).unwrap();
    let drawn = DAVIDSON.resample(&thin, &fit, &Bootstrap { seed: 3, rounds: 0..100 }).unwrap();
    // No loss is drawn with probability (30/31)^31 = 0.36.
    assert!((20..=52).contains(&drawn.without_fit), "{}", drawn.without_fit);
    let error = drawn.intervals(0.9).unwrap_err();
    assert!(error.to_string().contains("of 100 rounds have no fit"), "{error}");
}

proptest! {
    #[test]
    fn the_order_of_matches_and_of_sides_changes_no_bit(
        rows in prop::collection::vec((0u32..5, 1u32..5, 0usize..3), 30..120),
        turn in any::<prop::sample::Index>(),
    ) {
        let outcomes = [Outcome::Win, Outcome::Draw, Outcome::Loss];
        let mut matches: Vec<_> = rows
            .iter()
            .map(|&(first, step, outcome)| Match { first, second: (first + step) % 5, outcome: outcomes[outcome] })
            .collect();
        let before = Counts::new(&names(5), &matches).unwrap();
        let turn = turn.index(matches.len());
        matches.rotate_left(turn);
        matches.reverse();
        for found in &mut matches {
            *found = Match { first: found.second, second: found.first, outcome: found.outcome.opposite() };
        }
        let after = Counts::new(&names(5), &matches).unwrap();
        prop_assert_eq!(DAVIDSON.fit(&before), DAVIDSON.fit(&after));
    }

    #[test]
    fn any_counts_have_a_fit_or_a_reason(
        cells in prop::collection::vec((0u64..4, 0u64..4, 0u64..4), 10),
    ) {
        let places = (0..5u32).flat_map(|first| (first + 1..5).map(move |second| (first, second)));
        let pairs: Vec<_> = places
            .zip(&cells)
            .map(|((first, second), &(wins, draws, losses))| pair(first, second, wins, draws, losses))
            .collect();
        for model in [DAVIDSON, HALF_WINS] {
            match model.fit(&counts(5, &pairs)) {
                Ok(fit) => prop_assert!(fit.strengths.iter().all(|strength| strength.is_finite())),
                Err(error) => prop_assert!(!matches!(error, FitError::NotConverged { .. }), "{error}"),
            }
        }
    }
}
