//! The event log of a run: every attempt at a step, checked against the plan.

use karat_core::timestamp::{TimestampError, parse_nanoseconds};

use super::order::{Disorder, disorders};
use super::plan::Plan;
use karat_evidence::json::check::{AMOUNT, Check, digits};
use karat_evidence::json::document::Node;
use karat_evidence::json::note::Note;
use karat_evidence::json::problem::{Problems, quoted};

/// The attempts of a run, without contradictions among themselves or with the plan.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Log {
    attempts: Vec<Attempt>,
}

/// One record of the log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// Place of the step among the steps of the plan.
    pub step: usize,
    /// Number of the attempt at the step, from 1.
    pub number: u64,
    /// Time at which it began.
    pub start: Option<LogTime>,
    /// Time at which it ended.
    pub end: Option<LogTime>,
    /// Cost in TAO, whatever its outcome.
    pub cost_tao: Option<f64>,
    /// Its outcome.
    pub outcome: Outcome,
}

/// Outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// An output: `success`.
    Success,
    /// No output: `failed`.
    Failed,
    /// Stopped for taking too long: `timeout`.
    Timeout,
    /// Not tried, because the budget was used up: `budget_abort`.
    BudgetAbort,
    /// Not tried, because a reference had no value: `unresolved_reference`.
    UnresolvedReference,
}

impl Outcome {
    const NAMES: [&str; 5] = ["success", "failed", "timeout", "budget_abort", "unresolved_reference"];

    fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "success" => Self::Success,
            "failed" => Self::Failed,
            "timeout" => Self::Timeout,
            "budget_abort" => Self::BudgetAbort,
            "unresolved_reference" => Self::UnresolvedReference,
            _ => return None,
        })
    }

    /// Returns whether something was tried.
    pub(crate) fn is_attempt(self) -> bool {
        matches!(self, Self::Success | Self::Failed | Self::Timeout)
    }
}

/// A timestamp of a log in nanoseconds since 1970-01-01T00:00:00Z: durations need every digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogTime(i128);

impl LogTime {
    /// Reads an RFC 3339 timestamp, as [`Timestamp::parse`](karat_core::timestamp::Timestamp::parse) does; digits beyond
    /// nanoseconds are cut off.
    ///
    /// # Errors
    /// If the text is not a timestamp.
    pub fn parse(text: &str) -> Result<Self, TimestampError> {
        parse_nanoseconds(text).map(Self)
    }

    /// Returns the time from `earlier` to this moment in seconds; negative if this moment is the earlier one. Up to 104
    /// days (2^53 nanoseconds) it is rounded once.
    pub fn seconds_since(self, earlier: Self) -> f64 {
        const SECOND: i128 = 1_000_000_000;
        let nanoseconds = self.0 - earlier.0;
        if nanoseconds.unsigned_abs() <= 1 << f64::MANTISSA_DIGITS {
            return nanoseconds as f64 / SECOND as f64;
        }
        // More of them do not fit a double, but their whole seconds are.
        (nanoseconds / SECOND) as f64 + (nanoseconds % SECOND) as f64 / SECOND as f64
    }
}

impl Attempt {
    /// Returns how long it took.
    pub fn seconds(&self) -> Option<f64> {
        Some(self.end?.seconds_since(self.start?))
    }

    /// Returns whether it exceeded the time limit that the plan declares for an attempt at its step: not without a
    /// limit, and not by taking exactly as long. A harness that stopped it for that says so itself. `None` without
    /// times.
    pub(crate) fn exceeds(&self, timeout_seconds: Option<f64>) -> Option<bool> {
        match timeout_seconds {
            Some(limit) if self.outcome.is_attempt() => match self.outcome {
                Outcome::Timeout => Some(true),
                _ => self.seconds().map(|seconds| seconds > limit),
            },
            _ => Some(false),
        }
    }
}

impl Log {
    /// Reads a log: an array of records of `step`, `attempt`, `start`, `end`, `cost` and `outcome`, in any order.
    ///
    /// `step` and `outcome` are required. Records without an `attempt` are counted in the order of the text.
    ///
    /// # Errors
    /// If there are contradictions: all of them. A step that the plan does not have, an attempt that ends before it
    /// starts or starts before the one before it, attempts that are missing or there twice, anything after a success, a
    /// cost of something that was not tried, a timeout within the declared limit; and where the edges and references of the
    /// plan forbid it: a start before the end of a step that leads there, an attempt whose reference has no value.
    pub fn from_json(text: &[u8], plan: &Plan) -> Result<(Self, Vec<Note>), Problems> {
        super::from_json(text, |log, check| read(log, check, plan, "$"))
    }

    /// Returns the attempts, sorted by step and number.
    pub fn attempts(&self) -> &[Attempt] {
        &self.attempts
    }
}

/// An attempt with its place in the document.
struct Draft<'a> {
    attempt: Attempt,
    node: Node<'a>,
}

/// Reads a log and adds its faults to the `check`; with faults, what is returned is what could be read. `root` is the
/// path of the log, for counting the fields that no one reads.
pub fn read(log: Node<'_>, check: &mut Check<'_>, plan: &Plan, root: &str) -> Log {
    let mut counts = vec![0u64; plan.steps().len()];
    let mut records = 0;
    let mut drafts = Vec::new();
    let faults = check.problems.len();
    let path = format!("{root}[*]");
    for record in check.elements(log) {
        records += 1;
        drafts.extend(read_record(record, check, plan, &path, &mut counts));
    }
    drafts.sort_by_key(|draft| (draft.attempt.step, draft.attempt.number));
    // Beside records that could not be read, others would seem to be missing.
    if drafts.len() == records {
        let mut before: Option<&Draft<'_>> = None;
        for draft in &drafts {
            let of_step = before.filter(|before| before.attempt.step == draft.attempt.step);
            check_order(draft, of_step, check, plan);
            before = Some(draft);
        }
    }
    let attempts: Vec<_> = drafts.iter().map(|draft| draft.attempt).collect();
    if !attempts.iter().filter_map(|attempt| attempt.cost_tao).sum::<f64>().is_finite() {
        check.refuse_as(log, "costs beyond what a double holds", "costs in TAO", "");
    }
    let log = Log { attempts };
    // A log with faults may only seem to be out of order.
    if check.problems.len() == faults {
        for Disorder { at, found, expected } in disorders(plan, &log) {
            let Some(draft) = drafts.get(at) else { continue };
            match expected {
                Some((expected, hint)) => check.refuse_as(draft.node, found, expected, hint),
                None => check.suspect(draft.node, found),
            }
        }
    }
    log
}

fn read_record<'a>(
    record: Node<'a>,
    check: &mut Check<'_>,
    plan: &Plan,
    path: &str,
    counts: &mut [u64],
) -> Option<Draft<'a>> {
    let names = ["step", "attempt", "start", "end", "cost", "outcome"];
    let [step, number, start_node, end_node, cost, outcome] = check.fields(record, path, names);
    let start = start_node.and_then(|node| check.timestamp(node, LogTime::parse));
    let end = end_node.and_then(|node| check.timestamp(node, LogTime::parse));
    let cost_tao = cost.and_then(|node| check.number(node, AMOUNT));
    let step = check.required(record, "step", step, "the id of a step of the plan");
    let outcome = check.required(record, "outcome", outcome, "what came of the attempt");
    let step = step.and_then(|node| find_step(node, check, plan));
    let outcome = outcome.and_then(|node| check.one_of(node, &Outcome::NAMES)).and_then(Outcome::from_name);
    // A count is a whole number that a double holds, so nothing is cut off.
    let number = number.map(|node| check.count(node, 1.0).map(|count| count as u64));
    let (step, outcome) = (step?, outcome?);

    let count = counts.get_mut(step)?;
    *count += 1;
    let attempt = Attempt { step, number: number.unwrap_or(Some(*count))?, start, end, cost_tao, outcome };
    let seconds = attempt.seconds();
    if let (Some(node), Some(true)) = (end_node, seconds.map(|seconds| seconds < 0.0)) {
        check.refuse(node, "a moment not before `start`", "");
    }
    if let (Some(node), Some(true)) = (cost, cost_tao.map(|cost| cost > 0.0 && !outcome.is_attempt())) {
        check.refuse_as(node, "the cost of something that was not tried", "a cost of 0, or none", "");
    }
    let limit = plan.steps().get(step).and_then(|step| step.timeout_seconds);
    if let (Outcome::Timeout, Some(seconds), Some(limit)) = (outcome, seconds, limit)
        && seconds + CLOCK_SECONDS < limit
    {
        let found = format!("a timeout after {} s of {} s", digits(seconds), digits(limit));
        let hint = "correct the moments, or say `failed` if something else stopped it";
        check.refuse_as(record, found, "an attempt as long as the time limit that the plan declares", hint);
    }
    if let (Outcome::Timeout, None) = (outcome, limit) {
        let text =
            "the plan declares no `timeout_seconds` for this step: it counts as failed, not as timed out";
        check.suspect(record, text.to_owned());
    }
    Some(Draft { attempt, node: record })
}

/// A timer may fire so much before a clock of milliseconds shows that its time has come.
const CLOCK_SECONDS: f64 = 0.001;

fn find_step(node: Node<'_>, check: &mut Check<'_>, plan: &Plan) -> Option<usize> {
    let id = check.text(node)?;
    let found = plan.find(id);
    if found.is_none() {
        let known = || plan.steps().iter().take(100).map(|step| step.id.as_str());
        check.refuse_name(node, id, "the id of a step of the plan", known);
    }
    found
}

/// Checks a record against the one before it of the same step.
fn check_order(draft: &Draft<'_>, before: Option<&Draft<'_>>, check: &mut Check<'_>, plan: &Plan) {
    let Attempt { step, number, start, outcome, .. } = draft.attempt;
    let id = || quoted(plan.steps().get(step).map_or("", |step| &step.id));
    let mut refuse = |found: String, expected: &str, hint: &str| {
        check.refuse_as(draft.node, found, expected, hint);
    };
    let expected_number = before.map_or(1, |before| before.attempt.number.saturating_add(1));
    if number < expected_number {
        let found = format!("attempt {number} at {} a second time", id());
        refuse(found, "each attempt once", "number the attempts at a step from 1");
    } else if number > expected_number {
        let found = format!("attempt {number} at {} without attempt {expected_number}", id());
        refuse(found, "every attempt at a step, numbered from 1", "give the whole log");
    }
    let Some(Draft { attempt: before, .. }) = before else { return };
    if before.outcome == Outcome::Success {
        let found = format!("attempt {number} at {} after it had succeeded", id());
        refuse(found, "no attempt after a success", "");
    } else if !before.outcome.is_attempt() {
        let found = format!("attempt {number} at {} after it had been given up", id());
        refuse(found, "no attempt after `budget_abort` or `unresolved_reference`", "");
    } else if outcome == Outcome::UnresolvedReference {
        let found = format!("an unresolved reference of {} after an attempt at it", id());
        refuse(found, "references resolved before the first attempt", "");
    }
    if start.zip(before.start).is_some_and(|(start, before)| start < before) {
        let found = format!("attempt {number} at {} before attempt {}", id(), before.number);
        refuse(found, "attempts in the order of their numbers", "correct the numbers or the moments");
    } else if start.zip(before.end).is_some_and(|(start, end)| start < end) {
        let text = format!("attempt {number} at {} began before attempt {} had ended", id(), before.number);
        check.suspect(draft.node, text);
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::workflow::PlanRules;

    fn plan() -> Plan {
        let text =
            br#"{"nodes": [{"id": "a"}, {"id": "b"}], "error_handling": {"a": {"timeout_seconds": 5}}}"#;
        Plan::from_json(text, &PlanRules::default()).unwrap().0
    }

    fn refused(log: &str) -> String {
        Log::from_json(log.as_bytes(), &plan()).unwrap_err().to_string()
    }

    #[test]
    fn durations_are_kept_to_the_nanosecond() {
        let between = |first: &str, last: &str| {
            let [first, last] = [first, last].map(|text| LogTime::parse(text).unwrap());
            assert_eq!(first.seconds_since(last), -last.seconds_since(first));
            last.seconds_since(first)
        };
        assert_eq!(between("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.0000000019Z"), 1e-9);
        assert_eq!(between("1969-12-31T23:59:59.999999999Z", "1970-01-01T01:00:00.5+01:00"), 0.500000001);
        assert_eq!(between("0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z"), 315_569_520_000.0);
        assert_eq!(between("0000-01-01T00:00:00.5Z", "9999-12-31T23:59:59.75Z"), 315_569_519_999.25);
    }

    #[test]
    fn records_come_in_any_order_and_with_or_without_numbers() {
        let log = br#"[
            {"step": "b", "outcome": "failed", "cost": 0.1},
            {"step": "a", "attempt": 2, "outcome": "success", "start": "2026-01-01T00:00:03Z"},
            {"step": "b", "outcome": "success", "cost": null},
            {"step": "a", "attempt": 1, "outcome": "timeout", "start": "2026-01-01T02:00:00+02:00", "end": "2026-01-01T00:00:05Z"}]"#;
        let (log, _) = Log::from_json(log, &plan()).unwrap();
        let seen: Vec<_> =
            log.attempts().iter().map(|a| (a.step, a.number, a.outcome, a.seconds())).collect();
        assert_eq!(
            seen,
            [
                (0, 1, Outcome::Timeout, Some(5.0)),
                (0, 2, Outcome::Success, None),
                (1, 1, Outcome::Failed, None),
                (1, 2, Outcome::Success, None),
            ]
        );
    }

    #[test]
    fn an_attempt_exceeds_a_limit_only_beyond_it() {
        let attempt = |outcome, seconds: Option<&str>| Attempt {
            step: 0,
            number: 1,
            start: LogTime::parse("2026-01-01T00:00:00.0009Z").ok(),
            end: seconds.and_then(|second| LogTime::parse(&format!("2026-01-01T00:00:{second}Z")).ok()),
            cost_tao: None,
            outcome,
        };
        let exact = attempt(Outcome::Success, Some("01.5009"));
        assert_eq!(exact.exceeds(Some(1.5)), Some(false));
        assert_eq!(exact.exceeds(Some(1.499_999)), Some(true));
        // In whole milliseconds this would be 1.501 s.
        assert_eq!(attempt(Outcome::Success, Some("01.5010")).exceeds(Some(1.5005)), Some(false));
        assert_eq!(exact.exceeds(None), Some(false));
        assert_eq!(attempt(Outcome::Failed, None).exceeds(Some(1.0)), None);
        assert_eq!(attempt(Outcome::Timeout, None).exceeds(Some(1.0)), Some(true));
        assert_eq!(attempt(Outcome::Timeout, None).exceeds(None), Some(false));
        assert_eq!(attempt(Outcome::BudgetAbort, Some("09")).exceeds(Some(1.0)), Some(false));
    }

    #[test]
    fn contradictions_are_told_at_once() {
        assert_snapshot!(refused(r#"[{"step": "A", "outcome": "ok", "attempt": 0}, {"attempt": 1}, 5,
            {"step": "a", "outcome": "Success", "cost": "free"},
            {"step": "a", "attempt": 4, "outcome": "success", "start": "+275760-09-13T00:00:00.000Z", "end": 8640000000000000}]"#), @r"
        $[0].step: found `A`, expected the id of a step of the plan; did you mean `a`? (line 1, column 11)
        $[0].outcome: found the text `ok`, expected `success`, `failed`, `timeout`, `budget_abort` or `unresolved_reference` (line 1, column 27)
        $[0].attempt: found `0`, expected a whole number above 0 (line 1, column 44)
        $[1].step: found nothing, expected the id of a step of the plan; add `step` (line 1, column 48)
        $[1].outcome: found nothing, expected what came of the attempt; add `outcome` (line 1, column 48)
        $[2]: found `5`, expected an object (line 1, column 64)
        $[3].outcome: found the text `Success`, expected `success`, `failed`, `timeout`, `budget_abort` or `unresolved_reference`; did you mean `success`? (line 2, column 38)
        $[3].cost: found the text `free`, expected a number not below 0 (line 2, column 57)
        $[4].start: found the text `+275760-09-13T00:00:00.000Z`, expected an RFC 3339 timestamp such as `2026-01-31T12:00:00Z`; give date, `T`, time with seconds, and `Z` or an offset (line 3, column 72)
        $[4].end: found `8640000000000000`, expected an RFC 3339 timestamp such as `2026-01-31T12:00:00Z`; give date, `T`, time with seconds, and `Z` or an offset (line 3, column 110)
        ");
        assert_snapshot!(refused(r#"[{"step": "a", "attempt": 1, "outcome": "success"},
            {"step": "a", "attempt": 2, "outcome": "failed", "cost": -1},
            {"step": "a", "attempt": 2, "outcome": "failed"},
            {"step": "a", "attempt": 4, "outcome": "timeout", "start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:00:03Z"},
            {"step": "b", "outcome": "failed", "start": "2026-01-01T00:00:00+02:00", "end": "2026-01-01T00:00:00+03:00"},
            {"step": "b", "outcome": "budget_abort", "start": "2025-01-01T00:00:00Z", "cost": 0.1},
            {"step": "b", "outcome": "failed"}]"#), @r"
        $[1]: found attempt 2 at `a` after it had succeeded, expected no attempt after a success (line 2, column 13)
        $[1].cost: found `-1`, expected a number not below 0 (line 2, column 70)
        $[2]: found attempt 2 at `a` a second time, expected each attempt once; number the attempts at a step from 1 (line 3, column 13)
        $[3]: found a timeout after 3 s of 5 s, expected an attempt as long as the time limit that the plan declares; correct the moments, or say `failed` if something else stopped it (line 4, column 13)
        $[3]: found attempt 4 at `a` without attempt 3, expected every attempt at a step, numbered from 1; give the whole log (line 4, column 13)
        $[4].end: found the text `2026-01-01T00:00:00+03:00`, expected a moment not before `start` (line 5, column 93)
        $[5]: found attempt 2 at `b` before attempt 1, expected attempts in the order of their numbers; correct the numbers or the moments (line 6, column 13)
        $[5].cost: found the cost of something that was not tried, expected a cost of 0, or none (line 6, column 95)
        $[6]: found attempt 3 at `b` after it had been given up, expected no attempt after `budget_abort` or `unresolved_reference` (line 7, column 13)
        ");
        assert_snapshot!(refused(r#"[{"step": "b", "outcome": "failed"}, {"step": "b", "outcome": "unresolved_reference"}]"#), @"$[1]: found an unresolved reference of `b` after an attempt at it, expected references resolved before the first attempt (line 1, column 38)");
        assert_snapshot!(refused(r#"[{"step": "b", "outcome": "failed", "cost": 1e308}, {"step": "b", "outcome": "failed", "cost": 1e308}]"#), @"$: found costs beyond what a double holds, expected costs in TAO (line 1, column 1)");
        assert_snapshot!(refused("{}"), @"$: found an object, expected an array (line 1, column 1)");
    }

    #[test]
    fn a_timer_may_fire_a_moment_early() {
        let log = r#"[{"step": "a", "outcome": "timeout", "start": "2026-01-01T00:00:00Z", "end": "2026-01-01T00:00:04.9995Z"}]"#;
        assert!(Log::from_json(log.as_bytes(), &plan()).is_ok());
    }
}
