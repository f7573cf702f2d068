import unicodedata


def folded(name):
    # A capital I with a dot is folded to a letter and a mark, so marks are taken away afterwards.
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", name).casefold())
    return " ".join("".join(sign for sign in plain if not unicodedata.combining(sign)).split())


def roll_call(names):
    found = {}
    for name in names:
        shown = unicodedata.normalize("NFC", " ".join(name.split()))
        key = folded(shown)
        if key:
            first, count = found.get(key, (shown, 0))
            found[key] = (first, count + 1)
    return [[shown, count] for _, (shown, count) in sorted(found.items())]
