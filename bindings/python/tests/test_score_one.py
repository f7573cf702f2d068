"""Records of single items: those of the command, from every thread and process."""

import hashlib
import json
import multiprocessing
import os
import pickle
import random
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from fractions import Fraction
from pathlib import Path

import karat_score as ks
import numpy as np
import pytest
from conftest import EXAMPLES, ROOT

AGENT = {"agent_id": "a", "id": "a-1", "dimensions": {"accuracy": 0.9, "safety": 1}}

#: Scorecards, and items of their kind; the least number of them that have a record.
SCORED = [
    ("workflow", ["workflow/*.json", "workflow/*.jsonl", "raw/workflow.jsonl"], 5),
    ("workflow@1.0.0", ["workflow/*.json", "workflow/*.jsonl"], 4),
    ("lean-refactor", ["arena/*.json", "arena/*.jsonl", "raw/match.json"], 1),
    ("cipher-relay", ["arena/*.json", "arena/*.jsonl", "raw/match.json"], 1),
    ("trace", ["trace/*.json", "raw/traces.jsonl"], 9),
    ("trust", ["trust/*.jsonl"], 8),
    ("trust@1.0.0", ["trust/*.jsonl"], 8),
    ("trust@1.1.0", ["trust/agent.json"], 1),
    ("run", ["project/runs.jsonl"], 1),
    ("examples/cards/support-agent.toml", ["standing/agents.jsonl", "standing/spring.jsonl"], 40),
    ("examples/project/scorecard.toml", ["project/runs.jsonl"], 20),
]


def items_of(patterns):
    for pattern in patterns:
        for path in sorted(EXAMPLES.glob(pattern)):
            text = path.read_text(encoding="utf-8")
            yield from text.strip().split("\n") if path.suffix == ".jsonl" else [text]


def records_of_command(karat_command, card, lines, *more):
    """Returns the records that the command writes for lines of items, by the number of the line."""
    texts = {}
    done = karat_command("score", "--card", card, "--keep-going", "--format", "jsonl", *more, "-", stdin="\n".join(lines).encode())
    for record in done.stdout.splitlines():
        texts.setdefault(json.loads(record)["evidence"]["id"], []).append(record)
    return texts, done.stderr.decode()


@pytest.mark.parametrize(("card", "patterns", "least"), SCORED, ids=[card for card, *_ in SCORED])
def test_records_have_the_bytes_that_the_command_writes(card, patterns, least, karat_command):
    loaded = ks.Scorecard.load(ROOT / card if card.endswith(".toml") else card)
    if card.startswith("examples/project"):
        loaded = ks.Scorecard.load(loaded, subject_field="$.agent.name", task_field="case")
    more = ["--subject-field", "$.agent.name", "--task-field", "case"] if card.startswith("examples/project") else []
    items = [json.loads(item) for item in items_of(patterns)]
    # One without an id would be named by the place that the command reads it at.
    named = [{"id": f"item-{at}", **item} if "dimensions" in item else item for at, item in enumerate(items)]
    lines = list(dict.fromkeys(map(json.dumps, named)))
    texts, told = records_of_command(karat_command, card, lines, *more)
    compared = 0
    for line in lines:
        try:
            record = loaded.score_one(json.loads(line))
        except ks.KaratError as error:
            assert error.code != "internal"
            assert all(problem["path"] in told for problem in error.problems), told
            continue
        if loaded.evidence != "reasoning-trace":
            assert record.bytes == loaded.score_one(line).bytes == loaded.score_one(line.encode()).bytes == bytes(record)
        known = texts.get(json.loads(record.bytes)["evidence"]["id"], [])
        # An item without an id is named by the place that the command read it at.
        if not known and any(name.startswith("-:") for name in texts):
            continue
        assert record.bytes in known, known
        compared += 1
    assert compared >= least


def vectors(system, *functions):
    lines = (ROOT / f"vectors/{system}.jsonl").read_text(encoding="utf-8").splitlines()
    return [case for case in map(json.loads, lines) if case["fn"] in functions]


def number(given):
    return float(Fraction(given)) if isinstance(given, str) else given


def near(found, expected, tolerance=2e-9):
    return (found is None) == (expected is None) and (found is None or abs(number(found) - number(expected)) <= tolerance)


def test_runs_of_the_vectors_have_their_scores():
    card, cases, compared = ks.Scorecard.load("workflow@1.0.0"), vectors("workflow", "workflow.score"), 0
    for case in cases:
        given = case["input"]
        constraints = {"max_budget_tao": given["max_budget_tao"], "max_latency_seconds": given["max_latency_seconds"]}
        result = {key: given[key] for key in ("steps_completed", "total_steps", "timeouts", "hard_failures")}
        result |= {"actual_cost": given["actual_tao"], "actual_latency": given["actual_seconds"], "retries": {"a": given["unplanned_retries"]}}
        task = {"task_id": "t", "constraints": constraints}
        run = {"run_id": case["id"], "miner_uid": 17, "task": task, "output_quality": given["output_quality"], "result": result}
        try:
            record = card.score_one(run).to_dict()
        except ks.KaratError:
            # An item cannot have failures of steps that were done, which a case can.
            assert given["hard_failures"], case
            continue
        compared += 1
        readings = {f"s_{it['key']}": it["reading"] for it in record["dimensions"]}
        for key, reading in readings.items():
            if key in case["expected"] and not (key == "s_reliability" and given["unplanned_retries"]):
                assert near(reading, case["expected"][key]), case
    assert compared > 15


def test_traces_of_the_vectors_have_their_scores():
    card, cases = ks.Scorecard.load("trace@1.0.0"), vectors("trace", "evaluate")
    compared = 0
    for case in cases:
        trace = {key: it for key, it in case["input"]["trace"].items() if key not in ("novelty", "vector")}
        similarity = case["input"].get("max_similarity")
        if similarity is not None:
            trace["novelty"] = 1 - min(max(similarity, 0), 1)
        try:
            record = card.score_one(trace).to_dict()
        except ks.KaratError:
            assert "schema_invalid" in case.get("tags", []), case["id"]
            continue
        assert near(record["score"]["exact"], case["expected"]["score"]), case["id"]
        compared += 1
    assert compared >= 30


def test_agents_of_the_vectors_have_their_composites():
    card, cases = ks.Scorecard.load("trust@1.0.0"), vectors("trust", "composite_covered")
    compared = 0
    for case in cases:
        if case["input"].get("weights") is not None:
            continue
        record = card.score_one({"agent_id": "a", "dimensions": {key: number(it) for key, it in case["input"]["dimensions"].items()}})
        expected = case["expected"]["composite"]
        assert near(record.to_dict()["composite"], expected), case["id"]
        compared += 1
    assert compared >= 3


def card_with_tier():
    card = ks.Scorecard.load("trust")
    return card.score_one({"agent_id": "a", "dimensions": dict.fromkeys(card.dimensions, 0.85)})


def test_a_record_says_what_it_is_of():
    record = ks.Scorecard.load("trust").score_one(AGENT)
    assert (record.subject, record.score, record.status, record.coverage) == ("a", 945.0, "scored", 0.2)
    assert record.digest == f"sha256:{hashlib.sha256(record.bytes).hexdigest()}"
    assert json.dumps(record.to_dict(), separators=(",", ":"), ensure_ascii=False).encode() == record.bytes
    assert repr(record) == 'Record(subject="a", score=945, status="scored", coverage=0.2)'
    assert record.tier is None and card_with_tier().tier == "gold"
    assert "945" in record._repr_html_()
    assert "945" in repr(ks.Scorecard.load("trust").explain(AGENT)) == repr(ks.explain(AGENT, card="trust"))
    empty = ks.Scorecard.load("trust").score_one({"agent_id": "a", "dimensions": {}})
    assert (empty.score, empty.status, empty.coverage, empty.tier) == (None, "unscored", 0.0, None)
    assert empty._repr_html_()


def test_records_are_equal_by_their_bytes_and_can_be_pickled():
    card = ks.Scorecard.load("trust")
    one, same, other = card.score_one(AGENT), card.score_one(json.dumps(AGENT)), card.score_one({**AGENT, "id": "a-2"})
    assert one == same and hash(one) == hash(same) and len({one, same, other}) == 2
    assert one != other and one != one.bytes and one != None  # noqa: E711
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    for name in ["score", "status", "coverage", "band", "tier", "subject", "digest"]:
        assert getattr(again, name) == getattr(one, name)
    assert again._repr_html_() == one._repr_html_()


def cards_of_every_source(tmp_path):
    text = (EXAMPLES / "cards/support-agent.toml").read_text(encoding="utf-8")
    path = tmp_path / "card.toml"
    path.write_text(text, encoding="utf-8")
    return ks.Scorecard.load("trust"), ks.Scorecard.load("trust@1.0.0"), ks.Scorecard.load(path), ks.Scorecard.load(str(path)), ks.Scorecard.load(text)


def test_scorecards_are_pickled_with_their_text_and_settings(tmp_path):
    cards = cards_of_every_source(tmp_path)
    pickled = [pickle.dumps(card) for card in cards]
    (tmp_path / "card.toml").unlink()
    for card, bytes_ in zip(cards, pickled):
        again = pickle.loads(bytes_)
        assert again == card and hash(again) == hash(card) and repr(again) == repr(card)
        item = AGENT if card.evidence.startswith("agent") else {"subject": "a", "id": "a-1", "accuracy": 0.5}
        assert again.score_one(item).bytes == card.score_one(item).bytes
    assert len(set(cards)) == 2
    named = ks.Scorecard.load(cards[-1], subject_field="model", task_field="exercise")
    again = pickle.loads(pickle.dumps(named))
    assert again == named != cards[-1]
    assert again.score_one({"model": "m", "exercise": "e", "id": "1", "accuracy": 1}).subject == "m"


def test_one_scorecard_scores_for_many_threads_at_once():
    card = ks.Scorecard.load("trust")
    items = [{"agent_id": f"agent-{at}", "dimensions": {"accuracy": at / 500, "safety": None if at % 3 else 0.5}} for at in range(500)]
    expected = [card.score_one(item).bytes for item in items]
    start = threading.Barrier(8)

    def work(seed):
        start.wait()
        order = random.Random(seed).sample(range(len(items)), len(items))
        return all(card.score_one(items[at]).bytes == expected[at] for at in order)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


def test_a_trace_card_with_a_memory_scores_for_many_threads_at_once():
    card = ks.Scorecard.load("trace", embedder=lambda text: [1.0, len(text)], model="m", cache=ks.VectorCache(50, 2), observes=True)
    trace = json.loads((EXAMPLES / "trace/single-thought.json").read_text(encoding="utf-8"))
    with ThreadPoolExecutor(8) as pool:
        statuses = [it.result().status for it in [pool.submit(card.score_one, {**trace, "id": f"kp:trace:{at}"}) for at in range(100)]]
    assert set(statuses) == {"scored"}


def score_in_another_process(card, item):
    return card.score_one(item).bytes


def test_a_fork_scores_as_its_parent_did():
    card = ks.Scorecard.load("trust")
    expected = card.score_one(AGENT).bytes
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writing, card.score_one(AGENT).bytes)
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        assert file.read() == expected
    assert os.waitpid(child, 0)[1] == 0


def test_another_process_scores_with_a_pickled_scorecard(tmp_path):
    cards = cards_of_every_source(tmp_path)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        for card in [cards[0], cards[2]]:
            item = AGENT if card.evidence.startswith("agent") else {"subject": "a", "id": "a-1", "accuracy": 0.5}
            assert pool.submit(score_in_another_process, card, item).result(60) == card.score_one(item).bytes


TRACE = json.loads((EXAMPLES / "trace/finance-document.json").read_text(encoding="utf-8"))


def novelty(record):
    return next(it["reading"] for it in record.to_dict()["dimensions"] if it["key"] == "novelty")


def test_a_vector_by_the_caller_is_as_one_by_an_embedder():
    texts = []

    def embedder(text):
        texts.append(text)
        return np.array([3, 4], dtype=np.float32)

    settings = {"model": "letters", "cache": ks.VectorCache(10, 2)}
    own = ks.Scorecard.load("trace", embedder=embedder, **settings)
    given = [ks.Scorecard.load("trace", **settings) for _ in range(2)]
    records = [own.score_one(TRACE), given[0].score_one(TRACE, vector=[3, 4]), given[1].score_one(json.dumps(TRACE), vector=np.array([3.0, 4.0]))]
    assert records[0] == records[1] == records[2]
    assert texts == [own._native.embedding_text(TRACE)] and TRACE["task"]["objective"] in texts[0]
    assert b'"letters"' in records[0].bytes
    assert own.explain(TRACE)["record"] == records[0].to_dict() or own.explain(TRACE).to_dict()
    with pytest.raises(ks.KaratError, match="model"):
        ks.Scorecard.load("trace", embedder=embedder)
    with pytest.raises(ks.KaratError, match="model"):
        ks.Scorecard.load("trace").score_one(TRACE, vector=[1, 2])


def test_a_trace_that_comes_again_is_no_news_to_a_card_that_observes():
    def card(**more):
        return ks.Scorecard.load("trace", embedder=lambda text: [1.0, 2.0], model="m", cache=ks.VectorCache(10, 2), **more)

    observing, usual = card(observes=True), card()
    assert [novelty(observing.score_one(TRACE)) for _ in range(3)] == [0.5, 0.0, 0.0]
    assert [novelty(usual.score_one(TRACE)) for _ in range(3)] == [0.5, 0.5, 0.5]
    assert novelty(usual.score_one({**TRACE, "id": "kp:trace:another"})) == 0.0
    observing.clear_vectors()
    assert novelty(observing.score_one(TRACE)) == 0.5
    # One that is opened again has the settings, and separate vectors.
    again = pickle.loads(pickle.dumps(ks.Scorecard.load("trace", model="m", cache=ks.VectorCache(10, 2, 60.5), observes=True)))
    assert [novelty(again.score_one(TRACE, vector=[1, 2])) for _ in range(2)] == [0.5, 0.0]
    other = ks.Scorecard.load(observing, cache=ks.VectorCache(5, 2))
    assert [novelty(other.score_one(TRACE)) for _ in range(2)] == [0.5, 0.0]


def test_vectors_of_the_wrong_form_are_refused():
    card = ks.Scorecard.load("trace", model="m", cache=ks.VectorCache(10, 2))
    for vector in [[1.0], [1, 2, 3], [float("nan"), 1], [float("inf"), 1], [1e300, 1], []]:
        with pytest.raises(ks.KaratError) as caught:
            card.score_one(TRACE, vector=vector)
        assert caught.value.code != "internal", vector
    for vector in [["a", "b"], 5, [None]]:
        with pytest.raises((TypeError, ValueError)):
            card.score_one(TRACE, vector=vector)
    for wrong in [(-1, 2), (2**70, 2), (1.5, 2), (5, 0), (5, 10**6), (5, 2, -1), (5, 2, float("nan")), (5, 2, float("inf")), (5, 2, "1")]:
        with pytest.raises(ks.KaratError, match="expected"):
            ks.VectorCache(*wrong)

    def fails(text):
        raise RuntimeError("no model")

    with pytest.raises(RuntimeError, match="no model"):
        ks.Scorecard.load("trace", embedder=fails, model="m").score_one(TRACE)


def test_a_score_is_of_a_moment():
    card = ks.Scorecard.load("trust")
    moment = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)
    assert card.score_one(AGENT, as_of=moment) == card.score_one(AGENT, as_of="2026-03-01T12:00:00Z")
    assert card.score_one(AGENT, as_of=moment.astimezone(timezone(timedelta(hours=2)))) == card.score_one(AGENT, as_of=moment)
    with pytest.raises(ks.KaratError, match="without a zone"):
        card.score_one(AGENT, as_of=datetime(2026, 3, 1))
    with pytest.raises(ks.KaratError, match="as_of"):
        card.score_one(AGENT, as_of="yesterday")
    # It is of this call alone.
    assert card.score_one(AGENT) == ks.Scorecard.load("trust").score_one(AGENT)


def test_an_id_without_a_version_means_the_card_for_the_evidence():
    card = ks.Scorecard.load("trust")
    raw = (EXAMPLES / "trust/agent.json").read_text(encoding="utf-8")
    assert card.score_one(raw).to_dict()["scorecard"]["version"] == "1.1.0"
    assert card.score_one(AGENT).to_dict()["scorecard"]["version"] == "1.0.0"
    again = pickle.loads(pickle.dumps(card))
    assert (again.score_one(raw), again.score_one(AGENT)) == (card.score_one(raw), card.score_one(AGENT))


def test_a_scorecard_says_what_it_is():
    card = ks.Scorecard.load("trust@1.0.0")
    assert (card.name, card.evidence, card.title) == ("trust@1.0.0", "agent-dimensions", "Composite trust")
    assert len(card.dimensions) == 16 and "accuracy_age_seconds" in card.facts
    assert card.text == (ROOT / "scorecards/trust/1.0.0.toml").read_text(encoding="utf-8")
    assert card.digest.startswith("sha256:") and repr(card).startswith("Scorecard('trust@1.0.0', sha256:")
    assert ks.Scorecard.load(card) is card
    assert card == ks.Scorecard.load(card.text) and card != ks.Scorecard.load("workflow") and card != card.digest
    assert set(ks.scorecards()) >= {"trust@1.0.0", "workflow@1.1.0", "trace@1.0.0", "arena@1.0.0"}
    with pytest.raises(TypeError):
        ks.Scorecard()
    for name in set(ks.scorecards()) - {"arena@1.0.0"}:
        assert ks.Scorecard.load(name).name == name


def test_what_is_wrong_with_a_scorecard_is_said_with_its_place(tmp_path):
    path = tmp_path / "card.toml"
    text = (EXAMPLES / "cards/support-agent.toml").read_text(encoding="utf-8")
    path.write_text(text.replace("weight ", "wieght ", 1), encoding="utf-8")
    found = ks.Scorecard.check(path)
    assert any(it["severity"] == "error" and "wieght" in it["message"] for it in found), found
    assert {"code", "severity", "line", "column", "message", "help"} == set(found[0])
    assert all("wieght" in path.read_text().splitlines()[it["line"] - 1] for it in found if "wieght" in it["message"])
    with pytest.raises(ks.KaratError) as caught:
        ks.Scorecard.load(path)
    assert caught.value.code == "scorecard-refused"
    assert not [it for it in ks.Scorecard.check(text) if it["severity"] == "error"]


@pytest.mark.parametrize("wanted", ["trsut", "", "no/such/file.toml", "trust@9.9.9", "x = 1\n", "\x00", "\n", "a\x00b.toml"])
def test_a_scorecard_that_is_not_there_is_refused(wanted):
    with pytest.raises(ks.KaratError) as caught:
        ks.Scorecard.load(wanted)
    assert caught.value.code != "internal"


def test_values_that_are_no_scorecard_are_a_type_error():
    for wanted in [None, 5, b"trust", ["trust"], {}]:
        with pytest.raises(TypeError):
            ks.Scorecard.load(wanted)


def test_an_item_that_is_not_of_the_kind_is_refused_with_its_paths():
    card = ks.Scorecard.load("trust")
    for item in [{}, [], 5, None, True, "", "{", "[]", b"\xff", b'{"a":1}{"b":2}', {"agent_id": "a", "dimensions": {"accuracy": 2}}, "null"]:
        with pytest.raises(ks.KaratError) as caught:
            card.score_one(item)
        assert caught.value.code != "internal", item
    with pytest.raises(ks.KaratError) as caught:
        card.score_one({"agent_id": "a", "dimensions": {"accuracy": 2, "safety": "x"}})
    assert [it["path"] for it in caught.value.problems] == ["$.dimensions.accuracy", "$.dimensions.safety"]
    assert caught.value.path == "$.dimensions.accuracy"


def test_a_column_of_items_as_json_is_scored_row_by_row():
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    run = (EXAMPLES / "workflow/worked-example.json").read_text(encoding="utf-8")
    card = ks.Scorecard.load("workflow")
    texts = [run, None, '{"run_id": 7}', "{"]
    rows = card.score_json(texts)
    assert [row["status"] for row in rows] == ["scored", "broken", "broken", "broken"]
    assert rows[0]["record"].encode() == card.score_one(run).bytes and rows[1]["reason"] == "there is no item"
    frame = card.score_json(pd.Series(texts, index=list("abcd")))
    assert isinstance(frame, pd.DataFrame) and list(frame.index) == list("abcd") and frame["score"].iloc[0] == 0.84
    for column, kind in [(pl.Series(texts), pl.DataFrame), (pa.array(texts), pa.Table), (pa.chunked_array([texts, texts]), pa.Table)]:
        scored = card.score_json(column)
        assert isinstance(scored, kind) and len(scored) == len(column)
    assert [row["status"] for row in card.score_json(np.array(texts, dtype=object))] == [row["status"] for row in rows]
    assert card.score_json([]) == []
    for column in [pl.Series([], dtype=pl.String), pa.array([], pa.string())]:
        assert "score" in (card.score_json(column).columns if isinstance(column, pl.Series) else card.score_json(column).column_names)
    with pytest.raises(ks.KaratError) as caught:
        card.score_json(texts, on_broken="raise")
    assert caught.value.row == 1 and "row:1" in str(caught.value)
    with pytest.raises(ks.KaratError) as caught:
        card.score_json([run, '{"run_id": 7}'], on_broken="raise")
    assert caught.value.row == 1 and caught.value.problems
    with pytest.raises(ks.KaratError, match="on_broken"):
        card.score_json([], on_broken="skip")
