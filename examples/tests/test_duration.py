"""One exercise, several answers: `seconds("1h30m")` is 5400. Run by run.py, which names the answer to be tested."""

import importlib.util
import os
import unittest
from pathlib import Path

ANSWER = Path(os.environ["ANSWER"])


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Duration(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.answer = load(ANSWER)

    def test_seconds(self):
        self.assertEqual(self.answer.seconds("45s"), 45)

    def test_minutes(self):
        self.assertEqual(self.answer.seconds("2m"), 120)

    def test_hours_and_minutes(self):
        self.assertEqual(self.answer.seconds("1h30m"), 5400)

    def test_all_units(self):
        self.assertEqual(self.answer.seconds("1h1m1s"), 3661)

    def test_zero(self):
        self.assertEqual(self.answer.seconds("0s"), 0)

    def test_many_digits(self):
        self.assertEqual(self.answer.seconds("100m"), 6000)

    def test_empty_is_refused(self):
        with self.assertRaises(ValueError):
            self.answer.seconds("")

    def test_rest_is_refused(self):
        with self.assertRaises(ValueError):
            self.answer.seconds("5m3")

    def test_unknown_unit_is_refused(self):
        with self.assertRaises(ValueError):
            self.answer.seconds("3y")

    def test_wrong_order_is_refused(self):
        with self.assertRaises(ValueError):
            self.answer.seconds("3s1h")

    def test_text(self):
        if not hasattr(self.answer, "text"):
            self.skipTest("the way back is optional")
        self.assertEqual(self.answer.text(5400), "1h30m")

    def test_text_of_zero(self):
        if not hasattr(self.answer, "text"):
            self.skipTest("the way back is optional")
        self.assertEqual(self.answer.text(0), "0s")


if __name__ == "__main__":
    unittest.main()
