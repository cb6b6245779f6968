"""The command line of the lessons: `fitgym course list`, `start`, `check`."""

from __future__ import annotations

import json as json_format
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from fitgym.codes import DONE, FINDING
from fitgym.errors import InputError
from fitgym.interruption import held

__all__ = ["course"]

EXAMPLES = """Examples:
  fitgym course list
  fitgym course start course
  jupyter lab course/notebooks
  fitgym course check course/notebooks/06_bandits.ipynb
"""

course = App(name="course", help="Take the lessons, or grade those who do.", help_epilogue=EXAMPLES)


@course.command(name="list", help_epilogue="Examples:\n  fitgym course list\n")
def list_(*, lessons: Path | None = None) -> int:
    """List the lessons with the time that each needs.

    Parameters
    ----------
    lessons
        A folder with lessons (default: the folder notebooks of the clone).
    """
    with held():
        from fitgym.course.lesson import PARTS
        from fitgym.course.lesson import lessons as heads

    found = heads(lessons)
    width = max(len(lesson.title) for lesson in found)
    for title, numbers in PARTS.items():
        sys.stdout.write(f"{title}\n")
        for lesson in found:
            if lesson.number in numbers:
                sys.stdout.write(f"  {lesson.number:02}  {lesson.title:<{width}}  {lesson.time}".rstrip() + "\n")
    return DONE


START_EXAMPLES = """Examples:
  fitgym course start course
  fitgym course start week3 06 07
"""


@course.command(help_epilogue=START_EXAMPLES)
def start(folder: Path, /, *names: str, lessons: Path | None = None) -> int:
    """Copy lessons for a student, with the data that they read, without outputs and solutions.

    Parameters
    ----------
    folder
        For the lessons; is made if it does not exist.
    names
        Lessons by number or name (default: all).
    lessons
        A folder with lessons (default: the folder notebooks of the clone).
    """
    with held():
        from fitgym.course.material import hand_out

    made = hand_out(folder, names, given=lessons)
    sys.stdout.write(f"{len(made)} lessons are in {made[0].parent}; open them with: jupyter lab {made[0].parent}\n")
    return DONE


CHECK_EXAMPLES = """Examples:
  fitgym course check course/notebooks/06_bandits.ipynb
  fitgym course check submissions/*.ipynb --json > grades.json
"""


@course.command(help_epilogue=CHECK_EXAMPLES)
def check(
    *files: Path,
    limit: float = 300.0,
    lessons: Path | None = None,
    json: Annotated[bool, Parameter(negative=())] = False,
) -> int:
    """Run notebooks of students in fast mode and mark their exercises.

    The notebooks run with your rights: run those of strangers in a container.

    Parameters
    ----------
    files
        Notebooks; the file name or the metadata says which lesson each is of.
    limit
        Seconds for each.
    lessons
        A folder with lessons (default: the folder notebooks of the clone).
    json
        The same for machines.
    """
    with held():
        from fitgym.course.grading import grade

    if not files:
        raise InputError("there is no notebook to check: name at least one, such as 06_bandits.ipynb")
    grades = []
    for file in files:
        one = grade(file, limit=limit, given=lessons)
        grades.append(one)
        if not json:
            sys.stdout.write(f"{file}: {one.points} of {one.possible} points\n")
            for mark in one.marks:
                sys.stdout.write(f"  {mark.name}: {mark.state}{f'. {mark.sentence}' if mark.sentence else ''}\n")
            if one.problem:
                sys.stdout.write(f"  The notebook did not run to its end: {one.problem}.\n")
            sys.stdout.flush()
    if json:
        rows = [{**asdict(one), "points": one.points, "possible": one.possible} for one in grades]
        sys.stdout.write(json_format.dumps(rows, indent=1) + "\n")
    return DONE if all(one.points == one.possible for one in grades) else FINDING
