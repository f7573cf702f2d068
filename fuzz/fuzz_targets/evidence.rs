//! See `targets/evidence.rs`.
#![no_main]

#[path = "../targets/evidence.rs"]
mod evidence;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| evidence::check(bytes));
