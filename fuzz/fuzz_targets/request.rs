//! See `targets/request.rs`.
#![no_main]

#[path = "../targets/request.rs"]
mod request;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| request::check(bytes));
