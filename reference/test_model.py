"""The worked values of the documents, and what must hold of every card. Run: python3 -m unittest discover reference"""

import json
import math
import sys
import tomllib
import unittest
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent))

import conformance
import generate
from card import Card, build_card, decimal_text
from formula import (
    EVERYTHING, FAILED, MISSING, UNDECIDED, Interval, Possible, Refused, evaluate, evaluate_interval, parse, point,
)  # fmt: skip
from model import Item, read_json, score_item, score_line, to_json

HEAD = 'schema = "karat/scorecard/1"\nid = "test"\nversion = "1.0.0"\ntitle = "Test"\n'

# Scoring formula v1.0.0: composite score, sub-dimensions, declared retries are free.
WORKFLOW = """
mean = "weighted-sum"
[facts]
output_quality = { min = 0, max = 1 }
steps_completed = { min = 0, max = "steps_total", integer = true }
steps_total = { min = 0, integer = true }
actual_tao = { min = 0 }
max_budget_tao = { min = 0 }
unplanned_retries = { min = 0, integer = true }
timeouts = { min = 0, integer = true }
actual_seconds = { min = 0 }
max_latency_seconds = { min = 0 }
[[dimension]]
key = "success"
weight = 0.50
formula = "output_quality * if(steps_total > 0, steps_completed / steps_total, 0)"
[[dimension]]
key = "cost"
weight = 0.25
when = "success > 0.7"
formula = "if(max_budget_tao > 0, max(0, 1 - actual_tao / max_budget_tao), 0)"
[[dimension]]
key = "latency"
weight = 0.15
when = "success > 0.7"
formula = "if(max_latency_seconds > 0, max(0, 1 - actual_seconds / max_latency_seconds), 0)"
[[dimension]]
key = "reliability"
weight = 0.10
formula = "clamp(1 - (unplanned_retries * 0.1 + timeouts * 0.2), 0, 1)"
"""
RUN = {
    "output_quality": 0.875, "steps_completed": 3, "steps_total": 3, "actual_tao": 0.0072, "max_budget_tao": 0.05,
    "actual_seconds": 4.1, "max_latency_seconds": 10, "unplanned_retries": 0, "timeouts": 0,
}  # fmt: skip

# Scoring: core dimensions, score to result mapping.
ARENA = """
mean = "weighted-sum"
scale = { max = 1000, publish = "floor" }
[facts]
correctness = { min = 0, max = 1 }
speed = { min = 0, max = 1 }
methodology = { min = 0, max = 1 }
completeness = { min = 0, max = 1 }
[family]
pick = { min = 2, max = 6 }
[[dimension]]
key = "correctness"
[[dimension]]
key = "speed"
[[dimension]]
key = "methodology"
[[dimension]]
key = "completeness"
[[band]]
name = "loss"
from = 0
[[band]]
name = "draw"
from = 400
[[band]]
name = "win"
from = 700
"""
CHALLENGE = """
schema = "karat/scorecard/1"
id = "example"
version = "1.0.0"
title = "Example"
base = "arena@1.0.0"
[dims]
correctness = 0.5
speed = 0.2
methodology = 0.15
completeness = 0.15
"""

# Scoring algorithm: composite formula, profiles, rule-based overrides.
TRACE = """
mean = "weighted-sum"
[facts]
steps = { min = 1, integer = true }
kinds = { min = 1, max = 4, integer = true }
tools = { min = 0, integer = true }
error_recoveries = { min = 0, integer = true }
novelty = { min = 0, max = 1 }
confidence = { min = 0, max = 1 }
success = { type = "boolean" }
task_domain = { type = "text" }
[[dimension]]
key = "complexity"
formula = "min(1, kinds / 4 * 0.5 + if(error_recoveries > 0, 0.3, 0) + steps / 20 * 0.2)"
[[dimension]]
key = "novelty"
[[dimension]]
key = "tool_diversity"
formula = "min(1, tools / max(1, steps) * 3)"
[[dimension]]
key = "outcome_confidence"
formula = "confidence * if(success, 1, 0.3)"
[profiles]
by = "task_domain"
fallback = "default"
[profiles.weights.default]
complexity = 0.25
novelty = 0.35
tool_diversity = 0.15
outcome_confidence = 0.25
[profiles.weights.finance]
complexity = 0.20
novelty = 0.25
tool_diversity = 0.10
outcome_confidence = 0.45
[[rule]]
name = "error_recovery"
when = "error_recoveries > 2 and success"
set = "min(1, score + 0.1)"
[[rule]]
name = "zero_diversity"
when = "tools == 1"
set = "max(0, score - 0.1)"
"""
TRACE_FACTS = {
    "steps": 5, "kinds": 3, "tools": 2, "error_recoveries": 0, "novelty": 0.5, "confidence": 0.92, "success": True,
    "task_domain": "finance",
}  # fmt: skip

# Composite trust score: 16 dimensions; tiers, gate and override.
TRUST_WEIGHTS = {
    "accuracy": 11, "reliability": 10, "safety": 9, "selfAudit": 7, "security": 7, "latency": 7, "bond": 6,
    "scopeHonesty": 6, "memoryQuality": 6, "costEfficiency": 5, "evalRigor": 5, "teamwork": 5, "modelCompliance": 4,
    "runtimeCompliance": 4, "harnessStability": 4, "skillMastery": 4,
}  # fmt: skip
TRUST = (
    'scale = { max = 1000, publish = "half-up" }\nweights = { sum = 1, tolerance = 0.001 }\n[facts]\n'
    + "".join(f"{key} = {{ min = 0, max = 1 }}\n" for key in TRUST_WEIGHTS)
    + "".join(f'[[dimension]]\nkey = "{key}"\nweight = {weight / 100}\n' for key, weight in TRUST_WEIGHTS.items())
    + """
[override]
tolerance = 0.001
[[gate]]
name = "security veto"
when = "security < 0.25"
cap = 399
tier = "none"
[[tier]]
name = "bronze"
score = 400
coverage = 0.3
mandatory = ["accuracy", "safety"]
floor = 0.3
[[tier]]
name = "silver"
score = 600
coverage = 0.6
mandatory = ["reliability"]
require = { security = 0.5 }
"""
)


def card_of(text):
    return build_card(tomllib.loads(HEAD + text, parse_float=Decimal), "no folder")


def simple_card(mean, more="", group=""):
    """Three dimensions a, b, c with the weights 0.2, 0.3, 0.5, the reading of each a fact of its name."""
    facts = "".join(f"{key} = {{ min = 0, max = 1 }}\n" for key in "abc")
    dimensions = "".join(f'[[dimension]]\nkey = "{k}"\nweight = {w}\n{group}\n' for k, w in zip("abc", (0.2, 0.3, 0.5)))
    return card_of(f'mean = "{mean}"\n[facts]\nx = {{ min = 0, max = 10 }}\n{facts}{dimensions}{more}')


def exact(record):
    return record["score"]["exact"]


def readings(record):
    return {dimension["key"]: dimension["reading"] for dimension in record["dimensions"]}


class Documents(unittest.TestCase):
    def test_workflow_example(self):
        record = score_item(card_of(WORKFLOW), RUN)
        self.assertEqual(exact(record), Fraction("0.84"))
        self.assertEqual(readings(record)["latency"], Fraction("0.59"))

    def test_workflow_gate_is_closed_at_exactly_seven_tenths(self):
        for quality, done, total in ((0.7, 1, 1), (1, 7, 10), (0.875, 4, 5)):
            run = RUN | {"output_quality": quality, "steps_completed": done, "steps_total": total}
            record = score_item(card_of(WORKFLOW), run)
            self.assertEqual(exact(record), Fraction("0.45"))
            self.assertEqual([d["status"] for d in record["dimensions"]], ["scored", "gated", "gated", "scored"])

    def test_workflow_more_steps_done_than_exist_is_refused(self):
        with self.assertRaisesRegex(Refused, "steps_completed"):
            score_item(card_of(WORKFLOW), RUN | {"steps_completed": 4})

    def test_arena_example_is_rounded_down(self):
        with TemporaryDirectory() as cards:
            Path(cards, "arena").mkdir()
            Path(cards, "arena", "1.0.0.toml").write_text(HEAD + ARENA, encoding="utf-8")
            card = build_card(tomllib.loads(CHALLENGE, parse_float=Decimal), cards)
        facts = {"correctness": 0.9, "speed": 0.78, "methodology": 0.69, "completeness": 0.76}
        record = score_item(card, facts)
        self.assertEqual(exact(record) * 1000, Fraction("823.5"))
        self.assertEqual((record["score"]["published"], record["band"]), (823, "win"))
        parts = [dimension["contribution"] * 1000 for dimension in record["dimensions"]]
        self.assertEqual(parts, [450, 156, Fraction("103.5"), 114])

    def test_trace_finance_example(self):
        record = score_item(card_of(TRACE), TRACE_FACTS)
        self.assertEqual(exact(record), Fraction("0.724"))
        self.assertEqual(record["profile"], {"name": "finance", "asked": "finance", "fallback": False})

    def test_trace_unknown_domain_falls_back(self):
        record = score_item(card_of(TRACE), TRACE_FACTS | {"task_domain": "Finance"})
        self.assertEqual(record["profile"], {"name": "default", "asked": "Finance", "fallback": True})

    def test_trace_rules_run_in_order_each_on_the_result_before(self):
        facts = {"steps": 20, "kinds": 4, "tools": 1, "error_recoveries": 3, "novelty": 1, "confidence": 1}
        record = score_item(card_of(TRACE), TRACE_FACTS | facts)
        self.assertEqual(exact(record), Fraction("0.9"))
        self.assertEqual([step["after"] for step in record["steps"]], [1, Fraction("0.9")])

    def test_trust_four_of_sixteen(self):
        facts = dict.fromkeys(["accuracy", "reliability", "safety", "security"], 0.95)
        record = score_item(card_of(TRUST), facts)
        self.assertEqual((record["score"]["published"], record["coverage"]), (950, Fraction("0.37")))
        self.assertEqual(record["bounds"], {"low": 352, "high": 982})
        self.assertEqual(record["tier"], {"name": "bronze"})

    def test_trust_nothing_covered(self):
        record = score_item(card_of(TRUST), {})
        self.assertEqual((record["status"], record["score"], record["coverage"]), ("unscored", None, 0))
        self.assertEqual(record["bounds"], {"low": 0, "high": 1000})

    def test_trust_gate_caps_and_blocks(self):
        facts = dict.fromkeys(TRUST_WEIGHTS, 0.95) | {"security": 0.2}
        record = score_item(card_of(TRUST), facts)
        self.assertEqual((record["score"]["published"], record["tier"]), (399, {"name": None}))
        self.assertEqual(record["gates"], ["security veto"])

    def test_trust_override_boundary_is_inclusive(self):
        card = card_of(TRUST)
        facts = dict.fromkeys(TRUST_WEIGHTS, 0.5)
        for weight, outcome in (("0.039", "applied"), ("0.041", "applied"), ("0.041001", "rejected")):
            override = score_item(card, facts, {"skillMastery": Decimal(weight)})["override"]
            self.assertEqual(override["outcome"], outcome)
            self.assertEqual(override["merged_sum"], Fraction("0.96") + Fraction(weight))
        for wrong in ({"skill": Decimal("0.04")}, {"bond": Decimal("-0.06")}, {"bond": Decimal("0.0600001")}):
            record = score_item(card, facts, wrong)
            self.assertEqual(record["override"]["outcome"], "rejected")
            self.assertEqual(exact(record), Fraction("0.5"))

    def test_coverage_ignores_the_override(self):
        override = {"accuracy": Decimal("0.21"), "reliability": Decimal(0)}
        record = score_item(card_of(TRUST), {"accuracy": 1}, override)
        self.assertEqual((record["override"]["outcome"], record["coverage"]), ("applied", Fraction("0.11")))


class Formulas(unittest.TestCase):
    def value(self, text, **names):
        return evaluate(parse(text), names.__getitem__)

    def range(self, text, ranges, known=None):
        known = known or {}
        return self.possible(text, ranges, known).range

    def possible(self, text, ranges, known):
        return evaluate_interval(
            parse(text), lambda name: Possible(ranges[name], name in known, True), lambda x, y: False
        )

    def test_grammar(self):
        for text, value in (
            ("1 - 2 - 3", -4), ("8 / 4 / 2", 1), ("2 + 3 * 4", 14), ("-(1 + 2) * -2", 6), ("--1", 1), ("1.5e1", 15),
            ("not 1 < 2 or true", True), ("true or false and false", True), ("not (true and false)", True),
            ("clamp(5, 0, 1)", 1), ("min(3, 1, 2)", 1), ("floor(-1.5)", -2), ("pow(2, 3) - log2(8)", 5),
        ):  # fmt: skip
            self.assertEqual(self.value(text), value, text)
        for text in ("", "1 +", "1 < 2 < 3", "(1", "min(1,", "1 2", "and", ".5", "1.", "a b", "2 $ 3", "min()"):
            with self.assertRaises(Refused, msg=text):
                parse(text)

    def test_missing_and_failed(self):
        names = {"m": MISSING, "f": FAILED, "x": 2.0}
        for text, value in (
            ("m + 1", MISSING), ("m + f", FAILED), ("1 / 0", FAILED), ("sqrt(-1)", FAILED), ("ln(0)", FAILED),
            ("exp(1000)", FAILED), ("1e308 * 10", FAILED), ("pow(0, -1)", FAILED), ("pow(-8, 0.5)", FAILED),
            ("coalesce(m, x)", 2), ("coalesce(m, f)", FAILED), ("coalesce(x, f)", 2), ("coalesce(m, m)", MISSING),
            ("if(x > 1, x, f)", 2), ("if(m > 1, 1, 2)", MISSING), ("is_missing(m)", True), ("is_missing(f)", FAILED),
            ("is_missing(x)", False), ("false and m > 1", MISSING), ("true or f > 1", FAILED),
            ("true + m", MISSING), ("x / false", FAILED),
        ):  # fmt: skip
            self.assertEqual(self.value(text, **names), value, text)

    def test_a_condition_is_1_or_0_where_a_number_is_needed(self):
        names = {"yes": True, "no": False, "x": 2.0}
        for text, value in (
            ("0.5 * yes + 0.25 * no", 0.5), ("-yes", -1), ("yes - (x > 3)", 1), ("max(no, 0.5)", 0.5), ("min(yes, 3)", 1),
            ("x / yes", 2), ("if(yes == 1, 7, 8)", 7), ("pow(x, no)", 1), ("if(no, x, yes)", 1), ("floor(yes / 2)", 0),
        ):  # fmt: skip
            self.assertEqual(self.value(text, **names), value, text)
        for text, expected in (
            ("0.5 * p", (0, 0.5)), ("1 - p", (0, 1)), ("if(p, p, 0.5)", (0, 1)), ("max(p, 0.5)", (0.5, 1)), ("p + p", (0, 2)),
            ("p == 1", UNDECIDED), ("p < 2", point(True)),
        ):  # fmt: skip
            self.assertEqual(self.range(text, {"p": UNDECIDED}), expected, text)

    def test_constants(self):
        dimension = {"key": "d", "weight": 1, "formula": "clamp(half * x / limit + on - 1, 0, 1)"}
        constants = {"half": 0.5, "limit": {"value": 4, "unit": "USD"}, "on": True}
        table = {"id": "c", "version": "1.0.0", "facts": {"x": {"min": 0}}, "const": constants, "dimension": [dimension]}
        item = Item(Card(table), {"x": 6.0})
        self.assertEqual(item.reading("d").value, Fraction(3, 4))

    def test_intervals(self):
        inf = math.inf
        ranges = {"a": Interval(-1.0, 2.0), "b": Interval(1.0, inf), "c": Interval(0.0, inf), "p": UNDECIDED}
        for text, expected in (
            ("a * a", (-2, 4)), ("a - a", (-3, 3)), ("a / b", (-1, 2)), ("b / b", (0, inf)), ("a / c", EVERYTHING),
            ("0 * b", (0, 0)), ("abs(a)", (0, 2)), ("sqrt(a)", (0, math.sqrt(2))), ("ln(c)", (-inf, inf)),
            ("pow(b, 2)", (1, inf)), ("pow(a, 2)", EVERYTHING), ("exp(-c)", (0, 1)), ("floor(a / 2)", (-1, 1)),
            ("a < 0", UNDECIDED), ("a < 3", point(True)), ("a >= 3", point(False)), ("b == 0", point(False)),
            ("p and a > 3", point(False)), ("p or a < 3", point(True)), ("not p", UNDECIDED),
            ("if(p, a, b)", (-1, inf)), ("if(a < 3, a, b)", (-1, 2)), ("coalesce(a, 5)", (-1, 5)),
            ("is_missing(a)", UNDECIDED), ("max(a, b)", (1, inf)), ("clamp(b, 0, 1)", (1, 1)),
        ):  # fmt: skip
            self.assertEqual(self.range(text, ranges), expected, text)
        known = {"a": 1.0}
        self.assertEqual(self.range("coalesce(a, 5)", ranges | {"a": point(1.0)}, known), (1, 1))
        self.assertEqual(self.range("is_missing(a)", ranges | {"a": point(1.0)}, known), point(False))

    def test_intervals_hold_the_values_of_random_formulas(self):
        random = Random(1)
        ranges = {"u": Interval(0.0, 1.0), "v": Interval(-3.0, 2.0), "w": Interval(1.0, 50.0)}

        def tree(depth):
            if depth == 0 or random.random() < 0.2:
                return random.choice(["u", "v", "w", str(random.randint(0, 9) / 4)])
            sub = [tree(depth - 1) for _ in range(3)]
            return random.choice([
                "({} + {})", "({} - {})", "({} * {})", "({} / {})", "-{}", "abs({})", "floor({})", "ceil({})",
                "exp({})", "sqrt({})", "ln({})", "pow({}, {})", "min({}, {})", "max({}, {})", "clamp({}, {}, {})",
                "if({} < {}, {}, 1)", "if({} == {} or v >= 1, 2, {})", "if(not {} > {} and u < 0.5, 0, {})",
            ]).format(*sub)  # fmt: skip

        checked = 0
        for _ in range(4000):
            text = tree(3)
            names = {name: random.uniform(*interval) for name, interval in ranges.items()}
            value = self.value(text, **names)
            if value is not FAILED:
                low, high = self.range(text, ranges)
                slack = 1e-12 * max(1.0, abs(value))
                self.assertTrue(low - slack <= value <= high + slack, f"{text} {names} {value} not in {low}..{high}")
                checked += 1
        self.assertGreater(checked, 2000)


class Means(unittest.TestCase):
    def test_each_mean(self):
        facts = {"a": 0.5, "b": 0.25, "c": 0.8}
        geometric = round(0.5**0.2 * 0.25**0.3 * 0.8**0.5, 9)
        harmonic = round(1 / (0.2 / 0.5 + 0.3 / 0.25 + 0.5 / 0.8), 9)
        for mean, value in (
            ("weighted-sum", "0.575"), ("weighted-mean", "0.575"), ("minimum", "0.25"), ("geometric", str(geometric)),
            ("harmonic", str(harmonic)),
        ):  # fmt: skip
            record = score_item(simple_card(mean), facts)
            self.assertEqual(exact(record), Fraction(value), mean)
            self.assertEqual(len(record["steps"]), mean in ("minimum", "geometric", "harmonic"))

    def test_a_zero_counts_only_with_weight(self):
        for mean in ("geometric", "harmonic", "minimum"):
            card = simple_card(mean)
            self.assertEqual(exact(score_item(card, {"a": 0, "b": 1, "c": 1})), 0)
            card.weights["a"] = Fraction(0)
            self.assertEqual(exact(score_item(card, {"a": 0, "b": 1, "c": 1})), 1)

    def test_a_mean_is_rounded_to_even_once(self):
        # (0.2 * 1e-9 + 0.3 * 0) / 0.5 = 0.4e-9 goes down; (0.3 * 1e-9) / 0.5 = 0.6e-9 goes up.
        card = simple_card("weighted-mean")
        self.assertEqual(exact(score_item(card, {"a": 1e-9, "b": 0})), 0)
        self.assertEqual(exact(score_item(card, {"a": 0, "b": 1e-9})), Fraction(1, 10**9))
        self.assertEqual(exact(score_item(card, {"a": 0, "b": 0, "c": 1e-9})), 0)  # a tie
        self.assertEqual(exact(score_item(card, {"a": 0, "b": 0, "c": 3e-9})), Fraction(2, 10**9))  # a tie

    def test_missing_policies(self):
        for policy, status, score in (
            ('"exclude"', "scored", "1"), ('"zero"', "scored", "0.8"), ("{ default = 0.5 }", "scored", "0.9"),
            ('"withhold"', "withheld", None),
        ):  # fmt: skip
            card = simple_card("weighted-mean")
            card.dimensions[0]["missing"] = tomllib.loads(f"p = {policy}", parse_float=Decimal)["p"]
            record = score_item(card, {"b": 1, "c": 1})
            self.assertEqual((record["status"], record["coverage"]), (status, Fraction("0.8")))
            self.assertEqual(record["score"] and exact(record), score and Fraction(score))
            self.assertEqual(record["bounds"], {"low": Fraction("0.8"), "high": 1})

    def test_groups(self):
        more = '[[group]]\nkey = "g"\nweight = 1\nmean = "minimum"\n'
        record = score_item(simple_card("weighted-mean", more, 'group = "g"'), {"a": 0.5, "b": 0.7})
        self.assertEqual((exact(record), record["coverage"]), (Fraction("0.5"), Fraction("0.5")))
        parts = [dimension["contribution"] for dimension in record["dimensions"]]
        self.assertEqual(sum(parts), Fraction("0.5"))
        self.assertEqual(parts[2], 0)
        (group,) = record["groups"]
        self.assertEqual((group["key"], group["reading"], group["weight"]), ("g", Fraction("0.5"), 1))
        self.assertEqual((group["contribution"], group["effective_weight"]), (Fraction("0.5"), 1))

    def test_not_applicable_leaves_mean_and_coverage(self):
        card = simple_card("weighted-mean")
        card.dimensions[2]["applies"] = parse("x > 5")
        record = score_item(card, {"a": 1, "b": 0.5, "c": 0, "x": 1})
        self.assertEqual((exact(record), record["coverage"]), (Fraction("0.7"), 1))
        self.assertEqual(record["bounds"], {"low": Fraction("0.7"), "high": Fraction("0.7")})


NESTED = (
    '[[group]]\nkey = "outer"\nweight = 0.7\n[[group]]\nkey = "inner"\nweight = 2\ngroup = "outer"\nmean = "{mean}"\n'
    '[[dimension]]\nkey = "d"\nweight = 0.3\n[[dimension]]\nkey = "e"\nweight = 3\ngroup = "outer"\n'
)
RULES = """
[[rule]]
name = "bonus"
when = "x > 5 and score > 0.4"
set = "min(1, score + 0.1)"
[[rule]]
name = "scaled"
when = "x < 3"
set = "score * x / 10"
[[gate]]
name = "floor"
when = "b < 0.25"
cap = 0.5
"""


class Properties(unittest.TestCase):
    """What holds of every record, on random cases over cards of every mean, flat and nested, with rules and gates."""

    def cards(self):
        for mean in ("weighted-sum", "weighted-mean", "geometric", "harmonic", "minimum"):
            yield simple_card(mean, RULES)
            inner = "geometric" if mean == "weighted-mean" else mean  # the mean of the parents already
            nested = simple_card("weighted-mean", NESTED.format(mean=inner) + RULES, 'group = "inner"')
            nested.facts |= {"d": {"min": 0, "max": 1}, "e": {"min": 0, "max": 1}}
            yield nested
        # Weights may sum to a little more than 1 here, and the score must not.
        yield simple_card("weighted-sum", "[override]\ntolerance = 0.001\n")
        yield card_of(WORKFLOW)
        yield card_of(TRACE)
        yield card_of(TRUST)

    def records(self, seed, count):
        for card in self.cards():
            for case in generate.cases(card, seed, count):
                yield card, case, score_item(card, case["facts"], case.get("override"))

    def test_contributions_and_steps_add_up_exactly(self):
        scored = 0
        for _, case, record in self.records(2, 200):
            if record["status"] == "scored":
                total = sum(dimension["contribution"] for dimension in record["dimensions"])
                for step in record["steps"]:
                    self.assertEqual(step["before"], total, case)
                    total = step["after"]
                self.assertEqual(total, exact(record), case)
                self.assertTrue(0 <= total <= 1, case)
                scored += 1
        self.assertGreater(scored, 1500)

    def test_complete_items_have_their_score_as_bounds(self):
        for card, case, record in self.records(3, 100):
            if all(case["facts"].get(name) is not None for name in card.facts) and record["status"] == "scored":
                published = record["score"]["published"]
                if all(dimension["status"] not in ("missing", "failed") for dimension in record["dimensions"]):
                    self.assertEqual(record["bounds"], {"low": published, "high": published}, case)

    def test_bounds_hold_the_score_of_every_completion(self):
        random = Random(4)
        checked = 0
        for card, case, record in self.records(5, 150):
            override = case.get("override")
            full = [fill for fill in generate.cases(card, random.randint(0, 10**9), 6)]
            for other in full:
                facts = {name: value for name, value in case["facts"].items() if value is not None}
                # A text fact chooses weights, which the bounds take as they are.
                filled = {n: v for n, v in other["facts"].items() if card.facts[n].get("type") != "text"} | facts
                try:
                    completed = score_item(card, filled, override)
                except Refused:
                    continue  # the two halves do not fit: x above the other's maximum
                if completed["status"] == "scored" and record["bounds"]:
                    value = completed["score"]["published"]
                    # Geometric and harmonic means are computed in doubles.
                    slack = Fraction(card.scale["max"], 10**9)
                    self.assertLessEqual(record["bounds"]["low"] - slack, value, (card.name, case, other))
                    self.assertLessEqual(value, record["bounds"]["high"] + slack, (card.name, case, other))
                    checked += 1
        self.assertGreater(checked, 5000)

    def test_cases_are_a_function_of_the_seed(self):
        card = card_of(TRUST)
        first, second, other = (list(generate.cases(card, seed, 20)) for seed in (6, 6, 7))
        self.assertEqual(first, second)
        self.assertNotEqual(first, other)


class Lines(unittest.TestCase):
    def test_decimals_survive_the_way_in_and_out(self):
        self.assertEqual(to_json(read_json('{"a":[0.1,1,null,true,"x"]}')), '{"a":[0.1,1,null,true,"x"]}')
        self.assertEqual(decimal_text(Fraction(1, 10**15)), "0.000000000000001")
        self.assertEqual(decimal_text(Fraction(1000)), "1000")
        with self.assertRaises(Refused):
            read_json('{"a":NaN}')

    def test_a_key_that_stands_twice_is_refused(self):
        line = '{"facts":{"accuracy":1},"override":{"accuracy":0.1,"safety":0.1,"accuracy":0.2}}'
        self.assertEqual(score_line(card_of(TRUST), line), {"refused": "the key `accuracy` stands twice"})
        self.assertIn("override", score_line(card_of(TRUST), line.replace(',"accuracy":0.2', "")))


class Vectors(unittest.TestCase):
    """The published vectors, through the card files of the project."""

    ROOT = Path(__file__).parent.parent

    def matches(self, expected, output):
        if isinstance(expected, dict):
            return all(key in output and self.matches(value, output[key]) for key, value in expected.items())
        if isinstance(expected, list):
            return len(expected) == len(output) and all(map(self.matches, expected, output))
        try:
            return abs(Fraction(expected) - Fraction(output)) <= Fraction(2, 10**9)
        except (ValueError, TypeError):
            return expected == output

    def test_vectors(self):
        cards = self.ROOT / "scorecards"
        answered = 0
        for file in sorted((self.ROOT / "vectors").glob("*.jsonl")):
            for line in file.read_text(encoding="utf-8").splitlines():
                case = json.loads(line)
                if case.get("fn") not in conformance.FUNCTIONS:
                    continue
                answer = conformance.answer(read_json(line), cards)
                if "schema_invalid" in case.get("tags", []):
                    self.assertIn("refused", answer)
                else:
                    output = json.loads(to_json(answer))["output"]
                    self.assertTrue(self.matches(case["expected"], output), f"{line}\n{output}")
                answered += 1
        self.assertGreaterEqual(answered, 147)


if __name__ == "__main__":
    unittest.main()
