"""Elo, the arena's matches, Weng-Lin and Bradley-Terry with a prior, from the documents and the papers. All but the last in
decimals of fifty digits: exact where ratings are equal, and far finer than a double elsewhere.
"""

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from math import exp, floor

EXACT = Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN)
SCORES = {"win": Fraction(1), "draw": Fraction(1, 2), "loss": Fraction(0)}
OPPOSITE = {"win": "loss", "draw": "draw", "loss": "win"}
POINTS_LIMIT = 1_000_000  # a stored rating lies within it

# The arena document, "Impact on Elo": from 1000, never below 100, K of 32 for thirty matches and 16 after them.
ARENA = {
    "initial_points": 1000.0,
    "floor_points": 100.0,
    "factor_new": 32.0,
    "factor_established": 16.0,
    "established_from_matches": 30,
    "scale_points": 400.0,
    "half_up": True,
}
DIFFICULTIES = {"newcomer": 800, "contender": 1000, "veteran": 1200, "legendary": 1400}
UNLISTED = 1000
VERIFIED, BENCHMARK_GRADE = Fraction(11, 10), Fraction(12, 10)


def expected_score(own, opponent, scale):
    """E = 1 / (1 + 10^((opponent - own) / scale))."""
    difference = Fraction(opponent) - Fraction(own)
    exponent = EXACT.divide(decimal(difference), decimal(Fraction(scale)))
    return Fraction(EXACT.divide(Decimal(1), EXACT.add(Decimal(1), EXACT.power(Decimal(10), exponent))))


def decimal(fraction):
    return EXACT.divide(Decimal(fraction.numerator), Decimal(fraction.denominator))


def half_up(value):
    return floor(value + Fraction(1, 2))


class Unsure(Exception):
    """A rating so near to a half that doubles may round it the other way."""


def rounded(points, is_exact):
    """The nearest whole number, halves up; where the half itself is not exact, only far from it."""
    if not is_exact and abs(points - floor(points) - Fraction(1, 2)) < Fraction(1, 10**9):
        raise Unsure
    return Fraction(half_up(points))


def played(elo, points, matches, opponent, outcome):
    """The points after a match, before the floor."""
    factor = elo["factor_new"] if matches < elo["established_from_matches"] else elo["factor_established"]
    surplus = SCORES[outcome] - expected_score(points, opponent, elo["scale_points"])
    after = Fraction(points) + Fraction(factor) * surplus
    return rounded(after, Fraction(points) == Fraction(opponent)) if elo["half_up"] else after


def floored(elo, points):
    return points if elo["floor_points"] is None else max(points, Fraction(elo["floor_points"]))


def update(elo, rating, opponent, outcome):
    """A rating, as [points, matches], after a match against an opponent of so many points."""
    points = floored(elo, played(elo, rating[0], rating[1], opponent, outcome))
    return [max(Fraction(-POINTS_LIMIT), min(points, Fraction(POINTS_LIMIT))), rating[1] + 1]


def play(elo, ratings, matches):
    """Matches one after another, each as [first, second, outcome]."""
    ratings = list(ratings)
    for first, second, outcome in matches:
        before = ratings[first], ratings[second]
        ratings[first] = update(elo, before[0], before[1][0], outcome)
        ratings[second] = update(elo, before[1], before[0][0], OPPOSITE[outcome])
    return ratings


# The arena


def title_list(career):
    """All titles that a career has, the highest first."""
    elo, wins, matches = career["elo"], career["win_count"], career["match_count"]
    held = [
        ("Leviathan", elo >= 2000),
        ("Diamond Shell", elo >= 1800),
        ("Golden Claw", elo >= 1600),
        ("Silver Pincer", elo >= 1400),
        ("Bronze Carapace", elo >= 1200),
        ("Shell Commander", wins >= 10),
        ("Arena Architect", career["challenges_authored"] >= 1),
        ("Claw Proven", wins >= 3),
        ("Seasoned Scuttler", matches >= 5),
        ("Arena Initiate", matches >= 1),
        ("Fresh Hatchling", True),
    ]
    return [title for title, is_held in held if is_held]


def arena_outcome(score):
    return "win" if score >= 700 else "draw" if score >= 400 else "loss"


def settle(career, challenge, match, only_wins=False, factors=(VERIFIED, BENCHMARK_GRADE)):
    """The career after a match against a challenge, and the steps of the way there. The document's sentence gives the
    bonus to every gain, its list only to wins: `only_wins`. `factors` multiply the gain of a verified match, and of one
    that is also memoryless and a first attempt."""
    known = challenge["calibrated_difficulty"] or challenge["difficulty"]
    opponent, matches, outcome = DIFFICULTIES.get(known, UNLISTED), career["match_count"], match["outcome"]
    before = career["elo"]
    result = played(ARENA, before, matches, opponent, outcome)
    base = floored(ARENA, result) - before
    change = base
    benchmark_grade = match["memoryless"] and match["attempt_number"] == 1
    if match["verified"] and base > 0 and not (only_wins and outcome != "win"):
        change = floored(ARENA, before + half_up(base * factors[benchmark_grade])) - before

    category = career["category_elo"].get(challenge["category"], int(ARENA["initial_points"]))
    in_category = floored(ARENA, played(ARENA, category, matches, opponent, outcome))
    streak = career["current_streak"]
    streak = {"win": max(streak, 0) + 1, "draw": 0, "loss": min(streak, 0) - 1}[outcome]
    after = career | {
        "elo": int(before + change),
        "match_count": matches + 1,
        f"{outcome}_count": career[f"{outcome}_count"] + 1,
        "current_streak": streak,
        "best_streak": max(career["best_streak"], streak),
        "category_elo": career["category_elo"] | {challenge["category"]: int(in_category)},
    }
    return {
        "career": after,
        "opponent_elo": opponent,
        "expected": float(expected_score(before, opponent, ARENA["scale_points"])),
        "play_points": int(result - before),
        "floor_points": int(base - (result - before)),
        "bonus_points": int(change - base),
        "elo_change": int(change),
        "titles": title_list(after),
    }


# Weng and Lin


def ranked_match(settings, one, other, outcome):
    """Both ratings, as [mean, deviation], after a match: algorithm 1 of Weng and Lin (2011) for two competitors, with
    the variances widened by tau before it, as openskill does."""
    variance = [Fraction(rating[1]) ** 2 + Fraction(settings["tau"]) ** 2 for rating in (one, other)]
    c = root(sum(variance) + 2 * Fraction(settings["beta"]) ** 2)
    gap = decimal((Fraction(other[0]) - Fraction(one[0])) / c)
    expected = Fraction(EXACT.divide(Decimal(1), EXACT.add(Decimal(1), EXACT.exp(gap))))
    after = []
    for rating, spread, score, chance in (
        (one, variance[0], SCORES[outcome], expected),
        (other, variance[1], 1 - SCORES[outcome], 1 - expected),
    ):
        omega = spread / c * (score - chance)
        delta = root(spread) / c * spread / c**2 * chance * (1 - chance)
        kept = max(1 - delta, Fraction(settings["kappa"]))
        after.append([float(Fraction(rating[0]) + omega), float(root(spread * kept))])
    return after


def root(fraction):
    return Fraction(EXACT.sqrt(decimal(fraction)))


def ranked_season(settings, ratings, matches):
    ratings = list(ratings)
    for first, second, outcome in matches:
        ratings[first], ratings[second] = ranked_match(settings, ratings[first], ratings[second], outcome)
    return ratings


# Bradley-Terry with a prior


def bradley_terry(competitors, matches, deviation, has_tie):
    """Strengths in logits and Davidson's tie parameter: where likelihood times a normal prior of the strengths is
    largest. One coordinate after another is moved to its own root, by halving, until none moves: no slopes, no matrix.
    """
    has_tie = has_tie and any(outcome == "draw" for _, _, outcome in matches)
    strengths, log_tie = [0.0] * competitors, 0.0 if has_tie else None

    def chances(gap, log_tie):
        """Of a win, a draw and a loss; draws that are half wins have no chance of their own."""
        parts = [gap / 2, -gap / 2] if log_tie is None else [gap / 2, log_tie, -gap / 2]
        parts = [exp(part - max(parts)) for part in parts]
        win, *draw, loss = [part / sum(parts) for part in parts]
        return win, sum(draw), loss

    def surplus(who, strength):
        """What a competitor scored above expectation, less what the prior takes."""
        total = -strength / deviation**2
        for first, second, outcome in matches:
            if who in (first, second):
                other = strengths[second if who == first else first]
                win, draw, _ = chances(strength - other, log_tie)
                scored = SCORES[outcome if who == first else OPPOSITE[outcome]]
                total += float(scored) - win - draw / 2
        return total

    def drawn(candidate):
        chance = sum(chances(strengths[first] - strengths[second], candidate)[1] for first, second, _ in matches)
        return sum(outcome == "draw" for _, _, outcome in matches) - chance

    while True:
        before = [*strengths, log_tie or 0.0]
        for who in range(competitors):
            strengths[who] = falling_root(lambda strength: surplus(who, strength), 60.0)
        if log_tie is not None:
            log_tie = falling_root(drawn, 60.0)
        moved = max(abs(one - other) for one, other in zip(before, [*strengths, log_tie or 0.0]))
        if moved < 1e-13:
            return [strengths, 0.0 if log_tie is None else exp(log_tie)]


def falling_root(function, most):
    """Where a falling function crosses zero between -most and most."""
    low, high = -most, most
    while True:
        middle = (low + high) / 2
        if middle in (low, high):
            return middle
        if function(middle) > 0:
            low = middle
        else:
            high = middle
