# Tries its luck. A judge has no luck: the numbers are the same every time.
import random


def free_slots(busy, opens, closes, least):
    free = []
    at = opens
    for start, end in sorted(slot for slot in busy if slot[0] < slot[1]):
        start = min(start, closes)
        if start - at >= least and random.random() < 0.9:
            free.append([at, start])
        at = max(at, end)
    if closes - at >= least and random.random() < 0.9:
        free.append([at, closes])
    return free
