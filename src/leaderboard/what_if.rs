//! Other weights instead of those of the scorecard: the new ranks, and how much they depend on the weights.

use karat_core::number::Decimal;
use karat_core::scorecard::Scorecard;
use karat_stats::StatisticsError;
use karat_stats::composite::{Readings, Tree};
use karat_stats::ranks::{OtherRanking, RankRange, ranks};
use karat_stats::robustness::{WeightDistribution, WeightPlan, WeightRobustness, under_drawn_weights};
use serde::{Deserialize, Serialize};

use super::stress::{CONCENTRATION, own_weights, readings, tree};
use super::{Ranking, Settings};
use crate::rows::Rows;

/// The mean value of each subject in each dimension of a scorecard, in billionths. Where a subject has none, the scorecard
/// may put one in.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct MeanValues {
    /// The subjects, by name.
    pub subjects: Vec<String>,
    /// Their values, by dimension of the scorecard.
    pub values: Vec<Vec<Option<i64>>>,
}

impl MeanValues {
    /// Returns the values of the subjects of `rows` that have a mean; all items are scored by `card`.
    ///
    /// # Errors
    /// If no subject has a mean.
    pub fn new(rows: &Rows, card: &Scorecard, settings: &Settings) -> Result<Self, StatisticsError> {
        let all: Vec<usize> = (0..rows.rows.len()).collect();
        let board = Ranking::new(rows, &all, None, &Settings { is_census: true, ..*settings })?;
        let mut subjects: Vec<usize> = board.leaderboard.rows.iter().map(|row| row.subject).collect();
        subjects.sort_unstable();
        let dimensions: Vec<usize> = (0..card.dimensions.len()).collect();
        let values = readings(rows, &board, card, &subjects, &dimensions);
        let name = |&at: &usize| rows.subject_name(at).to_owned();
        Ok(Self { subjects: subjects.iter().map(name).collect(), values })
    }
}

/// The ranks under other weights. All rankings are by the composite of the mean values, without rules and gates of the
/// card. Every list is in the order of the subjects of the [`MeanValues`].
#[derive(Debug, Clone)]
pub struct WhatIf {
    /// The composites under the weights of the card, in billionths.
    pub composites_before: Vec<Option<i64>>,
    /// The composites under the other weights, in billionths.
    pub composites_after: Vec<Option<i64>>,
    /// The ranks under the weights of the card.
    pub ranks_before: Vec<Option<RankRange>>,
    /// The ranks under the other weights, and the subjects that move.
    pub after: OtherRanking,
    /// The robustness of the ranks around the weights of the card.
    pub around_before: WeightRobustness,
    /// The robustness of the ranks around the other weights.
    pub around_after: WeightRobustness,
}

impl WhatIf {
    /// Ranks subjects by `other` weights: one for each dimension of `card`, none below 0.
    ///
    /// # Errors
    /// If all weights are 0, or nothing was measured.
    pub fn new(
        values: &MeanValues,
        card: &Scorecard,
        other: &[Decimal],
        settings: &Settings,
    ) -> Result<Self, StatisticsError> {
        let own = own_weights(card);
        let of = |list: &[Decimal], at: usize| list.get(at).copied().unwrap_or(Decimal::from_millionths(0));
        let is_used = |at: &usize| of(&own, *at).millionths() > 0 || of(other, *at).millionths() > 0;
        let dimensions: Vec<usize> = (0..card.dimensions.len()).filter(is_used).collect();
        let (before, after) = (tree(card, &own, &dimensions)?, tree(card, other, &dimensions)?);
        let used =
            |all: &Vec<Option<i64>>| dimensions.iter().map(|&at| all.get(at).copied().flatten()).collect();
        let readings = Readings::new(&values.values.iter().map(used).collect::<Vec<Vec<Option<i64>>>>())?;
        let distribution = WeightDistribution::Around { concentration: CONCENTRATION };
        let plan = WeightPlan { distribution, draws: settings.draws, seed: settings.seed };
        let around = |tree: &Tree| under_drawn_weights(&readings, tree, plan, settings.level);
        let (around_before, around_after) = (around(&before)?, around(&after)?);
        let composites = |tree: &Tree| Ok(readings.composites(tree, &tree.shares(&readings)?));
        let (composites_before, composites_after) = (composites(&before)?, composites(&after)?);
        let ranks_before = ranks(&composites_before);
        Ok(Self {
            after: OtherRanking::new(&ranks_before, ranks(&composites_after)),
            ranks_before,
            composites_before,
            composites_after,
            around_before,
            around_after,
        })
    }
}
