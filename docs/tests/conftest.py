"""Fixtures of the documentation tests: the Sphinx extensions, the built site on an address, a browser."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

DOCS = Path(__file__).parent.parent
sys.path[:0] = [str(DOCS / "extensions"), str(DOCS.parent / "benchmarks"), str(DOCS.parent / "notebooks")]


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """Where the site is served."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(DOCS.parent / "site")))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium, where there is one."""
    playwright = pytest.importorskip("playwright.sync_api", reason="a browser is driven by playwright (extra test)")
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no Chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
