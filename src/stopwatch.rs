//! Times of items. They are not part of a record; only that an item ran out of time is.

use std::time::Instant;

use karat_graders::trace::budget::{Budget, Overrun, StageTimes};
use karat_reader::Watch;

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
}

impl Watch for Stopwatch {
    fn ended(&mut self, stage: &'static str) {
        let now = Instant::now();
        self.times.add(stage, now.duration_since(self.last));
        self.last = now;
    }

    fn has_time(&mut self) -> bool {
        self.times.total() + self.last.elapsed() <= self.budget.limit
    }
}

/// The watch of an engine: a stopwatch, if there is a budget, unless a record says whether the item ran out of time.
pub(crate) struct EngineWatch<'w> {
    pub stopwatch: Option<&'w mut Stopwatch>,
    pub had_time: Option<bool>,
}

impl Watch for EngineWatch<'_> {
    fn ended(&mut self, stage: &'static str) {
        if let Some(stopwatch) = &mut self.stopwatch {
            stopwatch.ended(stage);
        }
    }

    fn has_time(&mut self) -> bool {
        self.had_time.unwrap_or_else(|| self.stopwatch.as_mut().is_none_or(|stopwatch| stopwatch.has_time()))
    }
}
