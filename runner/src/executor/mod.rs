//! Executors: who carries out the steps that call a subnet.
//!
//! | file | what |
//! |---|---|
//! | `answer` | the answer of an executor, checked |
//! | `command` | a program of the validator, with limits |
//! | `http` | a service, over HTTP |
//! | `judge` | code in the sandbox of a judge |
//! | `recorded` | the attempts of an earlier run |
//! | `sandboxed` | walls around a program |

mod answer;
pub(crate) mod command;
pub(crate) mod http;
pub(crate) mod judge;
pub(crate) mod recorded;
pub(crate) mod sandboxed;

use std::time::{Duration, Instant};

use karat_run::{Outcome, Request};

use crate::secret::Secret;
use crate::stop::Stop;

pub(crate) use answer::Answer;

/// An executor: its kind, and what all kinds have.
#[derive(Debug)]
pub(crate) struct Executor {
    pub kind: Kind,
    /// The cost of an attempt whose answer does not say it.
    pub cost_nano_tao: u64,
    /// The longest that an attempt may take, whatever the plan declares.
    pub longest: Duration,
    /// The most bytes of an answer.
    pub answer_bytes_max: usize,
    /// Secrets, which it is given and no one else sees.
    pub secrets: Vec<Secret>,
}

/// The kind of an executor.
#[derive(Debug)]
pub(crate) enum Kind {
    Command(command::Program),
    Http(http::Service),
    Judge(Box<judge::Sandboxed>),
    Replay(Box<recorded::Earlier>),
}

/// The end of a call.
#[derive(Debug)]
pub(crate) enum Reply {
    /// The executor answered, or failed.
    Ended(Answer),
    /// The time was up.
    Late {
        /// The cost, which it has all the same.
        cost_nano_tao: u64,
    },
    /// The run is stopped.
    Stopped,
    /// The executor cannot work, through no fault of the plan.
    Fault(String),
}

/// The circumstances of a call.
pub(crate) struct Call<'a> {
    pub request: &'a Request,
    pub deadline: Instant,
    pub stop: &'a Stop,
}

impl Executor {
    /// Calls the executor.
    pub(crate) fn call(&self, call: &Call<'_>) -> Reply {
        match &self.kind {
            Kind::Command(program) => program.call(self, call),
            Kind::Http(service) => service.call(self, call),
            Kind::Judge(code) => code.call(self, call),
            Kind::Replay(earlier) => earlier.call(call),
        }
    }

    /// Returns the reply of an attempt whose time was up.
    pub(crate) fn late(&self) -> Reply {
        Reply::Late { cost_nano_tao: self.cost_nano_tao }
    }

    /// Returns the answer of an attempt that failed.
    pub(crate) fn failed(&self, reason: String) -> Answer {
        Answer {
            outcome: Outcome::Failed,
            output: None,
            reason: Some(reason),
            cost_nano_tao: self.cost_nano_tao,
        }
    }
}
