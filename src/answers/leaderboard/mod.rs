//! Subjects by rank, `karat/leaderboard/2`.

pub mod columns;
pub mod cost;
pub mod fact;
pub mod floor;
pub mod key;
pub mod method;
pub(crate) mod notes;
pub mod official;
pub mod officials;

use std::collections::{BTreeMap, BTreeSet};

use karat_stats::leaderboard::Row;
use karat_stats::means::MeansRow;
use serde::{Deserialize, Serialize};

use crate::answers::basis::{
    Basis, Estimate, MovedSubject, OutcomeCounts, OutcomePolicy, Ranks, first, moved, ranks,
};
use crate::answers::stress::Robustness;
use crate::answers::weights::WeightsInForce;
use crate::answers::{LeaderboardMethod, StopsAt, UnrankedReason, answer, points, share};
use crate::estimate::{Writing, letter, letters};
use crate::leaderboard::attempts::AttemptsAt;
use crate::leaderboard::evidence::Named;
use crate::leaderboard::{By, Ranking, Settings, Unranked};
use crate::look_alikes::{Alike, LookAlikes};
use crate::record::document::BoundsDocument;
use fact::RankedFact;
use official::Official;

/// The basis of a leaderboard of official scores.
pub const OFFICIAL: &str = "official";
/// The basis of a leaderboard of the means of runs.
pub const MEAN: &str = "mean";

/// The answer of `karat leaderboard`: one leaderboard or several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LeaderboardAnswer {
    /// The schema.
    #[cfg_attr(feature = "schema", schema(inline))]
    pub schema: LeaderboardSchema,
    /// The items, and how they were ranked.
    #[serde(flatten)]
    pub basis: Basis,
    /// The method by which ranks were computed.
    pub method: LeaderboardMethod,
    /// The field whose values have a leaderboard each; null if there is one leaderboard.
    pub group_by: Option<String>,
    /// The size of the log that counts; null if no log is read.
    pub log_size: Option<u64>,
    /// A newer version of the scorecard, which does not answer yet; left out if there is no such version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer_version: Option<NewerVersion>,
    /// The selected records that were corrected, and so do not count, also of subjects without a rank; left out if there
    /// is no such record, and if no log is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<CorrectedRecords>,
    /// The selected records that were backfilled; left out if there is no such record, and if no log is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backfilled: Option<BackfilledRecords>,
    /// The sums that the items were added up to before; left out if the items themselves were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sums: Option<SumsUsed>,
    /// The value of `skip` for the rows that follow; null if there are no more.
    pub next: Option<u64>,
    /// One leaderboard, or one for each value of `group_by`.
    pub leaderboards: Vec<Leaderboard>,
}

answer!(LeaderboardAnswer, LeaderboardSchema = "karat/leaderboard/2", "a leaderboard");

impl LeaderboardAnswer {
    /// Adds the subjects that were left out, each with the reason, to those without a rank.
    pub fn leave_out(&mut self, left_out: &BTreeMap<String, String>) {
        self.leave_out_as(UnrankedReason::UnclearRows, left_out);
    }

    /// Does the same for another reason than rows over cases.
    pub(crate) fn leave_out_as(&mut self, why: UnrankedReason, left_out: &BTreeMap<String, String>) {
        if left_out.is_empty() {
            return;
        }
        for board in &mut self.leaderboards {
            let unranked = board.unranked.get_or_insert_default();
            unranked.extend(left_out.iter().map(|(subject, detail)| UnrankedSubject {
                subject: subject.clone(),
                tasks: 0,
                why,
                detail: Some(detail.clone()),
            }));
            unranked.sort_by(|one, other| one.subject.cmp(&other.subject));
        }
    }

    /// Marks the subjects whose names look like others.
    pub fn mark_look_alikes(&mut self, found: &LookAlikes) {
        for row in self.leaderboards.iter_mut().flat_map(|board| &mut board.rows) {
            row.alike.clone_from(found.of(&row.subject));
        }
    }
}

/// Sums that items were added up to, by subject, task and outcome.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct SumsUsed {
    /// The number of rows that were read.
    pub rows: u64,
    /// The number of cells: subjects at a task, with one outcome. A cell that several rows are about has their sum.
    pub cells: u64,
    /// SHA-256 over the cells, the same however their rows were divided and ordered.
    pub digest: String,
    /// The number of broken items; their subjects have no rank, and none of their items counts.
    pub broken: u64,
    /// The number of items of the other subjects that have no score.
    pub unscored: u64,
    /// The things that sums do not tell, and so the answer does not.
    pub without: Vec<String>,
}

/// A version of a scorecard that answers for its id once it has as many records as the one before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct NewerVersion {
    /// The scorecard, `id@version`.
    pub card: String,
    /// The number of its records.
    pub records: u64,
    /// The number of records of the version that answers.
    pub of: u64,
}

/// Records that were corrected. They stay in the log and do not count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct CorrectedRecords {
    /// The number of records.
    #[cfg_attr(feature = "schema", schema(minimum = 1))]
    pub count: u64,
    /// The number of those that a key of the subject itself corrected.
    pub by_own_key: u64,
}

impl CorrectedRecords {
    /// Returns these and one more.
    #[must_use]
    pub fn and(self, is_by_own_key: bool) -> Self {
        Self { count: self.count + 1, by_own_key: self.by_own_key + u64::from(is_by_own_key) }
    }

    /// Returns a sentence without its end: `3 records were corrected, 2 of them by a key of the subject`.
    pub fn sentence(&self) -> String {
        let Self { count, by_own_key } = *self;
        let were = if count == 1 { "1 record was".to_owned() } else { format!("{count} records were") };
        match by_own_key {
            0 => format!("{were} corrected, none by a key of its subject"),
            _ if count == 1 => format!("{were} corrected, by a key of its subject"),
            all if all == count => format!("{were} corrected, all by keys of their subjects"),
            some => format!("{were} corrected, {some} of them by keys of their subjects"),
        }
    }
}

/// Records that an administrator handed in as history that is old on purpose: they count from the time that they state,
/// whenever they arrived.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct BackfilledRecords {
    /// The number of records.
    #[cfg_attr(feature = "schema", schema(minimum = 1))]
    pub count: u64,
    /// The ids of the keys that handed them in, in order.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<String>))]
    pub by: BTreeSet<String>,
}

impl BackfilledRecords {
    /// Adds others.
    pub fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.by.extend(other.by.iter().cloned());
    }

    /// Returns a sentence without its end: `3 records were backfilled by the key 0123456789abcdef`.
    pub fn sentence(&self) -> String {
        let were =
            if self.count == 1 { "1 record was".to_owned() } else { format!("{} records were", self.count) };
        let keys: Vec<&str> = self.by.iter().map(String::as_str).collect();
        let noun = if keys.len() == 1 { "the key" } else { "the keys" };
        format!("{were} backfilled by {noun} {}", keys.join(", "))
    }
}

/// Subjects by rank. Two subjects share a letter exactly if the evidence does not separate them, which does not show that
/// they are equal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Leaderboard {
    /// The common property of the items, `FIELD = VALUE`; null if there is one leaderboard.
    pub group: Option<String>,
    /// The basis of the ranking: `official` scores, the `mean` of runs, or the key of a dimension.
    pub by: String,
    /// The moment of the official scores; null on another basis, and if no item has a time.
    pub as_of: Option<String>,
    /// The weights from outside in force at that moment; null while those of the scorecard are, and on another basis.
    #[serde(default)]
    pub weights: Option<WeightsInForce>,
    /// The reason why the ranks are by the mean of runs although the scorecard has a section `[standing]`; null if they are
    /// not, or if the mean was asked for.
    pub without_official: Option<String>,
    /// The number of subjects that have a rank.
    pub ranked: u64,
    /// The subjects that have a rank, or a page of them.
    pub rows: Vec<LeaderboardRow>,
    /// The middle of the values of all ranked subjects by dimension: of those of official scores, else of those of the rows; left
    /// out where subjects have none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub medians: BTreeMap<String, f64>,
    /// The subjects that have items and no rank; null with the method `means`, unless rows over cases are the reason.
    pub unranked: Option<Vec<UnrankedSubject>>,
    /// True if all ranked subjects have the same tasks. If not, a mean also depends on which tasks a subject has. Null
    /// with the method `means`.
    pub same_tasks: Option<bool>,
    /// The number of letters; null where subjects are not compared: with the methods `means` and `census`, and if all
    /// pairs are too many.
    pub letters: Option<u32>,
    /// The rankings under other choices for outcomes; null with the method `means`.
    pub other_outcomes: Option<OtherOutcomes>,
    /// The robustness of the ranks; null if it was not requested.
    pub robustness: Option<Robustness>,
    /// The fact that is ranked, in whose unit the scores are then; left out on another basis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fact: Option<RankedFact>,
    /// The columns that were asked for, in that order; left out without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// The differences that its tasks can settle; left out with other methods than `pairs`, and where nothing is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settles: Option<Settles>,
    /// Quality against cost; left out if no cost was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<cost::CostFront>,
}

/// The differences that the tasks of a leaderboard can settle with a chance of 80 %, all of its pairs together. They are in the unit
/// of what is ranked; of official scores, of the mean of runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Settles {
    /// The smallest difference between neighbours that is shown, the middle over all of them; null if the tasks are too few for any.
    pub gap: Option<f64>,
    /// The number of tasks that neighbours share, the middle over all of them.
    pub tasks: u64,
    /// The difference of the first two over the tasks they share.
    pub first: f64,
    /// The number of tasks that would show that difference; null for a difference of 0.
    pub tasks_for_first: Option<u64>,
}

/// A subject with a rank.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct LeaderboardRow {
    /// The subject.
    pub subject: String,
    /// Its ranks by the score alone: those of all subjects with the same score.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<u32>, min_items = 2, max_items = 2))]
    pub rank: Ranks,
    /// The ranks by the mean of runs that the comparisons of pairs leave open, all of them together. Null for a subject with one
    /// task, and where subjects are not compared.
    #[cfg_attr(feature = "schema", schema(value_type = Option<Vec<u32>>, min_items = 2, max_items = 2))]
    pub rank_range: Option<Ranks>,
    /// Its letters: two subjects share one exactly if a comparison does not separate them. Empty if it shares too few tasks
    /// with every other one; null if it has one task, and where subjects are not compared.
    pub letters: Option<Vec<String>>,
    /// The subjects with a higher mean that it is ahead of on the tasks they share: its mean is lower only because its other
    /// tasks are harder. Null where subjects are not compared.
    pub ahead_of: Option<Vec<String>>,
    /// The subjects with which it shares too few tasks to be compared: fewer than five at 95 %. Null where subjects are not
    /// compared.
    pub too_few_shared_tasks: Option<Vec<String>>,
    /// The value that is ranked, with its interval: the mean of runs in points, of a dimension or of a fact, or the official score
    /// in points.
    pub score: Estimate,
    /// The way to the official score; null on another basis.
    pub official: Option<Official>,
    /// The mean of its runs in points, of the dimension or of the fact, with its interval; null if no run counts. Rank range and
    /// letters are about this mean.
    pub mean: Option<Estimate>,
    /// The number of cases, if all its results that count are means over cases (`n`).
    #[cfg_attr(feature = "schema", schema(minimum = 1))]
    pub cases: Option<u64>,
    /// The lowest and highest possible score in points of a subject with one task; null if nothing is missing, and for any other.
    pub bounds: Option<BoundsDocument>,
    /// The number of tasks that count.
    pub tasks: u64,
    /// The number of items.
    pub items: u64,
    /// Its records that were corrected, and so do not count; left out if there is no such record, and if no log is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<CorrectedRecords>,
    /// Its records that were backfilled; left out if there is no such record, and if no log is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backfilled: Option<BackfilledRecords>,
    /// Other subjects with names that look like this one.
    #[serde(flatten)]
    pub alike: Alike,
    /// The number of items by outcome; null with the method `means`.
    pub outcomes: Option<OutcomeCounts>,
    /// The mean value by dimension, null if nothing was measured; null as a whole with the method `means`.
    #[cfg_attr(feature = "schema", schema(schema_with = estimates))]
    pub dimensions: Option<BTreeMap<String, Option<Estimate>>>,
    /// Repeated attempts, for k from 1 on, without values if `attempts_stop_at` is there; null if they were not requested.
    pub attempts: Option<Vec<Attempts>>,
    /// The result at which its attempts stop, so that its mean over attempts is wrong; left out where their numbers show none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempts_stop_at: Option<StopsAt>,
    /// The values in the columns that were asked for, null where no item states one; left out without any.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub columns: BTreeMap<String, Option<f64>>,
}

/// A subject with items but no rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct UnrankedSubject {
    /// The subject.
    pub subject: String,
    /// The number of its tasks that count.
    pub tasks: u64,
    /// The reason.
    pub why: UnrankedReason,
    /// The items for which it has none, where it depends on single ones; else left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The results of k attempts at each task. Tasks with fewer attempts are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct Attempts {
    /// The number of attempts.
    #[cfg_attr(feature = "schema", schema(minimum = 1))]
    pub k: u32,
    /// The number of tasks with k attempts or more.
    pub tasks: u64,
    /// The number of tasks with fewer attempts.
    pub tasks_left_out: u64,
    /// The chance that at least one passes: pass@k.
    pub pass_at: Option<Estimate>,
    /// The chance that all pass: pass^k.
    pub pass_hat: Option<Estimate>,
    /// The expected best score of k attempts, in points.
    pub best_of: Option<Estimate>,
}

/// The rankings under other choices for outcomes that are neither success nor failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OtherOutcomes {
    /// True if any of them changes a rank.
    pub differ: bool,
    /// True if any of them changes which subjects have rank 1.
    pub first_differs: bool,
    /// The rankings.
    pub rankings: Vec<OutcomeRanking>,
}

/// The ranking under another choice for outcomes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OutcomeRanking {
    /// The choice.
    pub outcomes: OutcomePolicy,
    /// True if other subjects have rank 1.
    pub first_differs: bool,
    /// The subjects with rank 1.
    pub first: Vec<String>,
    /// The subjects with another rank.
    pub moved: Vec<MovedSubject>,
}

impl Settles {
    /// Writes its shares in another unit.
    pub(crate) fn turn(&mut self, to: impl Fn(f64) -> f64) {
        self.gap = self.gap.map(&to);
        self.first = to(self.first);
    }
}

impl Leaderboard {
    /// Writes scores as points; values of a dimension or a fact stay as they are.
    fn write_points(&mut self, scale: u32) {
        if self.is_of_scores() {
            self.rows.iter_mut().for_each(|row| row.write_points(scale));
            self.settles.iter_mut().for_each(|it| it.turn(|share| points(share, scale)));
        }
    }

    /// Returns true if scores are ranked, and not the values of a dimension.
    pub fn is_of_scores(&self) -> bool {
        matches!(self.by.as_str(), OFFICIAL | MEAN)
    }

    /// Returns a leaderboard by the mean without subjects.
    pub(crate) fn empty(group: Option<String>) -> Self {
        Self { group, by: String::from(MEAN), ..Self::default() }
    }

    /// Returns the leaderboard of a ranking of subjects of `rows`.
    pub fn of_ranking(rows: &impl Named, ranking: &Ranking, settings: &Settings) -> Self {
        let name = |subject: usize| rows.subject_name(subject);
        let names = |all: &[usize]| all.iter().map(|&subject| name(subject).to_owned()).collect::<Vec<_>>();
        let compared = ranking.leaderboard.letters.is_some();
        let row = |row: &Row| {
            let counts = ranking.rankings.counts.get(row.subject).copied().unwrap_or_default();
            let profile = ranking.profiles.get(row.subject).map_or(&[][..], Vec::as_slice);
            let dimensions = rows.dimensions().iter().zip(profile);
            LeaderboardRow {
                subject: name(row.subject).to_owned(),
                rank: ranks(row.rank),
                rank_range: row.rank_range.map(ranks),
                letters: row.letters.as_ref().map(|all| all.iter().copied().map(letter).collect()),
                ahead_of: compared.then(|| names(&row.ahead_of)),
                too_few_shared_tasks: compared.then(|| names(&row.too_few_shared)),
                score: (&row.estimate).into(),
                mean: Some((&row.estimate).into()),
                cases: ranking.cases.of(row.subject),
                bounds: ranking
                    .bounds
                    .get(&row.subject)
                    .map(|&(low, high)| BoundsDocument { high: share(high), low: share(low) }),
                tasks: row.estimate.tasks as u64,
                items: ranking.items.get(row.subject).map_or(0, |&items| items as u64),
                outcomes: Some(counts.into()),
                dimensions: Some(
                    dimensions
                        .map(|((key, _), value)| (key.clone(), value.as_ref().map(Estimate::from)))
                        .collect(),
                ),
                attempts: ranking
                    .attempts
                    .get(row.subject)
                    .map(|found| found.by_k.iter().map(Attempts::from).collect()),
                attempts_stop_at: ranking.stopping.get(&row.subject).copied(),
                ..LeaderboardRow::default()
            }
        };
        let unranked = ranking.unranked.iter().map(|&(subject, why)| {
            let (tasks, why) = match why {
                Unranked::Nothing => (0, UnrankedReason::NothingCounts),
                Unranked::FewTasks(tasks) => (tasks as u64, UnrankedReason::TooFewTasks),
            };
            UnrankedSubject { subject: name(subject).to_owned(), tasks, why, detail: None }
        });
        let others = ranking.rankings.others.iter().map(|(other, ranking)| OutcomeRanking {
            outcomes: (*other).into(),
            first_differs: ranking.first_differs,
            first: first(ranking, name),
            moved: moved(ranking, name),
        });
        let all: Vec<LeaderboardRow> = ranking.leaderboard.rows.iter().map(row).collect();
        Self {
            group: ranking.group.clone(),
            by: by(rows, settings),
            ranked: all.len() as u64,
            medians: medians(all.iter().flat_map(LeaderboardRow::values)),
            rows: all,
            unranked: Some(unranked.collect()),
            same_tasks: Some(ranking.leaderboard.same_tasks),
            settles: ranking.leaderboard.settles.map(|it| Settles {
                gap: it.gap.map(share),
                tasks: it.tasks,
                first: share(it.first),
                tasks_for_first: it.tasks_for_first,
            }),
            letters: ranking.leaderboard.letters,
            other_outcomes: Some(OtherOutcomes {
                differ: ranking.rankings.differ(),
                first_differs: ranking.rankings.first_differs(),
                rankings: others.collect(),
            }),
            ..Self::default()
        }
    }
}

/// Returns the middle of the values of each dimension; of an even number the mean of both in the middle.
fn medians<'k>(values: impl Iterator<Item = (&'k str, f64)>) -> BTreeMap<String, f64> {
    let mut all: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    values.for_each(|(key, value)| all.entry(key).or_default().push(value));
    let middle = |mut values: Vec<f64>| {
        let (is_even, half) = (values.len().is_multiple_of(2), values.len() / 2);
        let (below, high, _) = values.select_nth_unstable_by(half, f64::total_cmp);
        let low = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        share(if is_even { f64::midpoint(low, *high) } else { *high })
    };
    all.into_iter().map(|(key, values)| (key.to_owned(), middle(values))).collect()
}

/// Returns the basis of the ranking in the form that answers use.
pub fn by(rows: &impl Named, settings: &Settings) -> String {
    match settings.by {
        By::Score => String::from(MEAN),
        By::Dimension(at) => rows.dimensions().get(at).map(|(key, _)| key.clone()).unwrap_or_default(),
        By::Fact => rows.fact().map(str::to_owned).unwrap_or_default(),
    }
}

impl From<&AttemptsAt> for Attempts {
    fn from(found: &AttemptsAt) -> Self {
        Self {
            k: found.k,
            tasks: found.tasks as u64,
            tasks_left_out: found.tasks_left_out as u64,
            pass_at: found.pass_at.as_ref().map(Estimate::from),
            pass_hat: found.pass_hat.as_ref().map(Estimate::from),
            best_of: found.best_of.as_ref().map(Estimate::from),
        }
    }
}

impl LeaderboardRow {
    /// Writes shares of a perfect score as points.
    fn write_points(&mut self, scale: u32) {
        let best = self.attempts.iter_mut().flatten().filter_map(|at| at.best_of.as_mut());
        let estimates = [Some(&mut self.score), self.mean.as_mut()].into_iter().flatten().chain(best);
        estimates.for_each(|it| *it = it.in_points(scale));
        if let Some(bounds) = &mut self.bounds {
            (bounds.low, bounds.high) = (points(bounds.low, scale), points(bounds.high, scale));
        }
    }

    /// Returns true if the runs show that it cannot be the first, by the number that is ranked.
    pub fn is_behind(&self) -> bool {
        self.rank_range.is_some_and(|[best, _]| best > 1) && self.score.interval().is_some()
    }

    /// Returns the ranks to show: those that the evidence leaves open, else those by the score alone, as for official scores.
    pub fn shown_ranks(&self) -> Ranks {
        self.rank_range.filter(|_| self.official.is_none()).unwrap_or(self.rank)
    }

    /// Returns its mean values by dimension, without those that were not measured.
    fn values(&self) -> impl Iterator<Item = (&str, f64)> {
        let all = self.dimensions.iter().flatten();
        all.filter_map(|(key, value)| Some((key.as_str(), value.as_ref()?.mean)))
    }

    /// Returns its letters as text, with a question mark if it shares too few tasks with some to be compared.
    pub fn ties(&self) -> String {
        let few = self.too_few_shared_tasks.as_ref().is_some_and(|all| !all.is_empty());
        let mark = if few { "?" } else { "" };
        format!("{}{mark}", letters(self.letters.as_deref().unwrap_or_default()))
    }

    /// Returns the interval as text; without one the bounds of a mean, in brackets, and without those `-`.
    pub fn ends(&self, writing: Writing) -> String {
        match (self.score.interval(), self.bounds.filter(|_| self.official.is_none())) {
            (None, Some(bounds)) => format!("({})", writing.ends(Some((bounds.low, bounds.high)))),
            (interval, _) => writing.ends(interval),
        }
    }

    /// Returns the row of a subject none of whose runs counts.
    pub(crate) fn without_runs(name: &str) -> Self {
        Self { subject: name.to_owned(), rank: [1, 1], ..Self::default() }
    }

    /// Returns the row of the method `means` for the subject `name`.
    pub(crate) fn of_means(name: &str, row: &MeansRow) -> Self {
        let score = Estimate::from(&row.estimate);
        Self {
            subject: name.to_owned(),
            rank: ranks(row.rank),
            score,
            mean: Some(score),
            tasks: score.tasks,
            items: row.items.into(),
            ..Self::default()
        }
    }
}

#[cfg(feature = "schema")]
fn estimates() -> utoipa::openapi::schema::Object {
    let description =
        "The mean value by dimension, null if nothing was measured; null as a whole with the method `means`.";
    super::members_or_null("Estimate", description, true)
}
