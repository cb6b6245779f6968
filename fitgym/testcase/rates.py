"""Rates: probabilities and limits of random test generation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final

__all__ = ["DEFAULT", "ONE_CALL", "RATES", "Rates"]


@dataclass(slots=True, kw_only=True)
class Rates:
    """Parameters of test generation. Probabilities are in [0, 1].

    A factory works on its own copy, which all its parts share. A replacement of rates in a running search (`take`)
    takes effect in every part at once, and reading a rate costs one attribute access. Everywhere else rates are never
    changed.

    "(EvoSuite)" marks defaults of EvoSuite 1.0.7.

    Attributes:
        max_length: maximum number of statements of a test case (EvoSuite).
        initial_length: bounds of the length of a random test case, both included. EvoSuite draws from 1 to 39. Shorter
            ones cover as much per execution, because a test case ends at its first exception, and they are easier to
            read.
        max_attempts: maximum number of insertions tried for a random test case (EvoSuite).
        tested_rate: probability that an inserted call applies an operation under test, at the end (EvoSuite).
        object_rate: probability that an inserted call is one on an object of the test case, at a position after that
            object (EvoSuite). EvoSuite's remaining 0.1 manipulate the environment. Here they set an environment
            variable if the subject reads one, else they apply an operation under test at a random place.
        setter_rate: probability that an inserted call changes an attribute on which an uncovered condition of a later
            call depends (`fitgym.evolution.setters`), if there is such a call; also that it sets an environment variable
            if the subject reads one.
        delete_rate, change_rate, insert_rate: probability of each of the three mutations (EvoSuite).
        insert_again: probability of each further insertion after the first (EvoSuite).
        optional_rate: probability that a parameter with a default gets an argument.
        repeat_builders: probability that a call which builds an object repeats arguments of a call that returned.
        repeat_calls: the same for other calls.
        ill_typed: probability that an argument of an operation under test violates the known type of its parameter.
            Annotations are respected, unless the code handles other values (`fitgym.subject.types.inspected`).
        null_probability: probability of None if None is one of the allowed values (EvoSuite).
        object_reuse: probability that an existing object is reused (EvoSuite).
        primitive_reuse: probability of an attempt to repeat a constant or a result of the same test case instead of
            drawing a new one (EvoSuite).
        accepted_rate: probability of an argument that some operation has accepted for a parameter of the same name and
            hint. Half of these arguments are slightly changed.
        max_depth: maximum nesting of containers and objects.
        repeat_items: probability that an item of a container equals an earlier one.
        floor: smallest factor that failures leave to a kind of value or an operation.
        trust: probability that a parameter without annotation gets a value of its inferred type, once that is known.
        static_pool: probability of a constant of the pool instead of a random one (EvoSuite).
        dynamic_pool: probability that a constant of the pool was observed at a comparison (EvoSuite).
        dynamic_size: maximum number of constants kept from comparisons; the oldest is dropped first.
        small_numbers: probability that a random number is small, a boundary or an extreme; the others have the scale
            `max_int`.
        max_int: scale of random numbers (EvoSuite).
        max_delta: largest step of an integer mutation (EvoSuite).
        random_perturbation: probability that a mutation draws a new number instead of moving the old one (EvoSuite).
        string_length: maximum length of a random string (EvoSuite).
        pattern_rate: probability that a string is drawn from a regular expression, if the subject has any.
        assembled_rate: probability that a string is assembled from affixes that the subject looks for, if there are
            any.
    """

    max_length: int = 40
    initial_length: tuple[int, int] = (1, 10)
    max_attempts: int = 1000
    tested_rate: float = 0.5
    object_rate: float = 0.4
    setter_rate: float = 0.1
    delete_rate: float = 1 / 3
    change_rate: float = 1 / 3
    insert_rate: float = 1 / 3
    insert_again: float = 0.5
    optional_rate: float = 0.5
    repeat_builders: float = 0.8
    repeat_calls: float = 0.1
    ill_typed: float = 0.05
    null_probability: float = 0.1
    object_reuse: float = 0.9
    primitive_reuse: float = 0.5
    accepted_rate: float = 0.1
    max_depth: int = 4
    repeat_items: float = 0.12
    floor: float = 0.03
    trust: float = 0.8
    static_pool: float = 0.5
    dynamic_pool: float = 0.5
    dynamic_size: int = 500
    small_numbers: float = 0.75
    max_int: int = 2048
    max_delta: int = 20
    random_perturbation: float = 0.2
    string_length: int = 20
    pattern_rate: float = 0.25
    assembled_rate: float = 0.1

    def take(self, other: Rates) -> None:
        """Copy all values of other rates into this object."""
        for each in fields(self):
            setattr(self, each.name, getattr(other, each.name))


DEFAULT: Final = Rates()

ONE_CALL: Final = Rates(
    initial_length=(1, 1),
    max_length=1,
    setter_rate=0.0,
    small_numbers=0.0,
    max_int=1000,
    static_pool=0.0,
    primitive_reuse=0.0,
    accepted_rate=0.0,
    repeat_calls=0.0,
    ill_typed=0.0,
)
"""One call with random numbers, for comparison with random testing.

It uses no constants from the subject or its comparisons, no repetition, and no preference for small numbers. As in the
study of Arcuri 2017, section 4.3, which draws half of its integers from -1000 to 1000 and half from all integers. Here
they follow a normal distribution with a standard deviation of 1000.
"""

RATES: Final[Mapping[str, Rates]] = {"fitgym": DEFAULT, "one_call": ONE_CALL}
"""The rates by the names that studies use."""
