"""What the tests share: the checkout, the command, and the kinds of frames."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"


@pytest.fixture
def karat_command():
    """Runs `python -m karat_score` with arguments; returns what it did."""

    def run(*arguments, stdin=b"", cwd=ROOT):
        program = [sys.executable, "-m", "karat_score", *map(str, arguments)]
        return subprocess.run(program, input=stdin, capture_output=True, cwd=cwd, timeout=60)

    return run


@pytest.fixture
def answered(karat_command):
    """Returns the document that the command prints with `--format json`; gates and checks may fail."""

    def run(*arguments, stdin=b""):
        done = karat_command(*arguments, "--format", "json", stdin=stdin)
        assert done.returncode in (0, 10, 14), done.stderr.decode()
        return json.loads(done.stdout)

    return run
