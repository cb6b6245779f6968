"""Declared types, made more precise by how the code uses a parameter."""

from __future__ import annotations

from pathlib import Path

import pytest

import fitgym
from fitgym.subject.types.hints import ANY, NONE, PATH_TEXT, Hint, union
from fitgym.subject.types.refined import refined

STR, INT, BYTES = (Hint("class", f"builtins.{name}") for name in ("str", "int", "bytes"))
OBJECT = Hint("class", "types.SimpleNamespace")


def literal(*values: object) -> Hint:
    return Hint("literal", texts=tuple(map(repr, values)))


@pytest.mark.parametrize(
    ("declared", "used", "expected"),
    [
        (STR, literal("a", "b", "c"), union([literal("a", "b", "c"), STR])),
        (STR, union([literal("a", "b", "c"), STR]), union([literal("a", "b", "c"), STR])),
        (STR, literal("a", "b"), STR),  # so few are exceptions
        (union([STR, NONE]), literal("a", 1, "b", "c"), union([literal("a", "b", "c"), STR, NONE])),
        (INT, literal(1, -2, 3, 4.5, "5"), union([literal(1, -2, 3), INT])),
        (BYTES, literal(b"a", b"b", "c", b"d"), union([literal(b"a", b"b", b"d"), BYTES])),
        (Hint("class", "builtins.float"), literal(1, 2, 3), Hint("class", "builtins.float")),
        (STR, PATH_TEXT, union([STR, PATH_TEXT])),
        (INT, PATH_TEXT, INT),
        (OBJECT, OBJECT._replace(args=(INT,), texts=("size",)), OBJECT._replace(args=(INT,), texts=("size",))),
        (STR, ANY, STR),
    ],
)
def test_a_declared_type_is_refined_by_the_uses(declared: Hint, used: Hint, expected: Hint) -> None:
    assert refined(declared, used) == expected


def test_arguments_are_among_the_values_that_the_code_expects(tmp_path: Path) -> None:
    (tmp_path / "packing.py").write_text(
        "TOOLS = {'gzip': 'gz', 'bzip2': 'bz', 'lzma': 'xz'}\n\n"
        "def suffix(format: str, level: int) -> str:\n"
        "    return TOOLS[format] + str(level)\n"
    )
    run = fitgym.generate(str(tmp_path / "packing.py"), goal="coverage", budget="200x", seed=1)
    assert any(f'suffix("{name}", ' in run.source for name in ("gzip", "bzip2", "lzma"))
