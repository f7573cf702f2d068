//! Composites of many subjects under any weights and means, groups included: what the robustness of ranks is computed from.

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
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns how many subjects there are.
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
    /// `weights` belong to the members of `tree`, and are not negative. What was not measured, or weighs nothing, is left out of
    /// its mean, and the other weights count the more; only a [`Mean::WeightedSum`] takes the weights as they are. A group
    /// without any value is left out; else its composite is rounded as well. `None` for a subject without any value.
    pub fn composites(&self, tree: &Tree, weights: &[f64]) -> Vec<Option<i64>> {
        if self.dimensions == 0 {
            return alloc::vec![None; self.subjects];
        }
        let mut sums = alloc::vec![Sums::default(); tree.groups.len() + 1];
        self.cells
            .chunks_exact(self.dimensions)
            .map(|cells| tree.composite(cells, weights, &mut sums))
            .collect()
    }
}

/// The shape of a composite: dimensions, and groups of them that count as one.
#[derive(Debug, Clone, PartialEq)]
pub struct Tree {
    mean: Mean,
    dimensions: Vec<Member>,
    groups: Vec<Group>,
}

/// A dimension or group on its level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Member {
    /// Its weight on its level.
    pub weight: Decimal,
    /// Its group, by its index among the groups; none at the top.
    pub group: Option<usize>,
}

/// A group of dimensions and groups.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Group {
    /// Its mean.
    pub mean: Mean,
    /// Its place in the tree.
    pub member: Member,
}

/// The sums of a mean.
#[derive(Debug, Clone, Copy)]
struct Sums {
    terms: f64,
    weights: f64,
    smallest: f64,
}

impl Default for Sums {
    fn default() -> Self {
        Self { terms: 0.0, weights: 0.0, smallest: f64::INFINITY }
    }
}

impl Tree {
    /// Returns the tree of dimensions without groups.
    pub fn flat(mean: Mean, weights: &[Decimal]) -> Self {
        let member = |&weight: &Decimal| Member { weight, group: None };
        Self { mean, dimensions: weights.iter().map(member).collect(), groups: Vec::new() }
    }

    /// Returns a tree with groups; each comes after the one it is in.
    ///
    /// # Errors
    /// If a member names a group that is not there, or a group one that is not before it.
    pub fn new(mean: Mean, dimensions: Vec<Member>, groups: Vec<Group>) -> Result<Self, StatisticsError> {
        let of_groups = groups.iter().enumerate().map(|(at, group)| (at, group.member.group));
        let of_dimensions = dimensions.iter().map(|member| (groups.len(), member.group));
        for (row, (before, group)) in of_dimensions.chain(of_groups).enumerate() {
            if let Some(group) = group.filter(|group| *group >= before) {
                let found = i64::try_from(group).unwrap_or(i64::MAX);
                let expected = "the index of a group before it";
                return Err(StatisticsError::Row { row, part: "group", found, expected });
            }
        }
        Ok(Self { mean, dimensions, groups })
    }

    /// Returns the same tree with one mean on all of its levels.
    pub fn with_mean(&self, mean: Mean) -> Self {
        let groups = self.groups.iter().map(|group| Group { mean, ..*group }).collect();
        Self { mean, groups, ..self.clone() }
    }

    /// Returns the dimensions, then the groups: weights are in this order.
    pub fn members(&self) -> impl Iterator<Item = Member> {
        self.dimensions.iter().copied().chain(self.groups.iter().map(|group| group.member))
    }

    /// Returns the members of each level: of the top, then of each group.
    pub(super) fn levels(&self) -> Vec<Vec<usize>> {
        let mut levels = alloc::vec![Vec::new(); self.groups.len() + 1];
        for (at, member) in self.members().enumerate() {
            if let Some(level) = levels.get_mut(member.group.map_or(0, |group| group + 1)) {
                level.push(at);
            }
        }
        levels
    }

    /// Returns true if a composite of readings without gaps is linear in them.
    pub(super) fn is_linear(&self) -> bool {
        self.mean.is_linear() && self.groups.iter().all(|group| group.mean.is_linear())
    }

    /// Returns the weights as doubles that sum to 1 on each level; 0 where all weights of a level are 0.
    ///
    /// # Errors
    /// If there are not as many dimensions as in `readings`, a weight is negative, or all at the top are zero.
    pub fn shares(&self, readings: &Readings) -> Result<Vec<f64>, StatisticsError> {
        let (found, dimensions) = (self.dimensions.len(), readings.dimensions);
        if found < dimensions || found == 0 {
            return Err(StatisticsError::TooFew { what: "weights", found, needed: dimensions.max(1) });
        }
        if found > dimensions {
            let (found, most) = (found as u64, dimensions as u64);
            return Err(StatisticsError::TooMany { what: "weights", found, most });
        }
        let weights: Vec<i64> = self.members().map(|member| member.weight.millionths()).collect();
        if let Some((row, &found)) = weights.iter().enumerate().find(|(_, weight)| **weight < 0) {
            let expected = "millionths not below 0";
            return Err(StatisticsError::Row { row, part: "weight", found, expected });
        }
        let mut shares = alloc::vec![0.0; weights.len()];
        for (level, members) in self.levels().iter().enumerate() {
            let weight = |at: usize| weights.get(at).copied().unwrap_or_default();
            let sum: i128 = members.iter().map(|&at| i128::from(weight(at))).sum();
            if sum == 0 && level == 0 {
                return Err(StatisticsError::TooFew { what: "weights above 0", found: 0, needed: 1 });
            }
            for &at in members.iter().filter(|_| sum > 0) {
                if let Some(share) = shares.get_mut(at) {
                    *share = weight(at) as f64 / sum as f64;
                }
            }
        }
        Ok(shares)
    }

    /// Returns the share of each dimension in the whole: the product of those on its way to the top.
    pub(super) fn shares_of_all(&self, shares: &[f64]) -> Vec<f64> {
        let share = |at: usize| shares.get(at).copied().unwrap_or_default();
        let whole = |(at, member): (usize, &Member)| {
            let (mut product, mut group) = (share(at), member.group);
            while let Some(at) = group {
                product *= share(self.dimensions.len() + at);
                group = self.groups.get(at).and_then(|group| group.member.group);
            }
            product
        };
        self.dimensions.iter().enumerate().map(whole).collect()
    }

    fn composite(&self, cells: &[Option<Cell>], weights: &[f64], sums: &mut [Sums]) -> Option<i64> {
        sums.fill(Sums::default());
        let mean_of = |level: usize| {
            let group = level.checked_sub(1).and_then(|at| self.groups.get(at));
            group.map_or(self.mean, |group| group.mean)
        };
        for ((cell, &weight), member) in cells.iter().zip(weights).zip(&self.dimensions) {
            let level = member.group.map_or(0, |group| group + 1);
            if let (Some(cell), Some(sums)) = (cell.filter(|_| weight > 0.0), sums.get_mut(level)) {
                sums.terms += weight * cell.terms.get(mean_of(level) as usize).copied().unwrap_or(0.0);
                sums.weights += weight;
                sums.smallest = sums.smallest.min(cell.value);
            }
        }
        let finish = |level: usize, sums: &Sums| {
            let composite = || mean_of(level).finish(sums.terms, sums.weights, sums.smallest);
            (sums.weights > 0.0).then(|| round(composite() * BILLION as f64))
        };
        for (at, group) in self.groups.iter().enumerate().rev() {
            let weight = weights.get(self.dimensions.len() + at).copied().unwrap_or_default();
            let value = sums.get(at + 1).and_then(|sums| finish(at + 1, sums));
            let level = group.member.group.map_or(0, |group| group + 1);
            if let (Some(value), Some(sums)) = (value.filter(|_| weight > 0.0), sums.get_mut(level)) {
                let value = value / BILLION as f64;
                sums.terms += mean_of(level).term(weight, value);
                sums.weights += weight;
                sums.smallest = sums.smallest.min(value);
            }
        }
        sums.first().and_then(|top| finish(0, top)).map(|composite| composite as i64)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_zero_pulls_two_means_to_zero_and_weighs_nothing_without_weight() {
        let readings = Readings::new(&[[Some(0), Some(BILLION), Some(500_000_000)]]).unwrap();
        let of =
            |weights: &[f64], mean| readings.composites(&Tree::flat(mean, &[Decimal::ONE; 3]), weights)[0];
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
        let none = Tree::flat(Mean::Minimum, &[]);
        assert_eq!(Readings::new(&[[]; 3]).unwrap().composites(&none, &[]), [None; 3]);
        let two = Readings::new(&[[Some(1), Some(2)]]).unwrap();
        let shares = |weights: &[i64]| {
            let weights: Vec<Decimal> = weights.iter().map(|&it| Decimal::from_millionths(it)).collect();
            Tree::flat(Mean::Minimum, &weights).shares(&two)
        };
        for wrong in [&[1][..], &[1; 3], &[], &[-1, 2], &[0, 0]] {
            assert!(shares(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(shares(&[1, 3]).unwrap(), [0.25, 0.75]);
        let outside = Member { weight: Decimal::ONE, group: Some(0) };
        assert!(Tree::new(Mean::Minimum, alloc::vec![outside], Vec::new()).is_err());
        let itself = Group { mean: Mean::Minimum, member: outside };
        assert!(Tree::new(Mean::Minimum, Vec::new(), alloc::vec![itself]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_means_keep_their_order(cells in prop::collection::vec((0..=BILLION, 1u32..100), 1..6)) {
            let readings: Vec<Option<i64>> = cells.iter().map(|cell| Some(cell.0)).collect();
            let weights: Vec<f64> = cells.iter().map(|cell| f64::from(cell.1)).collect();
            let ones = alloc::vec![Decimal::ONE; cells.len()];
            let readings = Readings::new(&[readings]).unwrap();
            let of = |mean| readings.composites(&Tree::flat(mean, &ones), &weights)[0].unwrap();
            // One billionth for the rounding of each.
            prop_assert!(of(Mean::Minimum) <= of(Mean::Harmonic) + 1);
            prop_assert!(of(Mean::Harmonic) <= of(Mean::Geometric) + 1);
            prop_assert!(of(Mean::Geometric) <= of(Mean::WeightedMean) + 1);
            prop_assert!(of(Mean::WeightedMean) <= BILLION);
        }
    }
}
