//! Two subjects side by side, task by task, with the verdict on which is ahead, if either.

use std::collections::BTreeMap;

use karat_stats::StatisticsError;
use karat_stats::bootstrap::Estimate;
use karat_stats::cases::Cases;
use karat_stats::compare::{ComparisonVerdict, Difference, Pairs, paired_bootstrap};
use karat_stats::outcome::{Run, table};
use karat_stats::table::TaskTable;

use super::attempts::Pass;
use super::changes::Changes;
use super::{By, Settings, cases, cases_of_dimension, readings, run};
use crate::rows::{Row, Rows};

/// The comparison of two subjects.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The index of the first in [`Rows::subjects`].
    pub first: usize,
    /// The index of the second.
    pub second: usize,
    /// The mean of each over its tasks, 0 to 1.
    pub means: [Option<f64>; 2],
    /// The difference of the scores, first minus second, over the tasks that both have.
    pub score: Difference,
    /// The same by dimension; None if they share no task with a value.
    pub dimensions: Vec<Option<Difference>>,
    /// The tasks that each passed, if each tried every task once.
    pub passes: Option<Passes>,
    /// The tasks at which the second does worse or better than the first.
    pub changes: Changes,
}

/// The tasks that two subjects passed.
#[derive(Debug, Clone)]
pub struct Passes {
    /// The tasks by which of the two passed.
    pub pairs: Pairs,
    /// McNemar's test in the mid-p form: the probability of a split this uneven if neither is better.
    pub mid_p: f64,
    /// The result of the test.
    pub verdict: ComparisonVerdict,
}

impl Pair {
    /// Compares two subjects over the tasks that both have. `pass` is the criterion for a pass.
    pub fn new(
        rows: &Rows,
        (first, second): (usize, usize),
        pass: Pass,
        settings: &Settings,
    ) -> Result<Self, StatisticsError> {
        let subjects = rows.subjects.len();
        let taken = taken(rows, (first, second));
        let runs: Vec<Run> = taken.iter().map(|&(row, task)| run(row, task, By::Score)).collect();
        let scores = table(subjects, &runs, settings.policy)?;
        let difference =
            |table: &TaskTable, cases: &Cases| difference(table, cases, (first, second), settings);
        let mut dimensions = Vec::with_capacity(rows.dimensions.len());
        for at in 0..rows.dimensions.len() {
            let table = readings(subjects, taken.iter().copied(), at, settings.policy)?;
            let cases = cases_of_dimension(taken.iter().copied(), at, settings.policy);
            let shares_tasks = table.between(first, second).tasks() > 0;
            dimensions.push(if shares_tasks { Some(difference(&table, &cases)?) } else { None });
        }
        let cases = cases(taken.iter().copied(), settings);
        // A mean over cases passes nothing.
        let are_single = [first, second].iter().all(|&subject| cases.of(subject).is_none());
        let passes = if are_single { Passes::new(&runs, first, pass, settings)? } else { None };
        let mean = |subject: usize| scores.mean(subject).map(|mean| mean as f64 / 1e9);
        Ok(Self {
            first,
            second,
            means: [mean(first), mean(second)],
            score: difference(&scores, &cases)?,
            dimensions,
            passes,
            changes: Changes::new(rows, (first, second), pass, settings),
        })
    }

    /// Returns the difference of the scores alone.
    ///
    /// # Errors
    /// If the two share no task, or the resamples are too few for the level.
    pub fn score(
        rows: &Rows,
        pair: (usize, usize),
        settings: &Settings,
    ) -> Result<Difference, StatisticsError> {
        let taken = taken(rows, pair);
        let runs: Vec<Run> = taken.iter().map(|&(row, task)| run(row, task, By::Score)).collect();
        let scores = table(rows.subjects.len(), &runs, settings.policy)?;
        difference(&scores, &cases(taken.iter().copied(), settings), pair, settings)
    }
}

/// Returns the items of two subjects, each with its task.
fn taken(rows: &Rows, (first, second): (usize, usize)) -> Vec<(&Row, usize)> {
    let all = rows.rows.iter().zip(rows.tasks.of_rows.iter().copied());
    all.filter(|(row, _)| row.subject == first || row.subject == second).collect()
}

/// Compares two subjects of a table. Results that are means over cases are compared by their cases, as on a leaderboard.
fn difference(
    table: &TaskTable,
    cases: &Cases,
    (first, second): (usize, usize),
    settings: &Settings,
) -> Result<Difference, StatisticsError> {
    let found = paired_bootstrap(table, first, second, settings.plan, settings.level)?;
    let own = cases.difference(first, second, settings.level)?;
    let verdict = cases.verdict(first, second, settings.level)?;
    Ok(match own.zip(verdict) {
        None => found,
        Some((own, verdict)) => Difference {
            estimate: Estimate { interval: own.interval, ..found.estimate },
            enough_tasks: true,
            spread: None,
            verdict,
            ..found
        },
    })
}

impl Passes {
    /// Counts the tasks; None if a subject tried one twice.
    fn new(
        runs: &[Run],
        first: usize,
        pass: Pass,
        settings: &Settings,
    ) -> Result<Option<Self>, StatisticsError> {
        let mut results: BTreeMap<usize, [Option<bool>; 2]> = BTreeMap::new();
        for run in runs {
            let Some(passed) = pass.of(run, settings.policy) else { continue };
            let [of_first, of_second] = results.entry(run.task).or_default();
            let place = if run.subject == first { of_first } else { of_second };
            if place.replace(passed).is_some() {
                return Ok(None);
            }
        }
        let pairs = Pairs::of(results.into_values().filter_map(|[first, second]| first.zip(second)));
        Ok(Some(Self { pairs, mid_p: pairs.mid_p(), verdict: pairs.verdict(settings.level)? }))
    }
}
