"""The worked values of the documents on standings, ratings and estimates, and that two ways to a number agree."""

import math
import sys
import unittest
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import estimates
import rating
import standing
import standing_cases

WEEK = 604_800
WEEKLY = {
    "grace_seconds": WEEK,
    "period_seconds": WEEK,
    "points_per_period": 1,
    "point_billionths": 1_000_000,
    "whole": False,
}
NEWCOMER = {
    "elo": 1000,
    "match_count": 0,
    "win_count": 0,
    "draw_count": 0,
    "loss_count": 0,
    "current_streak": 0,
    "best_streak": 0,
    "category_elo": {},
    "challenges_authored": 0,
}


class Standing(unittest.TestCase):
    def test_a_window_is_divided_by_what_is_there(self):
        window = standing.Window(tasks=100)
        window.enter(1, "a", standing.SCORE)
        window.enter(2, "b", standing.SCORE // 2)
        self.assertEqual((window.mean(), window.seen), (Fraction(3, 4), 2))

    def test_late_and_repeated_entries(self):
        window = standing.Window(tasks=2, span=100)
        self.assertEqual(window.enter(200, "b", 2), "entered 0")
        self.assertEqual(window.enter(200, "a", 1), "entered 0")
        self.assertEqual(window.enter(200, "a", 1), "duplicate")
        self.assertEqual(window.enter(201, "a", 1), "conflict")
        self.assertEqual(window.enter(100, "c", 3), "too-old")
        self.assertEqual(window.enter(201, "c", 3), "entered 1")
        self.assertEqual((window.order(), window.seen), (["b", "c"], 4))
        window.pass_time(300)
        self.assertEqual(window.order(), ["c"])

    def test_decay_of_the_worked_composites(self):
        for days, left in ((7, 900), (14, 899), (91, 888)):
            self.assertEqual(standing.remains(WEEKLY, Fraction(900, 1000), days * 86_400) * 1000, left)
        self.assertEqual(standing.remains(WEEKLY, Fraction(900, 1000), 90 * 86_400), Fraction(6217, 7000))
        self.assertEqual(standing.points_lost(WEEKLY, -5), 0)
        self.assertEqual(standing.points_lost(WEEKLY | {"whole": True}, 2 * WEEK - 1), 0)

    def test_where_all_is_of_one_age_dimensions_decay_as_their_composite(self):
        ages = [{"key": key, "weight": 10, "reading": 900_000_000, "age_seconds": 11 * WEEK} for key in "ab"]
        decayed = standing.decay_dimensions(WEEKLY, ages)
        whole = standing.remains(WEEKLY, Fraction(9, 10), 11 * WEEK)
        self.assertEqual(decayed["composite"], str(whole))

    def test_shares_below_a_cap(self):
        tenth = standing.SCORE // 10
        shared = standing.share_out([6 * tenth] + [tenth] * 6 + [0], 150_000, False)
        self.assertEqual((shared["case"], shared["shares"][0]), ("redistributed", 150 * 10**12))
        for scores in ([1], [5, 3], [7, 1, 1, 1, 1, 1, 1, 1, 0], [3] * 7):
            shared = standing.share_out(scores, 150_000, False)
            self.assertEqual(sum(shared["shares"]), standing.SCORE)
            ordered = [share for _, share in sorted(zip(scores, shared["shares"]))]
            self.assertEqual(ordered, sorted(shared["shares"]))
        left = standing.share_out([5, 3], 150_000, True)
        self.assertEqual((left["shares"], left["unassigned"]), ([150 * 10**12] * 2, 700 * 10**12))
        self.assertEqual(standing.sixteen_bit_shares([100, 200, 0]), {"whole": [32_768, 65_535, 0]})

    def test_more_of_anything_never_leads_to_a_lower_tier(self):
        facts = {
            "points": 712,
            "coverage": 700_000_000,
            "readings": {key: 600_000_000 for key in ("accuracy", "safety", "reliability", "security")},
            "evaluations": 12,
            "distinct_days": 3,
            "confidence": 550_000_000,
            "independent_runners": 1,
            "newest_batch_seconds": 86_400,
            "open_tiers": None,
        }
        found = standing.tier(standing.trust_tiers(), facts)
        self.assertEqual((found["name"], found["single_blocker"]), ("bronze", ["evaluations", 20, 12]))
        more = standing.tier(standing.trust_tiers(), facts | {"evaluations": 20})
        self.assertEqual((more["name"], more["next"]), ("silver", "gold"))


class Rating(unittest.TestCase):
    def settled(self, elo, difficulty, outcome, verified=False, first=False, only_wins=False):
        challenge = {"category": "coding", "difficulty": difficulty, "calibrated_difficulty": None}
        match = {"attempt_number": 1 if first else 2, "memoryless": True, "verified": verified, "outcome": outcome}
        return rating.settle(NEWCOMER | {"elo": elo}, challenge, match, only_wins)

    def test_the_tables_of_the_arena(self):
        worth = {"newcomer": (8, -8, -24), "contender": (16, 0, -16), "veteran": (24, 8, -8), "legendary": (29, 13, -3)}
        for difficulty, changes in worth.items():
            for outcome, change in zip(rating.SCORES, changes):
                self.assertEqual(self.settled(1000, difficulty, outcome)["elo_change"], change)
        self.assertEqual(self.settled(1050, "veteran", "win", verified=True)["career"]["elo"], 1075)
        bonuses = [rating.half_up(change * rating.VERIFIED) for change in (1, 4, 5, 15, 16, 25)]
        self.assertEqual(bonuses, [1, 4, 6, 17, 18, 28])

    def test_floor_bonus_and_draws(self):
        self.assertEqual(self.settled(100, "newcomer", "loss")["career"]["elo"], 100)
        self.assertEqual(self.settled(101, "newcomer", "loss", verified=True)["bonus_points"], 0)
        self.assertEqual(self.settled(1000, "veteran", "draw", verified=True)["bonus_points"], 1)
        self.assertEqual(self.settled(1000, "veteran", "draw", verified=True, only_wins=True)["bonus_points"], 0)
        self.assertEqual(self.settled(1000, "contender", "win", True, first=True)["elo_change"], 19)

    def test_weng_lin_as_worked_by_hand(self):
        # c^2 = 2 (25/3)^2 + 2 (25/6)^2; omega = (25/3)^2 / c / 2.
        settings = {"beta": 25 / 6, "kappa": 0.0001, "tau": 0}
        won, lost = rating.ranked_match(settings, [25, 25 / 3], [25, 25 / 3], "win")
        self.assertAlmostEqual(won[0], 27.63523138347365, places=12)
        self.assertAlmostEqual(lost[1], 8.065506316323548, places=12)
        wider = rating.ranked_match(settings | {"tau": 3}, [25, 4], [25, 4], "loss")
        plain = rating.ranked_match(settings, [25, 5], [25, 5], "loss")
        self.assertAlmostEqual(wider[0][0], plain[0][0], places=12)

    def test_a_prior_gives_one_win_its_strength(self):
        # x = 4 / (1 + e^(2x)) for a prior of variance 4, whether a draw is an outcome or not.
        for has_tie in (True, False):
            (strength, other), tie = rating.bradley_terry(2, [[0, 1, "win"]], 2.0, has_tie)
            self.assertAlmostEqual(strength, 4 / (1 + math.exp(2 * strength)), places=12)
            self.assertAlmostEqual(strength, -other, places=12)
            self.assertEqual(tie, 0.0)
        # A weak prior leaves the odds of the matches: three to one, and one draw over their geometric mean.
        matches = [[0, 1, "win"]] * 3 + [[1, 0, "win"], [1, 0, "draw"]]
        strengths, tie = rating.bradley_terry(2, matches, 8.0, True)
        self.assertAlmostEqual(strengths[0] - strengths[1], math.log(3), delta=0.1)
        self.assertAlmostEqual(tie, 1 / math.sqrt(3), delta=0.01)

    def test_a_half_is_sure_only_between_equals(self):
        elo = rating.ARENA | {"factor_new": 15.0}
        self.assertEqual(rating.update(elo, [1000.0, 0], 1000.0, "win")[0], 1008)
        with self.assertRaises(rating.Unsure):
            rating.rounded(Fraction(1001, 2), False)


class Estimates(unittest.TestCase):
    def test_binomial_coefficients_count_what_can_be_drawn(self):
        few, estimates.ENUMERATED = estimates.ENUMERATED, 0
        try:
            for trials in range(8):
                for passed in range(trials + 1):
                    for k in range(1, trials + 1):
                        drawn = [estimates.enumerated(passed, trials, k, kind) for kind in (any, all)]
                        closed = [kind(passed, trials, k) for kind in (estimates.pass_at_k, estimates.pass_hat_k)]
                        self.assertEqual(drawn, closed)
            closed = estimates.best_of_k([3, 1, 2, 2, 7], 3)
        finally:
            estimates.ENUMERATED = few
        self.assertEqual(estimates.best_of_k([3, 1, 2, 2, 7], 3), closed)

    def test_what_cannot_be_drawn(self):
        for arguments in ((2, 4, 0), (2, 4, 5), (5, 4, 1), (0, 0, 1)):
            self.assertIsNone(estimates.pass_at_k(*arguments))
            self.assertIsNone(estimates.pass_hat_k(*arguments))

    def test_published_intervals_and_tests(self):
        wilson = estimates.intervals(81, 263, 0.95)
        self.assertEqual([f"{end:.4f}" for end in wilson], ["0.2553", "0.3662"])
        exact = estimates.clopper_pearson(81, 263, 0.95)
        self.assertEqual([f"{end:.4f}" for end in exact], ["0.2527", "0.3676"])
        none = estimates.clopper_pearson(0, 10, 0.95)
        self.assertEqual(none[0], 0)
        self.assertAlmostEqual(none[1], 1 - 0.025**0.1, places=12)
        # Fagerland, Lydersen and Laake (2013), one against seven.
        found = estimates.mcnemar(1, 7, 0.95)
        self.assertEqual((round(found["mid_p"], 3), round(found["exact_p"], 3)), (0.039, 0.07))
        self.assertEqual(estimates.mcnemar(0, 0, 0.95)["mid_p"], 1)

    def test_equal_values_share_their_places(self):
        self.assertEqual(estimates.ranks([7, None, 9, 7]), [[2, 3], None, [1, 1], [2, 3]])


class Cases(unittest.TestCase):
    def test_cases_are_a_function_of_the_seed(self):
        first, second, other = (list(standing_cases.cases(seed, 2)) for seed in (6, 6, 7))
        self.assertEqual(first, second)
        self.assertNotEqual(first, other)
        self.assertEqual({case["fn"] for case in first}, set(standing_cases.FUNCTIONS))

    def test_every_kind_of_share_occurs(self):
        cases = (case["expected"] for case in standing_cases.cases(1, 30) if case["fn"] == "shares")
        kinds = [case.get("case", "refused") for case in cases]
        self.assertEqual(len(set(kinds)), 6)
        self.assertGreater(kinds.count("redistributed"), 10)


if __name__ == "__main__":
    unittest.main()
