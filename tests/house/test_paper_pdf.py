"""The PDF of the paper: light, without navigation and scripts, from the built page."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def tool() -> Any:
    spec = importlib.util.spec_from_file_location("tool_paper_pdf", ROOT / "tools" / "paper_pdf.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_for_print_is_light_and_has_no_scripts(tool: Any) -> None:
    page = '<html><head><script src="a.js"></script></head><body data-theme="dark" x="y"><script>1</script>Text</body></html>'
    made = tool.printable(page)
    assert "<script" not in made and '<body data-theme="light">Text</body>' in made
    assert made.index("@page") < made.index("</head>")


def test_without_a_built_site_it_says_how_to_build_it(
    tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["paper_pdf.py", str(tmp_path)])
    assert tool.main() == 2
    assert "build the site first: make docs" in capsys.readouterr().err
