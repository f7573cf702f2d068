"""Letters for ties (docs/guide/leaderboards.md): two subjects share one exactly if no comparison tells them apart.

    python3 reference/letters.py < pairs.json

The input is {"subjects": [by rank], "pairs": [[first, second, verdict]]} with verdicts as `karat compare` writes them;
the output is {subject: [letters]}.
"""

import json
import sys
from itertools import combinations

TIED, TOO_FEW = "not-distinguishable", "too-few-shared-tasks"


def letters(count, verdict):
    """The letters of each of `count` subjects, from 1; `verdict(a, b)` is that on two places, a < b."""
    tied = {pair for pair in combinations(range(count), 2) if verdict(*pair) == TIED}
    sets = swept(cover(count, tied))
    in_sets = {place for members in sets for place in members}
    compared = {place for pair in combinations(range(count), 2) if verdict(*pair) != TOO_FEW for place in pair}
    sets += [{place} for place in compared - in_sets]
    sets.sort(key=sorted)
    return [[at for at, members in enumerate(sets, 1) if place in members] for place in range(count)]


def cover(count, tied):
    """Sets of subjects that are all tied with each other, which have every tied pair between them."""
    open_pairs, sets = set(tied), []
    for pair in sorted(tied):
        if pair not in open_pairs:
            continue
        members = set(pair)
        while True:
            joining = [
                place
                for place in set(range(count)) - members
                if all(ordered(place, member) in tied for member in members)
            ]
            if not joining:
                break
            # The one with the most pairs that have no common letter yet, the first of several.
            gain = {it: sum(ordered(it, member) in open_pairs for member in members) for it in joining}
            members.add(min(joining, key=lambda it: (-gain[it], it)))
        open_pairs -= set(combinations(sorted(members), 2))
        sets.append(members)
    return sets


def swept(sets):
    """The sets without those whose every pair is in another, the last looked at first."""
    for members in reversed(list(sets)):
        others = [other for other in sets if other is not members]
        if all(any(set(pair) <= other for other in others) for pair in combinations(members, 2)):
            sets = others
    return sets


def ordered(a, b):
    return (a, b) if a < b else (b, a)


def written(number):
    """a to z, then aa."""
    text = ""
    while number > 0:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("a") + digit) + text
    return text


def main():
    given = json.load(sys.stdin)
    subjects = given["subjects"]
    verdicts = {frozenset(pair[:2]): pair[2] for pair in given["pairs"]}
    found = letters(len(subjects), lambda a, b: verdicts[frozenset((subjects[a], subjects[b]))])
    print(json.dumps({name: [written(it) for it in own] for name, own in zip(subjects, found)}))


if __name__ == "__main__":
    main()
