"""Optional packages: a suite passes where only what the code requires is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from nightly import nightly
from ruff_accepts import assert_ruff_accepts

import fitgym
from fitgym.subject.subject import Reference
from fitgym.suite.finished_test import FinishedTest
from fitgym.suite.runs.distributions import optional_packages
from fitgym.suite.runs.optional_packages import independent
from fitgym.suite.runs.rerun import Rerun
from fitgym.suite.runs.stability import Stability

METADATA = "Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"


def distribution(site: Path, name: str, *requirements: str, top: str = "", source: str = "") -> None:
    """Install a distribution of one module."""
    top = top or name
    (site / f"{top}.py").write_text(source)
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True)
    demands = "".join(f"Requires-Dist: {one}\n" for one in requirements)
    (info / "METADATA").write_text(METADATA.format(name=name) + demands)
    (info / "RECORD").write_text(f"{top}.py,,\n{name}-1.0.dist-info/METADATA,,\n")


def names_of(site: Path, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, str(site))


def reference_to(site: Path, module: str) -> Reference:
    return Reference(module, module, str(site / f"{module}.py"), "", (str(site),))


@pytest.mark.parametrize(
    ("requirements", "optional"),
    [
        ((), {"near", "far"}),
        (("near",), set()),  # and what it requires in turn
        (("far",), {"near"}),
        (("Far-Away >= 1 ; python_version > '3'",), {"near", "far"}),  # is another distribution
        (("near; extra == 'all'",), {"near", "far"}),
        (("far[more]",), set()),  # this extra of the other distribution requires it
        (("near ; sys_platform == 'win32'",), set()),  # required somewhere
    ],
)
def test_a_package_is_optional_unless_the_distribution_requires_it(
    tmp_path: Path, requirements: tuple[str, ...], optional: set[str]
) -> None:
    distribution(tmp_path, "shop", *requirements)
    distribution(tmp_path, "near", "far>=1")
    distribution(tmp_path, "far", 'near; extra == "more"')
    found = optional_packages(names_of(tmp_path, "shop", "near", "far"), reference_to(tmp_path, "shop"))
    assert found == optional


def test_a_distribution_may_have_another_name_than_its_module(tmp_path: Path) -> None:
    distribution(tmp_path, "py-shop", "far.away", top="shop")
    distribution(tmp_path, "Far_Away", top="far")
    distribution(tmp_path, "near")
    assert optional_packages(names_of(tmp_path, "near", "far"), reference_to(tmp_path, "shop")) == {"near"}


@pytest.mark.parametrize(
    ("project", "optional"),
    [
        ('[project]\nname = "shop"\ndependencies = ["near ~= 1.0"]\n', {"far"}),
        ('[project]\nname = "shop"\n', {"near", "far"}),
        ('[project]\nname = "shop"\ndynamic = ["dependencies"]\n', set()),
        ("[tool.other]\n", set()),
        ("not toml", set()),
    ],
)
def test_a_project_that_is_not_installed_says_what_it_requires(
    tmp_path: Path, project: str, optional: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    site, source = tmp_path / "site", tmp_path / "project" / "src"
    source.mkdir(parents=True)
    site.mkdir()
    for name in ("near", "far"):
        distribution(site, name)
    (source / "shop.py").touch()
    (source.parent / "pyproject.toml").write_text(project)
    monkeypatch.syspath_prepend(str(site))
    assert optional_packages(names_of(site, "near", "far"), reference_to(source, "shop")) == optional


def test_an_example_inside_a_project_does_not_belong_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site, examples = tmp_path / "site", tmp_path / "project" / "examples"
    examples.mkdir(parents=True)
    site.mkdir()
    distribution(site, "near")
    (examples.parent / "pyproject.toml").write_text('[project]\nname = "shop"\ndependencies = []\n')
    monkeypatch.syspath_prepend(str(site))
    assert not optional_packages(names_of(site, "near"), reference_to(examples, "shop"))


def test_modules_beside_the_subject_are_not_optional_packages(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\ndependencies = []\n')
    (tmp_path / "helper.py").touch()
    assert not optional_packages(names_of(tmp_path, "helper"), reference_to(tmp_path, "shop"))


SHOP = """
try:
    import fancy
except ImportError:
    fancy = None

def plain(text):
    return text.upper()

def framed(text):
    return fancy.frame(text)

def late(text):
    import other
    return other.frame(text)

def either(text):
    try:
        import other
    except ImportError:
        return text
    return text

def seeks():
    import importlib.util
    return importlib.util.find_spec("other") is not None
"""


REQUIRED = """
try:
    import fancy
except ImportError:
    raise RuntimeError("install fancy first")
"""


class Suite:
    """Tests given as an expression each, in a folder with two packages that the shop does not require."""

    def __init__(self, site: Path, **tests: str) -> None:
        distribution(site, "shop", source=SHOP)
        distribution(site, "fancy", source="def frame(text):\n    return f'[{text}]'\n")
        distribution(site, "other", source="def frame(text):\n    return f'({text})'\n")
        self.site = site
        self.reference = reference_to(site, "shop")
        self.head = "import shop"
        self.bodies = {f"test_{name}": body for name, body in tests.items()}
        self.tests = tuple(FinishedTest(name, ()) for name in self.bodies)

    def render(self, tests: Sequence[FinishedTest]) -> str:
        text = f"import pytest\n{self.head}\n"
        for test in tests:
            text += f"\n\ndef {test.name}():\n"
            text += "".join(f"    pytest.importorskip({name!r})\n" for name in test.packages)
            text += f"    {self.bodies[test.name]}\n"
        return text

    def stable(self, *packages: str) -> Stability:
        return Stability(self.tests, 2, 2, imported=names_of(self.site, "shop", *packages))

    def independent(self, *packages: str) -> Stability:
        return independent(self.stable(*(packages or ("fancy", "other"))), self.render, self.reference)


def needs(stable: Stability) -> dict[str, tuple[str, ...]]:
    return {test.name: test.packages for test in stable.tests}


def test_a_test_is_skipped_without_the_package_that_it_needs(tmp_path: Path) -> None:
    suite = Suite(
        tmp_path,
        plain="assert shop.plain('a') == 'A'",
        framed="assert shop.framed('a') == '[a]'",  # its import asked for the package
        late="assert shop.late('a') == '(a)'",
        either="assert shop.either('a') == 'a'",
        seeks="assert shop.seeks()",
    )
    found = suite.independent()
    assert needs(found) == {
        "test_plain": (),
        "test_framed": ("fancy",),
        "test_late": ("other",),
        "test_either": (),
        "test_seeks": ("other",),
    }
    assert found.dropped == ()


def with_own_import(suite: Suite, tests: Sequence[FinishedTest]) -> str:
    """The text of a file that imports a package for its first test."""
    suite.head = "import shop" + ("\nimport other" if any(test.name == "test_own" for test in tests) else "")
    return suite.render(tests)


def test_a_test_whose_own_import_needs_a_package_is_left_out(tmp_path: Path) -> None:
    suite = Suite(tmp_path, own="assert other.frame('a') == '(a)'", plain="assert shop.plain('a') == 'A'")
    stable = suite.stable("other")
    found = independent(stable, partial(with_own_import, suite), suite.reference)
    assert needs(found) == {"test_plain": ()}
    assert [(one.name, one.reason) for one in found.dropped] == [
        ("test_own", "it depends on which packages are installed")
    ]


def test_a_test_may_import_what_its_subject_needs_anyway(tmp_path: Path) -> None:
    suite = Suite(tmp_path, own="assert other.frame('a') == '(a)'", plain="assert shop.plain('a') == 'A'")
    (tmp_path / "shop.py").write_text(f"import other\n{SHOP}")
    stable = suite.stable("other")
    found = independent(stable, partial(with_own_import, suite), suite.reference)
    assert needs(found) == {"test_own": ("other",), "test_plain": ("other",)}
    assert not found.dropped


def test_the_suite_stays_as_it_is_if_others_need_what_is_left_out(tmp_path: Path) -> None:
    suite = Suite(
        tmp_path, own="shop.left = other.frame('a')", after="assert hasattr(shop, 'left') or not shop.seeks()"
    )
    stable = suite.stable("other")
    found = independent(stable, partial(with_own_import, suite), suite.reference)
    assert found == stable


@pytest.mark.parametrize("line", ["import fancy", "__import__('fancy')  # noqa", REQUIRED])
def test_a_file_is_skipped_without_the_package_that_its_subject_imports(tmp_path: Path, line: str) -> None:
    suite = Suite(tmp_path, plain="assert shop.plain('a') == 'A'", late="assert shop.late('a') == '(a)'")
    (tmp_path / "shop.py").write_text(f"{line}\n{SHOP}")
    found = suite.independent()
    assert needs(found) == {"test_plain": ("fancy",), "test_late": ("fancy", "other")}
    assert needs(suite.independent("fancy")) == {"test_plain": ("fancy",), "test_late": ("fancy",)}


def test_what_a_needed_package_requires_is_needed_with_it(tmp_path: Path) -> None:
    suite = Suite(tmp_path, plain="assert shop.plain('a') == 'A'")
    (tmp_path / "shop.py").write_text(f"import fancy\n{SHOP}")
    (tmp_path / "fancy.py").write_text("import other")
    (tmp_path / "fancy-1.0.dist-info" / "METADATA").write_text(f"{METADATA.format(name='fancy')}Requires-Dist: other\n")
    assert needs(suite.independent()) == {"test_plain": ("fancy",)}


def test_a_suite_whose_file_fails_for_another_reason_stays_as_it_is(tmp_path: Path) -> None:
    suite = Suite(tmp_path, plain="assert shop.plain('a') == 'A'")
    (tmp_path / "shop.py").write_text("1 / 0")
    assert needs(suite.independent()) == {"test_plain": ()}


def test_a_run_tells_what_it_imported_and_what_a_test_asked_for(tmp_path: Path) -> None:
    suite = Suite(tmp_path, late="shop.late('a')", either="shop.either('a')")
    text = suite.render(suite.tests)
    run = Rerun(text, suite.reference).wait()
    assert {"shop", "fancy", "other"} <= set(run.imported)
    assert run.imported["other"] == str(tmp_path)
    assert "pytest" not in run.imported
    assert "json" not in run.imported
    run.close()
    run = Rerun(text, suite.reference, hidden=frozenset({"fancy", "other"})).wait()
    assert run.asked == {"": {"fancy"}, "test_late": {"other"}, "test_either": {"other"}}
    assert (run.verdicts["test_late"].error, run.verdicts["test_either"].passed) == ("ModuleNotFoundError", True)
    run.close()


@pytest.mark.parametrize("style", ["pytest", pytest.param("unittest", marks=nightly)])
def test_a_generated_suite_is_skipped_as_a_whole_without_a_package_that_all_tests_need(
    tmp_path: Path, style: str
) -> None:
    site = tmp_path / "site"
    site.mkdir()
    distribution(site, "shop", source="import fancy\n\ndef double(number: int) -> int:\n    return 2 * number\n")
    distribution(site, "fancy")
    fitgym.generate(str(site / "shop.py"), budget="100x", seed=1, output=str(tmp_path / "out"), format=style)
    (file,) = (tmp_path / "out").glob("test_*.py")
    lines = file.read_text().splitlines()
    assert 'pytest.importorskip("fancy")' in lines or '    raise unittest.SkipTest("fancy is not installed")' in lines
    for rules in (["check"], ["format"]):
        assert_ruff_accepts(file, rules)
    environment = os.environ | {"PYTHONPATH": str(site), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    assert "passed" in subprocess.run(command, env=environment, capture_output=True, text=True).stdout
    (site / "fancy.py").unlink()
    assert "1 skipped" in subprocess.run(command, env=environment, capture_output=True, text=True).stdout


@nightly
def test_new_tests_of_an_existing_file_ask_for_their_package_themselves(tmp_path: Path) -> None:
    site, output = tmp_path / "site", tmp_path / "out"
    site.mkdir()
    distribution(site, "shop", source="def double(number: int) -> int:\n    return 2 * number\n")
    distribution(site, "fancy", source="def frame(text: str) -> str:\n    return f'[{text}]'\n")
    fitgym.generate(str(site / "shop.py"), budget="100x", seed=1, output=str(output))
    with (site / "shop.py").open("a") as file:
        file.write("\ndef late(text: str) -> str:\n    import fancy\n    return fancy.frame(text)\n")
    fitgym.generate(str(site / "shop.py"), budget="200x", seed=1, output=str(output))
    (file_name,) = output.glob("test_*.py")
    text = file_name.read_text()
    assert "test_double" in text and "test_late" in text
    assert '    pytest.importorskip("fancy")' in text.splitlines()


@pytest.mark.parametrize("style", ["pytest", pytest.param("unittest", marks=nightly)])
def test_a_file_that_is_skipped_without_a_package_imports_it_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, style: str
) -> None:
    site, installed = tmp_path / "site", tmp_path / "installed"
    site.mkdir()
    installed.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(installed))
    monkeypatch.syspath_prepend(str(installed))
    source = "import fancy\n\ndef doubled(tag: fancy.Tag, times: int) -> int:\n    return tag.size * times\n"
    distribution(site, "shop", source=source)
    distribution(
        installed, "fancy", source="class Tag:\n    def __init__(self, size: int) -> None:\n        self.size = size\n"
    )
    fitgym.generate(str(site / "shop.py"), budget="200x", seed=1, output=str(site), format=style)
    (file,) = site.glob("test_*.py")
    lines = file.read_text().splitlines()
    (asking,) = (at for at, line in enumerate(lines) if "importorskip(" in line or "SkipTest(" in line)
    assert lines.index("from fancy import Tag") > asking
    for rules in (["check"], ["format"]):
        assert_ruff_accepts(file, rules)


@pytest.mark.parametrize("style", ["pytest", pytest.param("unittest", marks=nightly)])
def test_a_generated_suite_passes_with_and_without_an_optional_package(tmp_path: Path, style: str) -> None:
    site = tmp_path / "site"
    site.mkdir()
    distribution(site, "shop", source=SHOP)
    for name in ("fancy", "other"):
        distribution(site, name, source="def frame(text: str) -> str:\n    return f'[{text}]'\n")
    fitgym.generate(str(site / "shop.py"), budget="800x", seed=1, output=str(tmp_path / "out"), format=style)
    (file,) = (tmp_path / "out").glob("test_*.py")
    text = file.read_text()
    assert 'importorskip("other")' in text or 'find_spec("other")' in text
    environment = os.environ | {"PYTHONPATH": str(site), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
    outcomes = []
    for _ in range(2):
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout
        outcomes.append("skipped" in done.stdout)
        for name in ("fancy", "other"):
            (site / f"{name}.py").unlink(missing_ok=True)
    assert outcomes == [False, True]
