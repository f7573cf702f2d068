//! The answer to [`Tasks`]: what results say about the tasks that gave them.

use std::collections::BTreeMap;

use karat_core::number::Decimal;
use karat_stats::StatisticsError;
use karat_stats::flaky::{Flakiness, FlakyProposal, FlakyRule, FlakyVerdict};
use karat_stats::outcome::RunSum;
use karat_stats::proportion::Proportion;
use karat_stats::table::TaskTable;
use karat_stats::tasks::subset::{Subset, SubsetPlan, smallest_subset, split_subjects};
use karat_stats::tasks::{FalseDiscoveryRule, TaskTest, items, redundant, suspects};
use serde::Deserialize;

use super::about::{About, few};
use super::answer::{invalid, pass, settings};
use crate::answers::basis::{Basis, Measure};
use crate::answers::tasks::{self as answer, NearTasks, Repeats, SubsetCheck, TaskReport, TaskSubset};
use crate::answers::{from_billionths, share};
use crate::error::{Code, Error};
use crate::leaderboard::attempts::Pass;
use crate::leaderboard::{By, Settings, is_measured, run};
use crate::rows::Rows;
use crate::rows::attempts::numbers;

/// The correlation from which on two tasks nearly go together, and the fewest subjects that show it.
const NEAR: f64 = 0.95;
const FEWEST: usize = 8;
/// Kendall's tau that a subset must reach where it is found.
const TAU: f64 = 0.95;
/// The chance of another outcome that is tolerated.
pub(crate) const BOUND: f64 = 0.05;
/// As many tasks may be flaky whatever the share of all; beyond them, one in this number.
const FEW_FLAKY: usize = 3;
const ONE_IN: usize = 4;
/// The seed of what is drawn.
const SEED: u64 = 1;

/// The tasks themselves: how hard, what they decide, suspect keys, flaky outcomes.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", group(skip))]
#[cfg_attr(feature = "schema", derive(utoipa::IntoParams), into_params(parameter_in = Query))]
pub struct Tasks {
    /// The share of chance that is allowed among suspect tasks
    #[serde(deserialize_with = "super::number")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "SHARE", default_value_t = RATE, value_parser = super::level))]
    pub rate: f64,
    /// Points at which an item passes, to find flaky tasks
    #[serde(deserialize_with = "super::points_of")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "POINTS", value_parser = super::points))]
    #[cfg_attr(feature = "schema", param(value_type = Option<f64>))]
    pub pass: Option<Decimal>,
    /// The field with the version of a subject, if its name has none
    #[cfg_attr(feature = "cli", arg(long, value_name = "FIELD"))]
    pub version: Option<String>,
    /// Scorecard, items and confidence
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    #[cfg_attr(feature = "schema", param(ignore))]
    pub about: About,
}

/// The usual share of chance among suspect tasks.
const RATE: f64 = 0.05;

impl Default for Tasks {
    fn default() -> Self {
        Self { rate: RATE, pass: None, version: None, about: About::default() }
    }
}

impl Tasks {
    /// Returns the fields whose values the items must keep.
    pub fn kept(&self) -> Vec<String> {
        self.version.iter().cloned().chain(numbers()).collect()
    }

    /// Refuses settings that no flag takes.
    ///
    /// # Errors
    /// If there is one.
    pub fn check(&self) -> Result<(), Error> {
        super::level(&self.rate.to_string())
            .map_err(|_| invalid(format!("`rate` is `{}`, expected a share such as 0.05", self.rate)))?;
        self.about.check()
    }

    /// Computes the answer.
    ///
    /// # Errors
    /// If the items are too few, or do not say what the question needs.
    pub fn answer(&self, rows: &Rows) -> Result<answer::Tasks, Error> {
        let settings = settings(&self.about.sure, By::Score, rows);
        let condition = pass(self.pass, rows.scale)?;
        let attempts = Attempts::of(self, rows, &settings, condition)?;
        let table = table(rows, (0..rows.rows.len()).filter_map(|at| attempts.run(at)))?;
        if table.tasks() == 0 {
            return Err(Error::new(Code::NothingCounts, "no item counts, so nothing is known of any task"));
        }
        let found = items(&table, settings.level).map_err(|error| invalid(error.to_string()))?;
        let is_several = (0..table.subjects()).filter(|&it| table.tasks_of(it) > 0).count() > 1;
        let (mut repeats, subjects_vary) = attempts.repeats(rows, &settings)?;
        if !is_several && attempts.groups.values().flatten().all(|(_, passes)| passes.len() < 2) {
            let message = "one subject with one attempt at each task says nothing about the tasks";
            return Err(Error::new(Code::NothingCounts, message)
                .hint("give the items of several subjects, or several attempts at each task"));
        }
        let mut unanswered = Vec::new();
        let tests = suspects(&table, self.rate, FalseDiscoveryRule::BenjaminiHochberg, SEED);
        let tests = told(tests, "no key can be suspected", &mut unanswered)?;
        let alike = told(redundant(&table, NEAR, FEWEST), "no task can be left out", &mut unanswered)?;
        let subset =
            told(attempts.subset(rows, &table, &settings), "no subset can be checked", &mut unanswered)?;
        if subset == Some(None) {
            unanswered.push(String::from("no small set of tasks keeps the order of the subjects"));
        }
        let name = |task: usize| rows.tasks.names.get(task).cloned().unwrap_or_default();
        let names = |tasks: &[usize]| tasks.iter().map(|task| name(*task)).collect::<Vec<_>>();
        let test = |task: usize| -> Option<&TaskTest> {
            let tests = &tests.as_ref()?.tests;
            tests.binary_search_by_key(&task, |it| it.task).ok().and_then(|at| tests.get(at))
        };
        let mut tasks: Vec<TaskReport> = Vec::new();
        for item in &found {
            let test = test(item.task);
            tasks.push(TaskReport {
                task: name(item.task),
                subjects: item.difficulty.tasks as u64,
                difficulty: Measure::new(item.difficulty.mean, item.difficulty.interval),
                discrimination: item.discrimination.map(share),
                decides_nothing: item.decides_nothing,
                p: test.map(|it| share(it.p)),
                is_suspect: test.map(|it| it.suspect),
                repeats: repeats.remove(&item.task).unwrap_or_else(|| attempts.report(rows, item.task, None)),
            });
        }
        tasks.sort_by_key(|task| {
            let is_flaky = task.repeats.verdict == FlakyVerdict::Flaky;
            (task.is_suspect != Some(true), !is_flaky, !task.decides_nothing)
        });
        let near = alike.as_ref().and_then(|it| it.near.as_ref()).map(|near| {
            let pair = |&(first, second, correlation): &(usize, usize, f64)| NearTasks {
                first: name(first),
                second: name(second),
                correlation: share(correlation),
            };
            near.iter().map(pair).collect()
        });
        let least = match condition {
            Pass::Stated => None,
            Pass::From(least) => Some(from_billionths(least)),
        };
        Ok(answer::Tasks {
            schema: Default::default(),
            basis: Basis::new(rows, &settings),
            pass: least,
            rate: share(self.rate),
            tasks,
            subjects_vary,
            subjects_for_one: tests.as_ref().map(|it| it.subjects_for_one as u64),
            identical: alike.as_ref().map(|it| it.identical.iter().map(|group| names(group)).collect()),
            near,
            subset: subset.flatten().map(|(it, checked_on)| TaskSubset {
                tasks: names(&it.tasks),
                of_tasks: it.of_tasks as u64,
                checked_on,
                tau_found: share(it.tau_found),
                tau_checked: it.tau_checked.map(share),
                tau_random: it.tau_random.map(share),
                width_of_all: share(it.width_of_all),
                width_of_subset: share(it.width_of_subset),
            }),
            unanswered,
        })
    }
}

/// Returns what was found; of what is too little it adds why.
fn told<T>(
    found: Result<T, StatisticsError>,
    what: &str,
    unanswered: &mut Vec<String>,
) -> Result<Option<T>, Error> {
    if let Err(why @ (StatisticsError::TooFew { .. } | StatisticsError::TooMany { .. })) = &found {
        unanswered.push(format!("{what}: {why}"));
        return Ok(None);
    }
    few(found)
}

fn table(rows: &Rows, runs: impl Iterator<Item = RunSum>) -> Result<TaskTable, Error> {
    let sums: Vec<_> = runs.collect();
    let sums = sums.iter().map(|run| karat_stats::table::TaskSum {
        subject: run.subject,
        task: run.task,
        sum: run.sum,
        trials: run.scored,
    });
    TaskTable::of_sums(rows.subjects.len(), sums).map_err(|error| invalid(error.to_string()))
}

/// The attempts of each subject at each task under one version, in their order.
pub(crate) struct Attempts {
    /// By task, then by subject: the values in billionths, and whether they pass.
    pub groups: BTreeMap<usize, Vec<(usize, Vec<bool>)>>,
    /// The row of each item that counts, with its value.
    values: Vec<Option<(usize, usize, i64)>>,
    /// True if it is known in which order all attempts were.
    is_ordered: bool,
    /// True in the second half of the attempts of a subject at a task; none where there is one.
    halves: Vec<Option<bool>>,
}

impl Attempts {
    pub(crate) fn of(ask: &Tasks, rows: &Rows, settings: &Settings, condition: Pass) -> Result<Self, Error> {
        let versions = match &ask.version {
            Some(field) => rows.texts(field, "--version")?,
            None => vec![None; rows.rows.len()],
        };
        let value = |at: usize| {
            let row = rows.rows.get(at).filter(|row| is_measured(row, By::Score) && row.cases().is_none())?;
            let task = *rows.tasks.of_rows.get(at)?;
            let run = run(row, task, By::Score);
            Some((row.subject, task, run.value(settings.policy)?, condition.of(&run, settings.policy)?))
        };
        let all: Vec<usize> = (0..rows.rows.len()).collect();
        let mut found = Self {
            groups: BTreeMap::new(),
            values: Vec::new(),
            is_ordered: true,
            halves: vec![None; all.len()],
        };
        found.values = all.iter().map(|at| value(*at).map(|it| (it.0, it.1, it.2))).collect();
        for (subject, tasks) in rows.by_task(&all, false) {
            for attempts in tasks {
                let Some(task) = attempts.first().and_then(|at| rows.tasks.of_rows.get(*at)).copied() else {
                    continue;
                };
                let counted: Vec<usize> = attempts.into_iter().filter(|at| value(*at).is_some()).collect();
                let mut by_version: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
                let ordered = rows.in_order(counted);
                found.is_ordered &= ordered.is_known;
                for at in ordered.rows {
                    by_version.entry(versions.get(at).copied().flatten()).or_default().push(at);
                }
                for own in by_version.into_values() {
                    for (nth, at) in own.iter().enumerate() {
                        let half = (own.len() > 1).then_some(nth >= own.len() / 2);
                        found.halves.iter_mut().skip(*at).take(1).for_each(|it| *it = half);
                    }
                    let passes = own.iter().filter_map(|at| value(*at)).map(|it| it.3).collect();
                    found.groups.entry(task).or_default().push((subject, passes));
                }
            }
        }
        Ok(found)
    }

    fn run(&self, at: usize) -> Option<RunSum> {
        let (subject, task, value) = (*self.values.get(at)?)?;
        Some(RunSum { subject, task, outcome: None, runs: 1, scored: 1, sum: value })
    }

    /// Returns what the outcomes of each task say, and whether they change at many tasks: the subjects are random then, and nothing is
    /// proposed.
    pub(crate) fn repeats(
        &self,
        rows: &Rows,
        settings: &Settings,
    ) -> Result<(BTreeMap<usize, Repeats>, bool), Error> {
        let rule = FlakyRule { bound: BOUND, level: settings.level };
        let (mut found, mut repeated, mut flaky) = (BTreeMap::new(), 0, 0);
        for (task, groups) in &self.groups {
            let passes: Vec<&[bool]> = groups.iter().map(|(_, passes)| passes.as_slice()).collect();
            let report = self.report(rows, *task, few(rule.judge(&passes))?.as_ref());
            repeated += usize::from(report.attempts > groups.len() as u64);
            // What changed once and stayed is of another version.
            flaky += usize::from(report.proposal == FlakyProposal::Quarantine);
            found.insert(*task, report);
        }
        let subjects_vary = flaky > FEW_FLAKY && ONE_IN * flaky > repeated;
        if subjects_vary {
            found.values_mut().for_each(|it| it.proposal = FlakyProposal::Keep);
        }
        Ok((found, subjects_vary))
    }

    /// Returns whether it is known in which order all attempts were.
    pub(crate) fn is_ordered(&self) -> bool {
        self.is_ordered
    }

    /// Returns whether a task that was flaky has shown to be stable with each subject: only where the order of all attempts is known.
    pub(crate) fn comes_back(&self, task: usize, level: f64) -> Result<bool, Error> {
        let rule = FlakyRule { bound: BOUND, level };
        let groups = self.groups.get(&task).map(Vec::as_slice).unwrap_or_default();
        let mut back = self.is_ordered && !groups.is_empty();
        for (_, passes) in groups {
            back &= rule.comes_back(passes).map_err(|error| invalid(error.to_string()))?;
        }
        Ok(back)
    }

    /// Returns the subset of the tasks that keeps the order, and what it was checked on.
    fn subset(
        &self,
        rows: &Rows,
        table_of_all: &TaskTable,
        settings: &Settings,
    ) -> Result<Option<(Subset, SubsetCheck)>, StatisticsError> {
        let most = (table_of_all.tasks() / 2).max(2);
        let plan = SubsetPlan { tau: TAU, most, level: settings.level, seed: SEED };
        let half = |wanted: bool| {
            let own = (0..self.halves.len()).filter(|at| self.halves.get(*at) == Some(&Some(wanted)));
            table(rows, own.filter_map(|at| self.run(at))).ok()
        };
        let by_attempts = half(false).zip(half(true)).map(|(one, other)| smallest_subset(&one, &other, plan));
        match by_attempts {
            Some(Ok(found)) => Ok(found.map(|it| (it, SubsetCheck::Attempts))),
            _ => {
                let (one, other) = split_subjects(table_of_all)?;
                Ok(smallest_subset(&one, &other, plan)?.map(|it| (it, SubsetCheck::Subjects)))
            }
        }
    }

    fn report(&self, rows: &Rows, task: usize, found: Option<&Flakiness>) -> Repeats {
        let groups = self.groups.get(&task).map(Vec::as_slice).unwrap_or_default();
        let passes: Proportion = Proportion::of(groups.iter().flat_map(|(_, passes)| passes.iter().copied()));
        let flaky = || {
            let found = found.into_iter().flat_map(|it| &it.groups).zip(groups);
            found.filter(|(group, _)| group.changes > 0)
        };
        let largest = flaky()
            .max_by(|one, other| one.0.change.unwrap_or(0.0).total_cmp(&other.0.change.unwrap_or(0.0)));
        let has_stayed =
            flaky().all(|(group, _)| group.few_changes_p.is_some_and(|p| p < 1.0 - group.pass_rate.level));
        let mut subjects: Vec<String> =
            flaky().map(|(_, (subject, _))| rows.subject_name(*subject).to_owned()).collect();
        subjects.dedup();
        Repeats {
            verdict: found.map_or(FlakyVerdict::Unknown, |it| it.verdict),
            proposal: found.map_or(FlakyProposal::Repeat, |it| match it.proposal {
                // It changed and stayed: that is another version, which no one named.
                FlakyProposal::Quarantine if has_stayed => FlakyProposal::Keep,
                proposal => proposal,
            }),
            attempts: passes.trials(),
            passes: passes.successes(),
            flaky_subjects: subjects,
            change: largest.and_then(|(it, _)| Some(Measure::new(it.change?, Some(it.change_interval)))),
            change_at_most: found.and_then(|it| it.change_high).map(share),
            attempts_left: found.and_then(|it| it.repeats_left),
            few_changes_p: largest.and_then(|(it, _)| it.few_changes_p).map(share),
        }
    }
}
