//! The pure scoring engine of karat: a checked scorecard, facts and a moment in, a score record out.
#![no_std]
extern crate alloc;

pub mod facts;
pub mod json;
