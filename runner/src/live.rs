//! A live run: attempts by executors, with a clock. It ends in a recording, and the evidence is what the recording gives.

use std::io;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use karat_graders::workflow::Step;
use karat_run::{Attempt, Ended, Fault, Halt, Job, Outcome, Request, Source};

use crate::executor::{Answer, Call, Executor, Reply};
use crate::executors::Executors;
use crate::stop::Stop;

/// A sign of a run while it goes on, in order of time.
#[derive(Debug)]
pub enum Progress<'a> {
    /// An attempt at a step begins.
    Began {
        /// The id of the step.
        step: &'a str,
        /// The number of the attempt.
        number: u64,
    },
    /// An attempt has ended.
    Ended(&'a Attempt),
}

/// Runs a job by executors. Attempts that are under way when the run is to stop are ended and leave no trace.
///
/// # Errors
/// If an executor cannot work, the clock of this machine is off, or if the recording does not replay, which is a defect.
pub fn live(
    job: &Job,
    executors: &Executors,
    stop: &Stop,
    watch: &(impl Fn(Progress<'_>) + Sync),
) -> Result<Ended, Vec<Fault>> {
    let faults = executors.prepare(job);
    if !faults.is_empty() {
        return Err(faults);
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok();
    // A clock beyond 2100 is as wrong as one before 1970.
    let started_microseconds = since
        .and_then(|since| u64::try_from(since.as_micros()).ok())
        .filter(|&since| since < 4_102_444_800_000_000)
        .ok_or_else(|| vec![Fault::new("the clock of this machine is off", "set it")])?;
    job.record(&Live { job, executors, stop, watch, started: Instant::now() }, started_microseconds)
}

/// Attempts by executors.
struct Live<'a, W> {
    job: &'a Job,
    executors: &'a Executors,
    stop: &'a Stop,
    watch: &'a W,
    started: Instant,
}

impl<W: Fn(Progress<'_>) + Sync> Source for Live<'_, W> {
    /// Runs the steps side by side.
    fn tier<T: Send>(&self, steps: &[&Step], run: impl Fn(&Step) -> T + Sync) -> Vec<Result<T, String>> {
        if let [step] = steps {
            return vec![Ok(run(step))];
        }
        let lacking = |error: io::Error| format!("no thread for a step: {error}");
        thread::scope(|scope| {
            let run = &run;
            let start = |step| thread::Builder::new().spawn_scoped(scope, move || run(step));
            let threads: Vec<_> = steps.iter().copied().map(start).collect();
            let ended = threads.into_iter().map(|thread| {
                let ended = thread.map_err(lacking)?.join();
                ended.map_err(|_| lacking(io::Error::other("it panicked")))
            });
            ended.collect()
        })
    }

    fn attempt(&self, step: &Step, request: Request) -> Result<Attempt, Halt> {
        let call = self.job.plan().find(&step.id).and_then(|at| self.job.calls().get(at));
        let Some(executor) = call.and_then(|call| self.executors.of(&call.subnet)) else {
            return self.fault(format!("no executor for the step `{}`", step.id));
        };
        if request.attempt > 1 && !self.stop.wait_until(Instant::now() + self.executors.backoff) {
            return Err(Halt::Stopped);
        }
        if self.stop.is_asked() {
            return Err(Halt::Stopped);
        }
        (self.watch)(Progress::Began { step: &step.id, number: request.attempt });
        let limit = Limit::of(step, executor);
        let begin = Instant::now();
        let deadline = begin.checked_add(limit.time).unwrap_or(begin);
        let reply = executor.call(&Call { request: &request, deadline, stop: self.stop });
        let end = Instant::now();
        let start_microseconds = self.microseconds(begin);
        let duration_microseconds = self.microseconds(end).saturating_sub(start_microseconds);
        let is_late = limit.is_declared
            && step.timeout_seconds.is_some_and(|limit| duration_microseconds as f64 / 1e6 > limit);
        let late =
            |cost_nano_tao| Answer { outcome: Outcome::Timeout, output: None, reason: None, cost_nano_tao };
        let answer = match reply {
            Reply::Ended(answer) if is_late => late(answer.cost_nano_tao),
            Reply::Ended(answer) => answer,
            Reply::Late { cost_nano_tao } if limit.is_declared => late(cost_nano_tao),
            Reply::Late { cost_nano_tao } => {
                let seconds = limit.time.as_secs_f64();
                let reason = format!("stopped after {seconds} s, the limit of its executor");
                Answer { cost_nano_tao, ..executor.failed(reason) }
            }
            Reply::Stopped => return Err(Halt::Stopped),
            Reply::Fault(text) => return self.fault(text),
        };
        let attempt = Attempt {
            key: request.key,
            step: request.step,
            number: request.attempt,
            outcome: answer.outcome,
            output: answer.output,
            reason: answer.reason,
            cost_nano_tao: answer.cost_nano_tao,
            start_microseconds,
            duration_microseconds,
        };
        (self.watch)(Progress::Ended(&attempt));
        Ok(attempt)
    }
}

impl<W> Live<'_, W> {
    fn microseconds(&self, moment: Instant) -> u64 {
        u64::try_from(moment.saturating_duration_since(self.started).as_micros()).unwrap_or(u64::MAX)
    }

    /// Stops the run, because it cannot go on: what others of the tier are about would cost for nothing.
    fn fault(&self, text: String) -> Result<Attempt, Halt> {
        self.stop.ask();
        Err(Halt::Fault(text))
    }
}

/// The longest that an attempt may take.
struct Limit {
    time: Duration,
    /// True if the plan declares it; else the executor sets it, and reaching it is not a timeout.
    is_declared: bool,
}

impl Limit {
    fn of(step: &Step, executor: &Executor) -> Self {
        let declared = step.timeout_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        match declared.filter(|&declared| declared <= executor.longest) {
            Some(time) => Self { time, is_declared: true },
            None => Self { time: executor.longest, is_declared: false },
        }
    }
}
