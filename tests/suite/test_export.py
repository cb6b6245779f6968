"""The exported file: compared with a golden text, run as a program, and accepted by formatters."""

from __future__ import annotations

import ast
import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ruff_accepts import assert_ruff_accepts
from shelf_subject import GOLDEN, LEN, ROOM, SHELF, SUBJECT, SUITE, SUMMARY, finished, operation, parameter, text

from fitgym.messages.observation import Observation, ObservationKind
from fitgym.subject.subject import Reference, Subject
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.messages import pattern
from fitgym.suite.text import place
from fitgym.suite.text.dialects import DIALECTS, WIDTH, Dialect, Unittest
from fitgym.suite.text.export import arranged, export, file_name, suite_text, write
from fitgym.testcase.expression import Collection, Expression, Literal, Name, Ref
from fitgym.testcase.statement import Statement

COMMAND = "fitgym generate shelf --goal coverage --seed 0"
GOLDEN_FILE = GOLDEN / "suite_of_shelf.py"
UNITTEST_FILE = GOLDEN / "unittest_suite_of_shelf.py"


def golden_text() -> str:
    return suite_text(finished(), SUBJECT, folder=GOLDEN, command=COMMAND)


def test_the_suite_of_the_shelf_is_the_golden_one() -> None:
    text = golden_text()
    if os.environ.get("FITGYM_WRITE_GOLDEN"):  # after a wanted change; read the difference before committing it
        GOLDEN_FILE.write_text(text, encoding="utf-8")
    assert text == GOLDEN_FILE.read_text(encoding="utf-8")


def test_the_golden_suite_passes_where_fitgym_is_not_installed(tmp_path: Path) -> None:
    blocked = "import sys; sys.modules['fitgym'] = None; import pytest; sys.exit(pytest.main(sys.argv[1:]))"
    done = subprocess.run(
        [sys.executable, "-c", blocked, "-q", "-p", "no:cacheprovider", "--rootdir", str(tmp_path), str(GOLDEN_FILE)],
        cwd=tmp_path,
        env=os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # fitgym has one, as long as it is installed
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout
    assert f"{len(SUITE)} passed" in done.stdout


@pytest.mark.parametrize("rules", [["check"], ["check", "--select", "E4,E7,E9,F,I"], ["format", "--check"]])
@pytest.mark.parametrize("file", [GOLDEN_FILE, UNITTEST_FILE], ids=["pytest", "unittest"])
def test_the_golden_suites_pass_ruff(file: Path, rules: list[str]) -> None:
    assert_ruff_accepts(file, rules)


def test_the_unittest_suite_of_the_shelf_is_the_golden_one() -> None:
    text = suite_text(finished(), SUBJECT, folder=GOLDEN, command=f"{COMMAND} --format unittest", dialect=Unittest())
    if os.environ.get("FITGYM_WRITE_GOLDEN"):
        UNITTEST_FILE.write_text(text, encoding="utf-8")
    assert text == UNITTEST_FILE.read_text(encoding="utf-8")


def test_the_unittest_suite_passes_without_pytest(tmp_path: Path) -> None:
    blocked = "import sys; sys.modules['pytest'] = sys.modules['fitgym'] = None; import unittest; unittest.main(None)"
    done = subprocess.run(
        [sys.executable, "-c", blocked, "discover", "-s", str(GOLDEN), "-p", UNITTEST_FILE.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert f"Ran {len(SUITE)} tests" in done.stderr


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_a_suite_of_writing_tests_passes_ruff(tmp_path: Path, dialect: Dialect) -> None:
    file = tmp_path / "test_it.py"
    export([replace(test, writes=True) for test in finished()], SUBJECT, file, dialect=dialect)
    tmp_path.joinpath("shelf.py").touch()
    for rules in (["format", "--check"], ["check", "--select", "E4,E7,E9,F,I"]):
        assert_ruff_accepts(file, rules)


def body_of(*statements: Statement, facts: tuple[Observation, ...], **more: Any) -> list[str]:
    """The lines of a test's body."""
    test = FinishedTest("test_it", statements, facts, **more)
    lines = suite_text([test], SUBJECT, folder=GOLDEN).splitlines()
    return [line[4:] for line in lines[lines.index("def test_it():") + 1 :]]


NEW = Statement(SHELF, args=(text(1),))
TRUE, FALSE = Literal("True"), Literal("False")


@pytest.mark.parametrize(
    ("operator", "expression", "expected"),
    [
        ("__eq__", TRUE, "assert shelf == 1"),
        ("__eq__", FALSE, "assert not result"),
        ("__lt__", FALSE, "assert not shelf < 1"),
        ("__contains__", TRUE, "assert 1 in shelf"),
        ("__contains__", FALSE, "assert 1 not in shelf"),
        ("__add__", text(3), "assert shelf + 1 == 3"),
    ],
)
def test_a_comparison_is_asserted_as_it_is(operator: str, expression: Literal, expected: str) -> None:
    operations = (*SUBJECT.operations, operation(12, "operator", f"Shelf.{operator}", operator=operator))
    orders = operator in ("__eq__", "__lt__")
    kind: Any = "equal" if expression not in (TRUE, FALSE) else "truth" if orders else "is"
    test = FinishedTest("test_it", (NEW, Statement(12, 0, (text(1),))), (Observation(1, "", kind, expression),))
    assert suite_text([test], replace(SUBJECT, operations=operations)).splitlines()[-1] == f"    {expected}"


def test_what_is_compared_with_itself_has_two_names_and_no_more() -> None:
    operations = (*SUBJECT.operations, operation(12, "operator", "Shelf.__le__", operator="__le__"))
    test = FinishedTest("test_it", (NEW, Statement(12, 0, (Ref(0),))), (Observation(1, "", "is", TRUE),))
    lines = suite_text([test], replace(SUBJECT, operations=operations)).splitlines()
    assert lines[-4:] == ["    shelf = Shelf(1)", "    same = shelf", "", "    assert shelf <= same"]


def test_the_only_check_is_made_where_the_call_is() -> None:
    zero = Observation(1, "", "equal", text(0))
    assert body_of(NEW, Statement(LEN, 0), facts=(zero,)) == ["shelf = Shelf(1)", "assert len(shelf) == 0"]


def test_with_more_to_check_arranging_acting_and_asserting_stand_apart() -> None:
    facts = (Observation(0, ".width", "equal", text(1)), Observation(1, "", "equal", text(0)))
    assert body_of(NEW, Statement(LEN, 0), facts=facts) == [
        "shelf = Shelf(1)",
        "",
        "length = len(shelf)",
        "",
        "assert shelf.width == 1",
        "assert length == 0",
    ]


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("", "pytest.raises(ShelfError):"),
        ("it is full", 'pytest.raises(ShelfError, match="it is full"):'),
        (r"full \(1\)", 'pytest.raises(ShelfError, match=r"full \\(1\\)"):'),
        (r'no "\+"', "pytest.raises(ShelfError, match=r'no \"\\+\"'):"),
        ('it\'s "\\+"', "pytest.raises(ShelfError, match='it\\'s \"\\\\+\"'):"),
    ],
)
def test_an_exception_is_expected_with_what_it_says(match: str, expected: str) -> None:
    body = body_of(NEW, Statement(LEN, 0), facts=(), raises=Name("shelf", "ShelfError"), match=match)
    assert body == ["shelf = Shelf(1)", "", f"with {expected}", "    len(shelf)"]


def test_tests_are_arranged_by_what_they_test_and_headed_where_there_are_many() -> None:
    length, room, refused = (
        FinishedTest("test_len", (NEW, Statement(LEN, 0)), (Observation(1, "", "equal", text(0)),)),
        FinishedTest("test_room", (NEW, Statement(ROOM, 0)), (Observation(1, "", "equal", text(0)),)),
        FinishedTest("test_room_fails", (NEW, Statement(ROOM, 0)), (), Name("builtins", "KeyError")),
    )
    assert arranged([refused, length, room], SUBJECT) == [room, refused, length]
    assert "# " not in suite_text([room, refused, length], SUBJECT, folder=GOLDEN)
    lines = suite_text([room, refused, length, replace(length, name="test_len_2")], SUBJECT, folder=GOLDEN).splitlines()
    assert [line for line in lines if line.startswith(("# ", "def "))] == [
        "# Shelf.room",
        "def test_room():",
        "def test_room_fails():",
        "# Shelf.__len__",
        "def test_len():",
        "def test_len_2():",
    ]


def test_a_test_that_writes_files_does_so_in_a_folder_of_its_own(tmp_path: Path) -> None:
    plain, writing = finished()[0], replace(finished()[0], name="test_" + "w" * 55, writes=True)
    file = tmp_path / "test_it.py"
    lines = export([plain, writing], SUBJECT, file).splitlines()
    start = lines.index(f"def {writing.name}(tmp_path, monkeypatch):")
    assert lines[start + 1] == "    monkeypatch.chdir(tmp_path)"
    assert lines.count("    monkeypatch.chdir(tmp_path)") == 1
    assert f"def {plain.name}():" in lines
    assert_ruff_accepts(file, ["format", "--check"])


def test_the_text_does_not_depend_on_the_hash_seed() -> None:
    program = "import sys; sys.path[:0] = sys.argv[1:]; from test_export import golden_text; print(golden_text())"
    texts = [
        subprocess.run(
            [sys.executable, "-c", program, str(Path(__file__).parent), str(GOLDEN.parent / "support")],
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(GOLDEN.parent.parent)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert texts[0] == texts[1] == golden_text() + "\n"


LONG = ("one two, " * 30, "x" * 300, "line\n" * 40, "\u2028" * 60 + "\n" + "'\"" * 50, "{'a': 1}, " * 20)


@pytest.mark.parametrize("kind", ["equal", "stdout"])
@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
@pytest.mark.parametrize("long", LONG, ids=range(len(LONG)))
def test_a_long_text_is_compared_piece_by_piece(long: str, dialect: Dialect, kind: ObservationKind) -> None:
    test = FinishedTest("test_x", (Statement(SUMMARY),), (Observation(0, "", kind, text(long)),))
    code = suite_text([test], SUBJECT, dialect=dialect)
    assert max(map(len, code.splitlines())) <= WIDTH
    texts = [node.value for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Constant)]
    assert long in texts


# Random suites against the formatter


def word(rng: random.Random) -> str:
    letters = "abcdefghijklmnopqrstuvwxyz      _\"'\\\n\tÄ中\u0301"
    return "".join(rng.choices(letters, k=rng.choice([0, 1, 5, 12, 30, 60, 90, 300])))


def expression(rng: random.Random, depth: int) -> Expression:
    kind = rng.choice(["text", "number", "float", "bytes", "constant", "list", "tuple", "set", "dict", "frozenset"])
    if depth == 0 or kind in ("text", "number", "float", "bytes", "constant"):
        values: dict[str, object] = {
            "text": word(rng),
            "number": rng.randrange(-(10**9), 10**9),
            "float": rng.choice([0.5, -1e300, 1e-7, 123456.789]),
            "bytes": word(rng).encode(),
            "constant": rng.choice([None, True]),
        }
        return text(values.get(kind, 7))
    items = tuple(expression(rng, depth - 1) for _ in range(rng.choice([0, 1, 2, 5])))
    if kind == "dict":
        keys = [text(f"{rng.randrange(100)}{word(rng)[:20]}") for _ in items]
        return Collection("dict", tuple(part for pair in zip(keys, items, strict=True) for part in pair))
    return Collection(kind, items)  # type: ignore[arg-type]


def random_test(rng: random.Random, number: int) -> FinishedTest:
    arguments = tuple(expression(rng, 2) for _ in range(rng.randrange(4)))
    keywords = tuple(
        (name, expression(rng, 1)) for name in ("limit", "a_longer_name_for_an_option")[: rng.randrange(3)]
    )
    statements = (Statement(SHELF, args=(text(1.0),)), Statement(SUMMARY, args=arguments, kwargs=keywords))
    path = rng.choice(["", ".name", "[0]", "['key']", ".a_rather_long_name_of_an_attribute"])
    facts = (
        Observation(1, path, "equal", Collection("list", (expression(rng, 2), expression(rng, 1)))),
        Observation(1, path, "equal", text(word(rng))),
        Observation(1, path, "approx", Collection("list", tuple(text(rng.random()) for _ in range(rng.randrange(8))))),
        Observation(1, path, "length", text(10 ** rng.randrange(50))),
        Observation(1, path, "text", text(word(rng))),
        Observation(1, path, "list", Collection("list", (expression(rng, 1),))),
        Observation(1, path, "isinstance", Name("some_package.some_module", f"Some{'Very' * rng.randrange(12)}Class")),
        Observation(1, path, "is", Name("shelf", "Genre.NOVEL")),
        Observation(1, path, "nan", Literal('float("nan")')),
        Observation(1, "", "is", Ref(0)),
    )
    chosen = tuple(rng.sample(facts, rng.randrange(6)))
    if rng.random() < 0.2:
        error = Name("shelf", f"Some{'Very' * rng.randrange(15)}Error")
        return FinishedTest(f"test_{number}", statements, (), error, pattern(word(rng)))
    if rng.random() < 0.2:  # the one fact that is checked where the call is made
        chosen = (rng.choice([fact for fact in facts if fact.position])._replace(path=""),)
    return FinishedTest(f"test_{number}", statements, chosen)


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=DIALECTS)
def test_the_formatter_would_change_nothing_in_random_suites(tmp_path: Path, dialect: Dialect) -> None:
    rng = random.Random(3)
    tmp_path.joinpath("shelf.py").touch()  # what stands beside a file is first party for ruff
    file = tmp_path / "test_random.py"
    tests = [random_test(rng, number) for number in range(400)]
    file.write_text(suite_text(tests, SUBJECT, dialect=dialect), encoding="utf-8")
    assert_ruff_accepts(file, ["format", "--check"])
    assert_ruff_accepts(file, ["check", "--select", "E4,E7,E9,F,I"])


# Imports


def subject_in(folder: Path, module: str, *, search_path: tuple[str, ...] | None = None) -> Subject:
    path = str(folder.joinpath(*module.split("."))) + ".py"
    reference = Reference(module, module, path, "", (str(folder),) if search_path is None else search_path)
    run = replace(operation(0, "function", "run", parameter("x")), module=module)
    return Subject(reference, "", (), (), (), (), (run,), {})


CALL = FinishedTest("test_run", (Statement(0, args=(text(1),)),))


def code_of(suite: str) -> str:
    return suite.split('"""\n', 2)[-1].strip("\n")


def test_a_subject_elsewhere_is_found_by_a_relative_way(tmp_path: Path) -> None:
    code = code_of(suite_text([CALL], subject_in(tmp_path / "src", "shelf"), folder=tmp_path / "tests" / "made"))
    assert code.splitlines()[:6] == [
        "import os",
        "import sys",
        "",
        'sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../src"))',
        "",
        "from shelf import run",
    ]


def test_the_way_to_the_subject_passes_ruff_however_long_it_is(tmp_path: Path) -> None:
    for length in range(1, 80):
        subject = subject_in(tmp_path / ("s" * length), "shelf")
        export([CALL], subject, tmp_path / f"tests_{length}" / "test_it.py")
    for rules in (["format", "--check"], ["check", "--select", "E4,E7,E9,F,I"]):
        assert_ruff_accepts(tmp_path, rules)


def test_a_subject_without_a_folder_says_what_has_to_be_on_the_path(tmp_path: Path) -> None:
    code = code_of(suite_text([CALL], subject_in(tmp_path, "shelf")))
    assert code.splitlines()[:3] == [
        "# The folder of `shelf` has to be on PYTHONPATH.",
        "",
        "from shelf import run",
    ]


def test_a_subject_of_the_standard_library_is_imported_plainly() -> None:
    subject = subject_in(Path(os.__file__).parent, "textwrap", search_path=(os.getcwd(),))
    assert code_of(suite_text([CALL], subject, folder="/anywhere")).splitlines()[0] == "from textwrap import run"


def test_a_module_in_a_package_is_found_from_the_folder_of_the_package(tmp_path: Path) -> None:
    reference = subject_in(tmp_path, "outer.inner.leaf").reference
    assert place.import_root(reference) == str(tmp_path)


def test_a_package_is_found_from_the_folder_around_it(tmp_path: Path) -> None:
    reference = Reference("outer", "outer", str(tmp_path / "outer" / "__init__.py"), "", (str(tmp_path),))
    assert place.import_root(reference) == str(tmp_path)


def test_no_local_path_and_no_time_is_in_the_text(tmp_path: Path) -> None:
    file = tmp_path / "shelf.py"
    reference = Reference(f"{file}:Shelf", "shelf", str(file), "Shelf", (str(tmp_path),))
    subject = Subject(reference, "", (), (), (), (), SUBJECT.operations, {})
    suite = suite_text([], subject, folder=tmp_path, command=f"fitgym generate {file}:Shelf --seed 1")
    assert str(tmp_path) not in suite
    assert "fitgym generate shelf.py:Shelf --seed 1" in suite


def test_backslashes_and_quotes_in_the_command_stay_inside_the_docstring() -> None:
    suite = suite_text([], SUBJECT, command='fitgym generate a\\b """ "')
    namespace: dict[str, object] = {}
    exec(suite, namespace)
    assert 'fitgym generate a\\b """ "' in str(namespace["__doc__"])


# Writing


def test_a_file_is_written_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "test_shelf.py"
    assert export([], SUBJECT, path, command=COMMAND) == path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o777 == 0o666 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_a_failed_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "test_shelf.py"
    path.write_text("old")

    def fail(*args: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write("new", path)
    assert (path.read_text(), list(tmp_path.iterdir())) == ("old", [path])


@pytest.mark.parametrize(
    ("module", "class_name", "expected"),
    [
        ("textwrap", "", "test_textwrap.py"),
        ("codetiming._timer", "Timer", "test_codetiming_timer_timer.py"),
        ("a.b", "Outer.Inner", "test_a_b_outer_inner.py"),
    ],
)
def test_a_file_is_named_after_its_subject(module: str, class_name: str, expected: str) -> None:
    assert file_name(module, class_name) == expected
