//! Gates: what a run must reach, the verdict on it, and the status with which a program ends.
//!
//! A [`Gate`] is filled from flags, from `karat.toml` or by a program, and judges items that were loaded once. `examples/gate.rs` judges
//! those of a project file.
//!
//! ```
//! use karat::gate::{Baseline, Gate, Status, BASELINE, RUN};
//! use karat::ask::Items;
//! use karat::inputs::Silent;
//! use karat::loaded::Source;
//! use karat::{CompiledCard, Inputs, Options};
//! use karat_core::number::Decimal;
//!
//! let card = CompiledCard::open("examples/cards/task-run.toml")?;
//! let [before, after] = ["base.csv", "new.csv"].map(|file| [format!("examples/compare/{file}")]);
//! let inputs = Inputs::of_sides([(BASELINE, &before), (RUN, &after)])?;
//! let items = Items::default();
//! let source = Source { alone: Some(RUN), ..Source::new(&items, Some((card.into(), Options::default()))) };
//! let gate = Gate { fail_if_worse: Some(Decimal::from_millionths(2_000_000)), ..Gate::default() };
//! let baseline = Baseline::Loaded(String::from("base.csv"));
//! let judged = gate.judge(&items, &mut source.load(&inputs, &Silent)?, &baseline)?;
//! assert_eq!(judged.verdict().status(), Status::Worse);
//! # Ok::<(), karat::Error>(())
//! ```

mod check;
mod compare;
mod floor;
mod items;
mod leaderboard;
mod quarantine;
mod standing;

pub use crate::document::Failing;
pub use check::{BASELINE, Baseline, Gate, Judged, RUN};
pub use compare::{document as comparison_document, failed, judge as judge_comparison};
pub(crate) use floor::{failing, floors, judge as judge_floors};
pub use items::{ItemFloor, fails};
pub use leaderboard::{JudgedLeaderboard, judge_leaderboard, judge_sums};
pub use quarantine::Quarantine;
pub use standing::judge as judge_standings;

use karat_core::number::Decimal;
use karat_core::timestamp::Timestamp;

use crate::rows::{Row, Rows};
use crate::text::{count, named};

/// The end of a gate. The numbers are the exit statuses of the command line: scripts branch on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Every gate lets it pass.
    Passed = 0,
    /// A score or a value is below its floor.
    Below = 10,
    /// A gate of the scorecard held, or a quarantine has ended.
    Blocked = 11,
    /// There is nothing to compare, or it is not shown that the second of two is not worse.
    Inconclusive = 12,
    /// The second of two is worse than the margin allows.
    Worse = 16,
}

/// The findings of gates, by the status that each failure has.
#[derive(Debug, Clone, Default)]
pub struct Verdict {
    failed: Vec<(Status, Vec<String>)>,
    /// Sentences about what a gate that passes did not see.
    unseen: Vec<String>,
}

impl Verdict {
    /// Adds failures with a status, a line each.
    pub fn add(&mut self, status: Status, lines: Vec<String>) {
        if !lines.is_empty() {
            self.failed.push((status, lines));
        }
    }

    /// Adds a sentence about what the gate did not see.
    pub fn warn(&mut self, line: String) {
        self.unseen.push(line);
    }

    /// Returns what gates did not see, a sentence each.
    pub fn warnings(&self) -> &[String] {
        &self.unseen
    }

    /// Adds what another gate found.
    pub fn extend(&mut self, other: Self) {
        self.failed.extend(other.failed);
        for line in other.unseen {
            if !self.unseen.contains(&line) {
                self.unseen.push(line);
            }
        }
    }

    /// Returns whether every gate lets it pass.
    pub fn is_passed(&self) -> bool {
        self.failed.is_empty()
    }

    /// Returns the failures by their status, a line each.
    pub fn failures(&self) -> &[(Status, Vec<String>)] {
        &self.failed
    }

    /// Returns why gates fail, a line each.
    pub fn lines(&self) -> Vec<&str> {
        self.failed.iter().flat_map(|(_, lines)| lines).map(String::as_str).collect()
    }

    /// Returns the status: that of the gravest failure.
    pub fn status(&self) -> Status {
        gravest(self.failed.iter().map(|(status, _)| *status))
    }
}

/// Returns the gravest of the statuses of gates; of none that all of them passed.
pub(crate) fn gravest(statuses: impl Iterator<Item = Status>) -> Status {
    let failed: Vec<Status> = statuses.filter(|status| *status != Status::Passed).collect();
    let gravity = [Status::Worse, Status::Blocked, Status::Below];
    let gravest = gravity.into_iter().find(|status| failed.contains(status));
    gravest.or(failed.first().copied()).unwrap_or(Status::Passed)
}

/// Returns which items no official score at a moment has, as they are after it.
pub(crate) fn outside(rows: &Rows, as_of: Timestamp) -> Option<String> {
    let later: Vec<&Row> =
        rows.rows.iter().filter(|row| row.time().is_some_and(|time| time > as_of)).collect();
    let mut names: Vec<&str> =
        later.iter().map(|row| rows.subjects.get(row.subject).map_or("", String::as_str)).collect();
    names.sort_unstable();
    names.dedup();
    let items = count(later.len(), "item");
    Some(format!("no official score has {items} after {as_of}, of {}", named(&names)?))
}

/// Returns a warning if a number is so small on the scale of a card that a share of it is meant: above 0 and less than one in `part` of a point.
pub(crate) fn slight(what: &str, points: Decimal, scale: u32, part: i64) -> Option<String> {
    let most = Decimal::ONE.millionths() / part;
    let meant = points.millionths().checked_mul(i64::from(scale)).map(Decimal::from_millionths)?;
    (scale > 1 && (1..most).contains(&points.millionths())).then(|| {
        format!("{what} of {points} is almost nothing on a scale from 0 to {scale}; for that share of it give {meant}")
    })
}
