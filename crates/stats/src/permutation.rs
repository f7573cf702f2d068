//! Two groups of attempts at one task: whether they differ by more than chance, and that for many tasks at once.

use alloc::vec::Vec;
use core::num::NonZeroU64;

use super::random::Random;

/// Most splits of the attempts that are all looked at; of more a sample is drawn.
const MOST_SPLITS: f64 = 13_000.0;
/// Splits in a sample.
const SAMPLED: u32 = 9_999;

/// The result of a permutation test of the difference of two means.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Permutation {
    /// The share of the splits of all attempts into groups of these sizes whose means lie at least as far apart, on either
    /// side: the chance of such a difference if attempts of both groups are alike.
    pub p: f64,
    /// The lowest share that any split has. Where it is high, no attempts that gave these values could show a difference.
    pub lowest: f64,
}

impl Permutation {
    /// Compares two groups of values, in billionths. All splits are looked at; of more than 13,000 of more than two different
    /// values 9,999 are drawn with `seed`, and the split that was observed is counted to them (Phipson and Smyth,
    /// "Permutation p-values should never be zero", Statistical Applications in Genetics and Molecular Biology 9, 2010). For
    /// two different values this is Fisher's exact test. None if a group is empty, or neither has two values.
    pub fn of(first: &[i64], second: &[i64], seed: u64) -> Option<Self> {
        if first.is_empty() || second.is_empty() || first.len() + second.len() < 3 {
            return None;
        }
        let mut all: Vec<i64> = first.iter().chain(second).copied().collect();
        let total: i128 = all.iter().map(|&value| i128::from(value)).sum();
        let (own, count) = (first.len() as i128, all.len() as i128);
        // Both means times the numbers of values, apart: whole numbers, so that equal distances are equal.
        let apart = |sum: i128| (sum * count - total * own).unsigned_abs();
        let observed = apart(first.iter().map(|&value| i128::from(value)).sum());
        all.sort_unstable();
        let lowest = all.first().copied()?;
        let high = all.iter().copied().find(|&value| value != lowest);
        let Some(high) = high else { return Some(Self { p: 1.0, lowest: 1.0 }) };
        let splits = libm::exp(log_choose(all.len(), first.len()));
        if all.iter().all(|&value| value == lowest || value == high) {
            let highs = all.iter().filter(|&&value| value == high).count();
            let (low, step) = (i128::from(lowest), i128::from(high) - i128::from(lowest));
            let least = highs.saturating_sub(second.len());
            let mass = |wins: usize| {
                let ways =
                    log_choose(highs, wins) + log_choose(all.len() - highs, first.len().saturating_sub(wins));
                libm::exp(ways - log_choose(all.len(), first.len()))
            };
            let each = (least..=highs.min(first.len()))
                .map(|wins| (apart(low * own + step * wins as i128), mass(wins)));
            return Some(Self::of_splits(each, observed));
        }
        if splits <= MOST_SPLITS {
            return Some(Self::of_splits(
                Splits::new(&all, first.len()).map(|sum| (apart(sum), 1.0)),
                observed,
            ));
        }
        Some(Self { p: sampled(&mut all, first.len(), |sum| apart(sum) >= observed, seed), lowest: 0.0 })
    }

    /// Sums up splits, each with its distance and its weight.
    fn of_splits(splits: impl Iterator<Item = (u128, f64)>, observed: u128) -> Self {
        let (mut all, mut as_far, mut farthest, mut of_farthest) = (0.0, 0.0, 0, 0.0);
        for (apart, weight) in splits {
            all += weight;
            if apart >= observed {
                as_far += weight;
            }
            match apart.cmp(&farthest) {
                core::cmp::Ordering::Greater => (farthest, of_farthest) = (apart, weight),
                core::cmp::Ordering::Equal => of_farthest += weight,
                core::cmp::Ordering::Less => {}
            }
        }
        Self { p: f64::min(as_far / all, 1.0), lowest: f64::min(of_farthest / all, 1.0) }
    }
}

/// Returns the share of [`SAMPLED`] splits and of the observed one whose sum is as far.
fn sampled(values: &mut [i64], taken: usize, is_as_far: impl Fn(i128) -> bool, seed: u64) -> f64 {
    let mut random = Random::new(seed);
    let mut as_far = 1u32;
    for _ in 0..SAMPLED {
        let mut sum = 0;
        for at in 0..taken {
            let left = NonZeroU64::new(values.len().saturating_sub(at) as u64).unwrap_or(NonZeroU64::MIN);
            values.swap(at, at + random.below(left) as usize);
            sum += i128::from(values.get(at).copied().unwrap_or_default());
        }
        as_far += u32::from(is_as_far(sum));
    }
    f64::from(as_far) / f64::from(SAMPLED + 1)
}

/// Returns the logarithm of the number of ways to choose `taken` of `count`.
fn log_choose(count: usize, taken: usize) -> f64 {
    let log_factorial = |number: usize| libm::lgamma(number as f64 + 1.0);
    log_factorial(count) - log_factorial(taken) - log_factorial(count.saturating_sub(taken))
}

/// The sums of all choices of a number of values.
struct Splits<'a> {
    values: &'a [i64],
    /// The places of the next choice, rising; empty at the end.
    next: Vec<usize>,
}

impl<'a> Splits<'a> {
    fn new(values: &'a [i64], taken: usize) -> Self {
        Self { values, next: (0..taken).collect() }
    }
}

impl Iterator for Splits<'_> {
    type Item = i128;

    fn next(&mut self) -> Option<i128> {
        if self.next.is_empty() {
            return None;
        }
        let value = |&at: &usize| self.values.get(at).copied().map_or(0, i128::from);
        let sum = self.next.iter().map(value).sum();
        let (count, taken) = (self.values.len(), self.next.len());
        // The last place that can move does, and those after it follow.
        let movable = self.next.iter().enumerate().rev().find(|&(nth, &at)| at + (taken - nth) < count);
        match movable.map(|(nth, &at)| (nth, at)) {
            Some((nth, at)) => {
                self.next.iter_mut().skip(nth).zip(at + 1..).for_each(|(place, moved)| *place = moved)
            }
            None => self.next.clear(),
        }
        Some(sum)
    }
}

/// Returns which of many tests show something, so that of those at most the share `rate` is expected to be chance: Benjamini
/// and Hochberg, "Controlling the false discovery rate", Journal of the Royal Statistical Society B 57 (1995). Tests that
/// could not show anything at `rate`, whatever split was observed, are not counted (Tarone, Biometrics 46, 1990).
pub fn discoveries(tests: &[Option<Permutation>], rate: f64) -> Vec<bool> {
    let mut found: Vec<f64> =
        tests.iter().flatten().filter(|test| test.lowest <= rate).map(|test| test.p).collect();
    found.sort_unstable_by(f64::total_cmp);
    let count = found.len() as f64;
    let is_low = |(at, p): &(usize, f64)| *p <= rate * (*at as f64 + 1.0) / count;
    let most = found.iter().copied().enumerate().filter(is_low).map(|(_, p)| p).next_back();
    let shows = |test: &Option<Permutation>| {
        test.zip(most).is_some_and(|(test, most)| test.lowest <= rate && test.p <= most)
    };
    tests.iter().map(shows).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn p(first: &[i64], second: &[i64]) -> f64 {
        Permutation::of(first, second, 1).unwrap().p
    }

    #[test]
    fn the_tests_of_the_books() {
        // Fisher's lady tasting tea, both sides: 3 of 4 right, 34 of 70.
        assert!((p(&[1, 1, 1, 0], &[1, 0, 0, 0]) - 34.0 / 70.0).abs() < 1e-12);
        assert!((p(&[1, 1, 1, 1], &[0, 0, 0, 0]) - 2.0 / 70.0).abs() < 1e-12);
        // By hand: {9, 7} is the farthest of the six splits of 1, 3, 7, 9, and so is its mirror image.
        assert!((p(&[9, 7], &[1, 3]) - 2.0 / 6.0).abs() < 1e-12);
        assert!((p(&[9, 3], &[1, 7]) - 4.0 / 6.0).abs() < 1e-12, "12 and 8 lie 4 apart, 10 and 10 do not");
        assert_eq!((p(&[5, 5], &[5]), Permutation::of(&[1], &[0], 1)), (1.0, None));
        assert_eq!(Permutation::of(&[], &[0, 1, 2], 1), None);
    }

    #[test]
    fn a_sample_of_splits_is_close_to_all_of_them() {
        let (first, second) = (([1; 20], [0; 20]), ([1; 12], [0; 28]));
        let join = |(wins, losses): (&[i64], &[i64])| [wins, losses].concat();
        let (first, second) = (join((&first.0, &first.1)), join((&second.0, &second.1)));
        let mut all = [first.as_slice(), &second].concat();
        // 32 of 80: both sums lie as far from 16 as 20 does.
        let found = sampled(&mut all, 40, |sum| (sum - 16).abs() >= 4, 1);
        assert!((found - p(&first, &second)).abs() < 0.01, "{found} {}", p(&first, &second));
        let many: Vec<i64> = (0..200).collect();
        let more: Vec<i64> = (100..300).collect();
        assert!(p(&many, &more) <= 1e-3);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn sides_and_order_do_not_matter(
            first in prop::collection::vec(0i64..4, 1..7),
            second in prop::collection::vec(0i64..4, 2..7),
        ) {
            let found = Permutation::of(&first, &second, 1).unwrap();
            let mut turned = first.clone();
            turned.reverse();
            let mirrored = Permutation::of(&second, &turned, 1).unwrap();
            prop_assert!((found.p - mirrored.p).abs() < 1e-12);
            prop_assert!(found.lowest > 0.0 && found.lowest <= found.p + 1e-12 && found.p <= 1.0);
        }

        #[test]
        fn two_values_are_counted_as_if_all_splits_were_looked_at(
            first in prop::collection::vec(0i64..2, 1..7),
            second in prop::collection::vec(0i64..2, 2..7),
        ) {
            let all: Vec<i64> = first.iter().chain(&second).copied().collect();
            let (own, count) = (first.len() as i128, all.len() as i128);
            let total: i128 = all.iter().map(|&it| i128::from(it)).sum();
            let apart = |sum: i128| (sum * count - total * own).unsigned_abs();
            let observed = apart(first.iter().map(|&it| i128::from(it)).sum());
            let each: Vec<u128> = Splits::new(&all, first.len()).map(apart).collect();
            let far = each.iter().filter(|&&it| it >= observed).count() as f64 / each.len() as f64;
            prop_assert!((p(&first, &second) - far).abs() < 1e-9);
        }

        #[test]
        fn no_more_is_discovered_than_without_other_tests(
            ps in prop::collection::vec(0.0f64..1.0, 0..30), rate in 0.01f64..0.3,
        ) {
            let tests: Vec<_> = ps.iter().map(|&p| Some(Permutation { p, lowest: 0.0 })).collect();
            let found = discoveries(&tests, rate);
            prop_assert!(found.iter().zip(&ps).all(|(found, p)| !found || *p <= rate));
            let lowest = ps.iter().copied().fold(1.0, f64::min);
            prop_assert!(lowest * ps.len() as f64 > rate || ps.is_empty() || found.contains(&true));
        }
    }
}
