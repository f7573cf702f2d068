//! The drivers of a composite: how much of its differences each dimension accounts for, beside its weight.
//!
//! A weight says what a point in a dimension is worth, not what the dimension decides: one in which all subjects are alike
//! decides nothing, whatever it weighs. Paruolo, Saisana and Saltelli, "Ratings and rankings: voodoo or science?", Journal
//! of the Royal Statistical Society A 176 (2013).

use alloc::vec::Vec;

use super::StatisticsError;
use super::composite::{Readings, Tree};
use super::correlation::Correlation;
use karat_core::number::BILLION;

/// The part of a dimension in the differences between composites.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Driver {
    /// Its nominal weight as a share of all, 0 to 1: the product of those on its way to the top.
    pub weight: f64,
    /// Number of subjects that have the reading and a composite.
    pub subjects: usize,
    /// The correlation of composite and reading; its measures are `None` if one of them does not move.
    pub correlation: Correlation,
    /// The square of the linear correlation, 0 to 1: the share of the variance of the composite that would go if the reading
    /// were fixed, as far as that is linear (the first-order sensitivity index of Saltelli and others). The indices of
    /// correlated dimensions sum to more than 1. 0 for a dimension that does not move.
    pub sensitivity: f64,
    /// `sensitivity` as a share of the sum over all dimensions, to be held against `weight`; none if the composite does not
    /// move.
    pub importance: Option<f64>,
    /// For a weighted sum or mean of readings without gaps: the share of the variance of the composite that comes with this
    /// dimension, `weight * covariance / variance`. The shares of all dimensions sum to 1; one is negative if the dimension
    /// works against the composite. None otherwise.
    pub variance_share: Option<f64>,
}

/// Returns what each dimension has to do with the composite, by dimension.
///
/// # Errors
/// If the weights do not fit the readings.
pub fn drivers(readings: &Readings, tree: &Tree) -> Result<Vec<Driver>, StatisticsError> {
    let shares = tree.shares(readings)?;
    let nominal = tree.shares_of_all(&shares);
    let composites: Vec<Option<f64>> = readings
        .composites(tree, &shares)
        .into_iter()
        .map(|composite| composite.map(|composite| composite as f64 / BILLION as f64))
        .collect();
    let is_linear = tree.is_linear()
        && (0..readings.dimensions()).all(|at| readings.dimension(at).all(|reading| reading.is_some()));
    let variance = covariance(&composites, composites.iter().copied());
    let mut found: Vec<Driver> = nominal
        .iter()
        .enumerate()
        .map(|(at, &weight)| {
            let pairs = readings.dimension(at).zip(&composites).filter_map(|(x, y)| x.zip(*y));
            let correlation = Correlation::of(pairs);
            let sensitivity = correlation.pearson.map_or(0.0, |r| r * r);
            let own = covariance(&composites, readings.dimension(at));
            let variance_share = (is_linear && variance > 0.0).then(|| weight * own / variance);
            let subjects = correlation.pairs;
            Driver { weight, subjects, correlation, sensitivity, importance: None, variance_share }
        })
        .collect();
    let sum: f64 = found.iter().map(|driver| driver.sensitivity).sum();
    for driver in found.iter_mut().filter(|_| sum > 0.0) {
        driver.importance = Some(driver.sensitivity / sum);
    }
    Ok(found)
}

/// Returns the sum of products of what is above the means, over the places where both are.
fn covariance(first: &[Option<f64>], second: impl Iterator<Item = Option<f64>>) -> f64 {
    let pairs: Vec<(f64, f64)> = first.iter().zip(second).filter_map(|(x, y)| x.zip(y)).collect();
    let count = pairs.len().max(1) as f64;
    let sums = pairs.iter().fold((0.0, 0.0), |sums, pair| (sums.0 + pair.0, sums.1 + pair.1));
    pairs.iter().map(|(x, y)| (x - sums.0 / count) * (y - sums.1 / count)).sum()
}

#[cfg(test)]
mod tests {
    use karat_core::mean::Mean;
    use karat_core::number::Decimal;
    use proptest::prelude::*;

    use super::*;

    fn half(count: usize) -> Vec<Decimal> {
        alloc::vec![Decimal::from_millionths(500_000); count]
    }

    #[test]
    fn a_dimension_in_which_all_are_alike_decides_nothing() {
        let readings =
            [[700_000, 1_000_000], [700_000, 9_000_000], [700_000, 3_000_000]].map(|row| row.map(Some));
        let readings = Readings::new(&readings).unwrap();
        let found = drivers(&readings, &Tree::flat(Mean::WeightedMean, &half(2))).unwrap();
        assert_eq!((found[0].weight, found[0].sensitivity, found[0].variance_share), (0.5, 0.0, Some(0.0)));
        assert_eq!((found[0].importance, found[1].importance), (Some(0.0), Some(1.0)));
        assert!((found[1].variance_share.unwrap() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn without_differences_nothing_drives() {
        let readings = Readings::new(&[[Some(7), Some(9)]; 3]).unwrap();
        for driver in drivers(&readings, &Tree::flat(Mean::Geometric, &half(2))).unwrap() {
            assert_eq!((driver.importance, driver.variance_share, driver.subjects), (None, None, 3));
        }
        let gaps = Readings::new(&[[Some(7), None], [Some(9), Some(1)], [None, None]]).unwrap();
        let found = drivers(&gaps, &Tree::flat(Mean::WeightedMean, &half(2))).unwrap();
        assert_eq!((found[0].subjects, found[1].subjects, found[0].variance_share), (2, 1, None));
        assert!(drivers(&gaps, &Tree::flat(Mean::WeightedMean, &half(3))).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn shares_of_the_variance_sum_to_one(
            rows in prop::collection::vec(prop::array::uniform3(0i64..=BILLION), 2..20),
            weights in prop::array::uniform3(1i64..=1_000_000),
        ) {
            let rows: Vec<[Option<i64>; 3]> = rows.iter().map(|row| row.map(Some)).collect();
            let weights = weights.map(Decimal::from_millionths);
            let found = drivers(&Readings::new(&rows).unwrap(), &Tree::flat(Mean::WeightedMean, &weights)).unwrap();
            let sum: f64 = found.iter().filter_map(|driver| driver.variance_share).sum();
            prop_assert!((sum - 1.0).abs() < 1e-4, "{found:?}");
        }
    }
}
