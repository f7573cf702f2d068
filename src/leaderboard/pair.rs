//! Two subjects side by side, task by task, with the verdict on which is ahead, if either.

use std::collections::BTreeMap;

use karat_stats::StatisticsError;
use karat_stats::bootstrap::{Draws, Estimate};
use karat_stats::cases::Cases;
use karat_stats::compare::{ComparisonVerdict, Difference, Differences, NOTHING_SHARED, Pairs};
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
    shared: Shared,
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
    /// Compares the subjects of each pair over the tasks that both have. `pass` is the criterion for a pass.
    ///
    /// # Errors
    /// By pair: if the two share no task, or the resamples are too few for the level.
    pub fn each(
        rows: &Rows,
        pairs: &[(usize, usize)],
        pass: Pass,
        settings: &Settings,
    ) -> Vec<Result<Self, StatisticsError>> {
        let measured: Vec<_> = pairs.iter().map(|&pair| Measured::new(rows, pair, settings)).collect();
        let shared = measured.iter().flatten().flat_map(Measured::shared);
        let mut found = differences(shared, settings).into_iter();
        let finished = measured.into_iter().zip(pairs).map(|(measured, &pair)| {
            let measured = measured?;
            // All of this pair, also where one is refused.
            let found: Vec<_> = found.by_ref().take(measured.shared().count()).collect();
            measured.pair(rows, pair, found, pass, settings)
        });
        finished.collect()
    }

    /// Returns the differences of the scores alone, by other settings than those that the pairs were compared with.
    ///
    /// # Errors
    /// By pair: if the resamples are too few for the level.
    pub fn scores(pairs: &[Self], settings: &Settings) -> Vec<Result<Difference, StatisticsError>> {
        differences(pairs.iter().map(|pair| &pair.shared), settings)
    }
}

/// The results of two subjects.
struct Measured {
    runs: Vec<Run>,
    means: [Option<f64>; 2],
    is_of_cases: bool,
    score: Shared,
    dimensions: Vec<Option<Shared>>,
}

impl Measured {
    fn new(rows: &Rows, pair: (usize, usize), settings: &Settings) -> Result<Self, StatisticsError> {
        let subjects = rows.subjects.len();
        let taken = taken(rows, pair);
        let runs: Vec<Run> = taken.iter().map(|&(row, task)| run(row, task, By::Score)).collect();
        let scores = table(subjects, &runs, settings.policy)?;
        let dimension = |at: usize| {
            let table = readings(subjects, taken.iter().copied(), at, settings.policy)?;
            let cases = cases_of_dimension(taken.iter().copied(), at, settings.policy);
            Ok(Shared::new(&table, cases, pair))
        };
        let cases = cases(taken.iter().copied(), settings);
        let mean = |subject: usize| scores.mean(subject).map(|mean| mean as f64 / 1e9);
        Ok(Self {
            means: [mean(pair.0), mean(pair.1)],
            is_of_cases: cases.of(pair.0).or(cases.of(pair.1)).is_some(),
            dimensions: (0..rows.dimensions.len()).map(dimension).collect::<Result<_, _>>()?,
            score: Shared::new(&scores, cases, pair).ok_or(NOTHING_SHARED)?,
            runs,
        })
    }

    fn shared(&self) -> impl Iterator<Item = &Shared> + Clone {
        [&self.score].into_iter().chain(self.dimensions.iter().flatten())
    }

    fn pair(
        self,
        rows: &Rows,
        (first, second): (usize, usize),
        found: Vec<Result<Difference, StatisticsError>>,
        pass: Pass,
        settings: &Settings,
    ) -> Result<Pair, StatisticsError> {
        let mut found = found.into_iter();
        let mut next = || found.next().unwrap_or(Err(NOTHING_SHARED));
        let score = next()?;
        let dimensions = self.dimensions.iter().map(|shared| shared.as_ref().map(|_| next()).transpose());
        Ok(Pair {
            first,
            second,
            means: self.means,
            score,
            dimensions: dimensions.collect::<Result<_, _>>()?,
            // A mean over cases passes nothing.
            passes: if self.is_of_cases { None } else { Passes::new(&self.runs, first, pass, settings)? },
            changes: Changes::new(rows, (first, second), pass, settings),
            shared: self.score,
        })
    }
}

/// The differences of two subjects at the tasks that both have, by one measure.
#[derive(Debug, Clone)]
struct Shared {
    differences: Differences,
    cases: Cases,
    pair: (usize, usize),
}

impl Shared {
    fn new(table: &TaskTable, cases: Cases, pair: (usize, usize)) -> Option<Self> {
        Some(Self { differences: Differences::new(table, pair.0, pair.1)?, cases, pair })
    }

    /// Compares the two. Results that are means over cases are compared by their cases, as on a leaderboard.
    fn compare(&self, draws: &Draws, level: f64) -> Result<Difference, StatisticsError> {
        let found = self.differences.compare(draws, level)?;
        let own = self.cases.difference(self.pair.0, self.pair.1, level)?;
        let verdict = self.cases.verdict(self.pair.0, self.pair.1, level)?;
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
}

/// Compares two subjects by each measure. Measures with as many tasks have the same resamples, which are made once.
fn differences<'s>(
    all: impl Iterator<Item = &'s Shared> + Clone,
    settings: &Settings,
) -> Vec<Result<Difference, StatisticsError>> {
    let draws = Draws::each(all.clone().map(|shared| shared.differences.table()), settings.plan);
    all.zip(draws).map(|(shared, draws)| shared.compare(&draws?, settings.level)).collect()
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
