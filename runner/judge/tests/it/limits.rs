//! Limits, to the unit: what just fits passes, and one less is too little.

use std::collections::BTreeMap;

use karat_graders::execution::{Job, Limits, Verdict};
use serde_json::json;

use crate::support::*;

const CODE: &str =
    "def solve(n):\n    total = 0\n    for i in range(n):\n        total += i * i % 7\n    return total\n";

/// The same in JavaScript.
const SCRIPT: &str =
    "function solve(n) { let total = 0; for (let i = 0; i < n; i++) total += (i * i) % 7; return total; }";

fn expected(n: u64) -> u64 {
    (0..n).map(|i| i * i % 7).sum()
}

/// Returns a job with other code, in JavaScript.
fn in_javascript(job: &Job, code: &str) -> Job {
    let files = BTreeMap::from([("solution.js".to_owned(), code.to_owned())]);
    Job { runtime: "javascript".to_owned(), files, ..job.clone() }
}

#[test]
fn one_unit_of_fuel_decides() {
    for n in [0, 1, 10, 1000, 20_000] {
        let python = job(CODE, vec![case("sum", call(&[json!(n)]), json!(expected(n)))]);
        let javascript = in_javascript(&python, SCRIPT);
        for mut job in [python, javascript] {
            let fuel = one(&job).fuel;
            job.limits.fuel = fuel;
            let exact = one(&job);
            assert_eq!((exact.verdict, exact.fuel, exact.near_limit), (Verdict::Pass, fuel, true), "{n}");
            job.limits.fuel = fuel - 1;
            let short = one(&job);
            assert_eq!((short.verdict, short.reason.as_deref()), (Verdict::Fail, Some("limit:fuel")), "{n}");
            assert_eq!((short.fuel, short.near_limit), (fuel - 1, true));
            job.limits.fuel = fuel + 1;
            assert_eq!(one(&job).fuel, fuel);
            // From 95 % of the limit on it is near: compared in whole numbers.
            job.limits.fuel = fuel * 100 / 95 + 1;
            assert!(!one(&job).near_limit);
            job.limits.fuel = fuel * 100 / 95;
            assert!(one(&job).near_limit);
        }
    }
}

#[test]
fn one_page_of_memory_decides() {
    let python = "def solve(n): return len(bytearray(n))";
    let javascript = "function solve(n) { return new Uint8Array(n).length; }";
    // What JavaScript asks for is rounded up to powers of two.
    for (is_javascript, larger, more) in [(false, 65, 1), (true, 128, 32)] {
        // How much fits is found by bisection; the same number on every run.
        let fits = |bytes: u64, memory_mib| {
            let asked = job(python, vec![case("c", call(&[json!(bytes)]), json!(bytes))]);
            let mut job = if is_javascript { in_javascript(&asked, javascript) } else { asked };
            job.limits.memory_mib = memory_mib;
            job.limits.fuel = 2_000_000_000;
            let report = one(&job);
            let reason = report.reason.as_deref();
            assert!(matches!(reason, None | Some("limit:memory")), "{bytes}: {reason:?}");
            assert!(report.near_limit || report.verdict == Verdict::Pass);
            report.verdict == Verdict::Pass
        };
        let most = |memory_mib| {
            let (mut low, mut high) = (0_u64, u64::from(memory_mib) << 20);
            while high - low > 1 {
                let middle = low.midpoint(high);
                if fits(middle, memory_mib) { low = middle } else { high = middle }
            }
            low
        };
        let (small, large) = (most(64), most(larger));
        assert_eq!(large - small, more << 20, "{small} {large}");
        assert!(fits(small, 64) && !fits(small + 1, 64));
    }
}

#[test]
fn one_byte_of_output_decides() {
    let limit = (LIMITS.output_kib as usize) << 10;
    for (printed, returned, reason) in [
        (limit, None, Some("different")),
        (limit + 1, None, Some("limit:output")),
        (0, Some(limit - 2), Some("different")),
        (0, Some(limit - 1), Some("limit:output")),
        (100, Some(limit - 102), Some("different")),
        (100, Some(limit - 101), Some("limit:output")),
    ] {
        let [python, javascript] = match returned {
            None => [
                format!("import sys; sys.stdout.write('x' * {printed})"),
                format!("process.stdout.write('x'.repeat({printed}))"),
            ],
            Some(length) => [
                format!(
                    "import sys\ndef solve():\n  sys.stdout.write('x' * {printed}); sys.stdout.flush()\n  \
                     return 'y' * {length}"
                ),
                format!(
                    "function solve() {{ process.stdout.write('x'.repeat({printed})); return 'y'.repeat({length}); }}"
                ),
            ],
        };
        let run = if returned.is_some() { call(&[]) } else { program("") };
        let python = job(&python, vec![case("c", run, json!("z"))]);
        let javascript = in_javascript(&python, &javascript);
        for job in [python, javascript] {
            let report = one(&job);
            assert_eq!(report.reason.as_deref(), reason, "{}: {printed} {returned:?}", job.runtime);
            assert!(report.near_limit);
        }
    }
}

#[test]
fn each_case_has_its_own_limits_and_its_own_instance() {
    let code = "import sys\nseen = []\ndef solve(n):\n    seen.append(n)\n    print('x' * 9000)\n    return len(seen)\n";
    let cases = (0..5).map(|at| case(&at.to_string(), call(&[json!(at)]), json!(1))).collect();
    let report = cranelift().judge(&job(code, cases)).unwrap();
    assert!(
        cases_of(&report).iter().all(|case| case.verdict == Verdict::Pass && !case.near_limit),
        "{report:?}"
    );
}

/// A limit of the output is one of all of it, and not of a single write.
#[test]
fn a_right_program_may_print_much_at_once() {
    let length = 300_000;
    let limits = Limits { fuel: 400_000_000, output_kib: 1024, ..LIMITS };
    for write in [
        "print('x' * N)", "import sys\nsys.stdout.write('x' * N)",
        "import os\nassert os.write(1, b'x' * N) == N",
    ] {
        for (count, verdict, reason) in [
            (length, Verdict::Pass, None),
            (length - 1, Verdict::Fail, Some("different")),
            (2 << 20, Verdict::Fail, Some("limit:output")),
        ] {
            let code = write.replace('N', &count.to_string());
            let case = case("long", program(""), "x".repeat(length).into());
            let report = cranelift().judge(&Job { limits, ..job(&code, vec![case]) }).unwrap();
            let found = &cases_of(&report)[0];
            assert_eq!((found.verdict, found.reason.as_deref()), (verdict, reason), "{code}");
        }
    }
}

/// Texts that are not compared are not said to be different.
#[test]
fn a_comparison_beyond_its_limit_has_the_name_of_the_limit() {
    let limits = Limits { fuel: 400_000_000, output_kib: 1024, ..LIMITS };
    let expected = format!("{}b", "x".repeat(100_000));
    for (code, value, reason) in [
        ("return 'x' * 100_000 + 'b'", 1.0, None),
        ("return 'a' + 'x' * 99_999 + 'c'", 1.0 - 2.0 / 100_001.0, Some("different")),
        ("return 'y' * 100_000", 0.0, Some("limit:comparison")),
        ("r = 1\n  for _ in range(200): r = [r]\n  return r", 0.0, Some("limit:depth")),
    ] {
        let mut case = case("long", call(&[]), expected.clone().into());
        case.compare = compare("fuzzy_string");
        let code = format!("def solve():\n  {code}");
        let report = cranelift().judge(&Job { limits, ..job(&code, vec![case]) }).unwrap();
        let found = &cases_of(&report)[0];
        assert_eq!((found.value, found.reason.as_deref()), (value, reason), "{code}");
    }
}
