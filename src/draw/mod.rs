//! Drawings of a screen in block characters: a bar, and an estimate with its interval.

pub(crate) mod bar;
pub(crate) mod interval;
