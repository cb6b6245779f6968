"""The report as data: lines, marks, mutants, and the contribution of each test."""

from __future__ import annotations

from pathlib import Path

import pytest
from sample_project import TILL, make, record

from fitgym.project.layout import find
from fitgym.project.report.report import Growth, Report, ReportedModule, _functions, _starts, report


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Report:
    root = make(tmp_path_factory.mktemp("sample"))
    record(root)
    return report(find(str(root)))


@pytest.fixture(scope="module")
def till(sample: Report) -> ReportedModule:
    return sample.modules[1]


def test_modules_have_coverage_before_and_after_and_mutants(sample: Report) -> None:
    idle, till = sample.modules
    assert (idle.name, idle.path, till.path) == ("shop.idle", "src/shop/idle.py", "src/shop/till.py")
    assert (till.branches, till.statements, till.mutants) == (Growth(3, 6, 6), Growth(9, 13, 14), Growth(None, 2, 3))
    assert (idle.branches, idle.statements, idle.mutants) == (Growth(0, 0, 0), Growth(0, 0, 2), None)
    assert sample.title == "shop"


def test_totals_are_of_the_modules_where_the_quantity_is_known(sample: Report) -> None:
    assert sample.total("statements") == Growth(9, 13, 16)
    assert sample.total("mutants") == Growth(None, 2, 3)
    assert Report("none", (), (), ()).total("mutants") is None


def test_lines_say_who_covers_them(till: ReportedModule) -> None:
    marks = {line.number: line.mark for line in till.lines}
    assert len(marks) == len(TILL.split("\n"))
    assert (marks[1], marks[2], marks[3], marks[12]) == ("", "", "existing", "existing")
    assert (marks[19], marks[20], marks[24], marks[25]) == ("generated", "generated", "existing", "missed")


def test_the_further_lines_of_a_statement_have_its_mark(till: ReportedModule) -> None:
    assert [till.lines[number - 1].mark for number in (9, 10, 11, 12)] == ["generated"] * 3 + ["existing"]


def test_the_tests_of_a_line_come_with_the_most_specific_first(sample: Report, till: ReportedModule) -> None:
    names = [sample.tests[number].name for number in till.lines[7].tests]
    assert names == ["test_total_raises_value_error", "test_total", "TestDiscount::test_is_taken_off"]
    assert till.lines[2].tests == ()  # runs at import


def test_mutants_stand_at_their_lines_with_the_test_that_kills_them(sample: Report, till: ReportedModule) -> None:
    ((mutant, number),) = till.lines[20].killed
    assert number is not None
    assert (mutant.replacement, sample.tests[number].name) == ("+", "test_change_2_1_returns_1")
    assert [one.replacement for one in till.lines[18].survivors] == ["<="]


def test_what_only_one_test_does_is_what_it_adds(sample: Report, till: ReportedModule) -> None:
    added = {sample.tests[one.test].name: (one.lines, one.branches, one.mutants) for one in till.additions}
    assert added == {
        "test_total": (0, 0, 0),
        "TestDiscount::test_is_taken_off": (0, 0, 0),
        "test_change_2_1_returns_1": (1, 1, 1),
        "test_change_1_2_returns_none": (1, 1, 1),
        "test_total_raises_value_error": (1, 1, 0),
    }
    assert [one.empty for one in till.additions] == [False, False, False, True, True]


def test_a_branch_that_no_test_takes_is_told_at_its_line(tmp_path: Path) -> None:
    found = report(find(str(make(tmp_path, tests__generated__test_shop_till_py=""))))
    lines = found.modules[1].lines
    assert lines[7].untaken == ("line 9",)
    assert lines[18].untaken == ()  # the line itself is not covered
    assert "No record" in found.modules[1].record.problem


def test_a_branch_to_the_end_of_a_function_is_told_in_words(tmp_path: Path) -> None:
    source = "def f(x):\n    if x:\n        print(x)\n"
    test = "from shop.till import f\n\ndef test_f():\n    f(1)\n"
    root = make(tmp_path, src__shop__till_py=source, tests__test_till_py=test, tests__generated__test_shop_till_py="")
    assert report(find(str(root))).modules[1].lines[1].untaken == ("the end of the function",)


def test_kills_of_a_test_that_is_gone_have_no_test(tmp_path: Path) -> None:
    record(make(tmp_path), suite_path="tests/generated/test_of_old.py")
    till = report(find(str(tmp_path))).modules[1]
    assert [number for _, number in till.lines[20].killed] == [None]


def test_the_path_of_a_suite_may_be_its_name_alone(tmp_path: Path) -> None:
    record(make(tmp_path), suite_path="test_shop_till.py")
    till = report(find(str(tmp_path))).modules[1]
    assert None not in [number for _, number in till.lines[20].killed]


def test_tests_have_their_source(sample: Report) -> None:
    parametrized, method = sample.tests[:2]
    assert parametrized.source.startswith('@pytest.mark.parametrize("prices", [[1], [1, 2]])\ndef test_total(prices):')
    assert method.source == "def test_is_taken_off(self):\n    assert total([3], 1) == 2"
    assert (method.file, method.line) == ("tests/test_till.py", 12)


def test_a_module_that_is_not_python_is_listed_with_its_reason(tmp_path: Path) -> None:
    found = report(find(str(make(tmp_path, src__shop__idle_py="def broken(:\n"))))
    idle = found.modules[0]
    assert idle.statements is None and "not valid Python" in idle.record.problem
    assert found.total("statements") == Growth(9, 13, 14)


def test_failed_tests_are_listed(tmp_path: Path) -> None:
    found = report(find(str(make(tmp_path, tests__test_a_py="def test_a():\n    assert 0\n"))))
    assert [found.tests[number].name for number in found.failed] == ["test_a"]


STATEMENTS = """x = [
    1,
]
@decorator(
    1,
)
def f(
    a,
):
    # a comment
    match a:
        case 1:
            return (
                1
            )
"""


def test_lines_belong_to_the_innermost_statement_and_comments_to_none() -> None:
    found = _starts(STATEMENTS, frozenset({1, 4, 7, 11, 12, 13}))
    assert found == {2: 1, 3: 1, 8: 7, 9: 7, 14: 13, 15: 13}


@pytest.mark.parametrize("source", ["def broken(:", "\x00", "", "x = 1"])
def test_a_file_without_functions_has_none(source: str) -> None:
    assert list(_functions(source)) == []
