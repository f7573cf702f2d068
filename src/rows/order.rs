//! The order of items by subject and id.

use super::names::Names;
use super::{NO_TASK, Row, Tasks};
use crate::card::CompiledCard;
use std::cmp::Ordering;
use std::sync::Arc;

/// Returns the indices of the rows by subject, id, scorecard, digest and place. Subjects are compared by their number.
pub(super) fn by_id(rows: &[Row], names: &Names, subjects: usize) -> Vec<u32> {
    let common = common_start(names);
    let mut order = by_subject(rows, subjects);
    let mut keyed: Vec<(u128, u32)> = Vec::new();
    for of_one in order.chunk_by_mut(|a, b| subject(rows, *a) == subject(rows, *b)) {
        keyed.clear();
        keyed.extend(of_one.iter().filter_map(|&at| {
            let id = names.id(rows.get(at as usize)?);
            Some((start(id.as_bytes().get(common..).unwrap_or_default()), at))
        }));
        keyed.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| compare(rows, names, a.1, b.1)));
        of_one.iter_mut().zip(&keyed).for_each(|(place, (_, at))| *place = *at);
    }
    order
}

/// Compares two rows of one subject.
fn compare(rows: &[Row], names: &Names, a: u32, b: u32) -> Ordering {
    let (Some(a), Some(b)) = (rows.get(a as usize), rows.get(b as usize)) else { return a.cmp(&b) };
    let key = |row: &Row| (row.scorer, row.digest);
    names.id(a).cmp(names.id(b)).then_with(|| key(a).cmp(&key(b))).then_with(|| {
        // Only of items that are given more than once.
        names.place(a).cmp(&names.place(b))
    })
}

fn subject(rows: &[Row], at: u32) -> usize {
    rows.get(at as usize).map_or(0, |row| row.subject)
}

/// Returns the indices of the rows by subject, in the order of the rows where it is the same.
fn by_subject(rows: &[Row], subjects: usize) -> Vec<u32> {
    let mut ends = vec![0u32; subjects + 1];
    for row in rows {
        ends.iter_mut().skip(row.subject + 1).take(1).for_each(|count| *count += 1);
    }
    let mut sum = 0;
    for end in &mut ends {
        sum += *end;
        *end = sum;
    }
    let mut order = vec![0; rows.len()];
    for (at, row) in (0u32..).zip(rows) {
        if let Some(next) = ends.get_mut(row.subject) {
            order.iter_mut().skip(*next as usize).take(1).for_each(|place| *place = at);
            *next += 1;
        }
    }
    order
}

/// Returns the number of bytes that all ids begin with.
fn common_start(names: &Names) -> usize {
    let first = names.id_at(0).as_bytes();
    let mut common = first.len();
    for at in 1..names.len() {
        let (id, first) = (names.id_at(at).as_bytes(), first.get(..common).unwrap_or_default());
        if !id.starts_with(first) {
            common = id.iter().zip(first).take_while(|(a, b)| a == b).count();
        }
    }
    common
}

/// Returns the first bytes of an id as a number, which is ordered as the ids are; equal numbers decide nothing.
fn start(id: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(id).for_each(|(place, byte)| *place = *byte);
    u128::from_be_bytes(bytes)
}

/// Puts the rows into this order, and leaves out those that are not in it.
pub(super) fn put<T>(rows: &mut Vec<T>, order: &mut Vec<u32>) {
    const DONE: u32 = u32::MAX;
    let kept = order.len();
    let mut is_kept = vec![false; rows.len()];
    for &at in order.iter() {
        is_kept.iter_mut().skip(at as usize).take(1).for_each(|it| *it = true);
    }
    order.extend((0u32..).zip(&is_kept).filter(|(_, is_kept)| !**is_kept).map(|(at, _)| at));
    for first in 0..order.len() {
        let mut at = first;
        // Along a circle of rows each of which takes the place of the one before.
        while let Some(next) = order.get_mut(at).map(|next| std::mem::replace(next, DONE)) {
            if next == DONE || next as usize == first {
                break;
            }
            rows.swap(at, next as usize);
            at = next as usize;
        }
    }
    rows.truncate(kept);
}

impl Tasks {
    /// Collects the tasks of rows.
    pub(super) fn new(rows: &[Row], names: &Names, scorers: &[Arc<CompiledCard>]) -> Self {
        let mut is_used = vec![false; names.tasks.all().len()];
        for row in rows.iter().filter(|row| row.task != NO_TASK) {
            is_used.iter_mut().skip(row.task as usize).take(1).for_each(|it| *it = true);
        }
        let stated = names.tasks.all().zip(&is_used).filter(|(_, is_used)| **is_used).map(|(name, _)| name);
        let others = rows.iter().filter(|row| row.task == NO_TASK).map(|row| names.task_name(row, scorers));
        let mut all: Vec<&str> = stated.chain(others).collect();
        all.sort_unstable();
        all.dedup();
        let find = |name: &str| all.binary_search(&name).unwrap_or_default();
        let of_stated: Vec<usize> = names.tasks.all().map(find).collect();
        let of_row = |row: &Row| match of_stated.get(row.task as usize) {
            Some(&task) => task,
            None => find(names.task_name(row, scorers)),
        };
        Self {
            of_rows: rows.iter().map(of_row).collect(),
            names: all.into_iter().map(str::to_owned).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use karat_core::facts::Digest;

    use super::super::{NONE, Readings};
    use super::*;
    use crate::error::Place;

    /// Returns a fixed sequence of numbers that looks random.
    fn numbers() -> impl FnMut(usize) -> usize {
        let mut state = 1u64;
        move |below| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        }
    }

    #[test]
    fn rows_are_in_the_order_of_subject_id_scorecard_digest_and_place() {
        let mut below = numbers();
        let starts = [
            "", "run-", "a", "a\0", "a\0\0", "the same sixteen bytes and more ", "é", "runs.csv:",
            "\u{10ffff}",
        ];
        for common in ["", "project/results/", "a"] {
            let mut names = Names::default();
            let mut rows = Vec::new();
            for _ in 0..400 {
                let mut id = format!("{common}{}", starts[below(starts.len())]);
                (0..below(3)).for_each(|_| id.push_str(&below(30).to_string()));
                let file = ["runs.csv", "b.csv", "runs"][below(3)].to_owned();
                let line = [Some(below(20) as u64), None, Some(u64::from(u32::MAX))][below(3)];
                let place = Place { file, line, nth: 1 + below(3) as u64, is_row: true };
                let arrival = names.add(&id, &place);
                rows.push(Row {
                    subject: below(3),
                    digest: Digest([below(2) as u8; 32]),
                    outcome: None,
                    scorer: below(2) as u16,
                    arrival,
                    task: NO_TASK,
                    coverage: 0,
                    time: NONE,
                    arrived: NONE,
                    trust: crate::trust::Trust::Claimed,
                    score: NONE,
                    readings: Readings::One(NONE),
                    more: None,
                });
                assert_eq!(
                    (names.id(&rows[rows.len() - 1]), names.place(&rows[rows.len() - 1])),
                    (&*id, place.to_string())
                );
            }
            let key = |at: u32| {
                let row = &rows[at as usize];
                (row.subject, names.id(row), row.scorer, row.digest, names.place(row))
            };
            let order = by_id(&rows, &names, 4);
            assert!(order.iter().map(|&at| key(at)).is_sorted(), "{common}");
            let mut all = order.clone();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..400), "each row is there once");
        }
    }

    #[test]
    fn any_order_can_be_put_and_the_rest_is_left_out() {
        let mut below = numbers();
        for length in 0..40u32 {
            let mut order: Vec<u32> = (0..length).collect();
            (0..length as usize).for_each(|at| order.swap(at, below(length as usize)));
            order.truncate(order.len() - below(order.len() + 1) / 2);
            let mut rows: Vec<u32> = (0..length).collect();
            put(&mut rows, &mut order.clone());
            assert_eq!(rows, order);
        }
    }
}
