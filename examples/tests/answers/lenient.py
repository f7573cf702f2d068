"""Sums whatever it recognises, and so takes nonsense for a duration."""

import re

FACTOR = {"h": 3600, "m": 60, "s": 1}


def seconds(text):
    return sum(int(count) * FACTOR[unit] for count, unit in re.findall(r"(\d+)([hms])", text))


def text(total):
    return f"{total // 3600}h{total // 60 % 60}m"
