//! The kinds of items.

use core::fmt;

/// The kind of an item. Ids are unique within a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An item of evidence: its canonical JSON, so that the digest of its content is the one that records name.
    Evidence,
    /// A record: its canonical JSON.
    Record,
    /// A scorecard: the text of its file.
    Scorecard,
    /// A state of a match: entered, submitted, settled.
    Match,
    /// A state of a review: asked for, approved, rejected.
    Review,
    /// A state of a key: made, revoked. Its content has a hash of the key, never the key.
    Key,
    /// A state of weights from outside: proposed, accepted, refused, revoked.
    Weights,
    /// A state of a workflow: a recorder, a task, a plan, what a recorder delivered, a verdict.
    Workflow,
    /// A recording of a run: its lines without the last one, so that the digest of its content is its own.
    Recording,
    /// Spans of a trace that arrived in one request, or the end of that trace.
    Spans,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 10] = [
        Self::Evidence,
        Self::Record,
        Self::Scorecard,
        Self::Match,
        Self::Review,
        Self::Key,
        Self::Weights,
        Self::Workflow,
        Self::Recording,
        Self::Spans,
    ];

    /// Returns the name as written: `evidence`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Evidence => "evidence",
            Self::Record => "record",
            Self::Scorecard => "scorecard",
            Self::Match => "match",
            Self::Review => "review",
            Self::Key => "key",
            Self::Weights => "weights",
            Self::Workflow => "workflow",
            Self::Recording => "recording",
            Self::Spans => "spans",
        }
    }

    /// Returns whether [`Term::kind`](crate::Term::kind) and [`Term::subject`](crate::Term::subject) find its items. Evidence and records are nearly all of a log, and
    /// recordings are long: they are found by their ids alone. An index of anything else is made by reading the log once.
    #[must_use]
    pub const fn is_listed(self) -> bool {
        !matches!(self, Self::Evidence | Self::Record | Self::Recording)
    }

    /// Returns the kind with that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
