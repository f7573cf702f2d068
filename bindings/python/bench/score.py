"""Compares karat with Polars doing the same arithmetic in doubles: processor time in turns, the best of each, one thread.

    python bench/score.py [ROWS]

The trust card, a fifth of the values missing: in memory, and from Parquet to Parquet, with the query of the card in DuckDB beside it.
"""

import os

os.environ["POLARS_MAX_THREADS"] = "1"

import sys
import tempfile
import time
import tomllib
from pathlib import Path

import duckdb
import numpy as np
import polars as pl

import karat_score as ks

TURNS = 7
CARD = ks.Scorecard.load("trust@1.0.0")
RULES = tomllib.loads(CARD.text)


def made(rows: int) -> pl.DataFrame:
    """Returns agents whose values have four decimals, a fifth of them missing."""
    random = np.random.default_rng(1)
    columns = {}
    for dimension in RULES["dimension"]:
        values = random.integers(0, 10_001, rows) / 10_000
        columns[dimension["key"]] = pl.Series(values).zip_with(pl.Series(random.random(rows) >= 0.2), pl.Series([None], dtype=pl.Float64))
    for flag in ["bond_applies", "memoryQuality_applies", "teamwork_applies"]:
        columns[flag] = random.random(rows) < 0.9
    columns["critical_incident_open"] = random.random(rows) < 0.02
    return pl.DataFrame(columns)


def doubles(has_names: bool) -> list[pl.Expr]:
    """Returns score and coverage as expressions in doubles, and with `has_names` the published score and the tier."""
    readings, weights = {}, {}
    for it in RULES["dimension"]:
        value, weight = pl.col(it["key"]), pl.lit(float(it["weight"]))
        if "applies" in it:
            applies = pl.col(it["applies"])
            value, weight = pl.when(applies).then(value), pl.when(applies).then(weight).otherwise(0.0)
        readings[it["key"]], weights[it["key"]] = value, weight
    total = pl.sum_horizontal([reading * float(it["weight"]) for it, reading in zip(RULES["dimension"], readings.values())])
    covered = pl.sum_horizontal(
        [pl.when(reading.is_not_null()).then(float(it["weight"])).otherwise(0.0) for it, reading in zip(RULES["dimension"], readings.values())]
    )
    coverage = covered / pl.sum_horizontal(list(weights.values()))
    security = pl.col("security")
    cap = (
        pl.when((security < 0.25) | pl.col("critical_incident_open")).then(0.399).when(security < 0.5).then(0.599).otherwise(1.0)
    )
    score = pl.min_horizontal(total / covered, cap)
    if not has_names:
        return [score.alias("score"), coverage.alias("coverage")]
    points = (score * 1000 + 0.5).floor()
    limit = (
        pl.when((security < 0.25) | pl.col("critical_incident_open"))
        .then(0)
        .when(security.is_null() | (security < 0.5))
        .then(1)
        .otherwise(len(RULES["tier"]))
    )
    open_so_far, tier = pl.lit(True), pl.lit(0)
    for at, it in enumerate(RULES["tier"], 1):
        mandatory = [name for lower in RULES["tier"][:at] for name in lower["mandatory"]]
        floors = {name: float(it["floor"]) for name in mandatory} | {k: float(v) for k, v in it.get("require", {}).items()}
        holds = (points >= it["score"]) & (coverage >= float(it["coverage"]))
        for name, floor in floors.items():
            holds = holds & (readings[name] >= floor).fill_null(False)
        open_so_far = open_so_far & holds
        tier = pl.when(open_so_far & (limit >= at)).then(at).otherwise(tier)
    names = pl.Series([None, *[it["name"] for it in RULES["tier"]]])
    return [points.alias("score"), coverage.alias("coverage"), tier.replace_strict(list(range(len(names))), names).alias("tier")]


def turns(works: dict[str, object]) -> dict[str, float]:
    """Runs each in turn; returns the least processor seconds of each."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(TURNS):
        for name, work in works.items():
            start = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - start)
    return best


def show(title: str, best: dict[str, float]) -> None:
    print(title)
    base = best["Polars"]
    for name, seconds in best.items():
        print(f"  {name:<34}{seconds:8.3f} s   {base / seconds:5.2f} times Polars")


def main() -> None:
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    frame = made(rows)
    two = ["score_e9", "coverage_e9"]
    show("In memory, score and coverage", turns({
        "Polars": lambda: frame.select(doubles(False)),
        "karat": lambda: CARD.score(frame, columns=two),
    }))
    show("In memory, published score, coverage and tier", turns({
        "Polars": lambda: frame.select(doubles(True)),
        "karat": lambda: CARD.score(frame, columns=["score", "coverage", "tier"]),
    }))
    theirs, ours = frame.select(doubles(True)), CARD.score(frame, columns=["score", "tier"])
    off = (theirs["score"] != ours["score"]).sum()
    tiers = (theirs["tier"].fill_null("") != ours["tier"].cast(pl.String).fill_null("")).sum()
    print(f"  of {rows:,} scores, doubles publish {off:,} another number, and {tiers:,} another tier")
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "agents.parquet", Path(folder) / "scores.parquet"
        frame.write_parquet(source, compression="zstd")
        names = [name for name in CARD.facts if name in frame.columns]
        query = CARD.sql("duckdb", f"read_parquet('{source}')", without=[name for name in CARD.facts if name not in names])
        duck = duckdb.connect()
        duck.execute("SET threads = 1")
        show("Parquet to Parquet, score and coverage", turns({
            "Polars": lambda: pl.read_parquet(source, columns=names).select(doubles(False)).write_parquet(target),
            "Polars reads and writes, karat": lambda: CARD.score(pl.read_parquet(source, columns=names), columns=two).write_parquet(target),
            "the query of the card in DuckDB": lambda: duck.execute(
                f"COPY (SELECT score_e9, coverage_e9 FROM ({query})) TO '{target}' (FORMAT parquet, COMPRESSION zstd)"
            ),
        }))


if __name__ == "__main__":
    main()
