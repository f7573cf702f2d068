//! JavaScript: what a call returns, what a program prints, suites and scripts, and the same from both engines.

use std::collections::BTreeMap;

use karat_graders::execution::{Case, CaseReport, Job, Run, Task, TaskReport, Verdict};
use karat_judge::{EngineKind, JudgeError};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::cases::json_values;
use crate::support::*;

fn script(code: &str, cases: Vec<Case>) -> Job {
    files(&[("solution.js", code)], cases)
}

fn files(files: &[(&str, &str)], cases: Vec<Case>) -> Job {
    let files = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    Job { runtime: "javascript".to_owned(), files: BTreeMap::from_iter(files), ..job("", cases) }
}

fn told(report: &CaseReport) -> &str {
    report.reason.as_deref().unwrap_or("pass")
}

/// Judges what a function returns.
fn called(job: &Job, function: &str, expected: Value) -> CaseReport {
    let run = Run::Call { function: function.to_owned(), args: Vec::new() };
    let tasks = vec![Task::Cases { file: "c".to_owned(), cases: vec![case("case", run, expected)] }];
    one(&Job { tasks, ..job.clone() })
}

#[test]
fn a_function_is_found_however_it_is_handed_out() {
    for code in [
        "function solve() { return 3; }",
        "const solve = () => 3;",
        "let solve = async () => 3;",
        "class A {}\nvar solve = function () { return 3; };",
        "exports.solve = () => 3;",
        "module.exports = { solve() { return 3; } };",
        "module.exports = () => 3;",
        "export function solve() { return 3; }",
        "export default function solve() { return 3; }",
        "export default { solve: () => 3 };",
        "const solve = () => 3;\nexport { solve };",
        "const x = await Promise.resolve(3);\nexport const solve = () => x;",
        "import assert from 'node:assert';\nexport const solve = () => (assert.ok(true), 3);",
        "\u{feff}#!/usr/bin/env node\nfunction solve() { return 3; }",
        "globalThis.solve = () => 3;",
    ] {
        let report = one(&script(code, vec![case("case", call(&[]), json!(3))]));
        assert_eq!(told(&report), "pass", "{code}");
    }
}

#[test]
fn what_is_returned_crosses_as_json() {
    for (code, expected) in [
        ("null", json!(null)),
        ("[1, 'a', true, { b: [] }]", json!([1, "a", true, {"b": []}])),
        ("{ a: undefined, b: () => 1, c: 2 }", json!({"c": 2})),
        ("[undefined]", json!([null])),
        ("new Date(0)", json!("1970-01-01T00:00:00.000Z")),
        ("{ toJSON: () => 5 }", json!(5)),
        ("-0", json!(0)),
        ("2n ** 64n", json!(18_446_744_073_709_551_616.0)),
        ("[9007199254740993n]", json!([9_007_199_254_740_993_i64])),
        ("[5.019788819773818e+17, -1e21]", json!([5.019_788_819_773_818e17, -1e21])),
        ("Object.create({ a: 1 })", json!({})),
        ("new Proxy([1, 2], {})", json!([1, 2])),
        ("new Map([[1, 2]])", json!({})),
        ("'\\u0000\\u2028\u{1f600}'", json!("\0\u{2028}\u{1f600}")),
    ] {
        let report = one(&script(
            &format!("function solve() {{ return {code}; }}"),
            vec![case("case", call(&[]), expected)],
        ));
        assert_eq!(told(&report), "pass", "{code}");
    }
    let off = script("function solve() { return 9007199254740992n; }", Vec::new());
    assert_eq!(told(&called(&off, "solve", json!(9_007_199_254_740_993_i64))), "different");
}

#[test]
fn files_of_a_submission_find_each_other() {
    let whole = files(
        &[
            (
                "main.js",
                "import { two } from './lib/two.mjs';\nexport const solve = () => two + one();\nimport one from './one.cjs';",
            ),
            ("lib/two.mjs", "import { deep } from '../deep.js';\nexport const two = deep;"),
            ("deep.js", "exports.deep = require('./data.json').two;"),
            ("data.json", "{\"two\": 2}"),
            ("one.cjs", "module.exports = () => 1;"),
        ],
        Vec::new(),
    );
    assert_eq!(told(&called(&whole, "solve", json!(3))), "pass");
    assert_eq!(told(&called(&whole, "deep.deep.toFixed", json!("2"))), "pass");
    assert_eq!(told(&called(&whole, "nothing", json!(3))), "no such function");
    assert_eq!(told(&called(&whole, "one.nothing.more", json!(3))), "no such function");
    let two = files(&[("a.js", ""), ("b.js", "")], Vec::new());
    assert_eq!(told(&called(&two, "solve", json!(3))), "no such file");
    let lost = files(&[("solution.js", "require('./nothing')")], Vec::new());
    assert_eq!(told(&called(&lost, "solve", json!(3))), "exception: Error");
}

#[test]
fn programs_are_judged_by_what_they_print() {
    for (code, stdin, expected, reason) in [
        ("console.log(require('fs').readFileSync(0, 'utf8').length)", "äöü", "3", "pass"),
        (
            "import { readFileSync } from 'fs'; console.log(readFileSync('/dev/stdin').toString())",
            "a b",
            "a b",
            "pass",
        ),
        ("process.stdin.on('data', (text) => process.stdout.write(text.trim()))", " 6 ", "6", "pass"),
        (
            "let n = 0; require('readline').createInterface({ input: process.stdin }).on('line', (line) => (n += +line)).on('close', () => console.log(n))",
            "1\r\n2\n3",
            "6",
            "pass",
        ),
        (
            "import readline from 'node:readline'; for await (const line of readline.createInterface({ input: process.stdin })) console.log(+line + 1)",
            "1\n2\n",
            "2 3",
            "pass",
        ),
        ("for await (const text of process.stdin) console.log(text)", "6", "6", "pass"),
        (
            "setTimeout(() => console.log(2), 20); setTimeout(() => console.log(1), 10); console.log(0)",
            "",
            "0 1 2",
            "pass",
        ),
        (
            "let n = 0; const id = setInterval(() => { console.log(++n); if (n > 2) clearInterval(id); }, 1000)",
            "",
            "1 2 3",
            "pass",
        ),
        ("Promise.resolve().then(() => console.log(2)); console.log(1)", "", "1 2", "pass"),
        (
            "console.log([1, 'a', { b: [null] }], new Set([1]), '%d', -0)",
            "",
            "[ 1, 'a', { b: [ null ] } ] Set(1) { 1 } %d -0",
            "pass",
        ),
        ("console.log('%s of %d', 'a', 3, 4); console.error('x')", "", "a of 3 4", "pass"),
        ("console.log(6); process.exit()", "", "6", "pass"),
        ("console.log(6); process.exit(1)", "", "6", "exit: 1"),
        ("console.log(6); process.exitCode = 2", "", "6", "exit: 1"),
        ("console.log(6); null.x", "", "6", "exception: TypeError"),
        (
            "console.log(6); setTimeout(() => { throw new RangeError(); }, 1)",
            "",
            "6",
            "exception: RangeError",
        ),
        ("console.log(6); Promise.reject(1)", "", "6", "exception"),
        ("Promise.reject(1).catch(() => console.log(6))", "", "6", "pass"),
        ("console.log(7)", "", "6", "different"),
        (";", "", "6", "no output"),
        ("if (require.main === module) console.log(6)", "", "6", "pass"),
        ("JSON.parse('{')", "", "6", "exception: SyntaxError"),
        ("console.log(6); JSON.parse('{')", "", "6", "exception: SyntaxError"),
    ] {
        let report = one(&script(code, vec![case("case", program(stdin), json!(expected))]));
        assert_eq!(told(&report), reason, "{code}");
    }
}

#[test]
fn time_passes_only_by_waiting_and_chance_follows_the_seed() {
    let code = "async function solve() {\n\
        const begun = Date.now();\n\
        await new Promise((done) => setTimeout(done, 86_400_000));\n\
        return [new Date(begun).toISOString().slice(0, 10), Math.round((Date.now() - begun) / 1000)];\n}";
    let report = one(&script(code, vec![case("case", call(&[]), json!(["2026-01-01", 86_400]))]));
    assert_eq!(told(&report), "pass");
    let drawn = |seed: u64| {
        let tasks = vec![Task::Run { run: program("") }];
        let code = "console.log(Math.random(), crypto.randomUUID(), crypto.getRandomValues(new Uint8Array(4)).join())";
        let job = Job { seed, tasks, ..script(code, Vec::new()) };
        match cranelift().judge(&job).unwrap().results.pop() {
            Some(TaskReport::Run { output: Some(output), .. }) => output,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(drawn(5), drawn(5));
    assert_ne!(drawn(5), drawn(6));
    assert_ne!(drawn(u64::MAX), drawn(0));
}

const SUITE: &str = r#"
import { test, describe, it, beforeEach } from "node:test";
import assert from "node:assert/strict";
import { Stack, Empty, add, later, odd } from "./solution.js";

test("adds", () => assert.equal(add(2, 3), 5));
describe("a stack", () => {
  let stack;
  beforeEach(() => { stack = new Stack(); });
  it("has what was pushed", () => {
    stack.push(1);
    stack.push({ a: [2n, undefined, NaN, new Date(5)] });
    assert.equal(stack.size, 2);
    assert.deepEqual([...stack], [1, { a: [2n, undefined, NaN, new Date(5)] }]);
    assert.deepEqual(stack.pop(), { a: [2n, undefined, NaN, new Date(5)] });
    assert.ok(stack instanceof Stack);
  });
  it("is empty", () => {
    assert.throws(() => stack.pop(), Empty);
    assert.throws(() => stack.pop(), RangeError);
    assert.throws(() => stack.pop(), { name: "Empty", message: "nothing", code: 7 });
  });
});
test("later", async () => {
  assert.equal(await later(3), 6);
  await assert.rejects(later(-1), Empty);
});
test("odd", () => assert.deepEqual(odd(), new Map([["x", new Set([-0])]])));
test("same", () => { const a = new Stack(); assert.equal(a, a); });
test.skip("not now", () => {});
"#;

const SOLUTION: &str = r#"
export class Empty extends RangeError { name = "Empty"; constructor() { super("nothing"); this.code = 7; } }
export class Stack {
  #all = [];
  push(value) { this.#all.push(value); }
  pop() { if (!this.#all.length) throw new Empty(); return this.#all.pop(); }
  get size() { return this.#all.length; }
  *[Symbol.iterator]() { yield* this.#all; }
}
export const add = (a, b) => a + b;
export const later = async (n) => { await new Promise((done) => setTimeout(done, 5)); if (n < 0) throw new Empty(); return 2 * n; };
export const odd = () => new Map([["x", new Set([-0])]]);
"#;

fn suite(source: &str, code: &str) -> Job {
    let task = Task::Suite { file: "hidden.test.mjs".to_owned(), source: source.to_owned() };
    Job { tasks: vec![task], ..script(code, Vec::new()) }
}

#[test]
fn a_suite_asks_across() {
    for engine in [EngineKind::Cranelift, EngineKind::Pulley] {
        let report = judge(engine).judge(&suite(SUITE, SOLUTION)).unwrap();
        let found: Vec<_> = cases_of(&report).iter().map(|case| (case.name.as_str(), told(case))).collect();
        assert_eq!(
            found,
            [
                ("a stack > has what was pushed", "pass"),
                ("a stack > is empty", "pass"),
                ("adds", "pass"),
                ("later", "pass"),
                ("not now", "skipped"),
                ("odd", "pass"),
                // An object of the submission would say of itself that it is the same.
                ("same", "exception: TypeError"),
            ]
        );
    }
}

/// An object of the submission that is reckoned with or compared would answer for itself, and each time otherwise.
#[test]
fn an_object_of_the_submission_is_no_number_and_has_a_text() {
    let code = "export class Money { constructor(n) { this.n = n; } valueOf() { return this.n; } toString() { return `$${this.n}`; } }
        export const make = (n) => new Money(n);
        export const plain = () => ({ n: 3, all: [new Date(5), 7n] });";
    for (test, expected) in [
        ("assert.equal(String(make(3)), '$3')", "pass"),
        ("assert.equal(`${make(3)}`, '$3')", "pass"),
        ("assert.equal({ $3: 1 }[make(3)], 1)", "pass"),
        ("assert.equal(make(3).valueOf(), 3)", "pass"),
        ("assert.equal(make(3).n, 3)", "pass"),
        ("assert.equal(plain().n + 1, 4)", "pass"),
        ("assert.ok('n' in plain() && plain().all[0] < 6)", "pass"),
        ("assert.ok(make(3) > 2)", "exception: TypeError"),
        ("assert.ok(make(3) == 3)", "exception: TypeError"),
        ("assert.ok(Math.abs(make(3) - 3) < 1)", "exception: TypeError"),
        ("assert.equal(make(3) + 1, 4)", "exception: TypeError"),
        ("assert.equal(Number(make(3)), 3)", "exception: TypeError"),
        ("assert.ok(!isNaN(make(3)))", "exception: TypeError"),
        ("assert.equal(Math.max(make(3), 1), 3)", "exception: TypeError"),
        ("assert.deepEqual([make(4), make(3)].sort((a, b) => a - b).length, 2)", "exception: TypeError"),
        ("assert.ok('n' in make(3))", "exception: TypeError"),
        ("assert.ok('n' in Money)", "exception: TypeError"),
    ] {
        let source = format!(
            "import {{ test }} from 'node:test';\nimport assert from 'node:assert/strict';\n\
             import {{ Money, make, plain }} from './solution.js';\ntest('it', () => {test});"
        );
        let report = cranelift().judge(&suite(&source, code)).unwrap();
        assert_eq!(told(&cases_of(&report)[0]), expected, "{test}");
    }
}

#[test]
fn an_error_of_any_name_crosses() {
    let source = "import { test } from 'node:test';\nimport assert from 'node:assert/strict';\n\
        import { stop } from './solution.js';\ntest('it', () => assert.throws(stop, { name: 'StopIteration', message: 'so' }));";
    let code = "export class StopIteration extends Error { name = 'StopIteration'; }\n\
        export const stop = () => { throw new StopIteration('so'); };";
    assert_eq!(told(&cases_of(&cranelift().judge(&suite(source, code)).unwrap())[0]), "pass");
}

#[test]
fn a_broken_suite_is_refused_with_its_place() {
    for (source, found, place) in [
        ("import { test } from 'node:test';\n\ntest(", "SyntaxError", "line 3"),
        ("import { test } from 'node:test';\nnull.x;", "TypeError", "line 2"),
        ("import { add } from './solution.js';\nadd(1);", "while the suite is loaded", "line 2"),
        ("import * as all from './solution.js';", "each name of the submission by itself", "the whole file"),
        ("import { x } from './nothing.js';", "Cannot find module", "the whole file"),
        ("import { test } from 'node:test';", "0 tests", "the whole file"),
        (
            "import { test } from 'node:test';\ntest('a', () => {});\ntest('a', () => {});",
            "two tests",
            "the whole file",
        ),
        ("await new Promise(() => {});", "never settled", "the whole file"),
    ] {
        let JudgeError::Refused(faults) = cranelift().judge(&suite(source, SOLUTION)).unwrap_err() else {
            panic!("{source}");
        };
        let fault = faults.first().unwrap();
        assert!(fault.found.contains(found) && fault.place == place, "{source}: {fault:?}");
    }
}

#[test]
fn scripts_have_the_primitives() {
    let task = |source: &str| Task::Script {
        file: "route.js".to_owned(),
        source: source.to_owned(),
        dimensions: vec!["correctness".to_owned(), "speed".to_owned()],
        answer: json!({"x": 13, "text": "kitten"}),
        truth: json!({"x": 10, "text": "sitting"}),
        r#match: json!({"turns": 3}),
    };
    let run = |source: &str| cranelift().judge(&Job { tasks: vec![task(source)], ..script("", Vec::new()) });
    let good = "import { numeric_tolerance, fuzzy_string } from 'karat';\n\
        export const evaluate = async (answer, truth, match) => ({\n\
        correctness: 1000 * numeric_tolerance(answer.x, truth.x, { tolerance: 1 }),\n\
        speed: Math.round(1000 * fuzzy_string(answer.text, truth.text)) + match.turns });";
    let report = run(good).unwrap();
    let Some(TaskReport::Script { scores, .. }) = report.results.first() else { panic!("{report:?}") };
    assert_eq!((scores["correctness"], scores["speed"]), (500.0, 574.0));
    for (source, found, place) in [
        ("function evaluate() {\n  throw new Error('no');\n}", "Error: no", "line 2"),
        (
            "const karat = require('karat');\nfunction evaluate() { return karat.exact_match_ratio(1, {}); }",
            "RangeError",
            "line 2",
        ),
        ("function evaluate() { return { correctness: NaN, speed: 1 }; }", "no JSON form", "the whole file"),
        ("function evaluate() { return { correctness: 1001, speed: 1 }; }", "1001", "`correctness`"),
        ("function evaluate() {}", "no JSON form", "the whole file"),
        ("const other = 1;", "no function `evaluate`", "the whole file"),
        ("function evaluate() { for (;;); }", "limit:fuel", "the whole file"),
    ] {
        let JudgeError::Refused(faults) = run(source).unwrap_err() else { panic!("{source}") };
        let fault = faults.first().unwrap();
        assert!(fault.found.contains(found) && fault.place.starts_with(place), "{source}: {fault:?}");
    }
}

/// The reports of one unit of fuel below what a case takes, and of just as much.
#[test]
fn the_limit_of_fuel_holds_to_the_unit() {
    for engine in [EngineKind::Cranelift, EngineKind::Pulley] {
        let mut job = script("function solve() { return 3; }", vec![case("case", call(&[]), json!(3))]);
        let fuel = cases_of(&judge(engine).judge(&job).unwrap())[0].fuel;
        for (limit, reason) in [(fuel, "pass"), (fuel - 1, "limit:fuel")] {
            job.limits.fuel = limit;
            let report = judge(engine).judge(&job).unwrap();
            assert_eq!((told(&cases_of(&report)[0]), cases_of(&report)[0].fuel), (reason, limit));
        }
    }
}

#[test]
fn the_smallest_memory_is_enough_to_begin() {
    let mut job = script("function solve() { return 3; }", vec![case("case", call(&[]), json!(3))]);
    for (mebibytes, reason) in [(16, "pass"), (8, "exception: InternalError")] {
        job.limits.memory_mib = mebibytes;
        match cranelift().judge(&job) {
            Ok(report) => assert_eq!(told(&cases_of(&report)[0]), reason),
            // Below the least that a card may have, an instance cannot be made.
            Err(error) => assert!(mebibytes < 16, "{error}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever JSON a submission is given and returns, it is the same on the other side, as far as doubles go.
    #[test]
    fn json_crosses_unchanged(value in json_values()) {
        let value = as_doubles(&value);
        let run = call(std::slice::from_ref(&value));
        let report = one(&script("function solve(x) { return x; }", vec![case("case", run, value.clone())]));
        prop_assert_eq!(report.verdict, Verdict::Pass, "{}", value);
    }
}

/// Returns a value whose numbers are those that JavaScript has.
fn as_doubles(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64().unwrap_or_default()),
        Value::Array(items) => items.iter().map(as_doubles).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, item)| (name.clone(), as_doubles(item))).collect()
        }
        other => other.clone(),
    }
}
