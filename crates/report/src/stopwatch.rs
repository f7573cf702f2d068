//! How long items take. Whoever scores measures; no score depends on it.

use std::time::Instant;

use karat_evidence::grade::trace::budget::{Budget, Overrun, StageTimes};

use crate::session::Place;

/// Most items that are listed as too slow.
const LISTED: usize = 20;

/// Times the stages of every item, and keeps the items that took too long.
#[derive(Debug)]
pub struct Stopwatch {
    budget: Budget,
    times: StageTimes,
    last: Instant,
    overruns: Vec<(String, Overrun)>,
    more: u64,
}

impl Stopwatch {
    /// One that lets every item take as long as `budget` says.
    pub fn new(budget: Budget) -> Self {
        Self { budget, times: StageTimes::new(), last: Instant::now(), overruns: Vec::new(), more: 0 }
    }

    /// An item begins.
    pub fn start(&mut self) {
        self.times.clear();
        self.last = Instant::now();
    }

    /// A stage ends.
    pub fn lap(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.times.add(stage, now.duration_since(self.last));
        self.last = now;
    }

    /// The item ends.
    pub fn stop(&mut self, place: &Place<'_>) {
        let Some(overrun) = self.budget.overrun(&self.times) else { return };
        if self.overruns.len() < LISTED {
            self.overruns.push((place.to_string(), overrun));
        } else {
            self.more += 1;
        }
    }

    /// The first items that took too long: where they stand, and where the time went.
    pub fn listed(&self) -> impl Iterator<Item = (&str, &Overrun)> {
        self.overruns.iter().map(|(place, overrun)| (place.as_str(), overrun))
    }

    /// How many more there are.
    pub fn unlisted(&self) -> u64 {
        self.more
    }
}
