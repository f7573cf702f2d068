//! The standings of tasks, with their inputs.

use karat_core::scorecard::{Scorecard, Standing};
use karat_core::timestamp::Timestamp;
use karat_standing::stand::TaskStandings;

use crate::rows::Rows;

/// The standings of tasks with their inputs.
pub struct Answer<'a> {
    /// The scorecard.
    pub card: &'a Scorecard,
    /// Its section `[standing]`.
    pub rules: &'a Standing,
    /// The scored items.
    pub rows: &'a Rows,
    /// The standings of the tasks.
    pub standings: &'a TaskStandings,
    /// The time of the standings.
    pub as_of: Timestamp,
    /// The confidence of intervals.
    pub level: f64,
}
