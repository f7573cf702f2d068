"""Questions about many items, and their answers."""

from __future__ import annotations

import json
import os
import tempfile
from datetime import date, datetime
from typing import Any, Iterable

from . import _native, frames
from ._native import refusal
from .card import Scorecard, _moment


class Answer:
    """An answer: the document that the command prints with `--format json`, and what people read.

    `answer["leaderboards"]` is a part of the document, `to_pandas()` and `to_polars()` its main table.
    """

    __slots__ = ("_document", "_native")

    def __init__(self, native: _native.Answer) -> None:
        self._native = native
        self._document: Any = None

    @property
    def json(self) -> str:
        """The text that the command prints."""
        return self._native.json.decode()

    def to_dict(self) -> Any:
        """Returns the document as dictionaries and lists."""
        return json.loads(self.json)

    def __getitem__(self, key: Any) -> Any:
        if self._document is None:
            self._document = self.to_dict()
        return self._document[key]

    def rows(self) -> list[dict[str, Any]]:
        """Returns the main table, a dictionary for each row."""
        return _lines(self._native.lines())

    def to_pandas(self) -> Any:
        """Returns the main table as a frame of pandas."""
        import pandas

        return pandas.DataFrame(self.rows())

    def to_polars(self) -> Any:
        """Returns the main table as a frame of Polars."""
        import polars

        return polars.DataFrame(self.rows(), infer_schema_length=None)

    def to_markdown(self) -> str:
        """Returns all of it as Markdown."""
        return self._native.markdown()

    def to_csv(self) -> str:
        """Returns the main table as CSV."""
        return self._native.csv()

    def to_html(self) -> str:
        """Returns all of it as a page in one file, with drawings."""
        return self._native.html()

    def _repr_html_(self) -> str:
        return f'<div class="karat">{self._native.fragment()}</div>'

    def _repr_markdown_(self) -> str:
        return self.to_markdown()

    def __repr__(self) -> str:
        return _plain(self._native.text())


class Standings(Answer):
    """Standings: the document is one for each subject."""

    __slots__ = ()

    def to_dict(self) -> list[dict[str, Any]]:
        """Returns the documents of the subjects as dictionaries."""
        return _lines(self.json)


class Verification(Answer):
    """The checks of a receipt or a record."""

    __slots__ = ()

    @property
    def status(self) -> str:
        """`verified`, `consistent` (nothing failed, and not all could be checked) or `failed`."""
        return str(self["status"])

    @property
    def ok(self) -> bool:
        """True if everything was checked and holds."""
        return self.status == "verified"

    @property
    def checks(self) -> list[dict[str, Any]]:
        """Name, outcome and what each check says."""
        return list(self["checks"])


def leaderboard(items: Any, *, card: Any = None, **settings: Any) -> Answer:
    """Ranks the subjects of items, with error bars, and letters for ties.

    Items are paths of files (whatever the command reads, logs of other tools included), a frame, or a list of dictionaries or
    records; records name their scorecard. Settings have the names of the flags: by, group_by, method, min_tasks, attempts, level,
    rename, where, since, until, as_of, subject_field, task_field and so on. With `from_sums=True` the rows are the sums that
    `Scorecard.sql(..., sums=...)` or Spark gives.
    """
    return Answer(_ask("leaderboard", {"items": items}, card, settings))


def compare(first: Any, second: Any, *, items: Any = None, card: Any = None, **settings: Any) -> Answer:
    """Says which of two is ahead, and which tasks got worse: two runs, or two subjects by name of the same `items`."""
    if items is not None:
        return Answer(_ask("compare", {"items": items}, card, {"first": first, "second": second, **settings}))
    return Answer(_ask("compare", {"first": first, "second": second}, card, settings))


def gate(items: Any, *, baseline: Any = None, history: Any = None, card: Any = None, **settings: Any) -> Answer:
    """Judges a run by gates, beside a baseline and earlier runs, with the settings of a project file: `gate={"fail_under": 800}`."""
    return Answer(_ask("gate", {"items": items, "baseline": baseline, "history": history}, card, settings))


def rate(matches: Any, *, system: str = "elo", **settings: Any) -> Answer:
    """Rates competitors from their matches: elo, glicko2, weng-lin or bradley-terry."""
    return Answer(_ask("rate", {"items": matches}, None, {"system": system, **settings}))


def standing(
    items: Any, *, card: Any = None, as_of: str | datetime, events: str | os.PathLike[str] | None = None, **settings: Any
) -> Standings:
    """Shows official scores at a moment: window, decay, review, tier, share."""
    if events is not None:
        with open(events, encoding="utf-8") as file:
            settings["events_text"] = file.read()
    return Standings(_ask("standing", {"items": items}, card, {"as_of": as_of, **settings}))


def stress(items: Any, *, card: Any, **settings: Any) -> Answer:
    """Says how far a ranking depends on its scorecard and on single tasks."""
    return Answer(_ask("stress", {"items": items}, card, settings))


def grid(items: Any, *, card: Any = None, **settings: Any) -> Answer:
    """Puts subjects or runs side by side, task by task, the largest differences first: `run` names the field of the run."""
    return Answer(_ask("grid", {"items": items}, card, settings))


def judges(items: Any, *, label: str, card: Any = None, **settings: Any) -> Answer:
    """Holds verdicts of judges against labels of people, and corrects the means of subjects by both together.

    `label` names the field with the labels, `verdict` those of judges (without it the score), `family` and `bias_by` what a judge might
    favour.
    """
    return Answer(_ask("judges", {"items": items}, card, {"label": label, **settings}))


def tasks(items: Any, *, card: Any = None, **settings: Any) -> Answer:
    """Says what results tell of the tasks: difficulty, what they decide, suspect keys, flaky outcomes, and which of them would do."""
    return Answer(_ask("tasks", {"items": items}, card, settings))


def trend(items: Any, *, card: Any = None, **settings: Any) -> Answer:
    """Follows runs of subjects over time, with an alarm that may be looked at every night: `run` names the field of the run."""
    return Answer(_ask("trend", {"items": items}, card, settings))


def explain(item: Any, *, card: Any, **settings: Any) -> Answer:
    """Explains the score of an item down to the last point."""
    return Scorecard.load(card).explain(item, **settings)


def verify(
    proof: Any,
    *,
    key: str | None = None,
    evidence: Any = None,
    card: Any = None,
    witness: Iterable[str] = (),
    rotation: Iterable[Any] = (),
) -> Verification:
    """Checks a receipt or a record: signature, proof, score; with `evidence` also that the score is of it.

    The `key` of the log comes from a source that is not the one of the receipt. Proofs are dictionaries, JSON, records, or paths.
    """
    question = {
        "text": _text(proof),
        "name": os.fspath(proof) if _is_path(proof) else "",
        "key": key,
        "witness": list(witness),
        "rotation": [_text(it) for it in rotation],
        "evidence": None if evidence is None else _text(evidence),
        "card_text": None if card is None else Scorecard.load(card).text,
    }
    return Verification(_native.verify(json.dumps(question).encode()))


def import_log(log: Any, *, card: Any = None) -> list[dict[str, Any]]:
    """Reads the log of another tool as items: a path, or an `EvalLog` of Inspect."""
    if isinstance(log, (str, os.PathLike)):
        text = None if card is None else Scorecard.load(card).text
        return _lines(_native.import_items([os.fspath(log)], text).decode())
    if type(log).__name__ != "EvalLog":
        raise refusal(f"found a value of type {type(log).__name__}, expected a path or an EvalLog")
    from inspect_ai.log import write_eval_log

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log.json")
        write_eval_log(log, path, format="json")
        return import_log(path, card=card)


def _ask(question: str, given: dict[str, Any], card: Any, settings: dict[str, Any]) -> _native.Answer:
    files: list[dict[str, Any]] = []
    beside: dict[str, list[dict[str, Any]]] = {"baseline": [], "history": []}
    sources: dict[str, _native.Source] = {}
    asked: dict[str, Any] = {"question": question, "files": files}
    if isinstance(card, Scorecard):
        # What it was opened by may mean several scorecards, and where items have their names is its matter.
        card, fields = card._opened_by()
        settings = settings if question == "rate" else {**fields, **settings}
    if card is not None:
        if isinstance(card, str) and _is_released(card):
            settings = {**settings, "card": card}
        else:
            asked["card_text"] = Scorecard.load(card).text
    named = [settings.get("subject_field"), settings.get("task_field")]
    for name, items in given.items():
        if items is None:
            continue
        file = _file(name, items, sources, [it for it in named if it])
        beside.get(name, files).append(file)
        if name in ("first", "second"):
            settings = {**settings, name: file["name"]}
    asked.update({name: given for name, given in beside.items() if given})
    asked["settings"] = _settings(settings)
    return _native.ask(json.dumps(asked).encode(), sources, ["items", "first", "second", *(it["name"] for it in files if "text" in it)])


def _is_released(card: str) -> bool:
    return any(card in (name, name.split("@")[0]) for name in _native.scorecards())


def _lines(text: str) -> list[dict[str, Any]]:
    """Returns the objects of lines of JSON, in which texts may have other ends of lines."""
    return [json.loads(line) for line in text.split("\n") if line]


def _file(name: str, items: Any, sources: dict[str, _native.Source], names: list[str]) -> dict[str, Any]:
    if isinstance(items, (str, os.PathLike)):
        items = [items]
    if isinstance(items, (list, tuple)) and items and all(isinstance(it, (str, os.PathLike)) for it in items):
        paths = [os.fspath(it) for it in items]
        if not any(path.lstrip().startswith(("{", "[")) for path in paths):
            # One file is called as it is; several are a run together.
            name = paths[0] if len(paths) == 1 else name
            sources[name] = _native.Source.of_paths(paths)
            return {"name": name}
    kind = frames.kind_of(items)
    if kind == "items":
        file = f"{name}.jsonl"
        lines = _native.to_lines([it.bytes if isinstance(it, _native.Record) else it for it in items])
        return {"name": file, "text": lines.decode()}
    if kind == "lazy":
        items = items.collect()
    elif kind == "duckdb":
        items = frames._pyarrow().table(items)
    elif kind == "dataset":
        items = items.to_table()
    sources[name] = _native.Source.of_frame(name, frames.stream(items), names)
    return {"name": name}


def _settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Returns settings as the document of a question has them: pairs as `OLD=NEW`, times as text."""
    plain = {}
    for key, value in settings.items():
        if value is None:
            continue
        if key in ("rename", "where") and isinstance(value, dict):
            value = [f"{name}={it}" for name, it in value.items()]
        elif isinstance(value, datetime):
            value = _moment(value)
        elif isinstance(value, date):
            raise refusal(f"`{key}` is a day without a time, {value}: give a datetime with its zone")
        # Seeds may have 64 bits.
        is_whole = isinstance(value, int)
        plain[key] = value if is_whole else json.loads(_native.to_json({key: value}))[key]
    return plain


def _is_path(proof: Any) -> bool:
    return isinstance(proof, os.PathLike) or isinstance(proof, str) and not proof.lstrip().startswith("{")


def _text(proof: Any) -> str:
    """Returns the text of a receipt, a record or an item."""
    if isinstance(proof, _native.Record):
        return proof.bytes.decode()
    if _is_path(proof):
        with open(proof, encoding="utf-8") as file:
            return file.read()
    try:
        return _native.to_json(proof).decode()
    except UnicodeDecodeError as error:
        raise refusal(f"this is no text: {error}") from error


def _plain(text: str) -> str:
    """Returns a text without the colours of a terminal."""
    while (start := text.find("\x1b[")) >= 0:
        text = text[:start] + text[text.index("m", start) + 1 :]
    return text
