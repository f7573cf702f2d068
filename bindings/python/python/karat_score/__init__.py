"""Scores for AI agents that anyone can check.

>>> import karat_score as ks
>>> card = ks.Scorecard.load("trust")
>>> record = card.score_one({"agent_id": "a", "dimensions": {"accuracy": 0.9, "safety": 1}})
>>> record.score, record.status
(945.0, 'scored')

A scorecard scores items (dictionaries or JSON) as records, and data frames (pandas, Polars, PyArrow, DuckDB) as columns. Functions
answer questions about many items: `leaderboard`, `compare`, `gate`, `rate`, `standing`, `stress`, `judges`, `tasks`, `trend`;
`verify` checks receipts and
records. What karat refuses is a `KaratError`, with everything that is wrong and where.
"""

from typing import Any

from ._native import KaratError, Record, __version__, scorecards
from .answers import Answer, Standings, Verification, compare, explain, gate, grid, import_log, judges, leaderboard, rate, standing, stress, tasks, trend, verify
from .card import Scorecard, VectorCache

__all__ = [
    "Answer",
    "KaratError",
    "Record",
    "Scorecard",
    "Standings",
    "VectorCache",
    "Verification",
    "__version__",
    "compare",
    "explain",
    "gate",
    "grid",
    "import_log",
    "judges",
    "leaderboard",
    "rate",
    "scorecards",
    "standing",
    "stress",
    "tasks",
    "trend",
    "verify",
]


def __getattr__(name: str) -> Any:
    # Spark is large, and few need it.
    if name == "spark":
        from importlib import import_module

        return import_module(".spark", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
