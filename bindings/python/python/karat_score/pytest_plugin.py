"""Scores in pytest: tests hand over what an agent did, and the session passes or fails by a gate.

    def test_answers(karat):
        answer = my_agent("2 + 2")
        karat({"subject": "my-agent", "correct": answer == "4", "latency_seconds": 0.8})

    pytest --karat-card card.toml --karat-gate 800
    pytest --karat-card card.toml --karat-gate karat.toml

The task of an item is the test, if it names none.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from . import KaratError, Record, Scorecard, _native, gate

ITEMS = pytest.StashKey[list[dict[str, Any]]]()
REPORT = pytest.StashKey[str]()
CARD = pytest.StashKey[Scorecard]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("karat", "scores of agents")
    group.addoption("--karat-card", metavar="CARD", help="the scorecard: an id, id@version or a file")
    group.addoption("--karat-gate", metavar="POINTS|FILE", help="fail below these points, or by the gate of a karat.toml")
    group.addoption("--karat-items", metavar="FILE", help="write the items there, as lines of JSON")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[ITEMS] = []
    card, rule = config.getoption("--karat-card"), config.getoption("--karat-gate")
    if rule is not None and card is None and not Path(rule).is_file():
        raise pytest.UsageError("--karat-gate POINTS needs --karat-card")
    try:
        if rule is not None:
            named = _settings(rule).get("card")
            card = card or named
        if card is not None:
            config.stash[CARD] = Scorecard.load(card)
    except (KaratError, OSError, ValueError) as error:
        raise pytest.UsageError(f"karat: {error}") from error


@pytest.fixture
def karat(request: pytest.FixtureRequest) -> Any:
    """Scores an item, and keeps it for the gate: `record = karat(item)`."""
    config = request.config
    card = config.stash.get(CARD, None)
    if card is None:
        pytest.fail("the fixture `karat` needs a scorecard: pytest --karat-card CARD", pytrace=False)

    def score(item: Any, **more: Any) -> Record:
        item = _item(item)
        if card.evidence == "facts":
            item.setdefault("task", request.node.nodeid)
        record = card.score_one(item, **more)
        config.stash[ITEMS].append(item)
        return record

    return score


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    items = config.stash[ITEMS]
    if hasattr(config, "workerinput"):
        # A worker of pytest-xdist hands its items to the one who judges.
        output: dict[str, Any] = getattr(config, "workeroutput")
        output["karat_items"] = json.dumps(items)
        return
    if path := config.getoption("--karat-items"):
        Path(path).write_text("".join(json.dumps(item) + "\n" for item in items), encoding="utf-8")
    rule = config.getoption("--karat-gate")
    # Where no test ran there is nothing to judge; tests that ran and gave no item do not pass.
    if rule is None or config.getoption("collectonly") or session.exitstatus > pytest.ExitCode.TESTS_FAILED:
        return
    settings = _settings(rule)
    settings.pop("card", None)
    status: int = pytest.ExitCode.TESTS_FAILED
    try:
        answer = gate(items, card=config.stash.get(CARD, None), **settings)
        # Those of `karat check`: 0 for a gate that passes.
        status, report = answer["status"], repr(answer)
    except KaratError as error:
        report = f"karat: {error}"
    config.stash[REPORT] = report
    if session.exitstatus == 0:
        session.exitstatus = status


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    items = getattr(node, "workeroutput", {}).get("karat_items")
    if items is not None:
        node.config.stash[ITEMS].extend(json.loads(items))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if (report := config.stash.get(REPORT, None)) is not None:
        terminalreporter.section("karat")
        terminalreporter.write_line(report)


def _item(item: Any) -> dict[str, Any]:
    """Returns an item as a dictionary of what JSON has."""
    text = _native.to_json(item)
    try:
        plain = json.loads(text)
    except ValueError as error:
        raise _native.refusal(f"this is not JSON: {error}") from error
    if not isinstance(plain, dict):
        raise _native.refusal(f"found a value of type {type(plain).__name__}, expected the item as a dictionary")
    return plain


def _settings(rule: str) -> dict[str, Any]:
    """Returns the settings of a gate: those of a project file, or a floor in points."""
    path = Path(rule)
    if not path.is_file():
        points = float(rule)
        if not math.isfinite(points):
            raise ValueError(f"--karat-gate is `{rule}`, expected points or a file")
        return {"gate": {"fail_under": points}}
    try:
        import tomllib
    except ImportError:
        # pytest itself has it where Python does not.
        import tomli as tomllib  # type: ignore[no-redef]
    settings: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    # Paths in a project file are those beside it.
    if (path.parent / str(settings.get("card"))).is_file():
        settings["card"] = str(path.parent / settings["card"])
    # The session has the items.
    settings.pop("inputs", None)
    settings.pop("baseline", None)
    return settings
