"""Both ways, with one pattern for the whole text."""

import re

PATTERN = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


def seconds(text):
    match = PATTERN.fullmatch(text)
    if not text or not match:
        raise ValueError(f"not a duration: {text!r}")
    hours, minutes, rest = (int(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + rest


def text(total):
    parts = [(total // 3600, "h"), (total // 60 % 60, "m"), (total % 60, "s")]
    return "".join(f"{count}{unit}" for count, unit in parts if count) or "0s"
