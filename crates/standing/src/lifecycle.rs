//! The life of a benchmark task: in use, quarantined when no subject solves it, deprecated when nearly all do.

use karat_core::number::{MILLION, Score};
pub use karat_core::scorecard::LifecycleRules;

karat_core::words! {
    /// The status of a task.
    #[derive(Default)]
    pub enum TaskStatus {
        /// In use.
        #[default]
        Active = "active",
        /// No subject solves it: probably broken. Back in use as soon as a period is not like that.
        Quarantined = "quarantined",
        /// Nearly all subjects solve it, or it stayed broken. For good: a task that was known to all does not become new
        /// again, and one that is fixed is another task.
        Deprecated = "deprecated",
    }
}

/// The status of a task, and how it came to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TaskLife {
    /// Its status.
    pub status: TaskStatus,
    /// Periods in a row, up to the last one with scores, in which nearly all subjects solved it.
    pub solved_periods: u32,
    /// Periods in a row, up to the last one with scores, in which nearly none did.
    pub failed_periods: u32,
}

/// The outcome of one period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeriodOutcome {
    /// Scores seen.
    pub scores: usize,
    /// Those that count as solved.
    pub solved: usize,
    /// Those that count as failed.
    pub failed: usize,
    /// The status before.
    pub before: TaskStatus,
    /// The status after.
    pub after: TaskStatus,
}

/// The next status of a task if the periods to come are like the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ahead {
    /// The status that comes next.
    pub status: TaskStatus,
    /// The number of further periods of the same kind after which it happens.
    pub periods: u32,
    /// True if nearly all subjects solve it, false if nearly none do.
    pub is_solved: bool,
}

impl TaskLife {
    /// Returns what comes next if the periods to come are like the last one; none where nothing is under way.
    pub fn ahead(self, rules: &LifecycleRules) -> Option<Ahead> {
        if self.status == TaskStatus::Deprecated {
            return None;
        }
        let of = |row: u32, limit: u32, status, is_solved| {
            (row > 0).then(|| Ahead { status, periods: limit.saturating_sub(row), is_solved })
        };
        let solved = of(self.solved_periods, rules.periods, TaskStatus::Deprecated, true);
        let removed_at = rules.periods.saturating_add(rules.quarantine_periods);
        let failed = if self.failed_periods < rules.periods && rules.quarantine_periods > 0 {
            of(self.failed_periods, rules.periods, TaskStatus::Quarantined, false)
        } else {
            of(self.failed_periods, removed_at, TaskStatus::Deprecated, false)
        };
        solved.into_iter().chain(failed).min_by_key(|ahead| ahead.periods)
    }

    /// Takes in the scores of one period. A period without scores says nothing and breaks no row.
    #[must_use]
    pub fn next(self, rules: &LifecycleRules, scores: &[Score]) -> (Self, PeriodOutcome) {
        let solved = scores.iter().filter(|score| **score > rules.solved_above).count();
        let failed = scores.iter().filter(|score| **score < rules.failed_below).count();
        let is_most = |part: usize| {
            part as i128 * i128::from(MILLION)
                > scores.len() as i128 * i128::from(rules.share_above.millionths())
        };
        let mut next = self;
        if !scores.is_empty() {
            let count = |row: u32, part| if is_most(part) { row.saturating_add(1) } else { 0 };
            next.solved_periods = count(self.solved_periods, solved);
            next.failed_periods = count(self.failed_periods, failed);
            next.status = next.judged(rules);
        }
        let outcome =
            PeriodOutcome { scores: scores.len(), solved, failed, before: self.status, after: next.status };
        (next, outcome)
    }

    fn judged(self, rules: &LifecycleRules) -> TaskStatus {
        let removed_at = rules.periods.saturating_add(rules.quarantine_periods);
        let is_broken = self.failed_periods >= rules.periods;
        if self.status == TaskStatus::Deprecated
            || self.solved_periods >= rules.periods
            || (is_broken && self.failed_periods >= removed_at)
        {
            TaskStatus::Deprecated
        } else if is_broken {
            TaskStatus::Quarantined
        } else {
            TaskStatus::Active
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    fn scores(solved: usize, between: usize, failed: usize) -> Vec<Score> {
        let of = |count, billionths| vec![Score::from_billionths(billionths); count];
        [of(solved, 950_000_000), of(between, 500_000_000), of(failed, 50_000_000)].concat()
    }

    fn statuses(periods: &[Vec<Score>]) -> Vec<TaskStatus> {
        let mut life = TaskLife::default();
        let mut step = |scores: &Vec<Score>| {
            (life, _) = life.next(&LifecycleRules::default(), scores);
            life.status
        };
        periods.iter().map(&mut step).collect()
    }

    use TaskStatus::{Active, Deprecated, Quarantined};

    #[test]
    fn seventy_percent_is_not_more_than_seventy_percent() {
        assert_eq!(statuses(&vec![scores(7, 3, 0); 9]), [Active; 9]);
        assert_eq!(statuses(&vec![scores(71, 29, 0); 3]), [Active, Active, Deprecated]);
    }

    #[test]
    fn the_limits_themselves_are_neither_solved_nor_failed() {
        let at = |billionths| vec![vec![Score::from_billionths(billionths); 3]; 4];
        assert_eq!(statuses(&at(900_000_000)), [Active; 4]);
        assert_eq!(statuses(&at(100_000_000)), [Active; 4]);
    }

    #[test]
    fn a_row_is_broken_by_another_outcome_and_not_by_silence() {
        let (solved, none, mixed) = (scores(4, 0, 0), vec![], scores(2, 2, 0));
        assert_eq!(statuses(&[solved.clone(), none, solved.clone(), solved.clone()])[3], Deprecated);
        assert_eq!(statuses(&[solved.clone(), solved.clone(), mixed, solved])[3], Active);
    }

    #[test]
    fn a_broken_task_is_quarantined_then_removed() {
        let expected = [vec![Active; 2], vec![Quarantined; 5], vec![Deprecated; 2]].concat();
        assert_eq!(statuses(&vec![scores(0, 0, 4); 9]), expected);
    }

    #[test]
    fn a_quarantined_task_that_is_solved_again_is_back_and_a_deprecated_one_is_not() {
        let (broken, good, solved) = (scores(0, 0, 4), scores(1, 2, 1), scores(4, 0, 0));
        let back = statuses(&[vec![broken; 3], vec![good.clone()]].concat());
        assert_eq!(back, [Active, Active, Quarantined, Active]);
        let gone = statuses(&[vec![solved; 3], vec![good; 5]].concat());
        assert_eq!(gone[3..], [Deprecated; 5]);
    }

    #[test]
    fn what_is_ahead_comes_when_it_was_said_to() {
        for (quarantine_periods, period) in
            [(5, scores(4, 0, 0)), (5, scores(0, 0, 4)), (0, scores(0, 0, 4)), (5, scores(1, 2, 1))]
        {
            let rules = LifecycleRules { quarantine_periods, ..LifecycleRules::default() };
            let mut life = TaskLife::default();
            let mut lives = vec![life];
            for _ in 0..9 {
                (life, _) = life.next(&rules, &period);
                lives.push(life);
            }
            for (at, life) in lives.iter().enumerate() {
                let change = lives[at..].iter().position(|later| later.status != life.status);
                let told = life.ahead(&rules).map(|ahead| (ahead.periods as usize, ahead.status));
                let came = change.map(|periods| (periods, lives[at + periods].status));
                assert_eq!(told, came.filter(|_| at > 0), "{at}: {life:?}");
            }
        }
    }

    #[test]
    fn what_a_period_showed_is_told() {
        let (_, outcome) = TaskLife::default().next(&LifecycleRules::default(), &scores(3, 2, 1));
        assert_eq!((outcome.scores, outcome.solved, outcome.failed), (6, 3, 1));
        assert_eq!((outcome.before, outcome.after), (Active, Active));
    }
}
