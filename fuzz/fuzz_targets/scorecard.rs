//! See `targets/scorecard.rs`.
#![no_main]

#[path = "../targets/scorecard.rs"]
mod scorecard;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| scorecard::check(bytes));
