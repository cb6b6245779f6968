"""The picture of an episode, 800 by 600 pixels: source as a heat map, tests, choices, coverage and rewards."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from fitgym.rendering.episode import Episode, Listing, Step
from fitgym.rendering.lettering import Colour, plain, write
from fitgym.rendering.palette import rgb

__all__ = ["CHOSEN", "COVERED", "HEAT", "HEIGHT", "NEW", "RAISED", "WIDTH", "line_at", "picture"]

WIDTH, HEIGHT = 800, 600

Box = tuple[int, int, int, int]
"""Left, upper, right and lower edge; the right and lower edges are exclusive."""

NEW: Colour = rgb("new")
HEAT: tuple[Colour, ...] = ((222, 238, 249), (188, 220, 241), (153, 203, 234))
"""Colours of lines that few, some and many test cases run; in greyscale, three steps from light to dark."""
CHOSEN: Colour = rgb("chosen")
COVERED: Colour = rgb("covered")
RAISED: Colour = rgb("raised")
_MISSED: Colour = (84, 88, 94)
_UNCHOSEN: Colour = (150, 153, 158)
_NEAR: Colour = rgb("near")
_INK: Colour = (20, 24, 31)
_GREY: Colour = (104, 109, 116)
_FAINT: Colour = (232, 234, 237)
_WHITE: Colour = (255, 255, 255)

_FEW, _SOME = 1, 9  # maximum numbers of test cases for the first two colours of HEAT
_MARGIN = 10
_TOP, _BOTTOM = 54, 564  # edges of the area between heading and sentence
_MIDDLE = 510  # right edge of the source
_GUTTER = 86  # left edge of the source
_MAP = 42  # right edge of the map of the whole file
_SIZE = 10  # font size of code, which allows 70 letters in a line
_LINE = 13  # line height in pixels
_CODE = 7  # lines of code of the found test
_TEST = _BOTTOM - _CODE * _LINE - 20  # upper edge of the found test
_LEGEND = _TEST - 24
_LINES = (_LEGEND - 8 - _TOP - 18) // _LINE  # number of source lines in the window
_ROOM = 350  # height of the rows in pixels; the rewards are below


def picture(episode: Episode) -> NDArray[np.uint8]:
    """Draw an episode as an array of shape `(600, 800, 3)`. Equal episodes give equal pictures.

    If there is a source, the left half shows a map of the whole file, the lines around the latest progress with the
    exceptions raised there, and the latest test. The right half has a row for each option and its targets: their
    coverage over the budget, and the steps that chose the option. The rewards are below.
    """
    image = Image.new("RGB", (WIDTH, HEIGHT), _WHITE)
    draw = ImageDraw.Draw(image)
    _heading(draw, episode)
    left = _MARGIN
    if episode.listing is not None:
        _source(draw, episode, episode.listing)
        _map(image, episode, episode.listing)
        _found(draw, episode)
        left = _MIDDLE + 2 * _MARGIN
    bottom = _rows(draw, episode, (left, _TOP, WIDTH - _MARGIN, _TOP + _ROOM))
    _rewards(draw, episode, (left, bottom + 12, WIDTH - _MARGIN, _BOTTOM))
    _sentence(draw, episode)
    return np.array(image)


def line_at(episode: Episode, number: int) -> Box | None:
    """Return the box of a source line in the picture; None if it is not shown."""
    shown = episode.shown(_LINES)
    return _place(number, shown) if number in shown else None


def _place(number: int, shown: range) -> Box:
    top = _TOP + 18 + (number - shown.start) * _LINE
    return _GUTTER, top, _MIDDLE, top + _LINE


# ---------------------------------------------------------------------------------------------------------- sections


def _heading(draw: ImageDraw.ImageDraw, episode: Episode) -> None:
    step = episode.steps[-1]
    draw.rectangle((0, 0, WIDTH, 43), fill=_INK)
    write(draw, (_MARGIN, 5), episode.title, _WHITE, 16, bold=True, room=430)
    write(draw, (_MARGIN, 26), episode.setting, _FAINT, 11, room=430)
    write(draw, (WIDTH - _MARGIN, 8), f"step {len(episode.choices)}, {step.clock}", _WHITE, 12, right=True)
    goal = episode.goal.replace("_", " ") or "value"
    reward = f"{episode.reward} reward" if episode.reward else "reward"
    figures = f"{goal}: {step.value:.4g}, {reward} so far: {episode.total:.4g}"
    write(draw, (WIDTH - _MARGIN, 26), figures, _FAINT, 11, right=True)


def _sentence(draw: ImageDraw.ImageDraw, episode: Episode) -> None:
    ended = bool(episode.ended)
    draw.rectangle((0, HEIGHT - 30, WIDTH, HEIGHT), fill=_INK if ended else _FAINT)
    colour = _WHITE if ended else _INK
    write(draw, (_MARGIN, HEIGHT - 23), episode.summary(), colour, 12, bold=True, room=WIDTH - 2 * _MARGIN)


def _source(draw: ImageDraw.ImageDraw, episode: Episode, listing: Listing) -> None:
    shown, new = episode.shown(_LINES), episode.new
    raised = episode.raised
    lines = {number: plain(listing.lines[number - listing.first]) for number in shown}
    indent = min((len(text) - len(text.lstrip()) for text in lines.values() if text.strip()), default=0)
    function = listing.function(min(new.intersection(shown), default=shown[len(shown) // 2]))
    figures = f"{len(listing.code & episode.since.keys())} of {len(listing.code)} lines covered"
    write(draw, (_MIDDLE, _TOP), figures, _GREY, right=True)
    write(draw, (_GUTTER, _TOP), function, _GREY, room=_MIDDLE - _GUTTER - 7 * len(figures) - _MARGIN)
    for number, text in lines.items():
        left, top, right, bottom = _place(number, shown)
        counts, ink = number in listing.code, _INK if number in listing.code else _GREY
        if counts and number in episode.since:
            colour = NEW if number in new else _heat(episode.runs.get(number, 0))
            draw.rectangle((left - 4, top, right - 1, bottom - 1), fill=colour)
        elif counts:
            draw.rectangle((left - 4, top + 1, left - 3, bottom - 2), fill=_INK)
        mark = "!" if number in raised else "+" if number in new else " "
        write(draw, (left - 7, top), f"{number}{mark}", ink, _SIZE, right=True, bold=number in new)
        write(draw, (left, top), text[indent:], ink, _SIZE, room=right - left, bold=number in new)
        if number in raised:
            _flag(draw, raised[number].partition(" ")[0], (right, top))
    _legend(draw, _LEGEND)


def _flag(draw: ImageDraw.ImageDraw, exception: str, place: tuple[int, int]) -> None:
    """Draw the exception that a line raised, at the end of the line."""
    right, top = place
    text = f" {exception} "
    draw.rectangle((right - 6 * len(text), top, right - 1, top + _LINE - 1), fill=RAISED)
    write(draw, (right, top), text, _WHITE, _SIZE, right=True)


def _found(draw: ImageDraw.ImageDraw, episode: Episode) -> None:
    """Draw the first test of the last step that found any, with its new lines or exception."""
    step, finds = episode.last_finds
    now = step == len(episode.choices)
    when = "the first population" if not step else "this step" if now else f"step {step}"
    if not finds:
        write(draw, (_MARGIN, _TEST), "no test yet", _GREY)
        return
    find = max(finds, key=lambda one: bool(one.raised))  # prefer tests with a new exception
    added = [f"raises {find.raised}"] if find.raised else []
    added += [f"{len(find.lines)} new {'line' if len(find.lines) == 1 else 'lines'}"] if find.lines else []
    heading = f"Test found in {when}: {', '.join(added)}"
    write(draw, (_MARGIN, _TEST), heading, _INK, bold=now, room=_MIDDLE - _MARGIN)
    lines = [plain(line) for line in find.code.split("\n")]
    draw.rectangle((_MARGIN, _TEST + 16, _MARGIN + 2, _BOTTOM - 3), fill=RAISED if find.raised else NEW)
    for place, line in enumerate(_excerpt(lines)):
        at = (_MARGIN + 10, _TEST + 17 + place * _LINE)
        write(draw, at, line, _INK, _SIZE, room=_MIDDLE - _MARGIN - 10)


def _excerpt(lines: Sequence[str]) -> list[str]:
    """Return the lines of a test that fit, including the start of the last statement, which is the important one."""
    last = max(place for place, line in enumerate(lines) if place == 0 or line[:1] not in ("", " ", ")", "]", "}"))
    start = min(last, max(0, len(lines) - _CODE))
    shown = list(lines[start : start + _CODE])
    if start and start < last:
        shown[0] = "…"
    if start + _CODE < len(lines):
        shown[-1] = "    …"
    return shown


def _legend(draw: ImageDraw.ImageDraw, top: int) -> None:
    x = _MARGIN
    for colour, mark in ((NEW, "+"), *zip(HEAT, ("1", f"{_FEW + 1}", f"{_SOME + 1}"), strict=True)):
        draw.rectangle((x, top, x + 19, top + 13), fill=colour)
        write(draw, (x + 4, top), mark, _INK)
        x = write(draw, (x + 24, top), "new in this step", _GREY) + 14 if colour == NEW else x + 20
    x = write(draw, (x + 4, top), "or more tests run it", _GREY) + 14
    draw.rectangle((x, top, x + 1, top + 13), fill=_INK)
    write(draw, (x + 6, top), "not covered", _GREY)


def _map(image: Image.Image, episode: Episode, listing: Listing) -> None:
    """Draw a small map of the file: lines with their lengths and colours, and a frame around the window."""
    ink = _shape(listing)
    # 0 no code, 1 not covered, 2 covered, 3 new: a row of pixels for several lines shows the largest.
    kinds = np.zeros(len(listing.lines), np.uint8)
    kinds[[number - listing.first for number in listing.code]] = 1
    for number in listing.code & episode.since.keys():
        kinds[number - listing.first] = 2
    new = listing.code & episode.new
    for number in new:
        kinds[number - listing.first] = 3
    room = _LEGEND - 8 - _TOP
    high = min(room, 3 * len(kinds))
    edges = np.linspace(0, len(kinds), high + 1)
    first = np.minimum(edges[:-1].astype(np.intp), len(kinds) - 1)
    last = np.maximum(first + 1, np.ceil(edges[1:]).astype(np.intp))
    colours = np.array([_FAINT, _MISSED, COVERED, NEW], np.uint8)
    pixels = np.full((high, ink.shape[1], 3), 255, np.uint8)
    for y, (start, end) in enumerate(zip(first.tolist(), last.tolist(), strict=True)):
        line = start + int(kinds[start:end].argmax())
        pixels[y, ink[line]] = colours[kinds[line]]
    image.paste(Image.fromarray(pixels), (_MARGIN, _TOP))
    draw = ImageDraw.Draw(image)
    for number in new:
        y = _TOP + int((number - listing.first + 0.5) * high / len(kinds))
        draw.rectangle((_MAP - 4, y - 1, _MAP + 2, y), fill=NEW)
    shown = episode.shown(_LINES)
    top, end = ((number - listing.first) * high / len(kinds) for number in (shown.start, shown.stop))
    draw.rectangle((_MARGIN - 3, _TOP + int(top), _MAP - 4, _TOP + int(end)), outline=_INK)


def _rows(draw: ImageDraw.ImageDraw, episode: Episode, box: Box) -> int:
    """Draw a row per option with coverage and choices over the budget; return the end of the last row."""
    left, top, right, bottom = box
    x = left
    for label, colour, there in (
        ("covered", COVERED, episode.steps[-1].covered),
        ("near", _NEAR, episode.steps[-1].near),
        ("chosen", CHOSEN, True),
    ):
        if there:
            draw.rectangle((x, top + 2, x + 9, top + 11), fill=colour)
            x = write(draw, (x + 14, top), label, _INK) + 14
    write(draw, (right, top), "over time", _GREY, right=True)
    top += 20
    rows = episode.rows
    pitch = max(26, min(72, (bottom - top) // max(1, len(rows))))
    spans = _spans(episode, left, right)
    active = episode.steps[-1].active
    for place, name in enumerate(rows):
        y = top + place * pitch
        if y + pitch > bottom:
            write(draw, (left, y), f"and {len(rows) - place} more", _GREY)
            return y + 14
        if name in active:
            draw.rectangle((left, y + 3, left + 6, y + 9), fill=CHOSEN if episode.choices else _UNCHOSEN)
        write(draw, (left + 10, y), name, _INK, bold=name in active)
        write(draw, (right, y), _figures(episode, name), _INK, right=True)
        _history(draw, episode, name, spans, (left, y + 14, right, y + pitch - 4))
    return top + len(rows) * pitch


def _history(
    draw: ImageDraw.ImageDraw, episode: Episode, name: str, spans: Sequence[tuple[int, int]], box: Box
) -> None:
    """Draw an area for the share of covered targets, above a strip that is coloured where the row was chosen."""
    left, top, right, bottom = box
    is_option, has_targets = name in episode.options, name in episode.steps[-1].covered
    floor = bottom - 5 if is_option and has_targets else bottom if has_targets else top
    draw.rectangle((left, top, right - 1, bottom - 1), fill=_FAINT)
    history = [step.covered.get(name, (0, 0)) for step in episode.steps]
    last = 0
    for step, (covered, known), (x, end) in zip(episode.steps, history, spans, strict=True):
        # Without a total there is no share: a mark shows where the number of covered targets grew.
        share = covered / known if known else 0.0
        if known is None and covered > last:
            draw.rectangle((x, floor - 5, max(x + 2, end - 2), floor - 2), fill=COVERED)
        last = covered
        for height, colour in ((max(share, step.near.get(name, 0.0)), _NEAR), (share, COVERED)):
            if has_targets and height > 0:
                y = floor - max(1, round(height * (floor - top)))
                draw.rectangle((x, y, end - 1, floor - 1), fill=colour)
        if weight := step.active.get(name, 0.0) if is_option else 0.0:
            colour = _mixed(CHOSEN, _FAINT, 0.25 + 0.75 * weight) if step.choice else _UNCHOSEN
            draw.rectangle((x, floor, end - 1, bottom - 1), fill=colour)
    if is_option and has_targets:
        draw.line((left, floor, right - 1, floor), fill=_WHITE)


def _rewards(draw: ImageDraw.ImageDraw, episode: Episode, box: Box) -> None:
    """Draw a bar for the reward of each step."""
    left, top, right, bottom = box
    rewards = [step.reward for step in episode.choices]
    low, high = min([0.0, *rewards]), max([0.0, *rewards])
    write(draw, (left, top), "reward of each step", _INK, bold=True)
    write(draw, (right, top), f"{low:.3g} to {high:.3g}", _GREY, right=True)
    top, bottom = top + 18, bottom - 16
    draw.rectangle((left, top, right - 1, bottom - 1), fill=_FAINT)
    scale = (bottom - top - 2) / ((high - low) or 1.0)
    zero = bottom - 1 + low * scale
    spans = _spans(episode, left, right)[1:]
    for place, (reward, (x, end)) in enumerate(zip(rewards, spans, strict=True)):
        y, base = sorted((round(zero - reward * scale), round(zero)))
        draw.rectangle((x, y, max(x, end - 2), base), fill=CHOSEN if place == len(rewards) - 1 else _GREY)
    write(draw, (left, bottom + 2), "start", _GREY)
    write(draw, (right, bottom + 2), "end of budget" if episode.steps[-1].spent else "later", _GREY, right=True)


# ------------------------------------------------------------------------------------------------------ helpers


def _spans(episode: Episode, left: int, right: int) -> list[tuple[int, int]]:
    """Return the horizontal range of each step, at least one pixel wide."""
    found, x = [], left
    for end in episode.ends:
        stop = left + round(min(1.0, end) * (right - left))
        x = min(x, right - 1)
        found.append((x, max(stop, x + 1)))
        x = max(stop, x)
    return found


def _figures(episode: Episode, name: str) -> str:
    """Return the current numbers of a row."""
    step: Step = episode.steps[-1]
    if name in step.covered:
        covered, known = step.covered[name]
        return f"{covered} found" if known is None else f"{covered} of {known}"
    return f"chosen {sum(name in step.active for step in episode.choices)}×"


def _heat(runs: int) -> Colour:
    return HEAT[0 if runs <= _FEW else 1 if runs <= _SOME else 2]


@lru_cache(maxsize=4)
def _shape(listing: Listing) -> NDArray[np.bool_]:
    """Return the mask of inked pixels for each line in the map, `(n_lines, width)`."""
    width = _MAP - 8 - _MARGIN
    ink = np.zeros((len(listing.lines), width), bool)
    for row, text in zip(ink, listing.lines, strict=True):
        plain = text.expandtabs(4)
        indent = len(plain) - len(plain.lstrip())
        row[indent * width // 80 : -(-len(plain.rstrip()) * width // 80)] = True
    return ink


def _mixed(colour: Colour, other: Colour, share: float) -> Colour:
    red, green, blue = (round(share * a + (1 - share) * b) for a, b in zip(colour, other, strict=True))
    return red, green, blue
