"""Estimates from repeated trials, from the papers and documents that define them: by going through all possibilities
where they are few, by binomial coefficients elsewhere; intervals by bisection.
"""

from fractions import Fraction
from itertools import combinations
from math import comb, floor
from statistics import NormalDist

ENUMERATED = 3_000  # choices that are gone through one by one
FEWEST_SUBJECTS = 3


# 1. Trials of a task


def pass_at_k(passed, trials, k):
    """The chance that one or more of k trials, drawn without replacement, passed."""
    if not 0 < k <= trials or passed > trials:
        return None
    if comb(trials, k) <= ENUMERATED:
        return enumerated(passed, trials, k, any)
    return 1 - Fraction(comb(trials - passed, k), comb(trials, k))


def pass_hat_k(passed, trials, k):
    """The chance that all of them passed."""
    if not 0 < k <= trials or passed > trials:
        return None
    if comb(trials, k) <= ENUMERATED:
        return enumerated(passed, trials, k, all)
    return Fraction(comb(passed, k), comb(trials, k))


def enumerated(passed, trials, k, is_met):
    draws = list(combinations([True] * passed + [False] * (trials - passed), k))
    return Fraction(sum(map(is_met, draws)), len(draws))


def best_of_k(values, k):
    """The highest of k values on average; None among them is not a number."""
    if not 0 < k <= len(values) or None in values:
        return None
    exact = sorted(map(Fraction, values))
    if comb(len(exact), k) <= ENUMERATED:
        return sum(map(max, combinations(exact, k))) / comb(len(exact), k)
    return sum(comb(at, k - 1) * value for at, value in enumerate(exact)) / comb(len(exact), k)


def number(fraction):
    """The nearest double; none of none."""
    return None if fraction is None else float(fraction)


# 2. Numbered attempts at a challenge (arena document, benchmark metrics)


def half_up(value, places):
    return Fraction(floor(value * 10**places + Fraction(1, 2)), 10**places)


def millionths(value):
    return None if value is None else int(value * 10**6)


def rate(successes, count):
    return half_up(Fraction(successes, count), 3) if count else None


def mean_points(points):
    return half_up(Fraction(sum(points), len(points)), 1) if points else None


def attempts_by_subject(attempts):
    """{subject: {number: (points, won)}}; none where a number is 0 or stands twice."""
    found = {}
    for subject, place, points, won in attempts:
        of_subject = found.setdefault(subject, {})
        if place == 0 or place in of_subject:
            return None
        of_subject[place] = (points, won)
    return found


def first_attempts(subjects, k, complete):
    """By subject the attempts numbered 1 to k: of those who made all of them, or any."""
    lists = [[tries[place] for place in range(1, k + 1) if place in tries] for tries in subjects.values()]
    return [made for made in lists if made and (len(made) == k or not complete)]


def attempt_metrics(attempts, k, curve):
    subjects = attempts_by_subject(attempts)
    if subjects is None:
        return {"refused": "attempts"}
    first = [tries[1][1] for tries in subjects.values() if 1 in tries]
    complete, any_made = first_attempts(subjects, k, True), first_attempts(subjects, k, False)
    clean = sum(all(won for _, won in made) for made in complete)
    best = {
        name: [max(points for points, _ in made) for made in chosen]
        for name, chosen in (("all", complete), ("any", any_made))
    }
    by_place = [[tries[at][0] for tries in subjects.values() if at in tries] for at in range(1, curve + 1)]
    shown = len(complete) >= FEWEST_SUBJECTS
    return {
        "subjects": len(subjects),
        "pass_at_1": [sum(first), len(first), millionths(rate(sum(first), len(first)))],
        "pass_hat_first_k": [clean, len(complete), millionths(rate(clean, len(complete)))],
        "shown": millionths(rate(clean, len(complete))) if shown else None,
        "best_of_all": [sum(best["all"]), len(best["all"]), millionths(mean_points(best["all"]))],
        "best_of_any": [sum(best["any"]), len(best["any"]), millionths(mean_points(best["any"]))],
        "learning_curve": [[sum(points), len(points), millionths(mean_points(points))] for points in by_place],
    }


# 3. Intervals of a share, by bisection

HALVINGS = 60


def lowest(is_met):
    """The lowest number of 0..1, to 2^-60, that meets a condition which every higher number meets too."""
    low, high = 0, 1 << HALVINGS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_met(Fraction(middle, 1 << HALVINGS)) else (middle, high)
    return Fraction(high, 1 << HALVINGS)


def wilson(successes, trials, level):
    """Wilson (1927): the shares p from which the found one lies no more than z standard errors of p away."""
    share = Fraction(successes, trials)
    z_squared = Fraction(NormalDist().inv_cdf(1 - (1 - level) / 2)) ** 2

    def is_near(p):
        return (share - p) ** 2 * trials <= z_squared * p * (1 - p)

    low = 0 if successes == 0 else lowest(lambda p: p >= share or is_near(p))
    high = 1 if successes == trials else lowest(lambda p: p > share and not is_near(p))
    return [float(low), float(high)]


def at_least(successes, trials, p):
    """The chance of so many successes or more, by the sum."""
    return sum(comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(successes, trials + 1))


def clopper_pearson(successes, trials, level):
    """Clopper and Pearson (1934): shares under which neither so many successes nor so few would be rare."""
    tail = Fraction(1 - level) / 2
    low = 0 if successes == 0 else lowest(lambda p: at_least(successes, trials, p) >= tail)
    high = 1 if successes == trials else lowest(lambda p: at_least(successes + 1, trials, p) >= 1 - tail)
    # A level near 0 asks for less than the estimate itself.
    share = Fraction(successes, trials)
    return [float(min(low, share)), float(max(high, share))]


def intervals(successes, trials, level):
    if not 0 < level < 1:
        return {"refused": "level"}
    if trials == 0:
        return {"refused": "too few"}
    return wilson(successes, trials, level)


# 4. Two subjects at the same tasks, and ranks


def mcnemar(only_first, only_second, level):
    """Fagerland, Lydersen and Laake (2013): how much of all splits is more uneven than the one found, and half of those
    as uneven (mid-p) or all of them (exact)."""
    if not 0 < level < 1:
        return {"refused": "level"}
    count, found = only_first + only_second, abs(only_first - only_second)
    more = sum(comb(count, k) for k in range(count + 1) if abs(count - 2 * k) > found)
    same = sum(comb(count, k) for k in range(count + 1) if abs(count - 2 * k) == found)
    mid_p, exact_p = (Fraction(more) + Fraction(same, 2)) / 2**count, Fraction(more + same, 2**count)
    if count == 0:
        mid_p = Fraction(1)  # nothing speaks against chance
    verdict = "not-distinguishable"
    if mid_p <= 1 - level and only_first != only_second:
        verdict = "first-ahead" if only_first > only_second else "second-ahead"
    return {"mid_p": float(mid_p), "exact_p": float(exact_p), "verdict": verdict}


def ranks(values):
    """[best, worst] place of each value, the highest first; none where there is none."""
    present = [value for value in values if value is not None]

    def places(value):
        above = sum(other > value for other in present)
        return [above + 1, above + present.count(value)]

    return [None if value is None else places(value) for value in values]
