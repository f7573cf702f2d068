//! Correlation of two lists of numbers: linear, by ranks, by pairs.

use alloc::vec::Vec;

use super::composite::Readings;

/// Three measures of how two lists move together, each from -1 (opposed) to 1 (together).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Correlation {
    /// Number of pairs.
    pub pairs: usize,
    /// Linear: Pearson, Proceedings of the Royal Society 58 (1895).
    pub pearson: Option<f64>,
    /// By ranks: Spearman, American Journal of Psychology 15 (1904); equal values have the mean of their ranks.
    pub spearman: Option<f64>,
    /// By pairs in the same and in opposite order: Kendall's tau-b, Biometrika 33 (1945), which allows for equal values.
    pub kendall: Option<f64>,
}

impl Correlation {
    /// Measures pairs of finite numbers; those that are not are left out. A measure is `None` if all numbers of a list
    /// are equal, or there are fewer than two pairs.
    pub fn of(pairs: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let finite = |pair: &(f64, f64)| pair.0.is_finite() && pair.1.is_finite();
        let pairs: Vec<(f64, f64)> = pairs.into_iter().filter(finite).collect();
        let (first, second): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let ranks = middle_ranks(&first).into_iter().zip(middle_ranks(&second));
        Self {
            pairs: pairs.len(),
            pearson: pearson(&pairs),
            spearman: pearson(&ranks.collect::<Vec<_>>()),
            kendall: kendall(pairs),
        }
    }
}

/// Returns the correlation of every pair of dimensions, over the subjects that have both: `(first, second, correlation)` with
/// `first` below `second`.
pub fn between_dimensions(readings: &Readings) -> Vec<(usize, usize, Correlation)> {
    let dimensions = readings.dimensions();
    let pairs = (0..dimensions).flat_map(|first| (first + 1..dimensions).map(move |second| (first, second)));
    pairs
        .map(|(first, second)| {
            let both = readings.dimension(first).zip(readings.dimension(second));
            (first, second, Correlation::of(both.filter_map(|(a, b)| a.zip(b))))
        })
        .collect()
}

/// Returns the linear correlation; none where [`Correlation`] has none.
pub(super) fn pearson(pairs: &[(f64, f64)]) -> Option<f64> {
    let count = pairs.len() as f64;
    let largest =
        pairs.iter().fold((0.0f64, 0.0f64), |it, pair| (it.0.max(pair.0.abs()), it.1.max(pair.1.abs())));
    if pairs.len() < 2 || largest.0 <= 0.0 || largest.1 <= 0.0 {
        return None;
    }
    // Relative to the largest, so that no square overflows or vanishes.
    let scaled = || pairs.iter().map(|pair| (pair.0 / largest.0, pair.1 / largest.1));
    let sums = scaled().fold((0.0, 0.0), |sums, pair| (sums.0 + pair.0, sums.1 + pair.1));
    let (mean_x, mean_y) = (sums.0 / count, sums.1 / count);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for (x, y) in scaled() {
        let (x, y) = (x - mean_x, y - mean_y);
        xx += x * x;
        yy += y * y;
        xy += x * y;
    }
    // All alike, up to the rounding of the mean.
    let is_spread = |squares: f64| squares > count * f64::EPSILON * f64::EPSILON;
    (is_spread(xx) && is_spread(yy)).then(|| (xy / libm::sqrt(xx * yy)).clamp(-1.0, 1.0))
}

/// Ranks from 1, equal values with the mean of theirs.
fn middle_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<(f64, usize)> = values.iter().enumerate().map(|(at, &value)| (value, at)).collect();
    order.sort_by(|a, b| ascending(a.0, b.0));
    let mut ranks = alloc::vec![0.0; values.len()];
    let mut below = 0;
    for equal in order.chunk_by(|a, b| ascending(a.0, b.0).is_eq()) {
        for &(_, at) in equal {
            if let Some(rank) = ranks.get_mut(at) {
                *rank = below as f64 + (equal.len() + 1) as f64 / 2.0;
            }
        }
        below += equal.len();
    }
    ranks
}

/// Returns the order of finite numbers, in which the two zeros are equal.
fn ascending(a: f64, b: f64) -> core::cmp::Ordering {
    (a + 0.0).total_cmp(&(b + 0.0))
}

/// Computes tau-b in n log n steps: Knight, "A computer method for calculating Kendall's tau with ungrouped data", JASA
/// 61 (1966). All counts are whole numbers.
pub(super) fn kendall(mut pairs: Vec<(f64, f64)>) -> Option<f64> {
    let of_two = |count: usize| (count as u128) * (count as u128).saturating_sub(1) / 2;
    pairs.sort_by(|a, b| ascending(a.0, b.0).then(ascending(a.1, b.1)));
    let tied = |same: fn(&(f64, f64), &(f64, f64)) -> bool, pairs: &[(f64, f64)]| {
        pairs.chunk_by(same).map(|equal| of_two(equal.len())).sum::<u128>()
    };
    let all = of_two(pairs.len());
    let tied_first = tied(|a, b| ascending(a.0, b.0).is_eq(), &pairs);
    let tied_both = tied(|a, b| ascending(a.0, b.0).is_eq() && ascending(a.1, b.1).is_eq(), &pairs);
    let mut second: Vec<f64> = pairs.iter().map(|pair| pair.1).collect();
    let swaps = sort_counting(&mut second);
    let tied_second: u128 =
        second.chunk_by(|a, b| ascending(*a, *b).is_eq()).map(|equal| of_two(equal.len())).sum();
    let (spread_first, spread_second) = (all - tied_first, all - tied_second);
    if spread_first == 0 || spread_second == 0 {
        return None;
    }
    let concordant_less_discordant =
        all as i128 - tied_first as i128 - tied_second as i128 + tied_both as i128 - 2 * swaps as i128;
    if spread_first == spread_second {
        return Some(concordant_less_discordant as f64 / spread_first as f64);
    }
    let scale = libm::sqrt(spread_first as f64) * libm::sqrt(spread_second as f64);
    Some((concordant_less_discordant as f64 / scale).clamp(-1.0, 1.0))
}

/// Sorts by merging runs of doubling length, and returns how many neighbours were swapped.
fn sort_counting(values: &mut Vec<f64>) -> u128 {
    let mut swaps = 0;
    let mut merged = Vec::with_capacity(values.len());
    let mut run = 1;
    while run < values.len() {
        merged.clear();
        for both in values.chunks(2 * run) {
            let (left, right) = both.split_at(run.min(both.len()));
            let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
            loop {
                match (left.peek(), right.peek()) {
                    (Some(&a), Some(&b)) if ascending(*b, *a).is_lt() => {
                        swaps += left.len() as u128;
                        merged.push(*b);
                        right.next();
                    }
                    (Some(&a), _) => {
                        merged.push(*a);
                        left.next();
                    }
                    (None, Some(&b)) => {
                        merged.push(*b);
                        right.next();
                    }
                    (None, None) => break,
                }
            }
        }
        core::mem::swap(values, &mut merged);
        run *= 2;
    }
    swaps
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn worked_by_hand() {
        // Ranks of x: 1, 2.5, 2.5, 4; of y: 3, 1, 4, 2. Pairs: 2 in order, 3 opposed, 1 tied in x.
        let found = Correlation::of([(1.0, 30.0), (2.0, 10.0), (2.0, 40.0), (4.0, 20.0)]);
        let near = |found: Option<f64>, expected: f64| {
            assert!((found.unwrap() - expected).abs() < 1e-12, "{found:?}")
        };
        near(found.kendall, -1.0 / libm::sqrt(30.0));
        // Sums of products of ranks less means: -1.5*0.5 + 0 + 0 + 1.5*-0.5 = -1.5; of squares 4.5 and 5.
        near(found.spearman, -1.5 / libm::sqrt(22.5));
        // x less 2.25: -1.25, -.25, -.25, 1.75; y less 25: 5, -15, 15, -5.
        near(found.pearson, -15.0 / libm::sqrt(4.75 * 500.0));
        assert_eq!(found.pairs, 4);
    }

    #[test]
    fn without_spread_there_is_no_correlation() {
        let none = |pairs: &[(f64, f64)]| {
            let found = Correlation::of(pairs.iter().copied());
            assert_eq!((found.pearson, found.spearman, found.kendall), (None, None, None), "{pairs:?}");
        };
        none(&[]);
        none(&[(1.0, 2.0)]);
        none(&[(0.1, 1.0), (0.1, 2.0), (0.1, 5.0)]);
        none(&[(0.0, 1.0), (-0.0, 2.0)]);
        none(&[(1.0, f64::NAN), (f64::INFINITY, 2.0), (1.0, 1.0)]);
        let huge = Correlation::of([(1e300, -1e-300), (-1e300, 1e-300), (0.0, 0.0)]);
        assert_eq!((huge.spearman, huge.kendall), (Some(-1.0), Some(-1.0)));
        assert!((huge.pearson.unwrap() + 1.0).abs() < 1e-12);
    }

    #[test]
    fn dimensions_are_compared_where_both_are_measured() {
        let readings =
            Readings::new(&[[Some(1), Some(9), None], [Some(2), Some(5), Some(1)], [Some(3), Some(1), None]])
                .unwrap();
        let found = between_dimensions(&readings);
        assert_eq!(
            found.iter().map(|it| (it.0, it.1, it.2.pairs)).collect::<Vec<_>>(),
            [(0, 1, 3), (0, 2, 1), (1, 2, 1)]
        );
        assert_eq!((found[0].2.kendall, found[1].2.kendall), (Some(-1.0), None));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn kendall_counts_pairs(pairs in prop::collection::vec((0i8..5, 0i8..5), 0..25)) {
            let pairs: Vec<(f64, f64)> = pairs.iter().map(|&(x, y)| (f64::from(x), f64::from(y))).collect();
            let (mut score, mut first, mut second) = (0.0, 0.0, 0.0);
            for (at, a) in pairs.iter().enumerate() {
                for b in &pairs[..at] {
                    let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
                    let (x, y) = (sign(a.0 - b.0), sign(a.1 - b.1));
                    score += x * y;
                    first += x * x;
                    second += y * y;
                }
            }
            let found = Correlation::of(pairs.iter().copied());
            if first > 0.0 && second > 0.0 {
                prop_assert!((found.kendall.unwrap() - score / libm::sqrt(first * second)).abs() < 1e-12);
                prop_assert!(found.pearson.unwrap().abs() <= 1.0);
            } else {
                prop_assert_eq!(found.kendall, None);
            }
            // Turned round, all three change their sign.
            let turned = Correlation::of(pairs.iter().map(|pair| (pair.0, -pair.1)));
            for (a, b) in [(found.kendall, turned.kendall), (found.spearman, turned.spearman), (found.pearson, turned.pearson)] {
                prop_assert!((a.unwrap_or(0.0) + b.unwrap_or(0.0)).abs() < 1e-9);
            }
        }
    }
}
