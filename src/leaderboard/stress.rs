//! The dependence of the ranks on the scorecard and on single tasks: other weights, dimensions left out, other means;
//! what drives the composite; the fewest tasks whose removal changes rank 1.

use karat_core::number::Decimal;
use karat_core::scorecard::{Mean, Scorecard};
use karat_stats::StatisticsError;
use karat_stats::composite::Readings;
use karat_stats::correlation::{Correlation, between_dimensions};
use karat_stats::drivers::{Driver, drivers};
use karat_stats::influence::{Influence, fewest_tasks};
use karat_stats::outcome::{Run, table};
use karat_stats::ranks::{OtherRanking, RankRange, ranks};
use karat_stats::robustness::{
    WeightDistribution, WeightPlan, WeightRobustness, under_drawn_weights, under_other_means,
    without_each_dimension,
};

use super::{By, Ranking, Settings, run};
use crate::rows::Rows;

/// The default concentration of random weights around those of the card: a weight of 20 % then lies between 13 and 28 %
/// in 95 % of samples.
pub const CONCENTRATION: f64 = 100.0;

/// The ranks under other weights, dimensions, means and tasks. All rankings are by the composite of the mean values,
/// without rules and gates of the card.
#[derive(Debug, Clone)]
pub struct Stress {
    /// The subjects with a rank, as indices into [`Rows::subjects`]: every list below is in this order.
    pub subjects: Vec<usize>,
    /// The dimensions with a weight above 0, as indices into [`Rows::dimensions`].
    pub dimensions: Vec<usize>,
    /// The composite of each subject, in billionths.
    pub composites: Vec<Option<i64>>,
    /// The ranks under the scorecard as written.
    pub ranks: Vec<Option<RankRange>>,
    /// Under random weights around those of the card.
    pub around: WeightRobustness,
    /// Under any weights.
    pub uniform: WeightRobustness,
    /// Without each of `dimensions`.
    pub without: Vec<OtherRanking>,
    /// Under other means.
    pub means: Vec<(Mean, OtherRanking)>,
    /// The contribution of each dimension to the composite.
    pub drivers: Vec<Driver>,
    /// The correlations of pairs of dimensions, as indices into `dimensions`.
    pub correlations: Vec<(usize, usize, Correlation)>,
    /// The fewest tasks whose removal puts another subject first by score; by names of the tasks.
    pub influence: Option<(Influence, Vec<String>)>,
}

impl Stress {
    /// Tests the subjects of `board`, whose items are all scored by `card`.
    pub fn new(
        rows: &Rows,
        items: &[usize],
        board: &Ranking,
        card: &Scorecard,
        concentration: f64,
        settings: &Settings,
    ) -> Result<Self, StatisticsError> {
        let mut subjects: Vec<usize> = board.leaderboard.rows.iter().map(|row| row.subject).collect();
        subjects.sort_unstable();
        let weights = weights(card);
        let dimensions: Vec<usize> = (0..rows.dimensions.len())
            .filter(|&at| weights.get(at).is_some_and(|weight| weight.millionths() > 0))
            .collect();
        let weights: Vec<Decimal> = dimensions.iter().filter_map(|&at| weights.get(at).copied()).collect();
        let readings = Readings::new(&readings(board, &subjects, &dimensions))?;
        let plan =
            |distribution| WeightPlan { distribution, draws: settings.plan.draws, seed: settings.plan.seed };
        let under = |distribution| {
            under_drawn_weights(&readings, &weights, card.mean, plan(distribution), settings.level)
        };
        let composites = readings.composites(&shares(&weights), card.mean);
        let runs: Vec<Run> = items
            .iter()
            .filter_map(|&at| Some((rows.rows.get(at)?, *rows.tasks.of_rows.get(at)?)))
            .filter(|(row, _)| subjects.binary_search(&row.subject).is_ok())
            .map(|(row, task)| run(row, task, By::Score))
            .collect();
        let influence = fewest_tasks(&table(rows.subjects.len(), &runs, settings.policy)?)?;
        let named = |influence: Influence| {
            let removed = influence.removed.iter().filter_map(|&task| rows.tasks.names.get(task));
            let removed = removed.cloned().collect();
            (influence, removed)
        };
        Ok(Self {
            ranks: ranks(&composites),
            around: under(WeightDistribution::Around { concentration })?,
            uniform: under(WeightDistribution::Uniform)?,
            without: without_each_dimension(&readings, &weights, card.mean)?,
            means: under_other_means(&readings, &weights, card.mean)?,
            drivers: drivers(&readings, &weights, card.mean)?,
            correlations: between_dimensions(&readings),
            influence: influence.map(named),
            composites,
            subjects,
            dimensions,
        })
    }
}

/// Returns the mean values of `subjects` in `dimensions`, in billionths.
pub(super) fn readings(board: &Ranking, subjects: &[usize], dimensions: &[usize]) -> Vec<Vec<Option<i64>>> {
    let reading = |subject: usize, at: usize| {
        let estimate = board.profiles.get(subject)?.get(at)?.as_ref()?;
        // A mean of billionths, rounded to a whole one.
        Some((estimate.mean * 1e9).round() as i64)
    };
    let of_subject = |subject: &usize| dimensions.iter().map(|&at| reading(*subject, at)).collect();
    subjects.iter().map(of_subject).collect()
}

/// Returns the weights as shares of their sum.
pub(super) fn shares(weights: &[Decimal]) -> Vec<f64> {
    let total: f64 = weights.iter().map(|weight| weight.millionths() as f64).sum();
    weights.iter().map(|weight| weight.millionths() as f64 / total).collect()
}

/// Returns the weight of each dimension in the whole: its own times those of its groups, in millionths; of the fallback
/// profile if the card has profiles.
pub fn weights(card: &Scorecard) -> Vec<Decimal> {
    let of_profile =
        card.profiles.as_ref().and_then(|it| it.list.get(it.fallback)).map(|(_, weights)| weights);
    let all = card.dimensions.iter().enumerate().map(|(at, dimension)| {
        let own = of_profile.and_then(|weights| weights.get(at)).copied().unwrap_or(dimension.weight);
        let (mut weight, mut group) = (own, dimension.group);
        while let Some(parent) = group.and_then(|at| card.groups.get(at)) {
            let siblings: i64 = members(card, group);
            let product = i128::from(weight.millionths()) * i128::from(parent.weight.millionths());
            let share = product / i128::from(siblings.max(1));
            weight = Decimal::from_millionths(i64::try_from(share).unwrap_or(i64::MAX));
            group = parent.parent;
        }
        weight
    });
    all.collect()
}

/// Returns the sum of the weights of the direct members of a group, in millionths.
fn members(card: &Scorecard, group: Option<usize>) -> i64 {
    let dimensions = card.dimensions.iter().filter(|it| it.group == group).map(|it| it.weight);
    let groups = card.groups.iter().filter(|it| it.parent == group).map(|it| it.weight);
    dimensions.chain(groups).map(Decimal::millionths).fold(0, i64::saturating_add)
}
