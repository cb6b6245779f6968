"""What pytest gives to any test that asks for it."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings

# How long an example takes is up to the machine and to what else it does.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
settings.register_profile("few", max_examples=10)


NO_PLUGINS = "PYTEST_DISABLE_PLUGIN_AUTOLOAD"


def pytest_collection_finish() -> None:
    """Thousands of tests that were collected are no garbage, and looking through them takes a third of a second."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Put what a finished file leaves behind out of the sight of the collector: some tests have it look through all."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.fixture(autouse=True, scope="session")
def _logs_of_others(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Models that tests make with Stable-Baselines3 itself write their logs here, not to a folder that stays."""
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
    """Runs the test once with each factory of probes, wherever a recorder is made."""
    # Not at the top: the exported suite among the golden files is run where fitgym cannot be imported.
    from fitgym.instrument.factories import missing

    name: str = request.param
    if name == "c" and missing():
        pytest.skip(missing())
    monkeypatch.setenv("FITGYM_SITES", name)
    return name
