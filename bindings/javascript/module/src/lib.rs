//! WebAssembly modules for JavaScript, without generated bindings: texts in and out of two buffers, numbers as numbers.
//!
//! A caller asks [`input`] for room, writes there, calls a function, and reads [`length`] bytes at [`output`]. A function that
//! fails says so, and the output is then an error as JSON. Nothing here imports anything: no clock, no files, no randomness.

#![allow(unsafe_code, reason = "exports of a module, which JavaScript calls")]

use std::cell::RefCell;

use karat_store::Receipt;
use karat_store::log::VerifyingKey;

#[cfg(feature = "engine")]
mod engine;

#[derive(Default)]
struct Buffers {
    input: Vec<u8>,
    output: Vec<u8>,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> = RefCell::default();
}

/// Returns the place of `length` bytes of input. The memory may have grown: look at it afterwards.
#[unsafe(no_mangle)]
pub extern "C" fn input(length: usize) -> *mut u8 {
    BUFFERS.with_borrow_mut(|buffers| {
        buffers.input.clear();
        buffers.input.resize(length, 0);
        buffers.input.as_mut_ptr()
    })
}

/// Returns the place of the output of the last call.
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    BUFFERS.with_borrow(|buffers| buffers.output.as_ptr())
}

/// Returns the length of the output of the last call.
#[unsafe(no_mangle)]
pub extern "C" fn length() -> usize {
    BUFFERS.with_borrow(|buffers| buffers.output.len())
}

/// Calls `work` with the input and an empty output; returns what it says.
fn with<T>(work: impl FnOnce(&[u8], &mut Vec<u8>) -> T) -> T {
    BUFFERS.with_borrow_mut(|buffers| {
        buffers.output.clear();
        work(&buffers.input, &mut buffers.output)
    })
}

/// Checks a receipt, with the first `key` bytes of the input as the key of its log if there are any. The output has a line for
/// each check: `signature`, `inclusion`, `content`, `evidence`, in this order; empty if it holds, else why not. A signature
/// without a key is not checked, and its line begins with `?`. Returns the number of lines: if there is one, it says why it is not a receipt.
#[unsafe(no_mangle)]
pub extern "C" fn verify_receipt(key: usize) -> usize {
    with(|input, output| {
        let (key, receipt) = input.split_at(key.min(input.len()));
        let lines = match receipt_lines(key, receipt) {
            Ok(lines) => lines,
            Err(problem) => vec![problem],
        };
        for line in &lines {
            output.extend_from_slice(line.replace('\n', " ").as_bytes());
            output.push(b'\n');
        }
        lines.len()
    })
}

fn receipt_lines(key: &[u8], receipt: &[u8]) -> Result<Vec<String>, String> {
    let receipt = Receipt::parse(receipt)?;
    let text = std::str::from_utf8(key).map_err(|error| error.to_string())?.trim();
    let found = if text.is_empty() {
        receipt.verify_unsigned()
    } else {
        receipt.verify(&text.parse::<VerifyingKey>().map_err(|error| error.to_string())?)
    };
    let signature = match &found.checkpoint {
        Ok(_) if text.is_empty() => String::from("?"),
        Ok(_) => String::new(),
        Err(problem) => problem.clone(),
    };
    let others = [found.inclusion, found.content, found.evidence];
    Ok([signature].into_iter().chain(others.map(|other| other.err().unwrap_or_default())).collect())
}
