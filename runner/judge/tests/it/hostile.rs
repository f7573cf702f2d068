//! Hostile submissions: each twice and on both engines, with the same verdict and the same fuel, and nothing gained.

use karat_graders::execution::{Case, Report, Verdict};
use karat_judge::EngineKind;
use serde_json::json;

use crate::support::*;

const HOSTILE: &[(&str, &str)] = &[
    ("endless loop", "while True: pass"),
    ("regular expression", "import re; return re.match('(a|aa)+$', 'a' * 60 + 'b')"),
    ("large integers", "x = 3\n while True: x *= x"),
    ("digits of a large integer", "import sys; sys.set_int_max_str_digits(0); return len(str(7 ** 200_000))"),
    ("memory, by doubling", "x = [0]\n while True: x += x"),
    ("memory, at once", "return bytearray(1 << 40)"),
    ("memory that is given back", "for _ in range(10 ** 6): bytearray(30 << 20)"),
    ("output flood", "while True: print('x' * 1000)"),
    ("flood of errors", "import sys\n while True: sys.stderr.write('x' * 1000)"),
    (
        "compressed bomb",
        "import zlib; d = zlib.decompressobj(); return len(d.decompress(zlib.compress(b'0' * 10 ** 7) , 10 ** 9))",
    ),
    ("recursion", "import sys; sys.setrecursionlimit(10 ** 9)\n def f(): return f() + 1\n f()"),
    (
        "recursion through C",
        "import sys; sys.setrecursionlimit(10 ** 9)\n class A:\n  def __repr__(self): return repr([self])\n repr(A())",
    ),
    ("nested brackets", "return eval('(' * 5000 + ')' * 5000)"),
    ("nested operators", "return eval('-' * 100_000 + '1')"),
    ("nested lists", "x = []\n for _ in range(100_000): x = [x]\n return x"),
    (
        "bytes that are no code",
        "import types; c = solve.__code__; exec(c.replace(co_code=bytes([255, 7] * 50)))",
    ),
    (
        "stack of code",
        "import types; c = solve.__code__; exec(c.replace(co_code=bytes([100, 0] * 5000), co_stacksize=1))",
    ),
    ("exit", "raise SystemExit(0)"),
    ("hard exit", "import os; os._exit(0)"),
    ("hard exit, with an answer", "import os; os.write(1, b'=3'); os._exit(0)"),
    ("abort", "import os; os.abort()"),
    ("fork", "import os; os.fork()"),
    ("thread", "import _thread; _thread.start_new_thread(print, ())"),
    ("socket", "import socket; socket.create_connection(('10.0.0.1', 80))"),
    ("name", "import socket; return socket.gethostbyname('example.org')"),
    ("files", "import os; return os.listdir('..')"),
    ("patched json", "import json; json.dumps = lambda *a, **k: '3'; return 4"),
    (
        "patched encoder",
        "import json.encoder; json.encoder.c_make_encoder = None\n \
         json.encoder.JSONEncoder.encode = lambda *a: '3'; return 4",
    ),
    ("equal to everything", "class A(int):\n  __eq__ = lambda *a: True\n return A(4)"),
    ("another text of a number", "class A(int):\n  __repr__ = __str__ = lambda self: '3'\n return A(4)"),
    ("frames of the caller", "import sys; return sorted(sys._getframe(1).f_locals['request'])"),
    ("the host's question", "import wit_world; return wit_world.ask('submission', '{}')"),
    ("the answer of the guest", "import karat_guest; karat_guest._call = lambda r: '=3'; return 4"),
    ("another answer", "import sys; sys.stdout.write('=3\\n'); return 4"),
    (
        "garbage collector",
        "import gc; return len([o for o in gc.get_objects() if isinstance(o, dict) and 'expect' in o])",
    ),
    ("modules", "import sys; return [m for m in sys.modules if 'hidden' in m or 'expect' in m]"),
    ("finalizer", "class A:\n  def __del__(self):\n   while True: pass\n A()"),
    (
        "signal",
        "import signal; signal.signal(signal.SIGINT, lambda *a: None); signal.raise_signal(signal.SIGINT)",
    ),
    ("sleep for a thousand years", "import time; time.sleep(3e10); return 4"),
    ("wait for nothing", "import select; select.select([], [], [])"),
    ("random bytes without end", "import os; return len(os.urandom(10 ** 9))"),
    ("deep copy", "import copy; x = []; x.append(x); return copy.deepcopy(x)"),
    (
        "warnings as flood",
        "import warnings\n while True: warnings.warn('x', stacklevel=1); warnings.resetwarnings()",
    ),
    (
        "hash collisions",
        "return len({hash(i) & 0: i for i in range(10)} | {i * (2 ** 61 - 1): 0 for i in range(20_000)})",
    ),
];

fn report(engine: EngineKind, cases: &[(&str, &str)]) -> Vec<Report> {
    let run = |(name, body): &(&str, &str)| {
        let mut job = job(
            &format!("def solve():\n {body}\n"),
            vec![Case { name: (*name).to_owned(), ..case("c", call(&[]), json!(3)) }],
        );
        job.limits.fuel = 20_000_000;
        judge(engine).judge(&job).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    cases.iter().map(run).collect()
}

#[test]
fn nothing_is_gained_and_both_engines_agree() {
    let first = report(EngineKind::Cranelift, HOSTILE);
    for report in &first {
        let [case] = cases_of(report) else { panic!("{report:?}") };
        // A submission that knows the answer may say it in an odd way; nothing else passes.
        let says_it =
            ["the answer of the guest", "patched json", "patched encoder", "another text of a number"];
        assert!(case.verdict == Verdict::Fail || says_it.contains(&case.name.as_str()), "{case:?}");
    }
    assert_eq!(first, report(EngineKind::Cranelift, HOSTILE));
    assert_eq!(first, report(EngineKind::Pulley, HOSTILE));
}

/// Requests to one instance do not reach the next.
#[test]
fn a_hostile_neighbour_changes_nothing() {
    let good = || job("def solve(): return 3", vec![case("good", call(&[]), json!(3))]);
    let before = one(&good());
    for (_, body) in HOSTILE.iter().take(6) {
        let mut job = job(&format!("def solve():\n {body}\n"), vec![case("bad", call(&[]), json!(3))]);
        job.limits.fuel = 5_000_000;
        one(&job);
        assert_eq!(one(&good()), before);
    }
}

#[test]
fn several_judges_at_a_time_say_the_same() {
    let alone = report(EngineKind::Cranelift, &HOSTILE[..8]);
    std::thread::scope(|scope| {
        let workers: Vec<_> =
            (0..4).map(|_| scope.spawn(|| report(EngineKind::Cranelift, &HOSTILE[..8]))).collect();
        for worker in workers {
            assert_eq!(worker.join().unwrap(), alone);
        }
    });
}
