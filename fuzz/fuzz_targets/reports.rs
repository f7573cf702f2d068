//! See `targets/reports.rs`.
#![no_main]

#[path = "../targets/reports.rs"]
mod reports;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| reports::check(bytes));
