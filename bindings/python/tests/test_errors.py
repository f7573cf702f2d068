"""Errors: what they say, and that nothing else gets out."""

import copy
import pickle
import random

import karat_score as ks
import pyarrow as pa
import pytest
from karat_score import _native

CARD = ks.Scorecard.load("trust")


def error_of(call):
    with pytest.raises(ks.KaratError) as caught:
        call()
    return caught.value


RAISED = [
    lambda: CARD.score_one({"agent_id": float("nan"), "dimensions": {1: 2}}),
    lambda: CARD.score_one({"agent_id": "a", "dimensions": {"accuracy": 5, "saftey": 1}}),
    lambda: CARD.score(pa.table({"accuracy": ["x"], "relibility": [1.0]})),
    lambda: CARD.score(pa.table({"accuracy": [1.0, 2.0]}), on_broken="raise"),
    lambda: CARD.score([{"agent_id": "a", "dimensions": {}}, {"agent_id": "a", "dimensions": {"accuracy": 5}}], on_broken="raise"),
    lambda: CARD.score(None),
    lambda: ks.Scorecard.load("trsut"),
    lambda: ks.Scorecard.load("x = 1\n"),
    lambda: ks.leaderboard([], card=CARD),
    lambda: CARD.sql("oracle"),
    lambda: CARD.score_one({"agent_id": "a", "dimensions": {}}, as_of="x"),
]


@pytest.mark.parametrize("at", range(len(RAISED)))
def test_an_error_has_all_its_parts_and_can_be_pickled(at):
    error = error_of(RAISED[at])
    assert isinstance(error, ValueError) and type(error) is ks.KaratError and type(error).__module__ == "karat_score"
    assert isinstance(error.code, str) and error.code and error.code != "internal"
    assert error.path is None or isinstance(error.path, str)
    assert all(set(problem) == {"path", "detail"} for problem in error.problems)
    assert error.path == (error.problems[0]["path"] or None if error.problems else None)
    assert error.row is None or isinstance(error.row, int)
    assert all(isinstance(hint, str) for hint in error.hints)
    assert str(error)
    for again in [pickle.loads(pickle.dumps(error)), copy.copy(error)]:
        assert type(again) is ks.KaratError and str(again) == str(error)
        for name in ["code", "path", "problems", "row", "hints"]:
            assert getattr(again, name) == getattr(error, name)


def test_an_error_that_somebody_else_makes_has_all_its_parts():
    error = ks.KaratError("mine")
    assert (error.code, error.path, list(error.problems), error.row, list(error.hints)) == ("invalid-option", None, [], None, [])
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code) == ("mine", "invalid-option")
    made = _native.refusal("no", row=3)
    assert (made.row, made.code, made.hints) == (3, "invalid-option", [])


def test_hints_say_what_to_do():
    assert "trust" in " ".join(error_of(lambda: ks.Scorecard.load("trsut")).hints)
    assert list(error_of(RAISED[2]).hints) == ["is `relibility` the fact `reliability`?"]
    rows = [error_of(RAISED[3]).row, error_of(RAISED[4]).row]
    assert rows == [1, 1]


WRONG = [None, True, 5, -1, 2**70, 1.5, float("nan"), "", "x", "trust", "{", "[]", b"\xff", [], [None], [[]], {}, {"a": None}, (), set(), object(), print, int, CARD, pa.table({"accuracy": [1.0]}), pa.array([1])]


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: ks.Scorecard.load(a, subject_field=b),
        lambda a, b: ks.Scorecard.load(a, cache=b),
        lambda a, b: ks.Scorecard.load("trace", embedder=a, model=b),
        lambda a, b: ks.Scorecard.check(a),
        lambda a, b: CARD.score_one(a, as_of=b),
        lambda a, b: CARD.explain(a, vector=b),
        lambda a, b: CARD.score(a, columns=b),
        lambda a, b: CARD.score(a, keep=b),
        lambda a, b: CARD.score(a, values=b, on_broken="raise"),
        lambda a, b: CARD.score_json(a, on_broken="raise"),
        lambda a, b: CARD.sql(a, b),
        lambda a, b: CARD.sql("duckdb", "t", without=a, keep=b),
        lambda a, b: CARD.self_check(a, b),
        lambda a, b: ks.leaderboard(a, card=b),
        lambda a, b: ks.leaderboard([{"agent_id": "a", "dimensions": {}}], card="trust", by=a, level=b),
        lambda a, b: ks.leaderboard([{"agent_id": "a", "dimensions": {}}], card="trust", where=a, rename=b),
        lambda a, b: ks.compare(a, b, card="trust"),
        lambda a, b: ks.compare(a, b, items=a, card="trust"),
        lambda a, b: ks.gate(a, baseline=b, card="trust"),
        lambda a, b: ks.gate([], card="trust", gate=a, subject=b),
        lambda a, b: ks.rate(a, system=b),
        lambda a, b: ks.standing(a, as_of=b, card="trust"),
        lambda a, b: ks.stress(a, card=b),
        lambda a, b: ks.explain(a, card=b),
        lambda a, b: ks.verify(a, key=b),
        lambda a, b: ks.verify(a, evidence=b),
        lambda a, b: ks.verify("{}", witness=a, rotation=b),
        lambda a, b: ks.import_log(a, card=b),
        lambda a, b: ks.VectorCache(a, b),
        lambda a, b: _native.ask(b"{}", {"a": a}, []),
        lambda a, b: _native.ask(a, {}, b),
        lambda a, b: _native.verify(a),
        lambda a, b: _native.record(a, b),
        lambda a, b: _native.check(a, b),
    ],
)
def test_no_argument_makes_another_error(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    random_of = random.Random(5)
    for first in WRONG:
        for second in random_of.sample(WRONG, 6):
            try:
                call(first, second)
            except ks.KaratError as error:
                assert error.code != "internal", (first, second)
            except (TypeError, OSError):
                pass
