//! The tasks at which the second of two subjects does worse than the first, and those at which it does better.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;

use karat_stats::permutation::{Permutation, discoveries};

use super::attempts::Pass;
use super::{By, Settings, run};
use crate::rows::Rows;
use crate::words::TaskChangeKind as ChangeKind;

/// The seed of the splits of many attempts at a task.
const SPLITS: u64 = 1;

/// The tasks that both subjects have, by what became of them.
#[derive(Debug, Clone, Default)]
pub struct Changes {
    /// Tasks at which the second does worse: lost passes first, then by how much.
    pub regressed: Vec<TaskChange>,
    /// Tasks at which it does better, in the same order.
    pub fixed: Vec<TaskChange>,
    /// The number of tasks at which both do alike.
    pub same: usize,
    /// The number of tasks whose attempts could show a difference.
    pub tested: usize,
    /// The tasks at which the first has an attempt that counts and the second has none, as indexes into the names of tasks.
    pub missing: Vec<usize>,
    /// The tasks that both have, at which the second has fewer attempts that count than the first.
    pub fewer: Vec<usize>,
    /// The number of attempts of the second that are missing at each of these tasks.
    pub lacking: BTreeMap<usize, usize>,
}

/// A task at which two subjects differ.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskChange {
    /// The task, as an index into the names of tasks.
    pub task: usize,
    /// The change.
    pub kind: ChangeKind,
    /// The attempts of the first and of the second that count.
    pub sides: [Side; 2],
    /// The chance of such a difference if their attempts are alike; none where each has one attempt.
    pub p: Option<f64>,
    /// True if the difference is more than chance, among all tasks; none where there are too few attempts to tell.
    pub is_outside_noise: Option<bool>,
}

/// The attempts of a subject at a task that count.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Side {
    /// Each as an index into [`Rows::rows`], its value in billionths, and whether it passes.
    pub attempts: Vec<(usize, i64, bool)>,
}

impl Side {
    fn sum(&self) -> i128 {
        self.attempts.iter().map(|(_, value, _)| i128::from(*value)).sum()
    }

    fn count(&self) -> i128 {
        self.attempts.len() as i128
    }

    /// Returns the number of attempts that pass.
    pub fn passed(&self) -> usize {
        self.attempts.iter().filter(|(.., passes)| *passes).count()
    }

    /// Returns the mean of the attempts, 0 to 1.
    pub fn mean(&self) -> f64 {
        if self.attempts.is_empty() { 0.0 } else { self.sum() as f64 / self.count() as f64 / 1e9 }
    }
}

/// Returns how the second share compares with the first, exactly.
fn compared(first: (i128, i128), second: (i128, i128)) -> Ordering {
    (second.0 * first.1).cmp(&(first.0 * second.1))
}

/// Returns what became of a task, if anything did. With one attempt each a pass that is lost or gained comes before the score;
/// with several the mean does, and only if it is equal the share of attempts that pass.
fn kind([first, second]: &[Side; 2]) -> Option<ChangeKind> {
    let value = compared((first.sum(), first.count()), (second.sum(), second.count()));
    let passes = compared((first.passed() as i128, first.count()), (second.passed() as i128, second.count()));
    let is_single = first.count() == 1 && second.count() == 1;
    match (is_single, passes, value.then(passes)) {
        (true, Ordering::Less, _) => Some(ChangeKind::PassLost),
        (true, Ordering::Greater, _) => Some(ChangeKind::PassGained),
        (.., Ordering::Less) => Some(ChangeKind::Fell),
        (.., Ordering::Greater) => Some(ChangeKind::Rose),
        (.., Ordering::Equal) => None,
    }
}

impl Changes {
    /// Lists the tasks that both have an attempt at that counts. With several attempts at a task each gets a permutation test,
    /// and those outside noise are chosen so that of them at most the share outside of the level is expected to be chance.
    pub fn new(rows: &Rows, (first, second): (usize, usize), pass: Pass, settings: &Settings) -> Self {
        let mut tasks: BTreeMap<usize, [Side; 2]> = BTreeMap::new();
        for (at, (row, &task)) in rows.rows.iter().zip(&rows.tasks.of_rows).enumerate() {
            let side = match row.subject {
                subject if subject == first => 0,
                subject if subject == second => 1,
                _ => continue,
            };
            let run = run(row, task, By::Score);
            let counted = run.value(settings.policy).zip(pass.of(&run, settings.policy));
            let sides = counted.map(|counted| (tasks.entry(task).or_default(), counted));
            if let Some((sides, (value, passes))) = sides {
                // A mean over cases is not an attempt, and does not pass.
                let passes = passes && row.cases().is_none();
                let attempts = sides.iter_mut().skip(side).take(1);
                attempts.for_each(|side| side.attempts.push((at, value, passes)));
            }
        }
        let lacking: BTreeMap<usize, usize> = tasks
            .iter()
            .map(|(task, [first, second])| {
                (*task, first.attempts.len().saturating_sub(second.attempts.len()))
            })
            .filter(|(_, lacking)| *lacking > 0)
            .collect();
        let has_none = |task: &&usize| tasks.get(task).is_some_and(|[_, second]| second.attempts.is_empty());
        let (missing, fewer) = lacking.keys().partition(has_none);
        tasks.retain(|_, sides| sides.iter().all(|side| !side.attempts.is_empty()));
        let tests: Vec<Option<Permutation>> = tasks
            .values()
            .map(|[first, second]| {
                let values =
                    |side: &Side| side.attempts.iter().map(|(_, value, _)| *value).collect::<Vec<_>>();
                Permutation::of(&values(first), &values(second), SPLITS)
            })
            .collect();
        let rate = 1.0 - settings.level;
        let outside = discoveries(&tests, rate);
        let mut found = Self {
            tested: tests.iter().flatten().filter(|test| test.lowest <= rate).count(),
            missing,
            lacking: lacking.clone(),
            fewer,
            ..Self::default()
        };
        for (((task, sides), test), is_outside) in tasks.into_iter().zip(tests).zip(outside) {
            let Some(kind) = kind(&sides) else {
                found.same += 1;
                continue;
            };
            let change = TaskChange {
                task,
                kind,
                sides,
                p: test.map(|test| test.p),
                is_outside_noise: test.filter(|test| test.lowest <= rate).map(|_| is_outside),
            };
            if matches!(kind, ChangeKind::PassLost | ChangeKind::Fell) {
                found.regressed.push(change)
            } else {
                found.fixed.push(change)
            }
        }
        let size = |change: &TaskChange| {
            let [first, second] = &change.sides;
            (first.sum() * second.count() - second.sum() * first.count()).unsigned_abs() as f64
                / (first.count() * second.count()) as f64
        };
        let noise = |change: &TaskChange| Reverse(change.is_outside_noise == Some(true));
        for list in [&mut found.regressed, &mut found.fixed] {
            list.sort_by(|a, b| {
                let first = (a.kind, noise(a)).cmp(&(b.kind, noise(b)));
                first.then(size(b).total_cmp(&size(a))).then(a.task.cmp(&b.task))
            });
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(values: &[(i64, bool)]) -> Side {
        Side { attempts: values.iter().map(|&(value, passes)| (0, value, passes)).collect() }
    }

    #[test]
    fn a_lost_pass_comes_before_a_score_and_a_mean_before_passes() {
        let of = |first: &[(i64, bool)], second: &[(i64, bool)]| kind(&[side(first), side(second)]);
        assert_eq!(of(&[(6, true)], &[(7, false)]), Some(ChangeKind::PassLost));
        assert_eq!(of(&[(7, false)], &[(6, true)]), Some(ChangeKind::PassGained));
        assert_eq!(of(&[(7, true)], &[(6, true)]), Some(ChangeKind::Fell));
        assert_eq!(of(&[(6, false)], &[(7, false)]), Some(ChangeKind::Rose));
        assert_eq!(of(&[(6, true)], &[(6, true)]), None);
        // Several attempts: 1/3 is more than 0.333.
        assert_eq!(of(&[(1000, true), (0, true), (0, true)], &[(333, true)]), Some(ChangeKind::Fell));
        assert_eq!(of(&[(5, true), (5, true)], &[(6, false), (6, false)]), Some(ChangeKind::Rose));
        assert_eq!(of(&[(5, true), (5, true)], &[(5, false)]), Some(ChangeKind::Fell));
    }

    #[test]
    fn the_other_way_round_worse_is_better() {
        let attempts: Vec<(i64, bool)> = (0..3).flat_map(|value| [(value, false), (value, true)]).collect();
        let pairs = attempts.iter().flat_map(|&one| attempts.iter().map(move |&other| vec![one, other]));
        let all: Vec<Side> = attempts.iter().map(|&it| vec![it]).chain(pairs).map(|it| side(&it)).collect();
        for first in &all {
            for second in &all {
                let mirrored = kind(&[second.clone(), first.clone()]).map(|kind| match kind {
                    ChangeKind::PassLost => ChangeKind::PassGained,
                    ChangeKind::PassGained => ChangeKind::PassLost,
                    ChangeKind::Fell => ChangeKind::Rose,
                    ChangeKind::Rose => ChangeKind::Fell,
                });
                assert_eq!(kind(&[first.clone(), second.clone()]), mirrored, "{first:?} {second:?}");
            }
            assert_eq!(kind(&[first.clone(), first.clone()]), None);
        }
    }
}
