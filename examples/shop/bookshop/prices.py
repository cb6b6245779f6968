"""Prices: whole pence, value added tax, vouchers and shipping."""

from __future__ import annotations

from dataclasses import dataclass

VAT_RATES = {"book": 0, "audio": 20, "gift": 20, "snack": 5}


class PriceError(ValueError):
    """A price that cannot be used."""


@dataclass(frozen=True)
class Price:
    """An amount in pence."""

    pence: int

    def __post_init__(self) -> None:
        if self.pence < 0:
            raise PriceError(f"a price cannot be negative: {self.pence}")

    @classmethod
    def parse(cls, text: str) -> Price:
        """Read "12.50", "£3" or "80p"."""
        text = text.strip().removeprefix("£")
        if text.endswith("p"):
            return cls(int(text[:-1]))
        pounds, _, pence = text.partition(".")
        if len(pence) not in (0, 2):
            raise PriceError(f"not a price: {text}")
        return cls(int(pounds) * 100 + int(pence or "0"))

    def __str__(self) -> str:
        return f"£{self.pence // 100}.{self.pence % 100:02}"

    def __add__(self, other: Price) -> Price:
        return Price(self.pence + other.pence)

    def times(self, quantity: int) -> Price:
        """The price of several."""
        if quantity < 1:
            raise PriceError("at least one")
        return Price(self.pence * quantity)


def with_vat(price: Price, kind: str) -> Price:
    """The price with the tax for this kind of goods, rounded half up."""
    rate = VAT_RATES.get(kind)
    if rate is None:
        raise KeyError(f"unknown kind of goods: {kind}")
    return Price((price.pence * (100 + rate) + 50) // 100)


def voucher(total: Price, code: str) -> Price:
    """The total after a voucher such as "SAVE10" (per cent) or "MINUS500" (pence)."""
    code = code.upper()
    if code.startswith("SAVE"):
        percent = int(code[4:])
        if not 0 < percent <= 50:
            raise PriceError(f"{percent} per cent is no voucher of ours")
        return Price(total.pence - total.pence * percent // 100)
    if code.startswith("MINUS"):
        return Price(max(0, total.pence - int(code[5:])))
    return total


def shipping(total: Price, weight_g: int, express: bool = False) -> Price:
    """The cost of sending a parcel; free from £40 unless it is heavy or express."""
    if weight_g <= 0:
        raise PriceError("a parcel weighs something")
    if total.pence >= 4000 and weight_g < 5000 and not express:
        return Price(0)
    cost = 299
    if weight_g > 2000:
        cost += 150 * ((weight_g - 2000 + 999) // 1000)
    return Price(cost * 2 if express else cost)
