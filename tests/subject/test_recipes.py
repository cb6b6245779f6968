"""Recipes: objects of the standard library that arguments need."""

from __future__ import annotations

import ast
import importlib
import itertools
from operator import attrgetter

import pytest

from fitgym.subject.introspection.recipes import INSTANCES, RECIPES, Recipe

WRITTEN = {
    f"{recipe.name} for {name}": recipe
    for name, recipes in RECIPES.items()
    for recipe in recipes
    if recipe.kind != "method" and all(hint.kind == "literal" for _, hint, _ in recipe.parameters)
}


@pytest.mark.parametrize("recipe", WRITTEN.values(), ids=WRITTEN)
def test_every_combination_of_listed_arguments_makes_an_object(recipe: Recipe) -> None:
    make = attrgetter(recipe.name)(importlib.import_module(recipe.module))
    values = [[ast.literal_eval(text) for text in hint.texts] for _, hint, _ in recipe.parameters]
    for given in itertools.product(*values):
        assert make(*given) is not None


def test_a_duration_and_a_collection_are_never_made_without_content() -> None:
    for name in ("datetime.timedelta", "collections.Counter", "collections.deque", "collections.OrderedDict"):
        (recipe,) = RECIPES[name]
        _, _, required = recipe.parameters[0]
        assert required


@pytest.mark.parametrize(("name", "path"), [(name, path) for name, some in INSTANCES.items() for path in some])
def test_an_existing_object_has_the_class_that_it_is_listed_for(name: str, path: str) -> None:
    module, _, attribute = path.partition(":")
    home, _, qualname = name.partition(".")
    assert isinstance(
        attrgetter(attribute)(importlib.import_module(module)), getattr(importlib.import_module(home), qualname)
    )
