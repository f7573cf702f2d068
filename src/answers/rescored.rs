//! The summary of many records that were scored again.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use karat_core::number::Score;

use super::rescore::{BadgeChange, RankChange, RescoreSummary, RescoreSummarySchema, RescoredRecord};
use crate::record::Record;
use crate::rescore::Rescored;

/// A record and its new score.
#[derive(Debug)]
pub struct Mover {
    /// The id of the record in the store.
    pub record: String,
    /// The subject.
    pub subject: String,
    /// The id of the item of evidence.
    pub item: String,
    /// The old card.
    pub card: String,
    /// Both sides.
    pub moved: Rescored,
    /// The parts of the score that moved, largest first, if they are known.
    pub reasons: Vec<(String, Score)>,
}

impl Mover {
    /// Returns the line about this record.
    pub fn answer(&self) -> RescoredRecord {
        RescoredRecord::new(&self.record, &self.subject, &self.item, &self.card, &self.moved)
    }

    /// Returns the mover for the record `claim`, whose id in the store is `record`.
    pub fn new(record: &str, claim: &Record, moved: Rescored) -> Self {
        let document = claim.document();
        Self {
            record: record.to_owned(),
            subject: document.subject.clone(),
            item: document.evidence.id.clone(),
            card: document.scorecard.name(),
            moved,
            reasons: Vec::new(),
        }
    }

    fn distance(&self) -> u64 {
        self.moved.change().units().unsigned_abs()
    }
}

/// Keeps a mover if it is one of the `top` largest.
pub(super) fn keep_largest(movers: &mut Vec<Mover>, mover: Mover, top: usize) {
    let place = movers.partition_point(|other| other.distance() >= mover.distance());
    if mover.distance() > 0 && place < top {
        movers.truncate(top - 1);
        movers.insert(place, mover);
    }
}

/// Scores of one subject: their sum in units, before and after.
#[derive(Debug, Default, Clone, Copy)]
struct Sums {
    before: i128,
    after: i128,
    records: i128,
}

/// The summary of all records: counts, the means of subjects, and the largest movers in full.
#[derive(Debug)]
pub struct Summary {
    /// Records scored again.
    pub records: usize,
    /// With a higher score than before.
    pub up: usize,
    /// With a lower one.
    pub down: usize,
    /// Without a score on one side or both.
    pub unscored: usize,
    /// Changes from one band or tier to another, counted; `-` for a missing one.
    pub badges: BTreeMap<(String, String), usize>,
    /// The largest movers, largest first.
    pub movers: Vec<Mover>,
    top: usize,
    sums: BTreeMap<String, Sums>,
}

impl Summary {
    /// Returns an empty summary that keeps the `top` largest movers.
    pub fn new(top: usize) -> Self {
        Self {
            records: 0,
            up: 0,
            down: 0,
            unscored: 0,
            badges: BTreeMap::new(),
            movers: Vec::new(),
            top,
            sums: BTreeMap::new(),
        }
    }

    /// Adds a record.
    pub fn see(&mut self, mover: Mover) {
        let moved = &mover.moved;
        self.records += 1;
        match moved.difference() {
            None => self.unscored += 1,
            Some(difference) => {
                self.up += usize::from(difference > Score::ZERO);
                self.down += usize::from(difference < Score::ZERO);
            }
        }
        if let (Some(before), Some(after)) = (moved.before.score, moved.after.score) {
            let sums = self.sums.entry(mover.subject.clone()).or_default();
            sums.before += i128::from(before.units());
            sums.after += i128::from(after.units());
            sums.records += 1;
        }
        if moved.before.badge != moved.after.badge {
            let name = |badge: &Option<String>| badge.clone().unwrap_or_else(|| String::from("-"));
            let key = (name(&moved.before.badge), name(&moved.after.badge));
            *self.badges.entry(key).or_default() += 1;
        }
        keep_largest(&mut self.movers, mover, self.top);
    }

    /// Returns the answer about all records by the cards `of`, scored again by `card`.
    pub fn answer(&self, of: &str, card: &str) -> RescoreSummary {
        let badges = self.badges.iter().map(|((before, after), records)| BadgeChange {
            before: before.clone(),
            after: after.clone(),
            records: *records as u64,
        });
        RescoreSummary {
            schema: RescoreSummarySchema::V1,
            of: of.to_owned(),
            card: card.to_owned(),
            records: self.records as u64,
            up: self.up as u64,
            down: self.down as u64,
            unscored: self.unscored as u64,
            subjects: self.subjects() as u64,
            ranks: self.ranks().into_iter().filter(|rank| rank.before != rank.after).collect(),
            badges: badges.collect(),
        }
    }

    /// Returns the number of subjects with scores on both sides.
    pub fn subjects(&self) -> usize {
        self.sums.len()
    }

    /// Returns every subject with its ranks, the best new rank first.
    pub fn ranks(&self) -> Vec<RankChange> {
        let before = places(&self.sums, |sums| sums.before);
        let after = places(&self.sums, |sums| sums.after).into_iter().map(|(subject, after)| RankChange {
            subject: subject.to_owned(),
            before: before.get(subject).copied().unwrap_or_default(),
            after,
        });
        let mut ranks: Vec<RankChange> = after.collect();
        ranks.sort_by_key(|rank| rank.after);
        ranks
    }
}

/// Returns the rank of every subject by the mean of the scores that `pick` selects.
fn places(sums: &BTreeMap<String, Sums>, pick: fn(&Sums) -> i128) -> BTreeMap<&str, u64> {
    // Means are compared as fractions: a sum of a million scores is far below the limits of the type.
    let compare = |a: &Sums, b: &Sums| (pick(a) * b.records).cmp(&(pick(b) * a.records));
    let mut sorted: Vec<(&str, &Sums)> = sums.iter().map(|(name, sums)| (name.as_str(), sums)).collect();
    sorted.sort_by(|(_, a), (_, b)| compare(b, a));
    let mut places = BTreeMap::new();
    let mut last: Option<(u64, &Sums)> = None;
    for (rank, (name, sums)) in (1..).zip(sorted) {
        let place = match last {
            Some((place, other)) if compare(other, sums) == Ordering::Equal => place,
            _ => rank,
        };
        last = Some((place, sums));
        places.insert(name, place);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answers::RecordStatus;
    use crate::rescore::Verdict;

    fn mover(subject: &str, before: Option<i64>, after: Option<i64>) -> Mover {
        let verdict = |score: Option<i64>| Verdict {
            score: score.map(Score::from_billionths),
            published: None,
            status: RecordStatus::Scored,
            badge: score.map(|score| String::from(if score > 500 { "win" } else { "loss" })),
        };
        Mover {
            record: String::from("r"),
            subject: subject.to_owned(),
            item: String::from("i"),
            card: String::from("c@1"),
            moved: Rescored {
                before: verdict(before),
                after: verdict(after),
                parts: None,
                is_corrected: false,
                scale: 100,
            },
            reasons: Vec::new(),
        }
    }

    #[test]
    fn places_are_by_mean_and_shared_where_means_are_equal() {
        let mut summary = Summary::new(2);
        // Means before: a 600, b 600, c 300. After: a 100, b 600, c 700.
        for mover in [
            mover("a", Some(600), Some(100)),
            mover("b", Some(500), Some(500)),
            mover("b", Some(700), Some(700)),
            mover("c", Some(300), Some(700)),
            mover("d", None, Some(1)),
        ] {
            summary.see(mover);
        }
        let rank = |subject: &str, before, after| RankChange { subject: subject.to_owned(), before, after };
        assert_eq!(summary.ranks(), [rank("c", 3, 1), rank("b", 1, 2), rank("a", 1, 3)]);
        assert_eq!((summary.records, summary.up, summary.down, summary.unscored), (5, 1, 1, 1));
        assert_eq!(summary.movers.iter().map(|it| it.subject.as_str()).collect::<Vec<_>>(), ["a", "c"]);
        let key = |before: &str, after: &str| (before.to_owned(), after.to_owned());
        let expected =
            [(key("-", "loss"), 1), (key("loss", "win"), 1), (key("win", "loss"), 1)].into_iter().collect();
        assert_eq!(summary.badges, expected);
    }
}
