"""Random cases for a card, one input line of `model.py score` each: within the declared ranges, on their edges, on the
numbers that the card's formulas compare with, and with facts missing. The same seed gives the same cases.
"""

import math
from decimal import Decimal
from fractions import Fraction
from random import Random

from card import decimal_text
from formula import MISSING, Refused
from model import weights_of

MISSING_SHARE = 0.2  # of the facts of a case
COMPLETE_SHARE = 0.3  # of the cases: no fact missing
GOOD_SHARE = 0.3  # of the cases: numbers in the upper half of their range, so that high tiers and gates are met
OVERRIDE_SHARE = 0.5
LARGEST_COUNT = 12  # for whole numbers without a declared maximum


def constants_of(tree):
    """The numbers that stand in a formula."""
    if tree is None or tree[0] == "name":
        return []
    if tree[0] == "constant":
        return [] if isinstance(tree[1], bool) else [tree[1]]
    return [constant for operand in tree[2] for constant in constants_of(operand)]


def thresholds_of(card):
    """The numbers a card compares with; where they fall inside a fact's range they are edges too."""
    trees = list(card.lets.values())
    for entry in card.dimensions + card.rules + card.gates:
        trees += [entry.get(field) for field in ("formula", "when", "applies", "set")]
    numbers = [constant for tree in trees for constant in constants_of(tree)]
    for tier in card.tiers:
        numbers += [float(number) for number in [tier.get("floor", 0), *tier.get("require", {}).values()]]
    return sorted(set(numbers))


def random_number(random, low, high, integer, thresholds, good):
    """A number in low..high; an end that is None is open."""
    if good and high is not None and random.random() < 0.9:
        middle = ((low or 0.0) + high) / 2
        low = float(math.ceil(middle)) if integer else middle
    if integer:
        top = (low or 0) + LARGEST_COUNT
        top = top if high is None else min(top, high)
        inside = [low, high] + [n + step for n in thresholds if n == int(n) for step in (-1, 0, 1)]
        edges = sorted({int(n) for n in inside if n is not None and (low or 0) <= n and (high is None or n <= high)})
        if edges and random.random() < 0.35:
            return random.choice(edges)
        return random.randint(int(low or 0), int(top))
    bottom = 0.0 if low is None else low
    top = high if high is not None else bottom + 10.0 ** random.randint(-2, 3)
    value = random.uniform(bottom, top)
    kind = random.random()
    if kind < 0.45:
        value = round(value, random.randint(0, 4))
    elif kind < 0.75:
        near = random.choice([bottom, top] + thresholds)
        value = random.choice([near, near, math.nextafter(near, math.inf), math.nextafter(near, -math.inf)])
    return min(max(value, bottom), top)


def random_age(random):
    """Whole seconds, up to three years: around the grace of a week, whole weeks, and anything between."""
    week = 604_800
    return max(0, random.choice([week, week * random.randint(0, 150), random.randint(0, 150 * week)]) + random.randint(-1, 1))


def random_text(random, card):
    names = sorted(card.profile_weights)
    known = random.choice(names) if names else "a"
    return random.choice([known, known, known, known.upper(), known + " ", "unheard-of", ""])


def random_facts(random, card, thresholds):
    facts = {}
    ages = {dimension["age"] for dimension in card.dimensions}
    missing_share = 0.0 if random.random() < COMPLETE_SHARE else MISSING_SHARE
    good = random.random() < GOOD_SHARE

    def draw(name):
        declared = card.facts[name]
        if name in facts:
            return
        kind = declared.get("type", "number")
        low, high = declared.get("min"), declared.get("max")
        if isinstance(high, str):
            draw(high)
            high = facts[high]
        low, high = (None if end is None else float(end) for end in (low, high))
        if random.random() < missing_share:
            facts[name] = None
        elif name in ages:
            facts[name] = random_age(random)
        elif kind == "boolean":
            facts[name] = random.random() < 0.5
        elif kind == "text":
            facts[name] = random_text(random, card)
        elif high is not None and low is not None and high < low:
            facts[name] = None
        else:
            facts[name] = random_number(random, low, high, declared.get("integer", False), thresholds, good)

    for name in card.facts:
        draw(name)
    # A missing fact is absent or null; both mean the same.
    return {name: facts[name] for name in card.facts if facts[name] is not None or random.random() < 0.2}


def random_override(random, card, facts):
    """A partial table of weights: shifted, at the tolerance, just beyond it, or not a table of weights at all."""
    keys = [entry["key"] for entry in card.members(None) if entry["key"] in card.keys]
    given = {name: value for name, value in facts.items() if value is not None}
    base, _ = weights_of(card, dict.fromkeys(card.facts, MISSING) | given)
    tolerance = Fraction(card.override["tolerance"])
    first, second = random.sample(keys, 2) if len(keys) > 1 else keys * 2
    shift = Fraction(random.randint(0, 10**6), 10**6) * base[first]
    shift = Fraction(math.floor(shift * 10**6), 10**6)
    off = 1 - card.top_sum(base)  # what brings the sum to exactly 1
    millionth = Fraction(1, 10**6)
    amount = random.choice([Fraction(0), tolerance, -tolerance, tolerance + millionth, -tolerance - millionth])
    override = {first: base[first] - shift, second: base[second] + shift + off + amount}
    if first == second:
        override = {first: base[first] + off + amount}
    inner = sorted(card.keys - set(keys))
    if inner and random.random() < 0.5:
        # No sum holds the weights inside a group.
        weights = [Fraction(0), Fraction(1, 4), Fraction(3), Fraction(10**12 + 1, 10**6)]
        override[random.choice(inner)] = random.choice(weights)
    kind = random.random()
    if kind < 0.08:
        override = {}
    elif kind < 0.16:
        override["no_such_dimension"] = Fraction(1, 10)
    elif kind < 0.24:
        override = {first: -millionth}
    elif kind < 0.32:
        override = {first: base[first] + millionth / 10}
    return {key: Decimal(decimal_text(weight)) for key, weight in override.items()}


def cases(card, seed, count):
    if card.is_family:
        raise Refused(f"`{card.name}` is a palette; generate for a challenge that is based on it")
    source = Random(seed)
    thresholds = thresholds_of(card)
    for _ in range(count):
        facts = random_facts(source, card, thresholds)
        case = {"facts": facts}
        if card.override and source.random() < OVERRIDE_SHARE:
            case["override"] = random_override(source, card, facts)
        if card.decay and source.random() < 0.7:
            case["elapsed_seconds"] = random_age(source)
        yield case
