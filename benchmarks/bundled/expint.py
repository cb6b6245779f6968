"""The exponential integral E_n(x), the integral of exp(-x t) / t^n for t from 1 to infinity.

For x > 1 by its continued fraction in the form of Lentz, for smaller x by its power series; Abramowitz and Stegun, Handbook
of Mathematical Functions, 5.1.11, 5.1.12 and 5.1.22.
"""

import math

EULER = 0.57721566490153286061
MOST = 100
TINY = 1e-300
PRECISION = 1e-12


def expint(n: int, x: float) -> float:
    """E_n(x) for n >= 0 and x >= 0, where it is finite."""
    if n < 0 or x < 0.0:
        raise ValueError("n and x are not negative")
    if x == 0.0 and (n == 0 or n == 1):
        raise ValueError("the integral is infinite")
    if n == 0:
        return math.exp(-x) / x
    if x == 0.0:
        return 1.0 / (n - 1)
    if x > 1.0:
        return _fraction(n, x)
    return _series(n, x)


def _fraction(n: int, x: float) -> float:
    b = x + n
    c = 1.0 / TINY
    d = 1.0 / b
    h = d
    for i in range(1, MOST + 1):
        a = -i * (n - 1 + i)
        b += 2.0
        d = 1.0 / (a * d + b)
        c = b + a / c
        delta = c * d
        h *= delta
        if abs(delta - 1.0) < PRECISION:
            return h * math.exp(-x)
    raise ArithmeticError("the fraction does not converge")


def _series(n: int, x: float) -> float:
    last = n - 1
    if last != 0:
        total = 1.0 / last
    else:
        total = -math.log(x) - EULER
    factor = 1.0
    for i in range(1, MOST + 1):
        factor *= -x / i
        if i != last:
            term = -factor / (i - last)
        else:
            psi = -EULER
            for k in range(1, last + 1):
                psi += 1.0 / k
            term = factor * (psi - math.log(x))
        total += term
        if abs(term) < abs(total) * PRECISION:
            return total
    raise ArithmeticError("the series does not converge")
