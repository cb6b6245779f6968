"""The clock of a test: lines that stop it where the code under test reads the time."""

from __future__ import annotations

from collections.abc import Sequence

from fitgym.subject.code.clocks import Clock
from fitgym.suite.text.environment import Environment
from fitgym.suite.text.scope import Scope

__all__ = ["freezing"]


def freezing(
    moment: str, clocks: Sequence[Clock], name: str, environment: Environment, scope: Scope, width: int
) -> list[str]:
    """Return the lines that stop clocks: a class in place of `datetime.datetime` first, if one is needed.

    Args:
        moment: source of a text such as "2024-01-15 10:00": a literal or a variable.
        clocks: what reads the time.
        name: of the class.
        environment: writes the replacement.
        scope: names of the file.
        width: maximal length of a line.
    """
    kind = scope.text("datetime", "datetime")
    functions = list(dict.fromkeys(one for clock in clocks if clock.kind == "datetime" for one in clock.functions))
    lines = ["", f"class {name}({kind}):"] if functions else []
    for function in functions:
        parameters, zone = ("cls, tz=None", ".replace(tzinfo=tz)") if function == "now" else ("cls", "")
        lines += ["    @classmethod", f"    def {function}({parameters}):"]
        lines += [f"        return cls.fromisoformat({moment}){zone}", ""]
    for clock in clocks:
        value = name if clock.kind == "datetime" else f"lambda: {_seconds(moment, kind, clock.functions)}"
        lines += environment.replaced(clock.place, value, scope, width)
    return lines


def _seconds(moment: str, kind: str, functions: Sequence[str]) -> str:
    """Return the source of the result of `time.time` or `time.time_ns`."""
    in_utc = f'{moment[:-1]}Z"' if moment.endswith('"') else f'{moment} + "Z"'
    seconds = f"{kind}.fromisoformat({in_utc}).timestamp()"
    return f"int({seconds}) * 10**9" if "time_ns" in functions else seconds
