"""karat, written down a second time: how a scorecard turns facts into a score.

The engine is Rust and fast; this file is the same definition, made to be read from top to bottom and to disagree with
the engine wherever one of the two is wrong. It follows docs/guide and docs/decisions/0001-numbers.md, knows nothing of
the Rust sources, and uses the Python standard library alone.

Formulas compute in doubles, as documented. Everything after a reading is an exact fraction. One thing is not portable
here: `exp`, `ln`, `log2` and `pow` come from Python's mathematical library and may differ from the engine's `libm` in
the last bit; rounding to 1e-9 hides that, except for a value that lies within such a bit of a tie or of a threshold.

formula.py is the formula language and card.py the scorecard; read on here for what is done with them.
"""

import argparse
import json
import math
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from card import (
    READING_PLACES, SCORE_PLACES, WEIGHT_PLACES, decimal_text, double_on_grid, exact_decimal, load_card, on_grid,
)  # fmt: skip
from standing import remains
from formula import (
    FAILED, MISSING, UNDECIDED, Interval, NoValue, Possible, Refused, evaluate, evaluate_interval, hull, point,
)  # fmt: skip

# 1. Facts and readings


def check_facts(card, given):
    """The card's facts by name: a double, a boolean, a text, or MISSING. What the card does not declare is ignored."""
    facts = {}
    for name, declared in card.facts.items():
        value = given.get(name)
        kind = declared.get("type", "number")
        if value is None:
            facts[name] = MISSING
        elif kind == "number" and isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
            try:
                facts[name] = float(value)
            except OverflowError:
                facts[name] = math.inf
            if not math.isfinite(facts[name]):
                raise Refused(f"fact `{name}` is `{value}`, expected a finite number")
            if "unknown" in declared and facts[name] == float(declared["unknown"]):
                facts[name] = MISSING
        elif isinstance(value, {"number": (), "boolean": bool, "text": str}[kind]):
            facts[name] = value
        else:
            raise Refused(f"fact `{name}` is `{value}`, expected a {kind}")
    for name, declared in card.facts.items():
        value = facts[name]
        if value is MISSING or declared.get("type", "number") != "number":
            continue
        low, high = declared.get("min"), declared.get("max")
        if isinstance(high, str):
            high = facts[high]
        if low is not None and value < float(low):
            raise Refused(f"fact `{name}` is {value}, expected at least {low}")
        if high is not None and high is not MISSING and value > float(high):
            raise Refused(f"fact `{name}` is {value}, expected at most {high}")
        if declared.get("integer") and value != math.floor(value):
            raise Refused(f"fact `{name}` is {value}, expected a whole number")
    return facts


NOTHING = {}  # no names beyond those of the card


class Reading(NamedTuple):
    status: str  # scored, gated, not-applicable, missing, failed
    value: Fraction | None  # after decay
    before: Fraction | None = None  # of what was measured: before decay
    age_seconds: Fraction | None = None


class Item:
    """One item of evidence under one card: the values and the ranges of all names."""

    def __init__(self, card, given, elapsed_seconds=None):
        self.card = card
        self.elapsed_seconds = elapsed_seconds
        self.facts = check_facts(card, given)
        self.readings = {}
        for dimension in card.dimensions:
            self.reading(dimension["key"])

    def reading(self, key):
        if key not in self.readings:
            dimension = next(entry for entry in self.card.dimensions if entry["key"] == key)
            self.readings[key] = self.read(dimension)
        return self.readings[key]

    def read(self, dimension):
        value = True
        if dimension["applies"]:
            value = self.evaluate(dimension["applies"])
            if value is False:
                return Reading("not-applicable", None)
        if dimension["when"] and value is True:
            value = self.evaluate(dimension["when"])
            if value is False:
                return Reading("gated", Fraction(0))
        if value is True:
            value = self.evaluate(dimension["formula"], own=dimension["key"])
        if not isinstance(value, NoValue):
            return self.aged(dimension, double_on_grid(value, READING_PLACES))
        policy = dimension["missing"]
        if policy == "zero":
            return Reading(value.status, Fraction(0))
        if isinstance(policy, dict):
            return Reading(value.status, on_grid(policy["default"], READING_PLACES))
        return Reading(value.status, None)

    def aged(self, dimension, before):
        """A measured reading less what the age of its evidence takes: the age at the time of the item, as far as a fact
        states it, and what has elapsed since, as far as that is known; a time in the future takes nothing off."""
        if not self.card.decay:
            return Reading("scored", before, before)
        stated = self.facts[dimension["age"]] if dimension["age"] else MISSING
        age = self.elapsed_seconds if stated is MISSING else stated + max(0, self.elapsed_seconds or 0)
        age = None if age is None else Fraction(age)
        if age is None or self.card.decay["scope"] == "composite":
            return Reading("scored", before, before, age)
        return Reading("scored", on_grid(remains(self.card.decay, before, age), READING_PLACES), before, age)

    def evaluate(self, tree, own=None, extra=NOTHING):
        return evaluate(tree, lambda name: self.value_of(name, own, extra))

    def value_of(self, name, own=None, extra=NOTHING):
        """A dimension's name is its reading, except in its `own` formula, where it is the fact."""
        if name in extra:
            return extra[name]
        if name in self.card.keys and name != own:
            reading = self.reading(name)
            if reading.value is not None:
                return float(reading.value)
            return FAILED if reading.status == "failed" else MISSING
        if name in self.facts:
            return self.facts[name]
        if name in self.card.lets:
            return self.evaluate(self.card.lets[name])
        raise Refused(f"`{self.card.name}`: unknown name `{name}`")


# 2. Weights

MOST_WEIGHT_UNITS = 8_000_000  # of the greatest common divisor of the members of a mean: decision 0001


def weights_of(card, facts):
    """The weights of the card or of the profile that a text fact chooses, and what the record says of the profile."""
    if not card.profiles:
        return card.weights, None
    asked = facts[card.profiles["by"]]
    fallback = asked not in card.profile_weights
    name = card.profiles["fallback"] if fallback else asked
    record = {"name": name, "asked": None if asked is MISSING else asked, "fallback": fallback}
    return card.weights | card.profile_weights[name], record


def apply_override(card, base, override):
    """The effective weights, and what the record says of the override (null: none was given)."""
    if override is None:
        return base, None

    def rejected(merged_sum, reason):
        return base, {"outcome": "rejected", "merged_sum": merged_sum, "reason": reason}

    if not card.override:
        return rejected(None, "the card accepts no override")
    numbers = (int, Decimal)
    strange = [key for key, value in override.items() if isinstance(value, bool) or not isinstance(value, numbers)]
    if strange:
        return rejected(None, f"the weight of `{strange[0]}` is not a number")
    given = {key: Fraction(value) for key, value in override.items()}
    merged = base | {key: weight for key, weight in given.items() if key in card.keys}
    total = card.top_sum(merged)
    for key, weight in given.items():
        if key not in card.keys:
            return rejected(total, f"unknown dimension `{key}`")
        if weight < 0:
            return rejected(total, f"the weight of `{key}` is negative")
        if weight != exact_decimal(weight):
            return rejected(total, f"the weight of `{key}` has more than {WEIGHT_PLACES} places")
    for group in [None] + [group["key"] for group in card.groups]:
        members = [int(merged[entry["key"]] * 10**WEIGHT_PLACES) for entry in card.members(group)]
        if sum(members) > MOST_WEIGHT_UNITS * max(1, math.gcd(*members)):
            return rejected(total, "the merged weights are too fine for their size")
    tolerance = exact_decimal(card.override["tolerance"])
    if abs(total - 1) > tolerance:
        return rejected(total, f"the merged sum is off 1 by more than {decimal_text(tolerance)}")
    return merged, {"outcome": "applied", "merged_sum": total, "reason": None}


# 3. The mean


def mean(kind, pairs):
    """The mean of (weight, reading) pairs; None without any weight."""
    total = sum((weight for weight, _ in pairs), Fraction(0))
    if total == 0:
        return None
    pairs = [(weight, reading) for weight, reading in pairs if weight > 0]
    if kind == "minimum":
        return min(reading for _, reading in pairs)
    if kind in ("weighted-sum", "weighted-mean"):
        products = sum(weight * reading for weight, reading in pairs)
        # Only a tolerance lets weights sum to more than 1; the score ends at 1 all the same.
        return min(products, Fraction(1)) if kind == "weighted-sum" else on_grid(products / total, READING_PLACES)
    if any(reading == 0 for _, reading in pairs):
        return Fraction(0)
    accumulated = 0.0
    for weight, reading in pairs:
        millionths = float(weight * 10**WEIGHT_PLACES)
        accumulated += millionths * math.log(float(reading)) if kind == "geometric" else millionths / float(reading)
    millionths = float(total * 10**WEIGHT_PLACES)
    value = math.exp(accumulated / millionths) if kind == "geometric" else millionths / accumulated
    return double_on_grid(value, READING_PLACES)


def member_readings(card, group, weights, readings):
    """(entry, weight, reading) of what has a reading in a group (None: the card); that of a group is its composite."""
    result = []
    for entry in card.members(group):
        key = entry["key"]
        reading = readings.get(key) if key in card.keys else group_mean(card, entry, weights, readings)
        if reading is not None:
            result.append((entry, weights[key], reading))
    return result


def group_mean(card, group, weights, readings):
    """The composite of a group, rounded to the grid of readings; None without any reading."""
    members = member_readings(card, group["key"], weights, readings)
    composite = mean(group["mean"], [(weight, reading) for _, weight, reading in members])
    return None if composite is None else on_grid(composite, READING_PLACES)


def composite_of(card, weights, readings):
    """The composite of the card, 0..1; None if there is nothing to score."""
    return mean(card.mean, [(weight, reading) for _, weight, reading in member_readings(card, None, weights, readings)])


def groups_of(card, item, weights, readings, contributions, effective):
    """The groups of a record: the mean of each, and the sums of what its dimensions make."""

    def dimensions(group):
        """The dimensions in a group, and in its groups."""
        for entry in card.members(group):
            if entry["key"] in card.keys:
                yield entry
            else:
                yield from dimensions(entry["key"])

    def is_withheld(entry):
        return entry["missing"] == "withhold" and item.readings[entry["key"]].status in ("missing", "failed")

    result = []
    for group in card.groups:
        own = list(dimensions(group["key"]))
        withheld = any(is_withheld(entry) for entry in own)
        result.append(
            {
                "key": group["key"],
                "reading": None if withheld else group_mean(card, group, weights, readings),
                "weight": card.weights[group["key"]],
                "effective_weight": sum((effective.get(entry["key"], Fraction(0)) for entry in own), Fraction(0)),
                "contribution": sum((contributions.get(entry["key"], Fraction(0)) for entry in own), Fraction(0)),
                "group": group["group"],
            }
        )
    return result


def apportion(total, parts, places):
    """Parts rounded down to the grid; the units left over go to the largest remainders, the first among equals."""
    units = [part * 10**places for part in parts]
    whole = [math.floor(unit) for unit in units]
    left_over = int(total * 10**places) - sum(whole)
    by_remainder = sorted(range(len(parts)), key=lambda index: whole[index] - units[index])
    for index in by_remainder[:left_over]:
        whole[index] += 1
    return [Fraction(unit, 10**places) for unit in whole]


def contributions_of(card, weights, readings):
    """What each dimension brings to the arithmetic mean, and its share of the weight; both add up exactly."""
    places = SCORE_PLACES if card.mean == "weighted-sum" else READING_PLACES
    contributions, effective = {}, {}

    def share_out(exact, total, share, members):
        """Shares `total`, which is `exact` after rounding, in proportion to weight times reading; `share` to weight."""
        products, sum_of_weights = sum_of_products(members), sum(weight for _, weight, _ in members)
        parts = [exact * weight * reading / products if products else Fraction(0) for _, weight, reading in members]
        shares = [share * weight / sum_of_weights if sum_of_weights else Fraction(0) for _, weight, _ in members]
        if not card.mean == "weighted-sum" or members != top:
            shares = apportion(share, shares, READING_PLACES)
        for (entry, _, _), part, share in zip(members, apportion(total, parts, places), shares):
            if entry["key"] in card.keys:
                contributions[entry["key"]], effective[entry["key"]] = part, share
            else:
                share_out(part, part, share, member_readings(card, entry["key"], weights, readings))

    top = member_readings(card, None, weights, readings)
    sum_of_weights = sum(weight for _, weight, _ in top)
    exact = sum_of_products(top) / (1 if card.mean == "weighted-sum" else sum_of_weights)
    whole = sum_of_weights if card.mean == "weighted-sum" else Fraction(1)
    share_out(exact, on_grid(exact, places), whole, top)
    return contributions, effective


def sum_of_products(members):
    return sum((weight * reading for _, weight, reading in members), Fraction(0))


def coverage_of(card, item, weights, group=None):
    """The weight of what is scored or gated, divided by the weight of what applies; None if nothing applies."""
    parts = []
    for entry in card.members(group):
        key = entry["key"]
        if key not in card.keys:
            covered = coverage_of(card, item, weights, key)
        elif item.readings[key].status == "not-applicable":
            covered = None
        else:
            covered = Fraction(item.readings[key].status in ("scored", "gated"))
        if covered is not None:
            parts.append((weights[key], covered))
    if not parts:
        return None
    total = sum(weight for weight, _ in parts)
    return on_grid(sum(weight * covered for weight, covered in parts) / total, READING_PLACES) if total else Fraction(0)


# 4. After the mean: rules, gates, publication, band, tier


def cap_of(card, gate):
    """The cap of a gate in 0..1; a gate that only blocks tiers caps at 1."""
    return exact_decimal(gate["cap"]) / card.scale["max"] if "cap" in gate else Fraction(1)


def run_rules_and_gates(card, item, composite, coverage):
    """The score, its steps, the names of what was undecided, and the gates that held. Without a composite there are
    conditions all the same, but nothing to change."""
    score, steps, undecided, held = composite, [], [], []

    def evaluate_here(tree):
        names = {"score": score, "composite": composite, "coverage": coverage}
        names = {name: MISSING if value is None else float(value) for name, value in names.items()}
        return item.evaluate(tree, extra=names)

    for rule in card.rules:
        condition = evaluate_here(rule["when"])
        value = evaluate_here(rule["set"]) if condition is True else condition
        if isinstance(value, NoValue):
            undecided.append(rule["name"])
        elif condition and score is not None:
            before, score = score, double_on_grid(value, SCORE_PLACES)
            steps.append({"kind": "rule", "name": rule["name"], "before": before, "after": score})
    for gate in card.gates:
        condition = evaluate_here(gate["when"])
        if isinstance(condition, NoValue):
            undecided.append(gate["name"])
        elif condition:
            held.append(gate)
            if "cap" in gate and score is not None:
                before, score = score, min(score, cap_of(card, gate))
                steps.append({"kind": "gate", "name": gate["name"], "before": before, "after": score})
    return score, steps, undecided, held


def publish(card, score):
    """The score on the scale of the card, rounded as the card says."""
    points = score * card.scale["max"]
    grid = 10 ** card.scale["places"]
    if card.scale["publish"] == "floor":
        return Fraction(math.floor(points * grid), grid)
    if card.scale["publish"] == "half-up":
        return Fraction(math.floor(points * grid + Fraction(1, 2)), grid)
    return points


def band_of(card, published):
    reached = [band["name"] for band in card.bands if published >= exact_decimal(band["from"])]
    return reached[-1] if reached else None


def tier_of(card, item, published, coverage, held):
    """The highest tier whose conditions hold, with those of every lower one, and that no gate forbids."""
    names = [tier["name"] for tier in card.tiers]
    allowed = len(names)
    for gate in held:
        if "tier" in gate:
            allowed = min(allowed, 0 if gate["tier"] == "none" else names.index(gate["tier"]) + 1)
    reached, mandatory = None, []
    for tier in card.tiers[:allowed]:
        mandatory = mandatory + tier.get("mandatory", [])
        floors = [(key, tier.get("floor", 0)) for key in mandatory] + list(tier.get("require", {}).items())
        holds = (
            published >= exact_decimal(tier.get("score", 0))
            and coverage >= exact_decimal(tier.get("coverage", 0))
            and all(reaches(item.readings[key], exact_decimal(floor)) for key, floor in floors)
        )
        if not holds:
            break
        reached = tier["name"]
    return reached


def reaches(reading, floor):
    return reading.status in ("scored", "gated") and reading.value >= floor


# 5. Bounds

UNIT = Interval(0.0, 1.0)


class Outlook:
    """What the names of a card could still be for one item: for each an interval, and whether it is known and settled."""

    def __init__(self, card, item):
        self.card, self.item = card, item
        self.lets = {}
        self.open = {}
        self.readings = {}
        for dimension in card.dimensions:
            self.reading(dimension["key"])

    def formulas(self, key):
        dimension = next(entry for entry in self.card.dimensions if entry["key"] == key)
        return [dimension[field] for field in ("applies", "when", "formula")]

    def is_open(self, key):
        """Whether a dimension rests on something missing, even if it was given a reading."""
        if key not in self.open:
            unknown = self.item.readings[key].status in ("missing", "failed")
            self.open[key] = unknown or any(self.rests_on_missing(tree, key) for tree in self.formulas(key)[:2])
            self.open[key] = self.open[key] or self.rests_on_missing(self.formulas(key)[2], key, own=key)
        return self.open[key]

    def rests_on_missing(self, tree, key, own=None):
        if tree is None or tree[0] == "constant":
            return False
        if tree[0] == "call":
            return any(self.rests_on_missing(operand, key, own) for operand in tree[2])
        name = tree[1]
        if name in self.card.keys and name != own:
            return self.is_open(name)
        if name in self.card.lets:
            return self.rests_on_missing(self.card.lets[name], key)
        return self.item.facts[name] is MISSING

    def reading(self, key):
        """What the reading of a dimension could still become; None in place of the interval: it stays out of the mean."""
        if key not in self.readings:
            self.readings[key] = self.find_reading(key)
        return self.readings[key]

    def find_reading(self, key):
        status, current = self.item.readings[key][:2]
        applies, when, formula = self.formulas(key)
        surely = Possible(point(True), True, True)
        if status in ("missing", "failed"):
            return Possible(UNIT, False, False)
        if not self.is_open(key):
            return Possible(None, False, False) if current is None else Possible(point(float(current)), True, True)
        applies = self.evaluate(applies) if applies else surely
        if status == "not-applicable" and not applies.range.high:
            return Possible(None, False, False)
        when = self.evaluate(when) if when else surely
        if not (applies.range.low and applies.settled and when.settled):
            return Possible(UNIT, False, False)
        parts = []
        if when.range.high:
            value = self.evaluate(formula, own=key)
            if not value.settled:
                return Possible(UNIT, False, False)
            low, high = (double_on_grid(end, READING_PLACES) for end in within_unit(value.range))
            age = self.item.readings[key].age_seconds
            if age is not None and self.card.decay["scope"] == "dimension":
                # What is still to come may be as old, or of now.
                low = on_grid(remains(self.card.decay, low, age), READING_PLACES)
            parts.append(Interval(float(low), float(high)))
        if not when.range.low:
            parts.append(point(0.0))
        if current is not None:
            parts.append(point(float(current)))
        result = Interval(min(part.low for part in parts), max(part.high for part in parts))
        return Possible(result, result.low == result.high, True)

    def fact(self, name):
        """A known fact is a point, a missing one its declared range."""
        value, declared = self.item.facts[name], self.card.facts[name]
        if value is not MISSING:
            return Possible(point(value), True, True)
        if declared.get("type") == "boolean":
            return Possible(UNDECIDED, False, True)
        low, high = float(declared.get("min", -math.inf)), declared.get("max", math.inf)
        if isinstance(high, str):
            other = self.item.facts[high]
            high = self.card.facts[high].get("max", math.inf) if other is MISSING else other
            high = math.inf if isinstance(high, str) else high
        return Possible(Interval(low, max(low, float(high))), False, True)

    def evaluate(self, tree, own=None, extra=NOTHING):
        """`extra` has the intervals of `score`, `composite` and `coverage`."""

        def look(name):
            if name in extra:
                return Possible(extra[name], True, True)
            if name in self.card.keys and name != own:
                reading = self.reading(name)
                return reading._replace(range=reading.range or UNIT)
            if name in self.item.facts:
                return self.fact(name)
            if name not in self.lets:
                self.lets[name] = self.evaluate(self.card.lets[name])
            return self.lets[name]

        return evaluate_interval(tree, look, self.is_share)

    def is_share(self, x, y):
        declared = self.card.facts.get(x, {})
        both_facts = y in self.card.facts and not {x, y} & self.card.keys
        return both_facts and declared.get("min") == 0 and declared.get("max") == y


def within_unit(interval):
    """What an interval has in common with 0..1; all of 0..1 if that is nothing, which no sound card asks for."""
    low, high = max(interval.low, 0.0), min(interval.high, 1.0)
    return Interval(low, high) if low <= high else UNIT


def bounds_of(card, item, weights, profile, coverage, score, undecided):
    """The lowest and highest score that the missing parts could still give, published; None where nothing applies."""
    statuses = [reading.status for reading in item.readings.values()]
    ages = {dimension["age"] for dimension in card.dimensions}
    facts = [value for name, value in item.facts.items() if name not in ages]
    certain = not undecided and MISSING not in facts and not {"missing", "failed"} & set(statuses)
    if score is not None and certain:
        return {"low": publish(card, score), "high": publish(card, score)}
    outlook = Outlook(card, item)
    asked_for = [weights]
    if profile and profile["asked"] is None:
        asked_for = [weights | own for own in card.profile_weights.values()]
    coverage = coverage_range(outlook, coverage, len(asked_for) == 1)
    found = [range_of_score(card, outlook, weights, coverage) for weights in asked_for]
    found = [each for each in found if each] + ([] if score is None else [point(score)])
    if not found:
        return None
    low, high = min(each.low for each in found), max(each.high for each in found)
    return {"low": publish(card, low), "high": publish(card, high)}


def coverage_range(outlook, coverage, profile_known):
    unsettled = [key for key, seen in outlook.readings.items() if seen.range and not seen.settled]
    if not unsettled:
        return point(float(coverage))
    statuses = {outlook.item.readings[key].status for key in unsettled}
    return Interval(float(coverage) if profile_known and statuses <= {"missing", "failed"} else 0.0, 1.0)


def range_of_score(card, outlook, weights, coverage):
    """Mean, rules and gates over intervals."""
    ranges = {key: seen.range for key, seen in outlook.readings.items() if seen.range}

    def composite(end):
        return composite_of(card, weights, {key: double_on_grid(end(seen), READING_PLACES) for key, seen in ranges.items()})

    if composite(min) is None:
        return None
    # A composite that decays as a whole may do so by its newest evidence as it is, or by newer.
    low = decayed_composite(card, outlook.item, composite(min))
    score = first = Interval(low, composite(max))

    def evaluate_here(tree):
        extra = {"score": Interval(*map(float, score)), "composite": Interval(*map(float, first)), "coverage": coverage}
        return outlook.evaluate(tree, extra=extra)

    for rule in card.rules:
        when = evaluate_here(rule["when"])
        if when.range.high:
            value = evaluate_here(rule["set"])
            changed = Interval(*(double_on_grid(end, SCORE_PLACES) for end in within_unit(value.range)))
            score = changed if when.range.low and when.settled and value.settled else hull(score, changed)
    for gate in card.gates:
        when = evaluate_here(gate["when"])
        if when.range.high:
            cap = cap_of(card, gate)
            surely = when.range.low and when.settled
            score = Interval(min(score.low, cap), min(score.high, cap) if surely else score.high)
    return score


# 6. All of it, in order


def decay_of(reading):
    """What a record says of the age of evidence; nothing where it is not known."""
    if reading.age_seconds is None:
        return {}
    return {"decay": {"age_seconds": reading.age_seconds, "before": reading.before}}


def decayed_composite(card, item, composite):
    """The composite less what the age of its newest evidence takes, where it decays as a whole."""
    ages = [reading.age_seconds for reading in item.readings.values() if reading.age_seconds is not None]
    if composite is None or not ages or not card.decay or card.decay["scope"] != "composite":
        return composite
    return on_grid(remains(card.decay, composite, min(ages)), READING_PLACES)


def score_item(card, given, override=None, elapsed_seconds=None):
    """The part of the record that the engine computes, with the member names of docs/guide/record.md."""
    if card.is_family:
        raise Refused(f"`{card.name}` is a palette; score a challenge that is based on it")
    item = Item(card, given, elapsed_seconds)
    base_weights, profile = weights_of(card, item.facts)
    weights, override_record = apply_override(card, base_weights, override)
    readings = {key: reading.value for key, reading in item.readings.items()}

    average = composite_of(card, weights, readings)
    composite = decayed_composite(card, item, average)
    coverage = coverage_of(card, item, base_weights) or Fraction(0)
    withheld = any(
        dimension["missing"] == "withhold" and item.readings[dimension["key"]].status in ("missing", "failed")
        for dimension in card.dimensions
    )
    status = "withheld" if withheld else "unscored" if composite is None else "scored"

    if withheld:
        composite = None
    score, steps, undecided, held = run_rules_and_gates(card, item, composite, coverage)
    published, band, tier, contributions, effective = None, None, None, {}, {}
    if status == "scored":
        contributions, effective = contributions_of(card, weights, readings)
        arithmetic = sum(contributions.values())
        first = []
        if card.mean not in ("weighted-sum", "weighted-mean") or arithmetic != average:
            first.append({"kind": "mean", "name": card.mean, "before": arithmetic, "after": average})
        if composite != average:
            first.append({"kind": "decay", "name": "decay", "before": average, "after": composite})
        steps = first + steps
        published = publish(card, score)
        band = band_of(card, published)
        tier = tier_of(card, item, published, coverage, held)

    groups = groups_of(card, item, weights, readings, contributions, effective)
    return ({"groups": groups} if groups else {}) | {
        "status": status,
        "score": None if score is None else {"exact": score, "published": published},
        "composite": composite,
        "coverage": coverage,
        "bounds": bounds_of(card, item, weights, profile, coverage, score, undecided),
        "profile": profile,
        "override": override_record,
        "dimensions": [
            {
                "key": key,
                "status": item.readings[key].status,
                "reading": item.readings[key].value,
                "weight": weights[key],
                "effective_weight": effective.get(key, Fraction(0)),
                "contribution": contributions.get(key, Fraction(0)),
            }
            | decay_of(item.readings[key])
            for key in (dimension["key"] for dimension in card.dimensions)
        ],
        "steps": steps,
        "undecided": undecided,
        "gates": [gate["name"] for gate in held],
        "band": band,
        "tier": {"name": tier} if card.tiers else None,
    }


# 7. Lines in, lines out


def read_json(line):
    """JSON with its decimals kept as they are written, and no key of an object twice."""

    def refuse(constant):
        raise Refused(f"`{constant}` is not a number")

    def members(pairs):
        found = {}
        for key, value in pairs:
            if key in found:
                raise Refused(f"the key `{key}` stands twice")
            found[key] = value
        return found

    try:
        return json.loads(line, parse_float=Decimal, parse_constant=refuse, object_pairs_hook=members)
    except json.JSONDecodeError as error:
        raise Refused(f"not JSON: {error}") from error


def to_json(value):
    """JSON text in which a fraction is its exact decimal."""
    if isinstance(value, Fraction):
        return decimal_text(value)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{to_json(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(to_json, value)) + "]"
    return json.dumps(value)


def score_line(card, line):
    try:
        case = read_json(line)
        if not isinstance(case, dict) or not isinstance(case.get("facts"), dict):
            raise Refused("expected an object with `facts`, an object")
        if not isinstance(case.get("override"), dict | None):
            raise Refused("expected `override` to be an object or null")
        return score_item(card, case["facts"], case.get("override"), case.get("elapsed_seconds"))
    except Refused as refused:
        return {"refused": str(refused)}


def lines_of(names):
    for name in names:
        if name == "-":
            yield from filter(str.strip, sys.stdin)
        else:
            yield from filter(str.strip, Path(name).read_text(encoding="utf-8").splitlines())


def main():
    import conformance
    import generate
    import standing_cases

    parser = argparse.ArgumentParser(description="The second implementation of karat's scoring.")
    commands = parser.add_subparsers(dest="command", required=True)
    names = ("score", "conform", "generate", "standing")
    score, conform, cases, standing = (commands.add_parser(name) for name in names)
    for command in (score, conform, cases):
        command.add_argument("--cards", default=Path(__file__).parent.parent / "scorecards", help="folder of the cards")
    for command in (score, cases):
        command.add_argument("--card", required=True, help="a file, or id@version")
    score.add_argument("file", nargs="?", default="-", help="lines of {facts, override}; - is standard input")
    conform.add_argument("file", nargs="+", help="lines of {id, fn, input}; - is standard input")
    cases.add_argument("--seed", type=int, required=True)
    cases.add_argument("--count", type=int, required=True)
    standing.add_argument("--seed", type=int, required=True)
    standing.add_argument("--percent", type=int, default=100, help="how many of the usual number of cases")
    arguments = parser.parse_args()
    try:
        if arguments.command == "conform":
            answers = (conformance.answer(read_json(line), arguments.cards) for line in lines_of(arguments.file))
        elif arguments.command == "score":
            card = load_card(arguments.card, arguments.cards)
            answers = (score_line(card, line) for line in lines_of([arguments.file]))
        elif arguments.command == "standing":
            answers = standing_cases.cases(arguments.seed, arguments.percent)
        else:
            card = load_card(arguments.card, arguments.cards)
            answers = generate.cases(card, arguments.seed, arguments.count)
        for answer in answers:
            print(to_json(answer))
    except (Refused, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
