"""Library: tables of the argument types of built-in functions, modules and methods, and of types by name.

The tables relate names in a source to types and uses; `reader` and `calls` look names up here.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fitgym.subject.types.evidence import Uses
from fitgym.subject.types.hints import ANY, Hint, union

__all__ = ["CALLS", "COPYING", "FORMATS", "HAVING", "METHOD_CALLS", "MODULES", "MODULE_CALLS", "PASSED_ON", "TYPES"]

TYPES: Mapping[str, Hint] = MappingProxyType(
    {
        **{name: Hint("class", f"builtins.{name}") for name in ("int", "float", "str", "bytes", "bool", "complex")},
        **{name: Hint("class", f"builtins.{name}") for name in ("bytearray", "range", "slice", "object")},
        **{name: Hint(name, args=(ANY,)) for name in ("list", "set", "frozenset")},
        "dict": Hint("dict", args=(ANY, ANY)),
        "tuple": Hint("tuple", args=(ANY, Hint("ellipsis"))),
        "type": Hint("type", args=(ANY,)),
        "NoneType": Hint("none"),
        "basestring": Hint("class", "builtins.str"),
        "unicode": Hint("class", "builtins.str"),
        "string_types": Hint("class", "builtins.str"),
        "text_type": Hint("class", "builtins.str"),
        "integer_types": Hint("class", "builtins.int"),
        "Iterable": Hint("iterable", args=(ANY,)),
        "Sequence": Hint("sequence", args=(ANY,)),
        "Mapping": Hint("mapping", args=(ANY, ANY)),
        "MutableMapping": Hint("dict", args=(ANY, ANY)),
        "Callable": Hint("callable", args=(Hint("ellipsis"), ANY)),
        "Number": union([Hint("class", "builtins.int"), Hint("class", "builtins.float")]),
        "Iterator": Hint("iterator", args=(ANY,)),
        "Set": Hint("set", args=(ANY,)),
        "Hashable": ANY,
    }
)
"""Types by the names that occur in `isinstance` and similar calls, names of Python 2 and `collections.abc` included."""

CALLS: Mapping[str, tuple[Uses, ...]] = MappingProxyType(
    {
        "len": ("length",),
        "range": ("integer", "integer"),
        "abs": ("number",),
        "round": ("number", "integer"),
        "divmod": ("number", "number"),
        "pow": ("number", "number", "number"),
        "chr": ("integer",),
        "ord": ("text",),
        "bin": ("integer",),
        "hex": ("integer",),
        "oct": ("integer",),
        "open": ("file", "text"),
        "Path": ("file",),
        "ZipFile": ("file", "text"),
        "sum": ("iterated", ""),
        "sorted": ("iterated",),
        "list": ("iterated",),
        "tuple": ("iterated",),
        "set": ("iterated",),
        "frozenset": ("iterated",),
        "enumerate": ("iterated",),
        "iter": ("iterated",),
        "reversed": ("indexed",),
        "any": ("iterated",),
        "all": ("iterated",),
        "next": ("advanced", ""),
        "map": ("", "iterated", "iterated"),
        "filter": ("", "iterated"),
        "zip": ("iterated", "iterated"),
        "getattr": ("", "text"),
        "setattr": ("", "text", ""),
        "hasattr": ("", "text"),
        "eval": ("text",),
        "exec": ("text",),
        "__import__": ("text",),
        "reduce": ("", "iterated"),
        "islice": ("iterated", "integer", "integer"),
        "chain": ("iterated", "iterated"),
        "from_iterable": ("iterated",),
        "takewhile": ("", "iterated"),
        "dropwhile": ("", "iterated"),
        "filterfalse": ("", "iterated"),
        "groupby": ("iterated", ""),
        "tee": ("iterated", "integer"),
        "cycle": ("iterated",),
        "starmap": ("", "iterated"),
        "zip_longest": ("iterated", "iterated"),
        "deque": ("iterated", "integer"),
        "Counter": ("iterated",),
        "heapify": ("list",),
        "heappush": ("list", ""),
        "heappop": ("list",),
        "nlargest": ("integer", "iterated"),
        "nsmallest": ("integer", "iterated"),
    }
)
"""Uses that a call implies for its arguments, by position.

"" implies none. The last entry applies to all further arguments.
"""

COPYING: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("copy.copy", "copy.deepcopy", "copy", "deepcopy"), 0),
        **dict.fromkeys(("dict", "OrderedDict", "collections.OrderedDict"), 0),
        **dict.fromkeys(("typing.cast", "cast"), 1),
    }
)
"""Calls whose result is one of the arguments or a copy of it, with the position of the argument."""

MODULE_CALLS: Mapping[str, tuple[Uses, ...]] = MappingProxyType(
    {
        "re.compile": ("text",),
        **{f"re.{name}": ("text", "text") for name in ("match", "search", "fullmatch", "split", "findall", "finditer")},
        "re.sub": ("text", "", "text"),
        "re.subn": ("text", "", "text"),
        "re.escape": ("text",),
        **{
            f"math.{name}": ("real", "real")
            for name in ("sqrt", "log", "sin", "cos", "tan", "exp", "pow", "atan2", "fabs")
        },
        **{f"math.{name}": ("number",) for name in ("floor", "ceil", "isnan", "isinf", "trunc", "log10", "log2")},
        "math.factorial": ("integer",),
        "math.gcd": ("integer", "integer"),
        **{f"os.path.{name}": ("text", "text") for name in ("join", "basename", "dirname")},
        **{f"os.path.{name}": ("file",) for name in ("exists", "isfile", "isdir", "getsize", "getmtime")},
        **{f"os.{name}": ("file",) for name in ("stat", "listdir", "scandir", "walk", "remove", "unlink")},
        **{f"{name}.open": ("file", "text") for name in ("io", "codecs", "gzip", "bz2", "lzma", "tokenize")},
        "pathlib.Path": ("file",),
        "zipfile.ZipFile": ("file", "text"),
        **{
            f"os.path.{name}": ("text",)
            for name in ("abspath", "splitext", "split", "normpath", "realpath", "expanduser")
        },
        "json.loads": ("text",),
        "json.load": ("read",),
        "json.dump": ("", "written"),
        "csv.writer": ("written",),
        "csv.DictWriter": ("written",),
        "ast.parse": ("text",),
        "importlib.import_module": ("text", "text"),
        "time.sleep": ("real",),
        "random.choice": ("indexed",),
        "random.shuffle": ("list",),
    }
)
"""The same for functions that are called with the name of their module."""

METHOD_CALLS: Mapping[str, tuple[Uses, ...]] = MappingProxyType(
    {
        "join": ("iterated",),
        "startswith": ("text",),
        "endswith": ("text",),
        "splitlines": (),
        "extend": ("iterated",),
        "update": ("iterated",),
        "union": ("iterated",),
        "intersection": ("iterated",),
        "issubset": ("iterated",),
        "encode": ("text",),
        "decode": ("text",),
        "zfill": ("integer",),
        "ljust": ("integer", "text"),
        "rjust": ("integer", "text"),
        "center": ("integer", "text"),
        "lstrip": ("text",),
        "rstrip": ("text",),
        "partition": ("text",),
        "rpartition": ("text",),
        "strftime": ("text",),
    }
)
"""The same for methods of an object of unknown type."""

PASSED_ON = frozenset(
    {
        *("list", "tuple", "set", "frozenset", "iter", "sorted", "reversed", "islice", "deque"),
        *("takewhile", "dropwhile", "filter", "filterfalse", "cycle"),
    }
)
"""Functions whose result has the elements of an argument."""

FORMATS: Mapping[str, tuple[Uses, ...]] = MappingProxyType(
    {
        **dict.fromkeys("dixXobc", ("integer",)),
        **dict.fromkeys("fFeEgG", ("number",)),
    }
)
"""Uses that a conversion of a format (`%d`, `{:f}`) implies for its value."""

HAVING: Mapping[str, tuple[Hint, ...]] = MappingProxyType(
    {
        "__iter__": (TYPES["Iterable"],),
        "__len__": (TYPES["list"],),
        "__call__": (TYPES["Callable"],),
        "__getitem__": (TYPES["Sequence"],),
        "__next__": (TYPES["Iterator"],),
        "keys": (TYPES["dict"],),
        "items": (TYPES["dict"],),
        "read": (Hint("class", "io.StringIO"),),
        "readline": (Hint("class", "io.StringIO"),),
        "write": (Hint("class", "io.StringIO"),),
        "lower": (TYPES["str"],),
        "split": (TYPES["str"],),
        "encode": (TYPES["str"],),
        "decode": (TYPES["bytes"],),
        "append": (TYPES["list"],),
    }
)
"""Types that have an attribute, by the attribute name in a `hasattr` call."""

MODULES = frozenset({"itertools", "functools", "builtins", "collections", "heapq", "chain"})
"""Modules whose functions may be called by their own name or with the name of the module."""
