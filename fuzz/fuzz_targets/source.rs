//! See `targets/source.rs`.
#![no_main]

#[path = "../targets/source.rs"]
mod source;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| source::check(bytes));
