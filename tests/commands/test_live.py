"""The live view: a panel on a terminal, lines elsewhere."""

import io

import pytest
from rich.console import Console

from fitgym.commands.live import LiveView
from fitgym.run.generation import Progress

COVERAGE = {"exception": (7, 7), "branch": (30, 40), "method_no_exception": (0, 0)}


def progress(**changes):
    values = {
        "phase": "search",
        "spent": 0.25,
        "generation": 12,
        "executions": 1234,
        "active": ("exception", "branch"),
        "coverage": COVERAGE,
        "goal_value": 7.0,
        "reward": 2.0,
        "note": "searching",
    }
    return Progress(**{**values, **changes})


def terminal(width=80):
    return Console(file=io.StringIO(), force_terminal=True, width=width, height=24, color_system=None)


def panel(view):
    with view.console.capture() as captured:
        view.console.print(view._panel())
    return captured.get().splitlines()


def test_the_panel_shows_where_the_run_is():
    view = LiveView("textwrap", "exceptions", "ucb", console=terminal())
    view(progress())
    lines = panel(view)
    assert lines[0].rstrip() == "textwrap · goal exceptions · agent ucb"
    text = "\n".join(lines)
    for part in ("25%", "12", "1,234 executions", "last reward 2", "searching"):
        assert part in text


def test_active_functions_carry_a_dot_and_exceptions_are_no_share():
    view = LiveView("textwrap", "exceptions", "ucb", console=terminal())
    view(progress())
    rows = {line[2:].split()[0]: line for line in panel(view)}
    assert [name for name, row in rows.items() if row.startswith("●")] == ["exception", "branch"]
    assert rows["branch"].rstrip().endswith("30/40")
    assert rows["exception"].rstrip().endswith(" 7")
    assert rows["method_no_exception"].rstrip().endswith(" 0")


@pytest.mark.parametrize("width", [40, 80, 120])
def test_no_line_of_the_panel_wraps(width):
    subject = "a.module.with.a.long.name.that.goes.on:AndAClassWithALongNameToo"
    view = LiveView(subject, "exceptions", "fixed:exception+branch+method_no_exception", console=terminal(width))
    before = len(panel(view))
    view(progress(note="checking in fresh interpreters: 2 of 5 clean runs"))
    after = panel(view)
    assert (before, len(after)) == (3, 8)
    assert all(len(line) <= width for line in after)


def test_a_panel_is_there_before_the_first_report():
    view = LiveView("textwrap", "exceptions", "ucb", console=terminal())
    assert "starting" in panel(view)[-1]


def test_without_a_terminal_there_is_a_line_for_each_tenth_of_the_budget():
    output = io.StringIO()
    with LiveView("textwrap", "exceptions", "ucb", console=Console(file=output)) as view:
        for percent in range(0, 101, 2):
            view(progress(spent=percent / 100))
        view(progress(phase="finish", spent=1.0, note="checking"))
    lines = output.getvalue().splitlines()
    assert [line.split()[1] for line in lines] == [f"{tenth * 10}%" for tenth in range(11)] + ["100%"]
    assert lines[-1].startswith("finish:") and lines[-1].endswith("checking")
