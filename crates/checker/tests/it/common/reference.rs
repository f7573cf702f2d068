//! Runs the second implementation (`reference/`).

use std::io::Write;
use std::process::{Command, Stdio};

/// Returns the output of the second implementation.
pub fn model(arguments: &[&str], input: &str) -> String {
    let child = Command::new("python3")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../reference/model.py"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.unwrap_or_else(|error| panic!("python3, which runs the model: {error}"));
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_string();
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "the model failed: {arguments:?}");
    String::from_utf8(output.stdout).unwrap()
}
