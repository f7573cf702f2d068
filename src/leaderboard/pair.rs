//! Two subjects side by side, task by task, with the verdict on which is ahead, if either.

use std::collections::BTreeMap;

use karat_stats::StatisticsError;
use karat_stats::cases::{CaseResult, Cases};
use karat_stats::compare::{
    ComparisonVerdict, Difference, Differences, NOTHING_SHARED, Pairs, Test, together,
};
use karat_stats::outcome::Run;
use karat_stats::table::{Observation, TaskTable};
use karat_stats::trials::StopsAt;

use super::attempts::{Pass, stopping};
use super::changes::Changes;
use super::{By, Settings, case_result, cases_of_dimension, readings, run};
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
    /// The result at which the attempts of each stop.
    pub stopping: [Option<StopsAt>; 2],
    /// The tasks that each passed, if each tried every task once.
    pub passes: Option<Passes>,
    /// The tasks at which the second does worse or better than the first.
    pub changes: Changes,
    pub(super) measured: Measured,
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
    /// Compares the subjects of each pair over the tasks that both have, all of them together: at least one wrong verdict among
    /// them is no more frequent than the level allows for one. `pass` is the criterion for a pass.
    ///
    /// # Errors
    /// By pair: if the two share no task.
    pub fn each(
        rows: &Rows,
        pairs: &[(usize, usize)],
        pass: Pass,
        settings: &Settings,
    ) -> Vec<Result<Self, StatisticsError>> {
        let measured: Vec<_> = pairs.iter().map(|&pair| Measured::new(rows, pair, settings)).collect();
        let levels = levels(measured.iter().map(|it| it.as_ref().ok().map(|it| it.test)), settings.level);
        let stopping = stopping(rows, &(0..rows.rows.len()).collect::<Vec<_>>(), settings);
        let compared = measured.into_iter().zip(levels).zip(pairs);
        let compared = compared.map(|((measured, level), &(first, second))| {
            let stopping = [first, second].map(|it| stopping.get(&it).copied());
            measured?.pair(rows, (first, second), stopping, level, pass, settings)
        });
        compared.collect()
    }
}

/// The results of two subjects that count.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    results: Vec<Observation>,
    cases: Vec<CaseResult>,
    table: TaskTable,
    /// The difference of the scores.
    pub score: Differences,
    /// The test of whether there is one.
    test: Test,
}

impl Measured {
    fn new(rows: &Rows, pair: (usize, usize), settings: &Settings) -> Result<Self, StatisticsError> {
        // Two subjects are all there are in the table.
        let taken = taken(rows, pair);
        let counted = taken
            .iter()
            .filter_map(|&(row, task)| Some((row, task, run(row, task, By::Score).value(settings.policy)?)));
        let side = |subject: usize| usize::from(subject == pair.1);
        let results =
            counted.clone().map(|(row, task, value)| Observation { subject: side(row.subject), task, value });
        let cases = counted.filter_map(|(row, task, value)| case_result(row, task, value));
        let cases = cases.map(|it| CaseResult { subject: side(it.subject), ..it });
        let (results, cases): (Vec<_>, Vec<_>) = (results.collect(), cases.collect());
        let (table, score) = differences(rows, &results, &cases)?;
        Ok(Self { test: Test { p: score.p()?, least: score.least() }, table, score, results, cases })
    }

    /// Returns the difference where each attempt that the second lacks is there: the first `returned` of them, those at the
    /// tasks that the first did best, as good as the first, the others with nothing.
    pub(super) fn with_lacking(
        &self,
        rows: &Rows,
        changes: &Changes,
        returned: usize,
    ) -> Result<Differences, StatisticsError> {
        let lacking = |(task, value): (usize, i64)| Some((-value, task, *changes.lacking.get(&task)?));
        let mut best: Vec<(i64, usize, usize)> = self.table.results(0).filter_map(lacking).collect();
        best.sort_unstable();
        let each =
            best.into_iter().flat_map(|(value, task, count)| std::iter::repeat_n((task, -value), count));
        let added = each.enumerate().map(|(at, (task, value))| Observation {
            subject: 1,
            task,
            value: if at < returned { value } else { 0 },
        });
        let added: Vec<Observation> = added.collect();
        let first = self.cases.iter().filter(|it| it.subject == 0);
        let of_first: BTreeMap<usize, &CaseResult> = first.map(|it| (it.task, it)).collect();
        let cases = added
            .iter()
            .filter_map(|it| Some(CaseResult { subject: 1, value: it.value, ..**of_first.get(&it.task)? }));
        let cases: Vec<CaseResult> = self.cases.iter().copied().chain(cases).collect();
        let results: Vec<Observation> = self.results.iter().copied().chain(added).collect();
        Ok(differences(rows, &results, &cases)?.1)
    }

    fn pair(
        self,
        rows: &Rows,
        (first, second): (usize, usize),
        stopping: [Option<StopsAt>; 2],
        level: f64,
        pass: Pass,
        settings: &Settings,
    ) -> Result<Pair, StatisticsError> {
        let taken = taken(rows, (first, second));
        let dimension = |at: usize| {
            let taken = || taken.iter().copied();
            let table = readings(rows.subjects.len(), taken(), at, settings.policy)?;
            let table = table.named(|task| rows.tasks.key(task));
            let cases = cases_of_dimension(taken(), at, settings.policy);
            let found = Differences::new(&table, &cases, first, second);
            found.map(|found| found.compare(settings.level)).transpose()
        };
        let runs: Vec<Run> = taken.iter().map(|&(row, task)| run(row, task, By::Score)).collect();
        let mean = |side: usize| self.table.mean(side).map(|mean| mean as f64 / 1e9);
        Ok(Pair {
            first,
            second,
            means: [mean(0), mean(1)],
            stopping,
            score: self.score.compare(level)?,
            dimensions: (0..rows.dimensions.len()).map(dimension).collect::<Result<_, _>>()?,
            // A mean over cases passes nothing.
            passes: match self.cases.iter().any(|it| it.cases.is_some()) {
                true => None,
                false => Passes::new(&runs, first, pass, settings)?,
            },
            changes: Changes::new(rows, (first, second), pass, settings),
            measured: self,
        })
    }
}

/// Returns the confidence of each of several tests, all together at `level`.
pub(super) fn levels(tests: impl Iterator<Item = Option<Test>>, level: f64) -> Vec<f64> {
    // One that could not be made can show nothing, so it is not counted.
    let none = Test { p: 1.0, least: 1.0 };
    together(&tests.map(|test| test.unwrap_or(none)).collect::<Vec<_>>(), level).collect()
}

/// Returns the table of results of two subjects, 0 and 1, and their differences.
fn differences(
    rows: &Rows,
    results: &[Observation],
    cases: &[CaseResult],
) -> Result<(TaskTable, Differences), StatisticsError> {
    let table = TaskTable::new(2, results)?.named(|task| rows.tasks.key(task));
    let found = Differences::new(&table, &Cases::new(cases.iter().copied()), 0, 1).ok_or(NOTHING_SHARED)?;
    Ok((table, found))
}

/// Returns the items of two subjects, each with its task.
fn taken(rows: &Rows, (first, second): (usize, usize)) -> Vec<(&Row, usize)> {
    let all = rows.rows.iter().zip(rows.tasks.of_rows.iter().copied());
    all.filter(|(row, _)| row.subject == first || row.subject == second).collect()
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
