"""Literals: the sources of constants, and small changes of constants.

Half of all constants come from a pool, the other half are random. The pool has a static part, the literals of the
subject, and a dynamic part, the operands observed at its comparisons. Strings may also be drawn from the regular
expressions of the subject. All constants are source text (see `expression.Literal`), so that 1, 1.0 and True remain
distinct.
"""

from __future__ import annotations

import ast
import math
import string
from collections.abc import Callable, Iterable, Sequence

from fitgym.chance import Chance
from fitgym.subject.code.affixes import Affixes
from fitgym.subject.code.matches import near_miss, sample
from fitgym.testcase.constants import LONGEST, Scalar, canonical, kind_of_text, text_of
from fitgym.testcase.rates import DEFAULT, Rates

__all__ = ["Literals"]

NO_AFFIXES = Affixes()

_STOCK = 32
"""Strings cached per regular expression and reused, because a new one costs as much as a whole mutation."""

_BOUNDARIES = (0, 1, -1, 2, 10, 16, 127, 128, 255, 256, -128, 1000)
_EXTREMES = (2**31 - 1, 2**31, -(2**31), 2**63)  # drawn rarely: as a number of items, they hit every limit
_FLOATS = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 0.1, 1e-9, 1e9, 1e308, 5e-324)
_RARE_FLOATS = (math.nan, math.inf, -math.inf)
_SHAPES = (
    "2024-02-29",
    "2024-02-29T12:30:45",
    "12:30",
    "1.2.3",
    "1.2.3-beta.1",
    "0",
    "42",
    "-1",
    "3.14",
    "1e5",
    "0x1F",
    "1,234",
    "true",
    "/tmp/a.txt",
    "a/b",
    "http://example.com/a?b=c#d",
    "user@example.com",
    "127.0.0.1",
    "key=value",
    "a,b,c",
    "a b c",
    "Hello World",
    "hello_world",
    "helloWorld",
    '{"a": 1}',
    "[1, 2]",
    "<a>b</a>",
    "(1)",
    "a: b",
    "line\nline",
)
"""One example of each format that programs commonly parse; seeds for mutation, not a dictionary."""

_PAIRS = tuple(first + second for first in string.ascii_lowercase for second in string.ascii_lowercase)
_UNICODE = "äßéñЖλ中あ€😀\u00a0\u200b\u0301"
_PRINTABLE = string.ascii_letters + string.digits + string.punctuation + " "


class Literals:
    """The constants for test cases of one subject.

    Args:
        constants: literals of the subject's source, as source text.
        patterns: regular expressions of the subject's source.
        rates: probabilities of the sources, and the size of random values.
        affixes: strings that the subject looks for in other strings.

    Attributes:
        keywords: constants of the source that could be names of keyword arguments, in order of first occurrence.
    """

    def __init__(
        self,
        constants: Iterable[str],
        patterns: Iterable[str],
        rates: Rates = DEFAULT,
        *,
        affixes: Affixes = NO_AFFIXES,
    ) -> None:
        self.patterns = tuple(dict.fromkeys(patterns))
        self.rates = rates
        self.affixes = affixes
        self._assembles = bool(affixes.starts or affixes.separators)
        self._static: dict[str, list[Scalar]] = {}
        self._dynamic: dict[str, list[Scalar]] = {}
        self._dynamic_texts: dict[str, None] = {}
        self._values: dict[str, Scalar] = {}
        self._stock: dict[str, list[str]] = {}
        for text in dict.fromkeys(filter(None, map(canonical, constants))):
            self._static.setdefault(kind_of_text(text), []).append(self.value(text))
        self.keywords = [word for word in self._static.get("str", ()) if isinstance(word, str) and word.isidentifier()]
        texts = self._static.setdefault("str", [])
        for value in self._static.get("bytes", ()):  # bytes in one place are often text in another
            spelt = value.decode("latin-1") if isinstance(value, bytes) else ""
            if spelt.isascii() and spelt.isprintable() and spelt not in texts:
                texts.append(spelt)
        # Characters with a meaning for the subject: those of its constants and of its regular expressions.
        words = [word for word in self._static.get("str", ()) if isinstance(word, str)]
        self._alphabet = "".join(dict.fromkeys("".join(words)[:2000] + "".join(self.patterns)[:2000]))

    def learn(self, texts: Iterable[str]) -> None:
        """Add operands observed at comparisons to the dynamic pool; a full pool drops the oldest."""
        known = self._dynamic_texts
        for text in texts:
            found = None if text in known else canonical(text)
            if found is None or found in known:
                continue
            known[found] = None
            self._dynamic.setdefault(kind_of_text(found), []).append(self.value(found))
            self.trim()

    def trim(self) -> None:
        """Drop the oldest constants of the dynamic pool beyond `Rates.dynamic_size`."""
        known = self._dynamic_texts
        while len(known) > self.rates.dynamic_size:
            oldest = next(iter(known))
            del known[oldest], self._dynamic[kind_of_text(oldest)][0]

    def value(self, text: str) -> Scalar:
        """Return the value of a canonical text."""
        known = self._values
        if text in known:
            return known[text]
        if text[0] in "'\"" and "\\" not in text:
            # Without escapes the value is the text between the quotes.
            return text[1:-1]
        value: Scalar
        if text.removeprefix("-").isdecimal():
            value = int(text)
        else:
            value = float(text[7:-2]) if text.startswith("float(") else ast.literal_eval(text)
        if len(self._values) >= 10_000:  # a cache of parsed texts: clearing it only costs time
            self._values.clear()
        self._values[text] = value
        return value

    def of_kind(self, kind: str, rng: Chance) -> str:
        """Return the text of a random constant of one of `KINDS`."""
        return text_of(self._DRAWS[kind](self, rng))

    def drawing(self, kind: str) -> tuple[Callable[[Chance], Scalar], Callable[[Scalar], str]]:
        """Return the functions that draw and write a constant of one of `KINDS`: `of_kind` without look-ups."""
        draw: Callable[[Chance], Scalar] = self._DRAWS[kind].__get__(self)
        return draw, text_of if kind in ("float", "complex", "ellipsis") else repr

    def perturbed(self, text: str, rng: Chance) -> str:
        """Return the text of a slightly different constant of the same kind; equal for kinds without another value."""
        kind = kind_of_text(text)
        if kind == "str":
            return text_of(self._perturbed_str(str(self.value(text)), rng))
        if kind == "int":
            return text_of(self._perturbed_int(int(text), rng))
        if kind == "bool":
            return "False" if text == "True" else "True"
        value = self.value(text)
        if isinstance(value, float):
            return text_of(self._perturbed_float(value, rng))
        if isinstance(value, bytes):
            changed = self._perturbed_str(value.decode("latin-1"), rng)
            return text_of(changed.encode("latin-1", "ignore"))
        if isinstance(value, complex):
            return text_of(complex(self._perturbed_float(value.real, rng), value.imag))
        return text

    # Numbers

    def _int(self, rng: Chance) -> int:
        random = rng.random
        pooled = self._pooled("int", rng)
        if isinstance(pooled, int):
            where = random()
            # The neighbours of a constant take the other outcomes of a comparison with it.
            return pooled - 1 if where < 0.15 else pooled + 1 if where < 0.3 else pooled
        where, small = random(), self.rates.small_numbers
        if where < 0.8 * small:
            return int(random() * 14) - 3  # -3 to 10
        if where < small - 0.02:
            return _BOUNDARIES[int(random() * len(_BOUNDARIES))]
        if where < small:
            return _EXTREMES[int(random() * len(_EXTREMES))]
        return int(_normal(rng) * self.rates.max_int)

    def _float(self, rng: Chance) -> float:
        random = rng.random
        pooled = self._pooled("float", rng)
        if isinstance(pooled, float) and random() < 0.7:
            return pooled
        where, small = random(), self.rates.small_numbers
        if where < 0.04 * small:
            return _RARE_FLOATS[int(random() * 3)]
        if where < small / 3:
            return _FLOATS[int(random() * len(_FLOATS))]
        if where < small * 2 / 3:
            return self._number(self._int(rng))
        scale = 10 if where < small else self.rates.max_int
        return round(_normal(rng) * scale, int(random() * 4))

    @staticmethod
    def _number(value: int) -> float:
        try:
            return float(value)
        except OverflowError:
            return math.inf

    def _complex(self, rng: Chance) -> complex:
        return complex(self._float(rng), self._float(rng) if rng.random() < 0.7 else 0.0)

    def _bool(self, rng: Chance) -> bool:
        return bool(rng.random() < 0.5)

    def _none(self, rng: Chance) -> None:
        return None

    def _ellipsis(self, rng: Chance) -> Scalar:
        return ...  # type: ignore[return-value]  # the only constant whose class has no public name in `typing`

    def _perturbed_int(self, value: int, rng: Chance) -> int:
        random = rng.random
        where = random()
        if where < self.rates.random_perturbation:
            return self._int(rng)
        if where < 0.75 or abs(value) >= 10**100:
            step = 1 + int(random() * (3 if where < 0.5 else self.rates.max_delta))
            return value + step if random() < 0.5 else value - step
        if where < 0.85:
            return -value
        digits = str(abs(value))
        if where < 0.95:
            place = int(random() * len(digits))
            digits = digits[:place] + str(int(random() * 10)) + digits[place + 1 :]
        else:
            digits = digits + "0" if random() < 0.5 else digits[:-1] or "0"
        return -int(digits) if value < 0 else int(digits)

    def _perturbed_float(self, value: float, rng: Chance) -> float:
        random = rng.random
        where = random()
        if where < self.rates.random_perturbation or not math.isfinite(value):
            return self._float(rng)
        if where < 0.4:
            return value + int(random() * (2 * self.rates.max_delta + 1)) - self.rates.max_delta
        if where < 0.6:
            return value + _normal(rng)
        if where < 0.75:
            return -value
        if where < 0.85:
            return float(round(value))
        if where < 0.95:
            return round(value, int(random() * 3))
        return value * (2.0 if random() < 0.5 else 0.5)

    # Text

    def _str(self, rng: Chance) -> str:
        random = rng.random
        if self.patterns and random() < self.rates.pattern_rate:
            return self._matching(rng)
        if self._assembles and self.rates.assembled_rate and random() < self.rates.assembled_rate:
            return self._assembled(rng)
        pooled = self._pooled("str", rng)
        if isinstance(pooled, str):
            where = random()
            return pooled if where < 0.6 else self._varied(pooled, rng)
        where = random()
        if where < 0.08:
            return ""
        if where < 0.12:
            return (" ", "  ", "\t", "\n", "\r\n")[int(random() * 5)]
        if where < 0.35:
            return _SHAPES[int(random() * len(_SHAPES))]
        length = 1 + int(
            random() * random() * self.rates.string_length
        )  # short ones are more likely, because they are easier to read
        if where < 0.45:
            return f"{int(random() * 10**length):0{length}}"
        if where < 0.75:
            return _letters(length, rng)
        return "".join([self._character(rng) for _ in range(length)])

    def _assembled(self, rng: Chance) -> str:
        """Assemble a string: a prefix that the subject tests for, words with its separators in between, a suffix."""
        random = rng.random
        starts, ends, separators = self.affixes.starts, self.affixes.ends, self.affixes.separators
        parts: list[str] = []
        if starts and random() < 0.5:
            parts.append(starts[int(random() * len(starts))])
        glue = self._separator(rng)
        for place in range(1 + int(random() * random() * 5)):
            if place and separators:
                parts.append(glue if random() < 0.5 else self._separator(rng))
            parts.append(self._word(rng))
        if ends and random() < 0.3:
            parts.append(ends[int(random() * len(ends))])
        return "".join(parts)[:LONGEST]

    def _separator(self, rng: Chance) -> str:
        separators = self.affixes.separators
        return separators[int(rng.random() * len(separators))] if separators else ""

    def _word(self, rng: Chance) -> str:
        """Draw a short string to put between two separators."""
        random = rng.random
        where = random()
        if where < 0.35:
            return self._pooled_str(rng)
        if where < 0.5:
            return str(int(random() * random() * 100))
        if where < 0.55:
            return ""
        return _letters(1 + int(random() * 3), rng)

    def _matching(self, rng: Chance) -> str:
        pattern = self.patterns[int(rng.random() * len(self.patterns))]
        stock = self._stock.setdefault(pattern, [])
        if len(stock) == _STOCK and rng.random() < 0.8:
            return stock[int(rng.random() * _STOCK)]
        text = (sample if rng.random() < 0.7 else near_miss)(pattern, rng)[:LONGEST]
        if len(stock) < _STOCK:
            stock.append(text)
        else:
            stock[int(rng.random() * _STOCK)] = text
        return text

    def _varied(self, text: str, rng: Chance) -> str:
        """Return a part of `text`, or `text` joined with another constant, repeated, or in another case."""
        random = rng.random
        where = random()
        if where < 0.08:
            return (text * (2 + int(random() * 3)))[:LONGEST]
        if where < 0.14:  # for length limits: as many letters as a number from the pool
            return (text + "x" * min(abs(self._int(rng)), LONGEST))[:LONGEST]
        if where < 0.36:
            start = int(random() * (len(text) + 1))
            return text[start : start + 1 + int(random() * len(text))]
        if where < 0.7:
            other = self._pooled_str(rng)
            glue = ("", "", " ", ",", ".", "-", "_", "\n")[int(random() * 8)]
            return (text + glue + other)[:LONGEST]
        return (str.upper, str.lower, str.title, str.swapcase, str.strip)[int(random() * 5)](text)

    def _pooled_str(self, rng: Chance) -> str:
        pooled = self._pooled("str", rng, certainly=True)
        return pooled if isinstance(pooled, str) else _SHAPES[int(rng.random() * len(_SHAPES))]

    def _character(self, rng: Chance) -> str:
        random = rng.random
        where = random()
        if where < 0.5 and self._alphabet:
            return self._alphabet[int(random() * len(self._alphabet))]
        if where > 0.97:
            return _UNICODE[int(random() * len(_UNICODE))]
        return _PRINTABLE[int(random() * len(_PRINTABLE))]

    def _perturbed_str(self, text: str, rng: Chance) -> str:
        """Change a string: delete, replace and insert characters, or take or insert a constant.

        Each of the three changes of characters has probability 1/3 (EvoSuite 1.0.7).
        """
        random = rng.random
        where = random()
        if where < 0.1:
            return self._varied(text, rng)
        if self._assembles and self.rates.assembled_rate and where > 0.85:
            return self._pieced(text, rng)
        if where < 0.25:
            place = int(random() * (len(text) + 1))
            piece = self._matching(rng) if self.patterns and random() < 0.5 else self._pooled_str(rng)
            if where < 0.15:  # replace the whole text: a constant is rarely drawn again inside another value
                return piece[:LONGEST]
            return (text[:place] + piece + text[place:])[:LONGEST]
        changed = text
        for _ in range(3):  # with probability 8/27 none of the three applies: retry, so that the mutation has an effect
            if changed and random() < 1 / 3:
                place = int(random() * len(changed))
                changed = changed[:place] + changed[place + 1 :]
            if changed and random() < 1 / 3:
                place = int(random() * len(changed))
                changed = changed[:place] + self._character(rng) + changed[place + 1 :]
            if random() < 1 / 3:
                place = int(random() * (len(changed) + 1))
                changed = changed[:place] + self._character(rng) + changed[place:]
            if changed != text:
                break
        return changed[:LONGEST]

    def _pieced(self, text: str, rng: Chance) -> str:
        """Add a prefix, a suffix or a separator (and a word) to the text."""
        random = rng.random
        starts, ends, separators = self.affixes.starts, self.affixes.ends, self.affixes.separators
        where = random()
        if starts and where < 0.35:
            return (starts[int(random() * len(starts))] + text)[:LONGEST]
        if ends and where < 0.5:
            return (text + ends[int(random() * len(ends))])[:LONGEST]
        if not separators:
            return self._varied(text, rng)
        place = len(text) if random() < 0.6 else int(random() * (len(text) + 1))
        piece = self._separator(rng) + (self._word(rng) if random() < 0.6 else "")
        return (text[:place] + piece + text[place:])[:LONGEST]

    def _bytes(self, rng: Chance) -> bytes:
        pooled = self._pooled("bytes", rng)
        if isinstance(pooled, bytes):
            return pooled
        if rng.random() < 0.2:
            return bytes([int(rng.random() * 256) for _ in range(int(rng.random() * 5))])
        return self._str(rng).encode("utf-8", "replace")

    def _pooled(self, kind: str, rng: Chance, certainly: bool = False) -> Scalar:
        """Draw a constant of the pool, or None if the draw rejects the pool or it is empty."""
        random = rng.random
        if not certainly and random() >= self.rates.static_pool:
            return None
        pool: Sequence[Scalar] = self._static.get(kind, ())
        dynamic = self._dynamic.get(kind)
        if dynamic and (not pool or random() < self.rates.dynamic_pool):
            pool = dynamic
        return pool[int(random() * len(pool))] if pool else None

    _DRAWS: dict[str, Callable[[Literals, Chance], Scalar]] = {  # noqa: RUF012 - never changed
        "none": _none,
        "bool": _bool,
        "int": _int,
        "float": _float,
        "complex": _complex,
        "str": _str,
        "bytes": _bytes,
        "ellipsis": _ellipsis,
    }


def _letters(length: int, rng: Chance) -> str:
    """Return a string of random lower-case letters."""
    text = "".join([_PAIRS[int(rng.random() * 676)] for _ in range((length + 1) // 2)])
    return text[:length]


def _normal(rng: Chance) -> float:
    """Draw a number from the standard normal distribution (Box and Muller 1958)."""
    return math.sqrt(-2.0 * math.log(1.0 - rng.random())) * math.cos(math.tau * rng.random())
