"""A pytest plugin that runs the tests in a random order, drawn with the environment variable SHUFFLE_SEED."""

from __future__ import annotations

import os
import random

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle in place."""
    random.Random(int(os.environ["SHUFFLE_SEED"])).shuffle(items)
