# Looks at every minute and every meeting: right, and too slow for long days.
def free_slots(busy, opens, closes, least):
    free = []
    begun = None
    for minute in range(opens, closes + 1):
        is_free = minute < closes and all(not start <= minute < end for start, end in busy)
        if is_free and begun is None:
            begun = minute
        if not is_free and begun is not None:
            if minute - begun >= least:
                free.append([begun, minute])
            begun = None
    return free
