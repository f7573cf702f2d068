//! Workflows: a validator posts tasks, miners hand in plans, and recorders that are drawn deliver recordings of their runs.
//!
//! Everything is an item of the log of the kind `workflow`, and each recording one of the kind `recording`. A task goes through
//! three phases by the clock of the server: plans, recordings, over. Once all recorders of a plan have delivered, or the time for
//! it has passed, each recording is replayed and scored; the one with the median by score becomes evidence and a record.
//!
//! * `content`: stored items; `state`: their state in memory, computed at each start; `draw`: who records which plan.

use crate::basics::*;

mod content;
mod draw;
mod state;

pub(crate) use content::plan_id;
pub use content::{Content, Delivery, Plan, Scored, StoredPlan, StoredTask, Task, Verdict, VerdictState};
pub use draw::{commitment, drawn};
pub use state::{FlowState, Flows, PlanState, TaskState};

karat_core::words! {
    /// The phase of a task: what it accepts.
    pub enum Phase {
        /// Plans are accepted, and are secret.
        Plans = "plans",
        /// Recordings are accepted, and are secret.
        Recordings = "recordings",
        /// Nothing more is accepted.
        Over = "over",
    }
}

/// Returns a moment in milliseconds; the last of all if it is not written as one.
pub(crate) fn milliseconds(moment: &str) -> i64 {
    Timestamp::parse(moment).map_or(i64::MAX, |moment| moment.milliseconds)
}
