//! Composites of many subjects under any weights and mean: what the robustness of ranks is computed from.

use alloc::vec::Vec;

use super::StatisticsError;
use karat_core::mean::Mean;
use karat_core::number::{BILLION, Decimal, round};

/// The readings of many subjects in the same dimensions.
#[derive(Debug, Clone, PartialEq)]
pub struct Readings {
    dimensions: usize,
    subjects: usize,
    /// By subject, then by dimension.
    cells: Vec<Option<Cell>>,
}

/// A reading, with what the means need of it worked out once.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Cell {
    value: f64,
    /// The term that it adds to each mean for a weight of 1, by the place of the mean in [`Mean::ALL`].
    terms: [f64; Mean::ALL.len()],
}

impl Readings {
    /// Takes the readings of each subject, in whole billionths (0 to 1,000,000,000); none where a dimension was not
    /// measured.
    ///
    /// # Errors
    /// If a subject has more or fewer dimensions than the first, or a reading is out of range.
    ///
    /// ```
    /// use karat_core::mean::Mean;
    /// use karat_stats::composite::Readings;
    /// let readings = Readings::new(&[[Some(900_000_000), Some(400_000_000)], [Some(600_000_000), None]])?;
    /// assert_eq!(readings.composites(&[0.5, 0.5], Mean::WeightedMean), [Some(650_000_000), Some(600_000_000)]);
    /// assert_eq!(readings.composites(&[0.5, 0.5], Mean::WeightedSum), [Some(650_000_000), Some(300_000_000)]);
    /// assert_eq!(readings.composites(&[0.5, 0.5], Mean::Geometric), [Some(600_000_000), Some(600_000_000)]);
    /// # Ok::<(), karat_stats::StatisticsError>(())
    /// ```
    pub fn new(subjects: &[impl AsRef<[Option<i64>]>]) -> Result<Self, StatisticsError> {
        let dimensions = subjects.first().map_or(0, |first| first.as_ref().len());
        let mut cells = Vec::with_capacity(subjects.len() * dimensions);
        for (row, readings) in subjects.iter().enumerate() {
            let readings = readings.as_ref();
            if readings.len() != dimensions {
                let found = i64::try_from(readings.len()).unwrap_or(i64::MAX);
                let expected = "as many as the first subject has";
                return Err(StatisticsError::Row { row, part: "number of dimensions", found, expected });
            }
            for &reading in readings {
                if let Some(found) = reading.filter(|reading| !(0..=BILLION).contains(reading)) {
                    let expected = "billionths from 0 to 1000000000";
                    return Err(StatisticsError::Row { row, part: "reading", found, expected });
                }
                cells.push(reading.map(|reading| {
                    let value = reading as f64 / BILLION as f64;
                    Cell { value, terms: Mean::ALL.map(|mean| mean.term(1.0, value)) }
                }));
            }
        }
        Ok(Self { dimensions, subjects: subjects.len(), cells })
    }

    /// Returns how many dimensions there are.
    #[must_use]
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns how many subjects there are.
    #[must_use]
    pub fn subjects(&self) -> usize {
        self.subjects
    }

    /// Returns the readings of all subjects in a dimension, 0 to 1.
    pub fn dimension(&self, dimension: usize) -> impl Iterator<Item = Option<f64>> {
        (0..self.subjects).map(move |subject| {
            let place = subject.checked_mul(self.dimensions)?.checked_add(dimension)?;
            let cell = self.cells.get(place).copied().flatten();
            cell.filter(|_| dimension < self.dimensions).map(|cell| cell.value)
        })
    }

    /// Returns the composite of each subject in billionths, rounded once, ties to even.
    ///
    /// `weights` are by dimension, not negative; those beyond the dimensions are passed over. A dimension that was not
    /// measured, or weighs nothing, is left out of the mean, and the other weights count the more; only a
    /// [`Mean::WeightedSum`] takes the weights as they are. `None` for a subject without items that count.
    #[must_use]
    pub fn composites(&self, weights: &[f64], mean: Mean) -> Vec<Option<i64>> {
        if self.dimensions == 0 {
            return alloc::vec![None; self.subjects];
        }
        self.cells.chunks_exact(self.dimensions).map(|cells| composite(cells, weights, mean)).collect()
    }
}

fn composite(cells: &[Option<Cell>], weights: &[f64], mean: Mean) -> Option<i64> {
    let (mut terms, mut sum, mut smallest) = (0.0, 0.0, f64::INFINITY);
    for (cell, &weight) in cells.iter().zip(weights) {
        if let Some(cell) = cell.filter(|_| weight > 0.0) {
            terms += weight * cell.terms.get(mean as usize).copied().unwrap_or(0.0);
            sum += weight;
            smallest = smallest.min(cell.value);
        }
    }
    (sum > 0.0).then(|| round(mean.finish(terms, sum, smallest) * BILLION as f64) as i64)
}

/// Returns the nominal weights as doubles that sum to 1.
///
/// # Errors
/// If there are not as many as `dimensions`, one is negative, or all are zero.
pub(super) fn shares(weights: &[Decimal], dimensions: usize) -> Result<Vec<f64>, StatisticsError> {
    if weights.len() < dimensions || weights.is_empty() {
        let needed = dimensions.max(1);
        return Err(StatisticsError::TooFew { what: "weights", found: weights.len(), needed });
    }
    if weights.len() > dimensions {
        let (found, most) = (weights.len() as u64, dimensions as u64);
        return Err(StatisticsError::TooMany { what: "weights", found, most });
    }
    if let Some(row) = weights.iter().position(|weight| *weight < Decimal::ZERO) {
        let found = weights.get(row).map_or(0, |weight| weight.millionths());
        return Err(StatisticsError::Row { row, part: "weight", found, expected: "millionths not below 0" });
    }
    let sum: i128 = weights.iter().map(|weight| i128::from(weight.millionths())).sum();
    if sum == 0 {
        return Err(StatisticsError::TooFew { what: "weights above 0", found: 0, needed: 1 });
    }
    Ok(weights.iter().map(|weight| weight.millionths() as f64 / sum as f64).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_zero_pulls_two_means_to_zero_and_weighs_nothing_without_weight() {
        let readings = Readings::new(&[[Some(0), Some(BILLION), Some(500_000_000)]]).unwrap();
        let of = |weights: &[f64], mean| readings.composites(weights, mean)[0];
        assert_eq!(of(&[0.2, 0.4, 0.4], Mean::Geometric), Some(0));
        assert_eq!(of(&[0.2, 0.4, 0.4], Mean::Harmonic), Some(0));
        assert_eq!(of(&[0.2, 0.4, 0.4], Mean::Minimum), Some(0));
        assert_eq!(of(&[0.0, 0.5, 0.5], Mean::Minimum), Some(500_000_000));
        assert_eq!(of(&[0.0, 0.5, 0.5], Mean::Harmonic), Some(666_666_667));
        assert_eq!(of(&[0.0; 3], Mean::WeightedMean), None);
        assert_eq!(of(&[1.0], Mean::WeightedMean), Some(0), "weights that are not given weigh nothing");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let ragged = [alloc::vec![Some(1), None], alloc::vec![Some(1)]];
        let refused = Readings::new(&ragged).unwrap_err();
        assert!(alloc::format!("{refused}").starts_with("row 1: the number of dimensions is 1"));
        assert!(Readings::new(&[[Some(-1)]]).is_err() && Readings::new(&[[Some(BILLION + 1)]]).is_err());
        let nobody: [[Option<i64>; 0]; 0] = [];
        assert_eq!(Readings::new(&nobody).unwrap().subjects(), 0);
        assert_eq!(Readings::new(&[[]; 3]).unwrap().composites(&[], Mean::Minimum), [None; 3]);
        let weight = Decimal::from_millionths;
        assert!(
            shares(&[weight(1)], 2).is_err()
                && shares(&[weight(1); 3], 2).is_err()
                && shares(&[], 0).is_err()
        );
        assert!(shares(&[weight(-1), weight(2)], 2).is_err() && shares(&[weight(0); 2], 2).is_err());
        assert_eq!(shares(&[weight(1), weight(3)], 2).unwrap(), [0.25, 0.75]);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn the_means_keep_their_order(cells in prop::collection::vec((0..=BILLION, 1u32..100), 1..6)) {
            let readings: Vec<Option<i64>> = cells.iter().map(|cell| Some(cell.0)).collect();
            let weights: Vec<f64> = cells.iter().map(|cell| f64::from(cell.1)).collect();
            let readings = Readings::new(&[readings]).unwrap();
            let of = |mean| readings.composites(&weights, mean)[0].unwrap();
            // One billionth for the rounding of each.
            prop_assert!(of(Mean::Minimum) <= of(Mean::Harmonic) + 1);
            prop_assert!(of(Mean::Harmonic) <= of(Mean::Geometric) + 1);
            prop_assert!(of(Mean::Geometric) <= of(Mean::WeightedMean) + 1);
            prop_assert!(of(Mean::WeightedMean) <= BILLION);
        }
    }
}
