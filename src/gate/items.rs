//! The gate on each item: the least published score.

use karat_core::number::Decimal;
use karat_core::record::{Published, Record as Scoring};

use super::{Status, Verdict, slight};
use crate::error::Place;
use crate::number::published;
use crate::text::{clean, count, list, short};

/// The findings of a floor of items. The gravest case decides the status.
#[derive(Debug, Default)]
pub struct ItemFloor {
    blocked: Case,
    below: Case,
    inconclusive: Case,
}

/// The items of one case: how many, and the first in words.
#[derive(Debug, Default)]
struct Case {
    count: u64,
    first: Option<String>,
}

impl Case {
    fn see(&mut self, first: impl FnOnce() -> String) {
        self.count += 1;
        if self.first.is_none() {
            self.first = Some(first());
        }
    }

    fn add(&mut self, next: Self) {
        self.count += next.count;
        self.first = self.first.take().or(next.first);
    }
}

/// Returns true if an item fails at these points: below them, without a score, or held by a gate.
pub fn fails(record: &Scoring<'_>, points: Decimal) -> bool {
    !record.gates.is_empty() || !record.published.is_some_and(|published| published.reaches(points))
}

impl ItemFloor {
    /// Looks at the record of the item at `place`.
    pub fn see(&mut self, place: &Place, record: &Scoring<'_>, points: Decimal) {
        self.see_parts(record.item.subject, place, record.published, &record.gates, points);
    }

    /// Looks at an item by what its record says: the published score and the gates that held.
    pub(crate) fn see_parts(
        &mut self,
        subject: &str,
        place: &Place,
        published_score: Option<Published>,
        held: &[&str],
        points: Decimal,
    ) {
        let who = || format!("`{}` ({})", short(subject), clean(&place.to_string()));
        if !held.is_empty() {
            let gates: Vec<String> = held.iter().map(|gate| format!("`{}`", clean(gate))).collect();
            let (word, verb) = if gates.len() == 1 { ("gate", "holds") } else { ("gates", "hold") };
            self.blocked.see(|| format!("{}: the {word} {} {verb}", who(), list(&gates)));
        }
        match published_score {
            Some(found) if found.reaches(points) => {}
            Some(found) => self.below.see(|| format!("{} has {}, below {points}", who(), published(found))),
            None => self.inconclusive.see(|| format!("{} has no score to compare", who())),
        }
    }

    /// Adds what the next items show.
    pub fn add(&mut self, next: Self) {
        self.blocked.add(next.blocked);
        self.below.add(next.below);
        self.inconclusive.add(next.inconclusive);
    }

    fn status(&self) -> Status {
        match self {
            Self { blocked: Case { count: 1.., .. }, .. } => Status::Blocked,
            Self { below: Case { count: 1.., .. }, .. } => Status::Below,
            Self { inconclusive: Case { count: 1.., .. }, .. } => Status::Inconclusive,
            _ => Status::Passed,
        }
    }

    /// Returns the verdict on all items, of which each must have `least` points on a scale.
    pub fn verdict(&self, least: Decimal, scale: u32) -> Verdict {
        let mut verdict = Verdict::default();
        verdict.add(self.status(), self.line().into_iter().collect());
        slight("a floor", least, scale, 1).into_iter().for_each(|line| verdict.warn(line));
        verdict
    }

    /// Returns why it fails, if it does: the first item of the case that gives the status, and how many there are of each.
    fn line(&self) -> Option<String> {
        let gravest = match self.status() {
            Status::Blocked => &self.blocked,
            Status::Below => &self.below,
            Status::Inconclusive => &self.inconclusive,
            _ => return None,
        };
        let cases = [
            (&self.blocked, "held by a gate"),
            (&self.below, "below"),
            (&self.inconclusive, "without a score"),
        ];
        let counts: Vec<String> = cases
            .iter()
            .filter(|(case, _)| case.count > 0)
            .map(|(case, what)| {
                format!("{} {what}", count(usize::try_from(case.count).unwrap_or(usize::MAX), "item"))
            })
            .collect();
        let first = gravest.first.as_deref().unwrap_or_default();
        Some(format!("{first}; in all {}", list(&counts)))
    }
}
