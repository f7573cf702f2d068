from itertools import permutations


def run(request):
    miles = {}
    for line in request["params"]["distances"].splitlines():
        one, other, length = line.split()
        miles[one, other] = miles[other, one] = float(length)
    first, *rest = request["params"]["harbours"].split()

    def length(tour):
        stops = (first, *tour, first)
        return sum(miles[stop] for stop in zip(stops, stops[1:]))

    best = min(permutations(rest), key=lambda tour: (round(length(tour), 3), tour))
    return {"text": f"{' - '.join((first, *best, first))}: {length(best):.1f} nm"}
