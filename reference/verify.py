"""A receipt checked a second time: signature, witnesses, proof, content, and with its card the score. Or a whole log.

Written from docs/guide/receipt.md, RFC 9162 (section 2.1), RFC 8785 and the C2SP documents signed-note,
tlog-checkpoint and tlog-cosignature, not from the Rust sources. It needs Python 3.11 and one package, `cryptography`,
for Ed25519.

    python3 reference/verify.py RECEIPT... --key KEY [--rotation RECEIPT]... [--witness KEY]...
        [--card ID@VERSION|FILE] [--evidence FILE] [--json]
    karat log show FOLDER --entries > log.jsonl && python3 reference/verify.py --log log.jsonl --key KEY

One line for each check: `verified`, `failed` or `skipped`, its name, what was found. Exit status 0 if everything that was
checked holds, 12 if it does but no key was given, 14 if something does not hold, 1 if a file cannot be read. Of several
receipts the status is that of the worst; `--json` writes one line for each.

A card is taken by its name and version: its digest is not computed here. Of evidence the digest is compared; its facts
are the work of readers and graders, which have no second implementation: `karat verify --evidence` compares those.
"""

import argparse
import base64
import hashlib
import json
import math
import os
import re
import sys
import unicodedata
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from authority import check_entries
from canonical import canonical, number_text
from card import load_card
from formula import Refused
from model import read_json, score_item

# The types of signatures that keys and their ids begin with.
LOG, WITNESS = b"\x01", b"\x04"
KINDS = {"evidence", "record", "recording", "scorecard", "match", "review", "key", "spans", "weights", "workflow"}
ENTRY = {"content", "id", "kind", "moment_milliseconds", "replaces", "schema", "sources", "subject"}
# The members of an entry by its schema: the sender came later.
ENTRIES = {"karat/entry/1": ENTRY, "karat/entry/2": ENTRY | {"sender"}}
RECEIPT = {"checkpoint", "content", "entry", "index", "path", "schema"}
ROTATION = {"new", "old", "schema", "signature_by_new", "signature_by_old"}
DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
NOTE_MAX_BYTES = 65536
# Numbers of entries and positions have 64 bits; moments have a sign, too.
SIZES, MOMENTS = range(2**64), range(-(2**63), 2**63)

# What reading hostile text may end in: beside what is refused, half surrogate pairs, integers of too many digits or too
# large for a double, and arrays within arrays without end.
WRONG = (Refused, ValueError, OverflowError, RecursionError)


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def digest_of(data):
    return "sha256:" + sha256(data).hex()


def from_base64(text):
    """The bytes that `text` encodes, if it does so in the one standard way."""
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError as error:
        raise Refused(f"`{text}` is not base 64") from error
    if base64.b64encode(data).decode() != text:
        raise Refused(f"`{text}` is not base 64")
    return data


# 1. Keys, notes, checkpoints


class Key(NamedTuple):
    name: str
    id: bytes
    public: bytes
    text: str


def read_key(text, kind=LOG):
    """`NAME+ID+KEY`: the id follows from name and key, so a text that says another one was changed."""
    whose = "of a log" if kind == LOG else "of a witness"
    try:
        name, key_id, encoded = text.split("+", 2)
    except ValueError as error:
        raise Refused(f"`{text}` is not a key: expected `NAME+ID+KEY`") from error
    data = from_base64(encoded)
    if data[:1] != kind or len(data) != 33:
        raise Refused(f"`{text}` is not a key {whose}: expected its type and 32 bytes of Ed25519")
    if not name or any(c.isspace() or unicodedata.category(c) == "Cc" for c in name):
        raise Refused(f"`{text}` is not a key: its name is empty, or has a space or a control character")
    if sha256(name.encode(), b"\n", data)[:4].hex() != key_id:
        raise Refused(f"`{text}` is not a key: the id does not follow from name and key")
    return Key(name, bytes.fromhex(key_id), data[1:], text)


# A few points of the curve have a small order: one signature by such a key fits many texts, so none counts.
PRIME = 2**255 - 19
EIGHTH = int.from_bytes(bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little")
SMALL = {0, 1, PRIME - 1, EIGHTH, PRIME - EIGHTH}


def has_small_order(point):
    return (int.from_bytes(point, "little") & (1 << 255) - 1) % PRIME in SMALL


def check_ed25519(key, message, signature):
    try:
        if len(signature) != 64 or has_small_order(key.public) or has_small_order(signature[:32]):
            raise InvalidSignature
        Ed25519PublicKey.from_public_bytes(key.public).verify(signature, message.encode())
    except (InvalidSignature, ValueError) as error:
        raise Refused(f"the signature in the name of `{key.name}` is not by that key") from error


def split_note(note):
    """The text of a note, and its signatures: name, id of the key, bytes."""
    if len(note.encode()) > NOTE_MAX_BYTES:
        raise Refused("the note is longer than 65,536 bytes")
    text, empty_line, lines = note.rpartition("\n\n")
    if not empty_line or not lines.endswith("\n") or any(ord(c) < 32 and c != "\n" for c in text):
        raise Refused("the checkpoint is not a signed note")
    signatures = []
    for line in lines[:-1].split("\n"):
        dash, _, rest = line.partition(" ")
        name, _, encoded = rest.partition(" ")
        data = from_base64(encoded)
        if dash != "\u2014" or not name or len(data) < 5:
            raise Refused("a line after the empty one is not a signature")
        signatures.append((name, data[:4], data[4:]))
    return text + "\n", signatures


def signatures_of(note, key):
    """The text of a note, and the signatures in it that claim to be by that key: one at least."""
    text, signatures = split_note(note)
    own = [signature for name, key_id, signature in signatures if (name, key_id) == (key.name, key.id)]
    return text, own


def is_signed(note, key):
    """True if the key signed the note; if a signature claims to be by it and is not, that is refused."""
    text, own = signatures_of(note, key)
    for signature in own:
        check_ed25519(key, text, signature)
    return bool(own)


def check_witness(note, witness):
    """A cosignature: eight bytes of time and a signature over the time and the text of the checkpoint."""
    text, own = signatures_of(note, witness)
    if not own:
        raise Refused(f"no cosignature is by `{witness.name}`")
    latest = 0
    for data in own:
        seconds = int.from_bytes(data[:8], "big")
        if len(data) != 72 or seconds >= 2**63:
            raise Refused(f"the cosignature in the name of `{witness.name}` has no time and signature")
        check_ed25519(witness, f"cosignature/v1\ntime {seconds}\n{text}", data[8:])
        latest = max(latest, seconds)
    try:
        moment = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=latest)).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError):
        moment = f"{latest} seconds after 1970"
    return f"by `{witness.name}` at {moment}"


def read_checkpoint(note):
    """Name of the log, number of entries, root."""
    lines = split_note(note)[0].split("\n")
    if len(lines) < 4 or not re.fullmatch("0|[1-9][0-9]{0,19}", lines[1]) or int(lines[1]) not in SIZES:
        raise Refused("the checkpoint does not have a name, a size and a root")
    root = from_base64(lines[2])
    if len(root) != 32:
        raise Refused("the root in the checkpoint is no SHA-256")
    return lines[0], int(lines[1]), root


class Link(NamedTuple):
    """A key of a log, and the sizes of the heads that it may sign."""

    key: Key
    first: int
    last: int


def check_signature(note, links):
    """One of the keys signed the head, and was the key of the log at that size. A signature that does not hold is
    refused, whatever else there is."""
    problem = f"no signature is by `{links[0].key.name}`"
    signer = None
    for link in links:
        if not is_signed(note, link.key):
            continue
        name, size, _ = read_checkpoint(note)
        if name != link.key.name:
            raise Refused("the first line of the checkpoint is not the name of the key")
        if link.first <= size <= link.last:
            signer = link.key
        else:
            problem = f"`{link.key.text}` signed a head of {size} entries when it was not the key of the log"
    if signer is None:
        raise Refused(problem)
    return f"by `{signer.text}`"


# 2. The tree (RFC 9162)


def leaf_hash(entry):
    return sha256(b"\x00", entry)


def root_from(leaf, index, size, path):
    """The root that an inclusion proof leads to (section 2.1.3.2)."""
    if index >= size:
        raise Refused(f"there is no entry {index} in a log of {size}")
    here, last, node = index, size - 1, leaf
    for sibling in path:
        if last == 0:
            raise Refused("the proof is too long")
        if here % 2 == 1 or here == last:
            node = sha256(b"\x01", sibling, node)
            while here % 2 == 0 and here != 0:
                here, last = here // 2, last // 2
        else:
            node = sha256(b"\x01", node, sibling)
        here, last = here // 2, last // 2
    if last != 0:
        raise Refused("the proof is too short")
    return node


def tree_root(leaves):
    """The root of a whole tree (section 2.1.1)."""
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return sha256(b"\x01", tree_root(leaves[:split]), tree_root(leaves[split:])) if leaves else sha256()


# 3. Receipts


def whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def read_strictly(text):
    """JSON in which everything is as `karat` reads it: no key twice, no half of a surrogate pair, no `-0`."""

    def integer(digits):
        if digits == "-0":
            raise Refused("`-0` is not a whole number")
        return int(digits)

    def members(pairs):
        found = dict(pairs)
        if len(found) != len(pairs):
            raise Refused("a key stands twice")
        return found

    value = json.loads(
        text, parse_float=Decimal, parse_int=integer, parse_constant=integer, object_pairs_hook=members
    )
    check_texts(value)
    return value


def check_texts(value):
    if isinstance(value, str):
        value.encode()  # fails for half a surrogate pair, which has no UTF-8
    elif isinstance(value, dict):
        for name, inner in value.items():
            check_texts(name)
            check_texts(inner)
    elif isinstance(value, list):
        for inner in value:
            check_texts(inner)


def read_receipt(text):
    receipt = read_strictly(text)
    if not isinstance(receipt, dict) or set(receipt) != RECEIPT or receipt["schema"] != "karat/receipt/1":
        raise Refused("this is no `karat/receipt/1`")
    entry, path = receipt["entry"], receipt["path"]
    schema = entry.get("schema") if isinstance(entry, dict) else None
    if not isinstance(schema, str) or set(entry) != ENTRIES.get(schema):
        raise Refused("its entry is no `karat/entry/1` or `karat/entry/2`")
    texts = [receipt["checkpoint"], receipt["content"], entry["content"], entry["id"], entry["kind"]]
    texts += [entry["sender"]] if "sender" in entry else []
    optional = [entry["replaces"], entry["subject"]]
    lists = [entry["sources"], path]
    if (
        not all(isinstance(text, str) for text in texts)
        or not all(text is None or isinstance(text, str) for text in optional)
        or not all(isinstance(it, list) and all(isinstance(text, str) for text in it) for it in lists)
        or not whole(entry["moment_milliseconds"])
        or entry["moment_milliseconds"] not in MOMENTS
        or not whole(receipt["index"])
        or receipt["index"] not in SIZES
        or entry["kind"] not in KINDS
        or not all(DIGEST.fullmatch(text) for text in [entry["content"], *entry["sources"]])
    ):
        raise Refused("a member of the receipt is not of its type")
    return receipt


def entry_bytes(entry):
    """The entry as it is hashed. Its moment is a whole number of any size, which no double needs to hold."""
    members = []
    for name in sorted(entry):
        value = entry[name]
        members.append(f'"{name}":{value if whole(value) else canonical(value)}')
    return ("{" + ",".join(members) + "}").encode()


def check_inclusion(receipt):
    name, size, root = read_checkpoint(receipt["checkpoint"])
    path = [from_base64(text) for text in receipt["path"]]
    if any(len(sibling) != 32 for sibling in path):
        raise Refused("a hash of the path is no SHA-256")
    if root_from(leaf_hash(entry_bytes(receipt["entry"])), receipt["index"], size, path) != root:
        raise Refused("the path does not lead to the root in the checkpoint")
    return f"entry {receipt['index']} of {size} in `{name}`"


def check_content(receipt):
    found, kept = digest_of(receipt["content"].encode()), receipt["entry"]["content"]
    if found != kept:
        raise Refused(f"the content has the digest {found}, the log has {kept}")
    return found


def member(value, *names):
    """A member of a member, or None."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def check_sources(receipt, record):
    digest = member(record, "evidence", "digest")
    if digest not in receipt["entry"]["sources"]:
        raise Refused(f"the record names the evidence `{digest}`, the log does not")
    return digest


def check_score(record, card):
    """What the model makes of the facts in the record is what the record says."""
    named = f"{member(record, 'scorecard', 'id')}@{member(record, 'scorecard', 'version')}"
    if card.name != named:
        raise Refused(f"the record was made with `{named}`, this is `{card.name}`")
    if not isinstance(record.get("facts"), dict):
        raise Refused("the record has no facts")
    model = score_item(card, record["facts"], member(record, "override", "given"))
    differences = list(compare(model, record, ""))
    if differences:
        raise Refused("; ".join(differences))
    score = number_text(float(model["score"]["published"])) if model["score"] else "no score"
    return f"the facts in the record give the same again: {score}"


def compare(model, record, path):
    """Every member that the model computes, against the record."""
    if isinstance(model, dict) and isinstance(record, dict):
        for name, value in model.items():
            yield from compare(value, record.get(name), f"{path}.{name}" if path else name)
    elif isinstance(model, list) and isinstance(record, list) and len(model) == len(record):
        for place, (left, right) in enumerate(zip(model, record)):
            yield from compare(left, right, f"{path}[{place}]")
    elif isinstance(model, Fraction) and record is not None and not isinstance(record, (str, bool, dict, list)):
        # Records write doubles, whose nearest decimal of 15 places is the number that was meant.
        number = float(record)
        if not math.isfinite(number) or round(Fraction(number), 15) != model:
            yield f"{path}: the record says {record}, the model {float(model)}"
    elif model != record:
        yield f"{path}: the record says {record}, the model {model}"


def check_evidence(record, text):
    found, named = digest_of(canonical(read_json(text)).encode()), member(record, "evidence", "digest")
    if found != named:
        raise Refused(f"the evidence has the digest {found}, the record names {named}")
    return "its digest is the one that the record names"


# 4. Changes of the key


class Change(NamedTuple):
    position: int
    old: Key
    new: Key


def read_change(receipt):
    """The change of the key of a log that this is the receipt of; the signature of its head comes later."""
    check_inclusion(receipt)
    check_content(receipt)
    content = receipt["content"]
    found = read_strictly(content) if receipt["entry"]["kind"] == "key" else None
    if not isinstance(found, dict) or found.get("schema") != "karat/log-key/1":
        raise Refused("it is the receipt of another item")
    if set(found) != ROTATION or not all(isinstance(text, str) for text in found.values()):
        raise Refused("this is no change of the key of a log")
    if canonical(found) != content:
        raise Refused("the change of the key is not in canonical form")
    old, new = read_key(found["old"]), read_key(found["new"])
    if old.name != new.name or old.public == new.public:
        raise Refused("the name of the log changed, or its key did not")
    text = f"karat/log-key/1\n{old.text}\n{new.text}\n"
    check_ed25519(old, text, from_base64(found["signature_by_old"]))
    check_ed25519(new, text, from_base64(found["signature_by_new"]))
    return Change(receipt["index"], old, new)


def follow_changes(trusted, texts):
    """The keys of the log, from the oldest to the newest, if the changes in these receipts follow each other and
    `trusted` is among their keys."""
    receipts = [read_receipt(text) for text in texts]
    changes = sorted({read_change(receipt) for receipt in receipts}, key=lambda change: change.position)
    links = [Link(changes[0].old, 0, 2**64 - 1)]
    for position, old, new in changes:
        last, size = links[-1], position + 1
        if last.key != old or size <= last.first or any(link.key == new for link in links):
            raise Refused(f"the change of the key in entry {position} does not follow the one before it")
        links[-1] = last._replace(last=size)
        links.append(Link(new, size, 2**64 - 1))
    if all(link.key != trusted for link in links):
        raise Refused(f"the changes of the key do not lead to or from `{trusted.text}`")
    positions = [change.position for change in changes]
    for receipt in receipts:
        # The key after the change, or a later one, vouches for its place.
        check_signature(receipt["checkpoint"], links[positions.index(receipt["index"]) + 1 :])
    return links


# 5. The command line


class Check(NamedTuple):
    outcome: str  # verified, failed, skipped
    name: str
    says: str


def attempt(name, check, *arguments):
    try:
        return Check("verified", name, check(*arguments))
    except WRONG as refused:
        return Check("failed", name, str(refused))


class Trust(NamedTuple):
    """What receipts are checked with: the keys of the log, if one was given; the check of changes of the key, if there
    are any; and witnesses that must have cosigned."""

    links: list
    rotation: list
    witnesses: list


def trust_in(key=None, rotations=(), witnesses=()):
    """`key` is a Key, `rotations` are texts of receipts, `witnesses` Keys."""
    links, rotation = [Link(key, 0, 2**64 - 1)] if key else [], []
    if rotations:
        try:
            links = follow_changes(key, rotations)
            rotation = [Check("verified", "rotation", f"the newest key is `{links[-1].key.text}`")]
        except WRONG as refused:
            rotation = [Check("failed", "rotation", str(refused))]
    return Trust(links, rotation, list(witnesses))


def signature_checks(checkpoint, trust):
    if not trust.links:
        checks = [Check("skipped", "signature", "no key was given: nobody vouches for the signer")]
    else:
        checks = [attempt("signature", check_signature, checkpoint, trust.links)]
    return checks + trust.rotation


def verify(text, key=None, card=None, evidence=None, trust=None):
    """Every check of the receipt in `text`; `key` is a Key, `card` a card of card.py, `evidence` a text; `trust` stands
    for more than a key."""
    trust = trust or trust_in(key)
    try:
        receipt = read_receipt(text)
    except WRONG as refused:
        return [Check("failed", "receipt", str(refused))]
    checkpoint = receipt["checkpoint"]
    checks = signature_checks(checkpoint, trust)
    checks += [attempt("witness", check_witness, checkpoint, witness) for witness in trust.witnesses]
    checks.append(attempt("inclusion", check_inclusion, receipt))
    checks.append(attempt("content", check_content, receipt))
    if receipt["entry"]["kind"] != "record":
        return checks
    try:
        record = read_json(receipt["content"])
    except WRONG as refused:
        return [*checks, Check("failed", "record", str(refused))]
    checks.append(attempt("sources", check_sources, receipt, record))
    if card is None:
        checks.append(Check("skipped", "score", "no card was given"))
    else:
        checks.append(attempt("score", check_score, record, card))
    if evidence is not None:
        checks.append(attempt("evidence", check_evidence, record, evidence))
    return checks


def verify_log(lines, trust=None):
    """The checks of a whole log, as `karat log show --entries` writes it: the head, then every entry with its content."""
    head = read_strictly(next(lines, ""))
    note = head["checkpoint"]
    checks = signature_checks(note, trust or trust_in())
    leaves, entries, changed = [], [], []
    for place, line in enumerate(lines):
        read = read_strictly(line)
        entry = read_strictly(read["entry"])
        leaves.append(leaf_hash(read["entry"].encode()))
        entries.append((entry, read["content"]))
        if canonical(entry) != read["entry"] or digest_of(read["content"].encode()) != entry["content"]:
            changed.append(f"entry {place} or its content was changed")
    _, size, root = read_checkpoint(note)
    if size != len(leaves) or tree_root(leaves) != root:
        changed.append(f"the head signs {size} entries and another root")
    checks.append(Check("failed", "content", "; ".join(changed[:20])) if changed else Check(
        "verified", "content", f"{size} entries have the root that the head signs"))
    problems, cannot = check_entries(entries)
    shown = "".join(f"; {count} {what}: this log cannot show it" for what, count in cannot.items())
    checks.append(Check("failed", "senders", "; ".join(problems[:20])) if problems else Check(
        "skipped" if cannot else "verified", "senders", f"every sender was in force and allowed{shown}"))
    return checks


def status_of(checks):
    if any(check.outcome == "failed" for check in checks):
        return 14
    return 12 if any(check.outcome == "skipped" and check.name == "signature" for check in checks) else 0


def text_or_file(given):
    """What was given, or the text of the file with that name."""
    path = Path(given)
    return path.read_bytes().decode().strip() if path.is_file() else given


def verified_file(path, arguments):
    """The checks of the receipt at `path`. A file that is not text is no receipt."""
    data = Path(path).read_bytes()
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        return [Check("failed", "receipt", str(error))]
    return verify(text, **arguments)


def printable(text):
    """The text without characters that steer a terminal."""
    return "".join(" " if unicodedata.category(c).startswith("C") else c for c in text)


def main():
    parser = argparse.ArgumentParser(description="Checks receipts without karat.")
    parser.add_argument("receipts", nargs="*", metavar="RECEIPT")
    parser.add_argument("--log", help="a whole log, as `karat log show --entries` writes it")
    parser.add_argument("--key", help="NAME+ID+KEY, or a file with it")
    parser.add_argument("--rotation", action="append", default=[], help="the receipt of a change of that key")
    parser.add_argument("--witness", action="append", default=[], help="NAME+ID+KEY of a witness, or a file with it")
    parser.add_argument("--card", help="ID@VERSION, or a file")
    parser.add_argument("--cards", default=Path(__file__).parent.parent / "scorecards", help="the folder of cards")
    parser.add_argument("--evidence", help="the item of evidence, alone in a file")
    parser.add_argument("--json", action="store_true", help="one line of JSON for each receipt")
    given = parser.parse_args()
    if given.rotation and not given.key:
        parser.error("--rotation goes with --key")
    if bool(given.receipts) == bool(given.log):
        parser.error("give receipts, or a log")
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.stderr.reconfigure(errors="backslashreplace")
    worst = 0
    try:
        key = read_key(text_or_file(given.key)) if given.key is not None else None
        witnesses = [read_key(text_or_file(witness), WITNESS) for witness in given.witness]
        # What is not a text is not a receipt either.
        rotations = [Path(path).read_bytes().decode(errors="surrogateescape") for path in given.rotation]
        arguments = {
            "trust": trust_in(key, rotations, witnesses),
            "card": load_card(given.card, Path(given.cards)) if given.card else None,
            "evidence": Path(given.evidence).read_bytes().decode() if given.evidence else None,
        }
        for path in given.receipts or [given.log]:
            if given.log:
                with open(path, encoding="utf-8") as lines:
                    checks = verify_log(lines, arguments["trust"])
            else:
                checks = verified_file(path, arguments)
            status = status_of(checks)
            worst = max(worst, status)
            if given.json:
                failed = [check.name for check in checks if check.outcome == "failed"]
                print(json.dumps({"failed": failed, "file": path, "status": status}))
                continue
            if len(given.receipts) > 1:
                print(printable(path))
            for check in checks:
                print(f"{check.outcome:<8}  {check.name:<9}  {printable(check.says)}")
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of the output went away; nothing is left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, *WRONG) as error:
        print(f"error: {printable(str(error))}", file=sys.stderr)
        return 1
    return worst


if __name__ == "__main__":
    sys.exit(main())
