//! Intervals and gates on simulated data, whose truth is known.

mod coverage;
mod gate;
mod style;
