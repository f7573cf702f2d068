//! Two subjects side by side, task by task: which is ahead, or that they cannot be told apart.

use std::collections::BTreeMap;

use karat_stats::StatisticsError;
use karat_stats::compare::{Difference, Pairs, Verdict, paired_bootstrap};
use karat_stats::outcome::{Run, table};
use karat_stats::table::TaskTable;

use super::attempts::Pass;
use super::{By, Settings, readings, run};
use crate::rows::{Row, Rows};

/// Two subjects compared.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The first: its place in [`Rows::subjects`].
    pub first: usize,
    /// The second.
    pub second: usize,
    /// The mean over its tasks of each, 0 to 1.
    pub means: [Option<f64>; 2],
    /// The difference of the scores, first minus second, over the tasks that both have.
    pub score: Difference,
    /// The same by dimension; none where they share no task with a reading.
    pub dimensions: Vec<Option<Difference>>,
    /// Who passed where, if every task was tried once by each.
    pub passes: Option<Passes>,
}

/// Who passed which tasks.
#[derive(Debug, Clone)]
pub struct Passes {
    /// The tasks by who passed them.
    pub pairs: Pairs,
    /// McNemar's test in the mid-p form: how likely a split this uneven is if neither is better.
    pub mid_p: f64,
    /// The answer of the test.
    pub verdict: Verdict,
}

impl Pair {
    /// Compares two subjects over the tasks that both have. `pass` says which results are passes.
    pub fn new(
        rows: &Rows,
        (first, second): (usize, usize),
        pass: Pass,
        settings: &Settings,
    ) -> Result<Self, StatisticsError> {
        let subjects = rows.subjects.len();
        let taken: Vec<(&Row, usize)> = rows
            .rows
            .iter()
            .zip(rows.tasks.of_rows.iter().copied())
            .filter(|(row, _)| row.subject == first || row.subject == second)
            .collect();
        let runs: Vec<Run> = taken.iter().map(|&(row, task)| run(row, task, By::Score)).collect();
        let scores = table(subjects, &runs, settings.policy)?;
        let difference =
            |table: &TaskTable| paired_bootstrap(table, first, second, settings.plan, settings.level);
        let mut dimensions = Vec::with_capacity(rows.dimensions.len());
        for at in 0..rows.dimensions.len() {
            let table = readings(subjects, &taken, at, settings.policy)?;
            let shares_tasks = table.ahead_of(first, &[second]).tasks_of(0) > 0;
            dimensions.push(if shares_tasks { Some(difference(&table)?) } else { None });
        }
        let passes = Passes::new(&runs, first, pass, settings)?;
        let mean = |subject: usize| scores.mean(subject).map(|mean| mean as f64 / 1e9);
        Ok(Self {
            first,
            second,
            means: [mean(first), mean(second)],
            score: difference(&scores)?,
            dimensions,
            passes,
        })
    }
}

impl Passes {
    /// Counts the tasks; none if one was tried twice by a subject.
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
