"""Turns Aider leaderboard files into facts, one JSON line per run. The mapping is in README.md.

The files are a YAML list of flat records (`- key: value`, then `  key: value`). That is all this reader knows; what is
not of that form it refuses.
"""

import json
import re
import sys
from pathlib import Path

LINE = re.compile(r"^(- |  )([A-Za-z_]\w*):(?: (.*))?$")
NUMBER = re.compile(r"^-?\d+(\.\d+)?$")
# What is measured; names, dates and commands are no facts. ../cards/aider.toml reads five of them.
FACTS = (
    "test_cases", "pass_rate_1", "pass_rate_2", "percent_cases_well_formed", "error_outputs", "user_asks",
    "syntax_errors", "indentation_errors", "exhausted_context_windows", "test_timeouts", "seconds_per_case",
    "total_cost",
)


def records(text):
    """The records of a file, values as text; raises ValueError with the line that is not of the known form."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = LINE.match(line.rstrip())
        if not match or (match[1] == "  " and not found):
            raise ValueError(f"line {number}: `{line}` is not `key: value` of a flat record")
        if match[1] == "- ":
            found.append({})
        found[-1][match[2]] = (match[3] or "").strip()
    return found


def facts(record):
    """The facts of a run. What the file does not state is left out: missing is not 0."""
    run = {"id": record["dirname"], "subject": f"{record['model']} ({record['edit_format']})"}
    for name in FACTS:
        if NUMBER.match(record.get(name, "")):
            value = float(record[name])
            run[name] = int(value) if value.is_integer() else value
    return run


def main(paths):
    if not paths:
        sys.exit("usage: python3 aider.py FILE.yml... > runs.jsonl")
    refused = False
    for path in map(Path, paths):
        try:
            for record in records(path.read_text(encoding="utf-8")):
                print(json.dumps(facts(record), ensure_ascii=False))
        except KeyError as error:
            print(f"{path}: a record has no {error}", file=sys.stderr)
            refused = True
        except (OSError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            refused = True
    sys.exit(1 if refused else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
