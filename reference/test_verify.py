"""The example receipt, which the Rust code wrote, and every way in which it can be other than it was.

Run: python3 -m unittest discover reference. Without the package `cryptography` nothing here runs; under CI that fails.
"""

import base64
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

try:
    import verify
except ModuleNotFoundError as error:
    if error.name != "cryptography" or "CI" in os.environ:
        raise
    raise unittest.SkipTest("needs the package `cryptography`: scripts/fetch-cryptography") from error

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from card import load_card
from formula import Refused

ROOT = Path(__file__).parent.parent
RECEIPT = (ROOT / "examples/receipt/receipt.json").read_text(encoding="utf-8")
SENT = (ROOT / "examples/receipt/sent.json").read_text(encoding="utf-8")
KEY = verify.read_key((ROOT / "examples/receipt/log.key").read_text(encoding="utf-8").strip())
EVIDENCE = (ROOT / "examples/workflow/worked-example.json").read_text(encoding="utf-8")
CARD = load_card("workflow@1.0.0", ROOT / "scorecards")

# The key of the package `note` of Go, in its documentation, and what it signed there.
GO_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_NOTE = (
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n\n"
    "\u2014 PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)

# The example of the C2SP document tlog-cosignature. Its keys are not published.
PUBLISHED = (
    "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n"
    "\u2014 example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n"
    "\u2014 witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n"
)


def failing(text, key=KEY, card=CARD, evidence=EVIDENCE):
    return [check.name for check in verify.verify(text, key, card, evidence) if check.outcome == "failed"]


def changed(change):
    """The receipt after `change` of its JSON."""
    receipt = json.loads(RECEIPT)
    change(receipt)
    return json.dumps(receipt)


class Receipts(unittest.TestCase):
    def test_the_example_holds(self):
        checks = verify.verify(RECEIPT, KEY, CARD, EVIDENCE)
        names = ["signature", "inclusion", "content", "sources", "score", "evidence"]
        self.assertEqual([(check.name, check.outcome) for check in checks], [(name, "verified") for name in names])
        self.assertEqual(verify.status_of(checks), 0)
        # White space and the order of members do not matter.
        self.assertEqual(failing(json.dumps(json.loads(RECEIPT), indent=1, sort_keys=False)), [])

    def test_an_entry_may_have_a_sender(self):
        self.assertEqual(failing(SENT, evidence=None), [])
        self.assertEqual(failing(SENT.replace("0123456789abcdef", "0123456789abcdee"), evidence=None), ["inclusion"])
        for wrong in (
            SENT.replace("karat/entry/2", "karat/entry/1"),
            SENT.replace('"sender":"0123456789abcdef",', ""),
            SENT.replace('"sender":"0123456789abcdef"', '"sender":null'),
            RECEIPT.replace('"karat/entry/1"', '"karat/entry/1","sender":"0123456789abcdef"'),
            RECEIPT.replace('"replaces":null,"schema"', '"schema"'),
            RECEIPT.replace('"kind":"record"', '"kind":[]'),
            RECEIPT.replace('"karat/entry/1"', "[]"),
        ):
            self.assertNotIn(wrong, (SENT, RECEIPT))
            self.assertEqual(failing(wrong), ["receipt"])

    def test_without_a_key_nobody_vouches(self):
        checks = verify.verify(RECEIPT)
        self.assertEqual(verify.status_of(checks), 12)
        self.assertEqual(checks[0].outcome, "skipped")

    def test_every_changed_byte_fails(self):
        data = RECEIPT.strip().encode()
        for place in range(len(data)):
            flipped = bytearray(data)
            flipped[place] ^= 1
            try:
                text = flipped.decode()
            except UnicodeDecodeError:
                continue
            self.assertNotEqual(failing(text, card=None, evidence=None), [], f"byte {place}")

    def test_each_change_is_named(self):
        def content(receipt):
            receipt["content"] = receipt["content"].replace('"composite":0.84', '"composite":0.94')

        def index(receipt):
            receipt["index"] += 1

        def path(receipt):
            receipt["path"][0], receipt["path"][1] = receipt["path"][1], receipt["path"][0]

        def shorter(receipt):
            receipt["path"].pop()

        def longer(receipt):
            receipt["path"].append(receipt["path"][0])

        def subject(receipt):
            receipt["entry"]["subject"] = None

        def size(receipt):
            receipt["checkpoint"] = receipt["checkpoint"].replace("\n12\n", "\n13\n")

        self.assertEqual(failing(changed(content)), ["content", "score"])
        for change in (index, path, shorter, longer, subject):
            self.assertEqual(failing(changed(change)), ["inclusion"], change.__name__)
        self.assertIn("signature", failing(changed(size)))

    def test_another_key_card_or_evidence(self):
        other = verify.read_key(GO_KEY)
        self.assertEqual(failing(RECEIPT, key=other), ["signature"])
        self.assertEqual(failing(RECEIPT, card=load_card("trace@1.0.0", ROOT / "scorecards")), ["score"])
        self.assertEqual(failing(RECEIPT, evidence=EVIDENCE.replace("0.875", "0.975")), ["evidence"])

    def test_what_is_no_receipt(self):
        record = json.loads(RECEIPT)["content"]
        for text in ("", "[]", "{}", "nonsense", RECEIPT[: len(RECEIPT) // 2], record):
            self.assertEqual(failing(text), ["receipt"])


    def test_hostile_text_is_refused_at_once(self):
        deep = "[" * 100_000
        for text in (deep, '{"index":' + "9" * 5000 + "}", RECEIPT.replace('"17"', '"\\ud800"')):
            self.assertNotEqual(failing(text), [])
        for number in ("1e999999999", "-1e999", "9" * 400):
            record = RECEIPT.replace('\\"composite\\":0.84', f'\\"composite\\":{number}')
            self.assertNotEqual(record, RECEIPT)
            self.assertEqual(failing(record), ["content", "score"])
            evidence = EVIDENCE.replace("0.875", number)
            self.assertEqual(failing(RECEIPT, evidence=evidence), ["evidence"])


# A log of three entries whose key changes with the second, made here with secrets that everyone knows.
def secret(number):
    return Ed25519PrivateKey.from_private_bytes(bytes([number]) * 32)


def key_of(number, name="log", kind=verify.LOG):
    public = kind + secret(number).public_key().public_bytes_raw()
    key_id = verify.sha256(name.encode(), b"\n", public)[:4]
    return verify.read_key(f"{name}+{key_id.hex()}+{base64.b64encode(public).decode()}", kind)


def line(key, signature):
    return f"\u2014 {key.name} {base64.b64encode(key.id + signature).decode()}\n"


def head(size, root, *numbers):
    text = f"log\n{size}\n{base64.b64encode(root).decode()}\n"
    lines = [line(key_of(number), secret(number).sign(text.encode())) for number in numbers]
    return f"{text}\n{''.join(lines)}"


def cosigned(note, number, seconds):
    text = note.rpartition("\n\n")[0] + "\n"
    signature = secret(number).sign(f"cosignature/v1\ntime {seconds}\n{text}".encode())
    return note + line(key_of(number, "witness", verify.WITNESS), seconds.to_bytes(8, "big") + signature)


def change(old, new):
    keys = {"old": key_of(old).text, "new": key_of(new).text}
    text = f"karat/log-key/1\n{keys['old']}\n{keys['new']}\n".encode()
    signatures = {
        f"signature_by_{name}": base64.b64encode(secret(number).sign(text)).decode()
        for name, number in (("old", old), ("new", new))
    }
    return verify.canonical({"schema": "karat/log-key/1"} | keys | signatures)


def entry(kind, name, content):
    return {
        "content": verify.digest_of(content.encode()), "id": name, "kind": kind, "moment_milliseconds": 1,
        "replaces": None, "schema": "karat/entry/2", "sender": "server", "sources": [], "subject": None,
    }  # fmt: skip


class Log:
    """Receipts from a small log of these items: kind, id, content."""

    def __init__(self, items):
        self.items = items
        self.entries = [entry(*item) for item in items]

    def receipt(self, index, size, *signers):
        leaves = [verify.leaf_hash(verify.entry_bytes(it)) for it in self.entries[:size]]

        def root(some):
            if len(some) == 1:
                return some[0], []
            split = 1 << (len(some) - 1).bit_length() - 1
            halves = [root(some[:split]), root(some[split:])]
            node = verify.sha256(b"\x01", halves[0][0], halves[1][0])
            return node, halves

        def path(tree, some, at):
            if len(some) == 1:
                return []
            split = 1 << (len(some) - 1).bit_length() - 1
            left, right = tree[1]
            if at < split:
                return [*path(left, some[:split], at), right[0]]
            return [*path(right, some[split:], at - split), left[0]]

        tree = root(leaves)
        return {
            "schema": "karat/receipt/1", "content": self.items[index][2], "entry": self.entries[index], "index": index,
            "path": [base64.b64encode(it).decode() for it in path(tree, leaves, index)],
            "checkpoint": head(size, tree[0], *signers),
        }  # fmt: skip


class Witnesses(unittest.TestCase):
    def setUp(self):
        self.receipt = Log([("scorecard", "a@1", "a"), ("scorecard", "b@1", "b")]).receipt(1, 2, 1)
        self.key = key_of(7, "witness", verify.WITNESS)

    def failing(self, note, *witnesses):
        text = json.dumps(self.receipt | {"checkpoint": note})
        checks = verify.verify(text, trust=verify.trust_in(key_of(1), witnesses=witnesses))
        return [check.name for check in checks if check.outcome == "failed"]

    def test_a_cosignature_is_demanded_and_shows_its_time(self):
        note = self.receipt["checkpoint"]
        self.assertEqual(self.failing(note), [])
        self.assertEqual(self.failing(note, self.key), ["witness"])
        good = cosigned(note, 7, 1_679_315_147)
        self.assertEqual(self.failing(good, self.key), [])
        self.assertEqual(verify.check_witness(good, self.key), "by `witness` at 2023-03-20T12:25:47Z")
        # A second time by the same witness: the later counts. By another key of that name: another witness.
        self.assertIn("12:25:48", verify.check_witness(cosigned(good, 7, 1_679_315_148), self.key))
        self.assertEqual(self.failing(good, self.key, key_of(8, "witness", verify.WITNESS)), ["witness"])
        self.assertEqual(self.failing(cosigned(note, 7, 2**63 - 1), self.key), [])
        self.assertEqual(self.failing(cosigned(note, 7, 2**63), self.key), ["witness"])
        # What is cut, of another time or of another head.
        data = base64.b64decode(good.splitlines()[-1].split(" ")[2])
        for wrong in (data[:-1], data + b"x", data[:12], data[:11] + b"\x00" + data[12:], data[:5]):
            changed = note + line(self.key, wrong[4:])
            self.assertEqual(self.failing(changed, self.key), ["witness"], wrong)
            self.assertEqual(self.failing(good + line(self.key, wrong[4:]), self.key), ["witness"])
        other = head(2, b"x" * 32, 1)
        foreign = cosigned(other, 7, 1).splitlines()[-1]
        self.assertEqual(self.failing(note + foreign + "\n", self.key), ["witness"])

    def test_the_published_example_is_read(self):
        text, signatures = verify.split_note(PUBLISHED)
        self.assertEqual([(name, key_id.hex()) for name, key_id, _ in signatures][1], ("witness.example.com/w1", "8d66cf3f"))
        self.assertEqual(int.from_bytes(signatures[1][2][:8], "big"), 1_679_315_147)
        self.assertEqual((len(signatures[1][2]), verify.read_checkpoint(PUBLISHED)[1]), (72, 20_852_163))

    def test_keys_of_logs_and_witnesses_are_not_mistaken(self):
        with self.assertRaises(Refused):
            verify.read_key(self.key.text)
        with self.assertRaises(Refused):
            verify.read_key(key_of(1).text, verify.WITNESS)
        # A key of small order fits many texts.
        for point in (bytes(32), b"\x01" + bytes(31), verify.EIGHTH.to_bytes(32, "little")):
            self.assertTrue(verify.has_small_order(point))
        self.assertFalse(verify.has_small_order(key_of(1).public))


class Rotations(unittest.TestCase):
    def setUp(self):
        items = [("scorecard", "a@1", "a"), ("key", "log-key/1", change(1, 2)), ("scorecard", "b@1", "b"),
                 ("key", "log-key/2", change(2, 3)), ("scorecard", "c@1", "c")]  # fmt: skip
        self.log = Log(items)
        self.before, self.between, self.after = (
            json.dumps(self.log.receipt(0, size, signer)) for size, signer in ((1, 1), (3, 2), (5, 3))
        )
        self.first = json.dumps(self.log.receipt(1, 2, 1, 2))
        self.second = json.dumps(self.log.receipt(3, 5, 3))

    def status(self, text, number, *rotations):
        return verify.status_of(verify.verify(text, trust=verify.trust_in(key_of(number), rotations)))

    def test_each_key_verifies_all_with_the_changes_and_its_own_without(self):
        for number in (1, 2, 3):
            for place, text in enumerate((self.before, self.between, self.after), 1):
                self.assertEqual(self.status(text, number), 0 if place == number else 14)
                self.assertEqual(self.status(text, number, self.second, self.first, self.first), 0)
        self.assertEqual(self.status(self.between, 1, self.first), 0)
        self.assertEqual(self.status(self.after, 1, self.first), 14)
        self.assertEqual(self.status(self.before, 4, self.first), 14)
        self.assertEqual(self.status(self.before, 1, self.second), 14)

    def test_the_old_key_signs_nothing_after_its_change(self):
        late = json.dumps(self.log.receipt(0, 3, 1))
        self.assertEqual((self.status(late, 1), self.status(late, 1, self.first)), (0, 14))
        early = json.dumps(self.log.receipt(0, 1, 2))
        self.assertEqual((self.status(early, 2), self.status(early, 2, self.first)), (0, 14))
        # Nor vouches it for the place of the change.
        alone = json.dumps(self.log.receipt(1, 2, 1))
        self.assertEqual(self.status(self.before, 1, alone), 14)

    def test_what_is_no_change_is_refused(self):
        genuine = json.loads(change(1, 2))
        for wrong in (
            change(1, 1), "{}", "x", json.dumps(genuine), verify.canonical(genuine | {"more": "x"}),
            verify.canonical(genuine | {"schema": "karat/log-key/2"}),
            verify.canonical(genuine | {"signature_by_new": genuine["signature_by_old"]}),
            verify.canonical(genuine | {"new": key_of(3).text}), verify.canonical(genuine | {"old": None}),
        ):  # fmt: skip
            log = Log([("scorecard", "a@1", "a"), ("key", "log-key/1", wrong)])
            self.assertEqual(self.status(self.before, 1, json.dumps(log.receipt(1, 2, 1, 2))), 14, wrong)
        log = Log([("scorecard", "a@1", "a"), ("scorecard", "log-key/1", change(1, 2))])
        self.assertEqual(self.status(self.before, 1, json.dumps(log.receipt(1, 2, 1, 2))), 14)
        for text in ("", "[]", "\ud800", "[" * 100_000, self.first[:-9]):
            self.assertEqual(self.status(self.before, 1, text), 14)


class CommandLine(unittest.TestCase):
    def run_it(self, *arguments):
        program = [sys.executable, "-B", str(ROOT / "reference/verify.py"), *arguments]
        done = subprocess.run(program, capture_output=True, check=False, env=os.environ | {"PYTHONIOENCODING": "ascii"})
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def test_it_ends_with_a_status_whatever_it_reads(self):
        key, receipt = ROOT / "examples/receipt/log.key", ROOT / "examples/receipt/receipt.json"
        self.assertEqual(self.run_it(str(receipt), "--key", str(key))[0], 0)
        with tempfile.TemporaryDirectory() as folder:
            bad = Path(folder, "bad")
            for data in (b"", b"\xff\xfe", b"\xef\xbb\xbf{}", b"[" * 100_000, b'"\\ud800"', RECEIPT.replace("main", "\u00e9\u001b[2J").encode()):
                bad.write_bytes(data)
                status, out, errors = self.run_it(str(bad), str(receipt), "--key", str(key), "--json")
                self.assertEqual((status, errors, len(out.splitlines())), (14, "", 2), data[:20])
                status, out, errors = self.run_it(str(receipt), "--key", str(key), "--rotation", str(bad))
                self.assertEqual((status, errors), (14, ""), data[:20])
                status, out, errors = self.run_it(str(bad))
                self.assertEqual((status, errors, "\x1b" in out), (14, "", False))
        for wrong in (["nothing"], [str(receipt), "--key", "x"], [str(receipt), "--witness", str(key)]):
            status, out, errors = self.run_it(*wrong)
            self.assertEqual((status, out, errors.startswith("error: ")), (1, "", True), errors)


class Parts(unittest.TestCase):
    def test_a_published_note_and_its_key(self):
        key = verify.read_key(GO_KEY)
        text, signatures = verify.split_note(GO_NOTE)
        self.assertEqual(signatures[0][:2], (key.name, key.id))
        verify.check_ed25519(key, text, signatures[0][2])
        for wrong in ("", "a+b", GO_KEY.replace("c74f", "c74e"), GO_KEY.replace("Peter", "peter"), GO_KEY[1:]):
            with self.assertRaises(Refused):
                verify.read_key(wrong)

    def test_proofs_lead_to_the_root_of_the_definition(self):
        def root(leaves):
            if len(leaves) == 1:
                return leaves[0]
            split = 1 << (len(leaves) - 1).bit_length() - 1
            return verify.sha256(b"\x01", root(leaves[:split]), root(leaves[split:]))

        def path(index, leaves):
            if len(leaves) == 1:
                return []
            split = 1 << (len(leaves) - 1).bit_length() - 1
            if index < split:
                return [*path(index, leaves[:split]), root(leaves[split:])]
            return [*path(index - split, leaves[split:]), root(leaves[:split])]

        for size in range(1, 40):
            leaves = [verify.leaf_hash(str(place).encode()) for place in range(size)]
            for index, leaf in enumerate(leaves):
                proof = path(index, leaves)
                self.assertEqual(verify.root_from(leaf, index, size, proof), root(leaves))
                with self.assertRaises(Refused):
                    verify.root_from(leaf, index, size, [*proof, leaf])

    def test_numbers_are_written_as_rfc_8785_does(self):
        for number, text in [
            (0.0, "0"), (-0.0, "0"), (1.0, "1"), (-1.5, "-1.5"), (823.5, "823.5"), (1e21, "1e+21"),
            (1e20, "100000000000000000000"), (123456789012345680000.0, "123456789012345680000"), (1e-6, "0.000001"), (1e-7, "1e-7"), (1.25e-9, "1.25e-9"),
            (5e-324, "5e-324"), (1.7976931348623157e308, "1.7976931348623157e+308"),
            (333333333.3333333, "333333333.3333333"),
            (9007199254740993, "9007199254740992"), (0.1, "0.1"), (100.0, "100"),
        ]:  # fmt: skip
            self.assertEqual(verify.number_text(float(number)), text)

    def test_canonical_json(self):
        value = {"b": [1, 2.5, -0.0, 1e300], "a": {"\ufb00": None, "\U0001f600": True, "x": 'é"\n\x01'}}
        expected = '{"a":{"x":"é\\"\\n\\u0001","\U0001f600":true,"\ufb00":null},"b":[1,2.5,0,1e+300]}'
        self.assertEqual(verify.canonical(value), expected)


if __name__ == "__main__":
    unittest.main()
