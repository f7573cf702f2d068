//! The items that `karat score` shows, and in which order; and the summary at the end of a table.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use karat_core::facts::Outcome;
use karat_core::number::{Decimal, Score};
use karat_core::record::Record as Scoring;

use super::score_rows::Written;
use karat::document::Part;
use karat::gate::fails;
use karat::text::{Tone, Writing, clean, count, list};
use karat::write::screen::{self, Layout};

/// The order of the items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The best score first.
    Best,
    /// The lowest score first, after those without one.
    Worst,
    /// By the name of the subject.
    Subject,
}

/// The items to show. All are scored.
#[derive(Debug, Clone, Copy, Default)]
pub struct Listing {
    /// The order; none for that of the input.
    pub order: Option<Order>,
    /// The most items.
    pub most: Option<usize>,
    /// True for those alone that fail.
    pub only_failed: bool,
}

/// An item that waits for its place in the order.
pub struct Held {
    score: Option<Score>,
    subject: String,
    /// The text.
    pub text: Vec<u8>,
    /// The additions to a document beside its text.
    pub written: Option<Written>,
}

impl Listing {
    /// Returns true if items wait for the end.
    pub fn holds(&self) -> bool {
        self.order.is_some() || self.most.is_some()
    }

    /// Returns true if an item is shown: with `--only failed` one that fails `--fail-under`; without that flag one that failed,
    /// that a gate holds, or that has no score.
    pub fn shows(&self, record: &Scoring<'_>, fail_under: Option<Decimal>) -> bool {
        let fails = || match fail_under {
            Some(points) => fails(record, points),
            None => {
                record.item.context.outcome == Some(Outcome::Failed)
                    || !record.gates.is_empty()
                    || record.score.is_none()
            }
        };
        !self.only_failed || fails()
    }

    /// Returns an item that waits.
    pub fn hold(record: &Scoring<'_>, text: Vec<u8>, written: Option<Written>) -> Held {
        Held { score: record.score, subject: record.item.subject.to_owned(), text, written }
    }

    /// Adds items, which come in the order of the input, and drops those that cannot be among the first.
    pub fn add(&self, held: &mut Vec<Held>, next: Vec<Held>) {
        held.extend(next);
        let Some(most) = self.most else { return };
        if self.order.is_none() {
            held.truncate(most);
        } else if held.len() > most.saturating_mul(2).saturating_add(4096) {
            self.settle(held);
        }
    }

    /// Puts the items in order; those that are equal keep that of the input.
    fn settle(&self, held: &mut Vec<Held>) {
        match self.order {
            Some(Order::Best) => held.sort_by_key(|it| Reverse(it.score)),
            Some(Order::Worst) => held.sort_by_key(|it| it.score),
            Some(Order::Subject) => held.sort_by(|a, b| a.subject.cmp(&b.subject)),
            None => {}
        }
        held.truncate(self.most.unwrap_or(usize::MAX));
    }

    /// Returns all items in order.
    pub fn end(&self, mut held: Vec<Held>) -> Vec<Held> {
        self.settle(&mut held);
        held
    }
}

/// The counts below a table.
#[derive(Debug, Default)]
pub struct Summary {
    items: u64,
    scored: u64,
    sum: i128,
    lowest: Option<Score>,
    highest: Option<Score>,
    outcomes: BTreeMap<&'static str, u64>,
    gates: BTreeMap<String, u64>,
}

/// The fewest items of which a table ends with a summary: they hardly fit a screen.
const ITEMS: u64 = 10;

impl Summary {
    /// Returns whether no item was counted.
    pub fn is_empty(&self) -> bool {
        self.items == 0
    }

    /// Counts an item.
    pub fn see(&mut self, record: &Scoring<'_>) {
        self.items += 1;
        if let Some(score) = record.score {
            self.scored += 1;
            self.sum += i128::from(score.billionths());
            self.lowest = Some(self.lowest.map_or(score, |lowest| lowest.min(score)));
            self.highest = Some(self.highest.map_or(score, |highest| highest.max(score)));
        }
        if let Some(outcome) = record.item.context.outcome {
            *self.outcomes.entry(outcome.name()).or_default() += 1;
        }
        for gate in &record.gates {
            *self.gates.entry((*gate).to_owned()).or_default() += 1;
        }
    }

    /// Adds the counts of the next items.
    pub fn add(&mut self, next: Self) {
        self.items += next.items;
        self.scored += next.scored;
        self.sum += next.sum;
        self.lowest = [self.lowest, next.lowest].into_iter().flatten().min();
        self.highest = self.highest.max(next.highest);
        next.outcomes.into_iter().for_each(|(name, count)| *self.outcomes.entry(name).or_default() += count);
        next.gates.into_iter().for_each(|(name, count)| *self.gates.entry(name).or_default() += count);
    }

    /// Returns the lines below a table of which `shown` items are in the output; empty for few items that are all shown.
    pub fn text(&self, listing: &Listing, shown: u64, refused: u64, scale: u32, width: usize) -> String {
        if self.items < ITEMS && !listing.holds() && !listing.only_failed {
            return String::new();
        }
        let lines = self.lines(shown, refused, scale).into_iter().enumerate();
        let parts = lines.map(|(at, (tone, line))| match at {
            0 => Part::Heading(line),
            _ => Part::Note(tone, line),
        });
        screen::parts(&parts.collect::<Vec<_>>(), Layout { width, most: usize::MAX, all: "" })
    }

    /// Returns the counts in sentences, the number of items and their mean first.
    pub fn lines(&self, shown: u64, refused: u64, scale: u32) -> Vec<(Tone, String)> {
        let size = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        let writing = Writing::of(scale);
        let share = |score: Score| writing.number(score.billionths() as f64 / 1e9);
        let mut line = count(size(self.items), "item");
        if let Some((lowest, highest)) = self.lowest.zip(self.highest) {
            let mean = self.sum as f64 / self.scored.max(1) as f64 / 1e9;
            let _ = write!(line, ": mean {}, {} to {}", writing.number(mean), share(lowest), share(highest));
        }
        let without = self.items - self.scored;
        let mut lines = vec![(Tone::Plain, line)];
        if shown < self.items {
            lines.push((Tone::Plain, format!("shown: {shown} of {}", self.items)));
        }
        let counted = |all: &mut dyn Iterator<Item = (&str, u64)>| {
            list(&all.map(|(name, count)| format!("{count} {}", clean(name))).collect::<Vec<_>>())
        };
        if !self.outcomes.is_empty() {
            let stated: u64 = self.outcomes.values().sum();
            let rest = (self.items > stated).then_some(("not stated", self.items - stated));
            let all = counted(&mut self.outcomes.iter().map(|(name, count)| (*name, *count)).chain(rest));
            lines.push((Tone::Plain, format!("outcomes: {all}")));
        }
        if !self.gates.is_empty() {
            let all = counted(&mut self.gates.iter().map(|(name, count)| (name.as_str(), *count)));
            lines.push((Tone::Care, format!("gates: {all}")));
        }
        if without > 0 {
            lines.push((Tone::Care, format!("without a score: {without}")));
        }
        if refused > 0 {
            lines.push((Tone::Care, format!("refused: {refused}")));
        }
        lines
    }
}
