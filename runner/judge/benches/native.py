"""Runs the cases of an exercise as this Python does, without a judge: what the figures of a judge are compared with.

    python3 native.py FOLDER          runs every case in this process, and says how long one takes
    python3 native.py FOLDER CASE     runs one case, as a process would for each
"""

import importlib.util
import io
import json
import resource
import subprocess
import sys
import time
import tomllib
from contextlib import redirect_stdout
from pathlib import Path


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(folder, case, function, module=None):
    if "stdin" in case:
        kept, sys.stdin = sys.stdin, io.StringIO(case["stdin"])
        with redirect_stdout(io.StringIO()) as written:
            load(folder / "reference.py")
        sys.stdin = kept
        return written.getvalue().split() == case["expect_stdout"].split()
    module = module or load(folder / "reference.py")
    result = json.loads(json.dumps(getattr(module, function)(*json.loads(json.dumps(case["args"])))))
    # Numbers within a tolerance are not compared here.
    return isinstance(result, list) or result == case["expect"]


def children():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    folder = Path(sys.argv[1])
    file = tomllib.loads((folder / "cases.toml").read_text(encoding="utf-8"))
    cases, function = file["case"], file.get("function")
    if len(sys.argv) > 2:
        case = next(case for case in cases if case["name"] == sys.argv[2])
        sys.exit(0 if run(folder, case, function) else 1)
    # Processor time, which does not depend on what else runs.
    begun = time.process_time()
    for case in cases:
        assert run(folder, case, function), case["name"]
    inside = 1000 * (time.process_time() - begun) / len(cases)
    begun = children()
    for case in cases:
        subprocess.run([sys.executable, __file__, folder, case["name"]], check=True)
    beside = 1000 * (children() - begun) / len(cases)
    print(json.dumps({"cases": len(cases), "in_process_ms": round(inside, 2), "process_each_ms": round(beside, 2)}))


if __name__ == "__main__":
    main()
