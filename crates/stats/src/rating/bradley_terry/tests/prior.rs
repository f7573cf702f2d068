//! Tests of the fit with a prior: pools of any shape have strengths, and a weak prior changes nothing.

use super::*;

fn with_prior(ties: Ties, deviation: f64) -> BradleyTerry {
    BradleyTerry { ties, prior: Some(Gaussian { deviation }) }
}

/// Returns the counts of a pool from cells of wins, draws and losses, pair by pair.
fn pool(competitors: u32, cells: &[(u64, u64, u64)]) -> Counts {
    let places =
        (0..competitors).flat_map(|first| (first + 1..competitors).map(move |second| (first, second)));
    let pairs: Vec<_> = places
        .zip(cells)
        .map(|((first, second), &(wins, draws, losses))| pair(first, second, wins, draws, losses))
        .filter(|pair| pair.matches() > 0)
        .collect();
    counts(competitors as usize, &pairs)
}

#[test]
fn pools_in_parts_and_perfect_records_have_strengths_and_intervals() {
    // c0 beat c1 three times, c2 and c3 only met each other, c4 met no one.
    let parted = counts(5, &[pair(0, 1, 3, 0, 0), pair(2, 3, 2, 1, 1)]);
    assert!(matches!(DAVIDSON.fit(&parted), Err(FitError::Separated(_))));
    assert_eq!(parted.parts().len(), 3);
    for ties in [Ties::Davidson, Ties::HalfWins] {
        let model = with_prior(ties, 2.0);
        let fit = model.fit(&parted).unwrap();
        assert!(fit.strengths[0] > fit.strengths[2] && fit.strengths[2] > 0.0, "{fit:?}");
        assert!(fit.strengths[4].abs() < 1e-12);
        assert!((fit.strengths[0] + fit.strengths[1]).abs() < 1e-12, "each part keeps the mean of the prior");
        let covariance = fit.covariance(&parted).unwrap();
        // Without a match it is the prior, for a strength around the mean of five.
        let alone = covariance.standard_error(4).unwrap();
        assert!((alone - 2.0 * libm::sqrt(0.8)).abs() < 1e-12, "{alone}");
        assert!((0..4).all(|place| covariance.standard_error(place).unwrap() < alone));
        let rows = |one| (0..5).map(|other| covariance.between(one, other).unwrap()).sum::<f64>();
        assert!((0..5).all(|one| rows(one).abs() < 1e-10));
        let drawn = model.resample(&parted, &fit, &Bootstrap { seed: 4, rounds: 0..200 }).unwrap();
        assert_eq!((drawn.strengths.len(), drawn.without_fit), (200, 0));
        let intervals = drawn.intervals(0.9).unwrap();
        assert!(
            intervals.iter().all(|interval| interval.lower <= interval.upper && interval.upper.is_finite())
        );
    }
}

#[test]
fn the_posterior_of_many_matches_is_the_inverse_of_their_slopes() {
    // Of two without draws, the difference has the precision n p q, and half that of the prior.
    let two = counts(2, &[pair(0, 1, 30, 0, 10)]);
    let model = with_prior(Ties::HalfWins, 1.5);
    let fit = model.fit(&two).unwrap();
    let p = fit.expected(0, 1).unwrap();
    let precision = 40.0 * p * (1.0 - p) + 0.5 / 2.25;
    let found = fit.covariance(&two).unwrap().difference_error(0, 1).unwrap();
    assert!((found - 1.0 / libm::sqrt(precision)).abs() < 1e-12, "{found}");
}

#[test]
fn priors_without_a_width_and_pools_of_draws_are_refused() {
    let two = counts(2, &[pair(0, 1, 1, 0, 1)]);
    for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e200] {
        let error = with_prior(Ties::Davidson, wrong).fit(&two).unwrap_err();
        assert!(matches!(error, FitError::Prior { .. }), "{error}");
    }
    let drawn = counts(2, &[pair(0, 1, 0, 5, 0)]);
    assert_eq!(with_prior(Ties::Davidson, 1.0).fit(&drawn), Err(FitError::AllDrawn { matches: 5 }));
    let fit = with_prior(Ties::HalfWins, 1.0).fit(&drawn).unwrap();
    assert_eq!(fit.strengths, [0.0, 0.0]);
}

#[test]
fn a_prior_is_worth_its_draws() {
    let prior = Gaussian::of_points(350.0);
    assert!((prior.deviation - 350.0 / LOGIT_POINTS).abs() < 1e-15);
    assert!((prior.draws() - 0.985).abs() < 1e-3);
    // The slope of a half win between equals is a quarter.
    let two = counts(2, &[pair(0, 1, 0, 1, 0)]);
    let weak = with_prior(Ties::HalfWins, 1e6);
    let error = weak.fit(&two).unwrap().covariance(&two).unwrap().difference_error(0, 1).unwrap();
    assert!((1.0 / (error * error) - 0.25).abs() < 1e-9);
}

#[test]
fn a_prior_keeps_its_fit_where_it_is_almost_nothing_or_almost_all() {
    let parted = counts(4, &[pair(0, 1, 1_000_000, 0, 0), pair(2, 3, 1, 1_000_000, 0)]);
    for deviation in [1e-3, 1.0, 57.0] {
        let fit = with_prior(Ties::Davidson, deviation).fit(&parted).unwrap();
        assert!(fit.strengths.iter().all(|strength| strength.is_finite()), "{fit:?}");
        assert!(fit.strengths[0] > 0.0 && fit.strengths[2] > 0.0);
    }
}

proptest! {
    #[test]
    fn a_weak_prior_is_none_and_a_strong_one_makes_all_equal(
        cells in prop::collection::vec((1u64..6, 0u64..4, 1u64..6), 10),
        is_davidson in any::<bool>(),
    ) {
        let pool = pool(5, &cells);
        let ties = if is_davidson { Ties::Davidson } else { Ties::HalfWins };
        let plain = BradleyTerry { ties, prior: None }.fit(&pool).unwrap();
        let apart = |deviation: f64| {
            let fit = with_prior(ties, deviation).fit(&pool).unwrap();
            let gaps = fit.strengths.iter().zip(&plain.strengths).map(|(one, other)| (one - other).abs());
            gaps.fold((fit.tie - plain.tie).abs(), f64::max)
        };
        prop_assert!(apart(1e5) < 1e-8, "{}", apart(1e5));
        let length = |fit: &Fit| fit.strengths.iter().map(|strength| strength * strength).sum::<f64>();
        let with = |deviation: f64| length(&with_prior(ties, deviation).fit(&pool).unwrap());
        prop_assert!(with(1.0) <= with(10.0) + 1e-12 && with(10.0) <= length(&plain) + 1e-12);
        let fit = with_prior(ties, 1e-4).fit(&pool).unwrap();
        prop_assert!(fit.strengths.iter().all(|strength| strength.abs() < 1e-6));
    }

    #[test]
    fn other_names_move_no_strength_and_the_order_of_matches_no_bit(
        rows in prop::collection::vec((0u32..6, 1u32..6, 0usize..3), 2..40),
        turn in 0u32..6,
        swap in any::<prop::sample::Index>(),
    ) {
        let outcomes = [Outcome::Win, Outcome::Draw, Outcome::Loss];
        let matches: Vec<_> = rows
            .iter()
            .map(|&(first, step, outcome)| Match { first, second: (first + step) % 6, outcome: outcomes[outcome] })
            .collect();
        prop_assume!(matches.iter().any(|found| found.outcome != Outcome::Draw));
        let model = with_prior(Ties::Davidson, 2.0);
        let fit = |matches: &[Match]| model.fit(&Counts::new(&names(6), matches).unwrap()).unwrap();
        let before = fit(&matches);
        let mut shuffled = matches.clone();
        shuffled.rotate_left(swap.index(matches.len()));
        shuffled.reverse();
        prop_assert_eq!(&fit(&shuffled), &before);
        let renamed = |place: u32| (place + turn) % 6;
        for found in &mut shuffled {
            *found = Match { first: renamed(found.first), second: renamed(found.second), ..*found };
        }
        let after = fit(&shuffled);
        for place in 0..6u32 {
            let (one, other) = (before.strengths[place as usize], after.strengths[renamed(place) as usize]);
            prop_assert!((one - other).abs() < 1e-10, "{one} {other}");
        }
    }
}
