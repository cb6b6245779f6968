"""Fares: what a journey costs, in cents."""

from __future__ import annotations

ZONE_PRICES = {1: 180, 2: 260, 3: 340}


class FareError(ValueError):
    """A journey that has no fare."""


def fare(zones: int, age: int) -> int:
    """The price of a single journey: children pay half, small children nothing."""
    if zones not in ZONE_PRICES:
        raise FareError(f"no journey has {zones} zones")
    price = ZONE_PRICES[zones]
    if age < 6:
        price = 0
    elif age < 12:
        price = price // 2
    return price


def season(price: int, months: int, share: float = 0.85) -> int:
    """The price of a ticket for several months; a year costs less."""
    if months <= 0:
        raise FareError("a season has at least one month")
    total = price * 36 * months
    if months >= 12:
        total = round(total * share)
    return total


def split(total: int, people: int) -> list[int]:
    """Equal shares of a sum; the first ones pay the cents that are left."""
    if people < 1:
        raise FareError("nobody is there to pay")
    share, rest = divmod(total, people)
    shares = []
    for number in range(people):
        if number < rest:
            shares.append(share + 1)
        else:
            shares.append(share)
    return shares


def refund(price: int, delay: int) -> int:
    """What is paid back for a delay in minutes."""
    if delay < 20:
        return 0
    if delay < 60:
        return round(price * 0.25)
    return price
