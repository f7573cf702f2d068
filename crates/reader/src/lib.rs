//! Readers that turn evidence about AI agents into facts.
//!
//! An evidence item is one JSON object (or one row of a CSV table). A [`Reader`] checks it against the schema of its
//! [`Kind`], takes out the facts that a scorecard declares, and digests its canonical form.
//!
//! ```
//! use karat_reader::{FactType, Kind, Reader, ReaderOptions};
//! use karat_core::facts::Fact;
//!
//! let wanted = [("solved".to_owned(), FactType::Number), ("escalated".to_owned(), FactType::Boolean)];
//! let mut reader = Reader::new(Kind::Facts, &wanted, ReaderOptions::default()).unwrap();
//!
//! let evidence = reader.read(br#"{"subject": "bot-7", "solved": 12, "note": "by hand"}"#).unwrap();
//! let item = evidence.item();
//! assert_eq!(item.subject, "bot-7");
//! assert_eq!(item.facts, [Fact::Number(12.0), Fact::Missing]);
//! drop(evidence);
//! assert_eq!(reader.unknown_fields().collect::<Vec<_>>(), [("$.note", 1)]);
//! ```
//!
//! **Missing.** A `null` means a value that is not known, like a field that is left out; only a reasoning trace,
//! whose published schema is strict, refuses it.
//!
//! **Identity.** The subject is the first field that names one (the kinds say which), else the item's own id; an item
//! with neither is refused. An item without an id has the name that the caller gives it, such as its file and
//! line; without a name, its digest.

mod graders;
mod kind;
mod kinds;
mod reader;
mod vocabulary;

pub use graders::{Graders, HandedVector, Watch};
pub use kind::Kind;
pub use kinds::arena_match::finalize_breakdown;
pub use kinds::reasoning_trace::{embedding_text, trace_vector};
pub use kinds::workflow_submission::{Call, RunTask, Submission};
pub use reader::{Evidence, Reader, ReaderOptions, UnknownFact};
pub use vocabulary::{FactSpec, FactType};
