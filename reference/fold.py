"""The fold over the log of one subject, from `docs/guide/standing.md` and decision 0047: what waits, what is official, and what
becomes of decisions, moment by moment. Scores are computed from the list of items each time; nothing is summed up.

A log is a list of [moment, kind, ...] in the order in which it was written: `item` with id, time and two readings in billionths (none
where it says nothing), `decided` with reviewer, verdict and digest, `incident` and `hold` with true or false, `weights` with the
weight of the first of two dimensions in millionths.
"""

import json
from fractions import Fraction
from hashlib import sha256
from math import floor

import standing

READING, WEIGHT = standing.READING, standing.WEIGHT
SUBJECT = "a"


def digest(text):
    return "sha256:" + sha256(text.encode()).hexdigest()


class Fold:
    """What has happened up to a moment. A score is described by its basis: how many items, which weights, whether an incident was
    open; from it the points of any later moment follow."""

    def __init__(self, rules):
        self.rules = rules
        self.items, self.weights, self.incident = [], WEIGHT // 2, False
        self.official = self.held = self.expired = None
        self.past = []  # official scores since the last reviewed swing, as [points, moment of the end]
        self.evidence = digest(SUBJECT)
        self.lines, self.rows, self.refusals = [], [], 0
        self.last = None

    # What a basis is worth at a moment

    def points(self, basis, moment):
        items = sorted(self.items[: basis["items"]], key=lambda item: (item["time"], item["id"].encode()))
        if self.rules["kind"] == "latest":
            left = []
            for place, weight in ((0, basis["weights"]), (1, WEIGHT - basis["weights"])):
                measured = [item for item in items if item["readings"][place] is not None]
                if measured:
                    age, part = moment - measured[-1]["time"], Fraction(measured[-1]["readings"][place], READING)
                    left.append((place, weight, standing.remains(self.rules["decay"], part, age)))
            total = sum(weight for _, weight, _ in left)
            if not total:
                return None
            share = sum(weight * part for _, weight, part in left) / total
            security = next((round(part * READING) for place, _, part in left if place == 1), None)
        else:
            items = [item for item in items if moment - item["time"] < (self.rules["span"] or float("inf"))]
            items = items[-(self.rules["tasks"] or len(items)) :]
            if not items:
                return None
            share = sum(Fraction(item["score"], READING) for item in items) / len(items)
            second = [item["readings"][1] for item in items if item["readings"][1] is not None]
            security = round(Fraction(sum(second), len(second))) if second else None
        points = floor(share * 1000 + Fraction(1, 2))
        caps = [self.rules["cap"]] if basis["incident"] else []
        if security is not None and security < self.rules["below"]:
            caps.append(self.rules["step"])
        return min([points, *caps])

    def left(self, moment):
        """The official points, less what time has taken by then."""
        if self.official is None:
            return None
        now = self.points(self.official["basis"], moment)
        return self.official["points"] if now is None else min(self.official["points"], now)

    def counts(self):
        """How many items count: those of the score that waits, else of the official one."""
        score = self.held or self.official
        return score["basis"]["items"] if score else len(self.items)

    # What happens

    def accept(self, score, moment):
        if self.past:
            self.past[-1][1] = moment
        self.past.append([score["points"], None])
        self.official = {"points": score["points"], "basis": score["basis"]}

    def tell(self, score, moment, state):
        self.lines.append([moment, score["at"], score["points"], score["cause"], score["delta"], state])

    def expire(self, moment):
        """The deadline of the score that waits is over."""
        held = self.held
        if held is None or held["deadline"] >= moment:
            return
        self.held = None
        if held["delta"] >= 0:
            self.expired = True
            self.tell(held, held["deadline"], "expired")
        else:
            self.past = []
            self.accept(held, held["deadline"])
            self.tell(held, held["deadline"], "committed")

    def score(self, moment, cause, items):
        basis = {"items": items, "weights": self.weights, "incident": self.incident}
        points = self.points(basis, moment)
        if points is None:
            return
        delta = None if self.official is None else points - self.official["points"]
        score = {"at": moment, "points": points, "cause": cause, "delta": delta, "basis": basis}
        score["digest"] = digest(f"karat/held/1\n{moment} {points} {cause}\n{self.evidence}\n")
        look_back = moment - self.rules["cumulative_seconds"]
        near = [old for old, end in self.past if end is None or end >= look_back]
        far = delta is not None and abs(delta) > self.rules["swing"]
        far = far or any(abs(old - points) > self.rules["cumulative"] for old in near)
        rises = delta is None or delta >= 0
        if far and rises and self.expired:
            self.tell(score, moment, "expired")
            return
        before, self.held = self.held, None
        if before:
            self.tell(before, moment, "superseded")
        if not far:
            self.accept(score, moment)
            self.tell(score, moment, "committed")
            return
        if rises:
            self.expired = None
        same_way = before is not None and (before["delta"] >= 0) == rises
        score["deadline"] = before["deadline"] if same_way else moment + self.rules["deadline_seconds"]
        score["lowest"] = min(points, before["lowest"]) if before else points
        score["approvals"] = []
        self.held = score
        self.tell(score, moment, "pending_review")

    def decide(self, moment, reviewer, verdict, seen):
        held = self.held
        if held is None or seen != held["digest"] or (verdict == "approve" and reviewer in held["approvals"]):
            self.refusals += 1
            return
        held["approvals"].append(reviewer)
        if verdict == "approve" and len(held["approvals"]) < (self.rules["approvals"] if held["delta"] >= 0 else 1):
            return
        self.held = None
        if verdict == "reject":
            self.tell(held, moment, "rejected")
            return
        self.past = []
        self.accept(held, moment)
        self.tell(held, moment, "approved")
        self.tell(held, moment, "committed")

    def grow_old(self, moment):
        """Takes what time takes from the official score before a moment."""
        if self.official is not None and self.last is not None and moment - 1 > self.last:
            left = self.left(moment - 1)
            if left < self.official["points"]:
                self.official["points"] = left
                self.past[-1][0] = left

    def row(self, moment):
        basis = {"items": self.counts(), "weights": self.weights, "incident": self.incident}
        self.rows.append([moment, self.points(basis, moment), self.left(moment)])
        self.last = moment

    def step(self, moment, entries):
        self.grow_old(moment)
        self.expire(moment)
        decisions = [entry for entry in entries if entry[1] == "decided"]
        seen = self.held["digest"] if self.held else None
        first = [entry for entry in decisions if seen is not None and entry[4] == seen]
        for entry in first:
            self.decide(moment, *entry[2:])
        new = [entry for entry in entries if entry[1] == "item"]
        if new:
            known = len(self.items)
            of_official = self.official is None or self.official["basis"]["items"] == known
            before = digest(SUBJECT) if of_official else self.evidence
            lines = [f"{digest(entry[2])} {json.dumps(entry[2], ensure_ascii=False)}\n" for entry in
                     sorted(new, key=lambda entry: entry[2].encode())]  # fmt: skip
            self.evidence = digest(before + "\n" + "".join(lines))
            for entry in sorted(new, key=lambda entry: (entry[3], entry[2].encode())):
                readings = entry[4]
                measured = [reading for reading in readings if reading is not None]
                score = round(Fraction(sum(measured), len(measured)))
                self.items.append({"id": entry[2], "time": entry[3], "readings": readings, "score": score})
        causes = ["evaluation"] if new else []
        for kind, cause in (("incident", "gate"), ("hold", "gate"), ("weights", "weights")):
            for entry in entries:
                if entry[1] == kind:
                    causes.append(cause)
                    if kind == "incident":
                        self.incident = entry[2]
                    elif kind == "weights":
                        self.weights = entry[2]
        if causes:
            self.score(moment, causes[0], len(self.items) if new else self.counts())
        for entry in decisions:
            if entry not in first:
                self.decide(moment, *entry[2:])
        self.row(moment)


def fold(rules, log, as_of):
    """The state at a moment, as the log is then: what happens by itself has its own moments."""
    state = Fold(rules)
    known = [entry for entry in log if entry[0] <= as_of]
    moments = {entry[0] for entry in known}
    if rules["kind"] == "window" and rules["span"]:
        left = [(entry[0], entry[3] + rules["span"]) for entry in known if entry[1] == "item"]
        moments |= {leaves for entered, leaves in left if entered < leaves <= as_of}
    for moment in sorted(moments):
        if state.held and state.held["deadline"] + 1 < moment:
            over = state.held["deadline"] + 1
            state.expire(over)
            state.row(over)
        state.step(moment, [entry for entry in known if entry[0] == moment])
    if state.held and state.held["deadline"] < as_of:
        over = state.held["deadline"] + 1
        state.expire(over)
        state.row(over)
    state.grow_old(as_of + 1)
    return state


def answer(rules, log, moments):
    """What is answered at each of the moments."""
    answers = []
    for as_of in moments:
        state = fold(rules, log, as_of)
        basis = {"items": state.counts(), "weights": state.weights, "incident": state.incident}
        now, official = state.points(basis, as_of), state.left(as_of)
        held = state.held and [state.held["points"], state.held["at"], state.held["deadline"], state.held["digest"]]
        seen = [now, official] + ([state.held["lowest"]] if state.held else [])
        answers.append({
            "official": official,
            "gating": None if None in seen else min(seen),
            "held": held,
            "lines": state.lines,
            "rows": state.rows,
            "refusals": state.refusals,
        })  # fmt: skip
    return answers
