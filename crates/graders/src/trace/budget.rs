//! The time that an evaluation may take. The caller measures it; the code here only compares. It changes no score: what is slow
//! is named, and how much of a text is read is limited by its tokens.

use std::fmt;
use std::time::Duration;

/// Durations of the stages of one evaluation, in the order in which they were first added.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StageTimes {
    stages: Vec<(&'static str, Duration)>,
}

impl StageTimes {
    /// Starts without stages.
    pub const fn new() -> Self {
        Self { stages: Vec::new() }
    }

    /// Adds the time of a stage. A stage that runs again takes the sum.
    pub fn add(&mut self, stage: &'static str, time: Duration) {
        match self.stages.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, sum)) => *sum = sum.saturating_add(time),
            None => self.stages.push((stage, time)),
        }
    }

    /// Forgets the stages, for the next evaluation.
    pub fn clear(&mut self) {
        self.stages.clear();
    }

    /// Returns the stages with their times.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Duration)> {
        self.stages.iter().copied()
    }

    /// Returns the time of all stages.
    pub fn total(&self) -> Duration {
        self.iter().fold(Duration::ZERO, |total, (_, time)| total.saturating_add(time))
    }
}

/// Time allowed for an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The most that all stages together may take.
    pub limit: Duration,
}

impl Default for Budget {
    /// Defaults to 100 ms for an evaluation (scoring document of reasoning traces, "Performance Budget").
    fn default() -> Self {
        Self { limit: Duration::from_millis(100) }
    }
}

impl Budget {
    /// Returns the excess over the budget, and the stages; none if it was kept. Exactly the limit is kept.
    pub fn overrun(&self, times: &StageTimes) -> Option<Overrun> {
        let total = times.total();
        if total <= self.limit {
            return None;
        }
        // Of equally long stages the first one: `rev`, as `max_by_key` takes the last one.
        let longest = times.stages.iter().rev().max_by_key(|(_, time)| *time);
        longest.map(|&(stage, time)| Overrun { total, limit: self.limit, stage, time })
    }
}

/// A budget that was exceeded. It is machine-dependent, so it does not belong into a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overrun {
    /// Time of all stages.
    pub total: Duration,
    /// Time allowed for them.
    pub limit: Duration,
    /// The stage that took longest.
    pub stage: &'static str,
    /// Time of the stage.
    pub time: Duration,
}

impl fmt::Display for Overrun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [total, limit, time] =
            [self.total, self.limit, self.time].map(|duration| duration.as_secs_f64() * 1000.0);
        write!(f, "took {total:.1} ms of the {limit:.1} ms allowed, {time:.1} ms of them to `{}`", self.stage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(stages: &[(&'static str, u64)]) -> StageTimes {
        let mut times = StageTimes::new();
        stages
            .iter()
            .for_each(|&(stage, milliseconds)| times.add(stage, Duration::from_millis(milliseconds)));
        times
    }

    #[test]
    fn exactly_the_limit_is_kept() {
        assert_eq!(Budget::default().overrun(&times(&[("read", 40), ("embed", 60)])), None);
        assert!(Budget::default().overrun(&times(&[("read", 41), ("embed", 60)])).is_some());
        assert_eq!(Budget { limit: Duration::ZERO }.overrun(&times(&[])), None);
    }

    #[test]
    fn the_longest_stage_is_named_by_all_its_times() {
        let budget = Budget { limit: Duration::from_millis(5) };
        let stage =
            |stages: &[_]| budget.overrun(&times(stages)).map(|overrun| (overrun.stage, overrun.time));
        let milliseconds = Duration::from_millis;
        assert_eq!(stage(&[("a", 4), ("b", 5), ("a", 2)]), Some(("a", milliseconds(6))));
        assert_eq!(stage(&[("a", 4), ("b", 4)]), Some(("a", milliseconds(4))), "the first of equals");
    }

    #[test]
    fn times_without_end_do_not_overflow() {
        let mut times = StageTimes::new();
        times.add("a", Duration::MAX);
        times.add("a", Duration::MAX);
        times.add("b", Duration::MAX);
        assert_eq!(Budget::default().overrun(&times).map(|overrun| overrun.total), Some(Duration::MAX));
    }
}
