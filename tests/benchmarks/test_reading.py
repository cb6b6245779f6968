"""Tests that are read one by one: how they are drawn from a file, and how verdicts are summarised."""

import sys
import textwrap
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from reading import Suite, Verdict, read, table, write

TEXT = textwrap.dedent(
    """
    import pytest

    def helper():
        return 1

    def test_one():
        assert helper() == 1

    @pytest.mark.parametrize("a", [1, 2])
    def test_two(a):
        assert a
    """
)


def test_the_tests_of_a_file_are_found_with_their_decorators() -> None:
    tests = Suite("shop", "shop.py", TEXT).tests()
    assert list(tests) == ["test_one", "test_two"]
    assert tests["test_two"].startswith('@pytest.mark.parametrize("a", [1, 2])\ndef test_two(a):')


@pytest.mark.parametrize(("verdict", "reason"), [("", "clear"), ("good", "clear"), ("keep", " ")])
def test_a_test_without_a_verdict_and_a_reason_is_refused(verdict: str, reason: str, tmp_path: Path) -> None:
    write(tmp_path / "verdicts.csv", [Verdict(1, "shop", "test_one", verdict, reason)])
    with pytest.raises(ValueError, match="test 1 needs a verdict"):
        read(tmp_path / "verdicts.csv")


def test_the_table_counts_verdicts_and_names_reasons(tmp_path: Path) -> None:
    verdicts = [
        Verdict(1, "shop", "test_one", "keep", "It checks the price, with tax."),
        Verdict(2, "shop", "test_two", "edit", "Use a | in the name."),
        Verdict(3, "till", "test_sum", "keep", "Clear."),
        Verdict(4, "till", "test_all", "delete", "It repeats the sum."),
    ]
    write(tmp_path / "verdicts.csv", verdicts)
    assert read(tmp_path / "verdicts.csv") == verdicts
    text = table(verdicts)
    assert text.startswith("# 4 tests of 2 packages")
    assert "Kept 2 (50%, 95 % interval 15% to 85%), edited 1, deleted 1." in text
    assert "| 2 | `shop` | `test_two` | edit | Use a \\| in the name. |" in text
