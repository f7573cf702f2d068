"""The command of the package: `python -m karat_score` is `karat`."""

import json
import os
import signal
import subprocess
import sys
import time

import karat_score as ks
from conftest import EXAMPLES, ROOT

RUNS, CARD = EXAMPLES / "leaderboard/runs.csv", EXAMPLES / "cards/task-run.toml"
PROGRAM = [sys.executable, "-m", "karat_score"]


def test_it_says_its_version_and_how_it_is_used(karat_command):
    done = karat_command("--version")
    assert (done.returncode, done.stdout.decode().split()[:2], done.stderr) == (0, ["karat", ks.__version__], b"")
    done = karat_command("--help")
    assert done.returncode == 0 and b"leaderboard" in done.stdout and b"Usage: karat" in done.stdout


def test_exit_statuses_are_those_of_karat(karat_command, tmp_path):
    assert karat_command("leaderboard", "--card", CARD, RUNS).returncode == 0
    assert karat_command("no-such-command").returncode == 2
    assert karat_command("score", "--card", CARD, "no/such/file.csv").returncode not in (0, 10)
    done = karat_command("score", "--card", "trsut", RUNS)
    assert done.returncode not in (0, 10) and b"did you mean `trust`" in done.stderr and b"Traceback" not in done.stderr
    assert karat_command("leaderboard", "--card", CARD, "--fail-under", "100", RUNS).returncode == 10


def test_it_reads_and_writes_pipes(karat_command):
    item = {"agent_id": "é", "id": "a-1", "dimensions": {"accuracy": 0.9}}
    done = karat_command("score", "--card", "trust@1.0.0", "--format", "jsonl", "-", stdin=json.dumps(item).encode())
    assert done.stdout.strip() == ks.Scorecard.load("trust@1.0.0").score_one(item).bytes
    assert karat_command("score", "--card", "trust", "-", stdin=b"").returncode != 0


def test_arguments_need_not_be_unicode(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.csv"
    with open(path, "wb") as file:
        file.write(RUNS.read_bytes())
    done = subprocess.run([*PROGRAM, "leaderboard", "--card", str(CARD), path], capture_output=True, timeout=60)
    assert b"Traceback" not in done.stderr and done.returncode in (0, 2), done.stderr


def test_a_reader_that_goes_away_is_no_traceback():
    lines = "\n".join(json.dumps({"agent_id": f"a{at}", "id": str(at), "dimensions": {"accuracy": 0.5}}) for at in range(2000))
    program = subprocess.Popen([*PROGRAM, "score", "--card", "trust@1.0.0", "--format", "jsonl", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    program.stdout.close()
    try:
        program.stdin.write(lines.encode())
        program.stdin.close()
    except BrokenPipeError:
        pass
    told = program.stderr.read()
    program.stderr.close()
    assert b"Traceback" not in told and b"panic" not in told, told
    assert program.wait(60) != 101


def test_an_interrupt_ends_it():
    # It waits for items that do not come.
    program = subprocess.Popen([*PROGRAM, "score", "--card", "trust@1.0.0", "--format", "jsonl", "-"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    program.stdin.write(b'{"agent_id": "a", "id": "1", "dimensions": {"accuracy": 0.5}}\n' * 3)
    program.stdin.flush()
    time.sleep(1.5)
    assert program.poll() is None
    program.send_signal(signal.SIGINT)
    _, told = program.communicate(timeout=30)
    assert program.returncode in (-signal.SIGINT, 130) and b"Traceback" not in told


def test_it_can_be_called_in_a_process_again_and_again():
    code = """
import os, sys
from karat_score import _native
for _ in range(3):
    assert _native.command(["karat", "score", "--card", "trust@1.0.0", "--format", "jsonl", sys.argv[1]]) == 0
    assert _native.command(["karat", "nothing"]) == 2
print("done")
"""
    done = subprocess.run([sys.executable, "-c", code, str(EXAMPLES / "trust/security.jsonl")], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stderr
    assert len(done.stdout.splitlines()) % 3 == 1
