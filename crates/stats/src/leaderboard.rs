//! A leaderboard that does not claim an order the evidence does not show: rank ranges, and letters for ties.

use alloc::vec::Vec;

use super::cases::Cases;
use karat_core::number::BILLION;

use super::compare::{ComparisonVerdict, spread};
use super::estimate::Estimate;
use super::letters::Letters;
use super::power::{POWER, smallest_difference, tasks_needed};
use super::ranks::{RankRange, ranks};
use super::table::TaskTable;
use super::verdicts::Verdicts;
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
    /// The ranks that the comparisons of pairs leave open, all of them together; none for a subject with one task, and where
    /// nothing was compared.
    pub rank_range: Option<RankRange>,
    /// Its letters, from 1, in rising order: two subjects share one exactly if they are not distinguishable. Empty if it
    /// could not be compared with any; none if it has one task, and where nothing was compared.
    pub letters: Option<Vec<u32>>,
    /// The subjects with a higher mean that it is ahead of on the tasks they share: its mean is lower because its other
    /// tasks are harder, or were left to others. Such pairs should be run on the same tasks.
    pub ahead_of: Vec<usize>,
    /// The subjects that it shares too few tasks with to be compared.
    pub too_few_shared: Vec<usize>,
}

/// The differences that the tasks of a leaderboard can settle, by the formula of [`super::power`] at the level that all its pairs
/// together leave to one of them (Bonferroni).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settles {
    /// The middle, over neighbours in rank, of the smallest difference that the tasks they share show with the chance [`POWER`], as
    /// a share of the scale. None where it is more than the scale, or the tasks are too few for any.
    pub gap: Option<f64>,
    /// The tasks that such neighbours share: the middle number.
    pub tasks: u64,
    /// The difference of the first two over the tasks they share.
    pub first: f64,
    /// The number of tasks that show it with that chance; none for a difference of 0, or without a spread.
    pub tasks_for_first: Option<u64>,
}

impl Settles {
    /// Returns what the tasks settle between subjects in the order of their ranks; none where neighbours share fewer than two, all
    /// differences are the same, or results are means over cases.
    fn new(
        table: &TaskTable,
        cases: &Cases,
        ranked: &[usize],
        level: f64,
    ) -> Result<Option<Self>, StatisticsError> {
        let pairs = (ranked.len() * ranked.len().saturating_sub(1) / 2).max(1);
        let level = 1.0 - outside(level)? / pairs as f64;
        let (mut gaps, mut tasks, mut first) = (Vec::new(), Vec::new(), None);
        for pair in ranked.windows(2) {
            let &[one, other] = pair else { continue };
            if cases.of(one).zip(cases.of(other)).is_some() {
                continue;
            }
            let between = table.between(one, other);
            let own = between.tasks() as u64;
            let Some(spread) = spread(between.values(0)).filter(|spread| *spread > 0.0) else { continue };
            gaps.push(smallest_difference(spread, own, level, POWER)?.unwrap_or(f64::INFINITY));
            tasks.push(own);
            if gaps.len() == 1 && ranked.first() == Some(&one) {
                let mean = between.mean(0).unwrap_or_default() as f64 / BILLION as f64;
                first = Some((mean.abs(), tasks_needed(spread, mean, level, POWER)?));
            }
        }
        gaps.sort_by(f64::total_cmp);
        tasks.sort_unstable();
        let Some((first, tasks_for_first)) = first else { return Ok(None) };
        let gap = gaps.get(gaps.len() / 2).copied().filter(|gap| *gap <= 1.0);
        let tasks = tasks.get(tasks.len() / 2).copied().unwrap_or_default();
        Ok(Some(Self { gap, tasks, first, tasks_for_first }))
    }
}

/// Subjects by their mean.
#[derive(Debug, Clone, PartialEq)]
pub struct Leaderboard {
    /// The rows, the highest mean first, equal ones in the order of the subjects.
    pub rows: Vec<Row>,
    /// Subjects without results; they are not ranked.
    pub unranked: Vec<usize>,
    /// Number of letters; none where nothing was compared.
    pub letters: Option<u32>,
    /// True if all ranked subjects have the same tasks. If not, a mean also says which tasks a subject has.
    pub same_tasks: bool,
    /// The confidence of each interval by itself, and of all comparisons together; none of a census.
    pub level: Option<f64>,
    /// The differences that the tasks can settle; none where nothing was compared.
    pub settles: Option<Settles>,
}

impl Leaderboard {
    /// Ranks the subjects of a table, with the intervals of `cases` for the subjects that have them, and compares each pair
    /// ([`super::verdicts`]). A subject with one task has a rank and nothing else: one result does not show how far results
    /// lie apart.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1.
    pub fn new(table: &TaskTable, cases: &Cases, level: f64) -> Result<Self, StatisticsError> {
        outside(level)?;
        let mut board = Self::by_mean(table, |subject| Estimate::with_cases(table, cases, subject, level))?;
        board.level = Some(level);
        let is_alone = |row: &Row| row.estimate.tasks < 2 && cases.of(row.subject).is_none();
        let places: Vec<usize> = (0..board.rows.len())
            .filter(|&place| board.rows.get(place).is_some_and(|row| !is_alone(row)))
            .collect();
        let subjects: Vec<usize> =
            places.iter().filter_map(|&place| board.rows.get(place)).map(|row| row.subject).collect();
        if let Some(verdicts) = Verdicts::new(table, cases, &subjects, level)? {
            board.tell_apart(&places, &verdicts);
            board.settles = Settles::new(table, cases, &subjects, level)?;
        }
        Ok(board)
    }

    /// Ranks the subjects of a table that holds all there is: without uncertainty, only the means and their ranks.
    pub fn of_census(table: &TaskTable) -> Self {
        let estimate = |subject| Estimate::of_census(table, subject).ok_or(super::estimate::NO_TASKS);
        // Only subjects with a mean are estimated.
        Self::by_mean(table, estimate).unwrap_or_else(|_| Self {
            rows: Vec::new(),
            unranked: Vec::new(),
            letters: None,
            same_tasks: true,
            level: None,
            settles: None,
        })
    }

    /// Ranks subjects by their mean alone.
    fn by_mean(
        table: &TaskTable,
        estimate: impl Fn(usize) -> Result<Estimate, StatisticsError>,
    ) -> Result<Self, StatisticsError> {
        let means: Vec<Option<i64>> = (0..table.subjects()).map(|subject| table.mean(subject)).collect();
        let mut rows = Vec::new();
        let mut unranked = Vec::new();
        for (subject, rank) in ranks(&means).into_iter().enumerate() {
            let Some(rank) = rank else {
                unranked.push(subject);
                continue;
            };
            rows.push(Row {
                subject,
                estimate: estimate(subject)?,
                rank,
                rank_range: None,
                letters: None,
                ahead_of: Vec::new(),
                too_few_shared: Vec::new(),
            });
        }
        rows.sort_by_key(|row| row.rank);
        let first = rows.first().map_or(&[][..], |row| table.places(row.subject));
        let same_tasks = rows.iter().all(|row| table.places(row.subject) == first);
        Ok(Self { rows, unranked, letters: None, same_tasks, level: None, settles: None })
    }

    /// Gives letters and rank ranges to the rows at `places`, in the order of `verdicts`, and says which pairs are separated
    /// against the means or not at all.
    fn tell_apart(&mut self, places: &[usize], verdicts: &Verdicts) {
        let letters = Letters::new(verdicts);
        self.letters = Some(letters.count);
        let whole = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let known: Vec<(usize, RankRange)> = places
            .iter()
            .filter_map(|&place| self.rows.get(place))
            .map(|row| (row.subject, row.rank))
            .collect();
        for (at, (&place, own)) in places.iter().zip(letters.of_subjects).enumerate() {
            let Some(row) = self.rows.get_mut(place) else { continue };
            row.letters = Some(own);
            let with = |wanted: ComparisonVerdict| {
                let others = known.iter().enumerate().filter(move |(other, _)| *other != at);
                others.filter(move |(other, _)| verdicts.between(at, *other) == wanted).map(|(_, it)| *it)
            };
            let is_above = |it: &(usize, RankRange)| it.1 < row.rank;
            row.ahead_of =
                with(ComparisonVerdict::FirstAhead).filter(is_above).map(|(subject, _)| subject).collect();
            row.too_few_shared =
                with(ComparisonVerdict::TooFewSharedTasks).map(|(subject, _)| subject).collect();
            let count = |wanted| u32::try_from(with(wanted).count()).unwrap_or(u32::MAX);
            let (above, below) =
                (count(ComparisonVerdict::SecondAhead), count(ComparisonVerdict::FirstAhead));
            row.rank_range = Some(RankRange {
                best: row.rank.best.min(above.saturating_add(1)),
                worst: row.rank.worst.max(whole.saturating_sub(below)),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use karat_core::number::BILLION;
    use proptest::prelude::*;

    use super::super::means::{Means, TaskValues};
    use super::super::table::{Observation, TaskTable};
    use super::*;

    fn board(subjects: usize, rows: &[Observation]) -> Leaderboard {
        Leaderboard::new(&TaskTable::new(subjects, rows).unwrap(), &Cases::default(), 0.95).unwrap()
    }

    /// Returns subjects that pass this many of 100 tasks, each in a different order.
    fn passing(counts: &[usize]) -> Vec<Observation> {
        let row = |(who, &passed): (usize, &usize)| {
            (0..100)
                .map(move |task| Observation::of_success(who, task, (task * 37 + who * 11) % 100 < passed))
        };
        counts.iter().enumerate().flat_map(row).collect()
    }

    fn letters(board: &Leaderboard) -> Vec<Option<&[u32]>> {
        board.rows.iter().map(|row| row.letters.as_deref()).collect()
    }

    #[test]
    fn close_subjects_share_a_letter_and_their_ranks_overlap() {
        let found = board(5, &passing(&[60, 88, 90, 86, 20]));
        assert_eq!(found.rows.iter().map(|row| row.subject).collect::<Vec<_>>(), [2, 1, 3, 0, 4]);
        let one = |letter: &'static [u32]| Some(letter);
        assert_eq!(letters(&found), [one(&[1]), one(&[1]), one(&[1]), one(&[2]), one(&[3])]);
        assert_eq!((found.letters, found.same_tasks), (Some(3), true));
        let top = found.rows[0].rank_range.unwrap();
        assert!(top.best == 1 && top.worst >= 2, "{top:?}");
        assert_eq!(found.rows[4].rank_range, Some(RankRange { best: 5, worst: 5 }));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

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
            let found = Means::new(TaskValues::new(values, 2), Cases::default(), 1, None).unwrap().rows(0, 2);
            prop_assert_eq!(found.iter().map(|row| row.rank).collect::<Vec<_>>(), [both; 2]);
        }
    }

    #[test]
    fn tasks_settle_what_the_formula_says() {
        // The differences of the first two are 1, 0 and -1; their deviation and mean are counted here.
        let rows = passing(&[60, 88, 20]);
        let found = board(3, &rows);
        let settles = found.settles.unwrap();
        let table = TaskTable::new(3, &rows).unwrap();
        let own = |one, other| {
            let between = table.between(one, other);
            let values: Vec<f64> = between.values(0).iter().map(|value| value / 1e9).collect();
            let mean = values.iter().sum::<f64>() / 100.0;
            let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
            (mean, libm::sqrt(squares / 99.0))
        };
        let level = 1.0 - 0.05 / 3.0;
        let ((mean, spread), (_, other)) = (own(1, 0), own(0, 2));
        let gap = |spread| smallest_difference(spread, 100, level, 0.8).unwrap().unwrap();
        assert!((settles.gap.unwrap() - gap(spread).max(gap(other))).abs() < 1e-12, "the upper of two");
        assert_eq!(settles.tasks_for_first, tasks_needed(spread, mean, level, 0.8).unwrap());
        assert_eq!(settles.tasks, 100);
        assert!((settles.first - 0.28).abs() < 1e-12);
        // Three tasks settle nothing; of equal results no spread is known.
        let few: Vec<Observation> = rows.iter().filter(|row| row.task < 3).copied().collect();
        assert_eq!(board(3, &few).settles.and_then(|it| it.gap), None);
        assert_eq!(board(3, &passing(&[100, 100, 100])).settles, None);
        assert_eq!(board(2, &passing(&[50])).settles, None);
    }

    #[test]
    fn all_tied_one_subject_and_nobody() {
        let tied = board(3, &passing(&[100, 100, 100]));
        assert!(tied.rows.iter().all(|row| row.rank == RankRange { best: 1, worst: 3 }));
        assert!(tied.rows.iter().all(|row| row.rank_range == Some(row.rank)));
        assert_eq!(letters(&tied), [Some(&[1][..]); 3]);
        let alone = board(2, &passing(&[50]));
        assert_eq!(
            (alone.rows.len(), alone.unranked.as_slice(), alone.letters),
            (1, [1].as_slice(), Some(0))
        );
        assert!(board(2, &[]).rows.is_empty());
    }

    #[test]
    fn a_mean_over_easier_tasks_is_marked() {
        // On the first 50 tasks the second is ahead by far; the first skipped the 50 that are hard.
        let mut rows: Vec<Observation> =
            (0..50).map(|task| Observation { subject: 0, task, value: 500_000_000 + task as i64 }).collect();
        rows.extend((0..50).map(|task| Observation { subject: 1, task, value: 700_000_000 }));
        rows.extend((50..100).map(|task| Observation { subject: 1, task, value: 0 }));
        let found = board(2, &rows);
        assert_eq!((found.rows[0].subject, found.same_tasks), (0, false));
        assert_eq!(letters(&found), [Some(&[1][..]), Some(&[2])]);
        assert_eq!(
            (found.rows[1].ahead_of.as_slice(), found.rows[0].ahead_of.as_slice()),
            (&[0][..], &[][..])
        );
    }

    #[test]
    fn subjects_that_share_too_few_tasks_are_neither_tied_nor_separated() {
        // Two halves of forty tasks; the third has the first four of each.
        let mut rows: Vec<Observation> = (0..40)
            .map(|task| Observation::of_success(usize::from(task >= 20), task, task % 2 == 0))
            .collect();
        rows.extend((0..4).chain(20..24).map(|task| Observation::of_success(2, task, task % 3 == 0)));
        let found = board(3, &rows);
        assert_eq!(letters(&found), [Some(&[][..]); 3]);
        for row in &found.rows {
            let others: Vec<usize> = (0..3).filter(|other| *other != row.subject).collect();
            assert_eq!((&row.too_few_shared, row.rank_range.is_some()), (&others, true));
        }
        assert_eq!((found.letters, found.same_tasks), (Some(0), false));
        // A fifth shared task is enough to compare the third with the first.
        rows.push(Observation::of_success(2, 4, true));
        let found = board(3, &rows);
        let of = |subject: usize| found.rows.iter().find(|row| row.subject == subject).unwrap();
        assert_eq!((of(0).letters.as_deref(), of(2).letters.as_deref()), (Some(&[1][..]), Some(&[1][..])));
        assert_eq!((of(1).letters.as_deref(), of(0).too_few_shared.as_slice()), (Some(&[][..]), &[1][..]));
    }

    #[test]
    fn one_task_says_nothing_about_ranks() {
        let rows: Vec<Observation> = (0..3)
            .map(|who| Observation { subject: who, task: who, value: 100_000_000 * who as i64 })
            .collect();
        let found = board(3, &rows);
        assert_eq!(found.rows.iter().map(|row| row.rank.best).collect::<Vec<_>>(), [1, 2, 3]);
        for row in &found.rows {
            assert_eq!((row.rank_range, &row.letters), (None, &None), "{row:?}");
            assert_eq!(row.estimate.interval, None);
            assert!(row.too_few_shared.is_empty() && row.ahead_of.is_empty());
        }
    }

    #[test]
    fn beside_a_subject_with_one_task_no_rank_is_certain() {
        // The fourth has one perfect result; the others are ranked by a hundred.
        let mut rows = passing(&[90, 60, 20]);
        rows.push(Observation::of_success(3, 0, true));
        let found = board(4, &rows);
        assert_eq!(found.rows.iter().map(|row| row.subject).collect::<Vec<_>>(), [3, 0, 1, 2]);
        let ranges: Vec<_> =
            found.rows.iter().map(|row| row.rank_range.map(|it| (it.best, it.worst))).collect();
        assert_eq!(ranges, [None, Some((1, 2)), Some((2, 3)), Some((3, 4))]);
        assert_eq!(letters(&found), [None, Some(&[1][..]), Some(&[2]), Some(&[3])]);
    }

    #[test]
    fn a_census_has_means_and_ranks_alone() {
        let rows = passing(&[60, 88, 60]);
        let found = Leaderboard::of_census(&TaskTable::new(4, &rows).unwrap());
        let sampled = board(4, &rows);
        for (row, other) in found.rows.iter().zip(&sampled.rows) {
            assert_eq!(
                (row.subject, row.rank, row.estimate.mean),
                (other.subject, other.rank, other.estimate.mean)
            );
            assert_eq!((row.estimate.interval, row.rank_range), (None, None));
        }
        assert_eq!((found.rows.len(), found.unranked, found.letters), (3, alloc::vec![3], None));
    }

    #[test]
    fn letters_follow_the_comparisons_and_are_in_order() {
        let counts: Vec<usize> = (0..40).map(|who| 95 - 2 * who).collect();
        let found = board(40, &passing(&counts));
        assert!(found.letters.is_some_and(|letters| letters > 3));
        let all = letters(&found);
        assert!(all.iter().all(|own| own.is_some_and(|own| !own.is_empty())));
        assert_eq!(all[0].and_then(<[u32]>::first), Some(&1), "the best has the first letter");
        assert!(all.iter().any(|own| own.is_some_and(|own| own.len() > 1)), "some are between two groups");
    }
}
