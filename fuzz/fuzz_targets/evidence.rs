//! Any bytes are evidence of the kind that the first byte chooses, or are refused item by item.
#![no_main]

use karat_evidence::{Kind, Reader};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Some((&choice, evidence)) = bytes.split_first() else { return };
    let Some(&kind) = Kind::ALL.get(usize::from(choice) % Kind::ALL.len()) else { return };
    for item in Reader::new(kind, evidence) {
        if let Err(refusal) = item {
            assert!(!refusal.to_string().is_empty(), "refused without a word");
        }
    }
});
