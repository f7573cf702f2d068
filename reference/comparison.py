"""Means and comparisons, from the papers that docs/decisions/0050-intervals-and-comparisons.md names, in exact fractions.

Values are whole billionths. The interval of a mean is that of Gaffke (2005), where the weighted mean of uniform weights has the
density of a B-spline (Curry and Schoenberg 1966), so that its chances are divided differences. A comparison goes through the
turns of the differences one by one, and its interval through all shifts at which a turn changes sides.
"""

from bisect import bisect_left, bisect_right
from fractions import Fraction
from itertools import combinations
from math import ceil, comb, exp, floor, fsum, lcm, log1p, log

BILLION = 10**9
FINEST = 2**36  # the ends of a mean are found to this part of its range
ENUMERATED = 12  # tasks of which all turns are written down
EXACT = 20  # tasks of which all turns count
PLACES = 10  # bits of the number of a turn, for each half of the tasks
WORD = 2**64
FIRST, SECOND, TIED, TOO_FEW = "first-ahead", "second-ahead", "not-distinguishable", "too-few-shared-tasks"


# 1. Means


def above(knots, power):
    """The divided difference of max(0, x)^power at power + 1 knots: the chance that their mean, with weights that are uniform
    over all that sum to 1, is above 0."""
    knots = sorted(knots)
    row = [Fraction(max(0, knot) ** power if power else knot > 0) for knot in knots]
    for order in range(1, power + 1):
        following = []
        for at in range(power + 1 - order):
            low, high = knots[at], knots[at + order]
            if low == high:
                # The derivative of that order, over its factorial.
                rest = power - order
                following.append(Fraction(comb(power, order) * (low**rest if low > 0 else 0)))
            else:
                following.append((row[at + 1] - row[at]) / (high - low))
        row = following
    return row[0]


def low_end(values, tail):
    """The mean of values from 0 to 1, each with its weight, below which a share `tail` of all uniform weights lies, if one more is 0."""
    knots = [*values, (Fraction(0), max(weight for _, weight in values))]
    if not any(value for value, _ in values):
        return Fraction(0)
    low, high = 0, FINEST
    while high - low > 1:
        middle = (low + high) // 2
        at = Fraction(middle, FINEST)
        if 1 - above([weight * (value - at) for value, weight in knots], len(values)) > tail:
            high = middle
        else:
            low = middle
    return Fraction(low + high, 2 * FINEST)


def mean_interval(values, lowest, level):
    """[low, high] of the mean of [billionths, weight] that lie from `lowest` to a billion."""
    if not 0 < level < 1:
        return {"refused": "level"}
    if not values:
        return None
    tail, width = Fraction(1 - level) / 2, BILLION - lowest
    shares = [(Fraction(value - lowest, width), weight) for value, weight in values]
    low = low_end(shares, tail)
    high = 1 - low_end([(1 - value, weight) for value, weight in shares], tail)
    return [float((lowest + end * width) / BILLION) for end in (low, high)]


# 2. Comparisons


def task_number(name):
    """FNV-1a, then the finish of splitmix64."""
    number = 0xCBF29CE484222325
    for byte in name.encode():
        number = (number ^ byte) * 0x100000001B3 % WORD
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        number = (number ^ number >> shift) * factor % WORD
    return number ^ number >> 31


def all_turns(differences):
    """(sum, count) of each choice of differences."""
    return [
        (sum(chosen), size) for size in range(len(differences) + 1) for chosen in combinations(differences, size)
    ]


def masked_turns(masks):
    """(sum, count) of the differences of which the mask has an odd number of bits in common with a turn."""
    turns = []
    for turn in range(2**PLACES):
        chosen = [difference for mask, difference in masks if (mask & turn).bit_count() % 2]
        turns.append((sum(chosen), len(chosen)))
    return turns


def bounded(differences):
    """The bound of Chernoff (1952) on the chance, over all signs, of a sum at least as high; the exponent by thirds."""
    largest = max(map(abs, differences)) or 1
    scaled = [float(Fraction(difference, largest)) for difference in differences]

    def exponent(power):
        pull = 2.0**power
        return fsum(log1p(exp(-abs(2 * pull * it))) + max(0.0, -2 * pull * it) - log(2) for it in scaled)

    low, high = -12.0, 40.0
    for _ in range(120):
        third = (high - low) / 3
        low, high = (low, high - third) if exponent(low + third) < exponent(high - third) else (low + third, high)
    return Fraction(exp(exponent(low)))


class Turns:
    """The turns of differences at tasks: {name: difference}."""

    def __init__(self, differences):
        values = list(differences.values())
        self.parts = lcm(*(value.denominator for value in values))
        scaled = {name: int(value * self.parts) for name, value in differences.items()}
        values = list(scaled.values())
        self.values = values if len(values) > EXACT else []
        if len(values) <= ENUMERATED:
            self.halves = [all_turns(values), [(0, 0)]]
        elif len(values) <= EXACT:
            self.halves = [all_turns(values[::2]), all_turns(values[1::2])]
        else:
            masks = ([], [])
            for name, value in scaled.items():
                number = task_number(name)
                masks[number >> 63].append((1 + (number >> 8) % (2**PLACES - 1), value))
            self.halves = [masked_turns(half) for half in masks]

    def chance(self, shift):
        """The share of all turns of which the chosen differences lie below `shift` on average; half of those that lie at it."""
        ours, theirs = ([total - count * shift * self.parts for total, count in half] for half in self.halves)
        theirs.sort()
        below = sum(bisect_left(theirs, -own) for own in ours)
        up_to = sum(bisect_right(theirs, -own) for own in ours)
        count = len(ours) * len(theirs)
        found = Fraction(below + up_to, 2 * count)
        if self.values and below == 0:
            return min(found, bounded([value - shift * self.parts for value in self.values]))
        if self.values and up_to == count:
            return max(found, 1 - bounded([shift * self.parts - value for value in self.values]))
        return found

    def lowest(self, is_reached):
        """The lowest shift, in whole billionths, at which the chance is_reached; one above the highest if none is."""
        if len(self.halves[1]) == 1:
            means = sorted(Fraction(total, count * self.parts) for total, count in self.halves[0] if count)
            for shift in [-BILLION] + [shift for mean in means for shift in (ceil(mean), floor(mean) + 1)]:
                below = bisect_left(means, shift), bisect_right(means, shift) + 1
                if is_reached(Fraction(sum(below), 2 * len(self.halves[0]))):
                    return shift
            return BILLION + 1
        low, high = -BILLION, BILLION + 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if is_reached(self.chance(middle)) else (middle + 1, high)
        return low


def mean_of(values):
    return Fraction(sum(values), len(values))


def shared(tasks, first, second):
    """The differences at the tasks, {name: [results of each subject]}, that both have."""
    both = {name: (results[first], results[second]) for name, results in tasks.items()}
    return {name: mean_of(ours) - mean_of(theirs) for name, (ours, theirs) in both.items() if ours and theirs}


def judged(above, count, tail):
    """The verdict on a chance of a difference at least as high."""
    if Fraction(1, 2**count) > 2 * tail:
        return TOO_FEW
    if above <= tail:
        return FIRST
    return SECOND if 1 - above <= tail else TIED


def compare(tasks, level, margin):
    """The first of two subjects against the second; `margin`, in billionths, is what the second may lose."""
    differences, tail = shared(tasks, 0, 1), Fraction(1 - level) / 2
    if not differences:
        return {"refused": "too few"}
    if not 0 < level < 1:
        return {"refused": "level"}
    turns, count = Turns(differences), len(differences)
    chance = turns.chance(0)
    interval = bound = None
    if count > 1:
        ends = turns.lowest(lambda found: found > tail), turns.lowest(lambda found: 1 - found <= tail) - 1
        interval = [float(Fraction(end, BILLION)) for end in ends]
        bound = mean_interval([(value, 1) for value in differences.values()], -BILLION, level)
    if turns.chance(margin) <= tail:
        change = "worse"
    else:
        change = "not-worse" if bound and bound[1] < margin / BILLION else "open"
    return {
        "mean": float(mean_of(differences.values()) / BILLION),
        "p": float(2 * min(chance, 1 - chance)),
        "verdict": judged(chance, count, tail),
        "interval": interval,
        "bound": bound,
        "change": change,
    }


def board(tasks, subjects, level):
    """The verdict on each pair, all together, by Holm (1979): the smallest chances first, each against the level over the number
    of those that are left, up to the first that shows nothing. Pairs whose tasks are too few for that beside the others are left
    out: Tarone (1990)."""
    if not 0 < level < 1:
        return {"refused": "level"}
    outside = Fraction(1 - level)
    found = {pair: shared(tasks, *pair) for pair in combinations(range(subjects), 2)}
    able = {pair: Fraction(1, 2 ** len(differences)) for pair, differences in found.items()}
    number = next(k for k in range(1, len(able) + 2) if sum(least <= outside / k for least in able.values()) <= k)
    family = []
    for pair in (pair for pair in found if able[pair] <= outside / number):
        chance = Turns(found[pair]).chance(0)
        family.append((min(chance, 1 - chance), pair, chance))
    verdicts = dict.fromkeys(found, TOO_FEW) | {pair: TIED for _, pair, _ in family}
    for place, (smaller, pair, chance) in enumerate(sorted(family)):
        if smaller * 2 > outside / (len(family) - place):
            break
        verdicts[pair] = FIRST if chance < Fraction(1, 2) else SECOND
    return [verdicts[pair] for pair in sorted(verdicts)]
