"""Questions about many items: the documents of the command, from whatever holds the items."""

import csv
import datetime as dt
import json
import math
import re

import duckdb
import karat_score as ks
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from conftest import EXAMPLES, ROOT

RUNS, CARD = EXAMPLES / "leaderboard/runs.csv", EXAMPLES / "cards/task-run.toml"
BASE, NEW = EXAMPLES / "compare/base.csv", EXAMPLES / "compare/new.csv"
AGENTS, EVENTS, SUPPORT = EXAMPLES / "standing/agents.jsonl", EXAMPLES / "standing/events.jsonl", EXAMPLES / "cards/support-agent.toml"
SEASON, VOTES = EXAMPLES / "matches/season.csv", EXAMPLES / "matches/votes.jsonl"
JUDGED_MATCHES = EXAMPLES / "matches/answers.csv"
PROJECT = EXAMPLES / "project"
LABELS, JUDGED = EXAMPLES / "labels/answers.jsonl", EXAMPLES / "cards/judged.toml"
AS_OF = dt.datetime(2026, 3, 10, tzinfo=dt.timezone.utc)
HOSTILE = '<script>alert("x")</script>'


def short(path):
    """Returns a path as the command is given it, which its answers may name."""
    return str(path.relative_to(ROOT))


@pytest.fixture(autouse=True)
def in_the_checkout(monkeypatch):
    monkeypatch.chdir(ROOT)


def typed(row):
    """Returns a row of a CSV file as an item."""
    numbers = ("solved", "cost_usd", "seconds")
    return {key: float(it) if key in numbers else it for key, it in row.items() if it != ""}


def items_of_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [typed(row) for row in csv.DictReader(file)]


def without_files(document):
    """Returns a document without the places of its items, and without digests, which files of other names have."""
    if isinstance(document, dict):
        places = ("file", "line", "files", "digest", "first_file", "second_file")
        return {key: without_files(it) for key, it in document.items() if key not in places}
    return [without_files(it) for it in document] if isinstance(document, list) else document


PATHS = [
    (lambda: ks.leaderboard(RUNS_PATH, card=CARD), ["leaderboard", "--card", CARD, short(RUNS)]),
    (lambda: ks.leaderboard([RUNS_PATH], card=str(CARD), group_by="domain", min_tasks=2, level=0.9), ["leaderboard", "--card", CARD, "--group-by", "domain", "--min-tasks", "2", "--level", "0.9", short(RUNS)]),
    (lambda: ks.leaderboard(RUNS_PATH, card=ks.Scorecard.load(CARD), where={"domain": "airline"}, rename={"heron": "crane"}), ["leaderboard", "--card", CARD, "--where", "domain=airline", "--rename", "heron=crane", short(RUNS)]),
    (lambda: ks.leaderboard(RUNS_PATH, card=CARD, cost="cost_usd"), ["leaderboard", "--card", CARD, "--cost", "cost_usd", short(RUNS)]),
    (lambda: ks.tasks(RUNS_PATH, card=CARD, rate=0.1), ["tasks", "--card", CARD, "--rate", "0.1", short(RUNS)]),
    (lambda: ks.trend(RUNS_PATH, card=CARD, run="day", direction="either"), ["trend", "--card", CARD, "--run", "day", "--direction", "either", short(RUNS)]),
    (lambda: ks.grid(RUNS_PATH, card=CARD, subject=["kite", "heron", "ibis"]), ["grid", "--card", CARD, "-s", "kite", "-s", "heron", "-s", "ibis", short(RUNS)]),
    (lambda: ks.judges(short(LABELS), label="human", card=JUDGED, bias_by=["length"]), ["judges", "--card", JUDGED, "--label", "human", "--bias-by", "length", short(LABELS)]),
    (lambda: ks.leaderboard(RUNS_PATH, card=CARD, attempts=1), ["leaderboard", "--card", CARD, "--attempts", "1", short(RUNS)]),
    (lambda: ks.leaderboard(RUNS_PATH, card=CARD, since=dt.datetime(2026, 5, 1, 1, tzinfo=dt.timezone.utc)), ["leaderboard", "--card", CARD, "--since", "2026-05-01T01:00:00Z", short(RUNS)]),
    (lambda: ks.compare(short(BASE), short(NEW), card=CARD), ["compare", "--card", CARD, short(BASE), short(NEW)]),
    (lambda: ks.compare(short(BASE), short(NEW), card=CARD, fail_if_worse=1.5), ["compare", "--card", CARD, "--fail-if-worse", "1.5", short(BASE), short(NEW)]),
    (lambda: ks.compare("heron", "kite", items=RUNS_PATH, card=CARD), ["compare", "--card", CARD, "heron", "kite", short(RUNS)]),
    (lambda: ks.rate(short(SEASON), system="bradley-terry"), ["rate", "--system", "bradley-terry", short(SEASON)]),
    (lambda: ks.rate(short(SEASON), system="glicko2", holdout=0.2), ["rate", "--system", "glicko2", "--holdout", "0.2", short(SEASON)]),
    (lambda: ks.rate(short(JUDGED_MATCHES), system="bradley-terry", covariates=["length", "headers:difference"]), ["rate", "--system", "bradley-terry", "--covariates", "length,headers:difference", short(JUDGED_MATCHES)]),
    (lambda: ks.rate([short(VOTES)], system="bradley-terry"), ["rate", "--system", "bradley-terry", short(VOTES)]),
    (lambda: ks.standing(short(AGENTS), card=SUPPORT, as_of=AS_OF, events=EVENTS, subject="heron"), ["standing", "--card", SUPPORT, "--as-of", "2026-03-10T00:00:00Z", "--events", EVENTS, "--subject", "heron", short(AGENTS)]),
    (lambda: ks.standing(short(AGENTS), card=SUPPORT, as_of="2026-03-10T00:00:00Z"), ["standing", "--card", SUPPORT, "--as-of", "2026-03-10T00:00:00Z", short(AGENTS)]),
    (lambda: ks.stress(RUNS_PATH, card=CARD, draws=200, seed=7), ["stress", "-c", CARD, "--draws", "200", "--seed", "7", short(RUNS)]),
]  # fmt: skip
RUNS_PATH = short(RUNS)


@pytest.mark.parametrize(("ask", "arguments"), PATHS, ids=[f"{arguments[0]}-{at}" for at, (_, arguments) in enumerate(PATHS)])
def test_answers_are_the_documents_of_the_command(ask, arguments, karat_command):
    done, answer = karat_command(*arguments, "--format", "json"), ask()
    assert done.stdout, done.stderr.decode()
    lines = [json.loads(line) for line in done.stdout.decode().split("\n") if line]
    document = answer.to_dict()
    assert document == (lines if isinstance(document, list) else json.loads(done.stdout))
    assert answer.json.strip() == done.stdout.decode().strip()


def holders(items, times=()):
    """Returns what holds the same items."""
    table = pa.Table.from_pylist(items)
    for name in times:
        moments = pa.array([dt.datetime.fromisoformat(it[name]) if name in it else None for it in items], pa.timestamp("us", "UTC"))
        table = table.set_column(table.schema.get_field_index(name), name, moments)
    return {
        "arrow": table,
        "reader": table.to_reader(7),
        "polars": pl.from_arrow(table),
        "lazy": pl.from_arrow(table).lazy(),
        "pandas": table.to_pandas(),
        "index": table.to_pandas().set_index(pd.Index(range(10, 10 + len(items)), name="row number")),
        "duckdb": duckdb.from_arrow(table),
        "texts": [json.dumps(item) for item in items],
        "long texts": [json.dumps(item, indent=2).encode() for item in items],
        "iterator": iter(items),
        "decimal": [{**item, **({"solved": np.float32(item["solved"])} if "solved" in item else {})} for item in items],
    }


def test_frames_and_lists_give_the_leaderboard_of_the_file(answered):
    items = items_of_csv(RUNS)
    expected = without_files(answered("leaderboard", "--card", CARD, RUNS))
    assert without_files(ks.leaderboard(items, card=CARD).to_dict()) == expected
    for name, held in holders(items, ["time"]).items():
        assert without_files(ks.leaderboard(held, card=CARD).to_dict()) == expected, name
    card = ks.Scorecard.load(CARD)
    records = [card.score_one(item) for item in items]
    for held in [records, [it.to_dict() for it in records], [it.bytes for it in records]]:
        assert ks.leaderboard(held, card=CARD)["leaderboards"] == ks.leaderboard(items, card=CARD)["leaderboards"]


def test_frames_and_lists_give_the_other_answers_of_the_file(answered):
    base, new = items_of_csv(BASE), items_of_csv(NEW)
    expected = without_files(answered("compare", "--card", CARD, BASE, NEW))
    agents = [json.loads(line) for line in AGENTS.read_text(encoding="utf-8").splitlines()]
    standings = without_files(ks.standing(short(AGENTS), card=SUPPORT, as_of=AS_OF).to_dict())
    with open(SEASON, encoding="utf-8", newline="") as file:
        matches = list(csv.DictReader(file))
    ratings = without_files(answered("rate", "--system", "elo", SEASON))
    bases, news, seasons, held_agents = holders(base, ["time"]), holders(new), holders(matches, ["time"]), holders(agents, ["time"])
    for name in bases:
        assert without_files(ks.compare(bases[name], news[name], card=CARD).to_dict()) == expected, name
        assert without_files(ks.rate(seasons[name]).to_dict()) == ratings, name
        assert without_files(ks.standing(held_agents[name], card=SUPPORT, as_of=AS_OF).to_dict()) == standings, name
    runs = items_of_csv(RUNS)
    stressed = ks.stress(runs, card=CARD, draws=50).to_dict()
    assert without_files(ks.stress(pl.DataFrame(runs), card=CARD, draws=50).to_dict()) == without_files(stressed)
    pair = ks.compare("heron", "kite", items=pl.DataFrame(runs), card=CARD).to_dict()
    assert without_files(pair) == without_files(answered("compare", "--card", CARD, "heron", "kite", RUNS))


def test_a_gate_is_that_of_the_command(karat_command, tmp_path):
    runs = [json.loads(line) for line in (PROJECT / "runs.jsonl").read_text(encoding="utf-8").splitlines()]
    statuses = set()
    for fail_under in [0, 40, 99.5, 100]:
        (tmp_path / "karat.toml").write_text(f'card = "{PROJECT}/scorecard.toml"\ninputs = ["{PROJECT}/runs.jsonl"]\nsubject = "$.agent.name"\ntask = "case"\n[gate]\nfail_under = {fail_under}\n', encoding="utf-8")
        done = karat_command("check", "--allow-outside", "--format", "json", cwd=tmp_path)
        expected = json.loads(done.stdout)
        settings = {"subject": "$.agent.name", "task": "case", "gate": {"fail_under": fail_under}}
        for given in [runs, str(PROJECT / "runs.jsonl"), pl.DataFrame(runs), pa.Table.from_pylist(runs)]:
            answer = ks.gate(given, card=PROJECT / "scorecard.toml", **settings)
            assert answer["status"] == expected["status"] == done.returncode
            assert without_files(answer["leaderboard"]) == without_files(expected["leaderboard"])
        statuses.add(answer["status"])
    assert statuses == {0, 10}
    worse = ks.gate(NEW, baseline=BASE, card=CARD, gate={"fail_if_worse": 1})
    better = ks.gate(pl.read_csv(BASE), baseline=pl.read_csv(BASE), card=CARD, gate={"fail_if_worse": 1})
    assert {type(worse["status"]), better["status"]} == {int, 0}


def test_a_scorecard_keeps_what_it_was_opened_with():
    items = [{"model": name, "exercise": f"task-{task}", "id": f"{name}-{task}", "solved": solved, "cost_usd": 0.1, "seconds": 5} for name, solved in [("a", 1), ("b", 0)] for task in range(4)]
    card = ks.Scorecard.load(CARD, subject_field="model", task_field="exercise")
    board = ks.leaderboard(items, card=card)
    assert [row["subject"] for row in board["leaderboards"][0]["rows"]] == ["a", "b"]
    assert board["leaderboards"] == ks.leaderboard(pl.DataFrame(items), card=CARD, subject_field="model", task_field="exercise")["leaderboards"]
    raw = (EXAMPLES / "trust/agent.json").read_text(encoding="utf-8")
    agent = {"agent_id": "a", "id": "a-1", "dimensions": {"accuracy": 0.9}}
    for item in [raw, agent]:
        boards = [ks.leaderboard([item], card=family).json for family in ["trust", ks.Scorecard.load("trust")]]
        assert boards[0] == boards[1]


def test_numbers_are_names_where_names_are_meant():
    rows = [{"id": 100 + at, "subject": at % 2, "task": at // 2, "solved": 1, "cost_usd": 0.1, "seconds": 5 + at} for at in range(8)]
    boards = [ks.leaderboard(held, card=CARD)["leaderboards"] for held in [pl.DataFrame(rows), pd.DataFrame(rows), pa.Table.from_pylist(rows), duckdb.from_arrow(pa.Table.from_pylist(rows))]]
    assert all(board == boards[0] for board in boards)
    assert sorted(row["subject"] for row in boards[0][0]["rows"]) == ["0", "1"]
    frame = pl.DataFrame(rows).rename({"subject": "model"})
    assert ks.leaderboard(frame, card=CARD, subject_field="model")["leaderboards"] == boards[0]
    with pytest.raises(ks.KaratError, match="subject.*cast the column to text"):
        ks.leaderboard(pl.DataFrame(rows).with_columns(pl.col("subject") + 0.5), card=CARD)
    sums = duckdb.sql("select 7::hugeint as id, 'a' as subject, 't' as task, sum(i)::hugeint as solved, 0.5::decimal(9,2) as cost_usd, 5 as seconds from range(2) r(i)")
    assert ks.leaderboard(sums, card=CARD)["leaderboards"][0]["rows"][0]["subject"] == "a"


def test_times_are_moments_of_every_unit_with_a_zone():
    items = items_of_csv(RUNS)
    expected = ks.leaderboard(items, card=CARD, until="2026-05-01T12:00:00Z")["leaderboards"]
    assert expected != ks.leaderboard(items, card=CARD)["leaderboards"]
    base = pa.Table.from_pylist(items)
    at = base.schema.get_field_index("time")
    moments = [dt.datetime.fromisoformat(item["time"]) for item in items]
    for unit in ["s", "ms", "us", "ns"]:
        for zone in ["UTC", "Europe/Berlin", "+02:00"]:
            table = base.set_column(at, "time", pa.array(moments, pa.timestamp(unit, zone)))
            assert ks.leaderboard(table, card=CARD, until="2026-05-01T12:00:00Z")["leaderboards"] == expected
        naive = base.set_column(at, "time", pa.array([it.replace(tzinfo=None) for it in moments], pa.timestamp(unit)))
        with pytest.raises(ks.KaratError, match="time.*without a zone") as caught:
            ks.leaderboard(naive, card=CARD)
        assert caught.value.path == "time"
    for wrong in [pa.array([2**62 // 1000] * len(items), pa.timestamp("s", "UTC")), pa.array([-(2**62) // 1000] * len(items), pa.timestamp("ms", "UTC")), pa.array([1] * len(items), pa.date32()), pa.array([1] * len(items), pa.duration("s"))]:
        with pytest.raises(ks.KaratError) as caught:
            ks.leaderboard(base.set_column(at, "time", wrong), card=CARD)
        assert caught.value.code != "internal" and caught.value.path in ("time", "$.time"), str(caught.value)
    fine = base.set_column(at, "time", pa.array([1_777_600_000_123_456_789 + at for at in range(len(items))], pa.timestamp("ns", "UTC")))
    assert ks.leaderboard(fine, card=CARD)["leaderboards"]


def test_a_broken_row_is_named_by_its_place():
    items = items_of_csv(RUNS)[:12]
    items[5] = {**items[5], "solved": 7.0}
    for name, held in holders(items).items():
        with pytest.raises(ks.KaratError) as caught:
            ks.leaderboard(held, card=CARD)
        assert caught.value.row == 5, (name, str(caught.value))
        assert caught.value.problems and "solved" in caught.value.path
    with pytest.raises(ks.KaratError) as caught:
        ks.leaderboard([*items[:3], {"solved": math.nan}], card=CARD)
    assert (caught.value.row, caught.value.path) == (3, "[3].solved")
    nested = pa.table({"subject": ["a", "a"], "id": ["1", "2"], "solved": [1, 1], "detail": pa.array([{"at": 1}, {"at": 2**60}])})
    with pytest.raises(ks.KaratError, match=r"detail: \.at: found 1152921504606846976|detail\.at") as caught:
        ks.leaderboard(nested, card=CARD)
    assert caught.value.row == 1


@pytest.mark.parametrize(
    ("ask", "found"),
    [
        (lambda: ks.leaderboard(RUNS_PATH, card=CARD, mintasks=2), "`mintasks` is not a setting of leaderboard\n.*did you mean `min_tasks`"),
        (lambda: ks.leaderboard(RUNS_PATH, card=CARD, level=7), "level"),
        (lambda: ks.leaderboard(RUNS_PATH, card=CARD, level=math.nan), "level"),
        (lambda: ks.leaderboard(RUNS_PATH, card=CARD, min_tasks={1}), "min_tasks"),
        (lambda: ks.leaderboard(RUNS_PATH, card=CARD, since=dt.datetime(2026, 1, 1)), "without a zone"),
        (lambda: ks.leaderboard(RUNS_PATH, card=CARD, since=dt.date(2026, 1, 1)), "a day without a time"),
        (lambda: ks.leaderboard(RUNS_PATH, card=CARD, since="yesterday"), "yesterday"),
        (lambda: ks.compare(BASE, NEW, card=CARD, levl=1), "levl"),
        (lambda: ks.compare("heron", "heron", items=RUNS_PATH, card=CARD), "itself"),
        (lambda: ks.compare("heron", "nobody", items=RUNS_PATH, card=CARD), "nobody"),
        (lambda: ks.compare(str(BASE), str(BASE), card=CARD), ""),
        (lambda: ks.gate(RUNS_PATH, card=CARD, gate={"fail_undr": 1}), "fail_undr"),
        (lambda: ks.gate(RUNS_PATH, card=CARD, inputs=["a"]), "inputs"),
        (lambda: ks.rate(str(SEASON), system="chess"), "rating system"),
        (lambda: ks.rate(str(SEASON), systm="elo"), "systm"),
        (lambda: ks.standing(AGENTS, card=SUPPORT, as_of="now-ish"), "now-ish"),
        (lambda: ks.standing(AGENTS, card=SUPPORT, as_of=AS_OF, event="x"), "event"),
        (lambda: ks.stress(RUNS_PATH, card=CARD, draws=0), "draws"),
        (lambda: ks.stress(RUNS_PATH, card=CARD, draw=5), "draw"),
        (lambda: ks.leaderboard("no/such/file.csv", card=CARD), "no/such/file.csv"),
        (lambda: ks.leaderboard([], card=CARD), ""),
        (lambda: ks.leaderboard([{"subject": "a"}]), ""),
        (lambda: ks.leaderboard([5], card=CARD), ""),
        (lambda: ks.leaderboard(5, card=CARD), "int"),
        (lambda: ks.leaderboard(None, card=CARD), ""),
        (lambda: ks.leaderboard({"a": 1}, card=CARD), "dict"),
        (lambda: ks.leaderboard(pl.DataFrame(), card=CARD), ""),
        (lambda: ks.leaderboard(pa.table({"subject": ["a"]}).slice(0, 0), card=CARD), ""),
        (lambda: ks.leaderboard([RUNS_PATH, RUNS_PATH], card=CARD), "twice"),
        (lambda: ks.verify("{}"), ""),
        (lambda: ks.verify("{", key="zz"), "key"),
        (lambda: ks.verify("{}", card="trsut"), "trust"),
        (lambda: ks.import_log("no/such/log.json"), "no/such/log.json"),
        (lambda: ks.import_log(5), "int"),
        (lambda: ks.explain({"subject": "a"}, card="trsut"), "trust"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_question_is_an_error_of_karat(ask, found):
    try:
        answer = ask()
    except ks.KaratError as error:
        assert error.code != "internal"
        assert re.search(found, str(error), re.DOTALL), str(error)
    else:
        # Another text is answered too: it failed.
        assert isinstance(answer, ks.Verification) and not answer.ok


def test_columns_of_the_same_name_are_refused_by_name():
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array([1.0]), pa.array([0.0])], ["subject", "solved", "solved"])
    with pytest.raises(ks.KaratError, match="solved"):
        ks.leaderboard(twice, card=CARD)


ANSWERS = {
    "leaderboard": lambda runs: ks.leaderboard(runs, card=CARD),
    "compare": lambda runs: ks.compare(HOSTILE, "kite", items=runs, card=CARD),
    "gate": lambda runs: ks.gate(runs, card=CARD, gate={"fail_under": 99}),
    "rate": lambda runs: ks.rate([{"id": str(at), "first": HOSTILE, "second": "kite", "result": "first" if at % 3 else "second"} for at in range(12)]),
    "standing": lambda runs: ks.standing([{"subject": HOSTILE, "id": "1", "time": "2026-03-01T00:00:00Z", "accuracy": 0.5, "safety": 0.5}], card=SUPPORT, as_of=AS_OF),
    "stress": lambda runs: ks.stress(runs, card=CARD, draws=20),
    "explain": lambda runs: ks.explain(runs[0], card=CARD),
    "verify": lambda runs: ks.verify(ks.Scorecard.load(CARD).score_one(runs[0]), card=CARD),
    "record": lambda runs: ks.Scorecard.load(CARD).score_one(runs[0]),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_are_shown_in_every_form_and_escape_hostile_names(name):
    runs = [{**item, "subject": HOSTILE if item["subject"] == "heron" else item["subject"]} for item in items_of_csv(RUNS)]
    answer = ANSWERS[name](runs)
    shown = answer._repr_html_()
    assert shown.startswith('<div class="karat">') and len(shown) > 200
    assert "<script" not in shown and ("&lt;script&gt;" in shown or name in ("verify", "explain", "record"))
    assert "\x1b" not in repr(answer) and len(repr(answer)) > 20
    if name == "record":
        return
    assert answer.json == answer._native.json.decode() and json.loads(json.dumps(answer.to_dict())) == answer.to_dict()
    page = answer.to_html()
    assert page.lower().startswith("<!doctype html>") and "<script>alert" not in page
    assert answer.to_markdown() == answer._repr_markdown_() and len(answer.to_markdown()) > 20
    assert "<script>" not in answer.to_markdown()
    rows = answer.rows()
    assert rows and len(answer.to_csv().splitlines()) > len(rows)
    assert len(answer.to_pandas()) == len(answer.to_polars()) == len(rows)
    assert list(answer.to_pandas().columns) == answer.to_polars().columns == list(rows[0])


def test_standings_are_a_list_however_many_there_are():
    agents = [json.loads(line) for line in AGENTS.read_text(encoding="utf-8").splitlines()]
    one = ks.standing([it for it in agents if it["subject"] == "heron"], card=SUPPORT, as_of=AS_OF)
    all_ = ks.standing(agents, card=SUPPORT, as_of=AS_OF)
    assert isinstance(one.to_dict(), list) and isinstance(all_.to_dict(), list)
    assert len(one.to_dict()) == 1 and len(all_.to_dict()) > 1
    assert isinstance(all_, ks.Standings)


def test_settings_may_be_numbers_of_numpy_and_seeds_of_64_bits():
    expected = ks.leaderboard(RUNS_PATH, card=CARD, min_tasks=2, level=0.9)
    assert ks.leaderboard(RUNS_PATH, card=CARD, min_tasks=np.int64(2), level=np.float64(0.9)).json == expected.json
    assert ks.stress(RUNS_PATH, card=CARD, draws=10, seed=2**63).to_dict()


def test_receipts_and_records_are_checked(answered, tmp_path):
    receipt, key = EXAMPLES / "receipt/receipt.json", (EXAMPLES / "receipt/log.key").read_text(encoding="utf-8")
    sent = EXAMPLES / "workflow/worked-example.json"
    found = ks.verify(receipt, key=key, evidence=sent)
    text = receipt.read_text(encoding="utf-8")
    for form in [text, text.encode(), json.loads(text), str(receipt)]:
        assert ks.verify(form, key=key, evidence=json.loads(sent.read_text(encoding="utf-8"))).checks == found.checks
    expected = answered("verify", receipt, "--key", EXAMPLES / "receipt/log.key", "--evidence", sent)
    expected = expected[0] if isinstance(expected, list) else expected
    # The command says where the evidence was read.
    told = json.dumps(expected).replace(f"{sent}:1", "evidence:1")
    assert found.to_dict() == json.loads(told)
    assert found.ok and found.checks and all(check["outcome"] == "verified" for check in found.checks)
    wrong = ks.verify(receipt, key=key, evidence=EXAMPLES / "workflow/partial-dag.json")
    assert wrong.status == "failed" and not wrong.ok
    forged = text.replace("0.84", "0.85", 1)
    assert forged != text
    assert ks.verify(forged, key=key).status == "failed" and not ks.verify(forged, key=key).ok
    card = ks.Scorecard.load("trust")
    agent = {"agent_id": "a", "id": "a-1", "dimensions": {"accuracy": 0.9}}
    record = card.score_one(agent)
    checked = ks.verify(record, evidence=agent)
    assert checked.status != "failed" and ks.verify(record).status == "consistent"
    assert ks.verify(record, evidence={**agent, "dimensions": {"accuracy": 0.8}}).status == "failed"
    assert ks.verify({**record.to_dict(), "composite": 0.8}).status == "failed"
    path = tmp_path / "record.json"
    path.write_bytes(record.bytes)
    assert ks.verify(path).checks == ks.verify(record).checks


def test_logs_of_other_tools_become_items(karat_command):
    imported = 0
    for path in sorted((EXAMPLES / "import").iterdir()):
        if path.suffix == ".md":
            continue
        done = karat_command("import", path)
        if done.returncode != 0:
            continue
        items = ks.import_log(path)
        assert items == [json.loads(line) for line in done.stdout.decode().split("\n") if line]
        imported += 1
    assert imported >= 3
    path = EXAMPLES / "import/report.xml"
    items = ks.import_log(str(path), card=EXAMPLES / "cards/test-report.toml")
    assert items == ks.import_log(path, card=ks.Scorecard.load(EXAMPLES / "cards/test-report.toml"))
    assert ks.leaderboard(items, card=EXAMPLES / "cards/test-report.toml").rows()


def test_the_scorecard_as_sql_gives_the_scores_of_the_engine():
    card = ks.Scorecard.load("trust@1.0.0")
    agents = pa.table({"agent": ["a", "b", "c"], "accuracy": [0.9, 0.5, None], "security": [0.9, 0.2, 0.7], "teamwork": [None, 0.5, 0.1], "teamwork_applies": [True, True, False], "bond_applies": [False] * 3, "memoryQuality_applies": [True] * 3, "critical_incident_open": [False, False, True]})
    connection = duckdb.connect()
    connection.register("agents", agents)
    query = card.sql("duckdb", "agents", keep=["agent"], without=[it for it in card.facts if it not in agents.column_names])
    queried = pa.table(connection.sql(query)).sort_by("agent").to_pylist()
    for found, row in zip(queried, card.score(agents, keep=["agent"]).to_pylist()):
        assert {key: found[key] for key in row} == row
    assert connection.sql(card.self_check("duckdb", rows=50)).fetchall() == [(0,)]
    with pytest.raises(ks.KaratError, match="no dialect `oracle`"):
        card.sql("oracle")
    for sums in ["subject", ["a", "b", "c", "d"]]:
        with pytest.raises(ks.KaratError, match="sums"):
            card.sql("duckdb", sums=sums)
    assert "sum(" in card.sql("duckdb", sums=["agent"], without=[it for it in card.facts if it not in agents.column_names]).lower()
    with pytest.raises(ks.KaratError):
        ks.Scorecard.load("workflow").sql("duckdb")
