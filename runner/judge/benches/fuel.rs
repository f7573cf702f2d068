//! Seconds that a unit of fuel takes, of everything a module or a program in Python can have others do for it.
//!
//! `cargo bench --bench fuel [-- PART_OF_A_NAME]`; the runtimes come from `KARAT_RUNTIMES`. No line should take much
//! more than three times what an ordinary loop takes.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a program for people, which ends where it cannot go on"
)]

#[path = "../tests/shown/mod.rs"]
mod shown;
#[path = "../tests/work/mod.rs"]
mod work;

use std::collections::BTreeMap;
use std::time::Instant;

use karat_graders::execution::{Case, Compare, Limits, Run, Task, TaskReport};
use karat_judge::EngineKind;
use serde_json::json;

const LIMITS: Limits = Limits { fuel: 200_000_000, memory_mib: 256, output_kib: 1024 };

/// Programs in Python, each the body of an endless loop.
const PYTHON: &[(&str, &str)] = &[
    ("an ordinary loop", "n = n + 1"),
    ("looks at the clock", "time.time()"),
    ("sleeps", "time.sleep(1)"),
    ("memory that there is not", "attempt(lambda: bytearray(1 << 40))"),
    ("memory that is given back", "bytearray(20 << 20)"),
    ("random bytes", "os.urandom(1)"),
    ("many random bytes", "os.urandom(1 << 20)"),
    ("files", "attempt(lambda: os.stat('/x'))"),
    ("folders", "attempt(lambda: os.listdir('/'))"),
    ("standard error", "os.write(2, b'x')"),
    ("standard input", "os.read(0, 1)"),
    ("names of hosts", "attempt(lambda: socket.gethostbyname('x'))"),
    ("sockets", "attempt(lambda: socket.socket())"),
    ("waiting", "attempt(lambda: select.select([], [], [], 0.1))"),
];

fn measure(name: &str, runtime: &str, file: &str, code: String, run: Run) {
    let asked = std::env::args().nth(1).filter(|word| !word.starts_with("--")).unwrap_or_default();
    if !format!("{runtime} {name}").contains(&asked) {
        return;
    }
    let case = Case { name: "case".to_owned(), run, expect: json!("x"), compare: Compare::tokens() };
    let task = Task::Cases { file: "bench".to_owned(), cases: vec![case] };
    let job = shown::job(runtime, BTreeMap::from([(file.to_owned(), code)]), LIMITS, task);
    let begun = Instant::now();
    let report = shown::judge(EngineKind::Cranelift).judge(&job).unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    let Some(TaskReport::Cases { cases }) = report.results.first() else { panic!("no cases") };
    let (reason, fuel) = (cases[0].reason.as_deref().unwrap_or_default(), cases[0].fuel);
    println!("{:6.2} s {:6.2} ns a unit  {runtime}: {name} ({reason})", seconds, seconds * 1e9 / fuel as f64);
}

/// Goes all over 128 MiB, each time from what the last word says, which is 0: no cache holds that.
const LEAPS: &str = "(module (memory (export \"memory\") 2049)
  (func (export \"_start\") (local $n i32)
    (loop
      (i32.store (local.get $n) (i32.const 0))
      (local.set $n (i32.and (i32.const 0x7ffffff) (i32.add (i32.const 1013904223)
        (i32.mul (i32.const 1664525) (i32.add (local.get $n) (i32.load (local.get $n)))))))
      (br 0))))";

fn main() {
    let run = || Run::Program { stdin: String::new() };
    measure("loads the runtime", "python", "solution.py", "while True: pass".to_owned(), run());
    for (name, body) in PYTHON {
        let code = format!(
            "import os, select, socket, time\ndef attempt(f):\n try: f()\n except Exception: pass\n\
             n = 0\nwhile True:\n {body}\n"
        );
        measure(name, "python", "solution.py", code, run());
    }
    let leaps = ("leaps over a large memory".to_owned(), LEAPS.to_owned());
    for (name, module) in work::modules(0).into_iter().chain([leaps]) {
        let module = shown::base64(&wat::parse_str(&module).unwrap());
        measure(&name, "wasm", "program.wasm", module, run());
    }
}
