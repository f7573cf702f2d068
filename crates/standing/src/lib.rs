//! Standing: from the scores of one subject over time, and of many subjects at one time, to what people act on.
//!
//! Everything here is a pure function or a value: state and event in, next state out. Sums are taken in
//! whole numbers, so any partition of the same events gives the same bits.
//!
//! Moments are seconds since 1970-01-01T00:00:00Z, a week is 604,800 of them. Readings, coverage and confidence are whole
//! billionths, points are on the card's published scale. Every number that a document leaves open is a setting, whose
//! `Default` is the choice of this engine.
//!
//! | of | where |
//! |---|---|
//! | a subject over time | [`rolling`] means, [`decay`] by age |
//! | what may be acted on | [`review`] of swings, [`tiers`] and the security [`gate`], [`confidence`], [`certification`] over time |
//! | many subjects | [`shares`] that sum to 1 below a cap |
//! | all of it, under the section `[standing]` of a card | [`stand`] |
//! | what subjects are measured by | [`overrides`] of weights, [`calibration`] of difficulty, the [`lifecycle`] of tasks; both by [`stand::tasks()`] |

#![no_std]
#![warn(unreachable_pub)]
extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod calibration;
pub mod certification;
pub mod confidence;
pub mod decay;
pub mod gate;
pub mod lifecycle;
pub mod overrides;
pub mod ratio;
pub mod review;
pub mod rolling;
pub mod shares;
pub mod stand;
pub mod tiers;
