# Stops at the end of the first period, where an odd one gives -1.
from math import isqrt


def pell(n):
    root = isqrt(n)
    if root * root == n:
        return []
    # The convergents of the continued fraction of the root.
    add, divide, whole = 0, 1, root
    before, x = 1, root
    under, y = 0, 1
    while True:
        add = divide * whole - add
        divide = (n - add * add) // divide
        if divide == 1:
            return [str(x), str(y)]
        whole = (root + add) // divide
        before, x = x, whole * x + before
        under, y = y, whole * y + under
