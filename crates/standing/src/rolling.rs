//! The mean of the last N scores at every row of a column, exact and fast.

use alloc::vec::Vec;
use core::error::Error;
use core::fmt;
use core::num::NonZeroU32;
use core::ops::Range;

use karat_core::number::{Score, UNITS_PER_ONE, round_ratio};

/// The largest window whose sum of scores from 0 to 1 fits 63 bits.
const MOST_TASKS: usize = 9_000;
/// Rows that are looked at together, to see whether all of them lie between 0 and 1.
const BLOCK: usize = 1024;

/// Rolling means over columns: a window of the last N scores, equal weight, at every row.
///
/// A window that is not full yet is divided by what is in it. Means are rounded once to the grid of scores, ties to even,
/// and equal those of the window of a standing to the last unit.
///
/// ```
/// use core::num::NonZeroU32;
/// use karat_core::number::Score;
/// use karat_standing::rolling::RollingMean;
///
/// let rolling = RollingMean::new(NonZeroU32::new(2).unwrap());
/// let scores = [0, 500_000_000, 1_000_000_000].map(Score::from_billionths);
/// let mut means = [Score::ZERO; 3];
/// rolling.column(&scores, &mut means).unwrap();
/// assert_eq!(means, [0, 250_000_000, 750_000_000].map(Score::from_billionths));
/// ```
#[derive(Debug, Clone)]
pub struct RollingMean {
    tasks: usize,
    /// The division by 1, 2, ... up to the size of the window; empty for a window whose sums do not fit 63 bits.
    divisions: Vec<Division>,
}

/// The result has not as many rows as the column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsDiffer {
    /// Rows of scores.
    pub scores: usize,
    /// Rows for means.
    pub means: usize,
}

impl fmt::Display for RowsDiffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there are {} rows for means, expected as many as scores: {}", self.means, self.scores)
    }
}

impl Error for RowsDiffer {}

impl RollingMean {
    /// Gets the divisions of a window of `tasks` ready, to be used for any number of columns.
    #[must_use]
    pub fn new(tasks: NonZeroU32) -> Self {
        let tasks = tasks.get() as usize;
        let most = if tasks <= MOST_TASKS { tasks } else { 0 };
        Self { tasks, divisions: (1..=most as u64).map(Division::by).collect() }
    }

    /// Writes into each row of `means` the mean of the last N rows of `scores` up to and with this one. A column holds one
    /// subject, oldest first.
    ///
    /// # Errors
    /// If the two differ in length: [`RowsDiffer`]; nothing is written then.
    pub fn column(&self, scores: &[Score], means: &mut [Score]) -> Result<(), RowsDiffer> {
        if scores.len() != means.len() {
            return Err(RowsDiffer { scores: scores.len(), means: means.len() });
        }
        // A block is looked at and then summed while it is near, or a long column would be read from memory twice.
        let (mut sum, mut done) = (0, 0);
        for block in scores.chunks(BLOCK).take_while(|block| self.sums_fit(block)) {
            let end = done + block.len();
            sum = self.fast(sum, scores, means, done..end);
            done = end;
        }
        self.general(scores, means, done);
        Ok(())
    }

    /// Returns true if 63 bits hold the sum of every window: for scores from 0 to 1.
    fn sums_fit(&self, block: &[Score]) -> bool {
        let fits = |fits, score: &Score| fits & ((score.units() as u64) <= UNITS_PER_ONE as u64);
        block.iter().fold(!self.divisions.is_empty(), fits)
    }

    /// Computes some rows, with sums in 63 bits and division by multiplication: from the sum of the window before them
    /// to that of the last of them.
    fn fast(&self, mut sum: u64, scores: &[Score], means: &mut [Score], rows: Range<usize>) -> u64 {
        let full = self.tasks.clamp(rows.start, rows.end);
        let filling = scores.iter().zip(means.iter_mut()).zip(&self.divisions);
        for ((score, mean), division) in filling.take(full).skip(rows.start) {
            sum += score.units() as u64;
            *mean = division.of(sum);
        }
        let (Some(&division), Some(entering), Some(leaving), Some(means)) = (
            self.divisions.last(),
            scores.get(full..rows.end),
            scores.get(full.saturating_sub(self.tasks)..),
            means.get_mut(full..rows.end),
        ) else {
            return sum;
        };
        for ((enters, leaves), mean) in entering.iter().zip(leaving).zip(means) {
            // The window holds what leaves, so the difference is not below zero.
            sum = sum.wrapping_add((enters.units() - leaves.units()) as u64);
            *mean = division.of(sum);
        }
        sum
    }

    /// Computes any scores, from row `start` on: sums in 128 bits.
    fn general(&self, scores: &[Score], means: &mut [Score], start: usize) {
        let first = start.saturating_sub(self.tasks);
        let before = scores.get(first..start).unwrap_or_default();
        let mut sum: i128 = before.iter().map(|score| i128::from(score.units())).sum();
        for (row, (score, mean)) in scores.iter().zip(means).enumerate().skip(start) {
            let leaves = row.checked_sub(self.tasks).and_then(|row| scores.get(row));
            sum += i128::from(score.units()) - leaves.map_or(0, |score| i128::from(score.units()));
            let count = self.tasks.min(row + 1);
            // A mean lies between its terms.
            *mean = Score::from_units(round_ratio(sum, count as i128) as i64);
        }
    }
}

/// Division of numbers below 2^63 by one divisor, rounded to nearest, ties to even: a multiplication in place of a
/// division (Granlund and Montgomery, "Division by invariant integers using multiplication", PLDI 1994, theorem 4.2).
#[derive(Debug, Clone, Copy)]
struct Division {
    divisor: u64,
    /// `floor(2^(63 + shift) / divisor) + 1`
    factor: u64,
    /// The bits of the divisor, rounded up.
    shift: u32,
    /// 1 for an even divisor: only then are there ties.
    is_even: u64,
}

impl Division {
    fn by(divisor: u64) -> Self {
        let shift = divisor.next_power_of_two().trailing_zeros();
        let factor = ((1u128 << (63 + shift)) / u128::from(divisor) + 1) as u64;
        Self { divisor, factor, shift, is_even: u64::from(divisor.is_multiple_of(2)) }
    }

    #[inline(always)]
    fn of(self, sum: u64) -> Score {
        // Rounded to nearest is rounded down after adding one half, but for ties, where one is taken back to be even.
        let raised = sum + self.divisor / 2;
        let quotient = ((u128::from(raised * 2) * u128::from(self.factor)) >> 64) as u64 >> self.shift;
        let is_tie = self.is_even & u64::from(quotient.wrapping_mul(self.divisor) == raised);
        Score::from_units((quotient - (is_tie & quotient)) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;
    use alloc::vec;
    use proptest::prelude::*;

    fn rolling(tasks: u32, scores: &[Score]) -> Vec<Score> {
        let mut means = vec![Score::from_units(-7); scores.len()];
        RollingMean::new(NonZeroU32::new(tasks).unwrap()).column(scores, &mut means).unwrap();
        means
    }

    fn written_out(tasks: usize, scores: &[Score]) -> Vec<Score> {
        let mean = |end: usize| {
            let window = &scores[(end + 1).saturating_sub(tasks)..=end];
            let sum: i128 = window.iter().map(|score| i128::from(score.units())).sum();
            Score::from_units(round_ratio(sum, window.len() as i128) as i64)
        };
        (0..scores.len()).map(mean).collect()
    }

    #[test]
    fn division_is_exact_at_its_ends_and_at_ties() {
        for divisor in 1..=MOST_TASKS as u64 {
            let division = Division::by(divisor);
            let largest = divisor * UNITS_PER_ONE as u64;
            for sum in
                [0, 1, divisor / 2, divisor, divisor + divisor / 2, 3 * divisor / 2 + 1, largest - 1, largest]
            {
                let expected = round_ratio(i128::from(sum), i128::from(divisor)) as i64;
                assert_eq!(division.of(sum).units(), expected, "{sum} / {divisor}");
            }
        }
    }

    #[test]
    fn a_window_of_one_repeats_the_column_and_an_empty_column_is_one() {
        let scores = [3, 0, 9].map(Score::from_units);
        assert_eq!(rolling(1, &scores), scores);
        assert_eq!(rolling(5, &[]), []);
    }

    #[test]
    fn windows_beyond_63_bits_and_scores_below_zero_are_exact_too() {
        let scores: Vec<Score> =
            (0..3000).map(|at| Score::from_units(if at == 2500 { i64::MIN } else { at })).collect();
        assert_eq!(rolling(7, &scores), written_out(7, &scores));
        assert_eq!(rolling(u32::MAX, &scores), written_out(usize::MAX / 2, &scores));
    }

    #[test]
    fn another_number_of_rows_is_refused() {
        let rolling = RollingMean::new(NonZeroU32::MIN);
        let refused = rolling.column(&[Score::ONE], &mut []).unwrap_err();
        assert_eq!(refused.to_string(), "there are 0 rows for means, expected as many as scores: 1");
    }

    proptest! {
        #[test]
        fn the_fast_path_is_the_mean_written_out(
            tasks in 1u32..40,
            units in prop::collection::vec(0i64..=UNITS_PER_ONE, 0..120),
            repeats in 1usize..30,
        ) {
            let scores: Vec<Score> = units.into_iter().map(Score::from_units).collect::<Vec<_>>().repeat(repeats);
            prop_assert_eq!(rolling(tasks, &scores), written_out(tasks as usize, &scores));
        }
    }
}
