//! Accounting of a log: completed steps, cost, time, retries, timeouts, failures, for the run and for each step.

use serde::Serialize;

use super::attempts::{Attempt, Log, LogTime, Outcome};
use super::plan::{Plan, Step};

/// The account of a run (Scoring Formula v1.0.0, section 3.2).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Account {
    /// Steps that ended in success.
    pub steps_completed: u64,
    /// Steps of the plan.
    pub steps_total: u64,
    /// The cost of all attempts in TAO, those without success included: the formula asks for the actual cost. `None` if
    /// that of an attempt is not known.
    pub actual_tao: Option<f64>,
    /// The time from the first moment of the log to the last, so that steps at the same time count once. `None` if an
    /// attempt lacks a moment.
    pub actual_seconds: Option<f64>,
    /// Attempts after the first of each step.
    pub actual_retries: u64,
    /// Retries that the plan declares.
    pub declared_retry_budget: u64,
    /// Retries beyond the declared ones, of the whole run: another step may use what one step declares and does not
    /// need.
    pub unplanned_retries: u64,
    /// Attempts, not steps, that exceeded their declared limit. `None` if one without moments may have.
    pub timeouts: Option<u64>,
    /// Steps that failed after all their declared retries, or of which a reference had no value.
    pub hard_failures: u64,
    /// True if the budget stopped the run.
    pub budget_aborted: bool,
    /// The steps, by id.
    pub steps: Vec<StepAccount>,
    /// Coverage of the run by its log.
    pub seen: Seen,
}

/// Coverage of a run by its log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Seen {
    /// Attempts.
    pub attempts: u64,
    /// Attempts that lack start or end.
    pub attempts_without_moments: u64,
    /// Attempts that lack a cost.
    pub attempts_without_cost: u64,
    /// Attempts with a declared limit of which it cannot be said whether they exceeded it.
    pub attempts_perhaps_timed_out: u64,
    /// The part of the cost that is known, in TAO.
    pub known_tao: f64,
    /// The part of the cost that is known and was paid for attempts without success, in TAO.
    pub known_tao_without_success: f64,
    /// The part of the time that is known: from the first moment there is to the last.
    pub known_seconds: Option<f64>,
    /// Timeouts that are certain.
    pub certain_timeouts: u64,
}

/// The account of one step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepAccount {
    /// The id of the step.
    pub id: String,
    /// Its state.
    pub state: StepState,
    /// Attempts at it.
    pub attempts: u64,
    /// Attempts after the first.
    pub retries: u64,
    /// Retries that the plan declares for it.
    pub declared_retries: u64,
    /// Attempts that certainly exceeded the declared limit.
    pub timeouts: u64,
    /// The part of its cost that is known, in TAO.
    pub known_tao: f64,
}

/// State of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// Ended in success.
    Completed,
    /// Failed after all its declared retries: a hard failure.
    Failed,
    /// Failed and not tried again, though the plan declares more retries. No hard failure, because the declared
    /// retries were not used up.
    FailedWithRetriesLeft,
    /// Never tried, because a reference had no value: a hard failure.
    UnresolvedReference,
    /// The budget was used up before it ended.
    BudgetAborted,
    /// The log does not mention it.
    NotRun,
}

impl StepState {
    pub(crate) fn is_hard_failure(self) -> bool {
        matches!(self, Self::Failed | Self::UnresolvedReference)
    }

    fn has_no_output(self) -> bool {
        self.is_hard_failure() || self == Self::FailedWithRetriesLeft
    }
}

/// Accounts for a run by its log.
///
/// A step that the log does not mention fails hard if it refers to a step that failed, to itself or to no step at all,
/// unless the budget stopped the run; that is how the documents have it. `budget_aborted` is what the harness says to
/// that; a log that shows it needs no one to say so.
pub fn account(plan: &Plan, log: &Log, budget_aborted: Option<bool>) -> Account {
    let mut seen = Seen::default();
    let mut span: Option<(LogTime, LogTime)> = None;
    let mut steps = Vec::with_capacity(plan.steps().len());
    let mut rest = log.attempts();
    for (at, step) in plan.steps().iter().enumerate() {
        let (of_step, others) = rest.split_at(rest.partition_point(|attempt| attempt.step <= at));
        rest = others;
        steps.push(account_step(step, of_step, &mut seen));
    }
    // In the order of steps and numbers, which does not depend on that of the text.
    for attempt in log.attempts() {
        for moment in [attempt.start, attempt.end].into_iter().flatten() {
            let (first, last) = span.unwrap_or((moment, moment));
            span = Some((first.min(moment), last.max(moment)));
        }
    }
    seen.known_seconds = span.map(|(first, last)| last.seconds_since(first));
    let budget_aborted = budget_aborted == Some(true)
        || log.attempts().iter().any(|attempt| attempt.outcome == Outcome::BudgetAbort);
    if !budget_aborted {
        fail_unresolved(plan, &mut steps);
    }

    let count = |is: fn(StepState) -> bool| steps.iter().filter(|step| is(step.state)).count() as u64;
    let actual_retries = steps.iter().map(|step| step.retries).sum::<u64>();
    let declared_retry_budget = plan.declared_retry_budget();
    Account {
        steps_completed: count(|state| state == StepState::Completed),
        steps_total: steps.len() as u64,
        actual_tao: (seen.attempts_without_cost == 0).then_some(seen.known_tao),
        actual_seconds: seen.known_seconds.filter(|_| seen.attempts_without_moments == 0),
        actual_retries,
        declared_retry_budget,
        unplanned_retries: actual_retries.saturating_sub(declared_retry_budget),
        timeouts: (seen.attempts_perhaps_timed_out == 0).then_some(seen.certain_timeouts),
        hard_failures: count(StepState::is_hard_failure),
        budget_aborted,
        steps,
        seen,
    }
}

fn account_step(step: &Step, attempts: &[Attempt], seen: &mut Seen) -> StepAccount {
    let mut of_step = StepAccount {
        id: step.id.clone(),
        state: StepState::NotRun,
        attempts: 0,
        retries: 0,
        declared_retries: step.declared_retries,
        timeouts: 0,
        known_tao: 0.0,
    };
    for attempt in attempts.iter().filter(|attempt| attempt.outcome.is_attempt()) {
        of_step.attempts += 1;
        seen.attempts_without_moments += u64::from(attempt.seconds().is_none());
        match attempt.cost_tao {
            Some(cost) => {
                of_step.known_tao += cost;
                seen.known_tao += cost;
                if attempt.outcome != Outcome::Success {
                    seen.known_tao_without_success += cost;
                }
            }
            None => seen.attempts_without_cost += 1,
        }
        match attempt.exceeds(step.timeout_seconds) {
            Some(exceeds) => of_step.timeouts += u64::from(exceeds),
            None => seen.attempts_perhaps_timed_out += 1,
        }
    }
    seen.attempts += of_step.attempts;
    seen.certain_timeouts += of_step.timeouts;
    of_step.retries = of_step.attempts.saturating_sub(1);
    if let Some(last) = attempts.last() {
        of_step.state = match last.outcome {
            Outcome::Success => StepState::Completed,
            Outcome::BudgetAbort => StepState::BudgetAborted,
            Outcome::UnresolvedReference => StepState::UnresolvedReference,
            _ if of_step.retries < step.declared_retries => StepState::FailedWithRetriesLeft,
            _ => StepState::Failed,
        };
    }
    of_step
}

/// Marks the steps that were not run and cannot have been, tier after tier, because what fails has its followers fail.
fn fail_unresolved(plan: &Plan, steps: &mut [StepAccount]) {
    for step in plan.tiers().flatten() {
        let Some(at) = plan.find(&step.id) else { continue };
        let state_of = |at: usize| steps.get(at).map(|step| step.state);
        let is_unresolved = step.references.iter().any(|reference| match plan.find(&reference.step) {
            Some(target) => target == at || state_of(target).is_some_and(StepState::has_no_output),
            None => true,
        });
        if let Some(of_step) = steps.get_mut(at).filter(|step| step.state == StepState::NotRun)
            && is_unresolved
        {
            of_step.state = StepState::UnresolvedReference;
        }
    }
}

#[cfg(test)]
mod tests;
