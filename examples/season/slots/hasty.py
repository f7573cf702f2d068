# Off by one: wants slots that are longer than the least length, and lets a meeting of no length split a slot.
def free_slots(busy, opens, closes, least):
    free = []
    at = opens
    for start, end in sorted(busy) + [[closes, closes]]:
        start = min(start, closes)
        if start - at > least:
            free.append([at, start])
        at = max(at, end)
    return free
