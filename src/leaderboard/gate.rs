//! A gate on the change from one subject to another: whether the second is worse by more than a margin.

use karat_stats::StatisticsError;
use karat_stats::compare::{Difference, GateChange};

use super::Settings;
use super::pair::Pair;

/// The gate that is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gate {
    /// The margin by which the second may be worse, as a share of the scale.
    pub margin: f64,
    /// True if it must be shown that it is not worse by the margin; else it fails only if it is shown to be.
    pub is_strict: bool,
}

/// The finding of a gate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GateFinding {
    /// The gate.
    pub gate: Gate,
    /// The confidence of this comparison: of several under one gate each needs more, so that all together are wrong no more
    /// often than one (Bonferroni).
    pub level: f64,
    /// The interval at this confidence of how much worse the second is, below 0 if it is better.
    pub interval: Option<(f64, f64)>,
    /// The finding.
    pub change: GateChange,
    /// The number of tasks at which the first has results, and the second has none or fewer.
    pub lacking_tasks: usize,
}

impl GateFinding {
    /// Returns true if the gate lets the second pass.
    pub fn is_passed(&self) -> bool {
        match self.change {
            GateChange::Worse => false,
            // Of results that are gone nothing is shown: they may be those that failed.
            GateChange::NotWorse => !self.gate.is_strict || self.lacking_tasks == 0,
            GateChange::Open => !self.gate.is_strict,
        }
    }
}

/// The most resamples that are drawn for a higher confidence than was asked for.
const MOST_DRAWS: u32 = 40_000;

impl Gate {
    /// Judges comparisons that were computed with `settings`; of several each is computed again at the confidence that it
    /// needs, with as many times the resamples.
    ///
    /// # Errors
    /// By pair: if the resamples are too few for this many comparisons.
    pub fn judge(
        self,
        pairs: &[Pair],
        count: usize,
        settings: &Settings,
    ) -> Vec<Result<GateFinding, StatisticsError>> {
        if count < 2 {
            return pairs.iter().map(|pair| Ok(self.found(pair, &pair.score, settings.level))).collect();
        }
        let level = 1.0 - (1.0 - settings.level) / count as f64;
        let mut settings = *settings;
        let times = u32::try_from(count).unwrap_or(u32::MAX);
        let draws = settings.plan.draws;
        settings.plan.draws = draws.max(draws.saturating_mul(times).min(MOST_DRAWS));
        settings.level = level;
        let scores = Pair::scores(pairs, &settings).into_iter().zip(pairs);
        scores.map(|(score, pair)| Ok(self.found(pair, &score?, level))).collect()
    }

    fn found(self, pair: &Pair, score: &Difference, level: f64) -> GateFinding {
        GateFinding {
            gate: self,
            level,
            interval: score.estimate.interval.map(|it| (it.low, it.high)),
            change: score.change(self.margin),
            lacking_tasks: score.only_first_tasks + pair.changes.fewer.len(),
        }
    }
}
