//! Runs of workflow plans as data: a plan and a task, a recording of the attempts, and the evidence that follows from them.
//!
//! A live run asks executors and a clock, so two of them are never the same; `karat-runner` carries them out. What it did is
//! in a [`Recording`]; a replay of that asks nothing but the recording, and gives the same evidence, byte for byte. The score
//! is then a function of plan, task and recording. Nothing here starts a process or a thread, or reads a clock.
//!
//! ```
//! use karat_run::{Job, Recording};
//!
//! let read = |name: &str| std::fs::read_to_string(format!("../../examples/run/{name}")).unwrap();
//! let (job, _notes) = Job::new(read("plan.json").as_bytes(), read("task.json").as_bytes(), None, None).unwrap();
//! let recording = Recording::parse(&read("recording.jsonl")).unwrap();
//! assert_eq!(job.replay(&recording).unwrap().evidence, read("evidence.json").trim_end());
//! ```
//!
//! The layers, from the bottom: `attempt` (requests, keys, outcomes), `recording`, `job` (a plan and a task, checked),
//! `engine` (the course of a run, from either source of attempts), `replay`, and [`protocol`], the lines between karat and
//! `karat-runner`.

mod attempt;
mod engine;
mod evidence;
mod fault;
mod job;
pub mod protocol;
mod recording;
mod replay;

pub use attempt::{Attempt, EXACT, NANO, Outcome, Request, check_output};
pub use engine::{Event, Halt, Source};
pub use fault::{Fault, quoted, shown};
pub use job::{Job, Notes, Refusal, STEPS_MAX};
pub use recording::{RECORDING_MARK, Recording};
pub use replay::{Ended, Run};
