//! Hidden suites, in two instances.

use karat_graders::execution::{CaseReport, Job, Task, Verdict};
use karat_judge::EngineKind;

use crate::support::*;

const SUITE: &str = "
import unittest
import solution
from solution import Stack, solve, Empty, LIMIT

class Tests(unittest.TestCase):
    def setUp(self):
        self.stack = Stack()
    def test_exception(self):
        with self.assertRaises(Empty):
            self.stack.pop()
        with self.assertRaises(IndexError):
            self.stack.peek()
    def test_constant(self):
        self.assertEqual(LIMIT, 5)
    def test_iteration(self):
        self.stack.push(1)
        self.stack.push(2)
        self.assertEqual(list(self.stack), [1, 2])
    def test_state(self):
        self.stack.push([2, (3, 4), {5}, {6: b'7'}])
        self.assertEqual(len(self.stack), 1)
        self.assertEqual(self.stack.pop(), [2, (3, 4), {5}, {6: b'7'}])
    def test_sum(self):
        self.assertEqual(solve(1, 2), 3)
    def test_truth(self):
        self.assertTrue(solution.yes())
";

const GOOD: &str = "
LIMIT = 5
class Empty(LookupError): pass
class Gone(Empty): pass
class Stack:
    def __init__(self): self.items = []
    def push(self, item): self.items.append(item)
    def pop(self):
        if not self.items: raise Gone('empty')
        return self.items.pop()
    def peek(self): return self.items[-1]
    def __len__(self): return len(self.items)
    def __iter__(self): return iter(self.items)
def solve(a, b): return a + b
def yes(): return True
";

fn suite(source: &str, code: &str) -> Job {
    let mut job = job(code, Vec::new());
    job.tasks = vec![Task::Suite { file: "hidden_test.py".to_owned(), source: source.to_owned() }];
    job
}

fn verdicts(source: &str, code: &str) -> Vec<CaseReport> {
    let job = suite(source, code);
    let report = cranelift().judge(&job).unwrap();
    assert_eq!(report, judge(EngineKind::Pulley).judge(&job).unwrap());
    cases_of(&report).to_vec()
}

#[test]
fn a_good_submission_passes_every_test() {
    let cases = verdicts(SUITE, GOOD);
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(
        names,
        ["exception", "constant", "iteration", "state", "sum", "truth"]
            .map(|it| format!("Tests.test_{it}"))
            .iter()
            .map(String::as_str)
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>()
    );
    assert!(cases.iter().all(|case| case.verdict == Verdict::Pass), "{cases:?}");
}

#[test]
fn nothing_is_gained_across_the_two_instances() {
    const AGREEABLE: &str = "
class A:
    def __eq__(self, other): return True
    __bool__ = __contains__ = lambda *a: True
    def __len__(self): return 1
    def __iter__(self): return iter([A()])
    def __getattr__(self, name): return A()
    def __call__(self, *args): return A()
Stack = solve = yes = LIMIT = A()
class Empty(Exception): pass
";
    const TAMPERING: &str = "
import sys, unittest, karat_suite, karat_guest
unittest.TestCase.assertEqual = unittest.TestCase.assertTrue = lambda *a: None
karat_suite._Result._note = lambda self, *a: None
karat_guest._test = lambda request: '=\"pass\"'
for name in list(sys.modules):
    if 'hidden' in name: sys.exit(0)
Stack = list
class Empty(Exception): pass
LIMIT = solve = yes = None
";
    const SKIPPING: &str = "
import unittest
class SkipTest(Exception): pass
LIMIT = 4
class Empty(Exception): pass
def Stack(): raise unittest.SkipTest('not today')
def solve(*a): raise SkipTest
def yes(): raise unittest.SkipTest
";
    const LEAVING: &str = "
import os
LIMIT = 4
class Empty(Exception): pass
def Stack(): os._exit(0)
solve = yes = Stack
";
    const ENDLESS: &str = "
LIMIT = 4
class Empty(Exception): pass
def Stack():
    while True: pass
solve = yes = Stack
";
    for code in
        [AGREEABLE, TAMPERING, SKIPPING, LEAVING, ENDLESS, "x = 1", "1 / 0", "while True: pass", "def f(:"]
    {
        let cases = verdicts(SUITE, code);
        assert_eq!(cases.len(), 6, "{code}");
        assert!(
            cases.iter().all(|case| case.verdict == Verdict::Fail && case.reason.is_some()),
            "{code}: {cases:?}"
        );
    }
}

#[test]
fn skipped_tests_and_failed_parts_fail() {
    let source = "
import unittest, solution
class T(unittest.TestCase):
    @unittest.skip('later')
    def test_a(self): pass
    def test_b(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertEqual(solution.solve(n, 1), n if n == 1 else n + 1)
    def test_c(self): self.skipTest('now')
    def test_d(self): self.assertEqual(solution.solve(1, 1), 2)
class Broken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise ValueError
    def test_e(self): pass
";
    let found: Vec<(String, Option<String>)> =
        verdicts(source, GOOD).into_iter().map(|case| (case.name, case.reason)).collect();
    let reason = |words: &str| Some(words.to_owned());
    assert_eq!(
        found,
        [
            ("Broken.test_e".to_owned(), reason("exception: ValueError")),
            ("T.test_a".to_owned(), reason("skipped")),
            ("T.test_b".to_owned(), reason("different")),
            ("T.test_c".to_owned(), reason("skipped")),
            ("T.test_d".to_owned(), None),
        ]
    );
}

#[test]
fn a_suite_that_is_wrong_is_refused() {
    for (source, found) in [
        ("x = 1", "0 tests"),
        ("def f(:", "line 1"),
        ("import solution\nsolution.solve(1, 2)", "do it in a test"),
        ("import nowhere", "ModuleNotFoundError"),
        ("while True: pass", "limit:fuel"),
    ] {
        let faults = refused(&suite(source, GOOD));
        assert!(faults.len() == 1 && faults[0].contains(found), "{faults:?}");
    }
}

#[test]
fn no_name_of_a_file_covers_what_a_suite_is_made_with() {
    let expected = verdicts(SUITE, GOOD);
    let names =
        ["unittest", "unittest/mock", "unittest/__init__", "sys", "builtins", "hidden_suite", "karat_suite"];
    for name in names.into_iter().chain(["wit_world", "json", "types", "traceback", "asyncio/__init__"]) {
        let mut job = suite(SUITE, GOOD);
        job.files.insert(format!("{name}.py"), "class TestCase: pass\n".to_owned());
        let report = cranelift().judge(&job).unwrap();
        let found: Vec<Verdict> = cases_of(&report).iter().map(|case| case.verdict).collect();
        assert_eq!(found, vec![Verdict::Pass; expected.len()], "{name}: {report:?}");
    }
    // Where a submission writes a module of the library again, its own is tested.
    let source = "
import unittest
import queue

class Tests(unittest.TestCase):
    def test_own(self):
        self.assertEqual(queue.own(), 5)
";
    let mut job = suite(source, GOOD);
    job.files.insert("queue.py".to_owned(), "def own(): return 5\n".to_owned());
    assert_eq!(cases_of(&cranelift().judge(&job).unwrap())[0].verdict, Verdict::Pass);
}

#[test]
fn an_object_that_says_yes_to_every_operator_gains_nothing() {
    let suite = "
import math
import unittest
from solution import mean

class Tests(unittest.TestCase):
    def test_almost(self): self.assertAlmostEqual(mean([1, 2]), 1.5)
    def test_delta(self): self.assertAlmostEqual(mean([1, 2]), 1.5, delta=0.1)
    def test_distance(self): self.assertTrue(abs(mean([1, 2]) - 1.5) < 1e-9)
    def test_from_the_right(self): self.assertTrue(-1e-9 < 1.5 - mean([1, 2]) < 1e-9)
    def test_by_a_function(self): self.assertTrue(math.fabs(mean([1, 2]) - 1.5) < 1e-9)
    def test_close(self): self.assertTrue(math.isclose(mean([1, 2]), 1.5))
    def test_less(self): self.assertLess(mean([1, 2]), 2)
    def test_between(self): self.assertTrue(1 <= mean([1, 2]) <= 2)
    def test_order(self): self.assertLess(mean([1, 2]), mean([3, 4]))
    def test_in(self): self.assertIn(1.5, mean([1, 2]))
    def test_rest(self): self.assertEqual(mean([1, 2]) % 1, 0.5)
    def test_sum(self): self.assertEqual(sum([mean([1, 2]), 0.5]), 2)
    def test_all(self): self.assertTrue(all(map(lambda items: mean(items) == 1.5, [[1, 2]])))
    def test_each(self):
        for found, expected in zip(map(mean, [[1, 2], [3]]), [1.5, 3]):
            self.assertEqual(found, expected)
";
    let names = "abs add and contains float floordiv ge gt int invert le lt mod mul neg or pow radd rmul rsub sub truediv xor";
    let echo = "
class Yes:
    seen = 0.0
    def answer(self, *others):
        Yes.seen = next((other for other in others if isinstance(other, float)), Yes.seen)
        return RESULT
for name in \"NAMES\".split():
    setattr(Yes, \"__%s__\" % name, Yes.answer)
def mean(items): return Yes()
"
    .replace("NAMES", names);
    let say = |result: &str| echo.replace("RESULT", result);
    for code in [
        say("True"),
        say("0.0"),
        say("Yes.seen"),
        say("self"),
        say("Yes()"),
        "def mean(items): raise StopIteration".to_owned(),
        "class End(StopIteration): pass\ndef mean(items): raise End".to_owned(),
    ] {
        let passed: Vec<String> = verdicts(suite, &code)
            .into_iter()
            .filter(|case| case.verdict != Verdict::Fail)
            .map(|case| case.name)
            .collect();
        assert!(passed.is_empty(), "{passed:?} with\n{code}");
    }
    let right = verdicts(suite, "def mean(items): return sum(items) / len(items)");
    let failed: Vec<_> =
        right.iter().filter(|case| case.verdict != Verdict::Pass).map(|case| &case.name).collect();
    // A number is in nothing.
    assert_eq!(failed, ["Tests.test_in"]);
}
