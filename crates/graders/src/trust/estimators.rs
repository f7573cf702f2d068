//! Estimators over samples: each says what it estimates, in which range, and who published it.
//!
//! All are plain functions of their arguments; where there is nothing to estimate from they return `None`, never a
//! number. Sums run in the order of the slices, so a caller that wants the same bits gives the same order.

/// One-sided 90 % quantile of the normal distribution, as the trust document's bounds use it.
pub const Z_90: f64 = 1.2816;

/// Returns the lower end of the Wilson score interval for a share, 0 to 1.
///
/// `share` is the observed share (0 to 1), `count` the sample size (above 0; an effective size need not be whole), `z`
/// the quantile of the normal distribution ([`Z_90`] for one-sided 90 %). Wilson, "Probable inference, the law of
/// succession, and statistical inference", JASA 22 (1927); recommended by Brown, Cai and DasGupta, Statistical Science
/// 16 (2001). None if an argument is outside of its range, or too large for doubles.
pub fn wilson_lower_bound(share: f64, count: f64, z: f64) -> Option<f64> {
    let is_share = (0.0..=1.0).contains(&share);
    if !(is_share && count > 0.0 && count.is_finite() && z >= 0.0 && z.is_finite()) {
        return None;
    }
    let z2 = z * z;
    let centre = share + z2 / (2.0 * count);
    let spread = z * (share * (1.0 - share) / count + z2 / (4.0 * count * count)).sqrt();
    let bound = (centre - spread) / (1.0 + z2 / count);
    (!bound.is_nan()).then(|| bound.clamp(0.0, share))
}

/// Returns Kish's effective sample size of weighted observations: `(sum w)^2 / sum w^2`, between 1 and the number of
/// weights above 0. Kish, "Survey Sampling" (1965), 8.2. None without a weight above 0, or if one is below 0 or not
/// finite.
pub fn effective_count(weights: &[f64]) -> Option<f64> {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let are_weights = weights.iter().all(|weight| (0.0..=f64::MAX).contains(weight));
    if !are_weights || largest <= 0.0 {
        return None;
    }
    // Divided by the largest, so that no square can overflow or vanish.
    let (sum, squares) = weights.iter().fold((0.0, 0.0), |(sum, squares), weight| {
        let relative = weight / largest;
        (sum + relative, squares + relative * relative)
    });
    Some(sum * sum / squares)
}

/// Returns the chance that `k` trials drawn without replacement from `trials` all pass: `C(passed, k) / C(trials, k)`,
/// 0 to 1.
///
/// The unbiased estimate of pass^k: Yao et al., "tau-bench" (2024), after the estimate of pass@k by Chen et al.,
/// "Evaluating large language models trained on code" (2021). It takes as many steps as the smaller of `k` and the number
/// that failed, but stops where the chance is no longer above 0: after two million at the latest. None if there are fewer than
/// `k` trials or more than 2^32, `k` is 0 or more passed than tried.
pub fn pass_hat_k(passed: u64, trials: u64, k: u64) -> Option<f64> {
    const MOST: u64 = 1 << 32;
    if k == 0 || trials < k || passed > trials || trials > MOST {
        return None;
    }
    if passed < k {
        return Some(0.0);
    }
    // C(n - f, k) / C(n, k) = C(n - k, f) / C(n, f): the shorter of the two products.
    let failed = trials - passed;
    let factors = if failed < k { failed } else { k };
    let rest = if failed < k { k } else { failed };
    let mut chance = 1.0;
    for taken in 0..factors {
        let left = (trials - taken) as f64;
        chance *= (left - rest as f64) / left;
        if chance <= 0.0 {
            break;
        }
    }
    Some(chance)
}

/// A stated confidence and what came of it; or, for forecasts that count as one, the means of both.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Forecast {
    /// The confidence, 0 to 1.
    pub confidence: f64,
    /// 1 if it came true, 0 if not; of several forecasts the share that came true.
    pub outcome: f64,
}

/// Returns the mean squared difference of confidence and outcome, 0 (best) to 1, over single forecasts: the outcome of
/// each is 0 or 1. Brier, Monthly Weather Review 78 (1950), in the form for two outcomes. None without forecasts.
pub fn brier_score(forecasts: &[Forecast]) -> Option<f64> {
    mean(forecasts.iter().map(|forecast| {
        let error = forecast.confidence - forecast.outcome;
        error * error
    }))
}

/// Returns the expected calibration error, 0 (best) to 1: the mean over bins, by size, of the distance between mean
/// confidence and share that came true.
///
/// The forecasts are ordered by confidence and cut into `bins` bins whose sizes differ by one at most. Naeini, Cooper and
/// Hauskrecht, AAAI (2015); Guo et al., "On calibration of modern neural networks", ICML (2017). Forecasts of the same
/// confidence that fall on a cut are indistinguishable, so each counts with the mean outcome of all of them: the value
/// does not depend on their order. None without forecasts or bins.
pub fn expected_calibration_error(forecasts: &[Forecast], bins: usize) -> Option<f64> {
    let count = forecasts.len();
    if count == 0 || bins == 0 {
        return None;
    }
    let mut ordered: Vec<(f64, f64)> = forecasts.iter().map(|it| (it.confidence, it.outcome)).collect();
    // Outcomes too, so that the sum of equal confidences has one order.
    ordered.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    for equal in ordered.chunk_by_mut(|a, b| a.0.total_cmp(&b.0).is_eq()) {
        let share = equal.iter().map(|(_, outcome)| outcome).sum::<f64>() / equal.len() as f64;
        equal.iter_mut().for_each(|(_, outcome)| *outcome = share);
    }
    let bins = bins.min(count);
    let (size, larger) = (count / bins, count % bins);
    let (large, small) = ordered.split_at(larger * (size + 1));
    let gap = |bin: &[(f64, f64)]| bin.iter().map(|(confidence, outcome)| confidence - outcome).sum::<f64>();
    let gaps = large.chunks(size + 1).chain(small.chunks(size)).map(|bin| gap(bin).abs());
    Some((gaps.sum::<f64>() / count as f64).min(1.0))
}

/// Returns the arithmetic mean; none without values.
pub fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.into_iter().fold((0.0, 0u64), |(sum, count), value| (sum + value, count + 1));
    if count == 0 { None } else { Some(sum / count as f64) }
}

/// Returns the median: the middle value, or the mean of the two in the middle. None without values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut ordered = values.to_vec();
    ordered.sort_by(f64::total_cmp);
    let middle = ordered.len() / 2;
    let upper = *ordered.get(middle)?;
    if ordered.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = *ordered.get(middle.checked_sub(1)?)?;
    // Halved before they are added: two large values do not overflow.
    Some(lower / 2.0 + upper / 2.0)
}

/// Returns the smallest value that at least `percent` of a hundred values do not exceed (nearest rank, no
/// interpolation): Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996),
/// definition 1. None without values, or if `percent` is above 100.
pub fn percentile(values: &[f64], percent: u8) -> Option<f64> {
    if percent > 100 {
        return None;
    }
    let mut ordered = values.to_vec();
    ordered.sort_by(f64::total_cmp);
    // In whole numbers: 0.95 times a count may be next to the whole number that it means.
    let rank = (ordered.len() as u128 * u128::from(percent)).div_ceil(100).max(1) as usize;
    ordered.get(rank - 1).copied()
}

/// Returns the Shannon entropy of the shares of `counts`, in nats: 0 if all fall on one, `ln n` if `n` are alike.
/// Shannon, "A mathematical theory of communication" (1948), section 6. None if there is nothing to count.
pub fn entropy(counts: &[u64]) -> Option<f64> {
    let total = counts.iter().map(|&count| u128::from(count)).sum::<u128>() as f64;
    if total <= 0.0 {
        return None;
    }
    let terms = counts.iter().filter(|&&count| count > 0).map(|&count| {
        let share = count as f64 / total;
        share * libm::log(share)
    });
    // A single share of 1 gives -0; the entropy of it is 0.
    Some((-terms.sum::<f64>()).max(0.0))
}

/// Returns the standard deviation of what several groups have around their own means: the square root of the pooled
/// variance, `sum of squared deviations / sum (n - 1)`. With one group it is the sample standard deviation. None if no
/// group has two values.
pub fn pooled_deviation<'a>(groups: impl IntoIterator<Item = &'a [f64]>) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0u64);
    for group in groups {
        let Some(centre) = mean(group.iter().copied()) else { continue };
        squares += group.iter().map(|value| (value - centre) * (value - centre)).sum::<f64>();
        freedom += group.len() as u64 - 1;
    }
    if freedom == 0 { None } else { Some((squares / freedom as f64).sqrt()) }
}

/// Returns how well a use stays within its budget, 0 to 1: `clamp(1 - log2(2 r) / 3, 0, 1)` with `r` = used / budget.
/// Half the budget or less gives 1, the budget 2/3, twice the budget 1/3, four times 0. Logarithmic, because what counts is how
/// many times too long something takes, and bounded, so that a tail cannot outweigh the rest. None if `ratio` is not a
/// number or below 0.
pub fn budget_score(ratio: f64) -> Option<f64> {
    if ratio.is_nan() || ratio < 0.0 {
        return None;
    }
    // The ends need no logarithm, which has none of 0 and of infinity.
    let within = ratio.clamp(0.5, 4.0);
    Some((1.0 - libm::log2(2.0 * within) / 3.0).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn thousandths(value: Option<f64>) -> f64 {
        (value.unwrap() * 1000.0).round()
    }

    #[test]
    fn the_documented_bounds() {
        // 30 of 30, 100 of 100, 19 of 20.
        assert_eq!(thousandths(wilson_lower_bound(1.0, 30.0, Z_90)), 948.0);
        assert_eq!(thousandths(wilson_lower_bound(1.0, 100.0, Z_90)), 984.0);
        assert_eq!(thousandths(wilson_lower_bound(0.95, 20.0, Z_90)), 847.0);
        assert_eq!(wilson_lower_bound(0.0, 10.0, Z_90), Some(0.0));
        for (share, count, z) in [
            (1.1, 3.0, 1.0),
            (-0.1, 3.0, 1.0),
            (f64::NAN, 3.0, 1.0),
            (0.5, f64::INFINITY, 1.0),
            (0.5, 1.0, f64::NAN),
        ] {
            assert_eq!(wilson_lower_bound(share, count, z), None);
        }
    }

    #[test]
    fn an_always_half_right_agent_passes_thrice_as_often_as_chance_says() {
        assert_eq!(pass_hat_k(5, 10, 3), Some(5.0 / 10.0 * (4.0 / 9.0) * (3.0 / 8.0)));
        assert_eq!(pass_hat_k(1, 1, 1), Some(1.0));
        assert_eq!(pass_hat_k(2, 1, 1), None);
        assert_eq!(pass_hat_k(2, 3, 0), None);
        // The largest counts take no time: here the most steps before the chance is 0.
        let most = 1 << 32;
        assert_eq!(pass_hat_k(most, most, most), Some(1.0));
        assert!(pass_hat_k(most - 1_700_000, most, 1_700_000).unwrap() > 0.0);
        assert_eq!(pass_hat_k(most / 2, most, most / 4), Some(0.0));
        assert_eq!(pass_hat_k(u64::MAX, u64::MAX, u64::MAX), None);
    }

    #[test]
    fn calibration_of_known_forecasts() {
        let at = |confidence, came_true| Forecast { confidence, outcome: f64::from(u8::from(came_true)) };
        // Ten bins of two: each has confidence 0.75 and half of them true.
        let wrong: Vec<Forecast> = (0..20).map(|n| at(0.75, n % 2 == 0)).collect();
        assert_eq!(expected_calibration_error(&wrong, 10), Some(0.25));
        assert_eq!(brier_score(&wrong), Some((0.0625 + 0.5625) / 2.0));
        let right: Vec<Forecast> = (0..20).map(|n| at(0.75, n % 4 != 0)).collect();
        assert_eq!(
            expected_calibration_error(&right, 10),
            Some(0.0),
            "ties are not told apart by their place"
        );
        // Fewer forecasts than bins: one each.
        assert_eq!(expected_calibration_error(&[at(0.2, false), at(0.6, true)], 10), Some((0.2 + 0.4) / 2.0));
    }

    #[test]
    fn medians_and_percentiles() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
        assert_eq!(percentile(&[], 95), None);
        assert_eq!(percentile(&[1.0], 101), None);
        for count in 1..=200u32 {
            let values: Vec<f64> = (1..=count).map(f64::from).collect();
            let rank = (count * 95).div_ceil(100);
            assert_eq!(percentile(&values, 95), Some(f64::from(rank)), "{count}");
        }
    }

    #[test]
    fn entropies() {
        assert_eq!(entropy(&[4]), Some(0.0));
        assert_eq!(entropy(&[1; 2]), Some(std::f64::consts::LN_2));
        assert_eq!(entropy(&[0, 0]), None);
    }

    #[test]
    fn budgets() {
        for (ratio, score) in [(0.5, 1000.0), (1.0, 667.0), (2.0, 333.0), (4.0, 0.0), (1e300, 0.0)] {
            assert_eq!(thousandths(budget_score(ratio)), score);
        }
        assert_eq!(budget_score(-1.0), None);
        assert_eq!(budget_score(f64::NAN), None);
    }

    #[test]
    fn deviations_are_pooled_around_their_own_means() {
        let [low, high] = [[0.1, 0.2, 0.3], [0.7, 0.8, 0.9]];
        let near = |value: Option<f64>| (value.unwrap() - 0.1).abs() < 1e-15;
        assert!(near(pooled_deviation([&low[..]])));
        assert!(near(pooled_deviation([&low[..], &high[..]])));
        assert_eq!(pooled_deviation([&[0.5][..], &[][..]]), None);
    }

    #[test]
    fn effective_counts() {
        assert_eq!(effective_count(&[2.0; 10]), Some(10.0));
        assert_eq!(effective_count(&[1.0, 0.0]), Some(1.0));
        assert_eq!(effective_count(&[1e300; 4]), Some(4.0));
        assert_eq!(effective_count(&[5e-324; 4]), Some(4.0));
        assert_eq!(effective_count(&[0.0]), None);
        for wrong in [f64::NAN, f64::INFINITY, -1.0] {
            assert_eq!(effective_count(&[2.0, wrong]), None);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_bound_lies_below_the_share_and_rises_with_the_count(share in 0.0..=1.0f64, count in 0.1..1e6f64) {
            let bound = wilson_lower_bound(share, count, Z_90).unwrap();
            prop_assert!((0.0..=share).contains(&bound));
            prop_assert!(wilson_lower_bound(share, count * 2.0, Z_90).unwrap() >= bound - 1e-12);
        }

        #[test]
        fn pass_hat_k_is_the_ratio_of_binomials(trials in 1u64..30, passed in 0u64..30, k in 1u64..6) {
            let binomial = |n: u64| (0..k).map(|i| n as f64 - i as f64).product::<f64>();
            let expected = (passed <= trials && k <= trials)
                .then(|| if passed < k { 0.0 } else { binomial(passed) / binomial(trials) });
            match (pass_hat_k(passed, trials, k), expected) {
                (Some(found), Some(expected)) => prop_assert!((found - expected).abs() < 1e-12),
                (found, expected) => prop_assert_eq!(found, expected),
            }
        }

        #[test]
        fn calibration_does_not_depend_on_order(
            forecasts in prop::collection::vec((0u8..=10, any::<bool>()), 1..60), bins in 1usize..15,
        ) {
            let forecast = |&(tenths, came_true): &(u8, bool)| {
                Forecast { confidence: f64::from(tenths) / 10.0, outcome: f64::from(u8::from(came_true)) }
            };
            let forward: Vec<Forecast> = forecasts.iter().map(forecast).collect();
            let backward: Vec<Forecast> = forecasts.iter().rev().map(forecast).collect();
            let error = expected_calibration_error(&forward, bins).unwrap();
            prop_assert!((0.0..=1.0).contains(&error));
            prop_assert_eq!(Some(error), expected_calibration_error(&backward, bins));
        }

        #[test]
        fn entropy_is_highest_where_all_are_alike(counts in prop::collection::vec(0u64..1000, 1..12)) {
            if let Some(found) = entropy(&counts) {
                let kinds = counts.iter().filter(|&&count| count > 0).count();
                prop_assert!(found >= 0.0 && found <= libm::log(kinds as f64) + 1e-12);
            }
        }
    }
}
