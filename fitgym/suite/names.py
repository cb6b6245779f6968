"""Names of tests: the function under test, what distinguishes the test from others of the function, and its outcome."""

from __future__ import annotations

import ast
import itertools
import keyword
import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from fitgym.messages.observation import CAPTURED, Observation
from fitgym.subject.introspection.command_lines import INVOKE
from fitgym.subject.subject import Operation, Subject
from fitgym.suite.text.operators import IN_PLACE
from fitgym.suite.text.scope import snake_case
from fitgym.testcase.expression import Collection, Expression, Lambda, Literal, Name, Ref
from fitgym.testcase.statement import Statement

__all__ = ["MAX_LENGTH", "Description", "description", "operation_words", "test_names"]

MAX_LENGTH = 70
_ROOM = 4  # characters kept free for a number
MAX_WORDS = 30  # characters for one value
MOST_PIECES = 6  # words for one value
MOST_DETAILS = 3  # values in one name

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_SIGNS = {
    "!": "bang",
    '"': "quote",
    "#": "hash",
    "$": "dollar",
    "%": "percent",
    "&": "ampersand",
    "'": "apostrophe",
    "(": "open_parenthesis",
    ")": "close_parenthesis",
    "*": "star",
    "+": "plus",
    ",": "comma",
    "-": "hyphen",
    ".": "dot",
    "/": "slash",
    ":": "colon",
    ";": "semicolon",
    "<": "less_than",
    "=": "equals",
    ">": "greater_than",
    "?": "question_mark",
    "@": "at",
    "[": "open_bracket",
    "\\": "backslash",
    "]": "close_bracket",
    "^": "caret",
    "_": "underscore",
    "`": "backtick",
    "{": "open_brace",
    "|": "pipe",
    "}": "close_brace",
    "~": "tilde",
    " ": "space",
    "\t": "tab",
    "\n": "newline",
    "\r": "carriage_return",
    "\0": "null",
}
_LETTERS = frozenset({"one_letter", "letters", "letters_and_digits", "mixed_case"})
_VAGUE = _LETTERS | {
    "string",
    "long_string",
    "several_lines",
    "non_ascii_string",
    "symbols",
    "bytes",
    "float",
    "negative_float",
}
"""Words that tell only the kind of a value."""

_SPELLED = frozenset({"http", "https", "html", "xml", "ftp", "www", "css", "sql", "str", "int", "rc", "no", "ok", "on"})
"""Words that count as readable although they are short or have no vowel."""

_UNSPEAKABLE = re.compile(r"[^aeiouy]{5}|[^aeiouy]{4}$|^[^aeiouy]{4}|(.)\1\1")

_PIECES = re.compile(r"[A-Za-z0-9]+|[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Description:
    """The parts of a test's name.

    Attributes:
        subject: the operation under test.
        details: words that may distinguish the test from others of the same operation, the most important first: an
            argument of the last statement, an argument of the constructor of its receiver, an operation that was called
            before.
        outcome: the outcome of the test, "" if there are no words for it.
    """

    subject: str
    details: tuple[str, ...] = ()
    outcome: str = ""

    def name(self, details: Sequence[str] = ()) -> str:
        """Return the name with these details; the last ones are left out if it would be too long."""
        parts = [part for part in ("test", self.subject, *details, self.outcome) if part]
        name = re.sub(r"__+", "_", "_".join(parts)).strip("_")
        if len(name) > MAX_LENGTH and details:
            return self.name(details[:-1])
        if len(name) > MAX_LENGTH:
            words = name[: MAX_LENGTH + 1].split("_")
            name = "_".join(words[:-1]) if len(words) > 2 else name[:MAX_LENGTH]
        return f"{name}_" if keyword.iskeyword(name) else name


def test_names(descriptions: Sequence[Description]) -> list[str]:
    """Return one unique name for each test.

    The operation and the outcome are always part of the name. If an operation has several tests, each name gets one
    detail. The best detail is shared with the fewest other tests; two places further back in the list cost as much as
    one more test that shares it. Among equal details, those that tell only the kind of a value come last. Names that
    are still equal get two details, then three. Only tests that remain equal are numbered, from the second one on.
    """
    chosen: list[tuple[str, ...]] = [()] * len(descriptions)
    names = [one.name() for one in descriptions]
    groups: dict[str, list[int]] = {}
    for index, one in enumerate(descriptions):
        groups.setdefault(one.subject, []).append(index)
    for group in groups.values():
        shared = Counter(detail for index in group for detail in set(descriptions[index].details))
        for index in group:
            rare = [detail for detail in descriptions[index].details if shared[detail] < len(group)]
            cost = {detail: (shared[detail] + at // 2, detail in _VAGUE) for at, detail in enumerate(rare)}
            chosen[index] = tuple(sorted(rare, key=cost.__getitem__))
        for size in range(1, MOST_DETAILS + 1):
            count = Counter(names)
            for index in group:
                if (size == 1 and len(group) > 1) or count[names[index]] > 1:
                    one = descriptions[index]
                    said = chosen[index][:size]
                    names[index] = one.name([detail for detail in one.details if detail in said])
    return _numbered(names)


test_names.__test__ = False  # type: ignore[attr-defined]  # or pytest would collect it in test modules that import it


def _numbered(names: Sequence[str]) -> list[str]:
    """Return the names, with a number from 2 on for repeated names."""
    taken = set(names)
    seen: set[str] = set()
    result = []
    for name in names:
        if name in seen:
            if len(name) > MAX_LENGTH - _ROOM:
                name = name[: MAX_LENGTH - _ROOM].rpartition("_")[0] or name[: MAX_LENGTH - _ROOM]
            name = next(found for n in itertools.count(2) if (found := f"{name}_{n}") not in taken)
            taken.add(name)
        seen.add(name)
        result.append(name)
    return result


def description(
    subject: Subject,
    statements: Sequence[Statement],
    assertions: Sequence[Observation] = (),
    raises: Name | None = None,
    steady: Container[Observation] = (),
) -> Description:
    """Describe a test: its operation, details of the arguments, and its outcome.

    Args:
        subject: the code under test.
        statements: of the test.
        assertions: what the test checks.
        raises: the exception that the test expects.
        steady: the assertions that already held before the last statement.
    """
    last = statements[-1]
    operation = subject.operations[last.operation]
    if (line := _command_line(operation, last)) is not None:
        return Description(line[0], line[1], _ending_words(assertions))
    details = dict.fromkeys(words for words in _details(subject, statements) if words)
    outcome = _raised_words(raises) if raises is not None else _outcome_words(operation, statements, assertions, steady)
    return Description(operation_words(operation), tuple(details), outcome)


def _command_line(operation: Operation, statement: Statement) -> tuple[str, tuple[str, ...]] | None:
    """For a statement that runs a command line, return the command in words and words for each argument."""
    match statement.args:
        case (Name() as command, Collection() as given) if operation.name == INVOKE:
            words = [item for item in given.items if isinstance(item, Literal)]
            first = [word for word in map(_plain_word, words[:1]) if word]
            rest = (part for word in words[len(first) :] for part in itertools.islice(_value_words(word), 1))
            return "_".join([_words(command.qualname), *first]), tuple(dict.fromkeys(rest))
    return None


def _plain_word(literal: Literal) -> str:
    """Return the name of a command as a word for a test's name, "" for any other text."""
    return _words(found[1].replace("-", "_")) if (found := re.fullmatch(r"'([a-z][a-z_-]+)'", literal.text)) else ""


def _ending_words(assertions: Sequence[Observation]) -> str:
    """Return words for the outcome of a command line."""
    codes = [fact.expression for fact in assertions if fact.path == ".exit_code"]
    if codes and isinstance(codes[0], Literal) and codes[0].text != "0":
        return f"exits_with_{_words(codes[0].text.replace('-', 'minus_'))}"
    return "prints" if any(fact.path == ".output" for fact in assertions) else "succeeds"


def operation_words(operation: Operation) -> str:
    """Return words for the operation without its module; special methods without underscores, setters with a verb."""
    words = [_words(part) for part in operation.name.split(".")]
    if operation.kind == "setter":
        words.insert(-1, "set")
    if operation.kind == "operator":
        words[-1] = _words(operation.operator)[operation.operator in IN_PLACE :]  # `__iadd__` is "add"
    if operation.kind == "constructor":
        words.append("init")
    return "_".join(word for word in words if word) or "operation"


def _words(name: str) -> str:
    """Return a dotted name in snake case: `HTTPError.parseURL` becomes `http_error_parse_url`."""
    return "_".join(word for word in map(snake_case, name.split(".")) if word)


# Details


def _details(subject: Subject, statements: Sequence[Statement]) -> Iterator[str]:
    """Yield words for the arguments and receiver of the last statement, the most important first.

    Short words come before exact ones.
    """
    last = statements[-1]
    yield from _argument_details(subject, statements, last)
    if not (last.args or last.kwargs) and subject.operations[last.operation].parameters:
        yield "no_arguments"
    if last.receiver >= 0:
        yield from _argument_details(subject, statements, statements[last.receiver])
    for statement in reversed(statements[:-1]):
        if statement.receiver >= 0 and statement.receiver in last.refs:
            operation = subject.operations[statement.operation]
            yield f"after_{operation_words(operation).removeprefix(_words(operation.name.partition('.')[0]) + '_')}"


def _argument_details(subject: Subject, statements: Sequence[Statement], statement: Statement) -> Iterator[str]:
    def made_by(argument: Ref) -> tuple[str, str]:
        """Return words for the operation that made an argument, without and with that operation's own arguments."""
        maker = statements[argument.position]
        while subject.operations[maker.operation].operator in IN_PLACE:  # the result is the object itself
            maker = statements[maker.receiver]
        name = _words(subject.operations[maker.operation].name.rpartition(".")[2])
        values = [word for value in maker.args for word in itertools.islice(_value_words(value), 1)]
        return name, f"{name}_{'_'.join(values)}" if values else ""

    made: list[str] = []
    several: Counter[str] = Counter()
    for argument in statement.args:
        if isinstance(argument, Ref) and 0 <= argument.position == statement.receiver:
            yield "itself"
        elif isinstance(argument, Ref) and argument.position >= 0:
            plain, exact = made_by(argument)
            yield plain
            made.append(exact)
        else:
            words = list(_value_words(argument))
            several.update(words[:1])
            yield from words
    yield from made
    yield from (f"{_number_word(count)}_{word}s" for word, count in several.items() if count > 1)
    for name, value in statement.kwargs:
        if isinstance(value, Ref) and value.position >= 0:
            words = [word for word in made_by(value) if word]
        else:
            words = list(_value_words(value))
        if words == ["true"]:
            yield _words(name)
        else:
            yield from (f"{_words(name)}_{word}" for word in words or [""])


def _value_words(expression: Expression) -> Iterator[str]:
    """Yield words for a value, the simplest first."""
    if isinstance(expression, Collection):
        yield from _collection_words(expression)
    elif isinstance(expression, Name):
        yield _words(expression.qualname)
    elif isinstance(expression, Lambda):
        yield "identity_function" if expression.body == Ref(-1) else "function"
    elif isinstance(expression, Literal):
        yield _literal_words(expression.text)


def _collection_words(collection: Collection) -> Iterator[str]:
    kind = {"iter": "iterator"}.get(collection.kind, collection.kind)
    size = len(collection.items) // (2 if kind == "dict" else 1)
    if not size:
        yield f"empty_{kind}"
        return
    noun = "key" if kind == "dict" else "item"
    yield f"{_number_word(size)}_{noun}{'' if size == 1 else 's'}"
    if size <= 3:
        items = ["_".join(itertools.islice(_value_words(item), 1)) for item in collection.items]
        if all(items) and _VAGUE.isdisjoint(items) and len(words := f"{kind}_{'_'.join(items)}") <= MAX_WORDS:
            yield words


def _literal_words(text: str) -> str:
    if text.startswith("float("):
        return {"n": "nan", "i": "infinity", "-": "minus_infinity"}.get(text[7:8], "float")
    try:
        value = ast.literal_eval(text)
    except (
        ValueError,
        SyntaxError,
        MemoryError,
        RecursionError,
    ):  # the text comes from the worker and may be malformed
        return ""
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text_words(value)
    if isinstance(value, bytes):
        return "empty_bytes" if not value else "bytes"
    if isinstance(value, int):
        return _integer_words(value) if abs(value) < 10_000 else "large_int" if value > 0 else "large_negative_int"
    if isinstance(value, float):
        if value.is_integer() and abs(value) < 10_000:
            return _integer_words(int(value)) if value or math.copysign(1, value) > 0 else "minus_zero"
        short = repr(abs(value))
        words = short.replace(".", "_") if len(short) <= 6 and "e" not in short else "float"
        return words if value > 0 else f"minus_{words}" if words != "float" else "negative_float"
    return "complex" if isinstance(value, complex) else "ellipsis"


def _text_words(text: str) -> str:
    """Return words for a text: its own words, the names of its punctuation marks, or its kind."""
    if not text:
        return "empty_string"
    if text.isspace() and len(text) > 1:
        return "blank_string"
    if "\n" in text.strip("\n"):
        return "several_lines"
    plain = unicodedata.normalize("NFKD", text)
    if not all(character.isascii() or unicodedata.combining(character) for character in plain):
        return "non_ascii_string"
    pieces = _PIECES.findall("".join(character for character in plain if character.isascii()))
    signs = [piece for piece in pieces if not piece.isalnum()]
    if len(pieces) == len(signs) and len(signs) > 2:
        return "symbols"
    pairs = [(word, piece) for piece in pieces if piece.isalnum() for word in _words(piece).split("_")]
    words = [word for word, _ in pairs]
    if 2 * sum(_is_telling(word) or _is_abbreviation(piece) for word, piece in pairs) >= len(pairs):
        if len(pieces) <= 2:
            words = [_SIGNS.get(piece, "control_character") if piece in signs else _words(piece) for piece in pieces]
        found = "_".join(word for word in words if word)
    elif signs:
        names = dict.fromkeys(_SIGNS[sign] for sign in signs if sign in _SIGNS)
        found = f"string_with_{'_and_'.join(names)}" if 0 < len(names) <= 2 else ""
    else:
        found = _letters_words(pieces[0])
    fits = found and len(found) <= MAX_WORDS and found.count("_") < MOST_PIECES
    return found if fits else "long_string" if len(text) > 40 else "string"


def _letters_words(text: str) -> str:
    """Return the kind of letters and digits that form no readable word."""
    if len(text) == 1:
        return "one_letter"
    if not text.isalpha():
        return "letters_and_digits"
    return "mixed_case" if text[1:] != text[1:].lower() and text != text.upper() else "letters"


def _is_abbreviation(piece: str) -> bool:
    return 2 <= len(piece) <= 9 and piece.isalpha() and piece.isupper()


def _is_telling(word: str) -> bool:
    """Return whether a word is readable: a short number, or a word that can be pronounced."""
    if word.isdigit():
        return len(word) <= 6
    if not word.isalpha() or len(word) < 2:
        return False
    if word in _SPELLED or string.ascii_lowercase.startswith(word):
        return True
    return len(word) > 2 and not _UNSPEAKABLE.search(word) and any(letter in "aeiouy" for letter in word)


def _integer_words(number: int) -> str:
    if number == 0:
        return "zero"
    return str(number) if number > 0 else f"minus_{-number}"


def _number_word(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else "many"


# Outcomes


def _raised_words(raises: Name) -> str:
    words = _words(raises.qualname)
    if words == "error" and raises.module:  # `zlib.error`, `binascii.Error`
        words = f"{_words(raises.module.rpartition('.')[2])}_error"
    return f"raises_{words}"


def _outcome_words(
    operation: Operation,
    statements: Sequence[Statement],
    assertions: Sequence[Observation],
    steady: Container[Observation],
) -> str:
    """Return words for the result of the last statement, or for the attribute that it changes."""
    position = len(statements) - 1
    own = [fact for fact in assertions if fact.position == position]
    whole = next((fact for fact in own if not fact.path), None)
    last = operation.name.rpartition(".")[2]
    if operation.kind == "constructor":  # an attribute that is named like an argument says more than the first one
        given = {name for name, _ in statements[-1].kwargs}
        given.update(one.name for one in operation.parameters[: len(statements[-1].args)])
        telling = sorted(own, key=lambda fact: _first_step(fact.path) not in given)
        step = _first_step(telling[0].path) if telling else ""
        return f"sets_{_words(step)}" if step else ""
    verb = "is" if operation.kind == "property" and not last.startswith(("is_", "has_")) else "returns"
    if whole is not None and operation.kind != "setter" and not _is_uninformative(operation, whole):
        is_text = operation.returns.name == "builtins.str" or operation.operator in (
            "__repr__",
            "__str__",
            "__format__",
        )
        words = "long_text" if whole.kind == "length" and is_text else _result_words(whole)
        if words:
            return f"{verb}_{words}"
    output = next((fact for fact in assertions if fact.kind in CAPTURED), None)
    if output is not None:
        return _output_words(output)
    changed = next((fact for fact in assertions if fact.position in statements[-1].refs and fact.path), None)
    if changed is not None and changed not in steady and changed.path == ".getvalue()":
        return _output_words(changed, "writes")
    if changed is not None and (step := _words(_first_step(changed.path))):
        if operation.kind == "setter" and step == _words(last):
            return ""
        return f"{'keeps' if changed in steady else 'updates'}_{step}"
    if operation.returns.kind == "class" and operation.returns.name and own:
        return f"{verb}_{_words(operation.returns.name.rpartition('.')[2])}"
    part = next((fact for fact in own if (step := _first_step(fact.path))), None)
    words = _result_words(part) if part is not None and part.path in (f".{step}", f".{step}()") else ""
    if words and part is not None:
        return f"{verb}_{words}" if part.path.endswith("()") else f"{_words(step)}_is_{words}"
    return ""


def _output_words(fact: Observation, verb: str = "prints") -> str:
    """Return words for what a test printed, wrote into a file object, logged or warned of."""
    if fact.kind in ("warned", "logged"):
        return "warns" if fact.kind == "warned" else "logs"
    text = ast.literal_eval(fact.expression.text) if isinstance(fact.expression, Literal) else ""
    words = _text_words((text if isinstance(text, str) else text.decode("latin-1")).strip("\n"))
    return f"{verb}_{'text' if words in _LETTERS else words}"


def _is_uninformative(operation: Operation, fact: Observation) -> bool:
    """Return whether the fact is the None of an operation without a result."""
    return fact.expression == Literal("None") and operation.returns.kind == "none"


def _first_step(path: str) -> str:
    """Return the first attribute of an observation's path, "" if there is none."""
    found = re.match(r"\.(\w+)", path)
    return found[1] if found else ""


def _result_words(fact: Observation) -> str:
    """Return words for a whole result, "" if there are none."""
    if fact.kind in ("is not", "nan"):
        return "something" if fact.kind == "is not" else "nan"
    if fact.kind in ("is", "equal") and isinstance(fact.expression, Ref):
        return "same_object" if fact.kind == "is" else "equal_object"
    if fact.kind == "isinstance" and isinstance(fact.expression, Name):
        return _words(fact.expression.qualname)
    if fact.kind == "length" and isinstance(fact.expression, Literal):
        size = int(fact.expression.text)
        return f"{_number_word(size)}_items" if size != 1 else "one_item"
    words = next(_value_words(fact.expression), "")
    return "string" if words in _LETTERS else words
