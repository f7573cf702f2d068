//! A gate on the change from one subject to another: whether the second is worse by more than a margin.

use karat_stats::StatisticsError;
use karat_stats::compare::{Differences, GateChange, Test};

use super::Settings;
use super::pair::{Pair, levels};
use crate::rows::Rows;

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
    /// The confidence of this comparison: of several under one gate each needs more to be worse, so that all together are wrong
    /// no more often than one (Holm); that it is not worse each must show alone, at the level that was asked for.
    pub level: f64,
    /// The interval at this confidence of how much worse the second is, below 0 if it is better.
    pub interval: Option<(f64, f64)>,
    /// The finding: without the results that the second lacks, and open if it would be another with the worst of them.
    pub change: GateChange,
    /// True if the gate lets the second pass.
    pub is_passed: bool,
    /// The number of results that the second lacks, at tasks at which the first has them.
    pub lacking: usize,
    /// The number of these that would settle it if they were as good as those of the first; none where it is settled.
    pub lacking_needed: Option<usize>,
}

impl Gate {
    /// Judges comparisons, all of them together.
    ///
    /// # Errors
    /// By pair: if the results that are missing cannot be added.
    pub fn judge(
        self,
        rows: &Rows,
        pairs: &[Pair],
        settings: &Settings,
    ) -> Vec<Result<GateFinding, StatisticsError>> {
        let chances = |pair: &Pair| {
            let own = &pair.measured.score;
            let worst = match pair.changes.lacking.is_empty() {
                true => own.clone(),
                false => pair.measured.with_lacking(rows, &pair.changes, 0)?,
            };
            // For both sides.
            let test = |it: &Differences| {
                Ok::<_, StatisticsError>(Test { p: 2.0 * it.chance(self.margin)?, least: it.least() })
            };
            Ok((test(own)?, test(&worst)?, worst))
        };
        let tests: Vec<Result<(Test, Test, Differences), StatisticsError>> =
            pairs.iter().map(chances).collect();
        let tests_of = |of: fn(&(Test, Test, Differences)) -> Test| {
            levels(tests.iter().map(|test| test.as_ref().ok().map(of)), settings.level)
        };
        let (levels, worst_levels) = (tests_of(|it| it.0), tests_of(|it| it.1));
        let all = pairs.iter().zip(levels).zip(tests.into_iter().zip(worst_levels));
        all.map(|((pair, level), (test, worst_level))| {
            let change = |it: &Differences, level| it.change(self.margin, level, settings.level);
            let (own, (_, _, worst)) = (&pair.measured.score, test?);
            let (without, with) = (change(own, level)?, change(&worst, worst_level)?);
            let is_passed = self.passes(without) && self.passes(with);
            let is_settled = is_passed || !self.passes(without);
            let is_bound = self.is_strict && without != GateChange::Worse;
            let interval = if is_bound { own.bound(settings.level)? } else { own.interval(level)? };
            Ok(GateFinding {
                gate: self,
                level: if is_bound { settings.level } else { level },
                interval: interval.map(|it| (it.low, it.high)),
                change: if is_settled { without } else { GateChange::Open },
                is_passed,
                lacking: pair.changes.lacking.values().sum(),
                lacking_needed: match is_settled {
                    true => None,
                    false => Some(self.needed(
                        |returned| {
                            change(&pair.measured.with_lacking(rows, &pair.changes, returned)?, worst_level)
                        },
                        pair.changes.lacking.values().sum(),
                    )?),
                },
            })
        })
        .collect()
    }

    fn passes(self, change: GateChange) -> bool {
        match change {
            GateChange::Worse => false,
            GateChange::NotWorse => true,
            GateChange::Open => !self.is_strict,
        }
    }

    /// Returns the fewest results with which the gate lets the second pass, of at most `all`.
    fn needed(
        self,
        change: impl Fn(usize) -> Result<GateChange, StatisticsError>,
        all: usize,
    ) -> Result<usize, StatisticsError> {
        let (mut low, mut high) = (1, all);
        while low < high {
            let middle = low.midpoint(high);
            if self.passes(change(middle)?) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Ok(low)
    }
}
