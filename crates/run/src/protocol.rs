//! The lines between karat and `karat-runner`: JSON, one message a line, over standard input and output.
//!
//! karat sends [`Executors`], and hears [`Said::Ready`] or [`Said::Refused`]. It checks plan and task, sends [`Start`], and hears
//! of each attempt until [`Said::Done`] or [`Said::Refused`]. If standard input ends, the run stops, and says what was done.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::attempt::Attempt;
use crate::fault::Fault;
use crate::recording::{line, read};

/// The file of executors. Its folder is the argument of the program.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Executors {
    /// The text of the file.
    pub executors: String,
}

/// The plan to be run: all of this is checked before it is sent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// The plan, as canonical JSON with the name of its author.
    pub plan: String,
    /// The task, as canonical JSON.
    pub task: String,
}

/// A message of the runner.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Said {
    /// The file of executors is sound.
    Ready {
        /// The most retries that a step may declare.
        retries_max: u64,
        /// The subnets that have an executor.
        subnets: Vec<String>,
        /// Layers that sandboxes lack on this machine.
        gaps: Vec<Fault>,
    },
    /// Nothing is run, or the run cannot be handed out.
    Refused(Vec<Fault>),
    /// An attempt at the step begins.
    Began(String),
    /// An attempt has ended: its line in the recording.
    Ended(Map<String, Value>),
    /// The run has ended.
    Done {
        /// The text of its recording.
        recording: String,
        /// The reason why it could not go on, if it was not asked to stop.
        fault: Option<String>,
    },
}

impl Said {
    /// Returns the message that an attempt has ended.
    pub fn ended(attempt: &Attempt) -> Self {
        match line(attempt) {
            Value::Object(members) => Self::Ended(members),
            // A line is an object.
            _ => Self::Ended(Map::new()),
        }
    }

    /// Reads the attempt of the message that it has ended.
    ///
    /// # Errors
    /// If it is not the line of an attempt.
    pub fn attempt(members: &Map<String, Value>) -> Result<Attempt, Vec<Fault>> {
        read::attempt(members)
    }
}
