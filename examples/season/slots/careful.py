def free_slots(busy, opens, closes, least):
    free = []
    at = opens
    for start, end in sorted(slot for slot in busy if slot[0] < slot[1]):
        if start >= closes:
            break
        if start > at and start - at >= least:
            free.append([at, start])
        at = max(at, end)
    if closes > at and closes - at >= least:
        free.append([at, closes])
    return free
