//! The kinds of items.

use core::fmt;

karat_core::words! {
    /// A kind of item in the log.
    pub enum ItemKind {
        /// An item of evidence: its canonical JSON, so that the digest of its content is the one that records name.
        Evidence = "evidence",
        /// A record: its canonical JSON.
        Record = "record",
        /// A scorecard: the text of its file.
        Scorecard = "scorecard",
        /// A state of a match: entered, submitted, settled.
        Match = "match",
        /// A state of a review: asked for, approved, rejected.
        Review = "review",
        /// A state of a key: made, revoked. Its content has a hash of the key, never the key.
        Key = "key",
        /// A state of weights from outside: proposed, accepted, refused, revoked.
        Weights = "weights",
        /// A state of a workflow: a recorder, a task, a plan, what a recorder delivered, a verdict.
        Workflow = "workflow",
        /// A recording of a run: its lines without the last one, so that the digest of its content is its own.
        Recording = "recording",
        /// Spans of a trace that arrived in one request, or the end of that trace.
        Spans = "spans",
    }
}

/// The kind of an item. Ids are unique within a kind.
pub type Kind = ItemKind;

impl ItemKind {
    /// Returns whether [`Term::kind`](crate::Term::kind) and [`Term::subject`](crate::Term::subject) find its items. Evidence and records are nearly all of a log, and
    /// recordings are long: they are found by their ids alone. An index of anything else is made by reading the log once.
    pub const fn is_listed(self) -> bool {
        !matches!(self, Self::Evidence | Self::Record | Self::Recording)
    }
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
