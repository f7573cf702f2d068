//! The same items under two scorecards: who moves, and why.

use std::cmp::Reverse;

use karat_core::number::Score;
use karat_core::record::Record as Scoring;
use serde_json::{Value, json};

use super::points;
use super::rescored::{Mover, keep_largest};
use crate::rescore::{Rescored, Verdict};

/// An item under one scorecard.
#[derive(Debug)]
pub struct Side {
    subject: String,
    item: String,
    verdict: Verdict,
    /// Contributions by dimension, then those of rules, gates and the mean.
    parts: Vec<(String, Score)>,
}

impl Side {
    /// Returns what a record says of its item.
    pub fn of(record: &Scoring<'_>) -> Self {
        let dimensions = record.dimensions.iter().map(|it| (it.key.to_owned(), it.contribution));
        let steps = record
            .steps
            .iter()
            .map(|step| (format!("{} {}", step.kind.name(), step.name), step.after.minus(step.before)));
        Self {
            subject: record.item.subject.to_owned(),
            item: record.item.id.to_owned(),
            verdict: Verdict::of(record),
            parts: dimensions.chain(steps).collect(),
        }
    }

    fn part(&self, name: &str) -> Score {
        self.parts.iter().find(|(key, _)| key == name).map_or(Score::ZERO, |(_, amount)| *amount)
    }
}

/// Items under two scorecards: the scores of all, and the largest movers in full.
#[derive(Debug, Default)]
pub struct Diff {
    /// The first scorecard, `id@version`.
    pub before: String,
    /// The second one.
    pub after: String,
    /// The largest score of the second one: differences are in its points.
    pub scale: u32,
    /// Items with another band or tier.
    pub badges_changed: usize,
    /// The largest movers, largest first.
    pub movers: Vec<Mover>,
    scores: Vec<[i64; 2]>,
}

impl Diff {
    /// Returns an empty comparison of two scorecards.
    pub fn new(before: String, after: String, scale: u32) -> Self {
        Self { before, after, scale, ..Self::default() }
    }

    /// Adds an item under both; the `top` largest movers are kept.
    pub fn see(&mut self, before: Side, after: Side, top: usize) {
        let added = after.parts.iter().filter(|(key, _)| !before.parts.iter().any(|(known, _)| known == key));
        let mut reasons: Vec<(String, Score)> = before
            .parts
            .iter()
            .chain(added)
            .map(|(key, _)| (key.clone(), after.part(key).minus(before.part(key))))
            .filter(|(_, change)| *change != Score::ZERO)
            .collect();
        reasons.sort_by_key(|(_, change)| Reverse(change.units().unsigned_abs()));
        let (before, after, subject, item) = (before.verdict, after.verdict, before.subject, before.item);
        let moved = Rescored { before, after, parts: None, is_corrected: false, scale: self.scale };
        self.badges_changed += usize::from(moved.before.badge != moved.after.badge);
        self.scores.push(moved.units());
        let (record, card) = (String::new(), self.before.clone());
        keep_largest(&mut self.movers, Mover { record, subject, item, card, moved, reasons }, top);
    }

    /// Returns the number of items.
    pub fn items(&self) -> usize {
        self.scores.len()
    }

    /// Returns how many scores rise, and how many fall.
    pub fn tally(&self) -> (usize, usize) {
        let up = self.scores.iter().filter(|[before, after]| after > before).count();
        let down = self.scores.iter().filter(|[before, after]| after < before).count();
        (up, down)
    }

    /// Returns the ranks of a mover among all items before and after; equal scores share one.
    pub fn ranks(&self, mover: &Mover) -> [u64; 2] {
        let own = mover.moved.units();
        [0, 1].map(|side: usize| self.scores.iter().filter(|all| all[side] > own[side]).count() as u64 + 1)
    }

    /// Returns the comparison as JSON.
    pub fn answer(&self) -> Value {
        let mover = |mover: &Mover| {
            let [before, after] = self.ranks(mover);
            let side = |verdict: &Verdict, rank: u64| {
                json!({
                    "exact": verdict.score.map(Score::to_f64),
                    "published": verdict.published,
                    "badge": verdict.badge.as_deref().unwrap_or("-"),
                    "rank": rank,
                })
            };
            let reasons = mover.reasons.iter();
            json!({
                "subject": mover.subject,
                "item": mover.item,
                "before": side(&mover.moved.before, before),
                "after": side(&mover.moved.after, after),
                "difference": points(mover.moved.change().to_f64(), self.scale),
                "reasons": reasons
                    .map(|(part, change)| json!({"part": part, "difference": points(change.to_f64(), self.scale)}))
                    .collect::<Vec<_>>(),
            })
        };
        let (up, down) = self.tally();
        json!({
            "before": self.before,
            "after": self.after,
            "items": self.items(),
            "up": up,
            "down": down,
            "badges_changed": self.badges_changed,
            "movers": self.movers.iter().map(mover).collect::<Vec<_>>(),
        })
    }
}
