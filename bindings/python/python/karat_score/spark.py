"""Scores of Spark data frames: Apache Spark, Databricks, Sail.

    import karat_score.spark as spark

    scored = spark.score(df, "trust", keep=["agent_id"])
    board = spark.leaderboard(df, card, subject="agent", task="task")

What `leaderboard` collects are sums of whole numbers, so that partitions, retries and lost workers change nothing. The package must
be on the workers, in the same version. Where SQL is enough, `Scorecard.sql("spark", ...)` needs nothing there.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Iterable, Iterator, Sequence

from . import Scorecard, __version__
from ._native import refusal
from .answers import Answer
from .answers import leaderboard as ask
from .frames import NUMBERS, ROWS


def score(df: Any, card: Any, *, keep: Sequence[str] = (), columns: Sequence[str] = (), values: bool = False) -> Any:
    """Scores the rows of a data frame: as `Scorecard.score`, with the columns that `keep` names beside the scores."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    card = Scorecard.load(card)
    df = _only(df, card, keep)
    asked = {"keep": list(keep), "columns": list(columns), "values": values}
    schema = _plain(card.score(to_arrow_schema(df.schema).empty_table(), **asked)).schema
    return df.mapInArrow(partial(_score, _state(card), asked), from_arrow_schema(schema.remove_metadata()))


def score_json(df: Any, card: Any, column: str, *, keep: Sequence[str] = ()) -> Any:
    """Scores a column of items as JSON, for evidence that is nested: runs, matches, traces, agents."""
    from pyspark.sql import types

    card = Scorecard.load(card)
    fields = [df.schema[name] for name in keep]
    fields += [
        types.StructField(name, types.DoubleType() if name in NUMBERS else types.StringType()) for name in ROWS
    ]
    df = df.select(*keep, column)
    return df.mapInArrow(partial(_score_json, (card.text, card.digest, __version__), column, list(keep)), types.StructType(fields))


def _only(df: Any, card: Scorecard, keep: Sequence[str]) -> Any:
    """Returns the columns that are read or kept: the others need not travel."""
    missing = [name for name in keep if name not in df.columns]
    if missing:
        raise refusal(f"the frame has no column `{missing[0]}`, which `keep` names")
    facts = {*card.facts, *keep}
    # A struct may have nested facts.
    tops = {fact.split(".", 1)[0] for fact in facts}
    return df.select(*[name for name in df.columns if name in facts or name in tops])


def _state(card: Scorecard) -> tuple[str, str, str]:
    """Returns what a worker needs: the card as text, and what it must be there."""
    return card._native.table_text, card._native.table_digest, __version__


def _loaded(state: tuple[str, str, str]) -> Scorecard:
    text, digest, version = state
    if version != __version__:
        raise refusal(f"this worker has karat-score {__version__}, expected {version}: install the same one")
    card = Scorecard.load(text)
    if card.digest != digest:
        raise refusal(f"this worker reads the scorecard as {card.digest}, expected {digest}")
    return card


def _plain(table: Any) -> Any:
    """Returns a table whose dictionaries are texts, which Spark has no other form for."""
    import pyarrow as pa

    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            table = table.set_column(at, field.name, table.column(at).cast(field.type.value_type))
    return table


def _score(state: tuple[str, str, str], asked: dict[str, Any], batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    card = _loaded(state)
    for batch in batches:
        yield from _plain(card.score(pa.Table.from_batches([batch]), **asked)).to_batches()


def _score_json(state: tuple[str, str, str], column: str, keep: list[str], batches: Iterable[Any]) -> Iterator[Any]:
    import pyarrow as pa

    card = _loaded(state)
    types = {name: pa.string() for name in ROWS} | {"score": pa.float64(), "coverage": pa.float64()}
    for batch in batches:
        rows = card.score_json(batch.column(column).to_pylist())
        kept = [batch.column(name) for name in keep]
        scores = [pa.array([row[name] for row in rows], types[name]) for name in ROWS]
        yield pa.RecordBatch.from_arrays([*kept, *scores], names=[*keep, *ROWS])


def sums(
    df: Any, card: Any, *, subject: str = "subject", task: str = "task", outcome: str | None = None, unique: Sequence[str] = ()
) -> Any:
    """Adds up the scores by subject and task, and by `outcome` if a column has that: as whole numbers, which have one sum in any order.

    Rows that are equal in the columns of `unique` are one item: equal rows count once, and an item whose rows differ is broken.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    card = Scorecard.load(card)
    keys = {"subject": subject, "task": task, **({"outcome": outcome} if outcome else {})}
    keep = list(dict.fromkeys([*keys.values(), *unique]))
    rows = _only(df, card, keep)
    if unique:
        rows = rows.dropDuplicates()
    scored = score(rows, card, keep=keep, columns=["score_e9", "status"])
    broken = F.col("status") == "broken"
    if unique:
        scored = scored.withColumn("_rows", F.count(F.lit(1)).over(Window.partitionBy(*unique)))
        broken = broken | (F.col("_rows") > 1)
        # One row stands for the item.
        scored = scored.withColumn("_broken", broken).dropDuplicates(list(unique))
        broken = F.col("_broken")
    is_scored = (F.col("status") == "scored") & ~broken
    added = [
        F.count(F.lit(1)).alias("items"),
        F.sum(is_scored.cast("bigint")).alias("scored"),
        F.sum(broken.cast("bigint")).alias("broken"),
        F.sum(F.when(is_scored, F.col("score_e9"))).alias("sum_score_e9"),
    ]
    cells = scored.groupBy(*[F.col(column).cast("string").alias(key) for key, column in keys.items()]).agg(*added)
    return cells.withColumn("card", F.lit(card._native.table_digest))


def leaderboard(
    df: Any,
    card: Any,
    *,
    subject: str = "subject",
    task: str = "task",
    outcome: str | None = None,
    unique: Sequence[str] = (),
    **settings: Any,
) -> Answer:
    """Ranks the subjects of a data frame by their `sums`: the leaderboard that one machine gives, as far as sums tell."""
    card = Scorecard.load(card)
    cells = sums(df, card, subject=subject, task=task, outcome=outcome, unique=unique)
    return ask(cells.toArrow(), card=card._native.table_text, from_sums=True, **settings)
