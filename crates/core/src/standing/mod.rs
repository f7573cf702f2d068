//! Standing: from the scores of one subject over time, and of many subjects at one time, to what people act on.
//!
//! Everything here is a pure function or a value that is handed on: state and event in, next state out. Sums are taken in
//! whole numbers, so any partition of the same events gives the same bits.
//!
//! Moments are seconds since 1970-01-01T00:00:00Z, a week is 604,800 of them. Readings are whole billionths.

pub mod calibration;
pub mod certification;
pub mod confidence;
pub mod decay;
pub mod lifecycle;
pub mod overrides;
pub mod ratio;
pub mod review;
pub mod rolling;
pub mod shares;
pub mod tiers;
pub mod window;
