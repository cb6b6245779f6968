"""Fixtures and settings for all tests."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings

# The duration of an example depends on the machine and its load.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
settings.register_profile("few", max_examples=10)


NO_PLUGINS = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"


def pytest_collection_finish() -> None:
    """Freeze the collected tests: scanning thousands of them takes the collector a third of a second."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Freeze the objects that a finished file leaves, because some tests make the collector scan everything."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _logs_of_others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Send the logs of models made with Stable-Baselines3 itself to a temporary folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SB3_LOGDIR", str(tmp_path_factory.mktemp("logs")))
        yield


@pytest.fixture(autouse=True, scope="session")
def _no_plugins() -> Iterator[None]:
    """Loading installed plugins takes half of the time of a short pytest run, and tests start hundreds of those."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(NO_PLUGINS, "1")
        yield


@pytest.fixture
def _plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of pytest that this test starts load the installed plugins."""
    monkeypatch.delenv(NO_PLUGINS)


@pytest.fixture(params=["python", "c"])
def sites(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test once with each factory of probes, for every recorder that it makes."""
    # Not at the top: the exported suite among the golden files is run where fitgym cannot be imported.
    from fitgym.instrument.factories import missing

    name: str = request.param
    if name == "c" and missing():
        pytest.skip(missing())
    monkeypatch.setenv("FITGYM_SITES", name)
    return name
