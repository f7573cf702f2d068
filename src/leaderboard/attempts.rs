//! Repeated attempts at the same tasks: the chance that one of k passes, the chance that all k pass, the best of k.

use std::collections::BTreeMap;

use karat_core::facts::Outcome;
use karat_core::number::BILLION;
use karat_stats::StatisticsError;
use karat_stats::cases::Cases;
use karat_stats::estimate::Estimate;
use karat_stats::outcome::{Policy, Run};
use karat_stats::table::{Observation, TaskTable};
use karat_stats::trials::{Results, StopsAt, Trials, expected_best_of_k};

use super::{By, Settings, estimates, is_measured, run};
use crate::rows::Rows;

/// The evaluation of repeated attempts.
#[derive(Debug, Clone, Copy)]
pub struct Attempts {
    /// The largest k; the smallest is 1.
    pub most: u32,
    /// The criterion for a pass.
    pub pass: Pass,
}

/// The criterion for a pass of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    /// Its outcome is success; without a stated outcome, its score is perfect.
    Stated,
    /// Its value is at least this, in billionths.
    From(i64),
}

impl Pass {
    /// Returns true if a run passes under a policy; None if the policy leaves it out.
    pub fn of(self, run: &Run, policy: Policy) -> Option<bool> {
        let value = run.value(policy)?;
        Some(match (self, run.outcome()) {
            (Self::From(least), _) => value >= least,
            (Self::Stated, Some(Outcome::Succeeded)) => true,
            (Self::Stated, Some(Outcome::Failed)) => false,
            (Self::Stated, _) => value >= BILLION,
        })
    }
}

/// The results of a subject's attempts.
#[derive(Debug, Clone, Default)]
pub struct AttemptsOf {
    /// For k from 1 on.
    pub by_k: Vec<AttemptsAt>,
}

/// The results of k attempts at each task. Tasks with fewer attempts are left out, as their chance cannot be estimated
/// without bias.
#[derive(Debug, Clone)]
pub struct AttemptsAt {
    /// The number of attempts.
    pub k: u32,
    /// Tasks with k attempts or more.
    pub tasks: usize,
    /// Tasks with fewer attempts.
    pub tasks_left_out: usize,
    /// The chance that at least one passes (pass@k).
    pub pass_at: Option<Estimate>,
    /// The chance that all pass (pass^k).
    pub pass_hat: Option<Estimate>,
    /// The expected score of the best of k.
    pub best_of: Option<Estimate>,
}

/// Returns the subjects of the `items` whose attempts stop at a result, as the items show it.
pub(crate) fn stopping(rows: &Rows, items: &[usize], settings: &Settings) -> BTreeMap<usize, StopsAt> {
    let value = |at: &usize| {
        let row = rows.rows.get(*at).filter(|row| is_measured(row, By::Score))?;
        run(row, 0, By::Score).value(settings.policy)
    };
    let results = |task: &[usize]| task.iter().map(value).collect::<Results>();
    // The order is looked up of few: there may be a million items.
    let unequal = rows.by_task(items, true).into_iter();
    let found = unequal.filter_map(|(subject, tasks)| {
        if !StopsAt::is_possible(&tasks.iter().map(|task| results(task)).collect::<Vec<_>>()) {
            return None;
        }
        let tasks: Vec<_> = tasks.into_iter().map(|task| rows.in_order(task)).collect();
        let results: Vec<Results> = tasks.iter().map(|task| results(&task.rows)).collect();
        Some((subject, StopsAt::new(&results, tasks.iter().all(|task| task.is_known))?))
    });
    if settings.by == By::Fact { BTreeMap::new() } else { found.collect() }
}

/// The value of an attempt in billionths, and true if it passes.
type Counted = (i64, bool);

/// Estimates the chances of repeated attempts for all subjects; none of those whose attempts stop at a result, as the formulas are
/// of a number of attempts that is fixed in advance.
pub fn of(
    subjects: usize,
    runs: &[Run],
    wanted: Attempts,
    stopping: &BTreeMap<usize, StopsAt>,
    settings: &Settings,
) -> Result<Vec<AttemptsOf>, StatisticsError> {
    let mut values: BTreeMap<(usize, usize), Vec<Counted>> = BTreeMap::new();
    for run in runs {
        let counted = run.value(settings.policy).zip(wanted.pass.of(run, settings.policy));
        if let Some(counted) = counted {
            values.entry((run.subject, run.task)).or_default().push(counted);
        }
    }
    // The order of attempts must not change the last bit of a sum.
    values.values_mut().for_each(|values| values.sort_unstable());
    let mut found = vec![AttemptsOf::default(); subjects];
    for k in 1..=wanted.most {
        let share = |of: &dyn Fn(&[Counted]) -> Option<f64>| {
            let each = values
                .iter()
                .filter_map(|(&(subject, task), values)| Observation::of_share(subject, task, of(values)?));
            TaskTable::new(subjects, &each.collect::<Vec<_>>())
        };
        let trials = |values: &[Counted]| Trials {
            passed: values.iter().filter(|(_, passes)| *passes).count() as u64,
            trials: values.len() as u64,
        };
        let shares =
            |values: &[Counted]| values.iter().map(|(value, _)| *value as f64 / 1e9).collect::<Vec<_>>();
        let tables = [
            share(&|values| trials(values).pass_at_k(k.into()))?,
            share(&|values| trials(values).pass_hat_k(k.into()))?,
            share(&|values| expected_best_of_k(&shares(values), k as usize))?,
        ];
        let [at, hat, best] = tables.each_ref().map(|table| estimates(table, &Cases::default(), settings));
        let (at, hat, best) = (at?, hat?, best?);
        for (subject, found) in found.iter_mut().enumerate() {
            let is_fixed = !stopping.contains_key(&subject);
            let estimate =
                |found: &[Option<Estimate>]| found.get(subject).filter(|_| is_fixed).cloned().flatten();
            let tasks = tables.first().map_or(0, |table| table.tasks_of(subject));
            let all = values.range((subject, 0)..=(subject, usize::MAX)).count();
            found.by_k.push(AttemptsAt {
                k,
                tasks,
                tasks_left_out: all - tasks,
                pass_at: estimate(&at),
                pass_hat: estimate(&hat),
                best_of: estimate(&best),
            });
        }
    }
    Ok(found)
}
