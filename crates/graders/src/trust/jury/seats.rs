//! The numbers of one panel from the points of its seats: trimmed, median, dispersion, agreement.
//!
//! Everything is whole numbers of 1e-9 points until the result, so the order of the seats changes no bit.

/// Points per scale: judges give 0 to 100 (trust document, section 3).
pub(crate) const SCALE_POINTS: f64 = 100.0;

pub(super) const UNITS_PER_POINT: f64 = 1e9;

/// Summary of a panel. Points are 0 to 100 on a grid of 1e-9.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Median of the kept seats, which is also the median of all: symmetric trimming does not move it.
    pub median: f64,
    /// Mean of the kept seats.
    pub trimmed_mean: f64,
    /// Median distance of the kept seats from the median.
    pub median_absolute_deviation: f64,
    /// Highest less lowest of the kept seats.
    pub range: f64,
    /// Share of the kept seats whose distance from the median is at most the allowed one.
    pub agreement: f64,
}

/// Returns how many of `seats` are trimmed on each side: a fifth, rounded down, so that never more than the promised 20 %
/// goes and one seat always stays.
pub(super) fn trim_each_side(seats: usize) -> usize {
    seats / 5
}

/// Sums up a panel by the units of its seats, which are sorted. `agreement_points` is how far from the median a seat may
/// lie and still agree (inclusive). None without a seat.
pub(super) fn describe(sorted: &[u64], agreement_points: f64) -> Option<Summary> {
    let trim = trim_each_side(sorted.len());
    let kept = sorted.get(trim..sorted.len() - trim)?;
    let count = kept.len();
    let doubled_median = doubled_middle(kept)?;
    let sum: u128 = kept.iter().map(|&units| u128::from(units)).sum();
    // In half units, so that the median of an even number is a whole number.
    let mut distances: Vec<u64> = kept.iter().map(|&units| (2 * units).abs_diff(doubled_median)).collect();
    distances.sort_unstable();
    let allowed = 2.0 * agreement_points * UNITS_PER_POINT;
    let agreeing = distances.iter().filter(|&&distance| distance as f64 <= allowed).count();
    Some(Summary {
        median: doubled_median as f64 / (2.0 * UNITS_PER_POINT),
        trimmed_mean: sum as f64 / (count as f64 * UNITS_PER_POINT),
        median_absolute_deviation: doubled_middle(&distances)? as f64 / (4.0 * UNITS_PER_POINT),
        range: (kept.last()? - kept.first()?) as f64 / UNITS_PER_POINT,
        agreement: agreeing as f64 / count as f64,
    })
}

fn doubled_middle(sorted: &[u64]) -> Option<u64> {
    let count = sorted.len();
    Some(sorted.get(count.checked_sub(1)? / 2)? + sorted.get(count / 2)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn panel(points: &[f64]) -> Option<Summary> {
        let mut units: Vec<u64> =
            points.iter().map(|points| (points * UNITS_PER_POINT).round() as u64).collect();
        units.sort_unstable();
        describe(&units, 10.0)
    }

    #[test]
    fn one_adversary_cannot_move_the_panel() {
        let fair = panel(&[78.0, 80.0, 82.0, 85.0, 90.0]).unwrap();
        let attacked = panel(&[0.0, 80.0, 82.0, 85.0, 90.0]).unwrap();
        assert_eq!(attacked, fair, "neither median nor mean nor dispersion see what is trimmed");
    }

    #[test]
    fn small_panels() {
        assert_eq!(panel(&[]), None);
        let one = panel(&[70.0]).unwrap();
        assert_eq!((trim_each_side(1), one.median, one.trimmed_mean, one.range), (0, 70.0, 70.0, 0.0));
        let split = panel(&[0.0, 0.0, 88.0, 90.0]).unwrap();
        assert_eq!((split.median, split.agreement, split.median_absolute_deviation), (44.0, 0.0, 44.0));
    }

    #[test]
    fn agreement_is_inclusive_in_decimals() {
        // As doubles 16.1 - 6.1 is above 10.
        assert_eq!(panel(&[6.1, 16.1, 16.1]).unwrap().agreement, 1.0);
        assert_eq!(panel(&[6.0999, 16.1, 16.1]).unwrap().agreement, 2.0 / 3.0);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_is_the_textbook(tenths in prop::collection::vec(0u32..=1000, 1..40)) {
            let points: Vec<f64> = tenths.iter().map(|&tenth| f64::from(tenth) / 10.0).collect();
            let found = panel(&points).unwrap();
            let mut sorted = tenths.clone();
            sorted.sort_unstable();
            let kept = &sorted[sorted.len() / 5..sorted.len() - sorted.len() / 5];
            let middle = |sorted: &[u32]| f64::from(sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0;
            let median = middle(&sorted);
            prop_assert_eq!(found.median, median / 10.0);
            prop_assert_eq!(middle(kept), median, "symmetric trimming moves no median");
            let mut distances: Vec<u32> =
                kept.iter().map(|&tenth| (2.0 * (f64::from(tenth) - median)).abs() as u32).collect();
            distances.sort_unstable();
            prop_assert_eq!(found.median_absolute_deviation, middle(&distances) / 20.0);
            let agreeing = distances.iter().filter(|&&doubled| doubled <= 200).count();
            prop_assert_eq!(found.agreement, agreeing as f64 / kept.len() as f64);
            let mean = f64::from(kept.iter().sum::<u32>()) / kept.len() as f64 / 10.0;
            prop_assert!((found.trimmed_mean - mean).abs() < 1e-12);
        }
    }
}
