//! Two subjects side by side, task by task: which is ahead, or that they cannot be told apart.

use karat_core::statistics::StatisticsError;
use karat_core::statistics::compare::{Difference, Pairs, Verdict, paired_bootstrap};
use karat_core::statistics::outcome::{Run, table};
use karat_core::statistics::table::TaskTable;

use super::{By, Settings, readings};
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
    /// Compares two subjects over the tasks that both have. From `pass` billionths on a result passes.
    pub fn new(
        rows: &Rows,
        (first, second): (usize, usize),
        pass: i64,
        settings: &Settings,
    ) -> Result<Self, StatisticsError> {
        let subjects = rows.subjects.len();
        let (tasks, _) = rows.tasks();
        let taken: Vec<(&Row, usize)> = rows
            .rows
            .iter()
            .zip(tasks)
            .filter(|(row, _)| row.subject == first || row.subject == second)
            .collect();
        let runs: Vec<Run> = taken
            .iter()
            .map(|&(row, task)| Run {
                subject: row.subject,
                task,
                outcome: row.outcome,
                score: By::Score.of(row),
            })
            .collect();
        let scores = table(subjects, &runs, settings.policy)?;
        let difference =
            |table: &TaskTable| paired_bootstrap(table, first, second, settings.plan, settings.level);
        let mut dimensions = Vec::with_capacity(rows.dimensions.len());
        for at in 0..rows.dimensions.len() {
            let table = readings(subjects, &taken, at)?;
            let shares_tasks = table.ahead_of(first, &[second]).tasks_of(0) > 0;
            dimensions.push(if shares_tasks { Some(difference(&table)?) } else { None });
        }
        let counted = |subject: usize| {
            let values =
                runs.iter().filter(|run| run.subject == subject && run.value(settings.policy).is_some());
            values.count()
        };
        let is_once = [first, second].into_iter().all(|it| counted(it) == scores.tasks_of(it));
        let passes =
            if is_once { Some(Passes::new(&scores, (first, second), pass, settings.level)?) } else { None };
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
    fn new(
        scores: &TaskTable,
        (first, second): (usize, usize),
        pass: i64,
        level: f64,
    ) -> Result<Self, StatisticsError> {
        let mut theirs = scores.results(second).peekable();
        let both = scores.results(first).filter_map(|(task, value)| {
            while theirs.next_if(|(other, _)| *other < task).is_some() {}
            theirs.next_if(|(other, _)| *other == task).map(|(_, other)| (value >= pass, other >= pass))
        });
        let pairs = Pairs::of(both);
        Ok(Self { pairs, mid_p: pairs.mid_p(), verdict: pairs.verdict(level)? })
    }
}
