"""The distances between harbours in nautical miles, as a step of the validator."""

PLACES = {"Aster": (0, 0), "Birk": (3, 4), "Calm": (6, 0), "Dove": (3, -4), "Esk": (9, 4)}


def run(request):
    wanted = request["params"]["of"].split()
    missing = [name for name in wanted if name not in PLACES]
    if missing:
        raise KeyError(missing[0])
    rows = []
    for one in wanted:
        for other in wanted:
            if one < other:
                (x1, y1), (x2, y2) = PLACES[one], PLACES[other]
                rows.append(f"{one} {other} {((x1 - x2) ** 2 + (y1 - y2) ** 2) ** 0.5:.3f}")
    return {"text": "\n".join(rows), "artifacts": {"metadata": {"harbours": " ".join(wanted)}}}
