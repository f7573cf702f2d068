//! An executor that gives the attempts of an earlier run, each after the time that it took then.

use std::time::{Duration, Instant};

use karat_run::{Outcome, Recording, quoted};

use super::{Answer, Call, Reply};

/// An earlier run.
#[derive(Debug)]
pub(crate) struct Earlier {
    pub recording: Recording,
}

impl Earlier {
    pub(crate) fn call(&self, call: &Call<'_>) -> Reply {
        let Some(attempt) = self.recording.find(call.request.key) else {
            return Reply::Fault(format!(
                "step {}, attempt {} is not in the recording {}",
                quoted(&call.request.step),
                call.request.attempt,
                self.recording.digest()
            ));
        };
        let took = Duration::from_micros(attempt.duration_microseconds);
        // Of what was late then, no one knows how much longer it would have taken.
        let is_late = attempt.outcome == Outcome::Timeout;
        let end = Instant::now().checked_add(took).filter(|&end| !is_late && end < call.deadline);
        if !call.stop.wait_until(end.unwrap_or(call.deadline)) {
            return Reply::Stopped;
        }
        if end.is_none() {
            return Reply::Late { cost_nano_tao: attempt.cost_nano_tao };
        }
        Reply::Ended(Answer {
            outcome: attempt.outcome,
            output: attempt.output.clone(),
            reason: attempt.reason.clone(),
            cost_nano_tao: attempt.cost_nano_tao,
        })
    }
}
