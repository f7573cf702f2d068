"""Who an item is (docs/guide/evidence.md): its name, whether it is another one, and the digest over all of them.

    python3 reference/identity.py < question.json

The question is {"card": digest, "numbers": [columns that are facts], "key": null or an Idempotency-Key, "files": [[name,
text]]}; a name ends with .csv or .jsonl, and a batch over HTTP is one file. The answer is {"items": [[subject, id, value of the
item]], "repeated": number, "conflicts": [[subject, id]], "digest": over all items}.
"""

import csv
import hashlib
import io
import json
import sys

from canonical import canonical


# What a cell of a number says for no value (docs/decisions/0033-values-of-tables.md), in small letters.
MISSING = {"", "na", "n/a", "#n/a", "<na>", "nan", "nat", "none", "null", "-"}


def objects(name, text, numbers):
    """Each item of a file and the line where it begins."""
    if not name.endswith(".csv"):
        for line, item in enumerate(text.split("\n"), 1):
            if item.strip():
                yield line, json.loads(item)
        return
    rows = csv.reader(io.StringIO(text, newline=""))
    header, line = next(rows), rows.line_num + 1
    for row in rows:
        is_missing = lambda column, cell: not cell or column in numbers and cell.strip().lower() in MISSING
        filled = [(column, cell) for column, cell in zip(header, row) if not is_missing(column, cell)]
        if row:
            yield line, {column: float(cell) if column in numbers else cell for column, cell in filled}
        line = rows.line_num + 1


def digest(data):
    return "sha256:" + hashlib.sha256(data.encode()).hexdigest()


def identify(question):
    """An item is its subject and id; one without an id is an observation, named by where it stands."""
    found, repeated, conflicts = {}, 0, []
    for name, text in question["files"]:
        for line, item in objects(name, text, question["numbers"]):
            place = f"{question['key'] or name}:{line}"
            name_of_item = str(item.get("id", place))
            who = (str(item.get("subject", name_of_item)), name_of_item)
            content = canonical(item)
            if who not in found:
                found[who] = content
            elif found[who] == content:
                repeated += 1
            elif list(who) not in conflicts:
                conflicts.append(list(who))
    in_order = sorted(found, key=lambda who: [part.encode() for part in who])
    lines = [
        f"{question['card']} {digest(found[who])} {canonical(who[0])} {canonical(who[1])}\n" for who in in_order
    ]
    return {
        "items": [[*who, json.loads(found[who])] for who in in_order],
        "repeated": repeated,
        "conflicts": conflicts,
        "digest": digest("".join(lines)),
    }


if __name__ == "__main__":
    json.dump(identify(json.load(sys.stdin)), sys.stdout)
