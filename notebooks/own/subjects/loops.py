"""Functions whose loops go round more or less often, depending on their arguments."""

from itertools import pairwise


def halvings(number: int) -> int:
    """How often a number can be halved until it is 0."""
    count = 0
    while number > 0:
        number //= 2
        count += 1
    return count


def greatest_common_divisor(first: int, second: int) -> int:
    """Euclid's algorithm."""
    while second:
        first, second = second, first % second
    return first


def digit_sum(number: int) -> int:
    """The sum of the decimal digits."""
    total = 0
    while number > 0:
        number, digit = divmod(number, 10)
        total += digit
    return total


def longest_run(values: list[int]) -> int:
    """The length of the longest rising run."""
    best = length = 1
    for before, after in pairwise(values):
        length = length + 1 if after > before else 1
        best = max(best, length)
    return best


def insert_sorted(values: list[int], new: int) -> list[int]:
    """Insert a number into a sorted list, from the right."""
    place = len(values)
    while place > 0 and values[place - 1] > new:
        place -= 1
    return [*values[:place], new, *values[place:]]
