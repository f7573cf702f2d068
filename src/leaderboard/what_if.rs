//! Other weights instead of those of the scorecard: the new ranks, and how much they depend on the weights.

use karat_core::number::Decimal;
use karat_core::scorecard::Scorecard;
use karat_stats::StatisticsError;
use karat_stats::composite::{Readings, Tree};
use karat_stats::ranks::{OtherRanking, RankRange, ranks};
use karat_stats::robustness::{WeightDistribution, WeightPlan, WeightRobustness, under_drawn_weights};

use super::stress::{CONCENTRATION, own_weights, readings, tree};
use super::{Ranking, Settings};
use crate::rows::Rows;

/// The ranks under other weights. All rankings are by the composite of the mean values, without rules and gates of the
/// card. Every list of subjects is in the order of `subjects`.
#[derive(Debug, Clone)]
pub struct WhatIf {
    /// The subjects with a rank, as indices into [`Rows::subjects`].
    pub subjects: Vec<usize>,
    /// Their composites under the weights of the card, in billionths.
    pub composites_before: Vec<Option<i64>>,
    /// Their composites under the other weights, in billionths.
    pub composites_after: Vec<Option<i64>>,
    /// Their ranks under the weights of the card.
    pub ranks_before: Vec<Option<RankRange>>,
    /// Their ranks under the other weights, and the subjects that move.
    pub after: OtherRanking,
    /// The robustness of the ranks around the weights of the card.
    pub around_before: WeightRobustness,
    /// The robustness of the ranks around the other weights.
    pub around_after: WeightRobustness,
}

impl WhatIf {
    /// Ranks the subjects of `board`, whose items are all scored by `card`, by `other` weights: one for each dimension,
    /// none below 0.
    ///
    /// # Errors
    /// If all weights are 0, or nothing was measured.
    pub fn new(
        rows: &Rows,
        board: &Ranking,
        card: &Scorecard,
        other: &[Decimal],
        settings: &Settings,
    ) -> Result<Self, StatisticsError> {
        let mut subjects: Vec<usize> = board.leaderboard.rows.iter().map(|row| row.subject).collect();
        subjects.sort_unstable();
        let own = own_weights(card);
        let of = |list: &[Decimal], at: usize| list.get(at).copied().unwrap_or(Decimal::from_millionths(0));
        let is_used = |at: &usize| of(&own, *at).millionths() > 0 || of(other, *at).millionths() > 0;
        let dimensions: Vec<usize> = (0..rows.dimensions.len()).filter(is_used).collect();
        let (before, after) = (tree(card, &own, &dimensions)?, tree(card, other, &dimensions)?);
        let readings = Readings::new(&readings(rows, board, card, &subjects, &dimensions))?;
        let distribution = WeightDistribution::Around { concentration: CONCENTRATION };
        let plan = WeightPlan { distribution, draws: settings.plan.draws, seed: settings.plan.seed };
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
            subjects,
        })
    }
}
