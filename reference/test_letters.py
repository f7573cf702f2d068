"""Letters for ties: worked cases, and the property that they are for."""

import random
import sys
import unittest
from itertools import combinations
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from letters import TIED, TOO_FEW, letters, written

APART = "first-ahead"


def given(count, verdicts):
    known = dict(zip(combinations(range(count), 2), verdicts))
    return letters(count, lambda a, b: known[(a, b)])


class Letters(unittest.TestCase):
    def test_worked_cases(self):
        self.assertEqual(given(3, [TIED, APART, TIED]), [[1], [1, 2], [2]])
        self.assertEqual(given(3, [TIED, TIED, APART]), [[1, 2], [1], [2]])
        self.assertEqual(given(3, [APART] * 3), [[1], [2], [3]])
        self.assertEqual(given(3, [TIED] * 3), [[1]] * 3)
        self.assertEqual(given(3, [TOO_FEW] * 3), [[], [], []])
        self.assertEqual(given(3, [TIED, TOO_FEW, TOO_FEW]), [[1], [1], []])
        self.assertEqual((given(0, []), given(1, [])), ([], [[]]))
        self.assertEqual([written(it) for it in (1, 26, 27, 702, 703)], ["a", "z", "aa", "zz", "aaa"])

    def test_two_share_a_letter_exactly_if_they_are_tied(self):
        chance = random.Random(1)
        for _ in range(300):
            count, ties = chance.randrange(14), chance.random()
            pairs = list(combinations(range(count), 2))
            verdicts = [TIED if chance.random() < ties else chance.choice([APART, TOO_FEW]) for _ in pairs]
            found = given(count, verdicts)
            for (a, b), verdict in zip(pairs, verdicts):
                self.assertEqual(bool(set(found[a]) & set(found[b])), verdict == TIED)


if __name__ == "__main__":
    unittest.main()
