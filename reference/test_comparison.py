"""Means and comparisons: where older tests answer the same question, and values by hand."""

import sys
import unittest
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import estimates
from comparison import BILLION, Turns, board, compare, mean_interval


class Comparison(unittest.TestCase):
    def test_of_successes_a_mean_has_the_exact_interval_of_their_share(self):
        for successes, trials in [(0, 3), (2, 2), (5, 9), (17, 20)]:
            for level in (0.5, 0.95, 0.999):
                values = [[BILLION * (task < successes), 1] for task in range(trials)]
                exact = estimates.clopper_pearson(successes, trials, level)
                for found, end in zip(mean_interval(values, 0, level), exact):
                    self.assertAlmostEqual(found, end, 9)

    def test_of_two_values_by_hand(self):
        # Of one value and the worst: W x, where W is uniform from 0 to 1.
        low, high = mean_interval([[BILLION // 2, 1]], 0, 0.95)
        self.assertAlmostEqual(low, 0.0125, 9)
        self.assertAlmostEqual(high, 0.9875, 9)
        # The value that was not seen weighs as much as any.
        self.assertEqual(mean_interval([[BILLION // 2, 3]], 0, 0.95), [low, high])

    def test_of_one_run_a_task_it_is_mcnemars_test(self):
        for first, second, even in [(5, 0, 2), (7, 1, 3), (4, 6, 0), (12, 4, 2)]:
            kinds = [[[1], [0]]] * first + [[[0], [1]]] * second + [[[1], [1]]] * even
            tasks = {str(at): [[BILLION * it for it in own] for own in kind] for at, kind in enumerate(kinds)}
            found = compare(tasks, 0.95, 0)
            expected = estimates.mcnemar(first, second, 0.95)
            self.assertEqual((found["p"], found["verdict"]), (expected["mid_p"], expected["verdict"]))

    def test_turns_by_hand(self):
        # Of -1, 1 and 3 the chosen sums are 0, -1, 1, 3, 0, 2, 4 and 3: one below 0, two at it.
        turns = Turns({name: Fraction(value) for name, value in zip("abc", (-1, 1, 3))})
        self.assertEqual(turns.chance(0), Fraction(2, 8))

    def test_holm_separates_fewer_than_each_pair_alone(self):
        tasks = {str(at): [[BILLION], [0], [0]] if at < 6 else [[0], [0], [0]] for at in range(9)}
        self.assertEqual(compare({name: them[:2] for name, them in tasks.items()}, 0.98, 0)["verdict"], "first-ahead")
        self.assertEqual(board(tasks, 3, 0.95), ["first-ahead", "first-ahead", "not-distinguishable"])
        self.assertEqual(board(tasks, 3, 0.96), ["not-distinguishable"] * 3)

    def test_pairs_that_can_show_nothing_beside_the_others_are_left_out(self):
        tasks = {str(at): [[BILLION], [0], [0] if at < 5 else []] for at in range(6)}
        self.assertEqual(board(tasks, 3, 0.95), ["first-ahead", "too-few-shared-tasks", "too-few-shared-tasks"])


if __name__ == "__main__":
    unittest.main()
