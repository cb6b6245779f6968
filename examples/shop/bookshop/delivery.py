"""Delivery: parcels handed to a carrier, which is somebody else's service."""

from __future__ import annotations

import logging
import os
from typing import Protocol

from bookshop.prices import Price, shipping

logger = logging.getLogger(__name__)


class Carrier(Protocol):
    """What a carrier can do."""

    def book(self, postcode: str, weight_g: int) -> dict[str, str]:
        """Book a parcel: `{"status": "ok", "tracking": ...}`, "busy" or "refused"."""
        ...


class DeliveryError(Exception):
    """A parcel that cannot be sent."""


def area(postcode: str) -> str:
    """The letters that a postcode starts with."""
    letters = ""
    for letter in postcode.strip().upper():
        if not letter.isalpha():
            break
        letters += letter
    if not letters:
        raise DeliveryError(f"no postcode: {postcode!r}")
    return letters


class Desk:
    """Sends parcels, and knows where they are."""

    def __init__(self, carrier: Carrier, attempts: int = 3) -> None:
        self.carrier = carrier
        self.attempts = attempts
        self.sent: dict[str, str] = {}

    def send(self, order: str, postcode: str, weight_g: int) -> str:
        """Hand a parcel to the carrier; its tracking number."""
        if order in self.sent:
            return self.sent[order]
        if area(postcode) in ("GY", "JE"):
            raise DeliveryError("we do not send to the Channel Islands")
        for _ in range(self.attempts):
            answer = self.carrier.book(postcode, weight_g)
            if answer["status"] == "ok":
                self.sent[order] = answer["tracking"]
                return answer["tracking"]
            if answer["status"] == "refused":
                raise DeliveryError(f"refused: {answer.get('reason', 'no reason')}")
            logger.warning("the carrier is busy")
        raise DeliveryError(f"busy {self.attempts} times")

    def cost(self, total: Price, weight_g: int) -> Price:
        """What the customer pays for delivery; express if `BOOKSHOP_EXPRESS` is set."""
        return shipping(total, weight_g, express=os.environ.get("BOOKSHOP_EXPRESS", "") == "1")
