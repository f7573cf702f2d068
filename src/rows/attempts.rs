//! The attempts of subjects at their tasks, in their order, as far as it is known.

use super::{Row, Rows};
use crate::error::{Code, Error};
use crate::text::clean;

/// The fields of items that number the attempts at a task.
const NUMBERS: [&str; 4] = ["attempt", "attempt_number", "epoch", "trial"];

/// Returns the fields that items must keep, where only first attempts count.
pub fn numbers() -> Vec<String> {
    NUMBERS.map(str::to_owned).into()
}

/// The attempts of a subject at a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attempts {
    /// The indices of the rows, in their order.
    pub rows: Vec<usize>,
    /// True if times or numbers give the order.
    pub is_known: bool,
}

impl Rows {
    /// Returns the rows of each task, by subject, of the `items` given by index; with `only_unequal` those of subjects alone that did
    /// not try all of their tasks equally often.
    pub(crate) fn by_task(&self, items: &[usize], only_unequal: bool) -> Vec<(usize, Vec<Vec<usize>>)> {
        let at = |item: &usize| Some((self.rows.get(*item)?.subject, *self.tasks.of_rows.get(*item)?, *item));
        // Rows are by subject, and there may be millions of them.
        let of_one = |a: &usize, b: &usize| at(a).map(|it| it.0) == at(b).map(|it| it.0);
        let mut counts = vec![0u32; if only_unequal { self.tasks.names.len() } else { 0 }];
        let mut found = Vec::new();
        for own in items.chunk_by(of_one) {
            let tasks = || own.iter().filter_map(at).map(|(_, task, _)| task);
            tasks().for_each(|task| counts.iter_mut().skip(task).take(1).for_each(|count| *count += 1));
            let mut each = tasks().filter_map(|task| counts.get(task));
            let first = each.next();
            let is_equal = only_unequal && each.all(|count| Some(count) == first);
            tasks().for_each(|task| counts.iter_mut().skip(task).take(1).for_each(|count| *count = 0));
            if is_equal {
                continue;
            }
            let mut by_task: Vec<(u32, u32)> =
                own.iter().filter_map(at).map(|it| (it.1 as u32, it.2 as u32)).collect();
            by_task.sort_unstable();
            let tasks = by_task.chunk_by(|a, b| a.0 == b.0);
            let tasks = tasks.map(|task| task.iter().map(|(_, row)| *row as usize).collect());
            found.extend(own.first().and_then(at).map(|(subject, ..)| (subject, tasks.collect())));
        }
        found
    }

    /// Puts the attempts at one task in order: of time, else of the fields that number them, else of the numbers in their ids.
    pub(crate) fn in_order(&self, mut rows: Vec<usize>) -> Attempts {
        let row = |at: &usize| self.rows.get(*at);
        let field = |name: &&str| {
            let kept = self.kept.iter().position(|known| known == *name)?;
            keys(rows.iter().map(|at| row(at)?.kept(kept)?.parse().ok()))
        };
        let own_time = |row: &Row| row.time().filter(|time| row.arrived() != Some(*time));
        let times = keys(rows.iter().map(|at| own_time(row(at)?).map(|time| time.milliseconds)));
        let numbered = times.or_else(|| NUMBERS.iter().find_map(field)).or_else(|| {
            let ids: Vec<&str> = rows.iter().filter_map(row).map(|row| self.id(row)).collect();
            numbers_of(&ids)
        });
        let is_known = rows.len() < 2 || numbered.is_some();
        if let Some(keys) = numbered {
            let mut keyed: Vec<(i64, usize)> = keys.into_iter().zip(rows).collect();
            keyed.sort_unstable();
            rows = keyed.into_iter().map(|(_, row)| row).collect();
        }
        Attempts { rows, is_known }
    }

    /// Returns the same with the first attempt of each subject at each task alone.
    ///
    /// # Errors
    /// If it is not known which attempt is the first.
    pub fn first_attempts(&self) -> Result<Self, Error> {
        let all: Vec<usize> = (0..self.rows.len()).collect();
        let mut firsts = Vec::new();
        let tasks = self.by_task(&all, false).into_iter().flat_map(|(_, tasks)| tasks);
        for attempts in tasks.map(|task| self.in_order(task)) {
            let Some((&first, row)) = attempts.rows.first().and_then(|at| Some((at, self.rows.get(*at)?)))
            else {
                continue;
            };
            if !attempts.is_known {
                let (subject, task) = (clean(self.subject_name(row.subject)), clean(self.task_name(row)));
                let message = format!(
                    "which of the {} attempts of `{subject}` at `{task}` is the first is not known",
                    attempts.rows.len()
                );
                return Err(Error::new(Code::InvalidOption, message)
                    .hint("give each item its `time`, or the number of its attempt: `attempt`")
                    .hint("or an id that ends with the number, from 1 on: `sum/1`"));
            }
            firsts.push(first);
        }
        firsts.sort_unstable();
        Ok(Self { is_of_firsts: true, ..self.only(&firsts) })
    }
}

/// Returns numbers that are all there and differ.
fn keys(numbers: impl Iterator<Item = Option<i64>>) -> Option<Vec<i64>> {
    let numbers: Vec<i64> = numbers.collect::<Option<_>>()?;
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    sorted.is_sorted_by(|a, b| a < b).then_some(numbers)
}

/// Returns the numbers of attempts in ids that differ in a number at their end alone, which counts from 0 or 1; the lines of a file
/// seldom do.
fn numbers_of(ids: &[&str]) -> Option<Vec<i64>> {
    let head = |id: &'_ str| id.trim_end_matches(|it: char| it.is_ascii_digit()).len();
    let (first, length) = (ids.first()?, head(ids.first()?));
    let number = |id: &&str| {
        let is_alike = head(id) == length && id.get(..length) == first.get(..length);
        id.get(length..).filter(|_| is_alike)?.parse().ok()
    };
    keys(ids.iter().map(number)).filter(|numbers| numbers.iter().min().is_some_and(|least| *least < 2))
}
