# Compares rightly, and shows the spelling that came last, as it came.
import unicodedata


def roll_call(names):
    found = {}
    for name in names:
        plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
        key = " ".join("".join(sign for sign in plain if not unicodedata.combining(sign)).split())
        if key:
            found[key] = (name.strip(), found.get(key, ("", 0))[1] + 1)
    return [[shown, count] for _, (shown, count) in sorted(found.items())]
