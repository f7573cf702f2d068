"""Draws: three matches of the demo, each way in which they can be other than they were, and cases worked by hand.

Run: python3 -m unittest discover reference
"""

import copy
import hashlib
import json
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import draw

CHALLENGES = {"challenges": [{"slug": "cipher", "instance_count": 8, "single_use": False}]}


def match(number, instance, among, commitment, drawn):
    return {
        "match_id": f"hare.cipher.{number}",
        "agent_id": "hare",
        "challenge": "cipher",
        "attempt_number": number,
        "draw": {
            "commitment": f"sha256:{commitment}",
            "committed_before": True,
            "agent_nonce": None,
            "instance": instance,
            "among": among,
            "draw": drawn,
        },
    }


# Of `karat serve --demo`, the last entered first.
MATCHES = {
    "has_more": False,
    "matches": [
        match(
            3,
            8,
            6,
            "e2167a610bca6ad6082701b4e384a8d2d44ee7b72656900e5cbb772345aa1157",
            "227e5eed4030e7c8bb8058dc9b1a3430d3435c26fe0711889d77b7ed5b0b05c2",
        ),
        match(
            2,
            1,
            7,
            "99b8ed7cc17bda003751d11f3beafb9750a376cb7a70f2e056ebdad0834aaac5",
            "8c37b132e51a17e9ae89d49b6bdd07b771a4bfb48257d8ee39278155db2cc8b8",
        ),
        match(
            1,
            4,
            8,
            "681824389b3cc5b08fb28a657842878c4902e992e55afcd8026cb3515d78fe38",
            "c4938fd695da622f7a2e8e9799b73260c9e463fc944f37f5024d544684770514",
        ),
    ],
}


def outcomes(matches, challenges=CHALLENGES):
    return [outcome for outcome, _, _ in draw.check(challenges, matches)]


def changed(change):
    matches = copy.deepcopy(MATCHES)
    change(matches["matches"])
    return matches


class Draws(unittest.TestCase):
    def test_the_matches_of_the_demo(self):
        self.assertEqual(outcomes(MATCHES), ["verified"] * 3)

    def test_every_member_counts(self):
        first = "0" * 64
        for name, value in [
            ("commitment", f"sha256:{first}"),
            ("agent_nonce", "mine"),
            ("instance", 5),
            ("among", 7),
            ("draw", first),
        ]:
            with self.subTest(name):
                wrong = changed(lambda matches: matches[2]["draw"].__setitem__(name, value))
                self.assertEqual(outcomes(wrong)[0], "failed")
        for name, value in [("match_id", "hare.cipher.9"), ("agent_id", "moth")]:
            with self.subTest(name):
                self.assertIn("failed", outcomes(changed(lambda matches: matches[2].__setitem__(name, value))))

    def test_a_match_that_is_left_out_is_missed(self):
        self.assertEqual(outcomes(changed(lambda matches: matches.pop()))[0], "failed")
        part = changed(lambda matches: matches.pop())
        self.assertEqual(outcomes({**part, "has_more": True})[0], "skipped")

    def test_what_cannot_be_checked_is_skipped(self):
        self.assertEqual(outcomes(changed(lambda matches: matches[0]["draw"].__setitem__("draw", None)))[2], "skipped")
        # From before there were draws: the first attempt played the first instance, which is used up.
        old = changed(lambda matches: matches[2].pop("draw"))
        self.assertEqual(outcomes(old)[0], "skipped")
        self.assertEqual(draw.instance_of(old["matches"][2], 8), 1)
        self.assertEqual(draw.instance_of({"attempt_number": 9}, 8), 1)

    def test_an_instance_for_one_agent_is_used_up_for_all(self):
        challenges = {"challenges": [{"slug": "once", "instance_count": 2, "single_use": True}]}
        secret = "ab" * 32

        def entered(agent, among, unused):
            match_id = f"{agent}.once.1"
            return {
                "match_id": match_id,
                "agent_id": agent,
                "challenge": "once",
                "attempt_number": 1,
                "draw": {
                    "commitment": draw.commitment(agent, secret),
                    "committed_before": False,
                    "agent_nonce": "n",
                    "instance": unused[draw.place(match_id, secret, "n", among)],
                    "among": among,
                    "draw": secret,
                },
            }

        first = entered("ant", 2, [1, 2])
        second = entered("bee", 1, [3 - first["draw"]["instance"]])
        matches = {"has_more": False, "matches": [second, first]}
        self.assertEqual(outcomes(matches, challenges), ["verified", "verified"])
        each = {"challenges": [{**challenges["challenges"][0], "single_use": False}]}
        self.assertEqual(outcomes(matches, each), ["verified", "failed"])

    def test_the_formula_by_hand(self):
        text = "karat/arena-instance/1\nbee.maze.1\n" + "07" * 32 + "\nmine\n"
        number = int(hashlib.sha256(text.encode()).hexdigest()[:32], 16)
        self.assertEqual(draw.place("bee.maze.1", "07" * 32, "mine", 1000), number % 1000)
        self.assertEqual(draw.place("bee.maze.1", "07" * 32, None, 1), 0)

    def test_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder, name) for name in ("challenges", "matches")]
            files[0].write_text(json.dumps(CHALLENGES), encoding="utf-8")
            wrong = changed(lambda matches: matches[2]["draw"].__setitem__("instance", 5))
            for matches, status in [(json.dumps(MATCHES), 0), (json.dumps(wrong), 14), ("{}", 1), ("[", 1), ("[]", 1)]:
                files[1].write_text(matches, encoding="utf-8")
                with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
                    self.assertEqual(draw.main([str(file) for file in files]), status, matches[:20])
            with redirect_stderr(StringIO()):
                self.assertEqual(draw.main([]), 1)


if __name__ == "__main__":
    unittest.main()
