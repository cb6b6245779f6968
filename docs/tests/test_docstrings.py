"""Conversion of Markdown docstrings to reStructuredText."""

import pytest

pytest.importorskip("sphinx", reason="the documentation needs Sphinx: pip install 'fitgym[docs]'")

from docstrings import restructured


def converted(text: str) -> str:
    return "\n".join(restructured(text.split("\n"))).strip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see `fitgym.engine`", "see :py:obj:`fitgym.engine`"),
        ("a `MultiBinary(n)`", "a ``MultiBinary(n)``"),
        ("`fitness/<name>` is a file", "``fitness/<name>`` is a file"),
        ("`a`^2", ":py:obj:`a`\\ ^2"),
        ("n`a`s", "n\\ :py:obj:`a`\\ s"),
        ("`one\ntwo`", "``one\ntwo``"),
        ("2 * x ** |T|", "2 \\* x \\*\\* \\|T\\|"),
        ("the last_ of c_t", "the last\\_ of c_t"),
        ("either:\n* one\n* two", "either:\n\n* one\n* two"),
    ],
)
def test_a_line_keeps_its_meaning(text: str, expected: str) -> None:
    assert converted(text) == expected


def test_a_formula_is_kept_letter_by_letter() -> None:
    text = "Then\n\n    A_t = argmax  Q(a) * `x`\n          |second|\n\nwith Q."
    assert converted(text) == "Then\n\n::\n\n    A_t = argmax  Q(a) * `x`\n          |second|\n\n\nwith Q."


def test_sections_are_left_to_napoleon_and_end_where_a_line_is_not_set_in() -> None:
    text = "What.\n\nArgs:\n    c: of `UCB`, >= 0.\nDiffers: here."
    assert converted(text) == "What.\n\n\nArgs:\n    c: of :py:obj:`UCB`, >= 0.\n\nDiffers: here."


def test_each_reference_is_an_item_whether_or_not_it_goes_on_in_the_next_line() -> None:
    text = "References:\n    Auer and others 2002, A Title, figure 1:\n    UCB1.\n    Sutton and Barto 2018, A Book."
    assert converted(text).split("\n") == [
        "References:",
        "    * Auer and others 2002, A Title, figure 1:",
        "      UCB1.",
        "    * Sutton and Barto 2018, A Book.",
    ]


def test_a_table_has_a_header_and_rows() -> None:
    lines = converted("| a | b |\n|---|---|\n| 1 | `x` |").split("\n")
    assert lines[0] == ".. list-table::"
    assert lines[3:] == ["   * - a", "     - b", "   * - 1", "     - :py:obj:`x`"]


def test_of_an_environment_only_the_description_stands_among_the_modules() -> None:
    text = "## Description\nIt evolves.\n\n## Rewards\nMany."
    assert converted(text).startswith("It evolves.") and "Many" not in converted(text)
