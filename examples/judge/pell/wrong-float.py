# Doubles have 53 bits: roots of large numbers are off by one, and so are squares.
from math import sqrt


def pell(n):
    root = int(sqrt(n))
    if sqrt(n) == root:
        return []
    add, divide, whole = 0.0, 1.0, float(root)
    before, x = 1.0, float(root)
    under, y = 0.0, 1.0
    while x * x - n * y * y != 1:
        if x > 1e150:
            return []
        add = divide * whole - add
        divide = (n - add * add) / divide
        whole = (root + add) // divide
        before, x = x, whole * x + before
        under, y = y, whole * y + under
    return [str(int(x)), str(int(y))]
