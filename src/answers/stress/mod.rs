//! The dependence of a ranking on its scorecard and on single tasks, `karat/stress/2`.

pub(crate) mod words;

use karat_stats::correlation;
use karat_stats::ranks::OtherRanking;
use karat_stats::robustness::WeightRobustness as CoreRobustness;
use serde::{Deserialize, Serialize};

use crate::answers::basis::{Basis, MovedSubject, Ranks, first, moved, ranks};
use crate::answers::{Mean, answer, from_billionths, points, share};
use crate::leaderboard::Settings;
use crate::leaderboard::stress as computed;
use crate::rows::Rows;

/// The answer of `karat stress`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Stress {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: StressSchema,
    /// The items, and how the answer was computed.
    #[serde(flatten)]
    pub basis: Basis,
    /// The concentration of random weights around those of the scorecard: the parameter of a Dirichlet distribution on each
    /// level, divided by the number of members of the level.
    #[cfg_attr(feature = "schema", schema(exclusive_minimum = 0))]
    pub concentration: f64,
    /// The robustness of the ranks.
    pub robustness: Robustness,
}

answer!(Stress, StressSchema = "karat/stress/2", "a stress test");

/// The ranks under other weights, dimensions, means and tasks. All rankings are by the composite of the mean values,
/// without rules and gates of the scorecard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Robustness {
    /// The number of sets of random weights.
    pub draws: u32,
    /// The seed of these weights.
    pub seed: u64,
    /// Under random weights around those of the scorecard.
    pub weights_around: WeightRobustness,
    /// Under any weights.
    pub weights_any: WeightRobustness,
    /// Without each dimension.
    pub without_dimension: Vec<WithoutDimension>,
    /// Without each group, for a scorecard with groups.
    pub without_group: Vec<WithoutGroup>,
    /// Under other means.
    pub other_means: Vec<OtherMean>,
    /// The contribution of each dimension to the composite.
    pub drivers: Vec<Driver>,
    /// The correlation of each pair of dimensions.
    pub correlations: Vec<DimensionCorrelation>,
    /// The fewest tasks whose removal puts another subject first by score; null if no removal does.
    pub fewest_tasks: Option<FewestTasks>,
}

/// The ranks under random weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WeightRobustness {
    /// The share of random weights under which the same subjects have rank 1.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub chance_of_same_rank_1: f64,
    /// The subjects, the best rank first.
    pub subjects: Vec<SubjectRobustness>,
    /// The pairs that change ranks, the most frequent first.
    pub swaps: Vec<Swap>,
}

/// The ranks of a subject under random weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SubjectRobustness {
    /// The subject.
    pub subject: String,
    /// Its composite under the weights of the scorecard, in points; null if it has none.
    #[cfg_attr(feature = "schema", schema(minimum = 0))]
    pub composite: Option<f64>,
    /// Its ranks under the weights of the scorecard.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<u32>, min_items = 2, max_items = 2))]
    pub rank: Ranks,
    /// The share of random weights under which it keeps its best rank.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub chance_of_same_rank: f64,
    /// The share of random weights under which no subject is above it.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub chance_of_rank_1: f64,
    /// The ranks in which it lies under `level` of the random weights.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<u32>, min_items = 2, max_items = 2))]
    pub rank_range: Ranks,
    /// Every best rank that it takes, with the share of random weights.
    pub ranks: Vec<RankChance>,
}

/// A rank and the share of random weights under which a subject takes it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct RankChance {
    /// The rank, from 1.
    #[cfg_attr(feature = "schema", schema(minimum = 1))]
    pub rank: u32,
    /// The share of random weights.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub chance: f64,
}

/// A pair that changes ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Swap {
    /// The subject that is ahead under the weights of the scorecard.
    pub ahead: String,
    /// The subject that is behind.
    pub behind: String,
    /// The share of random weights under which the other one is ahead.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub chance: f64,
}

/// The ranking without a dimension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WithoutDimension {
    /// The dimension that is left out.
    pub dimension: String,
    /// True if other subjects have rank 1.
    pub first_differs: bool,
    /// The subjects with rank 1.
    pub first: Vec<String>,
    /// The subjects with another rank.
    pub moved: Vec<MovedSubject>,
}

/// The ranking without a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct WithoutGroup {
    /// The group that is left out, with all of its members.
    pub group: String,
    /// True if other subjects have rank 1.
    pub first_differs: bool,
    /// The subjects with rank 1.
    pub first: Vec<String>,
    /// The subjects with another rank.
    pub moved: Vec<MovedSubject>,
}

/// The ranking under another mean.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OtherMean {
    /// The mean.
    pub mean: Mean,
    /// True if other subjects have rank 1.
    pub first_differs: bool,
    /// The subjects with rank 1.
    pub first: Vec<String>,
    /// The subjects with another rank.
    pub moved: Vec<MovedSubject>,
}

/// The contribution of a dimension to the composite.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Driver {
    /// The dimension.
    pub dimension: String,
    /// Its weight as a share of all weights.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub weight: f64,
    /// Its share in the spread of the composite, by the correlation ratio; null if nothing varies.
    pub importance: Option<f64>,
    /// Its share in the variance of the composite; null if nothing varies.
    pub variance_share: Option<f64>,
    /// Its correlation with the composite.
    pub correlation: Correlation,
}

/// The correlation of two dimensions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct DimensionCorrelation {
    /// The two dimensions.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>, min_items = 2, max_items = 2))]
    pub dimensions: [String; 2],
    /// Their correlation.
    pub correlation: Correlation,
}

/// Correlation coefficients; null if one side does not vary.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Correlation {
    /// The number of pairs.
    pub pairs: u64,
    /// Pearson's coefficient.
    #[cfg_attr(feature = "schema", schema(minimum = -1, maximum = 1))]
    pub pearson: Option<f64>,
    /// Spearman's coefficient.
    #[cfg_attr(feature = "schema", schema(minimum = -1, maximum = 1))]
    pub spearman: Option<f64>,
    /// Kendall's coefficient.
    #[cfg_attr(feature = "schema", schema(minimum = -1, maximum = 1))]
    pub kendall: Option<f64>,
}

/// The fewest tasks whose removal puts another subject first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct FewestTasks {
    /// The subject that is first.
    pub first: String,
    /// The subject that is first without these tasks.
    pub overtaker: String,
    /// The tasks.
    pub removed: Vec<String>,
    /// The number of all tasks.
    pub tasks: u64,
    /// True if no smaller set of tasks does the same.
    pub is_smallest: bool,
}

impl Stress {
    /// Returns the answer `found` about `rows`.
    pub fn new(rows: &Rows, found: &computed::Stress, concentration: f64, settings: &Settings) -> Self {
        Self {
            schema: StressSchema::V1,
            basis: Basis::new(rows, settings),
            concentration: share(concentration),
            robustness: Robustness::new(rows, found),
        }
    }
}

impl Robustness {
    /// Returns the robustness of the ranks of `rows`.
    pub fn new(rows: &Rows, found: &computed::Stress) -> Self {
        let subject = |at: usize| found.subjects.get(at).map_or("", |&it| rows.subject_name(it));
        let key = |at: usize| {
            let place = found.dimensions.get(at).and_then(|&it| rows.dimensions.get(it));
            place.map(|(key, _)| key.clone()).unwrap_or_default()
        };
        let other = |it: &OtherRanking| (it.first_differs, first(it, subject), moved(it, subject));
        let (dimensions, groups) = found.without.split_at(found.dimensions.len().min(found.without.len()));
        let without = dimensions.iter().enumerate().map(|(at, ranking)| {
            let (first_differs, first, moved) = other(ranking);
            WithoutDimension { dimension: key(at), first_differs, first, moved }
        });
        let without_group = found.groups.iter().zip(groups).map(|(group, ranking)| {
            let (first_differs, first, moved) = other(ranking);
            WithoutGroup { group: group.clone(), first_differs, first, moved }
        });
        let means = found.means.iter().map(|(mean, ranking)| {
            let (first_differs, first, moved) = other(ranking);
            OtherMean { mean: *mean, first_differs, first, moved }
        });
        let drivers = found.drivers.iter().enumerate().map(|(at, driver)| Driver {
            dimension: key(at),
            weight: share(driver.weight),
            importance: driver.importance.map(share),
            variance_share: driver.variance_share.map(share),
            correlation: (&driver.correlation).into(),
        });
        let correlations = found.correlations.iter().map(|(one, two, correlation)| DimensionCorrelation {
            dimensions: [key(*one), key(*two)],
            correlation: correlation.into(),
        });
        Self {
            draws: found.around.plan.draws,
            seed: found.around.plan.seed,
            weights_around: weights(&found.around, &found.composites, rows.scale.max, subject),
            weights_any: weights(&found.uniform, &found.composites, rows.scale.max, subject),
            without_dimension: without.collect(),
            without_group: without_group.collect(),
            other_means: means.collect(),
            drivers: drivers.collect(),
            correlations: correlations.collect(),
            fewest_tasks: found.influence.as_ref().map(|(influence, tasks)| FewestTasks {
                first: rows.subject_name(influence.first).to_owned(),
                overtaker: rows.subject_name(influence.overtaker).to_owned(),
                removed: tasks.clone(),
                tasks: influence.items as u64,
                is_smallest: influence.is_smallest,
            }),
        }
    }
}

fn weights<'n>(
    found: &CoreRobustness,
    composites: &[Option<i64>],
    scale: u32,
    subject: impl Fn(usize) -> &'n str,
) -> WeightRobustness {
    let subjects = found.subjects.iter().enumerate().filter_map(|(at, it)| {
        let it = it.as_ref()?;
        let ranked = it.places.iter().map(|&(rank, chance)| RankChance { rank, chance: share(chance) });
        Some(SubjectRobustness {
            subject: subject(at).to_owned(),
            composite: composites.get(at).copied().flatten().map(|it| points(from_billionths(it), scale)),
            rank: ranks(it.rank),
            chance_of_same_rank: share(it.share_kept),
            chance_of_rank_1: share(it.share_first),
            rank_range: ranks(it.rank_range),
            ranks: ranked.collect(),
        })
    });
    let mut subjects: Vec<SubjectRobustness> = subjects.collect();
    // Equal ranks stay in the order of names.
    subjects.sort_by_key(|it| it.rank);
    let swaps = found.swaps.iter().map(|swap| Swap {
        ahead: subject(swap.ahead).to_owned(),
        behind: subject(swap.behind).to_owned(),
        chance: share(swap.share),
    });
    WeightRobustness {
        chance_of_same_rank_1: share(found.share_first_kept),
        subjects,
        swaps: swaps.collect(),
    }
}

impl From<&correlation::Correlation> for Correlation {
    fn from(found: &correlation::Correlation) -> Self {
        Self {
            pairs: found.pairs as u64,
            pearson: found.pearson.map(share),
            spearman: found.spearman.map(share),
            kendall: found.kendall.map(share),
        }
    }
}
