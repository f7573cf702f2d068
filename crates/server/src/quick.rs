//! Leaderboards of more subjects than samples could be drawn for: the same means, with intervals from the spread of the
//! tasks in place of samples. Everything comes out of the index, and no record is read.

use std::cmp::Reverse;

use karat_core::number::{BILLION, Score, round_ratio};
use karat_stats::mean::{share_interval, student_t};
use karat_stats::outcome::{Policy, Run};
use karat_stats::{Interval, StatisticsError};

use crate::index::Row;

/// Subjects by the mean of their tasks, each task by the mean of its runs.
#[derive(Debug)]
pub struct Quick {
    /// Subjects with a mean, best first; equal means by the order of the numbers.
    standings: Vec<Standing>,
    level: f64,
    /// How many standard errors intervals reach, by number of tasks.
    reach: Vec<Option<f64>>,
}

/// Where a subject stands.
#[derive(Debug, Clone, Copy)]
pub struct Standing {
    /// Who: the number in the index.
    pub subject: u32,
    /// The mean, in billionths.
    pub mean: i64,
    /// How many tasks it is of.
    pub tasks: u32,
    /// How many items.
    pub items: u32,
    squares: f64,
}

/// A place on the board.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// The subject and its mean.
    pub standing: Standing,
    /// The best and the worst place of those with the same mean.
    pub rank: (usize, usize),
    /// The places that are left when everybody whose interval lies wholly above or below is put there.
    pub rank_range: (usize, usize),
    /// The interval of the mean; none of a single task.
    pub interval: Option<Interval>,
}

/// The values that count, put together by subject: all that is taken from the index, which is let go before they are ranked.
#[derive(Debug)]
pub struct Counted {
    /// Where those of each subject begin, by the numbers of subjects, and the end.
    starts: Vec<u32>,
    values: Vec<Value>,
}

/// An item that counts: its task in the upper half, its billionths in the lower one. So those of a task stand together when
/// they are sorted.
type Value = u64;

impl Quick {
    /// Ranks the subjects with at least so many tasks.
    ///
    /// # Errors
    /// A level that is not above 0 and below 1.
    pub fn new(counted: Counted, tasks_min: u32, level: f64) -> Result<Self, StatisticsError> {
        let Counted { starts, values: mut counted } = counted;
        let mut standings = Vec::new();
        let mut reach: Vec<Option<f64>> = Vec::new();
        let mut rest = counted.as_mut_slice();
        let mut values: Vec<i64> = Vec::new();
        for (subject, ends) in (0u32..).zip(starts.windows(2)) {
            let &[start, end] = ends else { continue };
            let count = usize::try_from(end - start).unwrap_or_default().min(rest.len());
            let (own, after) = std::mem::take(&mut rest).split_at_mut(count);
            rest = after;
            if own.is_empty() {
                continue;
            }
            own.sort_unstable();
            values.clear();
            values.extend(own.chunk_by(|a, b| a >> 32 == b >> 32).map(mean_of));
            let tasks = u32::try_from(values.len()).unwrap_or(u32::MAX);
            if tasks < tasks_min {
                continue;
            }
            let sum: i64 = values.iter().sum();
            let mean = rounded(i128::from(sum), values.len());
            let squares = values.iter().map(|value| square(value - mean)).sum();
            let items = u32::try_from(own.len()).unwrap_or(u32::MAX);
            standings.push(Standing { subject, mean, tasks, items, squares });
            while reach.len() <= values.len() {
                reach.push(None);
            }
            if let Some(free @ None) = reach.get_mut(values.len()) {
                *free = student_t(u64::from(tasks), level)?;
            }
        }
        standings.sort_unstable_by_key(|it| (Reverse(it.mean), it.subject));
        Ok(Self { standings, level, reach })
    }

    /// How many subjects there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.standings.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.standings.is_empty()
    }

    /// At most `limit` places, after the first `skipped`.
    #[must_use]
    pub fn places(&self, skipped: usize, limit: usize) -> Vec<Place> {
        let shown = self.standings.iter().skip(skipped).take(limit);
        let mut places: Vec<Place> = shown
            .map(|standing| {
                let above = self.standings.partition_point(|other| other.mean > standing.mean);
                let up_to = self.standings.partition_point(|other| other.mean >= standing.mean);
                let interval = self.interval(standing);
                Place { standing: *standing, rank: (above + 1, up_to), rank_range: (1, self.len()), interval }
            })
            .collect();
        let ends: Vec<(f64, f64)> = self.standings.iter().map(|it| self.ends(it)).collect();
        for place in &mut places {
            let (low, high) = self.ends(&place.standing);
            // An interval has its mean within: only means above can lie wholly above, only means below wholly below.
            let above = self.standings.partition_point(|it| share(it.mean) > high);
            let above = ends.iter().take(above).filter(|(other, _)| *other > high).count();
            let below = self.standings.partition_point(|it| share(it.mean) >= low);
            let below = ends.iter().skip(below).filter(|(_, other)| *other < low).count();
            place.rank_range = (above + 1, self.len() - below);
        }
        places
    }

    fn interval(&self, standing: &Standing) -> Option<Interval> {
        let reach = (*self.reach.get(usize::try_from(standing.tasks).ok()?)?)?;
        let squares = standing.squares / square(BILLION);
        Some(share_interval(share(standing.mean), squares, u64::from(standing.tasks), reach, self.level))
    }

    /// A single task says nothing of others: the mean may be anything.
    fn ends(&self, standing: &Standing) -> (f64, f64) {
        self.interval(standing).map_or((0.0, 1.0), |interval| (interval.low, interval.high))
    }
}

impl Counted {
    /// The values of `rows`; there are `names` numbers of subjects. The rows are read once, and nothing is sorted.
    pub fn of<'r>(rows: impl Iterator<Item = &'r Row>, names: usize, policy: Policy) -> Self {
        let at = |place: u32| usize::try_from(place).unwrap_or(usize::MAX);
        let counts = |(row, own): (&Row, u32)| {
            let score = row.score.map(Score::billionths);
            let value = Run { subject: 0, task: 0, outcome: row.outcome, score }.value(policy)?;
            // Tasks of their own are numbered from the other end.
            let task = row.task.unwrap_or(u32::MAX - own);
            Some((row.subject, u64::from(task) << 32 | u64::try_from(value).unwrap_or_default()))
        };
        let found: Vec<(u32, Value)> = rows.zip(0u32..).filter_map(counts).collect();
        let mut starts = vec![0u32; names + 1];
        for (subject, _) in &found {
            if let Some(count) = starts.get_mut(at(*subject) + 1) {
                *count += 1;
            }
        }
        let mut total = 0;
        for start in &mut starts {
            total += *start;
            *start = total;
        }
        let mut next = starts.clone();
        let mut values = vec![0; at(total)];
        for (subject, value) in found {
            if let Some(place) = next.get_mut(at(subject)) {
                if let Some(free) = values.get_mut(at(*place)) {
                    *free = value;
                }
                *place += 1;
            }
        }
        Self { starts, values }
    }
}

fn mean_of(runs: &[Value]) -> i64 {
    let value = |run: &Value| i64::from(*run as u32);
    match runs {
        [only] => value(only),
        several => rounded(several.iter().map(|run| i128::from(value(run))).sum(), several.len()),
    }
}

/// Billionths as a share.
fn share(billionths: i64) -> f64 {
    Score::from_billionths(billionths).to_f64()
}

/// A mean of billionths, which are at most one billion.
fn rounded(sum: i128, count: usize) -> i64 {
    let count = i128::try_from(count).unwrap_or(i128::MAX);
    i64::try_from(round_ratio(sum, count)).unwrap_or(BILLION)
}

fn square(value: i64) -> f64 {
    value as f64 * value as f64
}

#[cfg(test)]
mod tests {
    use karat_core::facts::{Digest, Outcome};
    use karat_stats::outcome::table;

    use super::*;
    use crate::index::{Index, NewRow};
    use crate::stored::Trust;

    /// Subject, task, score and outcome.
    type Given<'a> = (&'a str, Option<&'a str>, Option<i64>, Option<Outcome>);

    fn index(items: &[Given<'_>]) -> Index {
        let mut index = Index::default();
        for ((subject, task, score, outcome), position) in items.iter().zip(0..) {
            let row = NewRow {
                subject: (*subject).to_owned(),
                card: "c@1.0.0".to_owned(),
                task: task.map(str::to_owned),
                time: None,
                outcome: *outcome,
                score: score.map(Score::from_billionths),
                evidence: Digest::of(&position.to_string().into_bytes()),
                trust: Trust::Claimed,
            };
            index.add(position, &row);
        }
        index
    }

    #[test]
    fn means_are_those_of_the_full_leaderboard() {
        let items = [
            ("a", Some("x"), Some(900_000_000), None),
            ("a", Some("x"), Some(100_000_001), None),
            ("a", Some("y"), Some(700_000_000), Some(Outcome::Succeeded)),
            ("b", Some("x"), Some(300_000_000), Some(Outcome::Stopped)),
            ("b", None, None, Some(Outcome::Succeeded)),
            ("b", None, None, Some(Outcome::NoVerdict)),
            ("b", None, Some(250_000_000), None),
            ("c", None, None, None),
        ];
        let index = index(&items);
        let policy = Policy::default();
        let quick = Quick::new(Counted::of(index.rows(u64::MAX), index.names(), policy), 1, 0.95).unwrap();
        let names = ["a", "b", "c"];
        let runs: Vec<Run> = items
            .iter()
            .enumerate()
            .map(|(at, (subject, task, score, outcome))| Run {
                subject: names.iter().position(|name| name == subject).unwrap(),
                task: task.map_or(100 + at, |task| usize::from(task == "y")),
                outcome: *outcome,
                score: *score,
            })
            .collect();
        let full = table(3, &runs, policy).unwrap();
        let found: Vec<(&str, i64)> = quick
            .places(0, 10)
            .iter()
            .map(|it| (index.name(it.standing.subject), it.standing.mean))
            .collect();
        assert_eq!(found, [("a", full.mean(0).unwrap()), ("b", full.mean(1).unwrap())]);
    }

    #[test]
    fn places_of_equals_are_shared_and_pages_fit_together() {
        let items: Vec<_> = ["a", "b", "c", "d"]
            .into_iter()
            .zip([5, 7, 5, 1])
            .flat_map(|(name, score)| {
                ["x", "y"].map(|task| (name, Some(task), Some(score * 100_000_000), None))
            })
            .collect();
        let index = index(&items);
        let ranked = |tasks_min, level| {
            Quick::new(Counted::of(index.rows(u64::MAX), index.names(), Policy::default()), tasks_min, level)
        };
        let quick = ranked(1, 0.95).unwrap();
        let ranks = |places: Vec<Place>| places.iter().map(|it| it.rank).collect::<Vec<_>>();
        assert_eq!(ranks(quick.places(0, 9)), [(1, 1), (2, 3), (2, 3), (4, 4)]);
        assert_eq!(ranks(quick.places(1, 2)), [(2, 3), (2, 3)]);
        // Nothing varies here, so the intervals are points.
        assert_eq!(quick.places(3, 1).first().unwrap().rank_range, (4, 4));
        assert!(ranked(3, 0.95).unwrap().is_empty());
        assert!(ranked(1, 1.0).is_err());
    }
}
