//! Drawings of a screen in block characters: a bar, and an estimate with its interval.

pub mod bar;
pub mod interval;
