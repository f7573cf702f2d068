//! The totals of a run: from its log, from the harness, or from both where they agree.

use super::account::{Account, account};
use super::attempts::Log;
use super::plan::Plan;
use karat_evidence::json::check::digits;

/// Totals of a run as its harness states them. Everything may be left out.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Totals {
    /// Steps that ended in success.
    pub steps_completed: Option<u64>,
    /// Cost in TAO, that of failed attempts included.
    pub actual_tao: Option<f64>,
    /// Wall-clock time in seconds.
    pub actual_seconds: Option<f64>,
    /// Attempts after the first of each step.
    pub actual_retries: Option<u64>,
    /// Attempts that exceeded their declared limit.
    pub timeouts: Option<u64>,
    /// Steps that failed after all declared retries.
    pub hard_failures: Option<u64>,
    /// True if the budget stopped the run.
    pub budget_aborted: Option<bool>,
}

/// A total that cannot be right beside the log or the other totals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// The name of the total in the evidence.
    pub field: &'static str,
    /// Both numbers.
    pub found: String,
    /// The values that agree with the rest.
    pub expected: &'static str,
    /// Advice.
    pub hint: &'static str,
}

/// Returns which totals of a run without a log the others make impossible. `retries_with_limit` are the retries at steps
/// that declare a time limit, where they are known by step; `plan` is `None` where only the number of steps is known.
pub fn impossible(
    totals: &Totals,
    steps_total: u64,
    plan: Option<&Plan>,
    retries_with_limit: Option<u64>,
) -> Vec<Contradiction> {
    const HINT: &str = "correct the one that is wrong";
    let mut contradictions = Vec::new();
    let mut add = |field, found, expected, hint| {
        contradictions.push(Contradiction { field, found, expected, hint });
    };
    let done = totals.steps_completed.unwrap_or_default().min(steps_total);
    let failed = totals.hard_failures.unwrap_or_default();
    if failed > steps_total - done {
        let found = format!("{failed} hard failures with {done} of {steps_total} steps done");
        add("hard_failures", found, "at most as many as steps that were not done", HINT);
    }
    if totals.budget_aborted == Some(true) && done.saturating_add(failed) >= steps_total {
        let found = format!("`true`, where each of {steps_total} steps was done or failed");
        add("budget_aborted", found, "`false`: the budget left no step undone", HINT);
    }
    let retries = totals.actual_retries;
    if let Some(retries) = retries.filter(|&retries| retries > 0 && steps_total == 0) {
        add("actual_retries", format!("{retries} retries of no steps"), "0", HINT);
    }
    if let Some(timeouts) = totals.timeouts.filter(|&timeouts| timeouts > 0) {
        // Each step is tried once, and once more for each retry.
        let limited = plan.map_or(steps_total, |plan| {
            plan.steps().iter().filter(|step| step.timeout_seconds.is_some()).count() as u64
        });
        let attempts = retries_with_limit.or(retries).map(|retries| limited.saturating_add(retries));
        if limited == 0 {
            let found = format!("{timeouts} timeouts, where no step declares a time limit");
            let hint = "declare each `timeout_seconds` in the plan's `error_handling`, or correct the number";
            add("timeouts", found, "0: only an attempt at a step with a time limit times out", hint);
        } else if let Some(attempts) = attempts.filter(|&attempts| timeouts > attempts) {
            let found =
                format!("{timeouts} timeouts in at most {attempts} attempts at steps with a time limit");
            add("timeouts", found, "at most as many as attempts: one a step, and the retries", HINT);
        }
        let limits = plan.into_iter().flat_map(|plan| plan.steps()).filter_map(|step| step.timeout_seconds);
        if let (Some(shortest), Some(seconds)) = (limits.reduce(f64::min), totals.actual_seconds)
            && seconds + MILLISECOND < shortest
        {
            let [seconds, shortest] = [seconds, shortest].map(digits);
            let found =
                format!("{timeouts} timeouts in {seconds} s, where the shortest time limit is {shortest} s");
            add("timeouts", found, "0: a timeout takes as long as the time limit of its step", HINT);
        }
    }
    contradictions
}

/// The smallest amount of TAO that can be paid.
const RAO: f64 = 1e-9;
/// Times agree to the millisecond.
const MILLISECOND: f64 = 1e-3;

/// Returns what a log amounts to, the totals of its run, and where those that a harness states contradict it.
///
/// Totals must agree with the log: counts exactly, costs to 1e-9 TAO, times to the millisecond. Where the log is not complete
/// (an attempt without cost, or without moments) the total of the harness is taken; it must not be below what the log shows for
/// certain.
pub fn settle(plan: &Plan, log: &Log, totals: &Totals) -> (Totals, Account, Vec<Contradiction>) {
    let mut grade = *totals;
    let run = account(plan, log, totals.budget_aborted);
    let mut contradictions = Vec::new();
    let mut differ = |field, given: String, counted: String| {
        let found = format!("{given}, where the log {counted}");
        let hint = "correct the one that is wrong, or leave the total out";
        contradictions.push(Contradiction { field, found, expected: "the total of the log", hint });
    };

    for (field, fact, counted) in [
        ("steps_completed", &mut grade.steps_completed, run.steps_completed),
        ("actual_retries", &mut grade.actual_retries, run.actual_retries),
        ("hard_failures", &mut grade.hard_failures, run.hard_failures),
    ] {
        if let Some(given) = fact.replace(counted).filter(|&given| given != counted) {
            differ(field, given.to_string(), format!("counts {counted}"));
        }
    }
    let certain = run.seen.certain_timeouts;
    let most = certain + run.seen.attempts_perhaps_timed_out;
    if let Some(given) = grade.timeouts.filter(|given| !(certain..=most).contains(given)) {
        let counted =
            if certain == most { format!("counts {certain}") } else { format!("has {certain} to {most}") };
        differ("timeouts", given.to_string(), counted);
    }
    grade.timeouts = run.timeouts.or(grade.timeouts);

    let seen = &run.seen;
    for (field, fact, whole, known, tolerance) in [
        ("actual_cost", &mut grade.actual_tao, run.actual_tao, Some(seen.known_tao), RAO),
        ("actual_latency", &mut grade.actual_seconds, run.actual_seconds, seen.known_seconds, MILLISECOND),
    ] {
        if let (Some(given), Some(known)) = (*fact, known) {
            // Sums of many terms may be off by more than the smallest amount; 1e-12 of them never is a payment.
            let tolerance = tolerance.max(known * 1e-12);
            if whole.is_some() && (given - known).abs() > tolerance {
                differ(field, digits(given), format!("adds up to {}", digits(known)));
            } else if whole.is_none() && given < known - tolerance {
                differ(field, digits(given), format!("shows at least {}", digits(known)));
            }
        }
        *fact = whole.or(*fact);
    }
    if grade.budget_aborted == Some(false) && run.budget_aborted {
        differ("budget_aborted", "`false`".to_owned(), "has `budget_abort`".to_owned());
    }
    if grade.budget_aborted == Some(true) && run.steps_completed == run.steps_total {
        differ("budget_aborted", "`true`".to_owned(), "completes every step".to_owned());
    }
    grade.budget_aborted = grade.budget_aborted.or(run.budget_aborted.then_some(true));
    grade.budget_aborted = budget_stopped(&grade, run.steps_total);
    (grade, run, contradictions)
}

/// Returns whether the budget stopped a run: as stated, or false where each of its steps was done or failed. `None` if it may
/// have, and nothing says so: to leave it out must not earn what a run that was stopped does not get.
pub fn budget_stopped(totals: &Totals, steps_total: u64) -> Option<bool> {
    let [done, failed] = [totals.steps_completed, totals.hard_failures].map(Option::unwrap_or_default);
    totals.budget_aborted.or((done.saturating_add(failed) >= steps_total).then_some(false))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::workflow::PlanRules;

    fn plan() -> Plan {
        let text =
            br#"{"nodes": [{"id": "a"}, {"id": "b"}], "error_handling": {"a": {"timeout_seconds": 5}}}"#;
        Plan::from_json(text, &PlanRules::default()).unwrap().0
    }

    fn log(text: &str) -> Log {
        Log::from_json(text.as_bytes(), &plan()).unwrap().0
    }

    fn full_log() -> Log {
        log(
            r#"[{"step": "a", "start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:00:01.5Z", "cost": 0.1, "outcome": "failed"},
            {"step": "b", "start": "2026-01-01T01:00:00+01:00", "end": "2026-01-01T01:00:03+01:00", "cost": 0.2, "outcome": "success"}]"#,
        )
    }

    fn grade(log: &Log, totals: Totals) -> Result<(Totals, Account), Vec<(&'static str, String)>> {
        let (totals, account, contradictions) = settle(&plan(), log, &totals);
        let wrong: Vec<_> = contradictions.into_iter().map(|it| (it.field, it.found)).collect();
        if wrong.is_empty() { Ok((totals, account)) } else { Err(wrong) }
    }

    #[test]
    fn a_log_gives_every_fact() {
        let (run, account) = grade(&full_log(), Totals::default()).unwrap();
        assert_eq!((run.steps_completed, account.steps_total), (Some(1), 2));
        assert_eq!((run.actual_tao, run.actual_seconds), (Some(0.1 + 0.2), Some(3.0)));
        assert_eq!((run.actual_retries, run.timeouts, run.hard_failures), (Some(0), Some(0), Some(1)));
        assert_eq!(run.budget_aborted, Some(false));
    }

    #[test]
    fn totals_that_agree_are_accepted_and_those_of_the_log_taken() {
        let totals = Totals {
            steps_completed: Some(1),
            actual_tao: Some(0.3),
            actual_seconds: Some(3.0009),
            actual_retries: Some(0),
            timeouts: Some(0),
            hard_failures: Some(1),
            budget_aborted: Some(false),
        };
        let log = full_log();
        assert_eq!(grade(&log, totals), grade(&log, Totals::default()));
    }

    #[test]
    fn totals_that_differ_are_refused_with_both_numbers() {
        let totals = Totals {
            steps_completed: Some(2),
            actual_tao: Some(0.2),
            actual_seconds: Some(3.002),
            actual_retries: Some(1),
            timeouts: Some(3),
            hard_failures: Some(0),
            budget_aborted: Some(false),
        };
        let log = log(
            r#"[{"step": "a", "start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:00:01.5Z", "cost": 0.1, "outcome": "failed"},
            {"step": "a", "outcome": "budget_abort"},
            {"step": "b", "start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:00:03Z", "cost": 0.2, "outcome": "success"}]"#,
        );
        let wrong = grade(&log, Totals { hard_failures: Some(1), ..totals }).unwrap_err();
        let expected = [
            ("steps_completed", "2, where the log counts 1"),
            ("actual_retries", "1, where the log counts 0"),
            ("hard_failures", "1, where the log counts 0"),
            ("timeouts", "3, where the log counts 0"),
            ("actual_cost", "0.2, where the log adds up to 0.30000000000000004"),
            ("actual_latency", "3.002, where the log adds up to 3"),
            ("budget_aborted", "`false`, where the log has `budget_abort`"),
        ];
        assert_eq!(wrong, expected.map(|(field, found)| (field, found.to_owned())));
    }

    #[test]
    fn a_run_that_completed_every_step_was_not_stopped() {
        let log = log(r#"[{"step": "a", "outcome": "success"}, {"step": "b", "outcome": "success"}]"#);
        let totals = Totals { budget_aborted: Some(true), ..Totals::default() };
        let found = String::from("`true`, where the log completes every step");
        assert_eq!(grade(&log, totals).unwrap_err(), [("budget_aborted", found)]);
    }

    #[test]
    fn what_the_log_lacks_is_missing_unless_the_harness_tells_it() {
        let log = log(r#"[{"step": "a", "start": "2026-01-01T00:00:00Z", "outcome": "failed"},
            {"step": "b", "start": "2026-01-01T00:00:01Z", "end": "2026-01-01T00:00:03Z", "cost": 0.2, "outcome": "success"}]"#);
        let (run, account) = grade(&log, Totals::default()).unwrap();
        assert_eq!((run.actual_tao, run.actual_seconds, run.timeouts), (None, None, None));
        let seen = account.seen;
        assert_eq!((seen.attempts_without_moments, seen.attempts_without_cost), (1, 1));
        assert_eq!((seen.known_tao, seen.known_seconds), (0.2, Some(3.0)));

        let totals = Totals {
            actual_tao: Some(0.5),
            actual_seconds: Some(4.0),
            timeouts: Some(1),
            ..Totals::default()
        };
        let (run, _) = grade(&log, totals).unwrap();
        assert_eq!((run.actual_tao, run.actual_seconds, run.timeouts), (Some(0.5), Some(4.0), Some(1)));

        let less = Totals { actual_tao: Some(0.1), actual_seconds: Some(2.0), timeouts: Some(2), ..totals };
        let expected = [
            ("timeouts", "2, where the log has 0 to 1"),
            ("actual_cost", "0.1, where the log shows at least 0.2"),
            ("actual_latency", "2, where the log shows at least 3"),
        ];
        assert_eq!(grade(&log, less).unwrap_err(), expected.map(|(field, found)| (field, found.to_owned())));
    }

    /// Every run of up to three steps, each tried up to three times, of which some declare a limit and none a retry: totals
    /// are accepted exactly if one of these runs has them.
    #[test]
    fn totals_are_accepted_if_there_is_a_run_that_has_them() {
        type Seen = (u64, u64, u64, u64, bool);
        /// The possible ends of one step: done, failed, stopped, attempts.
        fn endings() -> impl Iterator<Item = (u64, u64, bool, u64)> {
            let done = (1..=3).map(|attempts| (1, 0, false, attempts));
            let failed = (0..=3).map(|attempts| (0, 1, false, attempts));
            let stopped = (0..=3).map(|attempts| (0, 0, true, attempts));
            let open = (0..=3).map(|attempts| (0, 0, false, attempts));
            done.chain(failed).chain(stopped).chain(open)
        }
        let mut compared = 0;
        for (steps, limited) in (1u64..=3).flat_map(|steps| (0..=steps).map(move |limited| (steps, limited)))
        {
            let nodes: Vec<_> = (0..steps).map(|at| json!({"id": at.to_string()})).collect();
            let limits = (0..limited).map(|at| (at.to_string(), json!({"timeout_seconds": 1})));
            let text = json!({"nodes": nodes, "error_handling": limits.collect::<serde_json::Map<_, _>>()});
            let plan = Plan::from_json(text.to_string().as_bytes(), &PlanRules::default()).unwrap().0;
            let mut possible = std::collections::BTreeSet::from([(0, 0, 0, 0, false)]);
            for at in 0..steps {
                let with = |&(done, failed, retries, timeouts, stopped): &Seen| {
                    endings().flat_map(move |(d, f, s, attempts)| {
                        let most = if at < limited { attempts } else { 0 };
                        (0..=most).map(move |more| {
                            (
                                done + d,
                                failed + f,
                                retries + attempts.saturating_sub(1),
                                timeouts + more,
                                stopped || s,
                            )
                        })
                    })
                };
                possible = possible.iter().flat_map(with).collect();
            }
            for code in 0..4 * 4 * 3 * 6 * 2u64 {
                let (done, failed, retries) = (code % 4, code / 4 % 4, code / 16 % 3);
                let (timeouts, stopped) = (code / 48 % 6, code / 288 == 1);
                let totals = Totals {
                    steps_completed: Some(done),
                    actual_retries: Some(retries),
                    timeouts: Some(timeouts),
                    hard_failures: Some(failed),
                    budget_aborted: Some(stopped),
                    ..Totals::default()
                };
                let contradictions = impossible(&totals, steps, Some(&plan), None);
                let is_possible = possible.contains(&(done, failed, retries, timeouts, stopped));
                let is_accepted = done <= steps && contradictions.is_empty();
                assert_eq!(is_accepted, is_possible, "{steps} {limited} {totals:?} {contradictions:?}");
                compared += 1;
            }
        }
        assert_eq!(compared, 9 * 576);
    }
}
