# The difference of two large numbers: nothing is left of it where the values are large and close together.
def spread(values):
    if not values:
        return [0.0, 0.0, 0.0]
    count = len(values)
    mean = sum(values) / count
    variance = max(0.0, sum(it * it for it in values) / count - mean * mean)
    if variance == 0:
        return [mean, 0.0, 0.0]
    third = sum(it**3 for it in values) / count - 3 * mean * variance - mean**3
    return [mean, variance**0.5, third / variance**1.5]
