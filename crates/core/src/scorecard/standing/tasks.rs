//! Settings about tasks: how hard they are, and how long they are of use.

use alloc::vec::Vec;

use crate::number::{Decimal, Score};

crate::words! {
    /// The difficulty of a task.
    #[expect(missing_docs, reason = "the names say it")]
    pub enum Difficulty {
        Newcomer = "newcomer",
        Contender = "contender",
        Veteran = "veteran",
        Legendary = "legendary",
    }
}

/// The rates from which a challenge has a difficulty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CalibrationRules {
    /// The fewest completed matches that give a difficulty.
    pub completed_min: u64,
    /// Win rate and completion rate from which a challenge is not harder than this, both inclusive; the first that is
    /// met counts. A challenge that meets none is legendary.
    pub steps: Vec<CalibrationStep>,
    /// The margin by which both rates must pass a threshold before a calibrated difficulty changes; 0 for none. Keeps a
    /// challenge at a threshold from changing with every match.
    pub margin: Decimal,
}

/// The rates of one difficulty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalibrationStep {
    /// The difficulty.
    pub difficulty: Difficulty,
    /// Wins among completed matches, at least.
    pub win_rate: Decimal,
    /// Completed among all matches, at least.
    pub completion_rate: Decimal,
}

impl Default for CalibrationRules {
    /// Defaults to twenty completed matches; newcomer from 65 % won and 85 % completed, contender from 45 and 70,
    /// veteran from 25 and 50.
    fn default() -> Self {
        let step = |difficulty, win, completion| CalibrationStep {
            difficulty,
            win_rate: Decimal::from_millionths(win),
            completion_rate: Decimal::from_millionths(completion),
        };
        Self {
            completed_min: 20,
            steps: alloc::vec![
                step(Difficulty::Newcomer, 650_000, 850_000),
                step(Difficulty::Contender, 450_000, 700_000),
                step(Difficulty::Veteran, 250_000, 500_000),
            ],
            margin: Decimal::ZERO,
        }
    }
}

/// The rules by which a task is retired, or is probably broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LifecycleRules {
    /// A score above this counts as solved.
    pub solved_above: Score,
    /// A score below this counts as failed.
    pub failed_below: Score,
    /// The share of the scores of a period that must be exceeded, solved or failed, for the period to count.
    pub share_above: Decimal,
    /// Periods in a row that must count.
    pub periods: u32,
    /// Further periods that a quarantined task may go on failing before it is removed.
    pub quarantine_periods: u32,
}

impl Default for LifecycleRules {
    /// Defaults to more than 70 % of scores above 0.90 (or below 0.10), three periods in a row; five more in
    /// quarantine.
    fn default() -> Self {
        Self {
            solved_above: Score::from_billionths(900_000_000),
            failed_below: Score::from_billionths(100_000_000),
            share_above: Decimal::from_millionths(700_000),
            periods: 3,
            quarantine_periods: 5,
        }
    }
}
