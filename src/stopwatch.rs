//! Times of items. They are not part of a record.

use std::time::Instant;

use karat_graders::trace::budget::{Budget, Overrun, StageTimes};

/// A watch that times the stages of one item after another.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    budget: Budget,
    times: StageTimes,
    last: Instant,
}

impl Stopwatch {
    /// Creates a watch that lets every item take as long as `budget` says.
    pub(crate) fn new(budget: Budget) -> Self {
        Self { budget, times: StageTimes::new(), last: Instant::now() }
    }

    /// Begins an item.
    pub(crate) fn start(&mut self) {
        self.times.clear();
        self.last = Instant::now();
    }

    /// Returns how far the item went beyond the budget, if it did.
    pub(crate) fn overrun(&self) -> Option<Overrun> {
        self.budget.overrun(&self.times)
    }

    /// Ends a stage of the item.
    pub(crate) fn ended(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.times.add(stage, now.duration_since(self.last));
        self.last = now;
    }
}
