//! What scored items say, alone and together, for the command line and the server alike: one piece of code, one answer.
//!
//! - alone: [`engine`] scores evidence item by item, [`record`] and [`recompute`] read a record back and compute it again,
//!   [`explanation`] lays it out, [`verification`] says what of it holds
//! - again: [`rescore`] puts a kept record beside what another card makes of it, and says why they differ
//! - together: [`rows`] are the scored items of many subjects, [`leaderboard`] has the leaderboards, pairs and stress tests
//!   made of them, [`standing`] the standing of each subject
//! - answered: [`answers`] are the types of all answers, written as JSON in one place
//! - shown: [`page`] draws HTML and SVG, [`pages`] says on pages what is found, [`card_words`] reads a scorecard out,
//!   [`number`] and [`estimate`] write numbers, [`text`] keeps names harmless, [`error`] says what is wrong
//!
//! Nothing here reads files or draws screens of a terminal. Only [`stopwatch`] looks at a clock, and no score depends on it.

pub mod answers;
pub mod card;
pub mod card_words;
pub mod cards;
pub mod engine;
pub mod error;
pub mod estimate;
pub mod explanation;
pub mod leaderboard;
pub mod number;
pub mod page;
pub mod pages;
pub mod recompute;
pub mod record;
pub mod renames;
pub mod rescore;
pub mod rows;
pub mod standing;
mod stopwatch;
pub mod text;
pub mod verification;
pub mod weights;
