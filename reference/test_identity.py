"""Identities: worked cases."""

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from identity import identify


def given(*files, key=None):
    return identify({"card": "sha256:c", "numbers": ["solved"], "key": key, "files": list(files)})


def names(answer):
    return [item[:2] for item in answer["items"]]


class Identity(unittest.TestCase):
    def test_equal_rows_are_as_many_items_as_there_are(self):
        found = given(["runs.csv", "subject,solved\na,1\na,1\n\na,1\n"])
        self.assertEqual(names(found), [["a", "runs.csv:2"], ["a", "runs.csv:3"], ["a", "runs.csv:5"]])
        self.assertEqual((found["repeated"], found["conflicts"]), (0, []))

    def test_an_id_is_one_item_and_a_conflict_with_other_content(self):
        found = given(["x.csv", "id,subject,solved\n1,a,1\n1,a,1.0\n1,b,1\n1,a,0\n1,a,0\n"])
        self.assertEqual((names(found), found["repeated"]), ([["a", "1"], ["b", "1"]], 1))
        self.assertEqual(found["conflicts"], [["a", "1"]])

    def test_a_key_names_the_lines_of_a_batch(self):
        found = given(["-", '{"subject":"a","solved":1}\n\n{"subject":"a","id":7}\n{"solved":1}'], key="k")
        self.assertEqual(names(found), [["a", "7"], ["a", "k:1"], ["k:4", "k:4"]])


if __name__ == "__main__":
    unittest.main()
