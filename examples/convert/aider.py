"""Turns Aider leaderboard files into facts, one JSON line per run. The mapping is in README.md.

The files are a YAML list of flat records (`- key: value`, then `  key: value`). That is all this reader knows; what is
not of that form it refuses.
"""

import re

from lines import main

LINE = re.compile(r"^(- |  )([A-Za-z_]\w*):(?: (.*))?$")
NUMBER = re.compile(r"^-?\d+(\.\d+)?$")
# What is measured; names, dates and commands are no facts. ../cards/aider.toml reads five of them.
FACTS = (
    "test_cases", "pass_rate_1", "pass_rate_2", "percent_cases_well_formed", "error_outputs", "user_asks",
    "syntax_errors", "indentation_errors", "exhausted_context_windows", "test_timeouts", "seconds_per_case",
    "total_cost",
)


def records(path):
    """The records of a file, values as text; raises ValueError with the line that is not of the known form."""
    found = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = LINE.match(line.rstrip())
        if not match or (match[1] == "  " and not found):
            raise ValueError(f"line {number}: `{line}` is not `key: value` of a flat record")
        if match[1] == "- ":
            found.append({})
        found[-1][match[2]] = (match[3] or "").strip()
    return found


def facts(record, _path):
    """The facts of a run. What the file does not state is left out: missing is not 0."""
    run = {"id": record["dirname"], "subject": f"{record['model']} ({record['edit_format']})"}
    for name in FACTS:
        if NUMBER.match(record.get(name, "")):
            value = float(record[name])
            run[name] = int(value) if value.is_integer() else value
    return run


if __name__ == "__main__":
    main("aider.py FILE.yml... > runs.jsonl", records, facts)
