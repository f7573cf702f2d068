//! The pure scoring engine of karat: a checked scorecard, facts and a moment in, a score record out.
#![no_std]
#![warn(unreachable_pub)]
extern crate alloc;
#[cfg(test)]
extern crate std;

#[macro_use]
pub mod words;

mod bounds;
mod breakdown;
pub mod decay;
pub mod diagnostic;
mod digest;
pub mod evaluate;
pub mod explain;
pub mod facts;
mod facts_check;
pub mod formula;
pub mod json;
pub mod mean;
pub mod number;
pub mod outcome;
mod plan;
pub mod range;
pub mod record;
pub mod scorecard;
mod scorer;
mod shares;
pub mod sql;
pub mod timestamp;
pub mod weights;
