"""Signs: what passengers read at a stop."""

from __future__ import annotations


def due(minutes: int) -> str:
    """When the next tram comes, in words."""
    if minutes < 0:
        raise ValueError(f"a tram cannot come in {minutes} minutes")
    if minutes == 0:
        text = "now"
    elif minutes == 1:
        text = "in a minute"
    elif minutes > 30:
        text = "later"
    else:
        text = f"in {minutes} minutes"
    return text


def shortened(stop: str, width: int = 12) -> str:
    """The name of a stop, cut to a width."""
    stop = stop.strip()
    if len(stop) <= width:
        return stop
    return stop[: width - 1] + "."


def direction(code: str) -> str:
    """The direction behind the last letter of a code such as 4N."""
    names = {"N": "north", "S": "south", "C": "centre"}
    letter = code[-1:].upper()
    if letter not in names:
        raise ValueError(f"no direction: {code}")
    return names[letter]


def board(lines: dict[int, int]) -> list[str]:
    """A row for each line with the minutes until its tram, the next tram first."""
    rows = []
    for line, minutes in sorted(lines.items(), key=lambda item: (item[1], item[0])):
        rows.append(f"{line} {due(minutes)}")
    return rows
