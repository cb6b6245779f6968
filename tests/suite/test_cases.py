"""Similar tests become one test with cases: only if the table is shorter, complete and passes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ruff_accepts import assert_ruff_accepts
from shelf_subject import ADD, BOOK, FIND, GOLDEN, MODULE, ROOM, SHELF, SUBJECT, SUMMARY, THICKNESS

from fitgym.messages.observation import Observation
from fitgym.suite.cases import FEWEST_CASES, MOST_PARAMETERS, ROW, joined_if_passing, tabulated
from fitgym.suite.deadline import Deadline
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.text.export import suite_text
from fitgym.testcase.expression import Collection, Lambda, Literal, Name, Ref
from fitgym.testcase.statement import Statement


def lit(value: Any) -> Literal:
    return Literal(repr(value))


def thickness(name: str, pages: Any, result: Any, kind: Any = "equal") -> FinishedTest:
    """A test that `thickness(pages) == result`."""
    return FinishedTest(name, (Statement(THICKNESS, args=(pages,)),), (Observation(0, "", kind, result),))


def of_pages(*pages: Any) -> list[FinishedTest]:
    return [thickness(f"test_thickness_{place}", lit(page), lit(place)) for place, page in enumerate(pages)]


def text_of(tests: Sequence[FinishedTest]) -> str:
    """The file without its head."""
    return suite_text(tests, SUBJECT, folder=GOLDEN).partition("thickness\n")[2].strip()


def test_tests_that_differ_only_in_data_become_one_test_with_a_table() -> None:
    (joined,) = tabulated(of_pages(100, 200, 300), SUBJECT)
    assert joined.name == "test_thickness"
    assert joined.cases.names == ("test_thickness_0", "test_thickness_1", "test_thickness_2")
    assert text_of([joined]) == (
        "@pytest.mark.parametrize(\n"
        '    ("pages", "expected"),\n'
        "    [\n"
        "        (100, 0),\n"
        "        (200, 1),\n"
        "        (300, 2),\n"
        "    ],\n"
        ")\n"
        "def test_thickness(pages, expected):\n"
        "    assert thickness(pages) == expected"
    )


def test_what_is_equal_in_all_cases_stays_in_the_body() -> None:
    tests = [thickness(f"test_{page}", lit(page), lit(None), "is") for page in (1, 2, 3)]
    assert text_of(tabulated(tests, SUBJECT)) == (
        '@pytest.mark.parametrize("pages", [1, 2, 3])\n'
        "def test_thickness_returns_none(pages):\n"
        "    assert thickness(pages) is None"
    )


def test_long_values_of_one_parameter_have_a_line_each() -> None:
    tests = [thickness(f"test_{page}", lit(f"{page} " * 10), lit(None), "is") for page in ("one", "two", "three")]
    assert text_of(tabulated(tests, SUBJECT)).splitlines()[:3] == [
        "@pytest.mark.parametrize(",
        '    "pages",',
        "    [",
    ]


def test_true_and_false_are_two_cases_of_one_test() -> None:
    tests = [thickness(f"test_{page}", lit(page), lit(page > 1), "is") for page in (1, 2, 3)]
    assert text_of(tabulated(tests, SUBJECT)).splitlines()[-1] == "    assert thickness(pages) is expected"


def test_arguments_of_earlier_calls_are_parameters_as_well() -> None:
    def test(title: str, width: int, room: int) -> FinishedTest:
        statements = (
            Statement(SHELF, args=(lit(width),)),
            Statement(BOOK, args=(lit(title),)),
            Statement(ADD, 0, (Ref(1),)),
            Statement(ROOM, 0),
        )
        return FinishedTest(f"test_{title}", statements, (Observation(3, "", "equal", lit(room)),))

    (joined,) = tabulated([test("a", 10, 9), test("b", 20, 19), test("c", 30, 29)], SUBJECT)
    assert suite_text([joined], SUBJECT, folder=GOLDEN).splitlines()[-6:] == [
        "def test_shelf_room(width, title, expected):",
        "    shelf = Shelf(width)",
        "    book = Book(title)",
        "    shelf.add(book)",
        "",
        "    assert shelf.room == expected",
    ]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (("",), ["expected"]),
        ((".pence",), ["expected"]),
        ((".pence", ".size"), ["expected_pence", "expected_size"]),
        (("", ".size"), ["expected", "expected_size"]),
    ],
)
def test_one_expected_value_is_called_that_and_several_by_their_attributes(
    paths: tuple[str, ...], expected: list[str]
) -> None:
    def test(number: int) -> FinishedTest:
        facts = tuple(Observation(0, path, "equal", lit(number + 10 * at)) for at, path in enumerate(paths, 1))
        return FinishedTest(f"test_{number}", (Statement(THICKNESS, args=(lit(number),)),), facts)

    (joined,) = tabulated([test(number) for number in range(3)], SUBJECT)
    assert list(joined.cases.parameters) == ["pages", *expected]


def test_an_argument_that_is_found_again_is_one_parameter() -> None:
    tests = [thickness(f"test_{page}", lit(page), lit(page), "equal") for page in (1, 2, 3)]
    assert text_of(tabulated(tests, SUBJECT)) == (
        '@pytest.mark.parametrize("pages", [1, 2, 3])\ndef test_thickness(pages):\n    assert thickness(pages) == pages'
    )


def test_of_tests_with_too_many_differences_the_most_similar_are_joined() -> None:
    def test(*numbers: int) -> FinishedTest:
        facts = tuple(Observation(0, f".a{at}", "equal", lit(number)) for at, number in enumerate(numbers))
        return FinishedTest(f"test_{numbers[0]}", (Statement(THICKNESS, args=(lit(0),)),), facts)

    alike = [test(page, page + 10, 7, 7, 7) for page in (1, 2, 3)]
    others = [test(page, page + 10, page + 20, page + 30, page + 40) for page in (4, 5, 6)]
    joined, *rest = tabulated([*alike, *others], SUBJECT)
    assert joined.cases.names == ("test_1", "test_2", "test_3")
    assert [one.name for one in rest] == ["test_4", "test_5", "test_6"]


def test_a_test_of_an_exception_has_cases_if_the_message_is_the_same() -> None:
    def test(page: int, match: str) -> FinishedTest:
        call = Statement(THICKNESS, args=(lit(page),))
        return FinishedTest(f"test_{page}", (call,), (), Name("builtins", "ValueError"), match)

    assert text_of(tabulated([test(page, "too few") for page in (-1, -2, -3)], SUBJECT)) == (
        '@pytest.mark.parametrize("pages", [-1, -2, -3])\n'
        "def test_thickness_raises_value_error(pages):\n"
        '    with pytest.raises(ValueError, match="too few"):\n'
        "        thickness(pages)"
    )
    assert len(tabulated([test(page, f"{page}") for page in (-1, -2, -3)], SUBJECT)) == 3


LIST = Collection("list", (lit(1), lit(2)))

APART: dict[str, list[FinishedTest]] = {
    "too few": of_pages(*range(FEWEST_CASES - 1)),
    "rows too long for a line": of_pages(*("x" * ROW + str(number) for number in range(3))),
    "another kind of check": [
        thickness("test_1", lit(1), lit(1.5), "approx"),
        thickness("test_2", lit(2), lit(2)),
        thickness("test_3", lit(3), lit(None), "is"),
    ],
    "a call with a keyword": [
        *of_pages(1, 2),
        FinishedTest("test_3", (Statement(THICKNESS, kwargs=(("pages", lit(3)),)),), ()),
    ],
    "functions": [thickness(f"test_{n}", Lambda(1, lit(n)), lit(n)) for n in range(3)],
    "iterators are used up by one run": [
        thickness(f"test_{n}", Collection("iter", (lit(n),)), lit(n)) for n in range(3)
    ],
    "objects of their own": [
        FinishedTest(
            f"test_{n}",
            (*(Statement(BOOK, args=(lit(n),)) for _ in range(n + 1)), Statement(THICKNESS, args=(Ref(n),))),
            (),
        )
        for n in range(3)
    ],
    "truth is a part of the assertion": [thickness(f"test_{n}", lit(n), lit(n > 1), "truth") for n in range(3)],
    "printed text": [thickness(f"test_{n}", lit(1), lit(f"{n}\n"), "stdout") for n in range(3)],
}


@pytest.mark.parametrize("tests", APART.values(), ids=APART)
def test_other_tests_stay_as_they_are(tests: list[FinishedTest]) -> None:
    assert tabulated(tests, SUBJECT) == tests


def test_a_table_has_a_limited_number_of_columns() -> None:
    def test(number: int, size: int) -> FinishedTest:
        calls = tuple(Statement(THICKNESS, args=(lit(number + place),)) for place in range(size))
        return FinishedTest(f"test_{number}", calls, ())

    for size, expected in ((MOST_PARAMETERS, 1), (MOST_PARAMETERS + 1, 3)):
        assert len(tabulated([test(10 * number, size) for number in range(3)], SUBJECT)) == expected


def test_a_long_case_stays_alone_and_the_others_are_joined() -> None:
    tests = of_pages(1, "x" * ROW, 2, 3)
    joined = tabulated(tests, SUBJECT)
    assert [len(test.cases.rows) for test in joined] == [3, 0]
    assert joined[1] == tests[1]


def test_a_joined_test_takes_the_place_of_its_first_case() -> None:
    one, two, three = of_pages(1, 2, 3)
    other = FinishedTest("test_other", (Statement(SUMMARY, args=(LIST,)),), ())
    assert [test.name for test in tabulated([other, one, two, other, three], SUBJECT)] == [
        "test_other",
        "test_thickness",
    ]


def test_a_new_name_is_unlike_those_of_other_tests_and_of_the_file() -> None:
    summary = FinishedTest("test_thickness", (Statement(SUMMARY, args=(LIST,)),), ())
    joined = tabulated([*of_pages(1, 2, 3), summary], SUBJECT, taken={"test_thickness_2"})
    assert [test.name for test in joined] == ["test_thickness_3", "test_thickness"]


def test_a_test_loses_the_number_that_told_it_from_a_case() -> None:
    cases = [thickness(f"test_{name}", lit(page), lit(3)) for name, page in (("a", 1), ("a_2", 2), ("b", 3))]
    others = [
        FinishedTest(name, (Statement(SUMMARY),), (Observation(0, "", "equal", lit(name)),))
        for name in ("test_a_3", "test_a_4", "test_c_2")
    ]
    joined = tabulated([*cases, *(replace(one, writes=not number) for number, one in enumerate(others))], SUBJECT)
    assert [(one.name, one.cases.names) for one in joined[1:]] == [
        ("test_a", ("test_a_3",)),
        ("test_a_4", ()),
        ("test_c_2", ()),
    ]


def test_two_tables_of_one_function_have_two_names() -> None:
    again = [replace(test, name=f"{test.name}_b", statements=test.statements * 2) for test in of_pages(1, 2, 3)]
    assert [test.name for test in tabulated([*of_pages(1, 2, 3), *again], SUBJECT)] == [
        "test_thickness",
        "test_thickness_2",
    ]


def test_a_parameter_is_renamed_where_the_file_uses_its_name() -> None:
    parameter = replace(SUBJECT.operations[THICKNESS].parameters[0], name="thickness")
    operations = list(SUBJECT.operations)
    operations[THICKNESS] = replace(operations[THICKNESS], parameters=(parameter,))
    subject = replace(SUBJECT, operations=tuple(operations))
    lines = suite_text(tabulated(of_pages(1, 2, 3), subject), subject, folder=GOLDEN).splitlines()
    assert lines[-2:] == [
        "def test_thickness(thickness_2, expected):",
        "    assert thickness(thickness_2) == expected",
    ]


@pytest.mark.parametrize(
    ("name", "expected"), [("x", "x"), ("l", "value"), ("list", "list_"), ("_pages", "pages"), ("lambda", "lambda_")]
)
def test_a_parameter_has_the_name_of_what_it_is_passed_to(name: str, expected: str) -> None:
    parameter = replace(SUBJECT.operations[THICKNESS].parameters[0], name=name)
    operations = list(SUBJECT.operations)
    operations[THICKNESS] = replace(operations[THICKNESS], parameters=(parameter,))
    subject = replace(SUBJECT, operations=tuple(operations))
    text = suite_text(tabulated(of_pages(1, 2, 3), subject), subject, folder=GOLDEN)
    assert f"def test_thickness({expected}, expected):" in text


def test_a_file_with_tables_passes_and_is_formatted(tmp_path: Path) -> None:
    find = [
        FinishedTest(
            f"test_find_{title}",
            (Statement(SHELF, args=(lit(9),)), Statement(FIND, 0, (lit(title),))),
            (Observation(1, "", "is", lit(None)),),
        )
        for title in ("Emma", "Ulysses", "a ä \N{SNOWMAN} \x00 \ud800 '\" {} %s ::[x]", "")
    ]
    pages = [thickness(f"test_{n}", lit(n), lit(n / 10), "approx") for n in (0, 10, 200)]
    genres = [
        FinishedTest(
            f"test_book_{genre}",
            (Statement(BOOK, args=(lit("Emma"),), kwargs=(("genre", Name(MODULE, f"Genre.{genre}")),)),),
            (Observation(0, ".genre.value", "equal", lit(genre.lower())),),
        )
        for genre in ("NOVEL", "POEM", "NOVEL")
    ]
    file = tmp_path / "test_it.py"
    tests = tabulated([*find, *pages, *genres], SUBJECT)
    file.write_text(suite_text(tests, SUBJECT, folder=tmp_path), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(file)], capture_output=True, text=True, check=False
    )
    assert "10 passed" in done.stdout, done.stdout
    for rules in (["format", "--check"], ["check", "--select", "E4,E7,E9,F,I"]):
        assert_ruff_accepts(file, rules)


def test_tests_whose_cases_do_not_all_pass_are_not_joined() -> None:
    tests = tuple(thickness(f"test_{n}", lit(n), lit(n / 10), "approx") for n in (0, 10, 200))

    def render(chosen: Sequence[FinishedTest]) -> str:
        return suite_text(chosen, SUBJECT, folder=GOLDEN)

    def with_a_wrong_case(chosen: Sequence[FinishedTest]) -> str:
        return render(chosen).replace("(200, 20.0)", "(200, 21.0)")

    assert len(joined_if_passing(tests, SUBJECT, render)) == 1
    assert joined_if_passing(tests, SUBJECT, with_a_wrong_case) == tests
    assert joined_if_passing(tests, SUBJECT, render, deadline=Deadline(0.0, 0.0)) == tests
