//! The mean of the last N scores at every row of a column.

use alloc::vec::Vec;
use core::num::NonZeroU32;

use karat_core::number::{Score, round_ratio};

/// Returns for each row the mean of the last `tasks` scores up to and with it. A column holds one subject, oldest first.
///
/// A window that is not full yet is divided by what is in it. Means are rounded once to the grid of scores, ties to even,
/// and equal those of the window of a standing to the last unit.
pub fn rolling_means(scores: &[Score], tasks: NonZeroU32) -> Vec<Score> {
    let tasks = tasks.get() as usize;
    let units = |score: &Score| i128::from(score.units());
    let mut sum = 0;
    let mean = |(row, score): (usize, &Score)| {
        let leaves = row.checked_sub(tasks).and_then(|row| scores.get(row));
        sum += units(score) - leaves.map_or(0, units);
        // A mean lies between its terms.
        Score::from_units(round_ratio(sum, tasks.min(row + 1) as i128) as i64)
    };
    scores.iter().enumerate().map(mean).collect()
}
