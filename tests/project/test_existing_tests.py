"""Existing tests run once under probes: their coverage, their kills, and failures."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from fitgym.engine.existing import Existing
from fitgym.errors import InputError
from fitgym.fitness.base import Fitness
from fitgym.fitness.branch import Branch
from fitgym.fitness.exception import ExceptionCount
from fitgym.fitness.line import Line
from fitgym.project.existing.measurement import ExistingTests, measure, measure_one, places
from fitgym.project.existing.probes import Probed
from fitgym.project.layout import find
from fitgym.subject.source import locate
from fitgym.subject.subject import Subject

CONFIGURATION = '[tool.pytest.ini_options]\ntestpaths = ["tests"]\npythonpath = ["src"]\n'

PRICES = """
def discount(total, member):
    if total < 0:
        raise ValueError("total is negative")
    if member and total >= 1000:
        return total // 10
    return 0


def label(cents):
    if cents == 0:
        return "free"
    return str(cents)
"""


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """Writes a project with a module `shop.prices` and the given tests; keywords are further files."""

    def write(tests: str = "", **files: str) -> Path:
        texts = {
            "pyproject.toml": CONFIGURATION,
            "src/shop/__init__.py": "",
            "src/shop/prices.py": PRICES,
            "tests/test_prices.py": tests,
            **{name.replace("__", "/").replace("_py", ".py"): text for name, text in files.items()},
        }
        for name, text in texts.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        return tmp_path

    return write


def measured(root: Path, **options: object) -> ExistingTests:
    options.setdefault("mutants_s", 0)
    return measure(find(str(root)), **options)  # type: ignore[arg-type]


def subject(root: Path, module: str = "shop.prices") -> Subject:
    return Probed(locate(module, root / "src"), []).subject()


def covered(root: Path, existing: Existing, function: type[Fitness] = Branch) -> list[object]:
    """The keys of the covered targets of a fitness function."""
    fitness = function(subject(root))
    mask = existing.covered(fitness)
    return [target.key for target, yes in zip(fitness.targets, mask, strict=True) if yes]


def lines(root: Path, existing: Existing) -> list[object]:
    return [key[-1] for key in covered(root, existing, Line)]  # type: ignore[index]


IMPORT = "import pytest, unittest\nfrom shop.prices import discount, label\n"
MEMBER = IMPORT + "\n\ndef test_member():\n    assert discount(2000, True) == 200\n"


def test_branches_of_the_existing_tests_are_known(project: Callable[..., Path]) -> None:
    root = project(MEMBER)
    found = measured(root)
    assert (found.passed, found.failed, found.skipped, found.notes) == (1, 0, 0, ())
    existing = found.modules["shop.prices"]
    names = {(key[0], key[-1]) for key in covered(root, existing)}  # type: ignore[index]
    assert ("discount", "entered") in names and ("label", "entered") not in names
    assert existing.tests == 1
    assert tuple(found.traces["shop.prices"]) == ("tests/test_prices.py::test_member",)


def test_lines_are_those_that_ran(project: Callable[..., Path]) -> None:
    root = project(MEMBER)
    reached = lines(root, measured(root).modules["shop.prices"])
    assert 6 in reached and 4 not in reached and 12 not in reached


def test_an_exception_that_a_test_expects_is_covered_and_ends_its_block(project: Callable[..., Path]) -> None:
    root = project(
        IMPORT
        + "\n\ndef test_it():\n    with pytest.raises(ValueError):\n        discount(-1, True)\n"
        + "\n\nclass TestIt(unittest.TestCase):\n    def test_it(self):\n"
        + "        with self.assertRaises(TypeError):\n            discount('', True)\n"
    )
    existing = measured(root).modules["shop.prices"]
    kinds = [key[:2] for key in covered(root, existing, ExceptionCount)]  # type: ignore[index]
    assert sorted(kinds) == [("TypeError", "discount"), ("ValueError", "discount")]
    assert 5 not in lines(root, existing)


def test_failing_skipped_and_expected_failures_do_not_count(project: Callable[..., Path]) -> None:
    root = project(
        IMPORT
        + "\n\ndef test_wrong():\n    assert label(0) == 'x'\n"
        + "\n\n@pytest.mark.xfail\ndef test_known():\n    assert label(0) == 'x'\n"
        + "\n\ndef test_skipped():\n    label(0)\n    pytest.skip('no')\n"
    )
    found = measured(root)
    assert (found.passed, found.failed, found.skipped) == (0, 1, 2)
    assert found.notes == (
        "existing tests: 1 test fails and does not count, such as 'tests/test_prices.py::test_wrong'",
    )
    assert found.modules["shop.prices"].tests == 0
    assert "label" not in [key[0] for key in covered(root, found.modules["shop.prices"])]  # type: ignore[index]


def test_a_test_whose_fixture_fails_afterwards_does_not_count(project: Callable[..., Path]) -> None:
    root = project(
        IMPORT
        + "\n\n@pytest.fixture\ndef bad():\n    yield\n    raise RuntimeError\n"
        + "\n\ndef test_it(bad):\n    label(0)\n"
    )
    found = measured(root)
    assert (found.passed, found.failed) == (0, 1)


def test_modules_that_conftest_and_other_modules_import_are_measured(project: Callable[..., Path]) -> None:
    root = project(
        "def test_it(till):\n    assert till(2000) == 1800\n",
        src__shop__till_py="from shop import prices\n\n\ndef pay(total):\n"
        "    return total - prices.discount(total, True)\n",
        tests__conftest_py="import pytest\nfrom shop.till import pay\n\n\n"
        "@pytest.fixture\ndef till():\n    return pay\n",
    )
    found = measured(root)
    assert {name: one.tests for name, one in found.modules.items()} == {"shop.prices": 1, "shop.till": 1}


def test_a_module_that_is_imported_inside_a_test_is_measured_and_mutated(project: Callable[..., Path]) -> None:
    root = project(
        "def test_it():\n    from shop.prices import label\n    assert label(0) == 'free'\n    assert label(5) == '5'\n"
    )
    existing = measured(root, mutants_s=30).modules["shop.prices"]
    assert existing.tests == 1 and existing.killed


def test_an_exception_that_another_module_catches_ends_its_block(project: Callable[..., Path]) -> None:
    root = project(
        "from shop.safe import safely\n\n\ndef test_it():\n    assert safely(-1) is None\n",
        src__shop__safe_py="from shop.prices import discount\n\n\ndef safely(total):\n    try:\n"
        "        return discount(total, True)\n    except ValueError:\n        return None\n",
    )
    assert 5 not in lines(root, measured(root).modules["shop.prices"])


def test_killed_mutants_are_those_that_make_a_test_fail(project: Callable[..., Path]) -> None:
    root = project(IMPORT + "\n\ndef test_free():\n    assert label(0) == 'free'\n")
    found = measured(root, mutants_s=60)
    existing = found.modules["shop.prices"]
    by_id = {mutant.id: mutant for mutant in subject(root).mutants}
    assert existing.killed and {by_id[name].line for name in existing.killed} <= {11, 12}
    survivors = [mutant for mutant in by_id.values() if mutant.line == 13]
    assert survivors and not existing.killed & {mutant.id for mutant in survivors}
    assert measured(root, mutants_s=60).modules["shop.prices"].killed == existing.killed


def test_a_test_that_asserts_nothing_kills_nothing_but_what_raises(project: Callable[..., Path]) -> None:
    root = project(IMPORT + "\n\ndef test_free():\n    label(0)\n")
    assert measured(root, mutants_s=30).modules["shop.prices"].killed == frozenset()


def test_an_endless_mutant_is_killed_and_ends(project: Callable[..., Path]) -> None:
    root = project(
        "from shop.count import down\n\n\ndef test_it():\n    down(3)\n",
        src__shop__count_py="def down(n):\n    while n > 0:\n        n = n - 1\n    return n\n",
    )
    existing = measured(root, mutants_s=60).modules["shop.count"]
    by_id = {mutant.id: mutant for mutant in subject(root, "shop.count").mutants}
    assert any(by_id[name].text in ("n + 1", "n - 0", "n") or by_id[name].line == 3 for name in existing.killed)


def test_a_test_that_needs_another_one_before_it_kills_nothing(project: Callable[..., Path]) -> None:
    root = project(
        IMPORT
        + "\nstate = []\n\n\ndef test_first():\n    state.append(1)\n"
        + "\n\ndef test_second():\n    assert state\n    label(0)\n"
    )
    found = measured(root, mutants_s=30)
    assert found.passed == 2
    assert found.modules["shop.prices"].killed == frozenset()


def test_a_test_that_ends_the_process_stops_the_measurement_with_a_note(project: Callable[..., Path]) -> None:
    root = project(MEMBER + "\n\ndef test_zz():\n    import os\n    os._exit(3)\n")
    found = measured(root)
    assert found.passed == 1 and found.modules["shop.prices"].tests == 1
    assert found.notes == ("existing tests: the process ended after 1 of 2 tests",)


def test_a_test_that_hangs_is_stopped_and_those_before_it_count(project: Callable[..., Path]) -> None:
    root = project(MEMBER + "\n\ndef test_zz():\n    import time\n    time.sleep(600)\n")
    found = measured(root, limit_s=1.0)
    assert found.passed == 1
    assert found.notes == ("existing tests: 1 of 2 ran in time; the others do not count",)


def test_a_file_that_cannot_be_imported_is_left_out_with_a_note(project: Callable[..., Path]) -> None:
    root = project(MEMBER, tests__test_other_py="import no_such_module_at_all\n")
    found = measured(root)
    assert found.passed == 1
    (note,) = found.notes
    assert note.startswith("existing tests: 1 file could not be imported, such as 'tests/test_other.py': ")
    assert "no_such_module_at_all" in note


def test_a_configuration_that_pytest_refuses_becomes_a_note(project: Callable[..., Path]) -> None:
    root = project(MEMBER)
    (root / "pyproject.toml").write_text(CONFIGURATION + 'addopts = "--no-such-option"\n')
    found = measured(root)
    assert found.modules == {} and len(found.notes) == 1
    assert found.notes[0].startswith("existing tests could not be run: ")
    assert "exit code" not in found.notes[0]


def test_a_conftest_that_cannot_be_imported_becomes_a_note(project: Callable[..., Path]) -> None:
    root = project(MEMBER, tests__conftest_py="import no_such_module_at_all\n")
    (note,) = measured(root).notes
    assert note.startswith("existing tests could not be run: ") and "no_such_module_at_all" in note


def test_a_file_without_tests_becomes_a_note(project: Callable[..., Path]) -> None:
    root = project(MEMBER)
    existing, notes = measure_one(locate("shop.prices", root / "src"), root / "pyproject.toml")
    assert existing is None and len(notes) == 1 and "pyproject.toml" in notes[0]


def test_options_of_the_project_do_not_stop_the_run(project: Callable[..., Path]) -> None:
    root = project(IMPORT + "\n\ndef test_a():\n    assert label(0) == 1\n" + MEMBER.removeprefix(IMPORT))
    (root / "pyproject.toml").write_text(CONFIGURATION + 'addopts = "-x --strict-markers -W error"\n')
    found = measured(root)
    assert (found.passed, found.failed) == (1, 1)


@pytest.mark.usefixtures("_plugins")
def test_workers_of_xdist_are_switched_off(project: Callable[..., Path]) -> None:
    pytest.importorskip("xdist")
    root = project(MEMBER)
    (root / "pyproject.toml").write_text(CONFIGURATION + 'addopts = "-n 2"\n')
    found = measured(root)
    assert (found.passed, found.notes) == (1, ())


def test_a_project_without_tests_has_a_note(project: Callable[..., Path], tmp_path: Path) -> None:
    root = project()
    (root / "tests" / "test_prices.py").unlink()
    assert measured(root).notes == ("existing tests could not be run: there are none",)
    (root / "tests").rmdir()
    assert measured(root).notes == (f"there are no existing tests: '{root / 'tests'}' does not exist",)


def test_what_runs_the_tests_is_not_measured() -> None:
    found = measure(find("fitgym.project"), mutants_s=0)
    assert found.modules == {}
    (note,) = found.notes
    assert note.endswith("is needed to run the tests, so it cannot be measured")


def test_generated_tests_are_no_existing_tests_unless_they_are_asked_for(project: Callable[..., Path]) -> None:
    root = project(MEMBER, tests__test_made_py=f'"""Tests, generated by fitgym 1."""\n{MEMBER}')
    assert measured(root).passed == 1
    assert measured(root, generated=True).passed == 2


def test_nothing_is_written_into_the_project(project: Callable[..., Path]) -> None:
    root = project(MEMBER + "\n\ndef test_folder(tmp_path):\n    (tmp_path / 'a').write_text('a')\n")
    before = sorted(root.rglob("*"))
    assert measured(root, mutants_s=20).passed == 2
    assert sorted(root.rglob("*")) == before


def test_a_mutant_cannot_write_outside_of_its_folder(project: Callable[..., Path]) -> None:
    root = project(
        "from shop.tidy import tidy\n\n\ndef test_it(tmp_path):\n    tidy('precious', False)\n"
        "    tidy(tmp_path / 'a', True)\n",
        src__shop__tidy_py="import os\n\n\ndef tidy(path, really):\n    if really and os.path.exists(path):\n"
        "        os.remove(path)\n",
        precious="",
    )
    assert measured(root, mutants_s=60).modules["shop.tidy"].killed
    assert (root / "precious").exists()


def test_no_process_is_left_behind(project: Callable[..., Path]) -> None:
    root = project(
        "import subprocess, sys\n\n\ndef test_it():\n"
        "    child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        "    print(child.pid, file=open('pid', 'w'))\n"
    )
    measured(root)
    status = Path("/proc") / (root / "pid").read_text().strip() / "stat"
    assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_tests_inside_the_package_are_found(tmp_path: Path) -> None:
    files = ("pyproject.toml", "shop/__init__.py", "shop/tests/__init__.py")
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "shop" / "prices.py").write_text(PRICES)
    (tmp_path / "shop" / "tests" / "test_it.py").write_text(
        "from shop.prices import label\n\n\ndef test_it():\n    label(0)\n"
    )
    project = find(str(tmp_path))
    assert places(project) == [tmp_path / "shop" / "tests"]
    assert measure(project, mutants_s=0).modules["shop.prices"].tests == 1


def test_the_measurement_can_be_pickled(project: Callable[..., Path]) -> None:
    found = measured(project(MEMBER))
    again = pickle.loads(pickle.dumps(found.modules["shop.prices"]))
    assert again.tests == 1 and again.source_sha256 == found.modules["shop.prices"].source_sha256


def test_one_module_is_measured_with_the_tests_in_a_folder(project: Callable[..., Path]) -> None:
    root = project(MEMBER)
    notes: list[str] = []
    existing, problems = measure_one(locate("shop.prices", root / "src"), root / "tests", notes.append)
    assert existing is not None and existing.tests == 1 and existing.killed and problems == ()
    assert "existing tests: 1 of 1" in notes


def test_tests_of_something_else_give_a_note(project: Callable[..., Path]) -> None:
    root = project("def test_it():\n    pass\n")
    existing, problems = measure_one(locate("shop.prices", root / "src"), root / "tests")
    assert existing is None
    assert problems == ("existing tests: none of the 1 passing tests imports 'shop.prices'",)


def test_a_folder_that_does_not_exist_is_refused(project: Callable[..., Path]) -> None:
    root = project(MEMBER)
    with pytest.raises(InputError, match="tests 'nowhere' do not exist; name the folder of the existing tests"):
        measure_one(locate("shop.prices", root / "src"), "nowhere")
