"""The formula language of docs/guide/formula.md: reading it, its values, and its intervals.

`exp`, `ln`, `log2` and `pow` come from Python's mathematical library; they may differ from the engine's `libm` in the
last bit (see model.py).
"""

import math
import operator
import re
from typing import NamedTuple


class Refused(Exception):
    """A card or an item that cannot be scored; the message says why."""


# 1. Reading
#
# A formula becomes a tree of ("constant", value), ("name", name) and ("call", operation, operands); operators are
# operations like any other.

TOKEN = re.compile(r"\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(<=|>=|==|!=|[-+*/()<>,]))", re.ASCII)
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def parse(text):
    tokens = []
    position = 0
    text = text.strip()
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match:
            raise Refused(f"`{text}`: cannot read on from `{text[position:]}`")
        tokens.append(match)
        position = match.end()
    tree, rest = parse_or([match.group().strip() for match in tokens])
    if rest:
        raise Refused(f"`{text}`: expected the end, found `{rest[0]}`")
    return tree


def parse_chain(operators, parse_operand):
    """operand { operator operand }, grouped to the left."""

    def parse_level(tokens):
        tree, tokens = parse_operand(tokens)
        while tokens and tokens[0] in operators:
            operation = tokens[0]
            right, tokens = parse_operand(tokens[1:])
            tree = ("call", operation, [tree, right])
        return tree, tokens

    return parse_level


def parse_atom(tokens):
    if not tokens:
        raise Refused("a formula ends where a value is expected")
    token, rest = tokens[0], tokens[1:]
    if token[0].isdigit():
        return ("constant", float(token)), rest
    if token in ("true", "false"):
        return ("constant", token == "true"), rest
    if token == "(":
        tree, rest = parse_or(rest)
        return tree, expect(")", rest)
    if not (token[0].isalpha() or token[0] == "_") or token in ("and", "or", "not"):
        raise Refused(f"expected a value, found `{token}`")
    if rest[:1] != ["("]:
        return ("name", token), rest
    operands = []
    while not operands or rest[:1] == [","]:
        operand, rest = parse_or(rest[1:])
        operands.append(operand)
    return ("call", token, operands), expect(")", rest)


def expect(token, tokens):
    if tokens[:1] != [token]:
        raise Refused(f"expected `{token}`")
    return tokens[1:]


def parse_unary(tokens):
    if tokens[:1] == ["-"]:
        operand, rest = parse_unary(tokens[1:])
        return ("call", "negate", [operand]), rest
    return parse_atom(tokens)


parse_product = parse_chain(("*", "/"), parse_unary)
parse_sum = parse_chain(("+", "-"), parse_product)


def parse_comparison(tokens):
    tree, tokens = parse_sum(tokens)
    if tokens and tokens[0] in COMPARISONS:
        operation = tokens[0]
        right, tokens = parse_sum(tokens[1:])
        tree = ("call", operation, [tree, right])
    return tree, tokens


def parse_not(tokens):
    if tokens[:1] == ["not"]:
        operand, rest = parse_not(tokens[1:])
        return ("call", "not", [operand]), rest
    return parse_comparison(tokens)


parse_and = parse_chain(("and",), parse_not)
parse_or = parse_chain(("or",), parse_and)


# 2. Values


class NoValue:
    """What a formula gives when it gives no value; `status` is that of the dimension it leaves without one."""

    def __init__(self, status):
        self.status = status


MISSING, FAILED = NoValue("missing"), NoValue("failed")


def clamp(value, low, high):
    return min(max(value, low), high)


OPERATIONS = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "negate": operator.neg,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq, "!=": operator.ne,
    "and": operator.and_, "or": operator.or_, "not": operator.not_,
    "min": min, "max": max,  # of equal ones the first, as Python does
    "clamp": clamp, "abs": abs, "floor": lambda x: float(math.floor(x)), "ceil": lambda x: float(math.ceil(x)),
    "sqrt": math.sqrt, "exp": math.exp, "ln": math.log, "log2": math.log2, "pow": math.pow,
}  # fmt: skip


def evaluate(tree, value_of):
    """The value of a formula: a double, a boolean, MISSING or FAILED. `value_of` gives the values of names."""
    if tree[0] == "constant":
        return tree[1]
    if tree[0] == "name":
        return value_of(tree[1])
    _, operation, operands = tree
    if operation == "if":
        condition = evaluate(operands[0], value_of)
        if isinstance(condition, NoValue):
            return condition
        return evaluate(operands[1] if condition else operands[2], value_of)
    if operation == "coalesce":
        for operand in operands:
            value = evaluate(operand, value_of)
            if value is not MISSING:
                return value
        return MISSING
    values = [evaluate(operand, value_of) for operand in operands]
    if FAILED in values:
        return FAILED
    if operation == "is_missing":
        return values[0] is MISSING
    if MISSING in values:
        return MISSING
    try:
        result = OPERATIONS[operation](*values)
    except (ZeroDivisionError, OverflowError, ValueError):
        return FAILED
    return result if math.isfinite(result) else FAILED


# 3. Intervals
#
# An interval of booleans has the ends (certain, possible): true is (True, True), false (False, False), undecided
# (False, True). So `hull` serves both kinds.


class Interval(NamedTuple):
    low: object
    high: object


EVERYTHING = Interval(-math.inf, math.inf)
UNDECIDED = Interval(False, True)


def point(value):
    return Interval(value, value)


def hull(a, b):
    return Interval(min(a.low, b.low), max(a.high, b.high))


def add(a, b):
    low, high = a.low + b.low, a.high + b.high
    return Interval(-math.inf if math.isnan(low) else low, math.inf if math.isnan(high) else high)


def negate(a):
    return Interval(-a.high, -a.low)


def multiply(a, b):
    products = [0.0 if x == 0 or y == 0 else x * y for x in a for y in b]
    return Interval(min(products), max(products))


def divide(a, b):
    if b.low <= 0 <= b.high:
        return EVERYTHING
    quotients = []
    for x in a:
        for y in b:
            if math.isinf(x) and math.isinf(y):
                quotients += [0.0, x if y > 0 else -x]
            else:
                quotients.append(x / y)
    return Interval(min(quotients), max(quotients))


def absolute(a):
    ends = (abs(a.low), abs(a.high))
    return Interval(0.0 if a.low <= 0 <= a.high else min(ends), max(ends))


def monotone(function):
    """A rising function of one operand; it overflows to infinity and leaves infinite ends to `at_infinity`."""

    def over(a):
        return Interval(*(end_value(function, end) for end in a))

    return over


def end_value(function, *operands):
    try:
        return function(*operands)
    except OverflowError:
        return math.inf


def whole(function):
    return monotone(lambda x: x if math.isinf(x) else float(function(x)))


def square_root(a):
    return Interval(math.sqrt(max(a.low, 0.0)), math.sqrt(max(a.high, 0.0)))


def logarithm(function):
    return monotone(lambda x: function(x) if x > 0 else -math.inf)


def power(a, b):
    if a.low < 0:
        return EVERYTHING
    corners = []
    for x in a:
        for y in b:
            # Zero to a negative power is infinite; Python raises its own error for it.
            corners.append(math.inf if x == 0 and y < 0 else end_value(math.pow, x, y))
    return Interval(min(corners), max(corners))


def equal(a, b):
    return Interval(a.low == a.high == b.low == b.high, a.low <= b.high and b.low <= a.high)


def invert(a):
    return Interval(not a.high, not a.low)


def ends(function):
    """A function that rises in every operand: low ends give the low end, high ends the high end."""
    return lambda *operands: Interval(function(*(a.low for a in operands)), function(*(a.high for a in operands)))


INTERVAL_OPERATIONS = {
    "+": add, "-": lambda a, b: add(a, negate(b)), "*": multiply, "/": divide, "negate": negate,
    "<": lambda a, b: Interval(a.high < b.low, a.low < b.high),
    "<=": lambda a, b: Interval(a.high <= b.low, a.low <= b.high),
    ">": lambda a, b: Interval(a.low > b.high, a.high > b.low),
    ">=": lambda a, b: Interval(a.low >= b.high, a.high >= b.low),
    "==": equal, "!=": lambda a, b: invert(equal(a, b)),
    "and": ends(operator.and_), "or": ends(operator.or_), "not": invert,
    "min": ends(min), "max": ends(max), "clamp": ends(clamp), "abs": absolute,
    "floor": whole(math.floor), "ceil": whole(math.ceil), "sqrt": square_root, "exp": monotone(math.exp),
    "ln": logarithm(math.log), "log2": logarithm(math.log2), "pow": power,
}  # fmt: skip


class Possible(NamedTuple):
    """What a formula could still give: its interval, whether it is surely not missing, and whether it surely has a
    value once all facts are there (docs/guide/scorecard.md, Bounds)."""

    range: Interval
    known: bool
    settled: bool


def evaluate_interval(tree, look, is_share):
    """What a formula could still give. `look` gives that of names; `is_share(x, y)` says that the fact `x` is declared
    to lie between 0 and the fact `y`."""
    if tree[0] == "constant":
        return Possible(point(tree[1]), True, True)
    if tree[0] == "name":
        return look(tree[1])
    _, operation, operands = tree
    first = evaluate_interval(operands[0], look, is_share)
    if operation == "is_missing":
        return Possible(point(False) if first.known else UNDECIDED, True, first.settled)
    if operation == "if":
        reachable = [operands[1]] * first.range.high + [operands[2]] * (not first.range.low)
        seen = [evaluate_interval(branch, look, is_share) for branch in reachable]
        result = hull(seen[0].range, seen[-1].range)
        return Possible(result, *(all(flags) for flags in zip(*(part[1:] for part in [first, *seen]))))
    if operation == "coalesce":
        seen = [first]
        for operand in operands[1:]:
            if not seen[-1].known:
                seen.append(evaluate_interval(operand, look, is_share))
        result = seen[0].range
        for following in seen[1:]:
            result = hull(result, following.range)
        return Possible(result, seen[-1].known, all(part.settled for part in seen))
    seen = [first] + [evaluate_interval(operand, look, is_share) for operand in operands[1:]]
    ranges = [part.range for part in seen]
    result = INTERVAL_OPERATIONS[operation](*ranges)
    of_two_names = operation == "/" and all(operand[0] == "name" for operand in operands)
    if of_two_names and is_share(operands[0][1], operands[1][1]):
        result = Interval(clamp(result.low, 0.0, 1.0), clamp(result.high, 0.0, 1.0))
    settled = all(part.settled for part in seen) and always_has_result(operation, ranges)
    return Possible(result, all(part.known for part in seen), settled)


def always_has_result(operation, ranges):
    a, b = ranges[0], ranges[-1]
    if operation == "/":
        return not b.low <= 0 <= b.high
    if operation == "sqrt":
        return a.low >= 0
    if operation in ("ln", "log2"):
        return a.low > 0
    return operation != "pow" or a.low > 0 or (a.low == 0 and b.low >= 0)
