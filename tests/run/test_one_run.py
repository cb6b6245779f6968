"""One run: one list of options, one episode loop, and no environment named outside of its folder."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

LONGEST = 500  # lines of a file of the package


@cache
def sources() -> list[tuple[str, ast.Module]]:
    return [
        (str(path.relative_to(ROOT)), ast.parse(path.read_text("utf-8")))
        for folder in ("fitgym", "envs", "agents")
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not any(part in ("envs", "agents") for part in path.relative_to(ROOT).parts[1:])
    ]


def declared(tree: ast.Module, name: str) -> bool:
    """Whether a class has a field of that name, or a function a parameter with a type."""
    for node in ast.walk(tree):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == name:
            return True
        parameters = (*node.args, *node.kwonlyargs) if isinstance(node, ast.arguments) else ()
        if any(one.arg == name and one.annotation is not None for one in parameters):
            return True
    return False


def calls(node: ast.AST, method: str) -> bool:
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute) and one.func.attr == method
        for one in ast.walk(node)
    )


def test_the_options_of_a_search_are_declared_by_the_setting_and_by_the_engine_only() -> None:
    for option in ("secondary", "smart"):
        places = [path for path, tree in sources() if declared(tree, option)]
        assert len(places) <= 2 and "fitgym/run/setting.py" in places, (option, places)


def test_the_options_of_environments_are_declared_by_the_setting_only() -> None:
    """`Artificial` has no subject and declares its own options; `Focus` and `Programs` give another default."""
    others = {"envs/artificial.py", "envs/focus.py", "envs/programs.py"}
    for option in ("populations", "generations_per_step"):
        places = {path for path, tree in sources() if declared(tree, option)} - others
        assert places == {"fitgym/run/setting.py"}, option


def test_there_is_one_episode_loop() -> None:
    loops = [
        path
        for path, tree in sources()
        for node in ast.walk(tree)
        if isinstance(node, ast.While | ast.For) and calls(node, "act") and calls(node, "step")
    ]
    assert loops == ["fitgym/run/episode.py"]


def test_no_environment_is_named_outside_of_the_environments() -> None:
    classes = {
        node.name
        for path, tree in sources()
        if path.startswith("envs/") and path not in ("envs/base.py", "envs/across_subjects.py")
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        and any(one.endswith(("Env", "Selection")) or "Env[" in one for one in map(ast.unparse, node.bases))
    }
    assert classes >= {"FitnessSelection", "AlgorithmSelection", "MultiGoal", "Toy", "Artificial"}
    named = [
        (path, alias.name)
        for path, tree in sources()
        if path.startswith("fitgym/")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("fitgym.envs")
        for alias in node.names
        if alias.name in classes
    ]
    assert named == []


def test_a_file_can_be_kept_in_mind() -> None:
    long = {
        path: length
        for path, _ in sources()
        if (length := len((ROOT / path).read_text("utf-8").splitlines())) > LONGEST
    }
    assert long == {}
