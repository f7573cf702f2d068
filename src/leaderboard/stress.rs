//! The dependence of the ranks on the scorecard and on single tasks: other weights, dimensions left out, other means;
//! what drives the composite; the fewest tasks whose removal changes rank 1.

use std::collections::BTreeSet;

use karat_core::number::Decimal;
use karat_core::scorecard::{Mean, MissingPolicy, Scorecard};
use karat_stats::StatisticsError;
use karat_stats::composite::{Group, Member, Readings, Tree};
use karat_stats::correlation::{Correlation, between_dimensions};
use karat_stats::drivers::{Driver, drivers};
use karat_stats::influence::{Influence, fewest_tasks};
use karat_stats::outcome::{Run, table_of};
use karat_stats::ranks::{OtherRanking, RankRange, ranks};
use karat_stats::robustness::{
    WeightDistribution, WeightPlan, WeightRobustness, under_drawn_weights, under_other_means,
    without_each_member,
};

use super::{By, Ranking, Settings, run};
use crate::rows::Rows;

/// The default concentration of random weights around those of the card, for each member of a level: of five equal
/// weights each then lies between 13 and 28 % in 95 % of samples, and of any number each within about 40 % of itself.
pub const CONCENTRATION: f64 = 20.0;

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
    /// The keys of the groups of the scorecard that have a dimension with a weight above 0.
    pub groups: Vec<String>,
    /// Without each of `dimensions`, then without each of `groups`.
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
        let own = own_weights(card);
        let whole = weights(card);
        let dimensions: Vec<usize> = (0..rows.dimensions.len())
            .filter(|&at| whole.get(at).is_some_and(|weight| weight.millionths() > 0))
            .collect();
        let tree = tree(card, &own, &dimensions)?;
        let groups = card.groups.iter().enumerate();
        let groups: Vec<(usize, &str)> = groups
            .filter(|(at, _)| has_members(card, *at, &dimensions))
            .map(|(at, group)| (at, group.key.as_str()))
            .collect();
        let readings = Readings::new(&readings(rows, board, card, &subjects, &dimensions))?;
        let plan = |distribution| WeightPlan { distribution, draws: settings.draws, seed: settings.seed };
        let under = |distribution| under_drawn_weights(&readings, &tree, plan(distribution), settings.level);
        let composites = readings.composites(&tree, &tree.shares(&readings)?);
        let mut without = without_each_member(&readings, &tree)?;
        let of_groups = without.split_off(dimensions.len());
        let of_groups = of_groups.into_iter().enumerate();
        let of_groups = of_groups.filter(|(at, _)| groups.iter().any(|(known, _)| known == at));
        without.extend(of_groups.map(|(_, ranking)| ranking));
        let runs: Vec<Run> = items
            .iter()
            .filter_map(|&at| Some((rows.rows.get(at)?, *rows.tasks.of_rows.get(at)?)))
            .filter(|(row, _)| subjects.binary_search(&row.subject).is_ok())
            .map(|(row, task)| run(row, task, By::Score))
            .collect();
        let influence = fewest_tasks(&table_of(rows.subjects.len(), runs.iter().copied(), settings.policy)?)?;
        let named = |influence: Influence| {
            let removed = influence.removed.iter().filter_map(|&task| rows.tasks.names.get(task));
            let removed = removed.cloned().collect();
            (influence, removed)
        };
        Ok(Self {
            ranks: ranks(&composites),
            around: under(WeightDistribution::Around { concentration })?,
            uniform: under(WeightDistribution::Uniform)?,
            groups: groups.into_iter().map(|(_, key)| key.to_owned()).collect(),
            without,
            means: under_other_means(&readings, &tree)?,
            drivers: drivers(&readings, &tree)?,
            correlations: between_dimensions(&readings),
            influence: influence.map(named),
            composites,
            subjects,
            dimensions,
        })
    }
}

/// Returns the mean values of `subjects` in `dimensions`, in billionths. Where a subject has none, the card may put one in.
pub(super) fn readings(
    rows: &Rows,
    board: &Ranking,
    card: &Scorecard,
    subjects: &[usize],
    dimensions: &[usize],
) -> Vec<Vec<Option<i64>>> {
    let inapplicable: BTreeSet<(usize, &str)> = rows
        .rows
        .iter()
        .flat_map(|row| row.not_applicable().iter().map(|key| (row.subject, key.as_str())))
        .collect();
    let filled = |subject: usize, at: usize| {
        let dimension = card.dimensions.get(at)?;
        match dimension.missing {
            _ if inapplicable.contains(&(subject, dimension.key.as_str())) => None,
            MissingPolicy::Zero => Some(0),
            MissingPolicy::Default(billionths) => Some(billionths),
            MissingPolicy::Exclude | MissingPolicy::Withhold => None,
        }
    };
    let reading = |subject: usize, at: usize| {
        let estimate = board.profiles.get(subject).and_then(|profile| profile.get(at)?.as_ref());
        // A mean of billionths, rounded to a whole one.
        estimate.map(|estimate| (estimate.mean * 1e9).round() as i64).or_else(|| filled(subject, at))
    };
    let of_subject = |subject: &usize| dimensions.iter().map(|&at| reading(*subject, at)).collect();
    subjects.iter().map(of_subject).collect()
}

/// Returns the tree of the card over these of its dimensions, with `own` weights of the dimensions on their levels.
pub(super) fn tree(card: &Scorecard, own: &[Decimal], dimensions: &[usize]) -> Result<Tree, StatisticsError> {
    let member = |at: &usize| Member {
        weight: own.get(*at).copied().unwrap_or_default(),
        group: card.dimensions.get(*at).and_then(|dimension| dimension.group),
    };
    let group = |(at, group): (usize, &karat_core::scorecard::Group)| {
        // A group of which no dimension is left has no weight on its level.
        let weight = if has_members(card, at, dimensions) { group.weight } else { Decimal::default() };
        Group { mean: group.mean, member: Member { weight, group: group.parent } }
    };
    let groups = card.groups.iter().enumerate().map(group).collect();
    Tree::new(card.mean, dimensions.iter().map(member).collect(), groups)
}

/// Returns true if one of `dimensions` is in the group, or in one of its groups.
fn has_members(card: &Scorecard, group: usize, dimensions: &[usize]) -> bool {
    dimensions.iter().any(|&at| {
        let mut own = card.dimensions.get(at).and_then(|dimension| dimension.group);
        while let Some(at) = own {
            if at == group {
                return true;
            }
            own = card.groups.get(at).and_then(|group| group.parent);
        }
        false
    })
}

/// Returns the weight of each dimension on its level; of the fallback profile if the card has profiles.
pub(super) fn own_weights(card: &Scorecard) -> Vec<Decimal> {
    let of_profile =
        card.profiles.as_ref().and_then(|it| it.list.get(it.fallback)).map(|(_, weights)| weights);
    let own = |(at, dimension): (usize, &karat_core::scorecard::Dimension)| {
        of_profile.and_then(|weights| weights.get(at)).copied().unwrap_or(dimension.weight)
    };
    card.dimensions.iter().enumerate().map(own).collect()
}

/// Returns the weight of each dimension in the whole: its own times those of its groups, in millionths; of the fallback
/// profile if the card has profiles.
pub fn weights(card: &Scorecard) -> Vec<Decimal> {
    let all = card.dimensions.iter().zip(own_weights(card)).map(|(dimension, own)| {
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
