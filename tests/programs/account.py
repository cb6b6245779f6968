"""A class with state, a property and an exception of its own."""


class Overdrawn(Exception):
    """There is not enough money."""


class Account:
    """Money that can be paid in and out."""

    def __init__(self, owner: str, balance: int = 0) -> None:
        if not owner:
            raise ValueError("an account needs an owner")
        self.owner = owner
        self.balance = balance
        self.history: list[int] = []

    def pay_in(self, amount: int) -> int:
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.balance += amount
        self.history.append(amount)
        return self.balance

    def pay_out(self, amount: int) -> int:
        if amount > self.balance:
            raise Overdrawn(self.owner)
        self.balance -= amount
        self.history.append(-amount)
        return self.balance

    @property
    def is_empty(self) -> bool:
        return self.balance == 0

    def __len__(self) -> int:
        return len(self.history)
