//! Submissions that are modules of WebAssembly.

use std::collections::BTreeMap;

use karat_graders::execution::{Job, Task, Verdict};
use karat_judge::EngineKind;
use serde_json::json;

use crate::support::*;

/// Reads up to 64 bytes and writes them.
const ECHO: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\64\00\00\00\40\00\00\00")
  (func (export "_start")
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 4)))
    (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))))"#;

/// Calls itself as often as the first byte of the input says, times 65536.
const DEEP: &str = r#"(module
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "\64\00\00\00\01\00\00\00")
  (func $deep (param i32) (result i32)
    (if (result i32) (i32.eqz (local.get 0))
      (then (i32.const 0))
      (else (i32.add (i32.const 1) (call $deep (i32.sub (local.get 0) (i32.const 1)))))))
  (func (export "_start")
    (drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))
    (drop (call $deep (i32.mul (i32.load8_u (i32.const 100)) (i32.const 65536))))))"#;

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = bytes.chunks(3).map(|group| {
        let word =
            group.iter().fold(0_u32, |word, byte| word << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        let digit = |at: usize| match at > group.len() {
            true => '=',
            false => char::from(DIGITS[(word >> (18 - 6 * at)) as usize & 63]),
        };
        (0..4).map(digit).collect::<String>()
    });
    groups.collect()
}

pub fn wasm(module: &[u8], cases: &[(&str, &str)]) -> Job {
    let cases = cases.iter().enumerate();
    let cases = cases.map(|(at, (stdin, out))| case(&at.to_string(), program(stdin), json!(out))).collect();
    Job {
        runtime: "wasm".to_owned(),
        files: BTreeMap::from([("program.wasm".to_owned(), base64(module))]),
        ..job("", cases)
    }
}

fn text(module: &str) -> Vec<u8> {
    wat::parse_str(module).unwrap()
}

/// Verdict and reason of one run, which both engines must agree on.
fn verdict(module: &[u8], stdin: &str, out: &str) -> (Verdict, Option<String>, u64) {
    let job = wasm(module, &[(stdin, out)]);
    let first = cranelift().judge(&job).unwrap();
    assert_eq!(first, judge(EngineKind::Pulley).judge(&job).unwrap());
    let [case] = cases_of(&first) else { panic!() };
    (case.verdict, case.reason.clone(), case.fuel)
}

#[test]
fn programs_read_and_write() {
    let echo = text(ECHO);
    // The part that is written has 64 bytes, so the rest of them is zero.
    let (verdict_, reason, _) = verdict(&echo, &"x".repeat(64), &"x".repeat(64));
    assert_eq!((verdict_, reason), (Verdict::Pass, None));
    assert_eq!(verdict(&echo, &"x".repeat(64), &"y".repeat(64)).1.as_deref(), Some("different"));
}

#[test]
fn depth_of_calls_is_counted_exactly() {
    let deep = text(DEEP);
    let (at, _, _) = verdict(&deep, "\u{1}", "");
    assert_eq!(at, Verdict::Pass);
    let (at, reason, fuel) = verdict(&deep, "\u{7f}", "");
    assert_eq!((at, reason.as_deref()), (Verdict::Fail, Some("limit:stack")));
    assert!(fuel > 1_000_000);
    // Two functions with other locals and operands, and a call through a table.
    let table = r#"(module (memory (export "memory") 1) (table 1 funcref) (elem (i32.const 0) $f)
        (func $f (local i64 i64 v128) (call_indirect (i32.const 0)))
        (func (export "_start") (call $f)))"#;
    assert_eq!(verdict(&text(table), "", "").1.as_deref(), Some("limit:stack"));
}

#[test]
fn what_a_module_does_to_end_itself() {
    let body = |body: &str| {
        format!(
            r#"(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
            (memory (export "memory") 1) (func (export "_start") {body}))"#
        )
    };
    for (code, reason) in [
        ("(call $exit (i32.const 0))", None),
        ("(call $exit (i32.const 3))", Some("exit: 1")),
        ("unreachable", Some("trap: unreachable")),
        ("(drop (i32.div_s (i32.const 1) (i32.const 0)))", Some("trap: arithmetic")),
        ("(drop (i32.load (i32.const -1)))", Some("trap: memory")),
        ("(loop (br 0))", Some("limit:fuel")),
        ("(loop (memory.fill (i32.const 0) (i32.const 1) (i32.const 65536)) (br 0))", Some("limit:fuel")),
        (
            "(if (i32.eq (memory.grow (i32.const 2000)) (i32.const -1)) (then unreachable))",
            Some("limit:memory"),
        ),
        (
            "(drop (call $write (i32.const 1) (i32.const -8) (i32.const 1) (i32.const 0)))",
            Some("trap: memory"),
        ),
        (
            "(i32.store (i32.const 4) (i32.const 60000)) (loop
             (drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8))) (br 0))",
            Some("limit:output"),
        ),
        (
            "(i32.store (i32.const 4) (i32.const 60000)) (loop
             (drop (call $write (i32.const 2) (i32.const 0) (i32.const 1) (i32.const 8))) (br 0))",
            Some("limit:fuel"),
        ),
    ] {
        let (verdict, found, _) = verdict(&text(&body(code)), "", "");
        assert_eq!(found.as_deref(), reason, "{code}");
        assert_eq!(verdict == Verdict::Pass, reason.is_none());
    }
}

#[test]
fn fuel_of_modules_is_exact() {
    let loops = text(
        r#"(module (memory (export "memory") 1) (func (export "_start") (local i32)
        (loop (local.set 0 (i32.add (local.get 0) (i32.const 1))) (br_if 0 (i32.lt_u (local.get 0) (i32.const 1000))))))"#,
    );
    let mut job = wasm(&loops, &[("", "")]);
    let fuel = one(&job).fuel;
    job.limits.fuel = fuel;
    assert_eq!(one(&job).verdict, Verdict::Pass);
    job.limits.fuel = fuel - 1;
    assert_eq!(one(&job).reason.as_deref(), Some("limit:fuel"));
}

#[test]
fn what_is_no_program_fails_its_cases() {
    for (module, reason) in [
        (b"hello".to_vec(), "no WebAssembly module"),
        (text("(module (func))"), "trap: no `_start`"),
        (
            text(r#"(module (import "env" "secret" (func)) (func (export "_start")))"#),
            "imports what no judge offers",
        ),
        (text(r#"(module (memory (export "memory") 60000) (func (export "_start")))"#), "limit:memory"),
        (text(r#"(module (memory 1 1 shared) (func (export "_start")))"#), "no WebAssembly module"),
        (text(r#"(module (func $f (loop (br 0))) (start $f) (func (export "_start")))"#), "limit:fuel"),
        (vec![0; 5 << 20], "module too large"),
    ] {
        let report = one(&wasm(&module, &[("", "x")]));
        assert_eq!((report.verdict, report.reason.as_deref()), (Verdict::Fail, Some(reason)));
    }
}

/// Modules that keep a compiler busy, by a number that says how much.
fn slow_to_compile(what: &str, count: usize) -> String {
    let many = |text: &str, count: usize| text.repeat(count);
    let body = match what {
        // Values that are joined at the head of every loop around.
        "loops" => format!(
            "(local i32 {}) {} {} {}",
            many("i64 ", 100),
            many("loop ", count),
            (1..=100)
                .map(|n| format!("(local.set {n} (i64.add (local.get {n}) (i64.const 1)))"))
                .collect::<String>(),
            many("(br_if 0 (local.get 0)) end ", count)
        ),
        // Values that live across many blocks.
        "branches" => format!(
            "(local i32 {}) {} {}",
            many("i64 ", 100),
            (0..count)
                .map(|n| format!("(if (local.get 0) (then (local.set {} (i64.const 1))))", 1 + n % 100))
                .collect::<String>(),
            (1..=100).map(|n| format!("(drop (local.get {n}))")).collect::<String>()
        ),
        "nesting" => format!("(local i32) {} {}", many("(if (local.get 0) (then ", count), many("))", count)),
        "handed over" => {
            format!("{} {} {}", many("i32.const 0 ", 500), many("call $many ", count), many("drop ", 500))
        }
        "carried along" => format!(
            "{} {} {} {}",
            many("i32.const 0 ", 500),
            many("loop (type $many) ", count),
            many("i32.const 0 br_if 0 end ", count),
            many("drop ", 500)
        ),
        _ => String::new(),
    };
    let functions = match what {
        "locals" => format!("(func (local {}))", many("i64 ", 40_000)).repeat(count),
        "functions" => many("(func)", count),
        "signatures" => many("(type (func (param i64 i64)))", count),
        _ => String::new(),
    };
    let list = many("i32 ", 500);
    format!(
        "(module (type $many (func (param {list}) (result {list})))
        (func $many (type $many) {}) {functions} (func (export \"_start\") {body}))",
        (0..500).map(|n| format!("(local.get {n})")).collect::<String>()
    )
}

#[test]
fn what_would_take_long_to_compile_is_too_large_on_every_machine() {
    for (what, fits, too_many) in [
        ("loops", 10, 600),
        ("branches", 500, 20_000),
        ("nesting", 500, 60_000),
        ("handed over", 5, 3_000),
        ("carried along", 10, 900),
        ("locals", 2, 3_000),
        ("functions", 1_000, 200_000),
        ("signatures", 1_000, 900_000),
    ] {
        let reason = |count: usize| one(&wasm(&text(&slow_to_compile(what, count)), &[("", "x")])).reason;
        assert_eq!(reason(fits).as_deref(), Some("no output"), "{what}");
        assert_eq!(reason(too_many).as_deref(), Some("module too large"), "{what}");
    }
}

#[test]
fn a_challenge_cannot_call_a_module() {
    let mut job = wasm(&text(ECHO), &[]);
    job.tasks = vec![
        Task::Cases { file: "cases.toml".to_owned(), cases: vec![case("sum", call(&[json!(1)]), json!(1))] },
        Task::Suite { file: "tests.py".to_owned(), source: String::new() },
    ];
    let faults = refused(&job);
    assert_eq!(faults.len(), 2);
    assert!(
        faults[0].starts_with("cases.toml, case `sum`: a call of `solve`; `stdin` and `expect_stdout`"),
        "{faults:?}"
    );
}

#[test]
fn all_tables_of_a_module_share_their_elements() {
    // Each returns what the last table answers: its old size, or that it may not grow.
    let grown = |tables: usize, elements: usize| {
        let tables_: String = (0..tables).map(|at| format!("(table $t{at} 0 funcref)")).collect();
        let grow: String = (0..tables)
            .map(|at| format!("(local.set 0 (table.grow $t{at} (ref.null func) (i32.const {elements})))"))
            .collect();
        let module = format!(
            r#"(module (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
            (memory (export "memory") 1) {tables_}
            (func (export "_start") (local i32) {grow} (call $exit (local.get 0))))"#
        );
        verdict(&text(&module), "", "").1
    };
    assert_eq!(grown(1, 1 << 20), None);
    assert_eq!(grown(1, (1 << 20) + 1).as_deref(), Some("exit: 1"));
    assert_eq!(grown(64, 1 << 14), None);
    assert_eq!(grown(65, 1 << 14).as_deref(), Some("exit: 1"));
}

/// Values that an optimiser would keep from before a call until after it are not in the frame: it would be a hundred times as
/// large as it counts, and the stack would end elsewhere in each engine, and on each machine.
#[test]
fn what_is_computed_again_takes_no_place_in_frames() {
    let sums = |from: u64| -> String {
        let sum = |at: u64| {
            format!(
                "(local.set 2 (i64.xor (local.get 2) (i64.mul (local.get 1) (i64.const {}))))",
                2 * at + from
            )
        };
        (1_000_000..1_001_500).map(sum).collect()
    };
    let deep = "(call $f (i32.sub (local.get 0) (i32.const 1)) (i64.add (local.get 1) (i64.const 1)))";
    let module = |before: &str, after: &str, times: u32| {
        text(&format!(
            r#"(module
              (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
              (memory (export "memory") 1)
              (func $f (param i32 i64) (local i64)
                {before}
                (if (i32.eqz (local.get 0)) (then (call $exit (i32.const 0))))
                (loop {deep} {after} (br_if 0 (i64.eq (local.get 2) (i64.const 7)))))
              (func (export "_start") (call $f (i32.const {times}) (i64.const 3))))"#
        ))
    };
    for (before, after, times) in [(String::new(), sums(1), 100_000), (sums(1), sums(1), 14_000)] {
        let job = wasm(&module(&before, &after, times), &[("", "")]);
        let mut job = job;
        job.limits.fuel = 1_000_000_000;
        let reports =
            [EngineKind::Cranelift, EngineKind::Pulley].map(|engine| judge(engine).judge(&job).unwrap());
        assert_eq!(reports[0], reports[1]);
        assert_eq!(cases_of(&reports[0])[0].reason, None, "{times}");
    }
}
