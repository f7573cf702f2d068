//! A replay: the course of a run out of its recording, without a clock, a process or a network.

use std::collections::BTreeSet;

use karat_core::facts::Digest;
use karat_graders::workflow::{Account, Log, Step, account};
use serde_json::Value;

use crate::attempt::{Attempt, Outcome, Request};
use crate::engine::{self, Course, Event, Halt, Source};
use crate::evidence::evidence;
use crate::fault::{Fault, quoted};
use crate::job::Job;
use crate::recording::{Head, Recording};

/// The way out of a recording that does not fit: nothing in it can be put right by hand, as it is signed.
const HINT: &str = "give the recording of this very run, or record the run again";

/// A run that has ended, with its evidence.
#[derive(Debug)]
pub struct Run {
    /// The item of evidence: one line of canonical JSON, without a line feed.
    pub evidence: String,
    /// The log, in order.
    pub events: Vec<Event>,
    /// The account of the log.
    pub account: Account,
    /// True if the run was stopped before its end.
    pub is_stopped: bool,
}

/// A live run that has ended.
#[derive(Debug)]
pub struct Ended {
    /// The run.
    pub run: Run,
    /// Its recording.
    pub recording: Recording,
    /// The reason why it could not go on, if it was not asked to stop.
    pub fault: Option<String>,
}

/// Attempts out of a recording.
struct Recorded<'a> {
    recording: &'a Recording,
}

impl Source for Recorded<'_> {
    fn attempt(&self, step: &Step, request: Request) -> Result<Attempt, Halt> {
        let at_place =
            |number: u64| move |attempt: &&Attempt| attempt.step == step.id && attempt.number == number;
        let find = |number| self.recording.attempts().iter().find(at_place(number));
        let place = format!("step {}, attempt {}", quoted(&request.step), request.attempt);
        if let Some(attempt) = self.recording.find(request.key).filter(at_place(request.attempt)) {
            let before = request.attempt.checked_sub(1).and_then(find);
            return match impossible(attempt, before, step) {
                Some(why) => Err(Halt::Fault(format!("{place} {why}"))),
                None => Ok(attempt.clone()),
            };
        }
        let other = find(request.attempt);
        match other {
            Some(_) => Err(Halt::Fault(format!(
                "{place} is not in the recording, which has it with another subnet, action or parameters"
            ))),
            // Of a run that was stopped, what had not ended is not there.
            None if self.recording.is_stopped() => Err(Halt::Stopped),
            None => Err(Halt::Fault(format!("{place} is not in the recording"))),
        }
    }
}

/// Returns why no live run can have made an attempt, if so: after the one before it, at a step of the plan.
fn impossible(attempt: &Attempt, before: Option<&Attempt>, step: &Step) -> Option<&'static str> {
    if before.is_some_and(|before| attempt.start_microseconds < before.end_microseconds()) {
        return Some("begins before the attempt before it has ended");
    }
    // A timeout within its limit is refused with the log.
    let is_without_limit = attempt.outcome == Outcome::Timeout && step.timeout_seconds.is_none();
    is_without_limit.then_some("is stopped for its time, and the plan sets no limit for the step")
}

impl Job {
    /// Runs the job with attempts from `source`, from a moment in microseconds since 1970-01-01T00:00:00Z on, and records it.
    ///
    /// # Errors
    /// If the recording does not replay to the same evidence, which is a defect.
    pub fn record(&self, source: &impl Source, started_microseconds: u64) -> Result<Ended, Vec<Fault>> {
        let course = engine::run(self, source);
        let head = Head {
            plan: self.plan_digest(),
            task: self.task_digest(),
            is_stopped: course.is_stopped,
            started_microseconds,
        };
        let recording = Recording::new(head, attempts(&course).cloned().collect());
        let fault = course.fault.clone();
        let run = self.ended(course, &recording)?;
        // What no one could replay is not handed out.
        let replayed = self.replay(&recording)?;
        if replayed.evidence != run.evidence {
            return Err(vec![Fault::new(
                "the recording gives other evidence than the run", "this is a defect of karat",
            )]);
        }
        Ok(Ended { run, recording, fault })
    }

    /// Replays a recording of this job. The evidence is, byte for byte, that of the run which was recorded.
    ///
    /// # Errors
    /// If the recording is of another plan or task, or lacks an attempt, or has one that the run would not make, or
    /// contradicts itself: by name.
    pub fn replay(&self, recording: &Recording) -> Result<Run, Vec<Fault>> {
        let course = engine::run(self, &Recorded { recording });
        let of_another = |what: &str, said: Digest, given: Digest| {
            let message = format!("the recording is of another {what}: of {said}, and this is {given}");
            (said != given).then(|| Fault::new(message, format!("give the {what} that was recorded")))
        };
        let others: Vec<Fault> = of_another("plan", recording.plan(), self.plan_digest())
            .into_iter()
            .chain(of_another("task", recording.task(), self.task_digest()))
            .collect();
        // What follows from another plan or task needs no way out but that.
        let hint = if others.is_empty() { HINT } else { "" };
        let mut faults = Vec::new();
        if let Some(text) = &course.fault {
            faults.push(Fault::new(text.clone(), hint));
        } else {
            let made = attempts(&course).map(|attempt| attempt.key).collect::<BTreeSet<_>>();
            let foreign = recording.attempts().iter().filter(|attempt| !made.contains(&attempt.key));
            faults.extend(foreign.map(|attempt| {
                let place = format!("step {}, attempt {}", quoted(&attempt.step), attempt.number);
                Fault::new(format!("{place} is in the recording, and this run does not make it"), hint)
            }));
            if recording.is_stopped() && !course.is_stopped {
                faults.push(Fault::new(
                    "the recording says that the run was stopped, and nothing is missing",
                    HINT,
                ));
            }
        }
        faults.extend(others);
        if !faults.is_empty() {
            return Err(faults);
        }
        if !attempts(&course).eq(recording.attempts()) {
            let message = "the attempts of the recording are not in the order of the log";
            return Err(vec![Fault::new(message, HINT)]);
        }
        self.ended(course, recording)
    }

    /// Puts course and recording together, if the log that they give is one that a score accepts.
    pub(crate) fn ended(&self, course: Course, recording: &Recording) -> Result<Run, Vec<Fault>> {
        let evidence = evidence(self, &course, recording);
        let item: Value = serde_json::from_str(&evidence).unwrap_or_default();
        let log = item.pointer("/result/attempts").map(Value::to_string).unwrap_or_default();
        match Log::from_json(log.as_bytes(), self.plan()) {
            Ok((log, _)) => Ok(Run {
                evidence,
                events: course.events,
                account: account(self.plan(), &log, None),
                is_stopped: course.is_stopped,
            }),
            Err(problems) => {
                let fault = |problem| {
                    Fault::new(format!("the recording contradicts itself: {problem}"), "record the run again")
                };
                Err(problems.iter().map(fault).collect())
            }
        }
    }
}

/// Returns the attempts of a course, in the order of the log.
pub(crate) fn attempts(course: &Course) -> impl Iterator<Item = &Attempt> {
    course.events.iter().filter_map(|event| match event {
        Event::Attempt(attempt) => Some(attempt),
        _ => None,
    })
}
