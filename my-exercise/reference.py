# The right answer: it shows that the cases can be passed, and what they cost. Keep it as secret as the cases.


def longest_run(values):
    longest = length = 0
    for place, value in enumerate(values):
        length = length + 1 if place and value == values[place - 1] else 1
        longest = max(longest, length)
    return longest
