//! The facts of a run: from its log, from the totals that a harness gives, or from both where they agree.

use serde_json::{Value, json};

use super::account::{Account, account};
use super::attempts::Log;
use super::plan::Plan;
use karat_evidence::json::check::digits;
use karat_evidence::json::problem::{Problem, Problems};

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

/// Limits of the task.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Limits {
    /// Budget in TAO.
    pub max_budget_tao: Option<f64>,
    /// Time limit in seconds.
    pub max_latency_seconds: Option<f64>,
}

/// The facts of a run, each under the name by which the workflow scorecard declares it. `None` is what neither the log
/// nor the harness reports; it is not 0.
#[derive(Debug, Clone, PartialEq)]
pub struct RunGrade {
    /// Steps that ended in success.
    pub steps_completed: Option<u64>,
    /// Steps of the plan.
    pub steps_total: u64,
    /// Cost in TAO, that of failed attempts included.
    pub actual_tao: Option<f64>,
    /// Budget of the task in TAO.
    pub max_budget_tao: Option<f64>,
    /// Wall-clock time in seconds.
    pub actual_seconds: Option<f64>,
    /// Time limit of the task in seconds.
    pub max_latency_seconds: Option<f64>,
    /// Attempts after the first of each step.
    pub actual_retries: Option<u64>,
    /// Sum of the retries that the plan declares.
    pub declared_retry_budget: u64,
    /// Attempts that exceeded their declared limit.
    pub timeouts: Option<u64>,
    /// Steps that failed after all declared retries.
    pub hard_failures: Option<u64>,
    /// True if the budget stopped the run.
    pub budget_aborted: Option<bool>,
    /// Accounting of the log, if there is one.
    pub account: Option<Account>,
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

/// Grades a run and returns its facts.
///
/// With a log the facts are what the log amounts to, and the totals must agree with it: counts exactly, costs to 1e-9
/// TAO, times to the millisecond. Where the log is not complete (an attempt without cost, or without moments) the total
/// of the harness is taken; it must not be below what the log shows for certain. Without a log all totals are taken.
///
/// # Errors
/// If totals contradict the log or, without a log, each other: every one, with both numbers; if totals or limits are negative or not finite: every
/// one; if more steps are completed than the plan has.
///
/// ```
/// use karat_graders::workflow::{Limits, Log, Plan, PlanRules, Totals, grade_run};
///
/// let (plan, _) = Plan::from_json(br#"{"nodes": [{"id": "a"}]}"#, &PlanRules::default()).unwrap();
/// let log = br#"[{"step": "a", "cost": 0.002, "outcome": "success"}]"#;
/// let (log, _) = Log::from_json(log, &plan).unwrap();
/// let totals = Totals { actual_seconds: Some(4.1), ..Totals::default() };
/// let run = grade_run(&plan, Some(&log), &totals, &Limits::default()).unwrap();
/// assert_eq!((run.actual_tao, run.actual_seconds), (Some(0.002), Some(4.1)));
///
/// let totals = Totals { actual_tao: Some(0.003), ..totals };
/// assert_eq!(
///     grade_run(&plan, Some(&log), &totals, &Limits::default()).unwrap_err().to_string(),
///     "$.result.actual_cost: found 0.003, where the log adds up to 0.002, expected the total of the log; \
///      correct the one that is wrong, or leave the total out"
/// );
/// ```
pub fn grade_run(
    plan: &Plan,
    log: Option<&Log>,
    totals: &Totals,
    limits: &Limits,
) -> Result<RunGrade, Problems> {
    let mut problems = Problems::default();
    let mut refuse = |path: String, found: String, expected: &str, hint: &str| {
        problems.add(|| Problem {
            path,
            found,
            expected: expected.to_owned(),
            hint: hint.to_owned(),
            line: None,
            column: None,
        });
    };
    for (path, amount) in [
        ("$.result.actual_cost", totals.actual_tao),
        ("$.result.actual_latency", totals.actual_seconds),
        ("$.constraints.max_budget_tao", limits.max_budget_tao),
        ("$.constraints.max_latency_seconds", limits.max_latency_seconds),
    ] {
        if let Some(amount) = amount.filter(|amount| !(amount.is_finite() && *amount >= 0.0)) {
            refuse(path.to_owned(), amount.to_string(), "a number not below 0", "");
        }
    }
    let steps_total = plan.steps().len() as u64;
    if let Some(completed) = totals.steps_completed.filter(|&completed| completed > steps_total) {
        let found = format!("{completed} steps done of {steps_total}");
        refuse("$.result.steps_completed".to_owned(), found, "at most as many as there are", "");
    }
    let (grade, mut contradictions) = settle(plan, log, totals, limits);
    if log.is_none() {
        contradictions.extend(impossible(totals, steps_total, Some(plan), None));
    }
    for Contradiction { field, found, expected, hint } in contradictions {
        refuse(format!("$.result.{field}"), found, expected, hint);
    }
    if problems.is_empty() { Ok(grade) } else { Err(problems) }
}

/// Returns the facts of a run whose totals and limits have been checked by themselves, and where totals contradict the
/// log.
pub fn settle(
    plan: &Plan,
    log: Option<&Log>,
    totals: &Totals,
    limits: &Limits,
) -> (RunGrade, Vec<Contradiction>) {
    let mut grade = RunGrade {
        steps_completed: totals.steps_completed,
        steps_total: plan.steps().len() as u64,
        actual_tao: totals.actual_tao,
        max_budget_tao: limits.max_budget_tao,
        actual_seconds: totals.actual_seconds,
        max_latency_seconds: limits.max_latency_seconds,
        actual_retries: totals.actual_retries,
        declared_retry_budget: plan.declared_retry_budget(),
        timeouts: totals.timeouts,
        hard_failures: totals.hard_failures,
        budget_aborted: totals.budget_aborted,
        account: None,
    };
    let Some(log) = log else { return (grade, Vec::new()) };
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
    grade.budget_aborted = Some(run.budget_aborted);
    grade.account = Some(run);
    (grade, contradictions)
}

impl RunGrade {
    /// Returns the retries beyond the declared ones.
    #[must_use]
    pub fn unplanned_retries(&self) -> Option<u64> {
        Some(self.actual_retries?.saturating_sub(self.declared_retry_budget))
    }

    /// Returns the observations, to be kept with a score: under `facts` the facts and `unplanned_retries` (`null` if
    /// absent), under `log` the [detail of the account](Account::detail), or `null` without a log.
    #[must_use]
    pub fn detail(&self) -> Value {
        json!({
            "facts": {
                "steps_completed": self.steps_completed,
                "steps_total": self.steps_total,
                "actual_tao": self.actual_tao,
                "max_budget_tao": self.max_budget_tao,
                "actual_seconds": self.actual_seconds,
                "max_latency_seconds": self.max_latency_seconds,
                "actual_retries": self.actual_retries,
                "declared_retry_budget": self.declared_retry_budget,
                "unplanned_retries": self.unplanned_retries(),
                "timeouts": self.timeouts,
                "hard_failures": self.hard_failures,
                "budget_aborted": self.budget_aborted,
            },
            "log": self.account.as_ref().map(Account::detail),
        })
    }
}

#[cfg(test)]
mod tests {
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

    fn grade(log: Option<&Log>, totals: Totals) -> Result<RunGrade, String> {
        grade_run(&plan(), log, &totals, &Limits::default()).map_err(|problems| problems.to_string())
    }

    #[test]
    fn a_log_gives_every_fact() {
        let run = grade(Some(&full_log()), Totals::default()).unwrap();
        assert_eq!((run.steps_completed, run.steps_total), (Some(1), 2));
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
        assert_eq!(grade(Some(&log), totals), grade(Some(&log), Totals::default()));
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
        insta::assert_snapshot!(grade(Some(&log), Totals { hard_failures: Some(1), ..totals }).unwrap_err(), @r"
        $.result.steps_completed: found 2, where the log counts 1, expected the total of the log; correct the one that is wrong, or leave the total out
        $.result.actual_retries: found 1, where the log counts 0, expected the total of the log; correct the one that is wrong, or leave the total out
        $.result.hard_failures: found 1, where the log counts 0, expected the total of the log; correct the one that is wrong, or leave the total out
        $.result.timeouts: found 3, where the log counts 0, expected the total of the log; correct the one that is wrong, or leave the total out
        $.result.actual_cost: found 0.2, where the log adds up to 0.30000000000000004, expected the total of the log; correct the one that is wrong, or leave the total out
        $.result.actual_latency: found 3.002, where the log adds up to 3, expected the total of the log; correct the one that is wrong, or leave the total out
        $.result.budget_aborted: found `false`, where the log has `budget_abort`, expected the total of the log; correct the one that is wrong, or leave the total out
        ");
    }

    #[test]
    fn a_run_that_completed_every_step_was_not_stopped() {
        let log = log(r#"[{"step": "a", "outcome": "success"}, {"step": "b", "outcome": "success"}]"#);
        let totals = Totals { budget_aborted: Some(true), ..Totals::default() };
        let refused = grade(Some(&log), totals).unwrap_err();
        assert!(
            refused.starts_with("$.result.budget_aborted: found `true`, where the log completes every step,"),
            "{refused}"
        );
    }

    #[test]
    fn what_the_log_lacks_is_missing_unless_the_harness_tells_it() {
        let log = log(r#"[{"step": "a", "start": "2026-01-01T00:00:00Z", "outcome": "failed"},
            {"step": "b", "start": "2026-01-01T00:00:01Z", "end": "2026-01-01T00:00:03Z", "cost": 0.2, "outcome": "success"}]"#);
        let run = grade(Some(&log), Totals::default()).unwrap();
        assert_eq!((run.actual_tao, run.actual_seconds, run.timeouts), (None, None, None));
        let seen = run.account.unwrap().seen;
        assert_eq!((seen.attempts_without_moments, seen.attempts_without_cost), (1, 1));
        assert_eq!((seen.known_tao, seen.known_seconds), (0.2, Some(3.0)));

        let totals = Totals {
            actual_tao: Some(0.5),
            actual_seconds: Some(4.0),
            timeouts: Some(1),
            ..Totals::default()
        };
        let run = grade(Some(&log), totals).unwrap();
        assert_eq!((run.actual_tao, run.actual_seconds, run.timeouts), (Some(0.5), Some(4.0), Some(1)));

        let less = Totals { actual_tao: Some(0.1), actual_seconds: Some(2.0), timeouts: Some(2), ..totals };
        insta::assert_snapshot!(grade(Some(&log), less).unwrap_err(), @r"
        $.result.timeouts: found 2, where the log has 0 to 1, expected the total of the log; correct the one that is wrong, or leave the total out
        $.result.actual_cost: found 0.1, where the log shows at least 0.2, expected the total of the log; correct the one that is wrong, or leave the total out
        $.result.actual_latency: found 2, where the log shows at least 3, expected the total of the log; correct the one that is wrong, or leave the total out
        ");
    }

    #[test]
    fn totals_alone_are_taken() {
        let totals = Totals { steps_completed: Some(2), actual_retries: Some(3), ..Totals::default() };
        let run = grade(None, totals).unwrap();
        assert_eq!((run.steps_completed, run.unplanned_retries(), run.timeouts), (Some(2), Some(3), None));
        assert_eq!(run.detail()["log"], Value::Null);
    }

    #[test]
    fn totals_that_cannot_be_are_refused() {
        let totals = Totals {
            steps_completed: Some(3),
            actual_tao: Some(f64::NAN),
            actual_seconds: Some(-1.0),
            ..Totals::default()
        };
        let limits = Limits { max_budget_tao: Some(f64::INFINITY), max_latency_seconds: Some(-0.5) };
        let refused = grade_run(&plan(), None, &totals, &limits).unwrap_err().to_string();
        insta::assert_snapshot!(refused, @r"
        $.result.actual_cost: found NaN, expected a number not below 0
        $.result.actual_latency: found -1, expected a number not below 0
        $.constraints.max_budget_tao: found inf, expected a number not below 0
        $.constraints.max_latency_seconds: found -0.5, expected a number not below 0
        $.result.steps_completed: found 3 steps done of 2, expected at most as many as there are
        ");
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
                let graded = grade_run(&plan, None, &totals, &Limits::default());
                let is_possible = possible.contains(&(done, failed, retries, timeouts, stopped));
                assert_eq!(graded.is_ok(), is_possible, "{steps} {limited} {totals:?} {graded:?}");
                compared += 1;
            }
        }
        assert_eq!(compared, 9 * 576);
    }

    /// The facts under the names that the scorecard declares.
    #[test]
    fn the_detail_has_every_fact_of_the_scorecard_but_the_quality() {
        let card = include_str!("../../../../scorecards/workflow/1.0.0.toml");
        let facts = card.split("[facts]").nth(1).and_then(|rest| rest.split("[let]").next()).unwrap();
        let detail = grade(Some(&full_log()), Totals::default()).unwrap().detail();
        let names: Vec<_> = facts.lines().filter_map(|line| Some(line.split_once(" = ")?.0.trim())).collect();
        assert_eq!(names.len(), 11);
        for name in names.iter().filter(|name| **name != "output_quality") {
            assert!(detail["facts"].get(name).is_some(), "{name}");
        }
    }
}
