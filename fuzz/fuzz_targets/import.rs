//! See `targets/import.rs`.
#![no_main]

#[path = "../targets/import.rs"]
mod import;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| import::check(bytes));
