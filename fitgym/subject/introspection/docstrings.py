"""Docstrings: types of parameters and results, raised exceptions and example calls, read from a docstring.

Google, NumPy and Sphinx styles and doctest prompts are read. A docstring is prose, so unreadable parts are skipped, and
annotations take precedence over docstrings.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Mapping
from typing import Any

from fitgym.subject.introspection.callables import asked
from fitgym.subject.introspection.names import Namespace
from fitgym.subject.sessions import session
from fitgym.subject.types.declarations import from_annotation
from fitgym.subject.types.hints import ANY, NONE, Hint, choices

__all__ = ["calls", "declared", "literals", "of", "result", "returned_class", "types"]

_NAME = r"[A-Za-z_][\w.]*"
_SPHINX_RAISES = re.compile(rf":(?:raises?|except|exception)\s+({_NAME}(?:\s*,\s*{_NAME})*)\s*:")
_SPHINX_TYPE = re.compile(r":type\s+\*{0,2}(\w+)\s*:[ \t]*(.+)")
_SPHINX_PARAM = re.compile(r":(?:param|parameter|arg|argument|key|keyword)\s+([^:\n]+?)\s+\*{0,2}(\w+)\s*:")
_HEADER = re.compile(
    r"(Args|Arguments|Parameters|Params|Keyword Args|Keyword Arguments|Other Parameters|Raises|Exceptions|Raise|"
    r"Returns|Return|Yields|Examples?|Notes?|See Also|References|Attributes|Warnings?|Todo)\s*:?\s*$"
)
_SPHINX_RESULT = re.compile(r":rtype:[ \t]*(.+)")
_GOOGLE_RESULT = re.compile(r"([^:]+?)\s*:(?=\s|$)(?!:)")
_NUMPY_RESULT = re.compile(r"(?:\w+\s*:\s*)?(.+)$")
_GOOGLE_PARAMETER = re.compile(r"\*{0,2}(\w+)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\)\s*:")
_NUMPY_PARAMETER = re.compile(r"(\*{0,2}\w+(?:\s*,\s*\*{0,2}\w+)*)\s*:\s*(.+)$")
_RAISED = re.compile(rf"[`:\w]*?`?~?({_NAME})`?(?:\s*(?:,|\bor\b|\|)\s*`?({_NAME})`?)*\s*(?::|$|--| - )")


def of(target: Any) -> str:
    """Return the docstring of a callable; of a class also that of its constructor."""
    initial = inspect.getattr_static(target, "__init__", None) if isinstance(target, type) else None
    found = (asked(one, "__doc__") for one in (target, initial) if one is not None)
    return "\n\n".join(one for one in found if isinstance(one, str))


def declared(doc: str | None) -> tuple[str, ...]:
    """Return the names of the exception classes documented as raised, in order, without their module."""
    if not doc:
        return ()
    names: dict[str, None] = {}
    for match in _SPHINX_RAISES.finditer(doc):
        for name in match.group(1).split(","):
            names.setdefault(name.strip())
    for header, lines in _sections(doc):
        if header.startswith(("Raise", "Exception")):
            indent = min((_indent(line) for line in lines if line.strip()), default=0)
            for line in lines:
                if line.strip() and _indent(line) == indent and (raised := _RAISED.match(line.strip().lstrip("*-"))):
                    text = line.strip()[: raised.end()]
                    for name in re.findall(_NAME, text.replace(":exc:", "").replace(":class:", "")):
                        names.setdefault(name)
    short = (name.rpartition(".")[2] for name in names)
    return tuple(dict.fromkeys(name for name in short if name[:1].isupper()))


def types(doc: str | None) -> dict[str, str]:
    """Return the documented type of each parameter, as annotation text; unreadable types are left out."""
    if not doc:
        return {}
    found: dict[str, str] = {}
    for match in _SPHINX_TYPE.finditer(doc):
        found.setdefault(match.group(1), match.group(2))
    for match in _SPHINX_PARAM.finditer(doc):
        found.setdefault(match.group(2), match.group(1))
    for header, lines in _sections(doc):
        if not header.startswith(("Arg", "Param", "Keyword", "Other")):
            continue
        indent = min((_indent(line) for line in lines if line.strip()), default=0)
        for line in lines:
            if not line.strip() or _indent(line) != indent:
                continue
            if google := _GOOGLE_PARAMETER.match(line.strip()):
                found.setdefault(google.group(1), google.group(2))
            elif numpy := _NUMPY_PARAMETER.match(line.strip()):
                for name in numpy.group(1).split(","):
                    found.setdefault(name.strip().lstrip("*"), numpy.group(2))
    return {name: text for name, raw in found.items() if (text := _annotation(raw))}


def result(doc: str | None, *, is_property: bool = False) -> str:
    """Return the documented type of the result, as annotation text; "" if there is none, or if it is unreadable.

    The docstring of a property may begin with the type: `int: The status of the response.`
    """
    if not doc:
        return ""
    if is_property and (found := _GOOGLE_RESULT.match(doc.strip())) and (text := _annotation(found.group(1))):
        return text
    if sphinx := _SPHINX_RESULT.search(doc):
        return _annotation(sphinx.group(1))
    rules = re.search(r"^\s*Returns?\s*\n\s*-{3,}", doc, re.MULTILINE)
    for header, lines in _sections(doc):
        first = next((line.strip() for line in lines if line.strip()), "")
        if header in ("Return", "Returns") and (found := (_NUMPY_RESULT if rules else _GOOGLE_RESULT).match(first)):
            return _annotation(found.group(1))
    return ""


def returned_class(function: Any, space: Namespace, owner: type | None) -> Hint:
    """Return the class that the docstring names as the result of a function, `ANY` if it names none."""
    text = "" if inspect.isgeneratorfunction(function) else result(of(function))
    hint = from_annotation(text, space, owner) if text else ANY
    classes = [one for one in choices(hint) if one.kind == "class" and not one.name.startswith("builtins.")]
    return hint if classes and all(one in classes or one == NONE for one in choices(hint)) else ANY


def calls(doc: str | None, name: str) -> list[ast.Call]:
    """Return the calls of the function `name` in the doctests, with bound names replaced by their values."""
    bound: dict[str, ast.expr] = {}
    found: list[ast.Call] = []
    for statement in session(doc):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            bound[statement.targets[0].id] = statement.value
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if called == name:
                    arguments = [_replaced(argument, bound) for argument in node.args]
                    keywords = [ast.keyword(word.arg, _replaced(word.value, bound)) for word in node.keywords]
                    found.append(ast.Call(node.func, arguments, keywords))
    return found


def literals(doc: str | None) -> list[str]:
    """Return the numbers and strings among the arguments in the doctests, as source text, in order."""
    found: dict[str, None] = {}
    for statement in session(doc):
        for node in ast.walk(statement):
            if isinstance(node, ast.Call):
                for argument in [*node.args, *(word.value for word in node.keywords)]:
                    for part in ast.walk(argument):
                        if (
                            isinstance(part, ast.Constant)
                            and isinstance(part.value, int | float | str | bytes)
                            and not isinstance(part.value, bool)
                            and (not isinstance(part.value, str | bytes) or len(part.value) <= 200)
                        ):
                            found.setdefault(repr(part.value))
    return list(found)


def _replaced(node: ast.expr, bound: Mapping[str, ast.expr]) -> ast.expr:
    return bound.get(node.id, node) if isinstance(node, ast.Name) else node


def _sections(doc: str) -> list[tuple[str, list[str]]]:
    """Return each section header and the lines below it, up to the next header or to less indented text."""
    lines = inspect.cleandoc(doc).splitlines()
    found: list[tuple[str, list[str]]] = []
    margin = 0
    underlined = False
    for index, line in enumerate(lines):
        following = lines[index + 1].strip() if index + 1 < len(lines) else ""
        is_rule = bool(following) and not following.strip("-=~")
        if _HEADER.match(line.strip()) and (is_rule or line.rstrip().endswith(":")):
            margin, underlined = _indent(line), is_rule
            found.append((line.strip().rstrip(":").strip(), []))
        elif found and line.strip():
            if not line.strip("-=~ "):
                continue
            if not underlined and _indent(line) <= margin:
                found.append(("", []))  # end of the section
            else:
                found[-1][1].append(line)
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


_WORDS = {
    "string": "str",
    "strings": "str",
    "unicode": "str",
    "text": "str",
    "basestring": "str",
    "strs": "str",
    "integer": "int",
    "integers": "int",
    "ints": "int",
    "long": "int",
    "number": "int | float",
    "numbers": "int | float",
    "numeric": "int | float",
    "floats": "float",
    "double": "float",
    "boolean": "bool",
    "booleans": "bool",
    "bytestring": "bytes",
    "callable": "Callable",
    "function": "Callable",
    "func": "Callable",
    "lambda": "Callable",
    "iterable": "Iterable",
    "iterator": "Iterator",
    "generator": "Iterator",
    "sequence": "Sequence",
    "seq": "Sequence",
    "array": "list",
    "lists": "list",
    "tuples": "tuple",
    "dicts": "dict",
    "dictionary": "dict",
    "dictionaries": "dict",
    "mapping": "Mapping",
    "none": "None",
    "null": "None",
    "file": "TextIO",
    "file-like": "TextIO",
    "class": "type",
    "object": "Any",
    "any": "Any",
    "anything": "Any",
    "mixed": "Any",
}
_CONTAINERS = ("list", "set", "frozenset", "tuple", "Iterable", "Sequence", "Iterator", "dict", "Mapping")


def _annotation(raw: str) -> str:
    """Return annotation text for a type in prose, such as `list of str, optional`; "" if it is unreadable."""
    text = re.sub(r":\w+:|[`~]", "", raw).strip().rstrip(".")
    text = re.split(r",?\s*(?:\boptional\b|\bdefaults?\b|\brequired\b|\(default)", text, maxsplit=1)[0].strip(" ,;")
    if re.fullmatch(r"\{.*\}", text):
        return f"Literal[{text[1:-1]}]"
    options = [_one(option.strip()) for option in re.split(r"\s*(?:\bor\b|\||,(?![^\[(]*[\])])|/)\s*", text)]
    options = [option for option in options if option]
    if not options or any(option == "Any" for option in options):
        return ""
    return " | ".join(dict.fromkeys(options))


def _one(text: str) -> str:
    text = re.sub(r"^(?:an?|the)\s+", "", text)
    match = re.match(r"(\w[\w-]*)s?\s+(?:of|containing)\s+(.+)$", text)
    if match:
        outer = _WORDS.get(match.group(1).lower(), match.group(1))
        inner = _one(match.group(2))
        if outer in _CONTAINERS:
            if not inner or outer in ("dict", "Mapping"):
                return outer
            return f"tuple[{inner}, ...]" if outer == "tuple" else f"{outer}[{inner}]"
        return ""
    word = text.split(" ")[0] if text else ""
    known = _WORDS.get(word.lower())
    if known:
        return known
    if re.fullmatch(r"[\w.]+(\[[\w., \[\]|]*\])?", text):
        return text
    return ""
