//! karat turns the results of AI agents into scores that anyone can check: evidence in, records, explanations,
//! leaderboards and receipts out. It runs no agents, calls no model, and reads no clock.
//!
//! An [`Engine`] is a scorecard with everything that scoring takes. The program `karat`, its server and this library score
//! through it, so all of them give the same bytes.
//!
//! # Score one item
//!
//! ```
//! use karat::Engine;
//!
//! // A released scorecard, or the path of a file: `Engine::open("my-bot.toml")`.
//! let mut engine = Engine::open("workflow")?;
//! let record = engine.score(include_bytes!("../examples/workflow/worked-example.json"))?;
//! assert_eq!(record.document().score.unwrap().published, 0.84);
//! assert!(record.as_str().starts_with("{\"as_of\":null"));   // canonical JSON, the same on every machine
//! assert!(record.digest().to_string().starts_with("sha256:"));
//! # Ok::<(), karat::Error>(())
//! ```
//!
//! An item that cannot be scored is an [`Error`] with everything that is wrong, each with its place:
//!
//! ```
//! use karat::{Code, Engine};
//!
//! let error = Engine::open("arena").unwrap_err();
//! assert_eq!(error.code(), Code::Family);
//! assert!(error.hints()[0].contains("log-forensics@1.0.0"));
//! ```
//!
//! # A table, and a leaderboard of it
//!
//! ```
//! use karat::ask::{Floors, Items, Leaderboard};
//! use karat::gate::judge_leaderboard;
//! use karat::inputs::Silent;
//! use karat::loaded::Source;
//! use karat::standing::events::Events;
//! use karat::{CompiledCard, Inputs, Options};
//!
//! let card = CompiledCard::parse(include_str!("../examples/cards/task-run.toml"))?;
//! let inputs = Inputs::new(&[String::from("examples/leaderboard/runs.csv")])?;
//! let items = Items::default();
//! let source = Source::new(&items, Some((card.into(), Options::default())));
//! let mut rows = source.load(&inputs, &Silent)?.rows;
//!
//! let (ask, floors) = (Leaderboard::default(), Floors::default());
//! let answer = judge_leaderboard(&ask, &floors, &mut rows, &Events::default())?.answer;
//! let first = &answer.leaderboards[0].rows[0];
//! assert_eq!((first.subject.as_str(), first.tasks), ("ibis", 16));
//! assert!(first.score.low.unwrap() < first.score.mean && first.score.mean < first.score.high.unwrap());
//! println!("{}", karat::answers::write(&answer));           // what `karat leaderboard --json` prints
//! # Ok::<(), karat::Error>(())
//! ```
//!
//! # Explain a score
//!
//! ```
//! use karat::Engine;
//!
//! let mut engine = Engine::open("workflow")?;
//! let explanation = engine.explain(include_bytes!("../examples/workflow/worked-example.json"))?;
//! for row in &explanation.rows {
//!     println!("{}: {:+} makes {}", row.name, row.points, row.total);
//! }
//! assert_eq!(explanation.rows.last().unwrap().total, 0.84);
//! # Ok::<(), karat::Error>(())
//! ```
//!
//! # Verify a record and a receipt
//!
//! ```
//! use karat::receipt::TrustedKeys;
//! use karat::{Receipt, Record, VerificationStatus, VerifyingKey};
//!
//! let receipt = Receipt::parse(include_bytes!("../examples/receipt/receipt.json"))?;
//! let key: VerifyingKey = include_str!("../examples/receipt/log.key").trim().parse()?;
//! // The log signed it, and nothing was changed since.
//! let checks = karat::receipt::checks(&receipt, &TrustedKeys::new(Some(key)));
//! assert_eq!(karat::verification::status(&checks), VerificationStatus::Verified);
//! // The score follows from the facts in the record.
//! let record = Record::parse(receipt.content.as_bytes())?.expect("the receipt is of a record");
//! assert_eq!(karat::verify(&record).0, VerificationStatus::Verified);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is where
//!
//! - One item: [`engine`], [`card`] (scorecards, compiled), [`record`], [`error`]; [`recompute`] and [`verification`] compute
//!   a record again; [`rescore`] puts a kept record beside what another scorecard gives.
//! - Many items: [`inputs`] finds and reads them, [`loaded`] scores them; [`rows`], [`leaderboard`], [`standing`]; [`project`] has
//!   those of a `karat.toml`, and [`gate`] judges them.
//! - Answers: [`answers`] has one type for each, written as JSON in one place; with the feature `schema` each has an OpenAPI
//!   schema. [`document`] turns each into one document, and [`write`](mod@write) writes it: a screen, a page, Markdown, CSV, JSON lines, JUnit,
//!   annotations.
//! - Words and numbers for people: [`text`]; names that differ by little in [`look_alikes`].
//!
//! Layers below, for special needs: `karat-core` (the pure engine, `no_std`), `karat-stats` (intervals, ranks, ratings),
//! `karat-standing`, `karat-evidence` (readers and graders), `karat-store` (the log and its proofs).

#[cfg(test)]
extern crate self as karat;

pub mod answers;
pub mod ask;
pub mod badge;
pub mod bulk;
pub mod card;
pub mod cards;
pub mod columns;
mod direction;
pub mod document;
mod draw;
pub mod engine;
pub mod error;
mod estimate;
pub mod examples;
pub mod explanation;
pub mod export;
pub mod gate;
pub mod headline;
pub mod init;
pub mod inputs;
pub mod json;
pub mod leaderboard;
pub mod loaded;
pub mod look_alikes;
mod names;
mod number;
pub mod origin;
pub mod project;
pub mod question;
pub mod ratings;
pub mod receipt;
pub mod recompute;
pub mod record;
mod renames;
pub mod rescore;
pub mod rows;
#[cfg(feature = "schema")]
pub mod schema;
pub mod site;
pub mod sql;
pub mod standing;
mod stopwatch;
pub mod sums;
pub mod text;
pub mod trust;
pub mod tune;
pub mod verification;
mod weights;
mod words;
pub mod write;

pub use answers::VerificationStatus;
pub use card::CompiledCard;
pub use engine::{Engine, Options, Scored};
pub use error::{Code, Error, Place, Problem};
pub use inputs::Inputs;
pub use karat_core::timestamp::Timestamp;
pub use karat_evidence::source::Layout;
pub use karat_reader::Kind;
pub use karat_store::Receipt;
pub use karat_store::log::{VerifyingKey, WitnessKey};
pub use project::Project;
pub use record::{Record, RecordDocument};
pub use verification::verify;
