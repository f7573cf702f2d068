//! The type checker for rules.

pub mod range;
