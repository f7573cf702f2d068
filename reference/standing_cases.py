"""Seeded random cases for standings, ratings and estimates, each with what this implementation answers: lines of
{fn, input, expected}. Fractions are texts such as "3/4"; numbers with a point may differ in their last digits.
"""

from fractions import Fraction
from random import Random

import comparison
import estimates
import fold
import rating
import standing
from comparison import BILLION
from standing import DAY, READING, SCORE, WEIGHT

WEEK = 604_800
OLDEST, NEWEST = -(2**63), 2**63 - 1
DIMENSIONS = ("accuracy", "safety", "reliability", "security", "scopeHonesty", "selfAudit", "runtimeCompliance",
              "latency", "evalRigor", "bond")  # fmt: skip


def maybe(random, value, share=0.5):
    return value if random.random() < share else None


def some_score(random):
    """A score of few digits or of many, and often one that others have too."""
    return random.choice([
        0, SCORE, SCORE // 2, random.randint(0, 10) * SCORE // 10, random.randint(0, 1000) * SCORE // 1000,
        random.randint(0, SCORE), random.randint(0, 9),
    ])  # fmt: skip


def some_scores(random, most=30):
    count = random.choice([0, 1, 2, 3, random.randint(4, most)])
    kind = random.random()
    if kind < 0.1:
        return [some_score(random)] * count
    if kind < 0.2:
        # One towers above the others.
        return [SCORE] + [random.randint(0, SCORE // 100) for _ in range(count)]
    return [some_score(random) for _ in range(count)]


def bad_scores(random, scores, share=0.05):
    """The same, perhaps with one that is below zero."""
    if scores and random.random() < share:
        return [*scores[:-1], -random.randint(1, SCORE)]
    return scores


# 1. Windows


def limits(random):
    tasks = maybe(random, random.choice([1, 2, 3, 5, 10]), 0.8)
    return {"tasks": tasks, "span_seconds": maybe(random, random.choice([1, 60, 7 * DAY, 2**32 - 1]))}


def window_input(random):
    """Entries of different ids in any order, and the moment at which they are looked at."""
    start = random.choice([0, -100, 1_700_000_000])
    step = random.choice([1, 30, 3 * DAY])
    entries = []
    for at in range(random.choice([0, 1, 4, 12, 25])):
        name = random.choice(["a", "Z", "é", "日", "𝄞"]) + str(at)
        task = random.choice([name, "task-0", f"task-{random.randint(0, 5)}"])
        entries.append([start + random.randint(0, min(12, at)) * step, name, some_score(random), task])
    return limits(random) | {"is_distinct": random.random() < 0.4, "entries": entries, "as_of": start + random.choice([0, 3, 12, 20]) * step}


def window_answer(given):
    window = standing.Window(given["tasks"], given["span_seconds"], given["is_distinct"])
    for entry in given["entries"]:
        if entry[0] <= given["as_of"]:
            window.enter(*entry)
    window.pass_time(given["as_of"])
    mean = window.mean()
    return {
        "entries": window.order(),
        "seen": window.seen,
        "mean": None if mean is None else [str(mean), round(mean * SCORE), round(mean * READING)],
    }


def rolling_input(random):
    scores = some_scores(random, 60)
    if scores and random.random() < 0.2:
        scores[len(scores) // 2] = random.choice([-SCORE, -1, SCORE + 1, 9 * SCORE])
    return {"tasks": random.choice([1, 2, 3, 4, 7, 10, 100, 9_001]), "scores": scores}


def fold_input(random):
    """A log that grows: evaluations, decisions on what waits or waited, incidents, holds, weights; and moments to ask at."""
    rule = {"grace_seconds": random.choice([0, 2 * DAY]), "period_seconds": WEEK,
            "points_per_period": random.choice([0, 0, 7, 60]), "point_billionths": 1_000_000, "whole": False}  # fmt: skip
    rules = {
        "kind": random.choice(["latest", "latest", "window"]), "decay": rule,
        "tasks": maybe(random, random.randint(2, 4)), "span": maybe(random, 6 * DAY),
        "swing": random.choice([60, 100, 200]), "cumulative": random.choice([150, 300]),
        "cumulative_seconds": 3 * DAY, "deadline_seconds": random.choice([DAY, 3 * DAY]),
        "approvals": random.choice([1, 2]), "cap": 250, "below": 150_000_000, "step": 120,
    }  # fmt: skip
    now, log, seen, moments = 100 * DAY, [], [], []
    if rules["tasks"] is None and rules["span"] is None:
        rules["tasks"] = 3
    for number in range(random.randint(2, 14)):
        kind = random.random()
        if kind < 0.5 or not log:
            readings = [maybe(random, random.randint(0, 10) * READING // 10, 0.8) for _ in "ab"]
            if readings == [None, None]:
                readings[0] = READING // 2
            late = random.choice([0, 0, 0, random.randint(1, 2 * DAY)])
            log.append([now, "item", random.choice("aZé") + str(number), now - late, readings])
        elif kind < 0.85 and seen:
            named = random.choice([seen[-1], seen[-1], seen[-1], seen[0]])
            log.append([now, "decided", random.choice(["ann", "bo"]), random.choice(["approve", "reject"]), named])
        elif kind < 0.9:
            log.append([now, "incident", random.random() < 0.5])
        elif kind < 0.93:
            log.append([now, "hold", random.random() < 0.5])
        else:
            log.append([now, "weights", random.randint(1, 9) * WEIGHT // 10])
        # One change of the weights or of an incident in a second, and each decision once.
        same = [entry[: 2 if entry[1] != "decided" else 5] for entry in log]
        log = [entry for at, entry in enumerate(log) if entry[1] == "item" or same[at] not in same[:at]]
        state = fold.fold(rules, log, now)
        if state.held:
            seen.append(state.held["digest"])
        gap = random.choice([0, 1, 2, random.randint(1, DAY), random.randint(1, 3 * DAY)])
        moments += [now, now + random.randint(0, gap)]
        now += gap
    moments += [now + 1, now + 2 * DAY, now + random.randint(5, 60) * DAY]
    return {"rules": rules, "log": log, "moments": sorted(set(moments))}


# 2. Decay


def decay_rule(random):
    return {
        "grace_seconds": random.choice([0, WEEK, WEEK, random.randint(0, 30 * DAY), 2**32 - 1]),
        "period_seconds": random.choice([1, DAY, WEEK, WEEK, random.randint(1, 90 * DAY), 2**32 - 1]),
        "points_per_period": random.choice([0, 1, 1, 1, random.randint(2, 50), 2**32 - 1]),
        "point_billionths": random.choice([0, 1_000_000, 1_000_000, 10_000_000, 1, 2**32 - 1]),
        "whole": random.random() < 0.5,
    }


def some_age(random):
    usual = [random.randint(0, 400) * DAY, random.randint(0, 60) * WEEK + random.randint(-1, 1), random.randint(0, 10**8)]
    return random.choice([*usual, *usual, *usual, 0, -1, -WEEK, OLDEST, NEWEST])


def decay_points_input(random):
    return {"rule": decay_rule(random), "age_seconds": some_age(random)}


def decay_points_answer(given):
    return str(standing.points_lost(given["rule"], given["age_seconds"]))


def decay_composite_input(random):
    return decay_points_input(random) | {"score": some_score(random)}


def decay_composite_answer(given):
    left = standing.remains(given["rule"], Fraction(given["score"], SCORE), given["age_seconds"])
    return [str(left), round(left * SCORE)]


def decay_dimensions_input(random):
    weights = random.choice([[0], [10_000, 50_000, 140_000, 110_000], [0, 333_333, 333_334], [1, 250_000], [WEIGHT]])
    keys = random.sample(DIMENSIONS, random.choice([0, 1, 2, 5, 10]))
    dimensions = []
    for key in keys:
        reading = random.choice([0, READING, random.randint(0, READING), random.randint(0, 100) * READING // 100])
        dimensions.append({
            "key": key,
            "weight": random.choice(weights),
            "reading": maybe(random, reading, 0.75),
            "age_seconds": some_age(random),
        })  # fmt: skip
    return {"rule": decay_rule(random), "dimensions": dimensions}


# 3. Shares


def share_out_input(random):
    caps = [150_000, 150_000, 150_000, 100_000, 250_000, 333_333, 333_334, 500_000, WEIGHT, 1]
    caps += [random.randint(1, 100_000), random.randint(1, WEIGHT)]
    scores = some_scores(random)
    if random.random() < 0.4:
        # Steep enough for the cap to be met again and again.
        base = random.choice([2, 3, 10])
        scores = [SCORE // base**at for at in range(random.randint(4, 15))]
        random.shuffle(scores)
    if random.random() < 0.05:
        scores = [random.randint(NEWEST - 1000, NEWEST) for _ in scores]
    return {
        "scores": bad_scores(random, scores),
        "cap": random.choice(caps) if random.random() < 0.95 else random.choice([0, -1, WEIGHT + 1]),
        "leave_rest": random.random() < 0.5,
    }


def share_out_answer(given):
    return standing.share_out(given["scores"], given["cap"], given["leave_rest"])


def whole_shares_input(random):
    return {
        "shares": bad_scores(random, some_scores(random)),
        "total": random.choice([0, 1, 7, 100, 65_535, 2**32 - 1, random.randint(0, 10**6)]),
    }


def sixteen_bit_input(random):
    return {"shares": bad_scores(random, some_scores(random))}


# 4. Tiers and their gate


def tier_facts(random):
    """Mostly what some tier asks, or a little more or less of it."""
    level = standing.trust_tiers()[random.randint(0, 3)]
    keys = [key for key, _ in level["floors"]]
    readings = {
        key: random.choice([floor, floor, READING]) - (random.random() < 0.05) for key, floor in level["floors"]
    }
    if random.random() < 0.3:
        readings.pop(random.choice(keys))

    def near(value, unit=1):
        return max(0, value + random.choice([0, 0, 0, 0, 0, 0, unit, 5 * unit, -unit]))

    return {
        "points": maybe(random, near(level["points"]), 0.95),
        "coverage": near(level["coverage"]),
        "readings": readings,
        "evaluations": near(level["evaluations"]),
        "distinct_days": near(level["distinct_days"]),
        "confidence": maybe(random, near(level["confidence"]), 0.95),
        "independent_runners": near(level["independent_runners"]),
        "newest_batch_seconds": maybe(random, near(level["newest_batch_seconds"], DAY), 0.95),
        "open_tiers": maybe(random, random.randint(0, 4), 0.3),
    }


def trust_tier_input(random):
    return {"facts": tier_facts(random)}


def tier_input(random):
    """Other rules than those of the trust score: any number of tiers, each asking at least what the one below asks."""
    points, rules = 0, []
    for at in range(random.choice([0, 1, 2, 3, 6])):
        points += random.randint(0, 300)
        rules.append({
            "name": f"tier {at}",
            "points": points,
            "coverage": random.choice([0, READING // 10 * at]),
            "floors": [[key, random.choice([0, READING // 3])] for key in DIMENSIONS[: random.randint(0, 3)]],
            "evaluations": random.choice([0, 5 * at]),
            "distinct_days": random.choice([0, at]),
            "confidence": random.choice([0, READING // 4]),
            "independent_runners": random.choice([0, 0, 1]),
            "newest_batch_seconds": maybe(random, 120 * DAY),
        })  # fmt: skip
    return {"rules": rules, "facts": tier_facts(random)}


def gate_input(random):
    edges = [0, READING // 4, READING // 2, READING]
    reading = random.choice([random.choice(edges), random.choice(edges[1:]) - 1, random.randint(0, READING)])
    return {
        "points": random.choice([0, 399, 400, 599, 600, 1000, random.randint(0, 1000)]),
        "reading": maybe(random, reading, 0.85),
        "has_critical_incident": random.random() < 0.2,
        "is_on_hold": random.random() < 0.2,
    }


# 5. Elo


def elo_rules(random):
    if random.random() < 0.4:
        return dict(rating.ARENA)
    return {
        "initial_points": random.choice([0.0, 1000.0, 1500.0]),
        "floor_points": maybe(random, random.choice([0.0, 100.0, 99.5, 1500.0])),
        "factor_new": random.choice([0.0, 15.0, 32.0, 40.0, 24.5]),
        "factor_established": random.choice([0.0, 1.0, 10.0, 16.0, 32.0]),
        "established_from_matches": random.choice([0, 1, 30]),
        "scale_points": random.choice([1.0, 173.72, 400.0, 400.0, 2000.0]),
        "half_up": random.random() < 0.6,
    }


def some_rating(random, elo):
    near = [random.randint(100, 2400), round(random.uniform(100, 2400), 3), random.choice([1000, 1000, 1200, 1400])]
    points = random.choice([*near, *near, *near, 0, -50, 100, 99, 1_000_000, -1_000_000])
    edges = [0, elo["established_from_matches"], max(0, elo["established_from_matches"] - 1), random.randint(0, 60)]
    return [float(points), random.choice(edges)]


def elo_input(random):
    elo = elo_rules(random)
    first = some_rating(random, elo)
    second = [first[0], 0] if random.random() < 0.2 else some_rating(random, elo)
    return {"elo": elo, "ratings": [first, second], "matches": [[0, 1, random.choice(list(rating.SCORES))]]}


def season_input(random):
    """Many matches of a league, points not rounded, so that nothing can tip over. On a scale of few points the last bit of
    a rating would grow from match to match until it is the result."""
    elo = elo_rules(random) | {"half_up": False, "scale_points": random.choice([173.72, 400.0, 2000.0])}
    league = random.randint(2, 8)
    pairs = [random.sample(range(league), 2) for _ in range(random.randint(0, 60))]
    return {
        "elo": elo,
        "ratings": [[elo["initial_points"], 0]] * league,
        "matches": [[*pair, random.choice(list(rating.SCORES))] for pair in pairs],
    }


def elo_answer(given):
    ratings = rating.play(given["elo"], given["ratings"], given["matches"])
    return [[float(points), matches] for points, matches in ratings]


def ranked_season_input(random):
    """A season of Weng and Lin's system, with and without tau."""
    league = random.randint(2, 5)
    mean = random.choice([0.0, 25.0, 1500.0])
    deviation = random.choice([mean / 3 or 1.0, 25 / 3, 100.0])
    return {
        "settings": {
            "beta": random.choice([deviation / 2, 25 / 6, 200.0]),
            "kappa": random.choice([0.0001, 0.5]),
            "tau": random.choice([0.0, deviation / 100, deviation, 25 / 300]),
        },
        "ratings": [[mean + random.choice([0, random.uniform(-1, 1) * deviation]), deviation] for _ in range(league)],
        "matches": played(random, league, 20),
    }


def ranked_season_answer(given):
    return rating.ranked_season(given["settings"], given["ratings"], given["matches"])


def pool_input(random):
    """A pool for Bradley-Terry with a prior: dense, sparse, in parts, with records of wins alone."""
    league = random.randint(2, 4)
    return {
        "competitors": league,
        "deviation": random.choice([0.2, 1.0, 2.0, random.uniform(0.1, 3)]),
        "has_tie": random.random() < 0.6,
        "matches": [*played(random, league, 9), [0, 1, random.choice(["win", "loss"])]],
    }


def played(random, league, most):
    pairs = [random.sample(range(league), 2) for _ in range(random.randint(0, most))]
    return [[*pair, random.choice(list(rating.SCORES))] for pair in pairs]


def arena_input(random):
    """A career at some moment, and the matches that come next."""
    elo = random.choice([1000, 100, 101, 50, random.randint(100, 2200), random.randint(1100, 1300), 1_000_000, -7])
    categories = {name: random.choice([1000, 100, random.randint(100, 2000)]) for name in random.sample("abc", 2)}
    counts = random.choice([0, 4, 29, 30, random.randint(0, 60)]), random.randint(0, 12), random.randint(0, 9)
    names = ("match_count", "win_count", "draw_count")
    career = {"elo": elo, "category_elo": categories, "loss_count": 3, "challenges_authored": random.randint(0, 1)}
    career |= dict(zip(names, counts)) | {"current_streak": random.randint(-4, 4), "best_streak": random.randint(0, 6)}

    def difficulty():
        return random.choice([*rating.DIFFICULTIES, *rating.DIFFICULTIES, "unheard of"])

    def match():
        return {
            "challenge": {
                "category": random.choice("abcd"),
                "difficulty": difficulty(),
                "calibrated_difficulty": maybe(random, difficulty(), 0.3),
            },
            "attempt_number": random.randint(1, 2),
            "memoryless": random.random() < 0.6,
            "verified": random.random() < 0.7,
            "outcome": rating.arena_outcome(random.choice([700, 699.999, 400, 399.5, 0, 1000])),
        }

    matches = [match() for _ in range(random.randint(1, 5))]
    factors = random.choice([[1_100_000, 1_200_000]] * 4 + [[1_000_000, 1_000_000], [500_000, 0], [3_141_593, 2_000_000]])
    return {"career": career, "matches": matches, "only_wins": random.random() < 0.3, "factors": factors}


def arena_answer(given):
    career, steps = given["career"], []
    factors = [Fraction(factor, WEIGHT) for factor in given["factors"]]
    for match in given["matches"]:
        steps.append(rating.settle(career, match["challenge"], match, given["only_wins"], factors))
        career = steps[-1]["career"]
    return steps


# 6. Estimates


def some_trials(random):
    trials = random.choice([0, 1, 4, random.randint(2, 12), random.randint(13, 300)])
    return [random.choice([0, trials, random.randint(0, trials), trials + (random.random() < 0.1)]), trials]


def trials_input(random):
    passed, trials = some_trials(random)
    ks = [0, trials, trials + 1, random.randint(0, 20)] + [random.randint(1, max(1, trials))] * 4
    return {"passed": passed, "trials": trials, "k": random.choice(ks)}


def trials_answer(given):
    arguments = given["passed"], given["trials"], given["k"]
    chances = estimates.pass_at_k(*arguments), estimates.pass_hat_k(*arguments)
    return [estimates.number(chance) for chance in chances]


def best_input(random):
    size = random.choice([0, 1, 2, 3, 6, 12, 40])
    values = [random.choice([0.0, 1.0, round(random.random(), 2), random.uniform(-5, 1000)]) for _ in range(size)]
    if values and random.random() < 0.05:
        values[0] = None
    return {"values": values, "k": random.choice([0, 1, 1, 2, 2, 3, size // 2, size, size + 1])}


def attempts_input(random):
    subjects = random.choice([0, 1, 2, 3, 9])
    numbers_tried = [[at for at in range(1, 7) if random.random() < 0.75] for _ in range(subjects)]
    attempts = [
        [subject, place, random.randint(0, 1000), random.random() < 0.6]
        for subject, tried in enumerate(numbers_tried)
        for place in tried
    ]
    if attempts and random.random() < 0.08:
        attempts.append(random.choice([attempts[0], [0, 0, 500, True]]))
    random.shuffle(attempts)
    return {"attempts": attempts, "k": random.choice([0, 1, 2, 3, 5, 7]), "curve": random.choice([0, 1, 3, 8])}


def some_level(random):
    usual = [0.95, 0.95, 0.9, 0.99, 0.5, 0.999, 1e-6]
    return random.choice([*usual, *usual, 0.0, 1.0, -1.0])


def intervals_input(random):
    trials = random.choice([0, 1, 2, 10, random.randint(3, 30)])
    return {
        "successes": random.choice([0, trials, random.randint(0, trials), random.randint(0, trials)]),
        "trials": trials,
        "level": some_level(random),
    }


def mcnemar_input(random):
    counts = [random.choice([0, 1, random.randint(0, 12), random.randint(0, 200)]) for _ in range(2)]
    if random.random() < 0.1:
        counts[1] = counts[0]
    return {"only_first": counts[0], "only_second": counts[1], "level": some_level(random)}


def ranks_input(random):
    values = [random.choice([0, 1, 2, random.randint(-3, 30), OLDEST, NEWEST]) for _ in range(random.randint(0, 12))]
    return {"values": [maybe(random, value, 0.85) for value in values]}


# 7. Means and comparisons


def some_values(random, count):
    """Scores that are mostly alike, won or lost, of few digits, or of many."""
    kinds = [
        lambda: BILLION * (random.random() < 0.9),
        lambda: random.choice([BILLION // 10 * 9, BILLION // 10 * 9, BILLION // 20 * 19, 0]),
        lambda: BILLION // 10 * 9 + random.choice([0, 0, 1, -BILLION // 100]),
        lambda: random.choice([random.randint(0, 10) * BILLION // 10, random.randint(0, BILLION)]),
        lambda: (random.random() < 0.9) * random.randint(BILLION // 10 * 8, BILLION),
    ]
    kind = random.choice(kinds)
    return [kind() for _ in range(count)]


def means_input(random):
    count = random.choice([0, 1, 2, 5, 10, random.randint(3, 14), 25])
    values, lowest = some_values(random, count), 0
    if random.random() < 0.3:
        values, lowest = [one - other for one, other in zip(values, some_values(random, count))], -BILLION
    most = random.choice([1, 1, 5])
    return {
        "values": [[value, random.randint(1, most)] for value in values],
        "lowest": lowest,
        "level": some_level(random),
    }


def some_tasks(random, subjects, most):
    """{name: [results of each subject]}, from one to four at a task, and now and then none."""
    count = random.choice([1, 3, 5, 6, 8, 10, 12, random.randint(13, 20), random.randint(21, most)])
    attempts = random.choice([1, 1, 4])
    lead = random.choice([0, 0, 1, 3])
    tasks = {}
    for task in range(count):
        results = []
        for subject in range(subjects):
            made = random.randint(1, attempts) if attempts > 1 else random.random() > 0.05
            values = some_values(random, int(made))
            results.append([max(0, value - subject * lead * BILLION // 10) for value in values])
        tasks[f"task {random.randint(0, 9)} {task}"] = results
    return tasks


def comparisons_input(random):
    margin = random.choice([0, 0, BILLION // 20, BILLION // 5, random.randint(0, BILLION)])
    return {"tasks": some_tasks(random, 2, 30), "level": some_level(random), "margin": margin}


def comparisons_answer(given):
    found = comparison.compare(**given)
    # The engine's bound is right to 1e-9: whether the margin lies within that of it is not compared.
    if found.get("bound") and abs(found["bound"][1] - given["margin"] / BILLION) < 1e-8:
        raise rating.Unsure
    return found


def boards_input(random):
    subjects = random.randint(2, 6)
    if random.random() < 0.8:
        return {"tasks": some_tasks(random, subjects, 60), "subjects": subjects, "level": some_level(random)}
    # Many pairs at once ask for smaller chances than a million turns have: one that is far ahead, but at few tasks.
    lead = random.randint(BILLION // 10, BILLION // 2)
    tasks = {}
    for task in range(random.randint(30, 70)):
        scores = [random.randint(0, BILLION // 2) for _ in range(subjects)]
        scores[0] += lead * (random.random() < 0.9)
        tasks[f"task {task}"] = [[score] for score in scores]
    return {"tasks": tasks, "subjects": subjects, "level": 1 - 1e-9}


# By name: how an input is made, how it is answered, and how many cases there are at 100 percent.
FUNCTIONS = {
    "window": (window_input, window_answer, 400),
    "fold": (fold_input, lambda given: fold.answer(**given), 150),
    "rolling": (rolling_input, lambda given: standing.rolling_means(**given), 100),
    "decay_points": (decay_points_input, decay_points_answer, 100),
    "decay_composite": (decay_composite_input, decay_composite_answer, 100),
    "decay_dimensions": (decay_dimensions_input, lambda given: standing.decay_dimensions(**given), 300),
    "shares": (share_out_input, share_out_answer, 400),
    "whole_shares": (whole_shares_input, lambda given: standing.whole_shares(**given), 100),
    "sixteen_bit_shares": (sixteen_bit_input, lambda given: standing.sixteen_bit_shares(**given), 100),
    "tier": (tier_input, lambda given: standing.tier(**given), 200),
    "trust_tier": (trust_tier_input, lambda given: standing.tier(standing.trust_tiers(), given["facts"]), 300),
    "gate": (gate_input, lambda given: standing.security_gate(given["points"], given), 100),
    "elo": (elo_input, elo_answer, 300),
    "season": (season_input, elo_answer, 60),
    "ranked_season": (ranked_season_input, ranked_season_answer, 100),
    "bradley_terry": (pool_input, lambda given: rating.bradley_terry(**given), 40),
    "arena": (arena_input, arena_answer, 300),
    "trials": (trials_input, trials_answer, 200),
    "best_of_k": (best_input, lambda given: estimates.number(estimates.best_of_k(**given)), 100),
    "attempts": (attempts_input, lambda given: estimates.attempt_metrics(**given), 150),
    "intervals": (intervals_input, lambda given: estimates.intervals(**given), 80),
    "mcnemar": (mcnemar_input, lambda given: estimates.mcnemar(**given), 100),
    "means": (means_input, lambda given: comparison.mean_interval(**given), 80),
    "comparisons": (comparisons_input, comparisons_answer, 100),
    "boards": (boards_input, lambda given: comparison.board(**given), 80),
    "ranks": (ranks_input, lambda given: estimates.ranks(**given), 60),
}


def cases(seed, percent):
    """Cases of every function, `percent` of their numbers in FUNCTIONS. A case that doubles might round another way
    is replaced by the next."""
    for name, (make, answer, share) in FUNCTIONS.items():
        random = Random(f"{seed} {name}")
        wanted = -(-share * percent // 100)
        while wanted:
            given = make(random)
            try:
                yield {"fn": name, "input": given, "expected": answer(given)}
            except rating.Unsure:
                continue
            wanted -= 1
