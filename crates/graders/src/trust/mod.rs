//! Graders of agents: from evaluations, verdicts and records to the facts of the sixteen dimensions of trust.
//!
//! [`grade`](grade()) is the door: evidence of one agent in, facts and what was seen out. The scorecard `trust@1.1.0` has the
//! sixteen dimension functions as formulas over these facts.
//!
//! - [`estimators`]: what is estimated from samples, each with its source;
//! - [`jury`]: verdicts of several judges on one output;
//! - `evidence`: what evidence of an agent is; `read`: from JSON, and what can be wrong with it;
//! - `options`: the moment, the window, every number that can be set;
//! - `items`: checks with weight and result; `select`: which of them a dimension rests on, and what they come to;
//! - `tasks`, `conduct`, `records`: the facts of each dimension; `grade`: all of them together.

mod conduct;
pub mod estimators;
mod evidence;
mod grade;
mod items;
pub mod jury;
mod options;
mod problems;
mod read;
mod records;
mod select;
mod tasks;

pub use evidence::*;
pub use grade::*;
pub use options::Options;

#[cfg(test)]
mod tests;
