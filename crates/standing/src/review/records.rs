//! Transitions: the lines in the history of a subject's scores.

use alloc::string::String;
use alloc::vec::Vec;

use karat_core::facts::Digest;

use super::{Candidate, Decision};

/// The distance of a score from those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flags {
    /// The change against the official score; none for the first.
    pub delta: Option<i64>,
    /// Strictly more than the limit for one change.
    pub was_anomalous: bool,
    /// Strictly more than the limit against the lowest or highest score of the last days.
    pub was_cumulative: bool,
}

karat_core::words! {
    /// The state of a score under review.
    pub enum ReviewState {
        /// It is official.
        Committed = "committed",
        /// It is held; the official score stays.
        PendingReview = "pending_review",
        /// Reviewers approved it; it is committed next.
        Approved = "approved",
        /// A reviewer refused it.
        Rejected = "rejected",
        /// No decision came in time on a score that rises, or it rises again by the runner of an expired one.
        Expired = "expired",
        /// A newer score replaced it before a decision.
        Superseded = "superseded",
    }
}

/// One line of the history: the outcome of a score, with time and reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transition {
    /// Its time.
    pub at_seconds: i64,
    /// The score.
    pub candidate: Candidate,
    /// Its flags.
    pub flags: Flags,
    /// The outcome of it.
    pub state: ReviewState,
    /// The decisions; empty if time or a newer score decided.
    pub decisions: Vec<Decision>,
}

/// The reason why an event changed nothing, but for deadlines that came before it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It is before the last event.
    #[error(
        "the event is of second {at_seconds}, expected {latest_seconds} or later; give events in order of time"
    )]
    OutOfOrder {
        /// Its time.
        at_seconds: i64,
        /// The time of the last event.
        latest_seconds: i64,
    },
    /// No score waits for a decision.
    #[error("no score waits for a decision: it was decided on, superseded, or its deadline has passed")]
    NothingHeld,
    /// The decision does not say which score the reviewer saw.
    #[error(
        "the decision does not say which score was seen, expected `seen`, the digest of the one that waits: `{0}`"
    )]
    NoScore(
        /// The digest of the score that waits.
        Digest,
    ),
    /// Another score waits than the one that the reviewer saw.
    #[error("another score waits than was seen, expected a decision on `{0}`; look at that one")]
    OtherScore(
        /// The digest of the score that waits.
        Digest,
    ),
    /// The reviewer operates the subject.
    #[error("`{0}` operates the subject, expected a reviewer who does not")]
    OwnOperator(
        /// The reviewer.
        String,
    ),
    /// The reviewer has approved this score before.
    #[error("`{0}` has approved this score before, expected another reviewer")]
    ApprovedBefore(
        /// The reviewer.
        String,
    ),
    /// A decision without reviewer.
    #[error("the decision names no reviewer, expected one")]
    NoReviewer,
    /// A decision without reason.
    #[error("the decision gives no reason, expected a code or a sentence")]
    NoReason,
}

/// The result of an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The transitions of scores, in order: to be added to the history.
    pub transitions: Vec<Transition>,
    /// The reason why the event itself was refused.
    pub refusal: Option<Refusal>,
}

impl Transition {
    /// Returns what became of a score at its own moment.
    pub(super) const fn new(candidate: Candidate, flags: Flags, state: ReviewState) -> Self {
        Self { at_seconds: candidate.at_seconds, candidate, flags, state, decisions: Vec::new() }
    }
}

impl Flags {
    /// Returns true for a score above the official one, and for a cumulative swing without a change, which cannot fall.
    pub(super) fn rises(&self) -> bool {
        self.delta.is_none_or(|delta| delta >= 0)
    }
}
