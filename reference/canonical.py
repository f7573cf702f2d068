"""Canonical JSON (RFC 8785)."""

import json
import math

from formula import Refused


def canonical(value):
    if isinstance(value, dict):
        # Sorted by UTF-16, so that a character beyond the first plane stands before some within it.
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, str):
        value.encode()  # fails for half a surrogate pair, which has no UTF-8
        return json.dumps(value, ensure_ascii=False)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    number = float(value)
    if not math.isfinite(number):
        raise Refused("a number is beyond the doubles")
    return number_text(number)


def number_text(number):
    """A double as ECMAScript writes it: the shortest digits that give it again."""
    if number == 0:
        return "0"
    mantissa, _, exponent = f"{number!r}".lstrip("-").partition("e")
    whole, _, decimals = mantissa.partition(".")
    decimals = "" if decimals == "0" else decimals
    digits = (whole + decimals).lstrip("0")
    # The number is 0.DIGITS times ten to this power.
    power = int(exponent or 0) + len(whole) - (len(whole + decimals) - len(digits))
    digits = digits.rstrip("0")
    count, sign = len(digits), "-" if number < 0 else ""
    if count <= power <= 21:
        return sign + digits + "0" * (power - count)
    if 0 < power <= 21:
        return f"{sign}{digits[:power]}.{digits[power:]}"
    if -6 < power <= 0:
        return f"{sign}0.{'0' * -power}{digits}"
    point = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{point}e{'+' if power > 0 else '-'}{abs(power - 1)}"
