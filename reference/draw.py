"""Which instance a match of the arena had to be played at, from what the server shows to everybody.

Written from docs/guide/arena.md, not from the Rust sources. It needs Python 3.11 and nothing else.

    python3 reference/draw.py CHALLENGES MATCHES

CHALLENGES and MATCHES are the answers of `GET /v1/arena/challenges` and `GET /v1/arena/matches?limit=1000`. One line for each
match: `verified`, `failed` or `skipped`, its id, what was found. A match is skipped while it is open, and if it comes from
before instances were drawn. Exit status 0 if nothing failed, 14 if something did, 1 if a file cannot be read.
"""

import hashlib
import json
import sys
from collections import defaultdict
from pathlib import Path


def sha256(*lines):
    """The SHA-256 of lines, each with its end."""
    return hashlib.sha256("".join(f"{line}\n" for line in lines).encode())


def commitment(agent, draw):
    return "sha256:" + sha256("karat/arena-draw/1", agent, draw).hexdigest()


def place(match_id, draw, nonce, count):
    """Which of `count` instances that are not used up, from 0."""
    digest = sha256("karat/arena-instance/1", match_id, draw, nonce or "").digest()
    return int.from_bytes(digest[:16], "big") % count


def instance_of(match, count):
    """The number of its instance; before instances were drawn, attempts played them in order and began again."""
    drawn = match.get("draw")
    return drawn["instance"] if drawn else (match["attempt_number"] - 1) % count + 1


def check(challenges, matches):
    """Yields (outcome, id, what was found) for each match, in the order of entry."""
    known = {challenge["slug"]: challenge for challenge in challenges["challenges"]}
    used = defaultdict(set)
    for match in reversed(matches["matches"]):
        challenge = known[match["challenge"]]
        count = challenge["instance_count"]
        whose = None if challenge["single_use"] else match["agent_id"]
        before = used[match["challenge"], whose]
        unused = [number for number in range(1, count + 1) if number not in before]
        yield (*verdict(match, unused, matches["has_more"]), match["match_id"])
        before.add(instance_of(match, count))


def verdict(match, unused, is_partial):
    drawn = match.get("draw")
    if not drawn:
        return "skipped", "from before instances were drawn"
    if not drawn["draw"]:
        return "skipped", "open: its draw is secret"
    if commitment(match["agent_id"], drawn["draw"]) != drawn["commitment"]:
        return "failed", "the draw is not the one that was committed to"
    if drawn["among"] != len(unused):
        found = f"drawn from {drawn['among']} instances, where {len(unused)} were not used up"
        return ("skipped", found + "; the list lacks matches") if is_partial else ("failed", found)
    expected = unused[place(match["match_id"], drawn["draw"], drawn["agent_nonce"], len(unused))]
    if drawn["instance"] != expected:
        return "failed", f"played at instance {drawn['instance']}, where the draw gives {expected}"
    found = f"instance {expected} of {len(unused)} that were not used up"
    return "verified", found if drawn["committed_before"] else found + ", without a commitment before the entry"


def main(arguments):
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 1
    try:
        challenges, matches = (json.loads(Path(path).read_text(encoding="utf-8")) for path in arguments)
        lines = list(check(challenges, matches))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError, RecursionError) as error:
        print(f"these are not the answers of a server: {error!r}", file=sys.stderr)
        return 1
    for outcome, found, match_id in lines:
        print(f"{outcome:8} {match_id}: {found}")
    return 14 if any(outcome == "failed" for outcome, _, _ in lines) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
