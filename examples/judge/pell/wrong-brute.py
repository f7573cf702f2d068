# Tries one y after the other: right, and for most numbers never done.
from math import isqrt


def pell(n):
    if isqrt(n) ** 2 == n:
        return []
    y = 1
    while True:
        x = isqrt(n * y * y + 1)
        if x * x == n * y * y + 1:
            return [str(x), str(y)]
        y += 1
