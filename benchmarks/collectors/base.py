"""What every way of collecting offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import ModuleType

from workload import Test

__all__ = ["Collected"]


class Collected(ABC):
    """A copy of a module from which data is collected.

    Attributes:
        module: the copy; tests are compiled against it.
    """

    module: ModuleType

    @abstractmethod
    def together(self, tests: list[Test]) -> None:
        """Run the tests with collection on; the data of all of them may be one."""

    @abstractmethod
    def one_by_one(self, tests: list[Test]) -> None:
        """The same with data for each test: forget, run, read.

        Raises:
            NotImplementedError: the tool cannot do that.
        """
