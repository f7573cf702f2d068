"""A receipt checked a second time: signature, proof, content, and with its card the score.

Written from docs/guide/receipt.md, RFC 9162 (section 2.1), RFC 8785 and the C2SP documents signed-note and
tlog-checkpoint, not from the Rust sources. It needs Python 3.11 and one package, `cryptography`, for Ed25519.

    python3 reference/verify.py RECEIPT --key KEY [--card ID@VERSION|FILE] [--evidence FILE]

One line for each check: `verified`, `failed` or `skipped`, its name, what was found. Exit status 0 if everything that was
checked holds, 12 if it does but no key was given, 14 if something does not hold, 1 if a file cannot be read.

A card is taken by its name and version: its digest is not computed here. Of evidence the digest is compared; its facts
are the work of readers and graders, which have no second implementation: `karat verify --evidence` compares those.
"""

import argparse
import base64
import hashlib
import math
import sys
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from canonical import canonical, number_text
from card import load_card
from formula import Refused
from model import read_json, score_item

ED25519 = b"\x01"
KINDS = {"evidence", "record", "scorecard", "match", "review", "key", "weights"}
ENTRY = {"content", "id", "kind", "moment_milliseconds", "replaces", "schema", "sources", "subject"}
# The members of an entry by its schema: the sender came later.
ENTRIES = {"karat/entry/1": ENTRY, "karat/entry/2": ENTRY | {"sender"}}
RECEIPT = {"checkpoint", "content", "entry", "index", "path", "schema"}

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
    public: Ed25519PublicKey


def read_key(text):
    """`NAME+ID+KEY`: the id follows from name and key, so a text that says another one was changed."""
    try:
        name, key_id, encoded = text.split("+", 2)
    except ValueError as error:
        raise Refused(f"`{text}` is not a key: expected `NAME+ID+KEY`") from error
    data = from_base64(encoded)
    if data[:1] != ED25519 or len(data) != 33 or not name or any(c.isspace() for c in name):
        raise Refused(f"`{text}` is not a key: expected a name and 32 bytes of Ed25519")
    if sha256(name.encode(), b"\n", data)[:4].hex() != key_id:
        raise Refused(f"`{text}` is not a key: the id is not that of name and key")
    return Key(name, bytes.fromhex(key_id), Ed25519PublicKey.from_public_bytes(data[1:]))


def split_note(note):
    """The text of a note, and its signatures: name, id of the key, bytes."""
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


def check_signature(note, key):
    text, signatures = split_note(note)
    own = [signature for name, key_id, signature in signatures if (name, key_id) == (key.name, key.id)]
    if not own:
        raise Refused(f"no signature is by `{key.name}`")
    for signature in own:
        try:
            key.public.verify(signature, text.encode())
        except InvalidSignature as error:
            raise Refused(f"the signature in the name of `{key.name}` is not by that key") from error
    if text.split("\n", 1)[0] != key.name:
        raise Refused("the first line of the checkpoint is not the name of the key")
    return f"by `{key.name}`"


def read_checkpoint(note):
    """Name of the log, number of entries, root."""
    lines = split_note(note)[0].split("\n")
    if len(lines) < 4 or not lines[1].isascii() or not lines[1].isdigit() or str(int(lines[1])) != lines[1]:
        raise Refused("the checkpoint does not have a name, a size and a root")
    root = from_base64(lines[2])
    if len(root) != 32:
        raise Refused("the root in the checkpoint is no SHA-256")
    return lines[0], int(lines[1]), root


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


# 3. Receipts


def whole(value):
    return isinstance(value, int) and not isinstance(value, bool)


def read_receipt(text):
    receipt = read_json(text)
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
        or not whole(receipt["index"])
        or receipt["index"] < 0
        or entry["kind"] not in KINDS
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


# 4. The command line


class Check(NamedTuple):
    outcome: str  # verified, failed, skipped
    name: str
    says: str


def attempt(name, check, *arguments):
    try:
        return Check("verified", name, check(*arguments))
    except WRONG as refused:
        return Check("failed", name, str(refused))


def verify(text, key=None, card=None, evidence=None):
    """Every check of the receipt in `text`; `key` is a Key, `card` a card of card.py, `evidence` a text."""
    try:
        receipt = read_receipt(text)
    except WRONG as refused:
        return [Check("failed", "receipt", str(refused))]
    if key is None:
        checks = [Check("skipped", "signature", "no key was given: nobody vouches for the signer")]
    else:
        checks = [attempt("signature", check_signature, receipt["checkpoint"], key)]
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


def status_of(checks):
    if any(check.outcome == "failed" for check in checks):
        return 14
    return 12 if any(check.outcome == "skipped" and check.name == "signature" for check in checks) else 0


def main():
    parser = argparse.ArgumentParser(description="Checks a receipt without karat.")
    parser.add_argument("receipt")
    parser.add_argument("--key", help="NAME+ID+KEY, or a file with it")
    parser.add_argument("--card", help="ID@VERSION, or a file")
    parser.add_argument("--cards", default=Path(__file__).parent.parent / "scorecards", help="the folder of cards")
    parser.add_argument("--evidence", help="the item of evidence, alone in a file")
    arguments = parser.parse_args()
    try:
        text = Path(arguments.receipt).read_text(encoding="utf-8")
        key = arguments.key
        if key is not None:
            key = read_key(Path(key).read_text(encoding="utf-8").strip() if Path(key).is_file() else key)
        card = load_card(arguments.card, Path(arguments.cards)) if arguments.card else None
        evidence = Path(arguments.evidence).read_text(encoding="utf-8") if arguments.evidence else None
    except (OSError, *WRONG) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    checks = verify(text, key, card, evidence)
    for check in checks:
        print(f"{check.outcome:<5}  {check.name:<9}  {check.says}")
    return status_of(checks)


if __name__ == "__main__":
    sys.exit(main())
