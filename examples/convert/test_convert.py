"""Tests of the converters: python3 -m unittest, in this folder."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import swe_agent
import tau_bench


def kinds(trace):
    return [step["type"] for step in trace["steps"]]


class SweAgent(unittest.TestCase):
    def convert(self, turns, exit_status="submitted"):
        log = {"trajectory": turns, "history": [{"role": "user", "content": "Mend it"}], "info": {"exit_status": exit_status}}
        return swe_agent.convert(log, Path("a.traj"))

    def test_same_tool_after_its_failure_is_a_recovery(self):
        failed = {"thought": "t", "action": "edit 1:1", "observation": "Your proposed edit has introduced new syntax error(s)."}
        trace = self.convert([failed, {"thought": " \n", "action": "edit 1:2", "observation": "done"}])
        self.assertEqual(kinds(trace), ["thought", "tool_call", "observation", "error_recovery", "observation"])
        self.assertEqual(trace["task"]["objective"], "Mend it")

    def test_another_tool_after_a_failure_is_none(self):
        failed = {"action": "python a.py", "observation": "Traceback (most recent call last)"}
        trace = self.convert([failed, {"action": "open a.py", "observation": ""}, {"action": "python a.py", "observation": ""}])
        self.assertNotIn("error_recovery", kinds(trace))

    def test_success_is_that_something_was_submitted(self):
        self.assertTrue(self.convert([])["metadata"]["success"])
        self.assertFalse(self.convert([], "exit_cost")["metadata"]["success"])


class TauBench(unittest.TestCase):
    def convert(self, policy, reward):
        call = {"function": {"name": "book", "arguments": "{\"seat\": 1}"}}
        traj = [
            {"role": "system", "content": policy}, {"role": "user", "content": "A seat, please"},
            {"role": "assistant", "content": None, "tool_calls": [call]}, {"role": "tool", "content": "Error: sold out"},
            {"role": "assistant", "content": "Another one", "tool_calls": [call]}, {"role": "tool", "content": "{}"},
        ]
        record = {"task_id": 4, "trial": 1, "reward": reward, "info": {"task": {"instruction": "Book"}}, "traj": traj}
        return tau_bench.convert(record, Path("airline.json"))

    def test_steps(self):
        trace = self.convert("", 1.0)
        self.assertEqual(kinds(trace), ["observation", "tool_call", "observation", "thought", "error_recovery", "observation"])
        self.assertEqual(trace["id"], "kp:trace:airline-4-1")

    def test_outcome_is_the_reward(self):
        for reward in (0.0, 1.0):
            trace = self.convert("", reward)
            self.assertEqual((trace["metadata"]["success"], trace["outcome"]["confidence"]), (reward == 1.0, reward))

    def test_date_comes_from_the_policy(self):
        stated = self.convert("The current time is 2024-05-15 15:00:00 EST.", 1.0)
        self.assertEqual(stated["metadata"]["created_at"], "2024-05-15T20:00:00Z")
        self.assertEqual(self.convert("", 1.0)["metadata"]["created_at"], "1970-01-01T00:00:00Z")


class Programs(unittest.TestCase):
    def run_on(self, program, *files):
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder, str(place)) for place in range(len(files))]
            for path, text in zip(paths, files):
                path.write_text(text, encoding="utf-8")
            done = subprocess.run([sys.executable, program, *paths], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.splitlines(), done.stderr.splitlines()

    def test_what_cannot_be_read_is_named(self):
        for program, other in [("swe_agent.py", "[]"), ("tau_bench.py", "{"), ("tau_bench.py", "null"), ("tau_bench.py", "[1]")]:
            status, lines, complaints = self.run_on(program, other)
            self.assertEqual((status, lines, len(complaints)), (1, [], 1), complaints)

    def test_no_file_is_a_wrong_use(self):
        for program in ("swe_agent.py", "tau_bench.py"):
            status, lines, complaints = self.run_on(program)
            self.assertEqual((status, lines), (1, []))
            self.assertRegex(complaints[0], f"^usage: python3 {program} FILE")


if __name__ == "__main__":
    unittest.main()
