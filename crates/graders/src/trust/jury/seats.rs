//! The numbers of one panel from the points of its seats: trimmed, median, dispersion, agreement.
//!
//! Everything is whole numbers of 1e-9 points until the result, so the order of the seats changes no bit. Panels of up to
//! 16 seats are sorted by a network in registers and need no allocation.

use super::network::{sort_8, sort_16};

/// Points per scale: judges give 0 to 100 (trust document, section 3).
pub(crate) const SCALE_POINTS: f64 = 100.0;

/// Seats may not have a higher number than this (2^27 - 1).
pub const LAST_JUDGE: u32 = (1 << JUDGE_BITS) - 1;

/// The grid of points.
const UNITS_PER_POINT: f64 = 1e9;
/// 100 points are below 2^37 units; what is left of 64 bits is for the judge.
const JUDGE_BITS: u32 = 27;

/// Contribution of one judge.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seat {
    /// Number of the judge, at most [`LAST_JUDGE`]; where points are equal, the lower one comes first.
    pub judge: u32,
    /// Points, 0 to 100.
    pub points: f64,
}

impl Seat {
    /// Points, then judge, as one number. None if one of both is out of its range.
    #[inline]
    pub(super) fn key(self) -> Option<u64> {
        if self.judge > LAST_JUDGE || !(0.0..=SCALE_POINTS).contains(&self.points) {
            return None;
        }
        // Adding 2^52 rounds to a whole number, ties to even, and leaves it in the lower bits.
        const ROUND: f64 = 4_503_599_627_370_496.0;
        let units = (self.points * UNITS_PER_POINT + ROUND).to_bits() & ((1 << 52) - 1);
        Some(units << JUDGE_BITS | u64::from(self.judge))
    }
}

/// Returns the units of a key.
fn units(key: u64) -> u64 {
    key >> JUDGE_BITS
}

/// Returns the judge of a key.
pub(super) fn judge(key: u64) -> u32 {
    (key & u64::from(LAST_JUDGE)) as u32
}

/// Returns the points of a key.
pub(super) fn points(key: u64) -> f64 {
    units(key) as f64 / UNITS_PER_POINT
}

/// Summary of a panel. Points are 0 to 100 on a grid of 1e-9.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// Seats that gave points.
    pub seats: usize,
    /// Number of seats trimmed on each side: a fifth, rounded down, so that never more than the promised 20 % goes and
    /// one seat always stays.
    pub trim_each_side: usize,
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

/// Sums up a panel, in the order that points and then judges give.
///
/// `agreement_points` is how far from the median a seat may lie and still agree (inclusive). None if there is no seat, a
/// judge has a number above [`LAST_JUDGE`] or points are not between 0 and 100.
///
/// ```
/// use karat_graders::trust::jury::{Seat, summarize};
/// let seats = [0.0, 80.0, 82.0, 85.0, 90.0].map(|points| Seat { judge: 0, points });
/// let panel = summarize(&seats, 10.0).unwrap();
/// assert_eq!((panel.trim_each_side, panel.median, panel.agreement), (1, 82.0, 1.0));
/// ```
#[inline]
pub fn summarize(seats: &[Seat], agreement_points: f64) -> Option<Summary> {
    if seats.len() <= 16 {
        // The rest of the array sorts behind every seat: no key is that high.
        let mut keys = [u64::MAX; 16];
        for (key, seat) in keys.iter_mut().zip(seats) {
            *key = seat.key()?;
        }
        sort_16(&mut keys);
        return describe(keys.get(..seats.len())?, agreement_points);
    }
    let mut keys = seats.iter().map(|seat| seat.key()).collect::<Option<Vec<u64>>>()?;
    keys.sort_unstable();
    describe(&keys, agreement_points)
}

/// Returns how many of `seats` are trimmed on each side.
pub(super) fn trim_each_side(seats: usize) -> usize {
    seats / 5
}

/// Sums up sorted keys.
#[inline]
pub(super) fn describe(sorted: &[u64], agreement_points: f64) -> Option<Summary> {
    let seats = sorted.len();
    let trim = trim_each_side(seats);
    let kept = sorted.get(trim..seats - trim)?;
    let count = kept.len();
    let (lowest, highest) = (units(*kept.first()?), units(*kept.last()?));
    let doubled_median = units(*kept.get((count - 1) / 2)?) + units(*kept.get(count / 2)?);
    let sum: u128 = kept.iter().map(|&key| u128::from(units(key))).sum();
    // In half units, so that the median of an even number is a whole number.
    let distance = |key: u64| (2 * units(key)).abs_diff(doubled_median);
    let allowed = 2.0 * agreement_points * UNITS_PER_POINT;
    let agreeing = kept.iter().filter(|&&key| distance(key) as f64 <= allowed).count();
    let doubled_deviation = doubled_middle(kept, distance)?;
    Some(Summary {
        seats,
        trim_each_side: trim,
        median: doubled_median as f64 / (2.0 * UNITS_PER_POINT),
        trimmed_mean: sum as f64 / (count as f64 * UNITS_PER_POINT),
        median_absolute_deviation: doubled_deviation as f64 / (4.0 * UNITS_PER_POINT),
        range: (highest - lowest) as f64 / UNITS_PER_POINT,
        agreement: agreeing as f64 / count as f64,
    })
}

/// Returns twice the median of the results of `distance` for the keys.
#[inline]
fn doubled_middle(kept: &[u64], distance: impl Fn(u64) -> u64) -> Option<u64> {
    let count = kept.len();
    let middle = |sorted: &[u64]| Some(sorted.get((count - 1) / 2)? + sorted.get(count / 2)?);
    if count <= 8 {
        let mut distances = [u64::MAX; 8];
        distances.iter_mut().zip(kept).for_each(|(into, &key)| *into = distance(key));
        sort_8(&mut distances);
        middle(&distances)
    } else {
        let mut distances: Vec<u64> = kept.iter().map(|&key| distance(key)).collect();
        distances.sort_unstable();
        middle(&distances)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn panel(points: &[f64]) -> Option<Summary> {
        let seats: Vec<Seat> = (0..).zip(points).map(|(judge, &points)| Seat { judge, points }).collect();
        summarize(&seats, 10.0)
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
        assert_eq!((one.trim_each_side, one.median, one.trimmed_mean, one.range), (0, 70.0, 70.0, 0.0));
        let split = panel(&[0.0, 0.0, 88.0, 90.0]).unwrap();
        assert_eq!((split.median, split.agreement, split.median_absolute_deviation), (44.0, 0.0, 44.0));
    }

    #[test]
    fn agreement_is_inclusive_in_decimals() {
        // As doubles 16.1 - 6.1 is above 10.
        assert_eq!(panel(&[6.1, 16.1, 16.1]).unwrap().agreement, 1.0);
        assert_eq!(panel(&[6.0999, 16.1, 16.1]).unwrap().agreement, 2.0 / 3.0);
    }

    #[test]
    fn what_is_no_seat_is_refused() {
        for points in [-0.1, 100.1, f64::NAN, f64::INFINITY] {
            assert_eq!(panel(&[50.0, points]), None);
        }
        assert_eq!(summarize(&[Seat { judge: LAST_JUDGE + 1, points: 1.0 }], 10.0), None);
        assert!(summarize(&[Seat { judge: LAST_JUDGE, points: 100.0 }], 10.0).is_some());
        assert_eq!(panel(&[-0.0]).unwrap().median, 0.0);
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

        #[test]
        fn the_order_of_the_seats_changes_no_bit(
            (seats, shuffled) in prop::collection::vec((0u32..50, 0.0..=100.0f64), 1..30).prop_flat_map(|seats| {
                (Just(seats.clone()), Just(seats).prop_shuffle())
            }),
        ) {
            let seat = |&(judge, points): &(u32, f64)| Seat { judge, points };
            let one: Vec<Seat> = seats.iter().map(seat).collect();
            let other: Vec<Seat> = shuffled.iter().map(seat).collect();
            prop_assert_eq!(summarize(&one, 10.0), summarize(&other, 10.0));
        }
    }
}
