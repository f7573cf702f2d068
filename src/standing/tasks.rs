//! The standings of tasks, and what they were made of.

use karat_core::scorecard::{Scorecard, Standing};
use karat_core::timestamp::Timestamp;
use karat_standing::stand::TaskStandings;

use crate::rows::Rows;

/// The tasks, and what they were made of and by.
pub struct Answer<'a> {
    /// The rule.
    pub card: &'a Scorecard,
    /// Its section.
    pub rules: &'a Standing,
    /// The scored items.
    pub rows: &'a Rows,
    /// What they make of their tasks.
    pub standings: &'a TaskStandings,
    /// The moment of the verdict.
    pub as_of: Timestamp,
    /// The confidence of intervals.
    pub level: f64,
}
