# Right wherever there is something to divide by.
from math import fsum, sqrt


def spread(values):
    mean = fsum(values) / len(values)
    deviation = sqrt(fsum((it - mean) ** 2 for it in values) / len(values))
    return [mean, deviation, fsum(((it - mean) / deviation) ** 3 for it in values) / len(values)]
