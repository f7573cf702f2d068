//! Leaderboards, computed from the scored items of many subjects.
//!
//! The ranking with comparisons of all pairs is here; [`answers::leaderboard::method`](crate::answers::leaderboard::method) chooses
//! between it and a faster one by size. `attempts` estimates the chances of repeated attempts, `pair` compares two
//! subjects, `changes` lists the tasks between them that got worse or better, `stress` tests how the ranking depends on the scorecard, `what_if` ranks by other weights.
//!
//! No module here reads files or draws screens. Values are shares of a perfect score, 0 to 1 or billionths.

pub mod attempts;
pub mod changes;
pub mod evidence;
pub mod gate;
pub mod pair;
pub mod stress;
pub mod what_if;

use std::collections::{BTreeMap, BTreeSet};

use karat_core::facts::Outcome;
use karat_core::number::{BILLION, Score};
use karat_core::scorecard::Scorecard;
use karat_stats::StatisticsError;
use karat_stats::cases::{CaseResult, Cases};
use karat_stats::estimate::Estimate;
use karat_stats::leaderboard::Leaderboard;
use karat_stats::outcome::{Policy, PolicyRankings, Run, Treatment, other_policies, table_of};
use karat_stats::table::{Observation, TaskTable};
use karat_stats::trials::StopsAt;
use serde::{Deserialize, Serialize};

use crate::rows::{Row, Rows};
use crate::words::ChoiceSource;
use attempts::{Attempts, AttemptsOf};
use evidence::{Evidence, Items, Named as _};

/// The settings of a ranking.
#[derive(Debug, Clone, Copy)]
pub struct Settings {
    /// The basis of the ranking.
    pub by: By,
    /// The treatment of outcomes that are neither success nor failure.
    pub policy: Policy,
    /// The confidence of intervals and comparisons.
    pub level: f64,
    /// The number of sets of weights that a test of the ranks draws.
    pub draws: u32,
    /// The seed of these sets.
    pub seed: u64,
    /// The evaluation of repeated attempts, if requested.
    pub attempts: Option<Attempts>,
    /// The fewest tasks that a subject needs for a rank.
    pub tasks_min: usize,
    /// The origin of the treatment of each outcome.
    pub sources: OutcomeSources,
    /// True if the items are all there are, so that nothing is estimated.
    pub is_census: bool,
}

impl Settings {
    /// Sets of weights, where no number is asked for.
    pub const DRAWS: u32 = 1000;
    /// The confidence of intervals, where none is asked for.
    pub const LEVEL: f64 = 0.95;

    /// Returns the settings where nothing is asked for: ranks by score, 95 % intervals, and outcomes as the scorecard counts
    /// them.
    pub fn usual(rows: &Rows) -> Self {
        Self::usual_for(rows.scorers.first().map(|card| card.card()))
    }

    /// Returns the same for a scorecard, or for none.
    pub fn usual_for(card: Option<&Scorecard>) -> Self {
        let standing = card.and_then(|card| card.standing.as_ref());
        let source = |outcome| match standing {
            Some(standing) if standing.stated_outcomes.contains(&outcome) => ChoiceSource::Scorecard,
            _ => ChoiceSource::Default,
        };
        Self {
            by: By::Score,
            policy: standing.map_or_else(Policy::default, |standing| standing.outcomes),
            level: Self::LEVEL,
            draws: Self::DRAWS,
            seed: 1,
            attempts: None,
            tasks_min: 1,
            sources: OutcomeSources {
                no_verdict: source(Outcome::NoVerdict),
                stopped: source(Outcome::Stopped),
                not_applicable: source(Outcome::NotApplicable),
                refused: source(Outcome::Refused),
            },
            is_census: false,
        }
    }
}

/// The origin of the treatment of each outcome that is neither success nor failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct OutcomeSources {
    /// The origin for no verdict.
    pub no_verdict: ChoiceSource,
    /// The origin for runs that stopped.
    pub stopped: ChoiceSource,
    /// The origin for tasks that do not apply.
    pub not_applicable: ChoiceSource,
    /// The origin for refusals.
    pub refused: ChoiceSource,
}

impl OutcomeSources {
    /// Returns the origin of the treatment of an outcome; none for success and failure, which are not chosen.
    pub fn source(&self, outcome: Outcome) -> Option<ChoiceSource> {
        match outcome {
            Outcome::Succeeded | Outcome::Failed => None,
            Outcome::NoVerdict => Some(self.no_verdict),
            Outcome::Stopped => Some(self.stopped),
            Outcome::NotApplicable => Some(self.not_applicable),
            Outcome::Refused => Some(self.refused),
        }
    }
}

impl Settings {
    /// Takes the treatment of an outcome from the request; success and failure are what they are.
    pub fn treat(&mut self, outcome: Outcome, treatment: Treatment) {
        let (policy, sources) = (&mut self.policy, &mut self.sources);
        let (treated, source) = match outcome {
            Outcome::NoVerdict => (&mut policy.no_verdict, &mut sources.no_verdict),
            Outcome::Stopped => (&mut policy.stopped, &mut sources.stopped),
            Outcome::NotApplicable => (&mut policy.not_applicable, &mut sources.not_applicable),
            Outcome::Refused => (&mut policy.refused, &mut sources.refused),
            Outcome::Succeeded | Outcome::Failed => return,
        };
        (*treated, *source) = (treatment, ChoiceSource::Request);
    }
}

/// The basis of a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// The score.
    Score,
    /// The dimension with this index.
    Dimension(usize),
    /// The fact that was chosen to rank by.
    Fact,
}

impl By {
    /// Returns the value of an item, in billionths.
    fn of(self, row: &Row) -> Option<i64> {
        match self {
            Self::Score => row.score().map(Score::billionths),
            Self::Dimension(at) => row.reading(at),
            Self::Fact => row.fact(),
        }
    }
}

/// Subjects ranked by their means, each pair compared.
#[derive(Debug, Clone)]
pub struct Ranking {
    /// The common property of the items; None if all are taken.
    pub group: Option<String>,
    /// Ranks, intervals and letters for ties. [`Rows::subjects`] has the subjects.
    pub leaderboard: Leaderboard,
    /// Subjects with items but no rank, with the reason.
    pub unranked: Vec<(usize, Unranked)>,
    /// The outcomes of each subject's items, and the rankings under other policies.
    pub rankings: PolicyRankings,
    /// The mean values of each subject by dimension; None if nothing was measured.
    pub profiles: Vec<Vec<Option<Estimate>>>,
    /// The number of items of each subject.
    pub items: Vec<usize>,
    /// The results of repeated attempts, by subject.
    pub attempts: Vec<AttemptsOf>,
    /// The subjects whose attempts stop at a result.
    pub stopping: BTreeMap<usize, StopsAt>,
    /// The subjects all of whose results that count are means over cases.
    pub cases: Cases,
    /// The lowest and highest possible mean of the subjects with one task, where parts of a score are missing.
    pub bounds: BTreeMap<usize, (f64, f64)>,
}

/// The reason for which a subject has no rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unranked {
    /// None of its items counts.
    Nothing,
    /// It has this number of tasks, fewer than required.
    FewTasks(usize),
}

impl Ranking {
    /// Ranks the subjects of the `items` of `rows`, given by index.
    pub fn new(
        rows: &Rows,
        items: &[usize],
        group: Option<String>,
        settings: &Settings,
    ) -> Result<Self, StatisticsError> {
        Self::of(&Items { rows, items }, group, settings)
    }

    /// Ranks the subjects of items, or of sums of items.
    pub(crate) fn of(
        evidence: &impl Evidence,
        group: Option<String>,
        settings: &Settings,
    ) -> Result<Self, StatisticsError> {
        let subjects = evidence.names().subjects().len();
        let counts = evidence.items();
        let runs = evidence.runs(settings.by);
        let all = table_of(subjects, runs.clone(), settings.policy)?;
        let is_ranked = |subject: usize| {
            let tasks = all.tasks_of(subject);
            tasks > 0 && tasks >= settings.tasks_min
        };
        let ranked = runs.filter(|run| is_ranked(run.subject));
        let kept = table_of(subjects, ranked.clone(), settings.policy)?;
        if kept.tasks() == 0 {
            return Err(if all.tasks() == 0 { nothing_counts() } else { too_few_tasks() });
        }
        let kept = kept.named(|task| evidence.key(task));
        let cases = evidence.cases(settings);
        let leaderboard = if settings.is_census {
            Leaderboard::of_census(&kept)
        } else {
            Leaderboard::new(&kept, &cases, settings.level)?
        };
        let unranked =
            (0..subjects).filter(|&it| counts.get(it).is_some_and(|&items| items > 0) && !is_ranked(it));
        let unranked = unranked.map(|it| match all.tasks_of(it) {
            0 => (it, Unranked::Nothing),
            few => (it, Unranked::FewTasks(few)),
        });
        let mut occurring: BTreeSet<Outcome> = BTreeSet::new();
        ranked.clone().for_each(|runs| occurring.extend(runs.outcomes()));
        let stopping = evidence.stopping(settings);
        let others = other_policies(settings.policy, |outcome| occurring.contains(&outcome));
        let single = (0..subjects).filter(|&subject| kept.tasks_of(subject) == 1).collect();
        Ok(Self {
            group,
            leaderboard,
            unranked: unranked.collect(),
            rankings: PolicyRankings::of(subjects, ranked.clone(), settings.policy, &others)?,
            profiles: profiles(evidence, settings)?,
            items: counts,
            bounds: evidence.bounds(settings, &single),
            cases,
            attempts: evidence.attempts(settings, &stopping, is_ranked)?,
            stopping,
        })
    }
}

/// Returns the mean values of each subject with their intervals, by dimension.
fn profiles(
    evidence: &impl Evidence,
    settings: &Settings,
) -> Result<Vec<Vec<Option<Estimate>>>, StatisticsError> {
    let names = evidence.names();
    let (subjects, dimensions) = (names.subjects().len(), names.dimensions().len());
    let mut profiles = vec![Vec::with_capacity(dimensions); subjects];
    for at in 0..dimensions {
        let table = TaskTable::of_sums(subjects, evidence.values(at, settings.policy))?;
        let cases = evidence.cases_of(at, settings.policy);
        let estimates = estimates(&table, &cases, settings)?;
        profiles.iter_mut().zip(estimates).for_each(|(profile, estimate)| profile.push(estimate));
    }
    Ok(profiles)
}

/// Returns the mean of each subject of a table with its interval, unless this is a census; none without tasks.
fn estimates(
    table: &TaskTable,
    cases: &Cases,
    settings: &Settings,
) -> Result<Vec<Option<Estimate>>, StatisticsError> {
    let subjects = 0..table.subjects();
    if settings.is_census || table.tasks() == 0 {
        return Ok(subjects.map(|subject| Estimate::of_census(table, subject)).collect());
    }
    let estimate = |subject| {
        let found = (table.tasks_of(subject) > 0)
            .then(|| Estimate::with_cases(table, cases, subject, settings.level));
        found.transpose()
    };
    subjects.map(estimate).collect()
}

/// Returns the subjects all of whose values of a dimension that count are means over a number of cases.
fn cases_of_dimension<'r>(
    taken: impl Iterator<Item = (&'r Row, usize)>,
    dimension: usize,
    policy: Policy,
) -> Cases {
    Cases::new(taken.filter_map(|(row, task)| case_result(row, task, reading(row, dimension, policy)?)))
}

fn case_result(row: &Row, task: usize, value: i64) -> Option<CaseResult> {
    Some(CaseResult { subject: row.subject, task, value, cases: row.cases() })
}

/// Returns the mean of the bounds of the items that count, of each subject that `is_wanted`; none where an item has no
/// bounds and no score.
fn bounds<'r>(
    taken: impl Iterator<Item = (&'r Row, usize)>,
    settings: &Settings,
    is_wanted: impl Fn(usize) -> bool,
) -> BTreeMap<usize, (f64, f64)> {
    let mut found: BTreeMap<usize, Vec<(f64, f64)>> = BTreeMap::new();
    for (row, task) in taken.filter(|(row, _)| settings.by == By::Score && is_wanted(row.subject)) {
        if let Some(value) = run(row, task, settings.by).value(settings.policy) {
            let value = value as f64 / BILLION as f64;
            found.entry(row.subject).or_default().push(row.bounds().unwrap_or((value, value)));
        }
    }
    let mean = |ends: &[(f64, f64)], end: fn(&(f64, f64)) -> f64| {
        ends.iter().map(end).sum::<f64>() / ends.len() as f64
    };
    let means =
        found.into_iter().map(|(subject, ends)| (subject, (mean(&ends, |it| it.0), mean(&ends, |it| it.1))));
    means.filter(|(_, (low, high))| low < high).collect()
}

/// Returns the value of an item in one dimension, in billionths: as measured, or as the policy treats its outcome. A
/// success or failure with a missing value is left out.
fn reading(row: &Row, dimension: usize, policy: Policy) -> Option<i64> {
    let own = row.reading(dimension);
    let run = run(row, 0, By::Score);
    match run.outcome() {
        None | Some(Outcome::Succeeded | Outcome::Failed) => own,
        Some(_) => Run { score: own, ..run }.value(policy),
    }
}

/// Returns true if an item has a value to rank by. If the value is missing it has not, even if the item succeeded.
pub(crate) fn is_measured(row: &Row, by: By) -> bool {
    if by == By::Fact {
        return row.fact().is_some();
    }
    let is_decided = || {
        let outcome = run(row, 0, By::Score).outcome();
        matches!(outcome, None | Some(Outcome::Succeeded | Outcome::Failed))
    };
    by == By::Score || by.of(row).is_some() || !is_decided()
}

/// Returns the score of an item under a policy for its outcome; None if it is left out.
pub fn counted(row: &Row, policy: Policy) -> Option<Score> {
    run(row, 0, By::Score).value(policy).map(Score::from_billionths)
}

/// The error where no attempt is left.
pub(crate) const NO_ATTEMPTS: StatisticsError = StatisticsError::TooFew {
    what: "attempts (a row with `n` is a mean over cases and no attempt)",
    found: 0,
    needed: 1,
};

/// Returns the error for no item that counts.
pub(crate) const fn nothing_counts() -> StatisticsError {
    StatisticsError::TooFew { what: "subjects with a score that counts", found: 0, needed: 1 }
}

/// Returns the error for subjects that all have too few tasks.
pub(crate) const fn too_few_tasks() -> StatisticsError {
    StatisticsError::TooFew { what: "subjects with this many tasks", found: 0, needed: 1 }
}

/// Returns the item as a run at a task; its score is the score or dimension that is ranked. What becomes of one without a
/// score, [`Run::outcome`] says.
pub(crate) fn run(row: &Row, task: usize, by: By) -> Run {
    // A fact is what it is, however the run ended.
    let outcome = row.outcome.filter(|_| by != By::Fact);
    Run { subject: row.subject, task, outcome, score: by.of(row) }
}

/// Returns the values in one dimension by subject and task.
fn readings<'r>(
    subjects: usize,
    taken: impl Iterator<Item = (&'r Row, usize)> + Clone,
    dimension: usize,
    policy: Policy,
) -> Result<TaskTable, StatisticsError> {
    let measured = taken.filter_map(|(row, task)| {
        let value = reading(row, dimension, policy)?;
        Some(Observation { subject: row.subject, task, value })
    });
    TaskTable::of(subjects, measured)
}
