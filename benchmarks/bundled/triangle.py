"""What kind of triangle has these sides?"""


def classify(a: int, b: int, c: int) -> int:
    """0 for none, 1 for three different sides, 2 for two that are equal, 3 for all."""
    if a <= 0 or b <= 0 or c <= 0:
        return 0
    if a == b and b == c:
        return 3
    longest = a
    if b > longest:
        longest = b
    if c > longest:
        longest = c
    if longest == a and a >= b + c:
        return 0
    if longest == b and b >= a + c:
        return 0
    if longest == c and c >= a + b:
        return 0
    if a == b or b == c or a == c:
        return 2
    return 1
