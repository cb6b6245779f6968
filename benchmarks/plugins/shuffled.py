"""A pytest plugin: run the tests in the order that the environment variable SHUFFLE_SEED draws."""

from __future__ import annotations

import os
import random

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Shuffle in place."""
    random.Random(int(os.environ["SHUFFLE_SEED"])).shuffle(items)
