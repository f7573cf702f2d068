//! Cases in Python: what a submission may do, and what it gets for it.

use karat_graders::execution::{Compare, Verdict};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::*;

/// Calls that trap in a runtime without surroundings, and have to answer here.
#[test]
fn the_library_answers_and_never_traps() {
    for (body, expected) in [
        ("import datetime; return datetime.datetime.now().isoformat()[:16]", json!("2026-01-01T00:00")),
        ("import time; return time.strftime('%Y', time.localtime())", json!("2026")),
        ("import time; a = time.time(); time.sleep(2.5); return int(time.time() - a)", json!(2)),
        ("import time; a = time.monotonic(); return 0 < time.monotonic() - a < 1", json!(true)),
        ("import time; return time.perf_counter() < time.perf_counter()", json!(true)),
        ("import time; return time.process_time() >= 0", json!(true)),
        ("import uuid; return len(str(uuid.uuid4()))", json!(36)),
        ("import random; return 0 <= random.random() < 1", json!(true)),
        ("import secrets; return len(secrets.token_hex(4))", json!(8)),
        ("import os; return os.urandom(3) != os.urandom(3)", json!(true)),
        ("import os; return (os.environ.get('HOME'), os.getcwd())", json!([null, "/"])),
        ("import hashlib; return hashlib.sha256(b'a').hexdigest()[:8]", json!("ca978112")),
        ("import zlib; return zlib.decompress(zlib.compress(b'abc')).decode()", json!("abc")),
        ("import sqlite3; return sqlite3.connect(':memory:').execute('select 1 + 1').fetchone()", json!([2])),
        (
            "import asyncio\n async def f():\n  await asyncio.sleep(1)\n  return 3\n return asyncio.run(f())",
            json!(3),
        ),
        ("import inspect; return inspect.getsource(solve)[:3]", json!("def")),
        (
            "try:\n  compile('a b', 'x', 'exec')\n except SyntaxError as error:\n  return (error.lineno, error.msg)",
            json!([1, "invalid syntax"]),
        ),
        (
            "import traceback\n try:\n  1 / 0\n except ZeroDivisionError:\n  text = traceback.format_exc()\n \
             return [line.strip() for line in text.splitlines()][1:3]",
            json!(["File \"solution.py\", line 4, in solve", "1 / 0"]),
        ),
        (
            "import traceback\n try:\n  eval('1 +')\n except SyntaxError:\n  \
             return 'SyntaxError: invalid syntax' in traceback.format_exc()",
            json!(true),
        ),
        ("import warnings; warnings.warn('x'); return 1", json!(1)),
        ("import logging; logging.warning('x'); return 1", json!(1)),
        ("import gc; return gc.collect() >= 0", json!(true)),
        ("import sys; print('x' * 100_000, file=sys.stderr); return 1", json!(1)),
        (
            "import dataclasses\n @dataclasses.dataclass\n class P:\n  x: int\n return dataclasses.asdict(P(3))",
            json!({"x": 3}),
        ),
        ("return __name__", json!("solution")),
    ] {
        returns(&format!("def solve():\n {body}\n"), expected);
    }
}

#[test]
fn what_is_not_there_raises() {
    for (body, reason) in [
        ("open('secret').read()", "exception: FileNotFoundError"),
        ("open('new', 'w')", "exception: FileNotFoundError"),
        ("import os; os.listdir('/')", "exception: FileNotFoundError"),
        ("import os; os.fork()", "exception: AttributeError"),
        ("import os; os.system('ls')", "exception: AttributeError"),
        ("import subprocess; subprocess.run(['ls'])", "exception: OSError"),
        ("import threading; threading.Thread(target=print).start()", "exception: RuntimeError"),
        (
            "from concurrent.futures import ThreadPoolExecutor as T; T().submit(print)",
            "exception: RuntimeError",
        ),
        ("import bz2", "exception: ModuleNotFoundError"),
        ("import ctypes", "exception: ModuleNotFoundError"),
        ("import lzma", "exception: ModuleNotFoundError"),
        ("import ssl", "exception: ModuleNotFoundError"),
        ("import numpy", "exception: ModuleNotFoundError"),
        (
            "import multiprocessing; multiprocessing.Process(target=print).start()",
            "exception: ModuleNotFoundError",
        ),
        ("import tempfile; tempfile.mkdtemp()", "exception: FileNotFoundError"),
        ("import socket; socket.socketpair()", "exception: PermissionError"),
        ("input()", "exception: EOFError"),
        ("import sys; sys.exit(0)", "exit"),
        ("import os; os._exit(0)", "exit"),
        ("import os; os.abort()", "trap: unreachable"),
        ("return {1, 2}", "no JSON"),
        ("return float('nan')", "no JSON"),
        ("return 10 ** 5000", "no JSON"),
        ("return chr(0xd800)", "no JSON"),
        ("x = []\n for _ in range(300): x = [x]\n return x", "limit:depth"),
        ("return None", "different"),
        ("def f(n): return f(n + 1)\n f(0)", "exception: RecursionError"),
        (
            "import sys; sys.setrecursionlimit(10**9)\n class A:\n  \
             def __getattr__(self, n): return getattr(self, n + 'a')\n A().x",
            "exception: RecursionError",
        ),
        (
            "import sys; sys.setrecursionlimit(10**9)\n f = lambda x: sorted([x], key=f)\n f(0)",
            "exception: RecursionError",
        ),
        ("raise type('leak', (ValueError,), {})()", "exception: ValueError"),
        ("raise type('leak', (Exception,), {'__module__': 'builtins'})()", "exception"),
        ("x = 'a'\n while 1: x += x", "limit:memory"),
        ("bytearray(300 << 20)", "limit:memory"),
        ("while 1: pass", "limit:fuel"),
        ("import re; re.match('(a+)+$', 'a' * 30 + 'b')", "limit:fuel"),
        ("3 ** 10 ** 8", "limit:fuel"),
        ("print('x' * 1_000_000)", "limit:output"),
        ("return 'x' * 20_000", "limit:output"),
    ] {
        fails(&format!("def solve():\n {body}\n"), reason);
    }
    // The network is there in Python, and refuses everything.
    for body in [
        "import socket; socket.create_connection(('1.1.1.1', 80))",
        "import socket; socket.gethostbyname('example.org')",
        "import socket; socket.getaddrinfo('localhost', 80)",
        "import socket; socket.getfqdn('10.0.0.1'); socket.gethostbyaddr('10.0.0.1')",
        "import urllib.request; urllib.request.urlopen('http://example.org/')",
        "import http.client; http.client.HTTPConnection('10.0.0.1').request('GET', '/')",
    ] {
        let report = one(&job(&format!("def solve():\n {body}\n"), vec![case("case", call(&[]), json!(1))]));
        let reason = report.reason.unwrap_or_default();
        assert!(reason.starts_with("exception: "), "{body}: {reason}");
    }
    returns("import uuid\ndef solve(): return uuid.getnode() >> 48", json!(0));
    returns("import uuid\ndef solve(): return len(str(uuid.uuid1()))", json!(36));
}

#[test]
fn submissions_that_cannot_be_loaded_fail_every_case() {
    for (code, reason) in [
        ("def solve(:", "exception: SyntaxError"),
        ("def solve():\n\treturn 1\n        return 2", "exception: TabError"),
        ("import nowhere", "exception: ModuleNotFoundError"),
        ("1 / 0", "exception: ZeroDivisionError"),
        ("x = 1", "no such function"),
        ("raise SystemExit", "exit"),
        ("while True: pass", "limit:fuel"),
        ("\0", "exception: SyntaxError"),
    ] {
        let cases = ["a", "b"].map(|name| case(name, call(&[]), json!(1))).to_vec();
        let report = cranelift().judge(&job(code, cases)).unwrap();
        for case in cases_of(&report) {
            assert_eq!((case.verdict, case.reason.as_deref()), (Verdict::Fail, Some(reason)), "{code:?}");
        }
    }
    let mut other = job("def solve(): return 1", vec![case("case", call(&[]), json!(1))]);
    other.files = [("readme.txt".to_owned(), String::new())].into();
    assert_eq!(one(&other).reason.as_deref(), Some("no such file"));
}

#[test]
fn a_byte_order_mark_and_line_ends_of_windows_are_python() {
    returns("\u{feff}def solve():\r\n    return 'ä'\r\n", json!("ä"));
}

#[test]
fn files_of_a_submission_import_each_other() {
    let mut job =
        job("import util\nfrom pkg.deep import two\ndef solve(): return util.one() + two", Vec::new());
    for (path, text) in [
        ("util.py", "def one(): return 1"),
        ("pkg/__init__.py", ""),
        ("pkg/deep.py", "from . import inner\ntwo = inner.two"),
        ("pkg/inner.py", "two = 2"),
        // Its own, not that of the library.
        ("queue.py", "mine = True"),
    ] {
        job.files.insert(path.to_owned(), text.to_owned());
    }
    let mut run = |function: &str, expected: Value| {
        let mut case = case("case", call(&[]), expected);
        case.run = karat_graders::execution::Run::Call { function: function.to_owned(), args: Vec::new() };
        job.tasks = vec![karat_graders::execution::Task::Cases { file: "c".to_owned(), cases: vec![case] }];
        one(&job).verdict
    };
    assert_eq!(run("solve", json!(3)), Verdict::Pass);
    assert_eq!(run("util.one", json!(1)), Verdict::Pass);
    assert_eq!(run("solve.nothing", json!(1)), Verdict::Fail);
}

#[test]
fn programs_are_judged_by_what_they_print() {
    for (code, stdin, expected, verdict, reason) in [
        ("print(sum(map(int, input().split())))", "1 2 3\n", "6\n", Verdict::Pass, None),
        ("print(6); raise SystemExit", "", "6", Verdict::Pass, None),
        ("import sys; print(6); sys.exit(0)", "", "6", Verdict::Pass, None),
        ("import os; print(6, flush=True); os._exit(0)", "", "6", Verdict::Pass, None),
        ("import sys; print(6); sys.exit(1)", "", "6", Verdict::Fail, Some("exit: 1")),
        ("print(6); 1 / 0", "", "6", Verdict::Fail, Some("exception: ZeroDivisionError")),
        ("print(7)", "", "6", Verdict::Fail, Some("different")),
        ("pass", "", "6", Verdict::Fail, Some("no output")),
        ("import os; os._exit(0)", "", "6", Verdict::Fail, Some("no output")),
        (
            "import sys; sys.stdout.buffer.write(b'\\xff')",
            "",
            "6",
            Verdict::Fail,
            Some("output is not UTF-8"),
        ),
        ("import sys; print(len(sys.stdin.read()))", "äöü", "3", Verdict::Pass, None),
        ("import os; print(os.read(0, 2).decode() + open(0).read())", "abcd", "abcd", Verdict::Pass, None),
        ("if __name__ == '__main__': print('main')", "", "main", Verdict::Pass, None),
        ("while True:\n  print('x' * 1000)", "", "6", Verdict::Fail, Some("limit:output")),
    ] {
        let report = one(&job(code, vec![case("case", program(stdin), json!(expected))]));
        assert_eq!((report.verdict, report.reason.as_deref()), (verdict, reason), "{code}");
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers_and_another_seed_others() {
    let code = "import random, uuid, secrets, os\ndef solve(): \
                return [random.random(), str(uuid.uuid4()), secrets.randbits(60), os.urandom(8).hex()]";
    // Whether two runs return the same shows in their fuel only by chance: a program shows the values.
    let printed = |seed: u64, expected: &str| {
        let code = format!("{code}\nprint(*solve())");
        let mut job = job(&code, vec![case("case", program(""), json!(expected))]);
        job.seed = seed;
        one(&job)
    };
    let first = printed(1, "x").fuel;
    assert_eq!(first, printed(1, "y").fuel);
    let code_of = |text: &str| {
        format!("{code}\nimport hashlib\nprint(hashlib.sha256(repr(solve()).encode()).hexdigest() {text})")
    };
    let bit = |seed: u64, at: usize| {
        let mut job = job(&code_of(&format!("[{at}]")), vec![]);
        job.seed = seed;
        let cases = "0123456789abcdef"
            .chars()
            .map(|digit| case(&digit.to_string(), program(""), json!(digit.to_string())));
        job.tasks =
            vec![karat_graders::execution::Task::Cases { file: "c".to_owned(), cases: cases.collect() }];
        let report = cranelift().judge(&job).unwrap();
        let passed = cases_of(&report).iter().find(|case| case.verdict == Verdict::Pass);
        passed.expect("one digit is right").name.clone()
    };
    let digits = |seed: u64| (0..6).map(|at| bit(seed, at)).collect::<String>();
    assert_eq!(digits(5), digits(5));
    assert_ne!(digits(5), digits(6));
}

#[test]
fn large_integers_are_compared_to_the_last_digit() {
    let large = 9_007_199_254_740_993_i64;
    returns(&format!("def solve(): return [{large}]"), json!([large]));
    fails_with(&format!("def solve(): return [{}]", large - 1), json!([large]));
    fails_with(&format!("def solve(): return [float({large})]"), json!([large]));
    fails_with("def solve(): return 2 ** 64 + 1", json!(18_446_744_073_709_551_616.0));
    returns("def solve(): return 2 ** 64", json!(18_446_744_073_709_551_616.0));
    returns("def solve(a=0): return 1.0", json!(1));
    let mut given = job("def solve(a): return a % 10", vec![case("case", call(&[json!(large)]), json!(3))]);
    assert_eq!(one(&given).verdict, Verdict::Pass);
    given.limits.fuel = LIMITS.fuel;
}

fn fails_with(code: &str, expected: Value) {
    let report = one(&job(code, vec![case("case", call(&[]), expected)]));
    assert_eq!(report.reason.as_deref(), Some("different"), "{code}");
}

#[test]
fn partial_values_and_options() {
    let value = |primitive: &str, options: Value, returned: &str, expected: Value| {
        let mut case = case("case", call(&[]), expected);
        let options = options.as_object().unwrap().clone().into_iter().collect();
        case.compare = Compare { primitive: primitive.to_owned(), options };
        let report = one(&job(&format!("def solve(): return {returned}"), vec![case]));
        (report.value, report.verdict)
    };
    assert_eq!(value("numeric_tolerance", json!({"tolerance": 1}), "13", json!(10)), (0.5, Verdict::Partial));
    assert_eq!(value("numeric_tolerance", json!({"tolerance": 1}), "'x'", json!(10)), (0.0, Verdict::Fail));
    assert_eq!(value("set_overlap", json!({}), "[1, 2]", json!([2, 1])), (1.0, Verdict::Pass));
    assert_eq!(value("exact_match_ratio", json!({}), "[1, 2]", json!([1, 3])), (0.5, Verdict::Partial));
    assert_eq!(value("exact_match", json!({}), "'A'", json!("a")), (0.0, Verdict::Fail));
    assert_eq!(
        value("exact_match", json!({"case_sensitive": false}), "'A'", json!("a")),
        (1.0, Verdict::Pass)
    );
    assert_eq!(value("tokens", json!({}), "' a\\n b '", json!("a b")), (1.0, Verdict::Pass));
}

#[test]
fn a_broken_comparison_is_a_fault_of_the_challenge() {
    for (primitive, expected, found) in [
        ("guess", json!(1), "the primitive `guess`"),
        ("time_decay", json!(1), "the primitive `time_decay`"),
        ("numeric_tolerance", json!("x"), "`x`"),
        ("tokens", json!(1), "a number"),
        ("set_overlap", json!(1), "the number `1`"),
    ] {
        let mut case = case("odd", call(&[]), expected);
        case.compare = compare(primitive);
        let faults = refused(&job("def solve(): pass", vec![case]));
        assert!(faults.len() == 1 && faults[0].contains("hidden.toml, case `odd`"), "{faults:?}");
        let _ = found;
    }
    let twins = vec![case("a", call(&[]), json!(1)), case("a", call(&[]), json!(1))];
    assert!(refused(&job("", twins))[0].contains("earlier"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Whatever JSON a submission is given and returns, it is the same on the other side.
    #[test]
    fn json_crosses_unchanged(value in json_values()) {
        let run = call(std::slice::from_ref(&value));
        let report = one(&job("def solve(x): return x", vec![case("case", run, value.clone())]));
        prop_assert_eq!(report.verdict, Verdict::Pass, "{}", value);
    }

    /// A submission that returns something else does not pass.
    #[test]
    fn another_value_is_different(a in json_values(), b in json_values()) {
        prop_assume!(a != b && a.to_string().replace(".0", "") != b.to_string().replace(".0", ""));
        let report = one(&job("def solve(x): return x", vec![case("case", call(&[a]), b)]));
        prop_assert_eq!(report.verdict, Verdict::Fail);
    }
}

pub fn json_values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |x| x.is_finite()).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(".{0,6}", inner, 0..5)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}
