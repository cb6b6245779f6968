"""The incomplete gamma function Q(a, x), the integral of exp(-t) t^(a-1) from x to infinity over the whole gamma function.

For x < a + 1 from the power series of P = 1 - Q, for larger x by its continued fraction in the form of Lentz; Abramowitz and
Stegun, Handbook of Mathematical Functions, 6.5.29 and 6.5.31. The logarithm of the gamma function by Lanczos's formula.
"""

import math

MOST = 200
TINY = 1e-300
PRECISION = 1e-12
LANCZOS = (
    0.99999999999980993,
    676.5203681218851,
    -1259.1392167224028,
    771.32342877765313,
    -176.61502916214059,
    12.507343278686905,
    -0.13857109526572012,
    9.9843695780195716e-6,
    1.5056327351493116e-7,
)


def gammq(a: float, x: float) -> float:
    """Q(a, x) for a > 0 and x >= 0, in [0, 1]."""
    if x < 0.0 or a <= 0.0:
        raise ValueError("a is positive and x is not negative")
    if x < a + 1.0:
        return 1.0 - _series(a, x)
    return _fraction(a, x)


def log_gamma(a: float) -> float:
    """The logarithm of the gamma function, for a > 0."""
    if a < 0.5:
        return math.log(math.pi / math.sin(math.pi * a)) - log_gamma(1.0 - a)
    z = a - 1.0
    total = LANCZOS[0]
    for i in range(1, len(LANCZOS)):
        total += LANCZOS[i] / (z + i)
    t = z + 7.5
    return 0.5 * math.log(2.0 * math.pi) + (z + 0.5) * math.log(t) - t + math.log(total)


def _series(a: float, x: float) -> float:
    if x == 0.0:
        return 0.0
    term = 1.0 / a
    total = term
    n = a
    for _ in range(MOST):
        n += 1.0
        term *= x / n
        total += term
        if abs(term) < abs(total) * PRECISION:
            return total * math.exp(-x + a * math.log(x) - log_gamma(a))
    raise ArithmeticError("the series does not converge")


def _fraction(a: float, x: float) -> float:
    b = x + 1.0 - a
    c = 1.0 / TINY
    d = 1.0 / b
    h = d
    for i in range(1, MOST + 1):
        factor = -i * (i - a)
        b += 2.0
        d = factor * d + b
        if abs(d) < TINY:
            d = TINY
        c = b + factor / c
        if abs(c) < TINY:
            c = TINY
        d = 1.0 / d
        delta = d * c
        h *= delta
        if abs(delta - 1.0) < PRECISION:
            return h * math.exp(-x + a * math.log(x) - log_gamma(a))
    raise ArithmeticError("the fraction does not converge")
