"""Small functions from school mathematics: almost every line is a condition, which is the worst case for probes."""

from __future__ import annotations


def triangle(a: int, b: int, c: int) -> str:
    """What kind of triangle has these sides."""
    if a <= 0 or b <= 0 or c <= 0:
        return "not a triangle"
    if a + b <= c or b + c <= a or a + c <= b:
        return "not a triangle"
    if a == b and b == c:
        return "equilateral"
    if a == b or b == c or a == c:
        return "isosceles"
    return "scalene"


def gcd(a: int, b: int) -> int:
    """The greatest common divisor, by Euclid."""
    if a < 0:
        a = -a
    if b < 0:
        b = -b
    while b != 0:
        a, b = b, a % b
    return a


def collatz(n: int, most: int = 200) -> int:
    """Steps of the Collatz sequence from n down to 1, -1 if there are more than `most`."""
    if n < 1:
        raise ValueError("n must be at least 1")
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
        if steps > most:
            return -1
    return steps


def sort(items: list[int]) -> list[int]:
    """A sorted copy, by exchanging neighbours."""
    result = list(items)
    end = len(result)
    while end > 1:
        last = 0
        for i in range(1, end):
            if result[i - 1] > result[i]:
                result[i - 1], result[i] = result[i], result[i - 1]
                last = i
        end = last
    return result


def search(items: list[int], wanted: int) -> int:
    """The index of `wanted` in a sorted list, -1 if it is not there."""
    low, high = 0, len(items) - 1
    while low <= high:
        middle = (low + high) // 2
        if items[middle] == wanted:
            return middle
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return -1


def roman(n: int) -> str:
    """A number from 1 to 3999 in Roman numerals."""
    if n < 1 or n > 3999:
        raise ValueError("only numbers from 1 to 3999 can be written")
    text = ""
    for value, sign in ((1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
                        (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")):  # fmt: skip
        while n >= value:
            text += sign
            n -= value
    return text


def is_prime(n: int) -> bool:
    """By trial division."""
    if n < 2:
        return False
    if n % 2 == 0:
        return n == 2
    divisor = 3
    while divisor * divisor <= n:
        if n % divisor == 0:
            return False
        divisor += 2
    return True


def days(year: int, month: int) -> int:
    """Days of a month in the Gregorian calendar."""
    if month < 1 or month > 12:
        raise ValueError("there are twelve months")
    if month == 2:
        if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
            return 29
        return 28
    if month in (4, 6, 9, 11):
        return 30
    return 31


def power(base: int, exponent: int, modulus: int = 0) -> int:
    """base ** exponent by squaring, modulo `modulus` unless that is 0."""
    if exponent < 0:
        raise ValueError("only whole numbers")
    result = 1
    while exponent > 0:
        if exponent % 2 == 1:
            result = result * base
            if modulus > 0:
                result = result % modulus
        base = base * base
        if modulus > 0:
            base = base % modulus
        exponent = exponent // 2
    return result


def roots(a: float, b: float, c: float) -> int:
    """How many real solutions a x^2 + b x + c = 0 has, -1 for infinitely many."""
    if a == 0:
        if b == 0:
            return -1 if c == 0 else 0
        return 1
    discriminant = b * b - 4 * a * c
    if discriminant > 0:
        return 2
    return 1 if discriminant == 0 else 0


class Account:
    """Money that may be overdrawn a little."""

    def __init__(self, balance: int = 0, limit: int = 0) -> None:
        if limit < 0:
            raise ValueError("a limit is not negative")
        self.balance = balance
        self.limit = limit
        self.refused = 0

    def deposit(self, amount: int) -> int:
        """The new balance."""
        if amount <= 0:
            raise ValueError("an amount is positive")
        self.balance += amount
        return self.balance

    def withdraw(self, amount: int) -> bool:
        """False if there is not enough; the account is closed for today after three refusals."""
        if self.refused >= 3:
            return False
        if amount <= 0 or amount > self.balance + self.limit:
            self.refused += 1
            return False
        self.balance -= amount
        return True

    def rate(self) -> int:
        """Interest in tenths of a percent."""
        if self.balance < 0:
            return -90
        if self.balance < 1000:
            return 0
        if self.balance < 10000:
            return 5
        return 8
