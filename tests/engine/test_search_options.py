"""Options of search algorithms: each value has the type and the range of its declaration."""

from __future__ import annotations

import pytest

from fitgym.engine.choices import SEARCH, parse_search
from fitgym.errors import InputError
from fitgym.registry import keywords


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mosa:crossover=9", "'mosa': crossover is 9, expected a number of at least 0.0 and at most 1.0"),
        ("mosa:crossover=-0.1", "crossover is -0.1"),
        ("mosa:crossover=true", "crossover is True"),
        ("mosa:crossover=null", "crossover is None"),
        ("mosa:crossover=NaN", "crossover is nan"),
        ("mosa:tournament=1.5", "tournament is 1.5, expected a whole number"),
        ("mosa:tournament=[1]", r"tournament is \[1\]"),
        ("adynamosa:fresh=2", "'adynamosa': fresh is 2"),
        ("whole_suite:use_archive=3", "use_archive is 3, expected true or false"),
        ("whole_suite:max_tests=10000000", "max_tests is 10000000"),
        ("mio:kept=-1", "kept is -1"),
    ],
)
def test_a_value_out_of_its_range_is_one_sentence(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_search(text)


@pytest.mark.parametrize("name", SEARCH.names())
def test_every_default_is_in_its_range(name: str) -> None:
    for option, value in keywords(SEARCH.load(name)).items():
        written = str(value).lower() if isinstance(value, bool) else value
        assert parse_search(f"{name}:{option}={written}")[1] == {option: value}
