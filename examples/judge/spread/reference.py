from math import fsum, sqrt


def spread(values):
    if not values:
        return [0.0, 0.0, 0.0]
    count = len(values)
    mean = fsum(values) / count
    apart = [value - mean for value in values]
    variance = fsum(it * it for it in apart) / count
    deviation = sqrt(variance)
    if deviation == 0:
        return [mean, 0.0, 0.0]
    return [mean, deviation, fsum((it / deviation) ** 3 for it in apart) / count]
