"""The package: what importing it loads, and what it has."""

import json
import subprocess
import sys
from pathlib import Path

import karat_score as ks
import pytest


def test_importing_loads_no_large_package():
    code = """
import sys
import karat_score
import json
large = {"numpy", "pandas", "polars", "pyarrow", "pyspark", "inspect_ai", "duckdb", "pytest", "asyncio", "multiprocessing", "importlib.metadata"}
print(json.dumps(sorted(large & set(sys.modules))))
card = karat_score.Scorecard.load("trust")
card.score([{"agent_id": "a", "dimensions": {"accuracy": 1}}])
repr(karat_score.leaderboard([{"agent_id": "a", "id": "1", "dimensions": {"accuracy": 1}}], card=card))
print(json.dumps(sorted(large & set(sys.modules))))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [[], []]


def test_all_names_are_there_with_what_they_do():
    for name in ks.__all__:
        value = getattr(ks, name)
        assert name == "__version__" or value.__doc__, name
    assert ks.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="no attribute 'leaderbord'"):
        ks.leaderbord
    assert (Path(ks.__file__).parent / "py.typed").is_file()


def test_the_stubs_have_what_the_native_module_has():
    from karat_score import _native

    stubs = (Path(ks.__file__).parent / "_native.pyi").read_text(encoding="utf-8")
    for name in dir(_native):
        if not name.startswith("__") or name == "__version__":
            assert f"def {name}(" in stubs or f"class {name}" in stubs or f"{name}: " in stubs, name
    for kind in [_native.Scorecard, _native.Record, _native.Answer, _native.Batches, _native.Source]:
        body = stubs.split(f"class {kind.__name__}", 1)[1].split("\nclass ", 1)[0]
        for name in vars(kind):
            if not name.startswith("__"):
                assert f"{name}(" in body or f"{name}: " in body, (kind, name)


def test_numbers_and_frames_need_no_more_than_what_made_them():
    code = """
import sys
for name in ("pandas", "pyarrow", "duckdb"):
    sys.modules[name] = None
import polars as pl
import karat_score as ks
scored = ks.Scorecard.load("trust").score(pl.DataFrame({"accuracy": [0.9, None]}))
assert scored["score"].to_list() == [900.0, None], scored
print(ks.leaderboard(pl.DataFrame({"agent_id": ["a"], "id": ["1"], "accuracy": [0.5]}), card="trust").to_polars().height)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
