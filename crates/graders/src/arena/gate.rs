//! Permission to submit: by agent, state and time.

use serde::Serialize;
use serde_json::Value;

use karat_evidence::json::problem::{Problems, did_you_mean, quoted};

/// Progress of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchStatus {
    /// Entered; it may be submitted as if it were active.
    Pending,
    /// Being played.
    Active,
    /// Submitted.
    Completed,
    /// Past its time.
    Expired,
}

impl MatchStatus {
    const NAMES: [(&'static str, Self); 4] = [
        ("pending", Self::Pending),
        ("active", Self::Active),
        ("completed", Self::Completed),
        ("expired", Self::Expired),
    ];

    /// Reads the status of that name.
    ///
    /// # Errors
    ///
    /// If the name is not one of `pending`, `active`, `completed`, `expired`.
    pub fn parse(name: &str) -> Result<Self, Problems> {
        let known = Self::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, status)| *status).ok_or_else(|| {
            let hint = did_you_mean(name, Self::NAMES.iter().map(|(known, _)| *known));
            Problems::one("$.status", quoted(name), "`pending`, `active`, `completed` or `expired`", &hint)
        })
    }
}

/// Facts about an arriving submission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// Status of the match; none if there is no such match.
    pub status: Option<MatchStatus>,
    /// True if the agent that submits is the one that entered.
    pub requester_is_owner: bool,
    /// True if the submission came after the last moment of the match. That moment itself is in time, and there is no grace.
    pub past_deadline: bool,
}

/// True if a submission is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// Accepted and scored.
    Accepted,
    /// There is no such match.
    NoMatch,
    /// "Only the entering agent can submit".
    NotOwner,
    /// Submitted before.
    AlreadyCompleted,
    /// "Expired matches cannot be submitted".
    Expired,
}

impl Gate {
    /// Returns whether the submission is scored.
    pub fn is_accepted(self) -> bool {
        self == Self::Accepted
    }

    /// Returns the HTTP status of the arena's answer.
    pub fn http_status(self) -> u16 {
        match self {
            Self::Accepted => 200,
            Self::NoMatch => 404,
            Self::NotOwner => 403,
            Self::AlreadyCompleted => 409,
            Self::Expired => 410,
        }
    }

    /// Returns outcome and status, as JSON: `{"outcome", "http_status"}`.
    pub fn detail(self) -> Value {
        serde_json::json!({ "outcome": self, "http_status": self.http_status() })
    }
}

/// Checks what comes before a submission is looked at, in this order: the match exists, the requester entered it, it
/// has not been completed, it has not expired (Scoring, "Submission Validation": ownership, then time limit).
pub fn submission_gate(arrival: Arrival) -> Gate {
    match arrival.status {
        None => Gate::NoMatch,
        Some(_) if !arrival.requester_is_owner => Gate::NotOwner,
        Some(MatchStatus::Completed) => Gate::AlreadyCompleted,
        Some(MatchStatus::Expired) => Gate::Expired,
        Some(_) if arrival.past_deadline => Gate::Expired,
        Some(MatchStatus::Pending | MatchStatus::Active) => Gate::Accepted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_reason_counts() {
        use MatchStatus::{Active, Completed, Expired, Pending};
        for (status, requester_is_owner, past_deadline, expected) in [
            (None, false, true, 404),
            (Some(Completed), false, true, 403),
            (Some(Completed), true, true, 409),
            (Some(Expired), true, false, 410),
            (Some(Active), true, true, 410),
            (Some(Pending), true, true, 410),
            (Some(Pending), true, false, 200),
            (Some(Active), true, false, 200),
        ] {
            let gate = submission_gate(Arrival { status, requester_is_owner, past_deadline });
            assert_eq!(gate.http_status(), expected);
            assert_eq!(gate.is_accepted(), expected == 200);
        }
        assert_eq!(Gate::NotOwner.detail(), serde_json::json!({"outcome": "not_owner", "http_status": 403}));
    }

    #[test]
    fn a_status_has_one_of_four_names() {
        assert_eq!(MatchStatus::parse("active"), Ok(MatchStatus::Active));
        assert_eq!(
            MatchStatus::parse("complete").unwrap_err().iter().next().unwrap().hint,
            "did you mean `completed`?"
        );
    }
}
