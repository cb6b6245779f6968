"""The clock of a test: what stops it reads as people write it, and shows the moment."""

from __future__ import annotations

import datetime as real
import types

import pytest

from fitgym.subject.code.clocks import Clock
from fitgym.suite.text.clock import freezing
from fitgym.suite.text.dialects import DIALECTS
from fitgym.suite.text.environment import ASSIGNED
from fitgym.suite.text.scope import Scope

TIME = Clock("time.time", "time", ("time",), (1,))
NANO = Clock("shop.time_ns", "time", ("time_ns",), (1,))
DATE = Clock("shop.datetime", "datetime", ("now", "utcnow"), (1,))
NOW = Clock("shop.datetime", "datetime", ("now",), (1,))
MOMENT = '"2024-01-15 10:00"'


@pytest.mark.parametrize(
    ("dialect", "moment", "clock", "expected"),
    [
        (
            "pytest",
            MOMENT,
            TIME,
            [
                "monkeypatch.setattr(",
                '    "time.time", lambda: datetime.fromisoformat("2024-01-15 10:00Z").timestamp()',
                ")",
            ],
        ),
        (
            "pytest",
            "moment",
            TIME,
            ["monkeypatch.setattr(", '    "time.time", lambda: datetime.fromisoformat(moment + "Z").timestamp()', ")"],
        ),
        (
            "pytest",
            MOMENT,
            NOW,
            [
                "",
                "class Frozen(datetime):",
                "    @classmethod",
                "    def now(cls, tz=None):",
                '        return cls.fromisoformat("2024-01-15 10:00").replace(tzinfo=tz)',
                "",
                'monkeypatch.setattr("shop.datetime", Frozen)',
            ],
        ),
        (
            "unittest",
            "moment",
            DATE,
            [
                "",
                "class Frozen(datetime):",
                "    @classmethod",
                "    def now(cls, tz=None):",
                "        return cls.fromisoformat(moment).replace(tzinfo=tz)",
                "",
                "    @classmethod",
                "    def utcnow(cls):",
                "        return cls.fromisoformat(moment)",
                "",
                'self.enterContext(unittest.mock.patch("shop.datetime", Frozen))',
            ],
        ),
    ],
)
def test_the_lines_that_stop_a_clock(dialect: str, moment: str, clock: Clock, expected: list[str]) -> None:
    assert freezing(moment, [clock], "Frozen", DIALECTS[dialect], Scope(), 84) == expected


@pytest.mark.parametrize("zone", [None, real.UTC, real.timezone(real.timedelta(hours=-7))])
def test_after_them_the_code_sees_the_moment(zone: real.tzinfo | None) -> None:
    shop = types.ModuleType("shop")
    lines = freezing(MOMENT, [NANO, DATE], "Frozen", ASSIGNED, Scope(), 84)
    exec("\n".join(lines), {"shop": shop, "datetime": real.datetime})
    seconds = real.datetime(2024, 1, 15, 10, tzinfo=real.UTC).timestamp()
    assert shop.time_ns() == seconds * 10**9
    assert shop.datetime.now(zone) == real.datetime(2024, 1, 15, 10, tzinfo=zone)
    assert shop.datetime.utcnow() == real.datetime(2024, 1, 15, 10) and shop.datetime(2020, 1, 1).year == 2020


def test_only_code_that_knows_the_class_by_its_name_sees_another_class() -> None:
    shop = types.ModuleType("shop")
    exec("\n".join(freezing(MOMENT, [NOW], "Frozen", ASSIGNED, Scope(), 84)), {"shop": shop, "datetime": real.datetime})
    assert issubclass(shop.datetime, real.datetime) and real.datetime.now().year != 2024
