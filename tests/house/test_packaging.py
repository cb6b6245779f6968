"""The installed package: modules, links, the wheel, the version, and the few imports of `import fitgym`."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest
from distributions import LINKED, build, built, copied

import fitgym

ROOT = Path(__file__).parents[2]

EXTRAS = (
    *("stable_baselines3", "sb3_contrib", "torch", "tensorboard", "minari", "h5py", "optuna"),
    *("pandas", "scipy", "scikit_posthocs", "matplotlib", "joblib", "jinja2"),
    *("ray", "submitit", "mabwiser", "sklearn", "jupytext", "IPython", "PIL", "moviepy"),
)
"""What the optional extras install; nothing of it may be needed to import the package or to read its help."""


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def folders_with_code() -> set[str]:
    """Import names of all folders that hold modules."""
    found = {
        path.parent.relative_to(ROOT) for path in (ROOT / "fitgym").rglob("*.py") if "__pycache__" not in path.parts
    }
    for name in LINKED:
        found |= {Path("fitgym") / path.parent.relative_to(ROOT) for path in (ROOT / name).rglob("*.py")}
    return {".".join(folder.parts) for folder in found}


def source_files() -> set[str]:
    """Every file that an installed package must have, as a path inside the wheel."""
    found = {str(path.relative_to(ROOT)) for path in (ROOT / "fitgym").rglob("*.py*") if path.suffix in (".py", ".pyi")}
    found |= {str(path.relative_to(ROOT)) for path in (ROOT / "fitgym" / "subject" / "corpora").glob("*.toml")}
    found |= {
        str(path.relative_to(ROOT))
        for kind in ("jinja", "html", "css", "js")
        for path in (ROOT / "fitgym").rglob(f"*.{kind}")
    }
    found |= {str(path.relative_to(ROOT)) for path in (ROOT / "fitgym" / "policies").glob("*/*") if path.is_file()}
    found |= {"fitgym/py.typed", "fitgym/allocation/curves.json"}
    return found | {f"fitgym/{path.relative_to(ROOT)}" for name in LINKED for path in (ROOT / name).rglob("*.py")}


def test_the_packages_listed_are_the_folders_on_disk(project: dict[str, Any]) -> None:
    listed = project["tool"]["setuptools"]["packages"]
    assert sorted(listed) == sorted(folders_with_code())


def test_every_package_says_what_it_is() -> None:
    for name in folders_with_code():
        init = ROOT / Path(*name.split(".")) / "__init__.py"
        assert ast.get_docstring(ast.parse(init.read_text("utf-8"))), f"{name} has no docstring"


@pytest.mark.parametrize("name", LINKED)
def test_the_links_are_relative_links_to_the_folders_at_the_top(name: str, project: dict[str, Any]) -> None:
    link = ROOT / "fitgym" / name
    assert link.is_symlink() and link.readlink() == Path("..") / name
    assert (ROOT / name).is_dir() and not (ROOT / name).is_symlink()
    assert project["tool"]["setuptools"]["package-dir"][f"fitgym.{name}"] == name


def test_the_version_is_the_same_everywhere(project: dict[str, Any]) -> None:
    version = project["project"]["version"]
    assert fitgym.__version__ == version
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\n## {version}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_dependencies_have_lower_bounds_and_few_upper_ones(project: dict[str, Any]) -> None:
    capped = [text for text in project["project"]["dependencies"] if "<" in text]
    assert all(">=" in text for text in project["project"]["dependencies"])
    assert {text.split(">")[0] for text in capped} <= {"gymnasium", "cyclopts"}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of what a distribution is made from, with nothing built in it."""
    return copied(tmp_path / "tree")


def contents(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        return [name for name in archive.namelist() if ".dist-info/" not in name]


def test_the_wheel_holds_every_module_once_and_nothing_else(tree: Path) -> None:
    wheel = built(tree, "wheel")
    names = contents(wheel)
    assert len(names) == len(set(names))
    extension = {"fitgym/instrument/_sites.abi3.so"} & set(names)
    assert set(names) == source_files() | extension
    # Built once, the extension serves every later Python; a wheel without it serves every machine.
    tags = wheel.name.split("-", 2)[2]
    assert tags.startswith("cp311-abi3-") if extension else tags == "py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"fitgym-{fitgym.__version__}.dist-info/METADATA").decode()
        # Two builds of the same sources are equal, wherever they are made.
        assert not any(str(tree).encode() in archive.read(name) for name in archive.namelist())
    assert "License-Expression: MIT" in metadata


def test_without_a_compiler_the_wheel_has_the_probes_in_python(tree: Path, tmp_path: Path) -> None:
    wheel = built(tree, "wheel", CC="/bin/false")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert set(contents(wheel)) == source_files()
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    code = "from fitgym.instrument.recorder import Recorder; from fitgym.instrument import factories as f; print(f.in_use())"
    for wanted, answer in (("", "python\n"), ("python", "python\n"), ("c", "")):
        environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed"), "FITGYM_SITES": wanted}
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.stdout == answer, done.stderr
    assert "InputError: FITGYM_SITES is 'c', but the C probes cannot be used: they were not built" in done.stderr


def test_a_build_without_a_compiler_says_what_that_means(tree: Path) -> None:
    done = build(tree, "wheel", CC="/bin/false")
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert said.count("fitgym works without its probes in C, but searches take about twice as long") == 1


def test_a_build_that_asks_for_probes_in_c_fails_without_a_compiler(tree: Path) -> None:
    assert build(tree, "wheel", CC="/bin/false", FITGYM_SITES="c").returncode != 0


def test_a_build_that_asks_for_probes_in_python_starts_no_compiler(tree: Path) -> None:
    wheel = built(tree, "wheel", FITGYM_SITES="python")
    assert wheel.name.endswith("-py3-none-any.whl")
    assert set(contents(wheel)) == source_files()
    assert not (tree / "build").is_dir() or not list((tree / "build").rglob("*.o"))


def test_a_build_names_an_unknown_kind_of_probes(tree: Path) -> None:
    done = build(tree, "wheel", FITGYM_SITES="rust")
    assert "FITGYM_SITES is 'rust', expected 'c' or 'python'" in done.stderr


def test_the_sdist_holds_the_sources_in_c(tree: Path) -> None:
    with tarfile.open(built(tree, "sdist")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    sources = {str(path.relative_to(tree)) for path in (tree / "fitgym").rglob("*.[ch]")}
    assert len(sources) == 3 and sources | {"setup.py", "pyproject.toml"} <= names


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after running `code`, those of its start-up left out."""
    text = f"import sys; before = set(sys.modules)\n{code}\nprint(*sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split("\n")[-2].split())


def test_importing_fitgym_loads_next_to_nothing() -> None:
    # The worker process imports the package too: it must not meet numpy, gymnasium or the command line's libraries.
    loaded = loaded_by("import fitgym")
    assert {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names) == {"fitgym"}
    assert len(loaded) < 30


@pytest.mark.parametrize(
    "code",
    [
        "from fitgym.cli import main",
        "import fitgym.run.generation",
        "import fitgym.envs",
        "from fitgym.commands.listing import overview; overview()",
        "try:\n    from fitgym.cli import main; main(['--help'])\nexcept SystemExit: pass",
    ],
)
def test_the_extras_stay_outside(code: str) -> None:
    assert {name.split(".")[0] for name in loaded_by(code)} & set(EXTRAS) == set()


def test_the_help_loads_neither_the_engine_nor_gymnasium() -> None:
    loaded = loaded_by("try:\n    from fitgym.cli import main; main(['--help'])\nexcept SystemExit: pass")
    assert loaded & {"gymnasium", "numpy", "fitgym.engine", "fitgym.run.generation", "coverage", "pytest"} == set()


def test_what_is_needed_in_the_end_only_is_loaded_in_the_end() -> None:
    loaded = loaded_by("import fitgym.run.generation, fitgym.envs.fitness_selection")
    assert loaded & {"coverage", "pytest", "rich", "cyclopts", "rapidfuzz", "typeshed_client"} == set()


def test_the_worker_is_on_its_way_before_its_parent_loads_the_engine() -> None:
    code = """
import subprocess
from fitgym.cli import main

def started(*arguments, **options):
    print(*sorted({"numpy", "gymnasium", "coverage", "fitgym.engine"} & set(sys.modules)), "start")
    raise SystemExit

subprocess.Popen = started
try: main(["generate", "colorsys"])
except SystemExit: pass
"""
    text = f"import sys{code}"
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("start\n", "")


def test_the_command_of_pyproject_exists(project: dict[str, Any]) -> None:
    module, _, function = project["project"]["scripts"]["fitgym"].partition(":")
    defined = ast.parse((ROOT / Path(*module.split("."))).with_suffix(".py").read_text("utf-8")).body
    assert function in [node.name for node in defined if isinstance(node, ast.FunctionDef)]


def test_the_readme_shows_an_example_early_on() -> None:
    lines = (ROOT / "README.md").read_text("utf-8").splitlines()
    assert any(line.startswith("```") for line in lines[:20])
