"""What the programs share: files in, JSON lines out, and what cannot be read named on standard error."""

import json
import sys
from pathlib import Path


def main(usage, records, convert):
    """Prints `convert(record, path)` for each of the `records(path)` of the files named; status 1 if some gave none."""
    paths = [Path(name) for name in sys.argv[1:]]
    if not paths:
        sys.exit(f"usage: python3 {usage}")
    refused = False
    for path in paths:
        try:
            found = records(path)
        except (OSError, ValueError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            refused = True
            continue
        for place, record in enumerate(found):
            try:
                print(json.dumps(convert(record, path), ensure_ascii=False))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                print(f"{path}: record {place}: {type(error).__name__}: {error}", file=sys.stderr)
                refused = True
    sys.exit(1 if refused else 0)
