"""Scorecards."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

from . import _native, frames
from ._native import KaratError, Record, refusal
from ._native import Scorecard as NativeScorecard

if TYPE_CHECKING:
    from .answers import Answer


@dataclass(frozen=True)
class VectorCache:
    """The vectors of earlier traces that a new one is compared with.

    Capacity is in vectors, of which the oldest makes room; dimension is how many numbers a vector has.
    """

    capacity: int = 1000
    dimension: int = 384
    ttl_seconds: float | None = None

    def __post_init__(self) -> None:
        for name, least, most in [("capacity", 0, 2**53), ("dimension", 1, 65536)]:
            value = getattr(self, name)
            if not isinstance(value, int) or not least <= value <= most:
                raise refusal(f"`{name}` is {value!r}, expected a whole number from {least:,} to {most:,}")
        ttl = self.ttl_seconds
        if ttl is not None and not (isinstance(ttl, (int, float)) and 0 <= ttl <= 2**43):
            raise refusal(f"`ttl_seconds` is {ttl!r}, expected a number not below 0, or None")

    def _settings(self) -> tuple[int, int, int | None]:
        ttl = None if self.ttl_seconds is None else round(self.ttl_seconds * 1000)
        return self.capacity, self.dimension, ttl


class Scorecard:
    """A scorecard, ready to score: `Scorecard.load("trust")`. It does not change, and threads and processes may share it."""

    __slots__ = ("_embedder", "_model", "_native")
    _native: NativeScorecard
    _embedder: Callable[[str], Iterable[float]] | None
    _model: str | None

    def __init__(self) -> None:
        raise TypeError("use Scorecard.load")

    @classmethod
    def load(
        cls,
        card: str | os.PathLike[str] | Scorecard,
        *,
        subject_field: str | None = None,
        task_field: str | None = None,
        embedder: Callable[[str], Iterable[float]] | None = None,
        model: str | None = None,
        cache: VectorCache | None = None,
        observes: bool = False,
    ) -> Scorecard:
        """Opens a released scorecard (`id` or `id@version`), a file, or the text of one; a scorecard with other settings.

        For reasoning traces, `embedder` makes the vector of a text with the named `model`, and `cache` says how many are kept; with
        `observes` a trace that comes again counts as another observation.
        """
        if cache is not None and not isinstance(cache, VectorCache):
            raise refusal(f"`cache` is of type {type(cache).__name__}, expected a VectorCache")
        settings = None if cache is None else cache._settings()
        if isinstance(card, Scorecard):
            if not (subject_field or task_field or embedder or model or cache or observes):
                return card
            # The same one opened again, with these settings beside its own.
            again, old_subject, old_task, old_cache, old_observes = card._native.__getstate__()
            subject_field, task_field = subject_field or old_subject, task_field or old_task
            embedder, model = embedder or card._embedder, model or card._model
            settings, observes = settings or old_cache, observes or old_observes
            card = again
        if embedder is not None and model is None:
            raise refusal("an embedder needs `model`, the name of what makes its vectors")
        native = _native.Scorecard(
            _name(card), subject_field=subject_field, task_field=task_field, cache=settings, observes=observes
        )
        return cls._of(native, embedder, model)

    @classmethod
    def _of(cls, native: NativeScorecard, embedder: Callable[[str], Iterable[float]] | None, model: str | None) -> Scorecard:
        self = object.__new__(cls)
        self._native, self._embedder, self._model = native, embedder, model
        return self

    def _opened_by(self) -> tuple[str, dict[str, str]]:
        """Returns the name or the text that this is opened by again, and the fields of names."""
        wanted, subject_field, task_field, *_ = self._native.__getstate__()
        fields = {"subject_field": subject_field, "task_field": task_field}
        return wanted, {name: field for name, field in fields.items() if field is not None}

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (self._native.__getstate__(), self._embedder, self._model)

    @staticmethod
    def check(card: str | os.PathLike[str]) -> list[dict[str, Any]]:
        """Finds what is wrong with a scorecard, and its traps: code, severity, line, column, message and help of each."""
        text, name = os.fspath(card), "scorecard"
        if "\n" not in text:
            name = text
            with open(text, encoding="utf-8") as file:
                text = file.read()
        return _native.check(name, text)

    @property
    def name(self) -> str:
        """`id@version`."""
        return self._native.name

    @property
    def title(self) -> str:
        """What it is called."""
        return self._native.title

    @property
    def text(self) -> str:
        """The text of its file."""
        return self._native.text

    @property
    def digest(self) -> str:
        """The digest that its records name."""
        return self._native.digest

    @property
    def evidence(self) -> str:
        """The kind of evidence that it reads."""
        return self._native.evidence

    @property
    def facts(self) -> list[str]:
        """The facts that it reads: the columns of a frame."""
        return self._native.facts

    @property
    def dimensions(self) -> list[str]:
        """The keys of its dimensions."""
        return self._native.dimensions

    @property
    def scale(self) -> int:
        """The score that is the best."""
        return self._native.scale

    def score_one(self, item: Any, *, as_of: str | datetime | None = None, vector: Iterable[float] | None = None) -> Record:
        """Scores one item: a dictionary, or JSON as text or bytes.

        `as_of` is the moment of the verdict. The `vector` of a trace was made by the `model` that the scorecard was loaded with.
        """
        if self._embedder is None and vector is None:
            return self._native.score_one(item, as_of=_moment(as_of))
        item, numbers = self._embedded(item, vector)
        return self._native.score_one(item, as_of=_moment(as_of), vector=numbers, model=self._model)

    def explain(self, item: Any, *, as_of: str | datetime | None = None, vector: Iterable[float] | None = None) -> Answer:
        """Scores one item, and explains the score down to the last point."""
        from .answers import Answer

        if self._embedder is None and vector is None:
            return Answer(self._native.explain(item, as_of=_moment(as_of)))
        item, numbers = self._embedded(item, vector)
        return Answer(self._native.explain(item, as_of=_moment(as_of), vector=numbers, model=self._model))

    def _embedded(self, item: Any, vector: Iterable[float] | None) -> tuple[bytes, list[float]]:
        text = _native.to_json(item)
        if vector is None:
            assert self._embedder is not None
            vector = self._embedder(self._native.embedding_text(text))
        try:
            return text, [float(number) for number in vector]
        except (TypeError, ValueError) as error:
            raise refusal(f"this vector is no list of numbers: {error}") from error

    def clear_vectors(self) -> None:
        """Forgets the vectors of the traces so far."""
        self._native.clear_vectors()

    def score(
        self,
        frame: Any,
        *,
        on_broken: str = "mark",
        columns: Sequence[str] = (),
        values: bool = False,
        keep: Sequence[str] = (),
    ) -> Any:
        """Scores the rows of a frame: the same kind of frame back, one row for each.

        The columns are `score`, `score_e9` (billionths of a perfect score, whole numbers: add these up), `score_e15` beside it where a
        score can lie between two billionths, `coverage`, `coverage_e9`, `band`, `tier`, `status` and `reason`, or those of `columns`;
        with `values` the readings of all dimensions and which gates hold. Columns of the frame that `keep` names stay beside them.

        A row that breaks a declaration has the status `broken` and its reason; with `on_broken="raise"` the first one is an error.
        Of kinds of evidence that are no tables take `score_json`. A list of dictionaries is scored item by item.
        """
        refuses = _refuses(on_broken)
        kind = frames.kind_of(frame)
        if kind == "items":
            if keep or values or columns:
                raise refusal("`keep`, `values` and `columns` are for frames; a list of items gives their records")
            return [self._row(item, row, refuses) for row, item in enumerate(frame)]
        stream, back = frames.taken(frame, kind, keep)
        native = self._native.score_stream(
            stream,
            columns=list(columns),
            values=values,
            keep=list(keep),
            refuses_broken=refuses,
            is_lazy=kind == "reader",
        )
        return back(native)

    def score_json(self, column: Iterable[Any], *, on_broken: str = "mark") -> Any:
        """Scores a column of items as JSON, for evidence that is nested: runs, matches, traces, agents.

        A Series of pandas or Polars or an array of PyArrow gives a frame of that library, anything else a list of dictionaries.
        """
        refuses = _refuses(on_broken)
        rows = [self._row(text, row, refuses) for row, text in enumerate(frames.texts_of(column))]
        return frames.of_rows(column, rows)

    def _row(self, item: Any, row: int, refuses: bool) -> dict[str, Any]:
        reason = None
        if frames.is_missing(item):
            reason = "there is no item"
        else:
            try:
                record = self.score_one(item)
            except KaratError as error:
                if error.code == "internal":
                    raise
                reason = str(error)
                if refuses:
                    error.row, error.args = row, (f"row:{row}: {reason}",)
                    raise
        if reason is not None:
            if refuses:
                raise refusal(f"row:{row}: {reason}", row=row)
            return {**dict.fromkeys(frames.ROWS), "status": "broken", "reason": reason}
        return {
            "subject": record.subject,
            "score": record.score,
            "coverage": record.coverage,
            "band": record.band,
            "tier": record.tier,
            "status": record.status,
            "reason": None,
            "record": record.bytes.decode(),
        }

    def sql(
        self,
        dialect: str,
        table: str = "t",
        *,
        without: Sequence[str] = (),
        keep: Sequence[str] = (),
        unique: Sequence[str] = (),
        elapsed_seconds: str | None = None,
        values: bool = False,
        sums: Sequence[str] = (),
    ) -> str:
        """Writes the scorecard as one SELECT, which gives these scores in `duckdb`, `postgres`, `sqlite`, `clickhouse`, `spark`, `bigquery`
        or `snowflake`. With `sums`, the columns of subjects, tasks and outcomes, it adds the scores up, for `leaderboard(..., from_sums=True)`."""
        if len(sums) > 3 or isinstance(sums, str):
            raise refusal("`sums` is [subject], [subject, task] or [subject, task, outcome]")
        subject, task, outcome = [*sums, None, None, None][:3]
        return self._native.query(
            dialect,
            table,
            without=list(without),
            keep=list(keep),
            unique=list(unique),
            elapsed_seconds=elapsed_seconds,
            values=values,
            subject=subject,
            task=task,
            outcome=outcome,
        )

    def self_check(self, dialect: str, rows: int = 1000) -> str:
        """Writes the query by which an engine proves that it gives these scores: it must count 0."""
        if not isinstance(rows, int) or not 1 <= rows <= 1_000_000:
            raise refusal(f"`rows` is {rows!r}, expected 1 to 1,000,000")
        return self._native.self_check(dialect, rows)

    def __repr__(self) -> str:
        return f"Scorecard({self.name!r}, {self.digest[:19]}…)"

    def _settings(self) -> tuple[Any, ...]:
        return (self.digest, self._model, self._embedder, *self._native.__getstate__()[1:])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scorecard) and self._settings() == other._settings()

    def __hash__(self) -> int:
        return hash(self.digest)


def _opened(state: tuple[Any, ...], embedder: Any, model: str | None) -> Scorecard:
    wanted, subject_field, task_field, cache, observes = state
    native = _native.Scorecard(
        wanted, subject_field=subject_field, task_field=task_field, cache=cache, observes=observes
    )
    return Scorecard._of(native, embedder, model)


def _name(card: str | os.PathLike[str] | Scorecard) -> str:
    assert not isinstance(card, Scorecard)
    return os.fspath(card)


def _moment(as_of: str | datetime | None) -> str | None:
    if isinstance(as_of, datetime):
        if as_of.utcoffset() is None:
            raise refusal(f"`as_of` is a time without a zone, {as_of}: say which, such as timezone.utc")
        return as_of.isoformat()
    return as_of


def _refuses(on_broken: str) -> bool:
    if on_broken not in ("mark", "raise"):
        raise refusal(f'`on_broken` is {on_broken!r}, expected "mark" or "raise"')
    return on_broken == "raise"
