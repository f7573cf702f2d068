//! See `targets/cache.rs`.
#![no_main]

#[path = "../targets/cache.rs"]
mod cache;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cache::check(bytes));
