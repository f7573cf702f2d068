//! All pairs of many subjects at once: for each the answer of [`super::compare::paired_bootstrap`].

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::num::NonZeroU64;

use super::bootstrap::{Plan, Resamples, ends_if_alike, enough, expanded, is_end_above, left_out};
use super::compare::{ComparisonVerdict, Sides};
use super::table::{TaskTable, sum_of_products};
use super::{StatisticsError, outside};

/// The verdict on each pair of subjects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdicts {
    count: usize,
    /// By the first, then by the second.
    all: Vec<ComparisonVerdict>,
}

/// The differences of two subjects at the tasks that they share, and how many resamples lie on each side of 0.
struct Open {
    /// The places of the two in the list of subjects.
    pair: (usize, usize),
    /// The two subjects.
    subjects: (usize, usize),
    differences: Vec<f64>,
    above: u32,
    below: u32,
}

/// Pairs by the number of tasks that the two share.
type OpenPairs = BTreeMap<usize, Vec<Open>>;

/// The rule that decides on which side of 0 an interval lies, for every pair.
#[derive(Clone, Copy)]
struct Rule {
    plan: Plan,
    outside: f64,
}

impl Verdicts {
    /// The largest number of tasks drawn for all pairs together; more would take minutes.
    pub const MOST_DRAWN: u64 = 50_000_000_000;

    /// Compares each pair of `subjects`; the places are those in that list. None where that are more than
    /// [`Self::MOST_DRAWN`].
    ///
    /// A resample depends only on the number of tasks that the two share, so subjects with the same tasks take part in the
    /// same ones, and a pair costs no more than a difference in each.
    ///
    /// # Errors
    /// If `level` is not between 0 and 1, or the resamples are too few for it.
    pub fn new(
        table: &TaskTable,
        subjects: &[usize],
        plan: Plan,
        level: f64,
    ) -> Result<Option<Self>, StatisticsError> {
        let outside = outside(level)?;
        enough(plan.draws, outside / 2.0)?;
        let rule = Rule { plan, outside };
        let classes = classes(table, subjects);
        if work(table, &classes, plan) > Self::MOST_DRAWN {
            return Ok(None);
        }
        let count = subjects.len();
        let mut found =
            Self { count, all: alloc::vec![ComparisonVerdict::NotDistinguishable; count * count] };
        for class in &classes {
            found.compare_alike(table, class, rule)?;
        }
        found.compare_rest(table, &classes, rule)?;
        Ok(Some(found))
    }

    /// Makes verdicts that are known, in rising order of the first and then of the second: `(0, 1), (0, 2), (1, 2)`.
    pub fn of_known(count: usize, verdicts: impl IntoIterator<Item = ComparisonVerdict>) -> Self {
        let mut found =
            Self { count, all: alloc::vec![ComparisonVerdict::NotDistinguishable; count * count] };
        let pairs = (0..count).flat_map(|first| (first + 1..count).map(move |second| (first, second)));
        for (pair, verdict) in pairs.zip(verdicts) {
            found.set(pair, verdict);
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

    /// Replaces the verdict on a pair.
    pub(super) fn set(&mut self, (first, second): (usize, usize), verdict: ComparisonVerdict) {
        let count = self.count;
        for (at, verdict) in [(first * count + second, verdict), (second * count + first, verdict.mirrored())]
        {
            if let Some(slot) = self.all.get_mut(at) {
                *slot = verdict;
            }
        }
    }

    /// Compares the pairs of subjects that have the same tasks: a difference of means is one of two sums.
    fn compare_alike(
        &mut self,
        table: &TaskTable,
        class: &[(usize, usize)],
        rule: Rule,
    ) -> Result<(), StatisticsError> {
        let values: Vec<&[f64]> = class.iter().map(|(_, subject)| table.values(*subject)).collect();
        let tasks = values.first().map_or(0, |values| values.len());
        let Some(drawn) = NonZeroU64::new(tasks as u64).filter(|_| class.len() > 1) else { return Ok(()) };
        let left_out = rule.left_out(tasks)?;
        let count = class.len();
        let mut resamples = Resamples::new(drawn, rule.plan.seed);
        let mut sums = alloc::vec![0.0; count];
        let mut sides = alloc::vec![(0u32, 0u32); count * count];
        for _ in 0..rule.plan.draws {
            let times = resamples.next();
            for (sum, values) in sums.iter_mut().zip(&values) {
                *sum = 2.0 * sum_of_products(times, values);
            }
            for ((first, sides), after) in sums.iter().zip(sides.chunks_exact_mut(count)).zip(1..) {
                let others = sums.iter().zip(sides).skip(after);
                for (second, (above, below)) in others {
                    *above += u32::from(first - second > tasks as f64);
                    *below += u32::from(second - first > tasks as f64);
                }
            }
        }
        let pairs = class.iter().zip(&values).zip(sides.chunks_exact(count)).zip(1..);
        for (((first, own), sides), after) in pairs {
            for ((second, theirs), &(above, below)) in class.iter().zip(&values).zip(sides).skip(after) {
                let pair = ((first.0, second.0), (first.1, second.1));
                let differences = own.iter().zip(*theirs).map(|(a, b)| a - b);
                self.set(pair.0, rule.verdict(table, pair.1, differences, (above, below), left_out));
            }
        }
        Ok(())
    }

    /// Compares the pairs of subjects of different classes.
    fn compare_rest(
        &mut self,
        table: &TaskTable,
        classes: &[Vec<(usize, usize)>],
        rule: Rule,
    ) -> Result<(), StatisticsError> {
        /// The largest number of differences that are kept at a time.
        const MOST_KEPT: usize = 4_000_000;
        let mut open: OpenPairs = BTreeMap::new();
        let mut kept = 0;
        for (at, class) in classes.iter().enumerate() {
            let others = classes.iter().skip(at + 1).flatten();
            for (&(first, subject), &(second, other)) in
                others.flat_map(|other| class.iter().map(move |own| (own, other)))
            {
                let differences = table.between(subject, other).values(0).to_vec();
                kept += differences.len();
                let (pair, subjects) = ((first, second), (subject, other));
                let pair = Open { pair, subjects, differences, above: 0, below: 0 };
                open.entry(pair.differences.len()).or_default().push(pair);
                if kept > MOST_KEPT {
                    self.settle(table, core::mem::take(&mut open), rule)?;
                    kept = 0;
                }
            }
        }
        self.settle(table, open, rule)
    }

    /// Draws for the pairs of each number of shared tasks, and decides them.
    fn settle(&mut self, table: &TaskTable, open: OpenPairs, rule: Rule) -> Result<(), StatisticsError> {
        /// The number of resamples that each pair takes part in before the next one does, so that it is read once for them.
        const BLOCK: u32 = 16;
        for (shared, mut pairs) in open {
            if let Some(drawn) = NonZeroU64::new(shared as u64) {
                let mut resamples = Resamples::new(drawn, rule.plan.seed);
                for from in (0..rule.plan.draws).step_by(BLOCK as usize) {
                    let block: Vec<Vec<f64>> = (from..rule.plan.draws.min(from + BLOCK))
                        .map(|_| resamples.next().to_vec())
                        .collect();
                    for open in &mut pairs {
                        for times in &block {
                            let sum = 2.0 * sum_of_products(times, &open.differences);
                            open.above += u32::from(sum > shared as f64);
                            open.below += u32::from(-sum > shared as f64);
                        }
                    }
                }
            }
            let left_out = rule.left_out(shared)?;
            for open in pairs {
                let differences = open.differences.iter().copied();
                let sides = (open.above, open.below);
                let verdict = rule.verdict(table, open.subjects, differences, sides, left_out);
                self.set(open.pair, verdict);
            }
        }
        Ok(())
    }
}

impl Rule {
    /// Returns how many resamples of `shared` tasks lie at or beyond an end of the interval of a difference, at least one.
    fn left_out(self, shared: usize) -> Result<u32, StatisticsError> {
        Ok(left_out(self.plan.draws, expanded(self.outside / 2.0, shared)?).max(1))
    }

    /// Returns the verdict from the resamples with a difference above 0 and below 0. A mean is above 0 if it is so in
    /// billionths: twice the sum is more than the number of tasks.
    fn verdict(
        self,
        table: &TaskTable,
        (first, second): (usize, usize),
        differences: impl Iterator<Item = f64> + Clone,
        (above, below): (u32, u32),
        left_out: u32,
    ) -> ComparisonVerdict {
        let mut rest = differences.clone();
        let head = rest.next();
        let is_alike = head.is_some_and(|head| rest.all(|value| value.to_bits() == head.to_bits()));
        let shared = differences.clone().count();
        let (is_above, is_below) = if is_alike && shared > 1 {
            let differences = table.between(first, second);
            let mean = differences.mean(0).unwrap_or_default();
            let (low, high) = ends_if_alike(mean, shared, self.outside / 2.0, differences.lowest());
            (low > 0.0, high < 0.0)
        } else {
            let equal = self.plan.draws - above - below;
            let is_beyond = |other: u32| shared > 1 && is_end_above(other, equal, left_out);
            (is_beyond(below), is_beyond(above))
        };
        Sides::of(differences).verdict(shared, is_above, is_below, self.outside)
    }
}

/// Returns subjects with the same tasks together, each as its place in the list and its number.
fn classes(table: &TaskTable, subjects: &[usize]) -> Vec<Vec<(usize, usize)>> {
    let mut classes: BTreeMap<&[u32], Vec<(usize, usize)>> = BTreeMap::new();
    for (place, &subject) in subjects.iter().enumerate() {
        classes.entry(table.places(subject)).or_default().push((place, subject));
    }
    classes.into_values().collect()
}

/// Returns the number of tasks drawn for all pairs together, at most.
fn work(table: &TaskTable, classes: &[Vec<(usize, usize)>], plan: Plan) -> u64 {
    let tasks = |class: &[(usize, usize)]| class.first().map_or(0, |(_, subject)| table.tasks_of(*subject));
    let mut all = 0u64;
    for (at, class) in classes.iter().enumerate() {
        let (own, members) = (tasks(class) as u64, class.len() as u64);
        all = all.saturating_add(members.saturating_mul(own.saturating_add(members)));
        for other in classes.iter().skip(at + 1) {
            let pairs = members.saturating_mul(other.len() as u64);
            all = all.saturating_add(pairs.saturating_mul(own.min(tasks(other) as u64)));
        }
    }
    all.saturating_mul(plan.draws.into())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::compare::paired_bootstrap;
    use super::super::table::Observation;
    use super::*;

    fn agrees(table: &TaskTable, plan: Plan, level: f64) -> Result<(), TestCaseError> {
        let subjects: Vec<usize> = (0..table.subjects()).collect();
        let found = Verdicts::new(table, &subjects, plan, level).unwrap().unwrap();
        for first in 0..table.subjects() {
            for second in (0..table.subjects()).filter(|second| *second != first) {
                let expected = paired_bootstrap(table, first, second, plan, level)
                    .map_or(ComparisonVerdict::TooFewSharedTasks, |found| found.verdict);
                prop_assert_eq!(found.between(first, second), expected, "{} {}", first, second);
            }
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Levels, few tasks, equal values, gaps and repeated trials are where a shorter way could differ.
        #[test]
        fn every_pair_has_the_verdict_of_a_comparison(
            cells in prop::collection::vec(prop::collection::vec(0u8..9, 2..24), 2..6),
            gaps in any::<bool>(),
            level in prop::sample::select(alloc::vec![0.6, 0.9, 0.95, 0.99]),
            seed in 0u64..50,
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
            agrees(&table, Plan { draws: 199, seed }, level)?;
        }
    }

    #[test]
    fn differences_that_are_all_alike_and_differences_near_nothing() {
        // The first is ahead by the same at every task; the others by less than resamples can hold.
        let values = [900_000_000, 100_000_000, 100_000_001, 100_000_001];
        let rows: Vec<Observation> = (0..40)
            .flat_map(|task| {
                let row = move |(subject, value)| Observation {
                    subject,
                    task,
                    value: value + task as i64 % 2 * subject as i64 % 2,
                };
                values.into_iter().enumerate().map(row)
            })
            .collect();
        let table = TaskTable::new(4, &rows).unwrap();
        agrees(&table, Plan { draws: 199, seed: 3 }, 0.95).unwrap();
    }

    #[test]
    fn more_pairs_than_can_be_drawn_have_no_verdicts_and_few_resamples_are_refused() {
        let rows: Vec<Observation> = (0..400)
            .flat_map(|who| (0..2).map(move |task| Observation::of_success(who, who + task, true)))
            .collect();
        let table = TaskTable::new(400, &rows).unwrap();
        let subjects: Vec<usize> = (0..400).collect();
        let plan = |draws| Plan { draws, seed: 1 };
        assert_eq!(Verdicts::new(&table, &subjects, plan(1_000_000), 0.95), Ok(None));
        assert!(Verdicts::new(&table, &subjects, plan(39), 0.95).unwrap().is_some());
        assert_eq!(
            Verdicts::new(&table, &subjects, plan(38), 0.95),
            Err(StatisticsError::Draws { found: 38, needed: 39 })
        );
        assert!(Verdicts::new(&table, &subjects, plan(39), 1.0).is_err());
    }
}
