//! A leaderboard that does not claim an order the evidence does not show: rank ranges, and groups that are tied.

use alloc::vec::Vec;

use super::bootstrap::{Draws, Ends, Estimate};
use super::compare::{Verdict, difference};
use super::ranks::{RankRange, RankTally, ranks};
use super::{StatisticsError, outside};

/// A subject on the leaderboard.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The subject, by its index in the caller's list of subjects.
    pub subject: usize,
    /// The mean over its tasks, with its interval.
    pub estimate: Estimate,
    /// The rank by the mean alone.
    pub rank: RankRange,
    /// The ranks within which it lies in a share `level` of the resamples; where all its tasks gave the same value, so
    /// that no resample says anything about it, those of its group too.
    pub rank_range: RankRange,
    /// The share of resamples in which no other subject is above it, 0 to 1.
    pub share_first: f64,
    /// The tie group, from 1: subjects that are tied with the group leader.
    pub group: u32,
    /// Tasks that it shares with the group leader; all its tasks for the leader itself.
    pub shared_tasks: usize,
    /// True if it differs from the leader of the group above it, and is ahead of it on the tasks they share: its mean
    /// is lower because its other tasks are harder, or were left to others. Such a pair should be run on the same tasks.
    pub ahead_on_shared_tasks: bool,
}

/// Subjects by their mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaderboard {
    /// The rows, the highest mean first, equal ones in the order of the subjects.
    pub rows: Vec<Row>,
    /// Subjects without results; they are not ranked.
    pub unranked: Vec<usize>,
    /// Number of groups.
    pub groups: u32,
    /// True if all ranked subjects have the same tasks. If not, a mean also says which tasks a subject has.
    pub same_tasks: bool,
    /// The confidence of intervals, rank ranges and comparisons, each by itself.
    pub level: f64,
    /// Number of resamples that were made.
    pub draws: u32,
    /// The seed.
    pub seed: u64,
}

impl Leaderboard {
    /// Ranks the subjects of the table behind `draws`, which are shared by all of them.
    ///
    /// Groups are made from the top: the first subject leads the first group, and those after it join while the
    /// bootstrap of the differences task by task ([`super::compare`]) does not separate them from the leader; the first
    /// that it separates leads the next group. A subject that shares no task with the leader is tied with it. That two
    /// subjects are in different groups does not say that each of one differs from each of the other.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, or the resamples are too few for it.
    ///
    /// ```
    /// use karat_stats::bootstrap::{Draws, Ends, Plan};
    /// use karat_stats::leaderboard::Leaderboard;
    /// use karat_stats::table::{Observation, TaskTable};
    /// // Of a hundred tasks the first passes 80, the second 78, the third 20.
    /// let results: Vec<_> = [80, 78, 20]
    ///     .into_iter()
    ///     .enumerate()
    ///     .flat_map(|(who, passed)| (0..100).map(move |task| Observation::of_success(who, task, task < passed)))
    ///     .collect();
    /// let table = TaskTable::new(3, &results)?;
    /// let draws = Draws::new(&table, Plan { draws: 1000, seed: 1 })?;
    /// let leaderboard = Leaderboard::new(&draws, 0.95, Ends::BiasCorrectedAccelerated)?;
    /// assert_eq!(leaderboard.rows.iter().map(|row| row.group).collect::<Vec<_>>(), [1, 1, 2]);
    /// # Ok::<(), karat_stats::StatisticsError>(())
    /// ```
    pub fn new(draws: &Draws<'_>, level: f64, ends: Ends) -> Result<Self, StatisticsError> {
        let tail = outside(level)? / 2.0;
        let table = draws.table();
        let means: Vec<Option<i64>> = (0..table.subjects()).map(|subject| table.mean(subject)).collect();
        let tallies = tally(draws);
        let mut rows = Vec::new();
        let mut unranked = Vec::new();
        for (subject, (rank, tally)) in ranks(&means).into_iter().zip(tallies).enumerate() {
            let Some(rank) = rank else {
                unranked.push(subject);
                continue;
            };
            let estimate = draws.estimate(subject, level, ends)?;
            let drawn = f64::from(estimate.draws - estimate.draws_without_tasks);
            rows.push(Row {
                subject,
                rank,
                share_first: f64::from(tally.count(1)) / drawn,
                rank_range: tally.range(tail).unwrap_or(rank),
                group: 0,
                shared_tasks: estimate.tasks,
                ahead_on_shared_tasks: false,
                estimate,
            });
        }
        rows.sort_by_key(|row| row.rank);
        let groups = group(draws, level, &mut rows)?;
        widen(&mut rows);
        let leader = rows.first().map_or(0, |row| row.subject);
        let others: Vec<usize> = rows.iter().map(|row| row.subject).collect();
        let shared = table.ahead_of(leader, &others);
        let has_same_tasks = |(column, row): (usize, &Row)| {
            row.estimate.tasks == shared.tasks_of(column) && row.estimate.tasks == table.tasks_of(leader)
        };
        let same_tasks = rows.iter().enumerate().all(has_same_tasks);
        let plan = draws.plan();
        Ok(Self { rows, unranked, groups, same_tasks, level, draws: plan.draws, seed: plan.seed })
    }
}

/// Returns the ranks of every subject in every resample, among those that have a mean in it.
fn tally(draws: &Draws<'_>) -> Vec<RankTally> {
    let subjects = draws.table().subjects();
    let mut tallies = alloc::vec![RankTally::default(); subjects];
    let mut columns: Vec<_> = (0..subjects).map(|subject| draws.means(subject)).collect();
    for _ in 0..draws.plan().draws {
        let means: Vec<Option<i64>> = columns.iter_mut().map(|column| column.next().flatten()).collect();
        for (tally, rank) in tallies.iter_mut().zip(ranks(&means)) {
            if let Some(rank) = rank {
                tally.add(rank);
            }
        }
    }
    tallies
}

/// Gives the rows their groups, from the top; how many there are.
fn group(draws: &Draws<'_>, level: f64, rows: &mut [Row]) -> Result<u32, StatisticsError> {
    let table = draws.table();
    let (mut group, mut from) = (0, 0);
    while let Some((leader, rest)) = rows.get_mut(from..).and_then(<[Row]>::split_first_mut) {
        group += 1;
        leader.group = group;
        from += 1;
        // The width doubles: a group that ends soon makes no resamples for the subjects below it.
        let mut width = 8;
        let mut rest = rest;
        'group: while !rest.is_empty() {
            let (near, far) = rest.split_at_mut(width.min(rest.len()));
            let others: Vec<usize> = near.iter().map(|row| row.subject).collect();
            let differences = table.ahead_of(leader.subject, &others);
            let drawn = Draws::new(&differences, draws.plan())?;
            for (column, row) in near.iter_mut().enumerate() {
                let shared = differences.tasks_of(column);
                if shared > 0 {
                    let found = difference(table, leader.subject, row.subject, &drawn, column, level)?;
                    if found.verdict != Verdict::NotDistinguishable {
                        row.ahead_on_shared_tasks = found.verdict == Verdict::SecondAhead;
                        break 'group;
                    }
                }
                row.group = group;
                row.shared_tasks = shared;
                from += 1;
            }
            rest = far;
            width *= 2;
        }
    }
    Ok(group)
}

/// Gives those of which no resample says anything the ranks of their groups.
fn widen(rows: &mut [Row]) {
    for group in rows.chunk_by_mut(|a, b| a.group == b.group) {
        let best = group.iter().map(|row| row.rank.best).min();
        let worst = group.iter().map(|row| row.rank.worst).max();
        let Some((best, worst)) = best.zip(worst) else { continue };
        for row in group.iter_mut().filter(|row| row.estimate.all_alike) {
            let found = row.rank_range;
            row.rank_range = RankRange { best: found.best.min(best), worst: found.worst.max(worst) };
        }
    }
}

#[cfg(test)]
mod tests {
    use karat_core::number::BILLION;
    use proptest::prelude::*;

    use super::super::bootstrap::Plan;
    use super::super::student::{StudentRanking, TaskValues};
    use super::super::table::{Observation, TaskTable};
    use super::*;

    const PLAN: Plan = Plan { draws: 500, seed: 9 };

    fn board(subjects: usize, rows: &[Observation]) -> Leaderboard {
        let table = TaskTable::new(subjects, rows).unwrap();
        let draws = Draws::new(&table, PLAN).unwrap();
        Leaderboard::new(&draws, 0.95, Ends::Percentile).unwrap()
    }

    /// Returns subjects that pass this many of 100 tasks, each in a different order.
    fn passing(counts: &[usize]) -> Vec<Observation> {
        let row = |(who, &passed): (usize, &usize)| {
            (0..100)
                .map(move |task| Observation::of_success(who, task, (task * 37 + who * 11) % 100 < passed))
        };
        counts.iter().enumerate().flat_map(row).collect()
    }

    #[test]
    fn close_subjects_share_a_group_and_their_ranks_overlap() {
        let found = board(5, &passing(&[60, 88, 90, 86, 20]));
        assert_eq!(found.rows.iter().map(|row| row.subject).collect::<Vec<_>>(), [2, 1, 3, 0, 4]);
        assert_eq!(found.rows.iter().map(|row| row.group).collect::<Vec<_>>(), [1, 1, 1, 2, 3]);
        assert_eq!((found.groups, found.same_tasks), (3, true));
        let top = &found.rows[0];
        assert!(top.rank_range.best == 1 && top.rank_range.worst >= 2, "{top:?}");
        assert_eq!(found.rows[4].rank_range, RankRange { best: 5, worst: 5 });
        let first: f64 = found.rows.iter().map(|row| row.share_first).sum();
        assert!(first >= 1.0, "somebody is first in every draw, and ties count for both: {first}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, cases: 64, ..ProptestConfig::default() })]

        /// The second subject has every task of the first twice and every trial of it `times` times: the same exact mean.
        #[test]
        fn equal_means_have_equal_ranks(
            tasks in prop::collection::vec(prop::collection::vec(0..=BILLION, 1..8), 1..10),
            times in 1usize..4,
        ) {
            let mut rows = Vec::new();
            for (task, trials) in tasks.iter().enumerate() {
                rows.extend(trials.iter().map(|&value| Observation { subject: 0, task, value }));
                for copy in [0, tasks.len()] {
                    let again = trials.iter().cycle().take(trials.len() * times);
                    rows.extend(again.map(|&value| Observation { subject: 1, task: task + copy, value }));
                }
            }
            let both = RankRange { best: 1, worst: 2 };
            let found = board(2, &rows);
            prop_assert_eq!(found.rows.iter().map(|row| row.rank).collect::<Vec<_>>(), [both; 2]);
            let values = rows.iter().map(|it| (it.subject as u32, Some(it.task as u32), it.value));
            let found = StudentRanking::new(TaskValues::new(values, 2), 1, 0.95).unwrap().rows(0, 2);
            prop_assert_eq!(found.iter().map(|row| row.rank).collect::<Vec<_>>(), [both; 2]);
        }
    }

    #[test]
    fn all_tied_one_subject_and_nobody() {
        let tied = board(3, &passing(&[100, 100, 100]));
        assert!(tied.rows.iter().all(|row| row.group == 1 && row.rank == RankRange { best: 1, worst: 3 }));
        assert!(tied.rows.iter().all(|row| row.rank_range == row.rank && row.share_first == 1.0));
        let alone = board(2, &passing(&[50]));
        assert_eq!((alone.rows.len(), alone.unranked.as_slice(), alone.groups), (1, [1].as_slice(), 1));
        let table = TaskTable::new(2, &[]).unwrap();
        assert!(Draws::new(&table, PLAN).is_err());
    }

    #[test]
    fn a_mean_over_easier_tasks_is_marked() {
        // On the first 50 tasks the second is ahead by far; the first skipped the 50 that are hard.
        let mut rows: Vec<Observation> =
            (0..50).map(|task| Observation { subject: 0, task, value: 500_000_000 + task as i64 }).collect();
        rows.extend((0..50).map(|task| Observation { subject: 1, task, value: 700_000_000 }));
        rows.extend((50..100).map(|task| Observation { subject: 1, task, value: 0 }));
        let found = board(2, &rows);
        assert_eq!((found.rows[0].subject, found.rows[1].group, found.same_tasks), (0, 2, false));
        assert!(found.rows[1].ahead_on_shared_tasks);
        assert!(!found.rows[0].ahead_on_shared_tasks);
    }

    #[test]
    fn subjects_without_a_shared_task_are_not_told_apart() {
        let rows: Vec<Observation> = (0..40)
            .map(|task| Observation::of_success(usize::from(task % 2 == 1), task, task % 2 == 0))
            .collect();
        let found = board(2, &rows);
        assert_eq!(
            found.rows.iter().map(|row| (row.group, row.shared_tasks)).collect::<Vec<_>>(),
            [(1, 20), (1, 0)]
        );
        assert!(!found.same_tasks);
    }

    #[test]
    fn one_task_says_nothing_about_places() {
        let rows: Vec<Observation> = (0..3)
            .map(|who| Observation { subject: who, task: who, value: 100_000_000 * who as i64 })
            .collect();
        let found = board(3, &rows);
        assert!(
            found.rows.iter().all(|row| row.group == 1 && row.rank_range == RankRange { best: 1, worst: 3 })
        );
    }

    #[test]
    fn more_subjects_than_one_step_of_the_grouping() {
        let counts: Vec<usize> = (0..40).map(|who| 95 - 2 * who).collect();
        let found = board(40, &passing(&counts));
        assert!(found.groups > 3);
        assert!(
            found.rows.iter().is_sorted_by_key(|row| row.group) && found.rows.iter().all(|row| row.group > 0)
        );
        assert_eq!(found.rows.last().unwrap().group, found.groups);
    }
}
