//! Errors, in words for the person who must act.

use std::fmt;
use std::path::PathBuf;

use karat_core::facts::Digest;

use crate::kind::Kind;
use crate::log::{NoteError, ProofError};

/// The reason why a store could not do something.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Items of the batch cannot be accepted, and none of the batch was.
    Refused(Vec<Refusal>),
    /// The queue is full. Nothing was accepted; the same may be tried again later.
    Busy,
    /// The store was stopped. Nothing was accepted.
    Stopped,
    /// There is no store at that place.
    Missing(PathBuf),
    /// There is something already where a store should be created.
    Exists(PathBuf),
    /// Another process has the store open for writing.
    Locked(PathBuf),
    /// The file is something else than a store.
    Foreign(PathBuf),
    /// The store was written by a newer version.
    Newer {
        /// The file.
        path: PathBuf,
        /// The version of its schema.
        found: i64,
        /// The newest version that is known here.
        known: i64,
    },
    /// The store was written by an older version, and cannot be read before a writer carried it over.
    Older(PathBuf),
    /// The file or its folder cannot be written.
    ReadOnly(PathBuf),
    /// No space is left on the disk of that file. Nothing was accepted.
    Full(PathBuf),
    /// The store contradicts itself.
    Damaged(String),
    /// Another writer went on from the same head. Nothing was accepted.
    Overtaken {
        /// The size that this writer went on from.
        expected: u64,
        /// The size that the store has.
        found: u64,
    },
    /// A key is wrong, or the head of the log is not signed with it.
    Key(NoteError),
    /// The log goes on with another key, this one.
    KeyReplaced(String),
    /// There is no such proof.
    Proof(ProofError),
    /// A file or its system failed otherwise.
    Failed(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(refusals) => {
                const LISTED: usize = 20;
                for (place, refusal) in refusals.iter().take(LISTED).enumerate() {
                    write!(f, "{}{refusal}", if place > 0 { "; " } else { "" })?;
                }
                match refusals.len().saturating_sub(LISTED) {
                    0 => Ok(()),
                    more => write!(f, "; and {more} more"),
                }
            }
            Self::Busy => f.write_str("the store has too much to write at the moment; try again later"),
            Self::Stopped => f.write_str("the store was stopped"),
            Self::Missing(path) => write!(f, "there is no store at `{}`", path.display()),
            Self::Exists(path) => {
                write!(f, "`{}` exists already; a new store needs a name that is free", path.display())
            }
            Self::Locked(path) => write!(
                f,
                "another process has `{}` open for writing; stop it first, or use another file",
                path.display()
            ),
            Self::Foreign(path) => write!(f, "`{}` is not a store of karat", path.display()),
            Self::Newer { path, found, known } => write!(
                f,
                "`{}` has the schema {found}, and this version knows those up to {known}; use a newer version",
                path.display()
            ),
            Self::Older(path) => write!(
                f,
                "`{}` was written by an older version; start `karat serve` with its folder once, which carries it over",
                path.display()
            ),
            Self::ReadOnly(path) => {
                write!(f, "`{}` cannot be written; check the permissions of file and folder", path.display())
            }
            Self::Full(path) => write!(
                f,
                "no space is left for `{}`; nothing was stored, free some and try again",
                path.display()
            ),
            Self::Damaged(what) => write!(f, "the store is damaged: {what}"),
            Self::Overtaken { expected, found } => write!(
                f,
                "another writer went on from the same head: expected {expected} entries, found {found}"
            ),
            Self::Key(error) => error.fmt(f),
            Self::KeyReplaced(new) => {
                write!(f, "the log goes on with another key, `{new}`; the one given signs nothing more")
            }
            Self::Proof(error) => error.fmt(f),
            Self::Failed(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {}

impl From<ProofError> for Error {
    fn from(error: ProofError) -> Self {
        match error {
            ProofError::TileTooShort(_) => Self::Damaged(error.to_string()),
            error => Self::Proof(error),
        }
    }
}

impl From<NoteError> for Error {
    fn from(error: NoteError) -> Self {
        Self::Key(error)
    }
}

/// The reason why one item of a batch cannot be accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
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

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "item {}, {} `{}`: {}", self.place + 1, self.kind, self.id.escape_debug(), self.problem)
    }
}

/// A problem with an item.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// A member breaks a limit.
    Malformed(String),
    /// The id is taken by another item.
    Conflict {
        /// The member that differs.
        member: &'static str,
        /// The digest of the content that is stored.
        stored: Digest,
        /// The digest of the content that was given.
        given: Digest,
    },
    /// The item that it should replace is not there.
    NothingToReplace(String),
    /// The item that it should replace was replaced before.
    ReplacedBefore {
        /// The item.
        old: String,
        /// The item that replaced it.
        by: String,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(what) => f.write_str(what),
            Self::Conflict { member, stored, given } => write!(
                f,
                "the id is taken by an item with another {member}: stored is {stored}, given was {given}; \
                 to correct it, send a new id that replaces it"
            ),
            Self::NothingToReplace(old) => {
                write!(f, "it replaces `{}`, which is not there", old.escape_debug())
            }
            Self::ReplacedBefore { old, by } => write!(
                f,
                "it replaces `{}`, which `{}` replaced before; replace that one",
                old.escape_debug(),
                by.escape_debug()
            ),
        }
    }
}
