"""The choice of the factory of probes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from nightly import every

from fitgym.engine import Engine
from fitgym.errors import InputError
from fitgym.execution.executor import Executor, Limits
from fitgym.execution.history import Learned
from fitgym.instrument import factories
from fitgym.instrument.factories import chosen, in_use, missing
from fitgym.instrument.python.sites import Sites
from fitgym.instrument.trace import Trace
from fitgym.subject.source import locate

built = pytest.mark.skipif(bool(missing()), reason=missing())


def test_python_can_be_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FITGYM_SITES", "python")
    assert (in_use(), chosen()) == ("python", Sites)


@built
@pytest.mark.parametrize("wanted", ["", "c"])
def test_where_it_was_built_c_is_in_use(wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FITGYM_SITES", wanted)
    assert (in_use(), chosen().__module__) == ("c", "fitgym.instrument._sites")


def test_another_wish_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FITGYM_SITES", "C")
    with pytest.raises(InputError, match=r"^FITGYM_SITES is 'C', expected 'c' or 'python'$"):
        in_use()


@built
def test_what_was_built_from_other_sources_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "_sites.c").write_text("other")
    monkeypatch.setattr(factories, "__file__", str(tmp_path / "factories.py"))
    monkeypatch.setenv("FITGYM_SITES", "")
    assert in_use() == "python"
    monkeypatch.setenv("FITGYM_SITES", "c")
    with pytest.raises(InputError, match="the C probes cannot be used: they were built from other sources"):
        in_use()


def test_a_wheel_has_no_sources_to_compare_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(factories, "__file__", str(tmp_path / "factories.py"))
    assert "other sources" not in missing()


def test_the_executor_says_what_is_wrong_before_it_starts_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FITGYM_SITES", "fast")
    with pytest.raises(InputError, match="FITGYM_SITES is 'fast'"):
        Executor(locate("textwrap"))


class Remembering(Executor):
    """An executor that remembers everything that was recorded and learnt."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.recorded: list[str] = []
        self.constants: list[str] = []

    def run(self, *arguments: Any, **options: Any) -> list[Trace]:
        traces = super().run(*arguments, **options)
        self.recorded += map(repr, traces)  # as text, because a NaN is not equal to itself
        return traces

    def learned(self) -> Learned:
        learned = super().learned()
        self.recorded.append(repr(learned))
        self.constants += learned.constants
        return learned


@built
@pytest.mark.parametrize("subject", every(2, ["textwrap", "fractions:Fraction", "shlex", "ipaddress"]))
def test_every_test_case_of_a_search_has_the_same_trace_and_teaches_the_same_with_either(
    subject: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Fuel ends what is endless here, never the clock, however slow the probes are.
    limits = Limits(fuel=10_000, seconds=60.0)
    recorded = []
    for wanted in ("python", "c"):
        monkeypatch.setenv("FITGYM_SITES", wanted)
        with Remembering(locate(subject), limits) as executor:
            running = Engine(
                executor, population=20, seed=3, fitness=("branch", "direct_branch", "exception", "output")
            )
            for _ in range(5):
                running.step()
            recorded.append(executor.recorded)
            assert len(executor.constants) > 20
    assert len(recorded[0]) > 100
    assert recorded[0] == recorded[1]
