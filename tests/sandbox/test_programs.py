"""Programs: an import can start only programs that the user allows."""

from __future__ import annotations

import shutil

import pytest

from fitgym.errors import SubjectError
from fitgym.execution.executor import Executor
from fitgym.sandbox.landlock import landlock_version
from fitgym.sandbox.programs import executables, started
from fitgym.subject.source import locate
from fitgym.testcase.expression import Literal
from fitgym.testcase.statement import Statement, StatementTable


@pytest.mark.parametrize(
    ("args", "name"),
    [
        ((None, ["git", "--version"], None, None), "git"),
        (("/usr/bin/uname", ["uname", "-s"], None, None), "uname"),
        ((None, "uname", None, None), "uname"),
        (("/bin/sh", ["/bin/sh", "-c", "uname -s"], None, None), "uname"),
        (("/bin/sh", ["/bin/sh", "-c", "uname -s; rm x"], None, None), ""),
        (("/bin/sh", ["/bin/sh", "-c", "echo $(ls)"], None, None), ""),
        ((None, [], None, None), ""),
        ((None, 5), ""),
        ((), ""),
    ],
)
def test_the_program_is_known_by_its_name(args, name):
    assert started(args) == name


def test_nothing_can_be_executed_unless_a_program_is_allowed():
    assert executables(()) == executables(("no-such-program",)) == []


def _module(tmp_path, statement):
    (tmp_path / "starts.py").write_text(
        f"import subprocess\nNAME = {statement}\n"
        "def name(x: int):\n    return NAME\n"
        "def again(x: int):\n    return subprocess.check_output(['uname'])\n"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "subprocess.check_output(['uname', '-s'], text=True)",
        "subprocess.check_output('uname -s', shell=True, text=True)",
        "__import__('os').popen('uname -s').read()",
    ],
)
@pytest.mark.skipif(not shutil.which("uname"), reason="there is no uname")
def test_an_import_starts_what_is_allowed(tmp_path, statement):
    _module(tmp_path, statement)
    with Executor(locate("starts", tmp_path, "git, uname")) as executor:
        subject = executor.subject
        table = StatementTable()
        by_name = {one.name: one.id for one in subject.operations}
        tests = [table.testcase([Statement(by_name[name], args=(Literal("1"),))]) for name in ("name", "again")]
        assert [trace.failure for trace in executor.run(tests, table)] == ["", "blocked"]


def test_what_is_not_allowed_is_refused_with_what_to_do(tmp_path):
    _module(tmp_path, "subprocess.check_output(['uname', '-s'], text=True)")
    with Executor(locate("starts", tmp_path, "git")) as executor, pytest.raises(SubjectError, match="--programs uname"):
        _ = executor.subject


@pytest.mark.skipif(landlock_version() < 1, reason="this kernel has no Landlock")
def test_a_program_is_confined_as_the_import_is(tmp_path):
    target = tmp_path / "target"
    _module(tmp_path, f"subprocess.run(['touch', {str(target)!r}]).returncode")
    with Executor(locate("starts", tmp_path, "touch")) as executor:
        assert executor.subject.operations
    assert not target.exists()


def test_a_refusal_that_the_module_swallows_is_named_too(tmp_path):
    (tmp_path / "wraps.py").write_text(
        "import subprocess\n"
        "try:\n    subprocess.check_output(['uname'])\n"
        "except Exception:\n    raise ImportError('no uname') from None\n"
    )
    with (
        Executor(locate("wraps", tmp_path)) as executor,
        pytest.raises(SubjectError, match=r"no uname.*--programs uname"),
    ):
        _ = executor.subject
