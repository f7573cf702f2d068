//! Rolling means as one writes them by hand.
#![expect(clippy::indexing_slicing, reason = "as one writes it by hand")]

use karat_core::number::Score;

/// Computes exactly: whole numbers, a running sum, and a division rounded to nearest, ties to even, at every row. For
/// scores from 0 to 1.
pub(crate) fn subjects(scores: &[Score], rows: usize, window: usize, means: &mut [Score]) {
    for start in (0..scores.len()).step_by(rows) {
        let end = (start + rows).min(scores.len());
        let mut sum = 0u64;
        for row in start..end {
            sum += scores[row].units() as u64;
            if row >= start + window {
                sum -= scores[row - window].units() as u64;
            }
            let count = (row - start + 1).min(window) as u64;
            let (floor, twice) = (sum / count, 2 * (sum % count));
            let is_up = twice > count || (twice == count && floor % 2 == 1);
            means[row] = Score::from_units((floor + u64::from(is_up)) as i64);
        }
    }
}

/// Computes the usual way: a running sum of doubles, whose error grows with the column.
pub(crate) fn doubles(scores: &[f64], rows: usize, window: usize, means: &mut [f64]) {
    for start in (0..scores.len()).step_by(rows) {
        let end = (start + rows).min(scores.len());
        let mut sum = 0.0;
        for row in start..end {
            sum += scores[row];
            if row >= start + window {
                sum -= scores[row - window];
            }
            means[row] = sum / (row - start + 1).min(window) as f64;
        }
    }
}
