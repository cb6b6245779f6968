"""Fuzzing of user input: records, study files and agent folders are accepted, or refused in one sentence.

Each example is a good document with one place changed: replaced by any JSON value, taken out, renamed or nested deeper.
`make nightly` tries 10,000 of each.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nightly import nightly

from fitgym.agents.base import Agent
from fitgym.agents.ucb import UCB
from fitgym.errors import FitgymError, InputError
from fitgym.run.replay import setting_of
from fitgym.run.schema import StudyRecord, check, parsed
from fitgym.study.plan import Plan
from fitgym.study.validation import claims

RUN: dict[str, Any] = {
    **{"env": "fitgym/FitnessSelection-v0", "subject": "colorsys", "agent": "ucb", "seed": 0, "budget": "60x"},
    **{"options": {"goal": "coverage", "population": 5}, "actions": ["branch"], "rewards": [0.5], "steps": 1},
    **{"coverage": {"branch": {"covered": 1, "total": 2}}, "measured": None, "suite_path": "test_colorsys.py"},
    **{"exceptions": [{"type": "ValueError", "function": "f", "kind": "explicit"}], "unfinished": []},
}
CELL: dict[str, Any] = {
    **{"id": "0" * 16, "trial": "episode", "arm": "UCB", "subject": "colorsys", "seed": 0, "budget": "60x"},
    **{"settings": {"agent": "ucb"}, "measures": {"value": 1.0}, "series": {"action": ["branch"]}, "run": RUN},
    **{"seconds": {"run": 1.0}, "error": "", "fitgym_version": "0", "python": "3"},
}
PLAN: dict[str, Any] = {
    **{"name": "mine", "trial": "artificial", "metric": "covered", "subjects": ["gradient:3"], "seeds": 2},
    **{"budget": "40x", "settings": {"population": 10}, "arms": [{"name": "MIO", "search": "mio"}], "baseline": "MIO"},
    **{"sizes": {"small": {"seeds": 1}}, "published": {"source": "nobody", "MIO": 1.0}},
}

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([-1, 0, 10**7, 2**63, 10**40]),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(["", "/", "../x", "a\0b", "ucb:", "fixed:", "mosa:crossover=9", "1e9x", "x" * 300]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def changed(draw: st.DrawFn, document: dict[str, Any]) -> dict[str, Any]:
    """The document with one place changed."""
    result = copy.deepcopy(document)
    place: Any = result
    while True:
        step = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        inner = place[step]
        if not (isinstance(inner, dict | list) and inner and draw(st.booleans())):
            break
        place = inner
    match draw(st.sampled_from(["replace", "replace", "remove", "rename", "nest"])):
        case "replace":
            place[step] = draw(VALUES)
        case "remove":
            del place[step]
        case "rename" if isinstance(place, dict):
            place[draw(st.text(max_size=8))] = place.pop(step)
        case _:
            for _ in range(draw(st.sampled_from([1, 40, 500]))):
                place[step] = [place[step]]
    return result


def one_sentence(problem: FitgymError) -> None:
    text = str(problem)
    assert text and "\n" not in text and "Traceback" not in text and len(text) < 2000, text


def fuzz(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )


SIZES = [500, pytest.param(10_000, marks=nightly)]


@pytest.mark.parametrize("examples", SIZES)
def test_a_record_is_a_setting_or_one_sentence(examples: int) -> None:
    @fuzz(examples)
    @given(changed(RUN))
    def tried(record: dict[str, Any]) -> None:
        try:
            setting_of(record)
        except FitgymError as problem:
            one_sentence(problem)

    tried()


@pytest.mark.parametrize("examples", SIZES)
def test_a_record_of_a_study_fits_or_is_one_sentence(examples: int) -> None:
    @fuzz(examples)
    @given(changed(CELL))
    def tried(record: dict[str, Any]) -> None:
        try:
            check(record, StudyRecord)
        except FitgymError as problem:
            one_sentence(problem)

    tried()


@pytest.mark.parametrize("examples", SIZES)
def test_a_study_file_is_a_plan_or_one_sentence(examples: int) -> None:
    @fuzz(examples)
    @given(changed(PLAN))
    def tried(document: dict[str, Any]) -> None:
        try:
            Plan.of(document)
        except FitgymError as problem:
            one_sentence(problem)

    tried()


@pytest.mark.parametrize("examples", SIZES)
def test_a_study_file_of_any_text_is_one_sentence(examples: int, tmp_path: Path) -> None:
    @fuzz(examples)
    @given(st.binary(max_size=60) | st.text(alphabet="[]{}=\"'.#\n a1", max_size=60).map(str.encode))
    def tried(text: bytes) -> None:
        (tmp_path / "study.toml").write_bytes(text)
        with pytest.raises(InputError) as caught:
            Plan.load(tmp_path / "study.toml")
        one_sentence(caught.value)

    tried()


@pytest.mark.parametrize("examples", SIZES)
def test_a_file_of_records_of_any_text_holds_claims_or_is_one_sentence(examples: int, tmp_path: Path) -> None:
    texts = st.binary(max_size=60) | changed(RUN).map(lambda record: json.dumps(record).encode())

    @fuzz(examples)
    @given(texts, st.sampled_from(["a.json", "a.jsonl"]))
    def tried(text: bytes, name: str) -> None:
        (tmp_path / name).write_bytes(text)
        try:
            list(claims([tmp_path / name]))
        except FitgymError as problem:
            one_sentence(problem)

    tried()


@pytest.mark.parametrize("examples", SIZES)
def test_a_saved_agent_is_loaded_or_is_one_sentence(examples: int, tmp_path: Path) -> None:
    file = UCB(2).save(tmp_path / "agent") / "agent.json"
    description = json.loads(file.read_text("utf-8"))

    @fuzz(examples)
    @given(changed(description))
    def tried(document: dict[str, Any]) -> None:
        file.write_text(json.dumps(document), "utf-8")
        try:
            Agent.load(tmp_path / "agent")
        except FitgymError as problem:
            one_sentence(problem)

    tried()


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "9" * 5000])
def test_a_text_that_exhausts_the_parser_is_one_sentence(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parsed(text, "the record")
    one_sentence(caught.value)
