//! Influence: the fewest items whose removal changes who is first.
//!
//! A lead that three of ten thousand items carry is chance. (Broderick, Giordano and Meager, "An automatic finite-sample
//! robustness metric", 2020, ask the same of regressions; here the answer for means is exact.)

use alloc::vec::Vec;

use super::StatisticsError;
use super::table::TaskTable;

/// The fewest items found whose removal puts another subject ahead of the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Influence {
    /// The first subject with all items; the first in the list of subjects if several are.
    pub first: usize,
    /// The subject that is strictly ahead of it after the removal.
    pub overtaker: usize,
    /// The tasks to remove as the caller names them, in rising order.
    pub removed: Vec<usize>,
    /// Number of items.
    pub items: usize,
    /// True if no smaller set does it; else the set does it, and there may be a smaller one.
    pub is_smallest: bool,
}

/// Returns the fewest tasks whose removal, for all subjects, puts another subject ahead of the first by mean.
///
/// Exact where the first and each other subject have the same tasks; otherwise the tasks are removed in the order of
/// their effect alone, and the result is a bound ([`Influence::is_smallest`]). `None` if no removal does it: no other
/// subject has results, or none is ahead of the first at any task.
///
/// # Errors
/// If the table has no results.
pub fn fewest_tasks(table: &TaskTable) -> Result<Option<Influence>, StatisticsError> {
    // Compared as fractions: the means of the table are rounded, and may hide who is ahead.
    let total = |subject: usize| {
        let mut total = Total::default();
        table.results(subject).for_each(|(_, result)| total.add(Some(result)));
        (total, subject)
    };
    let higher = |a: &(Total, usize), b: &(Total, usize)| {
        (a.0.sum * b.0.count).cmp(&(b.0.sum * a.0.count)).then(b.1.cmp(&a.1))
    };
    let totals = (0..table.subjects()).map(total).filter(|total| total.0.count > 0);
    let Some((_, first)) = totals.max_by(higher) else {
        return Err(StatisticsError::TooFew { what: "subjects with results", found: 0, needed: 1 });
    };
    let others = (0..table.subjects()).filter(|&other| other != first && table.tasks_of(other) > 0);
    let mut all_exact = true;
    let mut best: Option<(Vec<usize>, usize)> = None;
    for other in others {
        let lead = Lead::new(table, first, other);
        all_exact &= lead.is_exact();
        let found = lead.removal();
        if let Some(found) = found
            && best.as_ref().is_none_or(|(fewest, _)| found.len() < fewest.len())
        {
            best = Some((found, other));
        }
    }
    Ok(best.map(|(mut removed, overtaker)| {
        removed.sort_unstable();
        // Removing fewer than one removes nothing, which leaves the first first.
        let is_smallest = all_exact || removed.len() == 1;
        Influence { first, overtaker, removed, items: table.tasks(), is_smallest }
    }))
}

/// The lead of one subject over another.
struct Lead {
    tasks: Vec<Shared>,
    first: Total,
    second: Total,
}

/// A task that at least one of two subjects has, and their results.
struct Shared {
    task: usize,
    first: Option<i64>,
    second: Option<i64>,
}

/// The results of one subject.
#[derive(Clone, Copy, Default)]
struct Total {
    sum: i128,
    count: i128,
}

impl Total {
    fn add(&mut self, result: Option<i64>) {
        self.sum += i128::from(result.unwrap_or_default());
        self.count += i128::from(result.is_some());
    }

    fn remove(&mut self, result: Option<i64>) {
        self.sum -= i128::from(result.unwrap_or_default());
        self.count -= i128::from(result.is_some());
    }

    /// Returns how much lower the mean would be without a result; infinite for the only one.
    fn carried_by(self, result: Option<i64>) -> f64 {
        let above = |result: i64| result as f64 - self.sum as f64 / self.count as f64;
        match result {
            None => 0.0,
            Some(_) if self.count < 2 => f64::INFINITY,
            Some(result) => above(result) / (self.count - 1) as f64,
        }
    }
}

impl Lead {
    fn new(table: &TaskTable, first: usize, second: usize) -> Self {
        let mut tasks = Vec::new();
        let mut theirs = table.results(second).peekable();
        for (task, result) in table.results(first) {
            while let Some((task, result)) = theirs.next_if(|it| it.0 < task) {
                tasks.push(Shared { task, first: None, second: Some(result) });
            }
            let second = theirs.next_if(|it| it.0 == task).map(|it| it.1);
            tasks.push(Shared { task, first: Some(result), second });
        }
        tasks.extend(theirs.map(|(task, result)| Shared { task, first: None, second: Some(result) }));
        let (mut first, mut second) = (Total::default(), Total::default());
        for it in &tasks {
            first.add(it.first);
            second.add(it.second);
        }
        Self { tasks, first, second }
    }

    fn is_exact(&self) -> bool {
        self.tasks.iter().all(|it| it.first.is_some() && it.second.is_some())
    }

    /// Returns how much of the lead a task carries.
    fn carried_by(&self, it: &Shared) -> f64 {
        let (first, second) = (self.first.carried_by(it.first), self.second.carried_by(it.second));
        // The only task of a subject comes last: without it the subject has no mean to compare.
        if first.is_finite() && second.is_finite() { first - second } else { f64::NEG_INFINITY }
    }

    /// Returns the tasks whose removal puts the second strictly ahead, as few as their order by what they carry gives.
    ///
    /// With the same tasks for both, the second is ahead on a set of tasks exactly if the differences (first minus second)
    /// sum to less than 0 on it. Of all sets of k tasks, the k with the largest differences take the most away from that
    /// sum: if any k tasks do it, these do. So the first k at which they do is the smallest number of all.
    fn removal(self) -> Option<Vec<usize>> {
        let is_exact = self.is_exact();
        let carried = |it: &Shared| match (it.first, it.second) {
            // Whole numbers below 2^53: an exact order.
            (Some(first), Some(second)) if is_exact => (first - second) as f64,
            _ => self.carried_by(it),
        };
        let mut order: Vec<(f64, &Shared)> = self.tasks.iter().map(|it| (carried(it), it)).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.task.cmp(&b.1.task)));
        let (mut first, mut second) = (self.first, self.second);
        let mut removed = Vec::new();
        for (_, it) in order {
            first.remove(it.first);
            second.remove(it.second);
            removed.push(it.task);
            if first.count == 0 || second.count == 0 {
                return None;
            }
            // Means compared without dividing.
            if second.sum * first.count > first.sum * second.count {
                return Some(removed);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use core::cmp::Reverse;

    use proptest::prelude::*;

    use super::super::table::Observation;
    use super::*;

    fn table(subjects: usize, rows: &[(usize, usize, i64)]) -> TaskTable {
        let rows: Vec<Observation> =
            rows.iter().map(|&(subject, task, value)| Observation { subject, task, value }).collect();
        TaskTable::new(subjects, &rows).unwrap()
    }

    #[test]
    fn nobody_to_overtake() {
        assert_eq!(fewest_tasks(&table(2, &[(0, 1, 5)])), Ok(None));
        assert!(fewest_tasks(&table(2, &[])).is_err());
        assert_eq!(
            fewest_tasks(&table(2, &[(0, 1, 5), (1, 1, 5), (0, 2, 6), (1, 2, 5)])),
            Ok(None),
            "ahead everywhere"
        );
    }

    #[test]
    fn the_rival_nearest_on_paper_need_not_be_the_one() {
        // The second trails by a little everywhere and never leads; the third trails by more and leads once.
        let rows: Vec<(usize, usize, i64)> = (0..10)
            .flat_map(|task| [(0, task, 100), (1, task, 99), (2, task, if task == 9 { 105 } else { 98 })])
            .collect();
        let found = fewest_tasks(&table(3, &rows)).unwrap().unwrap();
        assert_eq!((found.first, found.overtaker, found.removed.len(), found.items), (0, 2, 7, 10));
        assert!(found.is_smallest);
    }

    #[test]
    fn with_other_tasks_it_is_a_bound_that_holds() {
        let mut rows: Vec<(usize, usize, i64)> =
            (0..8).map(|task| (0, task, 100 + 40 * task as i64)).collect();
        rows.extend((4..12).map(|task| (1, task, 150 + 10 * task as i64)));
        let found = fewest_tasks(&table(2, &rows)).unwrap().unwrap();
        assert!(!found.is_smallest || found.removed.len() == 1);
        rows.retain(|row| !found.removed.contains(&row.1));
        let after = table(2, &rows);
        assert!(after.mean(found.overtaker) > after.mean(found.first));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_smaller_set_of_tasks_does_it(rows in prop::collection::vec(prop::array::uniform3(0i64..6), 1..8)) {
            let all: Vec<(usize, usize, i64)> =
                rows.iter().enumerate().flat_map(|(task, row)| (0..3).map(move |who| (who, task, row[who]))).collect();
            let found = fewest_tasks(&table(3, &all)).unwrap();
            let sum = |who: usize, gone: u32| -> i64 {
                rows.iter().enumerate().filter(|(task, _)| gone >> task & 1 == 0).map(|(_, row)| row[who]).sum()
            };
            let first = (0..3).max_by_key(|&who| (sum(who, 0), Reverse(who))).unwrap();
            let overtaken = |gone: u32| (0..3).any(|who| sum(who, gone) > sum(first, gone));
            let fewest = (1..(1u32 << rows.len()) - 1).filter(|&gone| overtaken(gone)).map(u32::count_ones).min();
            prop_assert_eq!(found.as_ref().map(|found| found.removed.len() as u32), fewest);
            if let Some(found) = found {
                let gone = found.removed.iter().fold(0, |gone, task| gone | 1 << task);
                prop_assert!(found.is_smallest && sum(found.overtaker, gone) > sum(found.first, gone));
            }
        }
    }
}
