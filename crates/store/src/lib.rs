//! Keeps evidence, records, scorecards, matches, reviews and keys, append-only, and proves what it kept.
//!
//! Everything that is stored is an **item**: a kind, an id, bytes, and what the item is about, was made from and corrects.
//! Items are never changed; a correction is a new item that names the old one. The **entry** of an item has the same
//! fields, with the digest of the bytes in their place, and is a leaf of a **Merkle log**. So a signed head of a few
//! hundred bytes represents the whole store, and a **receipt** shows anyone, offline, that an item is part of it.
//!
//! ```
//! use std::sync::Arc;
//! use karat_store::log::Signer;
//! use karat_store::memory::Memory;
//! use karat_core::timestamp::Timestamp;
//! use karat_store::{Kind, Limits, NewItem, Receipt, Store};
//!
//! // Secret bytes and moments come from the caller: nothing here draws a random number or reads a clock.
//! let signer = Signer::new("scores.example.org/main", &[7; 32])?;
//! let store = Store::open(Arc::new(Memory::new()), signer, Limits::default())?;
//! let item = NewItem {
//!     kind: Kind::Evidence,
//!     id: String::from("run-1"),
//!     subject: Some(String::from("agent-a")),
//!     sources: Vec::new(),
//!     replaces: None,
//!     sender: None,
//!     content: br#"{"steps":3}"#.to_vec(),
//! };
//! let accepted = store.append(Timestamp { milliseconds: 1_763_700_000_000 }, vec![item.clone()])?;
//! assert!(!accepted[0].repeated);
//! // The same again is accepted, and changes nothing.
//! assert!(store.append(Timestamp { milliseconds: 1_763_700_000_001 }, vec![item])?[0].repeated);
//!
//! let receipt = store.reader()?.receipt(accepted[0].position)?.to_json();
//! let receipt = Receipt::parse(&receipt)?;
//! assert!(receipt.verify(store.verifying_key()).holds());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An answer of [`Store::append`] means that the item would outlive a loss of power. One thread writes, and commits
//! together all that arrived while it was writing, so that many writers share one sync.
//!
//! The layers, from the bottom: [`log`] (trees, proofs, notes; no input or output), [`port`] (what a database must do),
//! [`memory`] and [`sqlite`] (two that do), [`Store`] and [`Reader`] (what rows mean), [`audit`] and [`Receipt`]
//! (checks that all is unchanged), [`follow`] (that a log elsewhere only grew). The reasons are in
//! `docs/decisions/0012-store.md` and `0026-witnesses-and-rotation.md`, the formats in
//! `docs/guide/receipt.md`.

mod audit;
mod error;
pub mod follow;
mod item;
mod kind;
pub mod log;
mod members;
pub mod memory;
pub mod port;
mod reader;
mod receipt;
pub mod secret;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod store;
mod writer;

pub use audit::{Audit, audit, audit_watched};
pub use error::{Error, Problem, Refusal};
pub use item::{CONTENT_MAX_BYTES, Entry, NAME_MAX_BYTES, NewItem, SOURCES_MAX, Term};
pub use kind::{ItemKind, Kind};
pub use reader::{Item, Reader};
pub use receipt::{Receipt, Verification};
pub use store::{Store, rotate};
pub use writer::{Accepted, Follow, Limits, Outcome};
