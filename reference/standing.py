"""Standings, from the documents and in exact fractions: windows, decay, shares below a cap, tiers and their gate.

Scores are whole numbers of 1e-15, readings whole billionths, weights and caps whole millionths, moments and ages whole
seconds. `docs/decisions/0010-standing.md` says how results are rounded.
"""

from fractions import Fraction
from math import floor

SCORE, READING, WEIGHT = 10**15, 10**9, 10**6


# 1. Windows (workflow document, 3.2): equal weights, divided by what is there; by task where everything is in it


class Window:
    """The newest scores of one subject: at most `tasks` of them, less than `span` seconds old; None is no limit. With
    `distinct` only the newest of each task counts."""

    def __init__(self, tasks=None, span=None, distinct=False):
        self.tasks, self.span, self.distinct = tasks, span, distinct
        self.held, self.seen, self.latest = {}, 0, None

    def order(self):
        """The ids that count, oldest first, by moment and then by id."""
        return sorted(self.held, key=lambda entry: (self.held[entry][0], entry.encode()))

    def task(self, key):
        entry = self.held[key]
        return entry[2] if len(entry) > 2 else key

    def keep(self):
        """Forgets what the limits do not reach."""
        if self.distinct:
            newest = {self.task(key): key for key in self.order()}
            self.held = {key: self.held[key] for key in newest.values()}
        if self.span is not None:
            self.held = {key: entry for key, entry in self.held.items() if self.latest - entry[0] < self.span}
        if self.tasks is not None:
            self.held = {key: self.held[key] for key in self.order()[-self.tasks :]}

    def enter(self, moment, key, score, *task):
        """Takes in a score, and says what became of it."""
        if key in self.held:
            return "duplicate" if self.held[key] == (moment, score, *task) else "conflict"
        before = len(self.held)
        self.seen += 1
        self.latest = moment if self.latest is None else max(self.latest, moment)
        self.held[key] = (moment, score, *task)
        self.keep()
        return f"entered {before + 1 - len(self.held)}" if key in self.held else "too-old"

    def pass_time(self, moment):
        self.latest = moment if self.latest is None else max(self.latest, moment)
        self.keep()
        return "passed"

    def mean(self):
        if not self.held:
            return None
        if self.tasks is None and self.span is None and not self.distinct:
            # Nothing leaves it, so nothing depends on order: tasks count alike, whatever their attempts.
            of_task = {}
            for key, entry in self.held.items():
                of_task.setdefault(self.task(key), []).append(entry[1])
            return sum(Fraction(sum(own), len(own)) for own in of_task.values()) / (len(of_task) * SCORE)
        return Fraction(sum(entry[1] for entry in self.held.values()), len(self.held) * SCORE)


def rolling_means(tasks, scores):
    """After each score the mean of the last `tasks`, rounded once to the grid of scores, ties to even."""
    ends = range(1, len(scores) + 1)
    windows = [scores[max(0, end - tasks) : end] for end in ends]
    return [round(Fraction(sum(window), len(window))) for window in windows]


# 2. Decay (trust document, sections 3 and 5): points per week after a grace, by the age of the evidence


def points_lost(rule, age):
    periods = Fraction(max(0, age - rule["grace_seconds"]), rule["period_seconds"])
    return (floor(periods) if rule["whole"] else periods) * rule["points_per_period"]


def remains(rule, part, age):
    """What age leaves of a part of a perfect score; never below nothing."""
    return max(Fraction(0), part - points_lost(rule, age) * Fraction(rule["point_billionths"], READING))


def decay_dimensions(rule, dimensions):
    """Each dimension by its own age, then the weighted mean of those that have a reading."""
    measured = [dimension for dimension in dimensions if dimension["reading"] is not None]
    left = {e["key"]: remains(rule, Fraction(e["reading"], READING), e["age_seconds"]) for e in measured}
    covered = sum(dimension["weight"] for dimension in measured)
    weighted = sum((dimension["weight"] * left[dimension["key"]] for dimension in measured), Fraction(0))

    def account(dimension):
        key = dimension["key"]
        if key not in left:
            return {"reading": None, "points": None}
        points = points_lost(rule, dimension["age_seconds"])
        return {"reading": round(left[key] * READING), "points": str(points)}

    return {
        "dimensions": [account(dimension) for dimension in dimensions],
        "composite": str(weighted / covered) if covered else None,
    }


# 3. Shares (workflow document, 3.2): in proportion, none above the cap


def largest_remainders(total, quotas):
    """Whole numbers that add up to `total`: quotas rounded down, then one more for the largest remainders, first come."""
    whole = [floor(quota) for quota in quotas]
    by_remainder = sorted(range(len(quotas)), key=lambda at: (whole[at] - quotas[at], at))
    for at in by_remainder[: total - sum(whole)]:
        whole[at] += 1
    return whole


def in_proportion(total, scores):
    """`total` whole units in proportion to the scores; nothing where all are zero."""
    sum_of_scores = sum(scores)
    if not sum_of_scores:
        return [0] * len(scores)
    return largest_remainders(total, [Fraction(total * score, sum_of_scores) for score in scores])


def negatives(scores):
    return [f"negative {at}" for at, score in enumerate(scores) if score < 0]


def share_out(scores, cap_millionths, leave_rest):
    """Whoever is above the cap gets the cap; the others share the rest in proportion; again, until nobody is above it."""
    problems = ([] if 0 < cap_millionths <= WEIGHT else ["cap"]) + negatives(scores)
    if problems:
        return {"refused": problems}
    cap = cap_millionths * (SCORE // WEIGHT)
    positive = [at for at, score in enumerate(scores) if score]

    def answer(case, held, shares, unassigned=0):
        counts = {"positive": len(positive), "capped": len(held), "unassigned": unassigned}
        return {"case": case, "shares": [shares.get(at, 0) for at in range(len(scores))]} | counts

    if not positive:
        return answer("nothing to share", (), {})
    if len(positive) * cap < SCORE:
        if leave_rest:
            return answer("rest left", positive, dict.fromkeys(positive, cap), SCORE - len(positive) * cap)
        # All get the same; what does not divide goes to the highest scores, so that their order stays.
        highest_first = sorted(positive, key=lambda at: -scores[at])
        equal = largest_remainders(SCORE, [Fraction(SCORE, len(positive))] * len(positive))
        return answer("cap raised", positive, dict(zip(highest_first, equal)))
    held = []
    while True:
        free = [at for at in positive if at not in held]
        rest, sum_of_free = SCORE - len(held) * cap, sum(scores[at] for at in free)
        above = [at for at in free if Fraction(rest * scores[at], sum_of_free) > cap]
        if not above:
            break
        held += above
    shares = dict.fromkeys(held, cap) | dict(zip(free, in_proportion(rest, [scores[at] for at in free])))
    return answer("redistributed" if held else "proportional", held, shares)


def whole_shares(shares, total):
    problems = negatives(shares)
    return {"refused": problems} if problems else {"whole": in_proportion(total, shares)}


def sixteen_bit_shares(shares):
    """Divided by the largest, times 65,535, halves to even."""
    problems = negatives(shares)
    largest = max(shares, default=0) or 1
    scaled = [round(Fraction(share * 65_535, largest)) for share in shares]
    return {"refused": problems} if problems else {"whole": scaled}


# 4. Tiers (trust document, sections 2 and 5): a tier asks for all that those below it ask for, and more

DAY = 86_400
MANDATORY = (
    ("bronze", ("accuracy", "safety")),
    ("silver", ("reliability", "security")),
    ("gold", ("scopeHonesty", "selfAudit", "runtimeCompliance")),
    ("platinum", ("latency", "evalRigor", "bond")),
)
# By tier, in hundredths where it is not a count: score in points, coverage, floor, security, evaluations, days, confidence,
# runners, days since the newest batch.
ASKED = (
    (400, 40, 30, 0, 5, 1, 30, 0, 180),
    (600, 60, 40, 50, 20, 3, 50, 1, 120),
    (750, 75, 50, 65, 50, 10, 65, 2, 90),
    (900, 90, 60, 80, 100, 30, 80, 3, 90),
)


def trust_tiers():
    rules, mandatory = [], []
    for (name, more), asked in zip(MANDATORY, ASKED):
        points, coverage, least, security, evaluations, days, confidence, runners, newest = asked
        mandatory = mandatory + list(more)
        rules.append({
            "name": name,
            "points": points,
            "coverage": coverage * READING // 100,
            "floors": [
                [key, max(least, security if key == "security" else 0) * READING // 100] for key in mandatory
            ],
            "evaluations": evaluations,
            "distinct_days": days,
            "confidence": confidence * READING // 100,
            "independent_runners": runners,
            "newest_batch_seconds": newest * DAY,
        })  # fmt: skip
    return rules


def tier_missing(rule, place, facts):
    """What the tier in this place asks and the subject has not, as [what, needed, found]."""
    asked = [("points", rule["points"], facts["points"]), ("coverage", rule["coverage"], facts["coverage"])]
    asked += [(f"dimension {key}", least, facts["readings"].get(key)) for key, least in rule["floors"]]
    asked += [(count, rule[count], facts[count]) for count in ("evaluations", "distinct_days")]
    if rule["confidence"] > 0:
        asked.append(("confidence", rule["confidence"], facts["confidence"]))
    asked.append(("independent_runners", rule["independent_runners"], facts["independent_runners"]))
    missing = [list(entry) for entry in asked if entry[2] is None or entry[2] < entry[1]]
    limit, age = rule["newest_batch_seconds"], facts["newest_batch_seconds"]
    if limit is not None and (age is None or age > limit):
        missing.append(["freshness", limit, age])
    if facts["open_tiers"] is not None and place >= facts["open_tiers"]:
        missing.append(["gate", 0, None])
    return missing


def tier(rules, facts):
    """The highest tier below the first one that is not met, and what stands in the way of that one."""
    missing = [tier_missing(rule, place, facts) for place, rule in enumerate(rules)]
    reached = next((place for place, found in enumerate(missing) if found), len(rules))
    blockers = missing[reached] if reached < len(rules) else []
    return {
        "reached": reached,
        "name": rules[reached - 1]["name"] if reached else None,
        "next": rules[reached]["name"] if reached < len(rules) else None,
        "missing": blockers,
        "single_blocker": blockers[0] if len(blockers) == 1 else None,
    }


def security_gate(points, facts):
    """The score and the tiers that a weak or unmeasured security leaves: at most so many, None for all."""
    held = []  # as (cap in points, open tiers)
    reading = facts["reading"]
    if reading is None:
        held.append((points, 1))
    elif reading < READING // 2:
        held.append((599, 1))
    if facts["has_critical_incident"] or (reading is not None and reading < READING // 4):
        held.append((399, 0))
    if facts["is_on_hold"]:
        held.append((points, 0))
    return {
        "ungated_points": points,
        "points": min([points] + [cap for cap, _ in held]),
        "open_tiers": min((tiers for _, tiers in held), default=None),
    }
