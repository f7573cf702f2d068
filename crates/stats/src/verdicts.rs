//! All pairs of many subjects at once: for each the answer of [`super::compare::Differences`], judged together.

use alloc::vec::Vec;

use super::cases::Cases;
use super::compare::{ComparisonVerdict, Differences, Test, together, two_sided};
use super::table::TaskTable;
use super::{StatisticsError, outside};

/// The verdict on each pair of subjects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdicts {
    count: usize,
    /// By the first, then by the second.
    all: Vec<ComparisonVerdict>,
}

impl Verdicts {
    /// The largest number of pairs that are compared; more would take minutes.
    pub const MOST_PAIRS: usize = 500_000;

    /// Compares each pair of `subjects`; the places are those in that list. All pairs are judged together, so that at least one
    /// wrong verdict among them is no more frequent than `level` allows for one. None where that are more than
    /// [`Self::MOST_PAIRS`].
    ///
    /// # Errors
    /// If `level` is not between 0 and 1.
    pub fn new(
        table: &TaskTable,
        cases: &Cases,
        subjects: &[usize],
        level: f64,
    ) -> Result<Option<Self>, StatisticsError> {
        outside(level)?;
        if pairs(subjects.len()).nth(Self::MOST_PAIRS).is_some() {
            return Ok(None);
        }
        let differences = |(first, second): (usize, usize)| {
            let subject = |at: usize| subjects.get(at).copied();
            Differences::new(table, cases, subject(first)?, subject(second)?)
        };
        // What is enough for all of them is not looked at further.
        let least = outside(level)? / 2.0 / pairs(subjects.len()).count().max(1) as f64;
        let mut chances = Vec::new();
        for pair in pairs(subjects.len()) {
            let found = differences(pair);
            let able = found.as_ref().map_or(1.0, Differences::least);
            let above = found.filter(|_| able <= 1.0 - level).map(|found| found.chance_down_to(0.0, least));
            chances.push((above.unwrap_or(Ok(0.5))?, able));
        }
        let tests: Vec<Test> =
            chances.iter().map(|&(above, least)| Test { p: two_sided(above), least }).collect();
        let verdicts = chances.into_iter().zip(together(&tests, level)).map(|((above, able), level)| {
            match two_sided(above) > 1.0 - level {
                _ if able > 1.0 - level => ComparisonVerdict::TooFewSharedTasks,
                true => ComparisonVerdict::NotDistinguishable,
                false if above < 0.5 => ComparisonVerdict::FirstAhead,
                false => ComparisonVerdict::SecondAhead,
            }
        });
        Ok(Some(Self::of_known(subjects.len(), verdicts)))
    }

    /// Makes verdicts that are known, in rising order of the first and then of the second: `(0, 1), (0, 2), (1, 2)`.
    pub fn of_known(count: usize, verdicts: impl IntoIterator<Item = ComparisonVerdict>) -> Self {
        let mut found =
            Self { count, all: alloc::vec![ComparisonVerdict::NotDistinguishable; count * count] };
        for ((first, second), verdict) in pairs(count).zip(verdicts) {
            for (at, verdict) in
                [(first * count + second, verdict), (second * count + first, verdict.mirrored())]
            {
                if let Some(slot) = found.all.get_mut(at) {
                    *slot = verdict;
                }
            }
        }
        found
    }

    /// Returns the number of subjects.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the verdict on two places in the list of subjects; of a place and itself that they are not
    /// distinguishable, and of a place that does not exist that it shares no tasks.
    pub fn between(&self, first: usize, second: usize) -> ComparisonVerdict {
        let known = (first < self.count && second < self.count).then_some(first * self.count + second);
        known.and_then(|at| self.all.get(at)).copied().unwrap_or(ComparisonVerdict::TooFewSharedTasks)
    }
}

/// Returns the pairs of places below `count`, in rising order of the first and then of the second.
fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |first| (first + 1..count).map(move |second| (first, second)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::compare::{compare, tasks_to_tell_apart};
    use super::super::table::Observation;
    use super::*;

    fn verdicts(table: &TaskTable, level: f64) -> Verdicts {
        let subjects: Vec<usize> = (0..table.subjects()).collect();
        Verdicts::new(table, &Cases::default(), &subjects, level).unwrap().unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Levels, few tasks, equal values, gaps and repeated trials.
        #[test]
        fn a_pair_is_separated_if_holms_procedure_says_so(
            cells in prop::collection::vec(prop::collection::vec(0u8..9, 2..24), 2..5),
            gaps in any::<bool>(),
            level in prop::sample::select(alloc::vec![0.6, 0.9, 0.95, 0.99]),
        ) {
            let tasks = cells.iter().map(Vec::len).min().unwrap();
            let mut rows = Vec::new();
            for (subject, values) in cells.iter().enumerate() {
                for (task, value) in values.iter().take(if gaps { values.len() } else { tasks }).enumerate() {
                    let shift = 100_000_000 * subject as i64;
                    let value = match value {
                        0 if gaps => continue,
                        1 => { rows.push(Observation { subject, task, value: 7 + shift }); 2 }
                        2..4 => 300_000_000 + shift,
                        _ => i64::from(*value) * 50_000_000 + shift / 2,
                    };
                    rows.push(Observation { subject, task, value });
                }
            }
            let table = TaskTable::new(cells.len(), &rows).unwrap();
            let found = verdicts(&table, level);
            // Of each pair by itself: those with the smallest chances are separated, the k-th of m with 1 / (m - k), where m are
            // those that could be separated beside m others.
            let all: Vec<_> = pairs(cells.len())
                .filter_map(|pair| Some((pair, compare(&table, pair.0, pair.1, level).ok()?)))
                .map(|(pair, it)| (it.p, libm::pow(0.5, it.estimate.tasks as f64), pair))
                .collect();
            let able = |share: f64| all.iter().filter(move |(_, least, _)| *least <= share);
            let share = (1..).map(|m| (m, (1.0 - level) / m as f64)).find(|(m, share)| able(*share).count() <= *m);
            let mut alone: Vec<_> = able(share.unwrap().1).map(|&(p, _, pair)| (p, pair)).collect();
            for pair in pairs(cells.len()) {
                let is_few = found.between(pair.0, pair.1) == ComparisonVerdict::TooFewSharedTasks;
                prop_assert_eq!(is_few, alone.iter().all(|it| it.1 != pair));
                prop_assert_eq!(found.between(pair.1, pair.0), found.between(pair.0, pair.1).mirrored());
            }
            alone.sort_by(|a, b| a.0.total_cmp(&b.0));
            let count = alone.len();
            let separated = alone
                .iter()
                .enumerate()
                .take_while(|(at, (p, _))| p * (count - at) as f64 <= 1.0 - level + 1e-12)
                .count();
            for (at, (_, (first, second))) in alone.into_iter().enumerate() {
                let is_tied = found.between(first, second) == ComparisonVerdict::NotDistinguishable;
                prop_assert_eq!(is_tied, at >= separated, "{} {}", first, second);
            }
        }
    }

    #[test]
    fn a_constant_difference_is_the_strongest_evidence() {
        let rows: Vec<Observation> = (0..20)
            .flat_map(|task| {
                [900_000_000, 800_000_000, 800_000_001]
                    .into_iter()
                    .enumerate()
                    .map(move |(subject, value)| Observation { subject, task, value })
            })
            .collect();
        let found = verdicts(&TaskTable::new(3, &rows).unwrap(), 0.95);
        assert_eq!(found.between(0, 1), ComparisonVerdict::FirstAhead);
        assert_eq!(found.between(1, 2), ComparisonVerdict::SecondAhead, "by a billionth at every task");
    }

    /// 10,585 pairs ask for a smaller chance at 99 % than a million turns have.
    #[test]
    fn many_pairs_are_separated_by_as_much_as_few_are() {
        let rows: Vec<Observation> = (0..146)
            .flat_map(|subject| (0..40).map(move |task| Observation::of_success(subject, task, subject == 0)))
            .collect();
        let found = verdicts(&TaskTable::new(146, &rows).unwrap(), 0.99);
        assert!((1..146).all(|other| found.between(0, other) == ComparisonVerdict::FirstAhead));
        assert_eq!(found.between(1, 2), ComparisonVerdict::NotDistinguishable);
    }

    #[test]
    fn boards_of_more_subjects_than_their_tasks_can_tell_apart_say_so() {
        let board = |subjects, tasks| {
            let rows: Vec<Observation> = (0..subjects)
                .flat_map(|subject| {
                    (0..tasks).map(move |task| Observation::of_success(subject, task, subject == 0))
                })
                .collect();
            verdicts(&TaskTable::new(subjects, &rows).unwrap(), 0.95).between(0, 1)
        };
        for (subjects, needed) in [(2, 5), (5, 8), (20, 12), (60, 16)] {
            assert_eq!(tasks_to_tell_apart(subjects as u64, 0.95), needed);
            assert_eq!(board(subjects, needed), ComparisonVerdict::FirstAhead, "{subjects}");
            assert_eq!(board(subjects, needed - 1), ComparisonVerdict::TooFewSharedTasks, "{subjects}");
        }
    }

    #[test]
    fn more_pairs_than_can_be_compared_have_no_verdicts() {
        let rows: Vec<Observation> =
            (0..1100).map(|subject| Observation::of_success(subject, 0, true)).collect();
        let table = TaskTable::new(1100, &rows).unwrap();
        let subjects: Vec<usize> = (0..1100).collect();
        assert_eq!(Verdicts::new(&table, &Cases::default(), &subjects, 0.95), Ok(None));
        assert!(Verdicts::new(&table, &Cases::default(), &[0, 1], 1.0).is_err());
    }
}
