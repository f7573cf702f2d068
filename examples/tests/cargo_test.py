"""Turns the output of `cargo test` into one line of facts.

    cargo test -p karat-core | python3 cargo_test.py karat-core > karat-core.jsonl

Counts and seconds are summed over the test programs of the package, documentation included; `ignored` is `skipped`.
What a filter left out was not asked for and is not counted.
"""

import json
import re
import sys

RESULT = re.compile(
    r"^test result: .* (\d+) passed; (\d+) failed; (\d+) ignored; \d+ measured; \d+ filtered out; finished in ([\d.]+)s$",
    re.MULTILINE,
)


def report(subject, output):
    found = RESULT.findall(output)
    if not found:
        raise ValueError("no line `test result: ...`: not the output of `cargo test`, or it did not build")
    passed, failed, skipped = (sum(int(program[place]) for program in found) for place in range(3))
    return {
        "id": "cargo-test-" + subject, "subject": subject, "total": passed + failed + skipped, "passed": passed,
        "failed": failed, "skipped": skipped, "seconds": round(sum(float(program[3]) for program in found), 3),
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: cargo test -p PACKAGE | python3 cargo_test.py PACKAGE")
    try:
        print(json.dumps(report(sys.argv[1], sys.stdin.read())))
    except ValueError as error:
        sys.exit(str(error))
