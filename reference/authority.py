"""A whole log checked a second time: its tree, and for every entry whether its sender was in force and allowed when it came.

Written from docs/guide/receipt.md, docs/decisions/0024-authority.md and 0056-decided-at-commit.md, not from the Rust sources.
It reads what `karat log show --entries` writes. Whether a decision was waited for is the work of standings, which only
`karat log verify --authority` asks again.
"""

import json
import re
import tomllib

from formula import Refused

SERVER = "server"
STATED = {"harness", "task", "subject", "judge", "operator", "third-party"}
SECOND = 1000


def decoded(part):
    return part.replace("%2F", "/").replace("%25", "%")


def is_match(subject, own):
    """Whether evidence with that id stands where the arena stores a match."""
    name = r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
    found = re.fullmatch(rf"({name})\.({name})\.[0-9]+", own)
    return bool(found) and found[1] == subject and all(3 <= len(part) <= 64 for part in found.groups())


class Log:
    """What the entries so far say of keys, cards, challenges and tasks."""

    def __init__(self):
        self.keys, self.revoked = {}, set()
        self.cards, self.challenge_cards, self.tasks, self.delivered = {}, set(), set(), set()
        self.senders, self.records, self.waiting, self.made = {}, {}, {}, {}
        self.proposers, self.decided, self.last = {}, set(), None

    # Keys

    def holder(self, sender):
        if sender not in self.keys:
            raise Refused(f"the key `{sender}` is not in force")
        return self.keys[sender]

    def needs(self, sender, scope):
        key = self.holder(sender)
        if scope not in key["scopes"] and "admin" not in key["scopes"]:
            raise Refused(f"the key `{sender}` lacks the scope `{scope}`")
        return key

    def may_report(self, key, reporter):
        unlimited = not key["reports"] and key["subject"] is None
        return unlimited or (reporter in STATED and reporter in key["reports"])

    def key(self, entry, content):
        schema, sender = content["schema"], entry["sender"]
        by_server = sender == SERVER
        if schema == "karat/key/1":
            own = content["hash"].removeprefix("sha256:")[:16]
            if not by_server:
                self.needs(sender, "admin")
            if content["revoked"]:
                if own not in self.keys:
                    raise Refused(f"the key `{own}` was not in force")
                rest = [key for other, key in self.keys.items() if other != own and "admin" in key["scopes"]]
                if "admin" in self.keys[own]["scopes"] and not rest:
                    raise Refused(f"`{own}` was the last key of an administrator")
                del self.keys[own]
                self.revoked.add(own)
                return
            if any(key["name"] == content["name"] for key in self.keys.values()):
                raise Refused(f"another key in force had the name `{content['name']}`")
            self.keys[own] = content
        elif schema == "karat/withdrawal/1":
            if not by_server:
                self.needs(sender, "admin")
            if content["key"] not in self.revoked:
                raise Refused(f"the key `{content['key']}` was in force when what it sent was withdrawn")
        elif schema == "karat/backfill/1" and not by_server:
            self.needs(sender, "admin")

    # Evidence

    def facts_of(self, name):
        """The provenance of every fact of a card, with those of its family."""
        table = self.cards.get(name, {})
        base = self.facts_of(table["base"]) if "base" in table else {}
        return base | {fact: about.get("from") for fact, about in table.get("facts", {}).items()}

    def record(self, entry, content):
        card = "{id}@{version}".format(**content["scorecard"])
        subject, own = content["subject"], content["evidence"]["id"]
        table = self.cards.get(card, {})
        given = set(content.get("facts", {}))
        if (content.get("grading") or {}).get("embedding"):
            given.discard("novelty")
        stated = {self.facts_of(card).get(fact) for fact in given}
        evidence = entry["id"].removesuffix(f"/{card}")
        outcome = content["evidence"].get("outcome") is not None
        self.records.setdefault(evidence, []).append((entry["sender"], stated, outcome, card, bool(given)))
        sender = entry["sender"]
        if sender == SERVER:
            return
        if is_match(subject, own):
            self.made[entry["id"]] = sender
            return
        key = self.needs(sender, "write:evidence")
        if key["subject"] not in (None, subject):
            raise Refused(f"the key of `{key['subject']}` sent evidence of `{subject}`")
        if card in self.challenge_cards:
            raise Refused(f"the scorecard `{card}` belongs to the arena")
        task = content["evidence"].get("task")
        if own in self.delivered or (table.get("evidence") == "workflow-run" and task in self.tasks):
            raise Refused(f"`{own}` is a run for a task that was posted")
        kept = re.fullmatch(r"(?:kp:trace:)?[0-9a-f]{32}@([0-9a-f]{16})", own)
        if kept and kept[1] != sender:
            raise Refused(f"the id `{own}` is kept for the key `{kept[1]}`")
        wrong = sorted(str(reporter) for reporter in stated if not self.may_report(key, reporter))
        if wrong:
            raise Refused(f"the key `{sender}` may not report facts from {', '.join(wrong)}")

    def correction(self, entry):
        """Who corrects sent every record of the old item, or may report all of it."""
        key = self.needs(entry["sender"], "write:evidence")
        old = entry["replaces"]
        subject, own = (decoded(part) for part in old.split("/", 1))
        if is_match(subject, own):
            raise Refused(f"`{own}` belongs to the arena")
        parts = self.records.get(old) or [(self.senders.get(old), {None}, False, "", True)]
        for sender, stated, outcome, card, given in parts:
            standing = self.cards.get(card, {}).get("standing", {})
            base = self.cards.get(self.cards.get(card, {}).get("base", ""), {}).get("standing", {})
            if key["subject"] is not None and any(part in rules for rules in (standing, base) for part in ("review", "certification")):
                raise Refused(f"the key of `{key['subject']}` corrected what is reviewed")
            needed = stated | ({None} if outcome or not given else set())
            if sender != entry["sender"] and not all(self.may_report(key, reporter) for reporter in needed):
                raise Refused(f"the key `{entry['sender']}` corrected what `{sender}` had sent")

    # Matches, workflows, weights

    def match(self, entry, content):
        schema, sender = content["schema"], entry["sender"]
        if schema == "karat/arena-match/1":
            game = content.get("game", content)
            state, number, agent = game["state"]["state"] if isinstance(game["state"], dict) else game["state"], game["match_id"], game["agent_id"]
            sent = self.waiting.pop(number, None)
            if state == "scored" and sender != SERVER:
                record = game["state"].get("record") if isinstance(game["state"], dict) else game.get("record")
                if self.made.pop(record, None) != sender:
                    raise Refused(f"the match `{number}` names the record `{record}`, which did not come with it")
                if sent is not None:
                    return
            if state == "submitted":
                self.waiting[number] = sender
            if sender == SERVER or state == "expired":
                return
            if state == "void":
                self.needs(sender, "admin")
            elif self.needs(sender, "write:evidence")["subject"] != agent:
                raise Refused(f"the key `{sender}` played the match of `{agent}`")
            return
        if sender != SERVER:
            self.needs(sender, "admin")
        if schema == "karat/arena-challenge/1":
            self.challenge_cards.add(content["card"])

    def workflow(self, entry, content):
        schema, sender = content["schema"], entry["sender"]
        if schema == "karat/workflow-verdict/1" and sender != SERVER:
            raise Refused("only the server gives verdicts")
        if schema in ("karat/workflow-recorder/1", "karat/workflow-task/1") and sender != SERVER:
            self.needs(sender, "admin")
        if schema in ("karat/workflow-plan/1", "karat/workflow-delivery/1") and sender != SERVER:
            is_plan = schema == "karat/workflow-plan/1"
            subject = self.needs(sender, "write:evidence")["subject"]
            if is_plan != (subject is not None) or (is_plan and subject != content.get("plan", content)["miner"]):
                raise Refused(f"the key `{sender}` is of `{subject}`")
        if schema == "karat/workflow-task/1":
            self.tasks.add(content.get("task", content)["task_id"])
        if schema == "karat/workflow-delivery/1":
            self.delivered.add(content["recording"])

    def weights(self, entry, content):
        sender, proposal = entry["sender"], (entry["id"].split("/")[0], content["id"])
        if content["event"] == "weights-proposed":
            self.proposers[proposal] = content["proposer"]
            if sender == SERVER:
                return
            if self.needs(sender, "write:evidence")["subject"] is not None:
                raise Refused("the key of a subject proposed weights")
            named = content["proposer"]
        else:
            if sender == SERVER:
                return
            self.needs(sender, "review")
            if self.proposers.get(proposal) == sender:
                raise Refused(f"the key `{sender}` decided on its own proposal")
            named = content["decider"]
        if named != sender:
            raise Refused(f"it names `{named}`, and was sent by `{sender}`")

    # All

    def check(self, entry, text):
        """Refuses an entry that was not to be stored; then the log has it in any case."""
        kind, sender = entry["kind"], entry.get("sender")
        entry = entry | {"sender": SERVER if sender is None else sender}
        if kind == "scorecard":
            if entry["sender"] != SERVER:
                self.needs(entry["sender"], "admin")
            self.cards[entry["id"]] = tomllib.loads(text)
            return
        content = json.loads(text) if kind not in ("recording", "evidence") else None
        if kind in ("key", "match", "workflow", "weights", "record"):
            getattr(self, kind)(entry, content)
            return
        if kind == "evidence":
            self.senders[entry["id"]] = sender
        if entry["sender"] == SERVER:
            return
        if kind == "evidence" and entry["replaces"] is not None:
            self.correction(entry)
        elif kind == "review":
            self.needs(entry["sender"], "review")
        elif kind in ("recording", "spans"):
            self.needs(entry["sender"], "write:evidence")

    def moment(self, entry):
        """The milliseconds by which the time of the log fell with this entry."""
        moment = entry["moment_milliseconds"]
        fall = max(0, (self.last or moment) - moment)
        self.last = max(self.last or moment, moment)
        if fall > SECOND:
            raise Refused(f"its moment is {fall} ms before that of an earlier one")
        return fall


def check_entries(entries):
    """The problems of all entries, each with its place, and what this log cannot show: entries, each with its content."""
    log, problems, cannot = Log(), [], {"without a sender": 0, "less than a second out of order": 0}
    for place, (entry, text) in enumerate(entries):
        try:
            cannot["less than a second out of order"] += log.moment(entry) > 0
            cannot["without a sender"] += entry.get("sender") is None
            log.check(entry, text)
        except (Refused, ValueError, KeyError, TypeError, AttributeError) as error:
            problems.append(f"entry {place}, {entry['kind']} `{entry['id']}`: {error}")
    problems += [f"`{record}` stands for a match that is not there" for record in log.made]
    return problems, {what: count for what, count in cannot.items() if count}
