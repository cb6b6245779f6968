"""A classic subject: three conditions deep, two exceptions."""


def classify(a: int, b: int, c: int) -> str:
    """The kind of a triangle.

    Raises:
        ValueError: a side is not positive.
    """
    if a <= 0 or b <= 0 or c <= 0:
        raise ValueError("sides must be positive")
    if a + b <= c or b + c <= a or a + c <= b:
        return "none"
    if a == b == c:
        return "equilateral"
    if a == b or b == c or a == c:  # noqa: SIM109  (three decisions are wanted)
        return "isosceles"
    return "scalene"


def ratio(a: int, b: int) -> float:
    """Quotient of two sides."""
    return a / b
