//! Settings about shares of a whole.

use crate::number::Decimal;

/// The settings of shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShareRules {
    /// The largest share of one subject: above 0, at most 1.
    pub cap: Decimal,
    /// The treatment of too few subjects for shares below the cap to sum to 1.
    pub too_few: TooFew,
}

/// The treatment of too few subjects: with a cap of 15 %, fewer than seven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TooFew {
    /// The cap rises to one part for each subject with a score above zero, so that all of these get the same.
    RaiseCap,
    /// The cap is kept, and what no subject may have stays unassigned.
    LeaveRest,
}

impl Default for ShareRules {
    /// Returns a cap of 15 %, raised where it cannot hold.
    fn default() -> Self {
        Self { cap: Decimal::from_millionths(150_000), too_few: TooFew::RaiseCap }
    }
}
