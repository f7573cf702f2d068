//! Standing: from the scores of one subject over time, and of many subjects at one time, to what people act on.
//!
//! Everything here is a pure function or a value that is handed on: state and event in, next state out. Sums are taken in
//! whole numbers, so any partition of the same events gives the same bits.
