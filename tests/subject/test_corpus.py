"""Corpora: the built-in one, users' lists, and errors for mistakes in them."""

from __future__ import annotations

import importlib.util
from collections import Counter
from pathlib import Path

import pytest

from fitgym.errors import InputError, UnknownName
from fitgym.subject.corpus import Corpus, corpora
from fitgym.subject.source import locate

ROOT = Path(__file__).parents[2]


def written(folder: Path, text: str) -> str:
    """The name of a file with this text."""
    path = folder / "mine.toml"
    path.write_text(text, "utf-8")
    return str(path)


def test_the_standard_corpus_has_three_splits_and_at_least_40_modules() -> None:
    corpus = Corpus.load("stdlib-v1")
    assert len(corpus.entries) >= 40
    assert list(corpus.splits) == ["train", "validation", "test"]
    assert min(corpus.splits.values()) >= 8


def test_no_module_is_in_two_splits() -> None:
    assert max(Counter(Corpus.load("stdlib-v1").subjects).values()) == 1


@pytest.mark.parametrize("subject", Corpus.load("stdlib-v1").subjects)
def test_every_module_of_the_standard_corpus_is_there_as_python_source(subject: str) -> None:
    assert locate(subject).path.endswith(".py")
    spec = importlib.util.find_spec(subject)
    assert spec is not None and spec.origin is not None and spec.origin.endswith(".py"), "frozen or compiled"


def test_a_split_is_a_part_of_its_corpus_in_order() -> None:
    whole, part = Corpus.load("stdlib-v1"), Corpus.load("stdlib-v1:test")
    assert part.name == "stdlib-v1:test"
    assert part.entries == tuple(entry for entry in whole.entries if entry.split == "test")


def test_the_corpora_that_come_with_fitgym_are_listed() -> None:
    assert corpora() == ["stdlib-v1"]


def test_a_list_of_ones_own_is_read(tmp_path: Path) -> None:
    name = written(
        tmp_path,
        """
        path = "packages"
        [[subject]]
        subject = "textwrap"
        split = "a"
        [[subject]]
        module = "arrow.formatter"
        class = "DateTimeFormatter"
        set = "b"
        version = "1.3.0"
        """,
    )
    corpus = Corpus.load(name)
    assert corpus.subjects == ("textwrap", "arrow.formatter:DateTimeFormatter")
    assert corpus.splits == {"a": 1, "b": 1}
    assert corpus.path == str(tmp_path / "packages")
    assert Corpus.load(f"{name}:b").subjects == ("arrow.formatter:DateTimeFormatter",)


def test_the_subjects_of_the_benchmarks_are_a_corpus() -> None:
    assert len(Corpus.load(f"{ROOT / 'benchmarks' / 'subjects.toml'}:core").entries) == 25


def test_a_list_without_splits_is_one_piece(tmp_path: Path) -> None:
    corpus = Corpus.load(written(tmp_path, '[[subject]]\nsubject = "shlex"\n'))
    assert corpus.splits == {"": 1} and corpus.path is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("subject = [", "is not TOML"),
        ("", "lists no subjects: expected tables that begin with [[subject]]"),
        ("subject = 1", "lists no subjects: expected tables that begin with [[subject]]"),
        ("[[subject]]\nsplit = 'a'", "subject 1 of the corpus '{}' names no module: give either"),
        ("[[subject]]\nsubject = 'a'\nmodule = 'b'", "names no module: give either subject = ... or module = ..."),
        ("[[subject]]\nsubject = ''", "subject 1 of the corpus '{}' names no module: it is empty"),
        ("[[subject]]\nsubject = 3", "subject 1 of the corpus '{}' has subject = 3, expected text"),
        ("[[subject]]\nsubject = 'a'\n[[subject]]\nsubject = 'a'", "lists 'a' twice: a subject belongs to one split"),
        ("path = 3\n[[subject]]\nsubject = 'a'", "has the path 3, expected the name of a folder"),
    ],
)
def test_a_mistake_in_a_list_is_explained(text: str, message: str, tmp_path: Path) -> None:
    name = written(tmp_path, text)
    with pytest.raises(InputError) as caught:
        Corpus.load(name)
    assert message.format(name) in str(caught.value) and "\n" not in str(caught.value)


def test_a_single_subject_has_a_comma_and_who_leaves_it_out_is_told() -> None:
    assert Corpus.load("textwrap,").subjects == ("textwrap",)
    with pytest.raises(UnknownName, match=r"no corpus named 'textwrap' .*, subjects with a comma after each\)"):
        Corpus.load("textwrap")


def test_an_unknown_corpus_or_split_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownName, match=r"no corpus named 'stdlib'; did you mean 'stdlib-v1'\?"):
        Corpus.load("stdlib")
    with pytest.raises(UnknownName, match=r"no split of the corpus 'stdlib-v1' named 'tset'; did you mean 'test'\?"):
        Corpus.load("stdlib-v1:tset")


def test_a_list_that_is_not_there_is_an_error() -> None:
    with pytest.raises(InputError, match=r"cannot read the corpus 'nowhere/mine\.toml'"):
        Corpus.load("nowhere/mine.toml:train")


def test_subjects_joined_by_commas_are_a_corpus_too() -> None:
    assert Corpus.load("colorsys, html,").subjects == ("colorsys", "html")
    assert Corpus.of(("a", "b"), "here").path == "here"
