//! Runs workflow plans: a plan and a task in, evidence and a recording out.
//!
//! A live run asks executors and a clock, so two of them are never the same. What it did is in a [`Recording`]; a replay
//! of that asks nothing but the recording, and gives the same evidence, byte for byte. The score is then a function of plan,
//! task and recording.
//!
//! ```
//! use std::sync::Arc;
//!
//! use karat_run::judge::{Judges, Options};
//! use karat_run::{Executors, Job, Recording, Stop, Surroundings};
//!
//! let plan = br#"{"miner_uid": 7, "workflow_plan": {"nodes": [{"id": "a", "subnet": "sn1", "action": "greet"}]}}"#;
//! let task = br#"{"task_id": "t", "task_type": "agent", "reference": {"goal_checklist": [{"text": "hello"}]}}"#;
//! let file = r#"
//!     [executor.sn1]
//!     kind = "command"
//!     command = ["/bin/echo", '{"output": {"text": "hello"}}']
//!     cost = 0.001
//! "#;
//! let judge = || Arc::new(Judges::found(None, Options::default())) as Arc<dyn karat_graders::execution::Judge>;
//! let around = Surroundings { folder: std::path::Path::new("."), variable: &|_| None, judge: &judge };
//! let executors = Executors::parse(file, &around).unwrap();
//! let (job, _notes) = Job::new(plan, task, None, Some(executors.retries_max)).unwrap();
//!
//! let live = job.run(&executors, &Stop::default(), &|_| {}).unwrap();
//! let recording = Recording::parse(&live.recording.text()).unwrap();
//! assert_eq!(job.replay(&recording).unwrap().evidence, live.run.evidence);
//! ```
//!
//! The layers, from the bottom: `attempt` (requests, keys, outcomes), `recording`, `job` (a plan and a task, checked),
//! `engine` (the course of a run, from either source of attempts), `replay` and `executor`, `executors` (their file), `live`.
//! Only `live`, `executor` and [`judge`] read a clock or touch the system.

mod attempt;
mod engine;
mod evidence;
mod executor;
mod executors;
mod fault;
mod fields;
mod job;
pub mod judge;
mod live;
mod recording;
mod replay;
mod secret;
mod stop;

pub use attempt::{Attempt, Outcome, Request};
pub use engine::Event;
pub use executors::{Executors, Surroundings};
pub use fault::Fault;
/// Walls around programs.
pub use karat_sandbox as sandbox;

pub use job::{Job, Notes, Refusal, STEPS_MAX};
pub use live::{Ended, Progress};
pub use recording::{RECORDING_MARK, Recording};
pub use replay::Run;
pub use stop::Stop;
