//! The pure scoring engine of karat: a checked scorecard, facts and a moment in, a score record out.
#![no_std]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod check;
pub mod diagnostic;
pub mod facts;
pub mod formula;
pub mod json;
pub mod number;
pub mod record;
pub mod scorecard;
pub mod weights;
