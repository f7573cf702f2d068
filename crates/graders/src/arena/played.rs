//! The raw parts of a match, read, and whether the submission is taken.

use std::collections::BTreeMap;

use karat_core::timestamp::Timestamp;
use serde_json::Value;

use super::constraints::Constraints;
use super::evaluator::Attempt;
use super::gate::{Arrival, Gate, MatchStatus, submission_gate};
use super::members::Members;
use super::payload::{self, Submission};
use super::trajectory::Window;
use karat_evidence::json::problem::{Problems, quoted};

const KNOWN: [&str; 24] = [
    "match_id", "agent_id", "requester_id", "status", "started_at", "submitted_at", "time_limit_secs",
    "attempt_number", "memoryless", "match_nonce", "harness_id", "constraints", "payload", "ground_truth",
    "workspace_files", "api_calls", // Of the documented match, and no part of a grade.
    "challenge", "challenge_id", "challenge_slug", "objective", "seed", "expires_at", "opponent_elo",
    "flavour_text",
];

/// The parts of a match, their shape checked.
pub(super) struct Played<'a> {
    pub match_id: &'a str,
    pub agent_id: &'a str,
    pub requester_id: Option<&'a str>,
    pub status: MatchStatus,
    pub started_at: &'a str,
    pub submitted_at: &'a str,
    pub window: Window,
    pub attempt_number: u64,
    pub memoryless: bool,
    /// The text that the server drew for the log of this match, if it was played at one that does.
    pub match_nonce: Option<&'a str>,
    pub harness_id: Option<&'a str>,
    pub constraints: Constraints,
    pub constraints_given: Option<&'a Value>,
    pub submission: Submission<'a>,
    pub attempt: Attempt<'a>,
    pub workspace_files: Option<BTreeMap<&'a str, &'a str>>,
    /// The seed of the instance, 0 if it has none.
    pub seed: u64,
    /// The names of the challenge, which are not part of a grade and say under which card the match is scored.
    pub named: Vec<(&'static str, &'a Value)>,
}

impl<'a> Played<'a> {
    /// Reads them; what is wrong is added to `problems`.
    pub fn read(parts: &'a Value, problems: &mut Problems) -> Option<Self> {
        let parts = Members::of(parts, "$", problems)?.with_nulls();
        parts.refuse_unknown(&KNOWN, problems);
        let [match_id, agent_id, started_at, submitted_at] =
            ["match_id", "agent_id", "started_at", "submitted_at"]
                .map(|name| parts.require(name, "a text", problems)?.text(problems));
        let [requester_id, harness_id, match_nonce] =
            ["requester_id", "harness_id", "match_nonce"].map(|name| parts.get(name)?.text(problems));
        let status = parts.get("status").and_then(|status| status.text(problems));
        let status = told(status.map_or(Ok(MatchStatus::Active), MatchStatus::parse), problems);
        let window = started_at
            .zip(submitted_at)
            .and_then(|(started_at, submitted_at)| told(Window::parse(started_at, submitted_at), problems));
        let limit_seconds = parts
            .require("time_limit_secs", "a number of seconds", problems)
            .and_then(|limit| limit.number(0.0, f64::MAX, "a number not below 0", problems));
        let attempt_number = parts
            .require("attempt_number", "1 for the first time that the agent entered", problems)
            .and_then(|number| number.count(1.0, problems));
        let memoryless = parts.require("memoryless", "`true` or `false`", problems);
        let memoryless = memoryless.and_then(|memoryless| memoryless.flag(problems));
        let constraints_given = parts.get("constraints");
        let constraints = constraints_given
            .as_ref()
            .and_then(|given| Constraints::read_at(given.value, &given.path, problems))
            .unwrap_or_default();
        let payload = parts.require("payload", "what was submitted", problems);
        let submission =
            payload.as_ref().and_then(|payload| payload::read_at(payload.value, &payload.path, problems));
        let ground_truth = parts.require("ground_truth", "what is right", problems);
        let api_calls = parts.get("api_calls").and_then(|calls| calls.count(0.0, problems));
        let files = parts.get("workspace_files").and_then(|files| files.members(problems));
        let workspace_files = files.map(|files| {
            files.iter().filter_map(|(path, text)| Some((path, text.text(problems)?))).collect()
        });
        let named = read_unused(&parts, problems);
        let seed = parts.get("seed").and_then(|seed| seed.count(0.0, problems)).unwrap_or_default();
        let window = window?;
        Some(Self {
            match_id: match_id?,
            agent_id: agent_id?,
            requester_id,
            status: status?,
            started_at: started_at?,
            submitted_at: submitted_at?,
            window,
            attempt_number: attempt_number?,
            memoryless: memoryless?,
            match_nonce,
            harness_id,
            constraints,
            constraints_given: constraints_given.map(|given| given.value),
            submission: submission?,
            attempt: Attempt {
                submission: payload?.value.get("answer")?,
                ground_truth: ground_truth?.value,
                used_seconds: window.used_seconds(),
                limit_seconds: limit_seconds?,
                api_calls,
            },
            workspace_files,
            seed,
            named,
        })
    }

    /// Refuses a submission that the arena would not take.
    pub fn accepted(&self) -> Result<(), Problems> {
        let gate = submission_gate(Arrival {
            status: Some(self.status),
            requester_is_owner: self.requester_id.is_none_or(|requester| requester == self.agent_id),
            past_deadline: self.window.is_past(self.attempt.limit_seconds),
        });
        let (path, found, expected) = match gate {
            Gate::Accepted => return Ok(()),
            Gate::NoMatch => ("$", "no match".to_owned(), "a match"),
            Gate::NotOwner => {
                let requester = quoted(self.requester_id.unwrap_or_default());
                ("$.requester_id", requester, "the agent that entered the match")
            }
            Gate::AlreadyCompleted => {
                ("$.status", "`completed`: it was submitted before".to_owned(), "a match that is open")
            }
            Gate::Expired => {
                let Attempt { used_seconds, limit_seconds, .. } = self.attempt;
                let found = format!("{used_seconds} s of {limit_seconds} s: the match has expired");
                ("$.submitted_at", found, "a match within its time limit")
            }
        };
        Err(Problems::one(path, found, expected, "leave it out: what is not accepted has no score"))
    }
}

/// Checks the members that are not part of a grade, and returns those that name the challenge.
fn read_unused<'a>(parts: &Members<'a>, problems: &mut Problems) -> Vec<(&'static str, &'a Value)> {
    for name in ["objective", "flavour_text"] {
        parts.get(name).and_then(|text| text.text(problems));
    }
    parts.get("opponent_elo").and_then(|elo| elo.number(0.0, f64::MAX, "a number not below 0", problems));
    if let Some(expires) = parts.get("expires_at")
        && let Some(text) = expires.text(problems)
        && let Err(error) = Timestamp::parse(text)
    {
        expires.refuse(error.expected(), error.hint(), problems);
    }
    let named = ["challenge", "challenge_id", "challenge_slug"].into_iter();
    named
        .filter_map(|name| {
            let member = parts.get(name)?;
            match member.value {
                Value::String(text) if !text.trim().is_empty() => {}
                Value::Number(_) => drop(member.count(0.0, problems)?),
                _ => {
                    member.refuse("a text that is not blank, or a whole number", "", problems);
                    return None;
                }
            }
            Some((name, member.value))
        })
        .collect()
}

/// Returns a result, or adds what is wrong with it among the rest.
fn told<T>(result: Result<T, Problems>, problems: &mut Problems) -> Option<T> {
    result.map_err(|refused| refused.iter().for_each(|problem| problems.add(|| problem.clone()))).ok()
}
