//! Carries out workflow plans: executors, walls around programs, a clock. What was done is in a recording of `karat_run`.
//!
//! ```
//! use std::sync::Arc;
//!
//! use karat_process::{Judges, Options};
//! use karat_run::{Job, Recording};
//! use karat_runner::{Executors, Stop, Surroundings};
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
//! let ended = karat_runner::live(&job, &executors, &Stop::default(), &|_| {}).unwrap();
//! let recording = Recording::parse(&ended.recording.text()).unwrap();
//! assert_eq!(job.replay(&recording).unwrap().evidence, ended.run.evidence);
//! ```

mod executor;
mod executors;
mod fields;
mod live;
mod secret;
mod stop;

pub use executors::{Executors, Surroundings};
pub use live::{Progress, live};
pub use stop::Stop;
