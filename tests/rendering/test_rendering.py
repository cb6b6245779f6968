"""The picture and the panel of an episode: drawn from hand-written values and checked at known places."""

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from fitgym.rendering.episode import Episode, Find, Listing, Step
from fitgym.rendering.picture import CHOSEN, COVERED, HEAT, HEIGHT, NEW, RAISED, WIDTH, line_at, picture
from fitgym.rendering.terminal import Terminal, panel

SOURCE = ("def sign(x):", "    if x < 0:", "        return -1", "", "    # the rest", "    return 1")
LISTING = Listing(SOURCE, 1, frozenset({1, 2, 3, 6}), ((1, 6, "sign"),))


BARS = ((570, (104, 109, 116)), (660, CHOSEN))  # inside the bars of two steps: from the left, and their colours


def step(choice="", *active, **changes):
    values = {"covered": {"branch": (2, 4), "exception": (1, None)}, "spent": 0.1, "clock": "generation 1"}
    return Step(choice, dict.fromkeys(active, 1.0), **{**values, **changes})


def begun(listing=LISTING, options=("branch", "exception"), runs=None):
    episode = Episode("shapes", "goal coverage", options, (), listing)
    return episode.then(step("", "branch"), {1: 1, 2: 1} if runs is None else runs)


def colours(frame, box):
    """The colours in a part of the picture, most frequent first."""
    left, top, right, bottom = box
    found, counts = np.unique(frame[top:bottom, left:right].reshape(-1, 3), axis=0, return_counts=True)
    return [tuple(map(int, found[place])) for place in np.argsort(-counts)]


def holds(frame, colour):
    return bool((frame == colour).all(axis=2).any())


# ----------------------------------------------------------------------------------------------------------- episode


def test_a_line_is_new_in_the_step_in_which_it_first_runs():
    second = begun().then(step("branch", "branch"), {1: 2, 2: 1, 6: 1})
    third = second.then(step("branch", "branch"), {1: 3, 6: 1})
    assert (begun().new, second.new, third.new) == (frozenset(), {6}, frozenset())
    assert set(third.since) == {1, 2, 6}  # a line stays covered, even if no test case that is kept runs it


def test_an_episode_that_goes_on_leaves_the_shorter_one_as_it_is():
    first = begun()
    first.then(step("branch", "branch"), {6: 1})
    assert len(first.steps) == 1 and first.since == {1: 0, 2: 0}


def test_the_largest_group_of_new_lines_is_shown():
    listing = Listing(tuple(f"x = {n}" for n in range(1000)), 1, frozenset(range(1, 1001)))
    episode = begun(listing, runs={5: 1}).then(step("branch"), dict.fromkeys((90, 700, 703, 706, 999), 1))
    assert episode.shown(11) == range(698, 709)
    assert episode.then(step("branch")).shown(11) == range(698, 709)  # nothing new: stay
    assert episode.then(step("branch"), {1000: 1}).shown(11) == range(990, 1001)
    assert episode.shown(2000) == range(1, 1001)


def test_the_part_that_is_shown_stays_while_new_lines_are_in_it():
    listing = Listing(tuple(f"x = {n}" for n in range(1000)), 1, frozenset(range(1, 1001)))
    episode = begun(listing, runs=dict.fromkeys(range(500, 510), 1))
    shown = episode.shown(40)
    near = episode.then(step("branch"), {shown[-1]: 1, 900: 1, 901: 1, 902: 1})
    assert near.shown(40) == shown
    assert near.then(step("branch"), {20: 1}).shown(40) == range(1, 41)


def test_the_line_that_raised_a_new_exception_is_shown():
    listing = Listing(tuple(f"x = {n}" for n in range(1000)), 1, frozenset(range(1, 1001)))
    finds = (Find("f()", (90, 91)), Find("g()", (), "ValueError in g", 700))
    episode = begun(listing, runs={5: 1}).then(step("branch", finds=finds), {5: 1, 90: 1, 91: 1})
    assert 700 in episode.shown(40) and 90 not in episode.shown(40)


def test_the_last_tests_that_were_found_are_known():
    found = (Find("f(1)", (6,)),)
    episode = begun().then(step("branch", finds=found), {6: 1}).then(step("branch"), {6: 1})
    assert begun().last_finds == (0, ()) and episode.last_finds == (1, found)


def test_what_happened_is_told_in_a_sentence():
    assert begun().summary() == "Before the first choice: branch guided the first generation"
    made = begun().then(step("branch", "branch", reward=0.5), {6: 1})
    assert made.summary() == "Step 1: branch, reward 0.5, 1 line ran for the first time"
    ended = made.then(step("branch", "branch", reward=1.5), {}, "budget spent")
    assert (
        ended.summary() == "Ended after 2 steps, budget spent: return 2, 3 of 4 lines covered, most often branch (2×)"
    )


def test_without_a_budget_there_is_always_room_for_more_steps():
    episode = begun()
    for _ in range(100):
        episode = episode.then(step("branch", spent=0.0))
    assert episode.ends == sorted(episode.ends) and episode.ends[-1] < 1.0


def test_the_innermost_function_of_a_line_is_named():
    listing = replace(LISTING, functions=((1, 6, "outer"), (2, 3, "outer.inner")))
    assert [listing.function(number) for number in (1, 3, 6, 7)] == ["outer", "outer.inner", "outer", ""]


# ----------------------------------------------------------------------------------------------------------- picture


def test_the_picture_has_its_size():
    frame = picture(begun())
    assert frame.shape == (HEIGHT, WIDTH, 3) == (600, 800, 3) and frame.dtype == np.uint8


@pytest.mark.parametrize(
    ("number", "colour"),
    [(1, HEAT[2]), (2, HEAT[0]), (3, (255, 255, 255)), (5, (255, 255, 255)), (6, NEW)],
    ids=["run by many", "run by one", "not covered", "no code", "new"],
)
def test_each_line_of_the_source_has_the_colour_of_what_happened_to_it(number, colour):
    episode = begun().then(step("branch", "branch"), {1: 10, 2: 1, 6: 1})
    assert colours(picture(episode), line_at(episode, number))[0] == colour


def test_a_line_that_is_not_covered_has_a_bar_before_it_and_one_that_is_no_code_has_none():
    frame = picture(begun())
    bars = {}
    for number in (3, 5):
        left, top, _, bottom = line_at(begun(), number)
        bars[number] = colours(frame, (left - 4, top + 2, left - 2, bottom - 3))
    assert max(bars[3][0]) < 50 and bars[5] == [(255, 255, 255)]


def test_a_line_that_raised_has_the_exception_at_its_end():
    find = Find("sign('a')", (), "TypeError in sign", 2)
    episode = begun().then(step("branch", "branch", finds=(find,)), {1: 1, 2: 1})
    _, top, right, bottom = line_at(episode, 2)
    assert RAISED in colours(picture(episode), (right - 60, top, right, bottom))
    assert not holds(picture(begun()), RAISED)


def test_the_test_that_was_found_stands_below_the_source():
    def below(code):
        return picture(begun().then(step("branch", finds=(Find(code, (6,)),)), {6: 1}))[460:564, 30:500]

    assert (below("sign(1)") != below("sign(2)")).any()
    assert (below("sign(1)\n" * 20) != 255).any()


def test_an_open_number_has_marks_where_it_grew_and_no_share():
    def painted(*found):
        episode = begun(options=("exception",))
        for number, count in enumerate(found, 1):
            episode = episode.then(step("exception", covered={"exception": (count, None)}, spent=0.1 + number / 10))
        return int((picture(episode)[72:420, 530:790] == COVERED).all(axis=2).sum())

    assert painted(1) < painted(1, 2) == painted(1, 2, 2) == painted(1, 90)


def test_lines_of_a_long_module_are_where_the_picture_says():
    listing = Listing(tuple(f"    x = {n}" for n in range(3000)), 1, frozenset(range(1, 3001)))
    episode = begun(listing, runs={5: 1}).then(step("branch", "branch"), {5: 1, 1500: 1})
    assert line_at(episode, 5) is None
    frame = picture(episode)
    assert colours(frame, line_at(episode, 1500))[0] == NEW
    assert NEW in colours(frame, (10, 54, 50, 540))  # and in the map of the whole file


def test_what_was_chosen_is_marked_and_what_guided_before_was_not_chosen():
    assert not any(colour == CHOSEN for colour in colours(picture(begun()), (530, 72, 790, 420)))
    row = (530, 72, 790, 140)
    for chosen, other in (("branch", False), ("exception", True)):
        frame = picture(begun().then(step(chosen, chosen, spent=0.5)))
        assert (CHOSEN not in colours(frame, row)) is other


def test_the_more_is_covered_the_more_is_painted():
    def painted(covered):
        frame = picture(begun().then(step("branch", covered={"branch": (covered, 100)}, spent=0.9)))
        return int((frame[72:420, 530:790] == COVERED).all(axis=2).sum())

    assert painted(10) < painted(50) < painted(90)


def test_rewards_below_zero_hang_from_the_line():
    episode = begun().then(step("branch", reward=1.0, spent=0.4)).then(step("branch", reward=-1.0, spent=0.8))
    frame = picture(episode)[100:545]
    above, below = ((frame[:, left : left + 50] == colour).all(axis=2).any(axis=1) for left, colour in BARS)
    assert abs(np.flatnonzero(above).max() - np.flatnonzero(below).min()) <= 1


@pytest.mark.parametrize(
    "episode",
    [
        begun(listing=None),
        begun(options=tuple(f"function_{n}" for n in range(40))),
        begun(Listing(("\tx = '\u200b漢' \x00", "y" * 500), 1, frozenset({1, 2}))),
        replace(begun(), title="t" * 300, setting="s" * 300),
        begun().then(step("+".join(["weak_mutation"] * 30)), {}, "budget spent"),
    ],
    ids=["no source", "many options", "odd characters", "long title", "long choice"],
)
def test_whatever_the_episode_holds_it_can_be_drawn(episode):
    assert picture(episode).shape == (600, 800, 3)


def test_a_long_episode_can_be_drawn():
    episode = begun(listing=None)
    for number in range(2000):
        episode = episode.then(step("branch", "branch", spent=number / 2000))
    assert holds(picture(episode), CHOSEN)


# ---------------------------------------------------------------------------------------------------------- terminal


def terminal(**options):
    return Console(file=io.StringIO(), width=100, height=30, **options)


def test_the_panel_shows_choices_coverage_and_source():
    console = terminal(force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(panel(begun().then(step("exception", "exception", reward=2.0), {6: 1}), 30))
    lines = [line.rstrip() for line in captured.get().splitlines()]
    assert lines[0] == "shapes · goal coverage"
    assert any(line.startswith("● exception") and line.endswith("1 found") for line in lines)
    assert any(line.startswith("  branch") and line.endswith("2 of 4") for line in lines)
    assert "     6 +     return 1" in lines and "     3 -         return -1" in lines
    assert lines[-1] == "  Step 1: exception, reward 2, 1 line ran for the first time"


@pytest.mark.parametrize(("height", "shown"), [(30, True), (9, False)])
def test_the_panel_is_no_higher_than_the_terminal(height, shown):
    console = terminal(force_terminal=True, color_system=None)
    with console.capture() as captured:
        console.print(panel(begun(), height))
    assert len(captured.get().splitlines()) <= height
    assert ("def sign" in captured.get()) is shown


def test_without_a_terminal_there_is_a_line_for_each_step_and_no_control_code():
    console = terminal()
    view = Terminal(console)
    view.show(begun())
    view.show(begun().then(step("branch", "branch"), {}))
    view.close()
    text = console.file.getvalue()
    assert len(text.splitlines()) == 2 and "\x1b" not in text
    assert text.startswith("shapes: Before the first choice")


def test_a_closed_terminal_has_its_cursor_back():
    console = terminal(force_terminal=True)
    view = Terminal(console)
    view.show(begun())
    assert "\x1b[?25l" in console.file.getvalue() and "\x1b[?25h" not in console.file.getvalue()
    view.close()
    view.close()
    assert console.file.getvalue().count("\x1b[?25h") == 1


def test_a_terminal_that_nobody_closes_gives_the_cursor_back_when_it_is_gone():
    console = terminal(force_terminal=True)
    view = Terminal(console)
    del view
    assert console.file.getvalue().endswith("\x1b[?25h")
