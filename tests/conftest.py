"""What pytest gives to any test that asks for it."""

from __future__ import annotations

import pytest
from hypothesis import settings

from fitgym.instrument.factories import missing

settings.register_profile("few", max_examples=10)


@pytest.fixture(params=["python", pytest.param("c", marks=pytest.mark.skipif(bool(missing()), reason=missing()))])
def sites(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs the test once with each factory of probes, wherever a recorder is made."""
    name: str = request.param
    monkeypatch.setenv("FITGYM_SITES", name)
    return name
