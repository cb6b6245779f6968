"""The interface of collectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import ModuleType

from workload import Test

__all__ = ["Collected"]


class Collected(ABC):
    """An instrumented copy of a module.

    Attributes:
        module: the copy; tests are compiled against it.
    """

    module: ModuleType

    @abstractmethod
    def together(self, tests: list[Test]) -> None:
        """Run the tests with collection on; the data of all tests may be merged."""

    @abstractmethod
    def one_by_one(self, tests: list[Test]) -> None:
        """Do the same with separate data for each test: reset, run, read.

        Raises:
            NotImplementedError: the tool cannot separate the data.
        """
