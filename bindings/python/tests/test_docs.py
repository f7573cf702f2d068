"""The snippets of the guide and the cells of the notebook, as they are pasted."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


def run(code: str, names: dict) -> object:
    """Runs code as a cell; returns the value of its last line, if that is an expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "<cell>", "exec"), names)
    return None if last is None else eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)


@pytest.mark.parametrize("page", ["docs/guide/python.md", "bindings/python/README.md"])
def test_snippets_work_when_pasted_and_print_what_they_say(page, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    names = {}
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    assert blocks
    for block in blocks:
        run(block, names)
    printed = capsys.readouterr().out
    said = [line.split("  # ", 1)[1] for line in "\n".join(blocks).splitlines() if line.startswith("print(") and "  # " in line]
    for words in said:
        # What follows a colon or begins with a small word is a remark.
        shown = words.split(":", 1)[0]
        if not re.match(r"(the|as|[a-z]+ [a-z]+ )\b", shown):
            assert shown in printed, words


def test_the_notebook_runs_and_shows_what_its_cells_end_with(monkeypatch):
    monkeypatch.chdir(ROOT)
    names = {}
    cells = json.loads((ROOT / "bindings/python/examples/leaderboard.ipynb").read_text())["cells"]
    shown = 0
    for cell in cells:
        if cell["cell_type"] == "code":
            value = run("".join(cell["source"]), names)
            html = getattr(value, "_repr_html_", lambda: "")()
            shown += bool(html)
    assert shown >= 6
    assert names["board"]["leaderboards"][0]["rows"][0]["subject"] == "ibis"
