# `lower` where `casefold` is needed: `Strasse` and `STRASSE` agree, `Straße` does not.
import unicodedata


def roll_call(names):
    found = {}
    for name in names:
        shown = unicodedata.normalize("NFC", " ".join(name.split()))
        plain = unicodedata.normalize("NFKD", shown).lower()
        key = " ".join("".join(sign for sign in plain if not unicodedata.combining(sign)).split())
        if key:
            first, count = found.get(key, (shown, 0))
            found[key] = (first, count + 1)
    return [[shown, count] for _, (shown, count) in sorted(found.items())]
