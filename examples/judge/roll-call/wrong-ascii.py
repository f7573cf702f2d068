# Believes that every letter is one of A to Z with something on top.
import unicodedata


def roll_call(names):
    found = {}
    for name in names:
        shown = unicodedata.normalize("NFC", " ".join(name.split()))
        key = unicodedata.normalize("NFKD", shown).encode("ascii", "ignore").decode().lower()
        key = " ".join(key.split())
        if key:
            first, count = found.get(key, (shown, 0))
            found[key] = (first, count + 1)
    return [[shown, count] for _, (shown, count) in sorted(found.items())]
