"""Clocks: a test stops the time where the code under test reads it."""

from __future__ import annotations

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from nightly import nightly
from ruff_accepts import assert_ruff_accepts

from fitgym.run.generation import generate
from fitgym.subject.code.clocks import clocks

READ = {
    "import time\ndef f(): return time.time()": {"time.time": "time"},
    "import time\ndef f(): return time.time_ns() + time.time()": {"time.time_ns": "time_ns", "time.time": "time"},
    "from time import time\ndef f(): return time()": {"shop.time": "time"},
    "from time import time as now\ndef f(): return now()": {"shop.now": "time"},
    "def f():\n from time import time\n return time()": {"time.time": "time"},
    "import datetime\ndef f(): return datetime.datetime.now()": {"datetime.datetime": "now"},
    "import datetime as dt\ndef f(): return dt.datetime.utcnow()": {"datetime.datetime": "utcnow"},
    "from datetime import datetime\ndef f(): return datetime.now(), datetime.utcnow()": {"shop.datetime": "now utcnow"},
    "from datetime import datetime\ndef f(): return datetime.today()": {"time.time": "time"},
    "from datetime import date\ndef f(): return date.today()": {"time.time": "time"},
    "from datetime import datetime\nf = lambda: datetime.now()": {"shop.datetime": "now"},
    "from datetime import datetime, date\ndef f(): return datetime.now(), date.today()": {
        "shop.datetime": "now",
        "time.time": "time",
    },
    # a subclass in the place of the class would change the answer
    "from datetime import datetime\ndef f(a): return isinstance(a, datetime) or datetime.now()": {},
    "from datetime import datetime, date\ndef f(a): return isinstance(a, datetime), datetime.now(), date.today()": {
        "time.time": "time"
    },
    # read at import, or not at all
    "import time\nSTART = time.time()": {},
    "import time\ndef f(): return time.sleep(1), time.monotonic()": {},
    "from datetime import datetime\ndef f(): return datetime(2024, 1, 1), datetime.fromisoformat('2024-01-01')": {},
    "def f(time): return time.time()": {},
    "from .time import time\ndef f(): return time()": {},
}


@pytest.mark.parametrize("source", READ)
def test_the_objects_that_functions_ask_for_the_time_are_found(source: str) -> None:
    assert {one.place: " ".join(one.functions) for one in clocks(ast.parse(source), "shop")} == READ[source]


def test_the_lines_that_ask_are_known() -> None:
    source = "import time\ndef f():\n return time.time()\ndef g():\n return [\n  time.time(), time.time()]\n"
    assert [one.lines for one in clocks(ast.parse(source), "shop")] == [(3, 6)]


SOURCE = """
    import time
    from datetime import date, datetime, timedelta


    def greeting() -> str:
        hour = datetime.now().hour
        if hour < 12:
            return "Good morning"
        if hour < 18:
            return "Good afternoon"
        return "Good evening"


    def age(birthday: date) -> int:
        today = date.today()
        return today.year - birthday.year - ((today.month, today.day) < (birthday.month, birthday.day))


    class Token:
        def __init__(self, lifetime: int = 3600) -> None:
            self.expires = time.time() + lifetime

        def valid(self) -> bool:
            return time.time() < self.expires


    def order(name: str) -> dict:
        return {"name": name, "due": (datetime.now() + timedelta(days=14)).isoformat()}
"""


@pytest.mark.parametrize("dialect", ["pytest", pytest.param("unittest", marks=nightly)])
def test_what_depends_on_the_time_is_checked_at_a_fixed_time(dialect: str, tmp_path: Path) -> None:
    (tmp_path / "orders.py").write_text(textwrap.dedent(SOURCE))
    run = generate(str(tmp_path / "orders.py"), budget="3000x", output=tmp_path / "tests", format=dialect, seed=1)
    assert run.suite_path is not None
    assert run.record["measured"]["branches"]["covered"] == run.record["measured"]["branches"]["total"] == 4
    for text in ("Good morning", "Good afternoon", "Good evening"):
        assert f'"{text}"' in run.source
    tests = [part for part in run.source.split("def test_")[1:] if "assert" in part]
    for name, place, other in [
        ("greeting", "orders.datetime", "time.time"),
        ("age", "time.time", "orders.datetime"),
        ("token", "time.time", "orders.datetime"),
        ("order", "orders.datetime", "time.time"),
    ]:
        mine = [test for test in tests if test.startswith(name)]
        timed = [test for test in mine if "Token(lifetime=0)" not in test]  # which is never valid
        assert timed and all(f'"{place}"' in test for test in timed)
        assert not any(f'"{other}"' in test for test in mine)
    assert_ruff_accepts(run.suite_path, ["check"])
    assert_ruff_accepts(run.suite_path, ["format", "--check"])
    done = subprocess.run(
        [sys.executable, "-m", dialect, run.suite_path.name], cwd=run.suite_path.parent, capture_output=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_source_that_reads_no_clock_has_no_operation_that_stops_it(inspected) -> None:  # type: ignore[no-untyped-def]
    assert not any(one.stops_clock for one in inspected("def f(time): return time").operations)
    (stop,) = [one for one in inspected("import time\ndef f(): return time.time()").operations if one.stops_clock]
    assert [one.name for one in stop.parameters] == ["moment", "time"] and stop.sets_environment
