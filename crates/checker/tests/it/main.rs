//! Promises of the core: findings on cards, laws of every score, the second implementation.

mod advice;
mod common;
mod diagnostics;
mod explain;
mod model;
mod properties;
mod rules;
mod steep;
mod top;
mod traps;
