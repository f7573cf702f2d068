"""Runs test_duration.py on every answer and prints one line of facts for each.

    python3 run.py > reports.jsonl

`seconds` is the one number that differs from run to run; reports.jsonl is the record of one run.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
COUNTS = re.compile(r"(failures|errors|skipped)=(\d+)")


def report(answer):
    start = time.perf_counter()
    run = subprocess.run(
        [sys.executable, "-B", str(HERE / "test_duration.py")],
        env={**os.environ, "ANSWER": str(answer)}, capture_output=True, text=True, timeout=60, check=False,
    )
    seconds = time.perf_counter() - start
    total = int(re.search(r"^Ran (\d+) test", run.stderr, re.MULTILINE)[1])
    counts = {name: int(count) for name, count in COUNTS.findall(run.stderr.splitlines()[-1])}
    failed = counts.get("failures", 0) + counts.get("errors", 0)
    skipped = counts.get("skipped", 0)
    return {
        "id": "duration-" + answer.stem.replace("_", "-"), "subject": answer.stem, "total": total,
        "passed": total - failed - skipped, "failed": failed, "skipped": skipped, "seconds": round(seconds, 3),
    }


if __name__ == "__main__":
    for path in sorted((HERE / "answers").glob("*.py")):
        print(json.dumps(report(path)))
