//! The course of a run: tiers in order, the steps of a tier side by side, references, retries, the budget.
//!
//! A live run and a replay go through this one function; only where an attempt comes from differs. Everything else follows
//! from plan, task and attempts: what is decided inside a tier rests on the spend of finished tiers and of the step itself,
//! never on what other steps of the tier have come to.

use std::collections::BTreeMap;

use karat_graders::workflow::{Step, StepResult, resolve};
use serde_json::Value;

use crate::attempt::{Attempt, Outcome, Request};
use crate::job::Job;

/// A source of the attempts of a run.
pub trait Source: Sync {
    /// Makes an attempt, or finds it.
    ///
    /// # Errors
    /// If there is no attempt, and so the run cannot go on.
    fn attempt(&self, step: &Step, request: Request) -> Result<Attempt, Halt>;

    /// Calls `run` for the steps of a tier, one after the other unless the source does otherwise. The results are in the order
    /// of the steps, each with the reason if a step could not be begun.
    fn tier<T: Send>(&self, steps: &[&Step], run: impl Fn(&Step) -> T + Sync) -> Vec<Result<T, String>> {
        steps.iter().map(|step| Ok(run(step))).collect()
    }
}

/// The reason why there is no attempt.
#[derive(Debug, PartialEq, Eq)]
pub enum Halt {
    /// The run is stopped.
    Stopped,
    /// The attempt cannot be made or found, through no fault of the plan.
    Fault(String),
}

/// One entry of the log of a run.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// An attempt that has ended.
    Attempt(Attempt),
    /// A step that was not tried, because a reference has no value.
    Unresolved {
        /// The id of the step.
        step: String,
        /// The reference, and the value that is missing.
        reason: String,
    },
    /// A step that was not tried, or not again, because the budget was used up.
    BudgetAbort {
        /// The id of the step.
        step: String,
        /// The number of the attempt that was not made.
        number: u64,
    },
}

/// The course that a run took.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Course {
    /// By tier, then by id, then by number.
    pub events: Vec<Event>,
    /// The output of the first step by id of the last tier with a success.
    pub final_output: Option<Value>,
    /// True if the run was stopped before its end.
    pub is_stopped: bool,
    /// The reason why it could not go on.
    pub fault: Option<String>,
}

/// The events of one step.
#[derive(Default)]
struct StepCourse {
    events: Vec<Event>,
    output: Option<Value>,
    halt: Option<Halt>,
}

/// Runs a job with attempts from `source`.
pub(crate) fn run(job: &Job, source: &impl Source) -> Course {
    let mut course = Course::default();
    let mut results: BTreeMap<String, StepResult> = BTreeMap::new();
    let mut spent_nano_tao = 0u64;
    for tier in job.plan().tiers() {
        let steps: Vec<&Step> = tier.collect();
        let of_tier = if job.is_spent(spent_nano_tao) {
            steps.iter().map(|step| aborted(step, 1, Vec::new())).collect()
        } else {
            run_tier(job, source, &steps, &results, spent_nano_tao)
        };
        let mut output_of_tier = None;
        for (step, of_step) in steps.iter().zip(of_tier) {
            for event in &of_step.events {
                if let Event::Attempt(attempt) = event {
                    spent_nano_tao = spent_nano_tao.saturating_add(attempt.cost_nano_tao);
                }
            }
            course.events.extend(of_step.events);
            match of_step.halt {
                None => {}
                Some(Halt::Stopped) => course.is_stopped = true,
                Some(Halt::Fault(text)) => {
                    course.is_stopped = true;
                    course.fault.get_or_insert(text);
                }
            }
            let is_success = of_step.output.is_some();
            let output = of_step.output.unwrap_or_default();
            if is_success && output_of_tier.is_none() {
                output_of_tier = Some(output.clone());
            }
            results.insert(step.id.clone(), StepResult { is_success, output });
        }
        course.final_output = output_of_tier.or(course.final_output);
        if course.is_stopped {
            break;
        }
    }
    course
}

fn run_tier(
    job: &Job,
    source: &impl Source,
    steps: &[&Step],
    results: &BTreeMap<String, StepResult>,
    spent_nano_tao: u64,
) -> Vec<StepCourse> {
    let courses = source.tier(steps, |step| run_step(job, source, step, results, spent_nano_tao));
    let lacking = |reason| StepCourse { halt: Some(Halt::Fault(reason)), ..StepCourse::default() };
    courses.into_iter().map(|course| course.unwrap_or_else(lacking)).collect()
}

fn run_step(
    job: &Job,
    source: &impl Source,
    step: &Step,
    results: &BTreeMap<String, StepResult>,
    spent_nano_tao: u64,
) -> StepCourse {
    let Some(call) = job.plan().find(&step.id).and_then(|at| job.calls().get(at)) else {
        // Every step of a checked plan has its call.
        return StepCourse::default();
    };
    let params = match resolve(call.params.clone(), results) {
        Ok(params) => params,
        Err(problems) => {
            let reason = problems.iter().next().map_or_else(String::new, ToString::to_string);
            let events = vec![Event::Unresolved { step: step.id.clone(), reason }];
            return StepCourse { events, ..StepCourse::default() };
        }
    };
    let mut of_step = StepCourse::default();
    let mut own_nano_tao = 0u64;
    for number in 1..=step.declared_retries.saturating_add(1) {
        if number > 1 && job.is_spent(spent_nano_tao.saturating_add(own_nano_tao)) {
            return aborted(step, number, of_step.events);
        }
        match source.attempt(step, Request::new(&step.id, number, call, &params)) {
            Ok(attempt) => {
                own_nano_tao = own_nano_tao.saturating_add(attempt.cost_nano_tao);
                let is_success = attempt.outcome == Outcome::Success;
                of_step.output = attempt.output.clone().filter(|_| is_success);
                of_step.events.push(Event::Attempt(attempt));
                if is_success {
                    break;
                }
            }
            Err(halt) => {
                of_step.halt = Some(halt);
                break;
            }
        }
    }
    of_step
}

fn aborted(step: &Step, number: u64, mut events: Vec<Event>) -> StepCourse {
    events.push(Event::BudgetAbort { step: step.id.clone(), number });
    StepCourse { events, ..StepCourse::default() }
}

#[cfg(test)]
mod tests;
