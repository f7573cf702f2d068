//! See `targets/graders.rs`; inputs are changed as JSON.
#![no_main]

#[path = "../targets/graders.rs"]
mod graders;
#[path = "../mutate.rs"]
mod mutate;

use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate::json(data, size, max_size, seed)
});

fuzz_target!(|bytes: &[u8]| graders::check(bytes));
