"""A scorer for Inspect: the score of a scorecard, from what each sample did.

    from karat_score.inspect import karat

    @task
    def my_task():
        return Task(dataset=..., solver=..., scorer=karat("card.toml", item=facts))

`item` makes the item of evidence from the state of a sample and its target. Without it the item is what karat's own import of the
finished log would make of the usage of the sample, and `metadata` of the state. `write` is a file that gets each item, a line of JSON.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

from inspect_ai.scorer import Score, Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import TaskState

from . import KaratError, Scorecard, _native

Item = Callable[[TaskState, Target], dict[str, Any]]


@scorer(metrics=[mean(), stderr()], name="karat")  # type: ignore[untyped-decorator,unused-ignore]
def karat(card: Any, *, item: Item | None = None, subject: str | None = None, write: str | None = None) -> Scorer:
    """Scores samples by a scorecard, as shares of its scale; a sample whose item is refused has no score, and the reason."""
    loaded = Scorecard.load(card)
    make = item or _item

    async def score(state: TaskState, target: Target) -> Score:
        made = make(state, target)
        made.setdefault("subject", subject or str(state.model))
        if loaded.evidence == "facts":
            made.setdefault("id", f"{state.sample_id}#{state.epoch}")
            made.setdefault("task", str(state.sample_id))
        try:
            record = loaded.score_one(made)
        except KaratError as error:
            if error.code == "internal":
                raise
            return Score(value=float("nan"), explanation=str(error))
        if write is not None:
            with Path(write).open("a", encoding="utf-8") as file:
                file.write(_native.to_json(made).decode() + "\n")
        share = float("nan") if record.score is None else record.score / loaded.scale
        return Score(
            value=share,
            explanation=f"{loaded.name}: {record.score} of {loaded.scale}, {record.status}",
            metadata={"record": json.loads(record.bytes)},
        )

    return score


def _item(state: TaskState, target: Target) -> dict[str, Any]:
    del target
    return dict(state.metadata)
