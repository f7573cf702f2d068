"""The example receipt, which the Rust code wrote, and every way in which it can be other than it was.

Run: python3 -m unittest discover reference. Without the package `cryptography` nothing here runs; under CI that fails.
"""

import json
import os
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

try:
    import verify
except ModuleNotFoundError as error:
    if error.name != "cryptography" or "CI" in os.environ:
        raise
    raise unittest.SkipTest("needs the package `cryptography`: scripts/fetch-cryptography") from error

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
