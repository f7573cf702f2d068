//! Errors, in words for the person who must act.

use std::path::PathBuf;

use karat_core::facts::Digest;

use crate::kind::Kind;
use crate::log::{NoteError, ProofError};

/// The reason why a store could not do something.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Items of the batch cannot be accepted, and none of the batch was.
    #[error("{}", listed(.0))]
    Refused(Vec<Refusal>),
    /// The queue is full. Nothing was accepted; the same may be tried again later.
    #[error("the store has too much to write at the moment; try again later")]
    Busy,
    /// The store was stopped. Nothing was accepted.
    #[error("the store was stopped")]
    Stopped,
    /// There is no store at that place.
    #[error("there is no store at `{}`", .0.display())]
    Missing(PathBuf),
    /// There is something already where a store should be created.
    #[error("`{}` exists already; a new store needs a name that is free", .0.display())]
    Exists(PathBuf),
    /// Another process has the store open for writing.
    #[error("another process has `{}` open for writing; stop it first, or use another file", .0.display())]
    Locked(PathBuf),
    /// The file is something else than a store.
    #[error("`{}` is not a store of karat", .0.display())]
    Foreign(PathBuf),
    /// The store was written by a newer version.
    #[error("`{}` has the schema {found}, and this version knows those up to {known}; use a newer version", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its schema.
        found: i64,
        /// The newest version that is known here.
        known: i64,
    },
    /// The store was written by an older version, and cannot be read before a writer carried it over.
    #[error("`{}` was written by an older version; start `karat serve` with its folder once, which carries it over", .0.display())]
    Older(PathBuf),
    /// The file or its folder cannot be written.
    #[error("`{}` cannot be written; check the permissions of file and folder", .0.display())]
    ReadOnly(PathBuf),
    /// No space is left on the disk of that file. Nothing was accepted.
    #[error("no space is left for `{}`; nothing was stored, free some and try again", .0.display())]
    Full(PathBuf),
    /// The store contradicts itself.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// Another writer went on from the same head. Nothing was accepted.
    #[error("another writer went on from the same head: expected {expected} entries, found {found}")]
    Overtaken {
        /// The size that this writer went on from.
        expected: u64,
        /// The size that the store has.
        found: u64,
    },
    /// A key is wrong, or the head of the log is not signed with it.
    #[error(transparent)]
    Key(#[from] NoteError),
    /// The log goes on with another key, this one.
    #[error("the log goes on with another key, `{0}`; the one given signs nothing more")]
    KeyReplaced(String),
    /// There is no such proof.
    #[error(transparent)]
    Proof(ProofError),
    /// A file or its system failed otherwise.
    #[error("{0}")]
    Failed(String),
}

impl From<ProofError> for Error {
    fn from(error: ProofError) -> Self {
        match error {
            ProofError::TileTooShort(_) => Self::Damaged(error.to_string()),
            error => Self::Proof(error),
        }
    }
}

/// Returns the first refusals, and how many more there are.
fn listed(refusals: &[Refusal]) -> String {
    const LISTED: usize = 20;
    let shown: Vec<String> = refusals.iter().take(LISTED).map(ToString::to_string).collect();
    let more = match refusals.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    shown.join("; ") + &more
}

/// The reason why one item of a batch cannot be accepted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("item {}, {kind} `{}`: {problem}", .place + 1, .id.escape_debug())]
pub struct Refusal {
    /// Its place in the batch, from 0.
    pub place: usize,
    /// Its kind.
    pub kind: Kind,
    /// Its id.
    pub id: String,
    /// The problem.
    pub problem: Problem,
}

/// A problem with an item.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// A member breaks a limit.
    #[error("{0}")]
    Malformed(String),
    /// The id is taken by another item.
    #[error(
        "the id is taken by an item with another {member}: stored is {stored}, given was {given}; \
                 to correct it, send a new id that replaces it"
    )]
    Conflict {
        /// The member that differs.
        member: &'static str,
        /// The digest of the content that is stored.
        stored: Digest,
        /// The digest of the content that was given.
        given: Digest,
    },
    /// The follower of the store did not admit it, when its turn came.
    #[error("{detail}")]
    Denied {
        /// The name of the reason, for programs.
        code: &'static str,
        /// The reason.
        detail: String,
    },
    /// The item that it should replace is not there.
    #[error("it replaces `{}`, which is not there", .0.escape_debug())]
    NothingToReplace(String),
    /// The item that it should replace was replaced before.
    #[error("it replaces `{}`, which `{}` replaced before; replace that one", .old.escape_debug(), .by.escape_debug())]
    ReplacedBefore {
        /// The item.
        old: String,
        /// The item that replaced it.
        by: String,
    },
}
