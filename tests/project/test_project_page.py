"""The page of a report: it escapes its content, is reproducible, and works in a browser."""

from __future__ import annotations

import builtins
import os
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from nightly import nightly
from sample_project import TILL, make, record

from fitgym.cli import main
from fitgym.mutants.generation import mutants
from fitgym.project.layout import find
from fitgym.project.report.covered import Ran
from fitgym.project.report.page import adds, change, counted, html, percent, write_page
from fitgym.project.report.recorded import Recorded
from fitgym.project.report.report import Addition, Growth, Line, Report, ReportedModule, ReportedTest, report


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Report:
    root = make(tmp_path_factory.mktemp("sample"), tests__test_bad_py="import nothing_of_that_name\n")
    record(root)
    return report(find(str(root)))


def fields(**changes: Any) -> dict[str, Any]:
    """What a report consists of that was made by hand."""
    growth = Growth(0, 1, 2)
    told = {"name": "m", "path": "m.py", "source": "x = 1\n", "lines": (Line(1, "existing"), Line(2))}
    return {
        **told,
        "branches": growth,
        "statements": growth,
        "mutants": None,
        "additions": (),
        "record": Recorded(),
        **changes,
    }


class Tags(HTMLParser):
    """Counts elements, and keeps which are open, to see that all are closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.ids: list[str] = []
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        named = dict(attrs)
        self.ids += filter(None, [named.get("id")])
        self.targets += [target[1:] for target in [named.get("href") or ""] if target.startswith("#")]
        if tag not in ("meta", "input"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def parsed(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    return tags


def test_every_element_is_closed_and_every_link_leads_somewhere(sample: Report) -> None:
    tags = parsed(html(sample))
    assert len(tags.ids) == len(set(tags.ids))
    assert set(tags.targets) <= set(tags.ids) and tags.targets


def test_the_same_report_gives_the_same_page(sample: Report, tmp_path: Path) -> None:
    write_page(sample, tmp_path / "made" / "page.html")
    assert (tmp_path / "made" / "page.html").read_text("utf-8") == html(sample)


def test_the_page_needs_no_network(sample: Report) -> None:
    assert re.findall(r"https?://|src=|@import|url\(", html(sample)) == []


def test_the_page_says_what_was_left_out_and_what_could_not_be_read(sample: Report) -> None:
    text = html(sample)
    for told in (
        "test_total_of_now: AssertionError",
        "minimising: stopped by the clock",
        "nothing_of_that_name",
        "No record",
    ):
        assert told in text


HOSTILE = "</code></details><script>alert(1)</script><img src=x onerror=alert(2)>&amp;\"'{{ 7*7 }}{% raise %}"


def test_hostile_texts_are_only_text() -> None:
    ran = Ran(HOSTILE, Path(HOSTILE), 1, False, 2, "failed", HOSTILE)
    module = ReportedModule(
        **fields(
            name=HOSTILE,
            path=HOSTILE,
            source=HOSTILE + "\n" + HOSTILE,
            lines=(Line(1, "existing", (0,), (HOSTILE,)), Line(2)),
            additions=(Addition(0, 1, 1, 1),),
            record=Recorded(HOSTILE, dropped=((HOSTILE, HOSTILE),), unfinished=(HOSTILE,)),
        )
    )
    text = html(Report(HOSTILE, (module,), (ReportedTest(HOSTILE, HOSTILE, 1, HOSTILE, ran),), ((HOSTILE, HOSTILE),)))
    tags = parsed(text)
    assert tags.seen.count("script") == 1 and "img" not in tags.seen
    assert "49" not in text and "{{ 7*7 }}" in text


def test_a_report_of_nothing_is_a_page() -> None:
    parsed(html(Report("nothing", (), (), ())))
    parsed(html(Report("m", (ReportedModule(**fields(branches=None, statements=None)),), (), ())))
    parsed(
        html(Report("m", (ReportedModule(**fields(branches=Growth(0, 0, 0), source="", lines=(Line(1),))),), (), ()))
    )


def test_tests_beyond_the_first_ones_are_counted() -> None:
    tests = tuple(
        ReportedTest(f"test_{n}", "t.py", 1, "", Ran(f"t.py::test_{n}", Path("t.py"), 1, True, 1, "passed", ""))
        for n in range(30)
    )
    lines = (Line(1, "generated", tuple(range(30))), Line(2))
    text = html(Report("m", (ReportedModule(**fields(lines=lines)),), tests, ()))
    assert "Run by 30 tests:" in text and "and 22 more" in text


def test_mutants_are_told_in_short() -> None:
    found = {one.id: change(one) for one in mutants(TILL)}
    assert found["change:1:12:relational:<="] == ("<", "<=")
    assert found["change:3:4:deletion:pass"] == ("return paid - due", "")
    (long,) = [
        change(one)
        for one in mutants(f"def f(x):\n    x.append(\n        {'x + ' * 60}1)\n")
        if one.operator == "deletion"
    ]
    assert len(long[0]) == 72 and "\n" not in long[0] and long[0].endswith("…")


@pytest.mark.parametrize(
    ("growth", "after"), [((0, 199, 200), "99 %"), ((0, 200, 200), "100 %"), ((0, 0, 0), "100 %"), ((0, 0, 3), "0 %")]
)
def test_a_share_is_rounded_down(growth: tuple[int, int, int], after: str) -> None:
    assert percent(Growth(*growth)) == after
    assert percent(Growth(None, 1, 2), before=True) == "-"


def test_numbers_have_their_noun() -> None:
    assert (counted(1, "branch"), counted(2, "branch"), counted(0, "line")) == ("1 branch", "2 branches", "0 lines")
    assert adds(Addition(0, 2, 1, 0)) == "1 branch, 2 lines" and adds(Addition(0, 0, 0, 0)) == ""


# ----------------------------------------------------------------------------------------------------- command line


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["report", *arguments])
    return int(str(ended.value.code))


def test_the_command_writes_the_page_and_the_files_for_ci(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    record(make(tmp_path / "project"))
    monkeypatch.chdir(tmp_path)
    files = ["--output", "out/page.html", "--cobertura", "out/c.xml", "--lcov", "out/l.info", "--junit", "out/j.xml"]
    assert run("./project", *files) == 0
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"page.html", "c.xml", "l.info", "j.xml"}
    said = capsys.readouterr()
    assert said.out.splitlines()[:3] == [
        "shop: 2 modules, 2 existing tests, 3 generated tests",
        "branches 3 -> 6/6, lines 9 -> 13/16",
        "mutants 2/3 killed",
    ]
    assert "running the tests in tests" in said.err


def test_a_failing_test_is_a_finding_and_the_page_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(make(tmp_path, tests__test_a_py="def test_a():\n    assert 0\n"))
    assert run("--only", "shop.till", "--quiet") == 1
    said = capsys.readouterr()
    assert "1 test did not pass, 0 files could not be collected" in said.out and said.err == ""
    assert "shop.idle" not in (tmp_path / "fitgym-report.html").read_text("utf-8")


def test_without_jinja_one_sentence_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    real = builtins.__import__

    def without(name: str, *arguments: Any, **keywords: Any) -> Any:
        if name.partition(".")[0] == "jinja2":
            raise ModuleNotFoundError("No module named 'jinja2'", name="jinja2")
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    assert run(str(make(tmp_path))) == 2
    assert capsys.readouterr().err == "fitgym: a report needs the package jinja2; pip install 'fitgym[study]'\n"


# ---------------------------------------------------------------------------------------------------------- browser

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome") or ""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not CHROMIUM:
        pytest.skip("no Chromium is installed: apt-get install chromium, or name one in CHROMIUM")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(params=[True, False], ids=["script", "no script"])
def page(browser: Any, sample: Report, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The page, once with JavaScript and once without, offline; an error on the console fails the test."""
    write_page(sample, tmp_path / "page.html")
    context = browser.new_context(
        viewport={"width": 1100, "height": 900}, java_script_enabled=request.param, offline=True
    )
    opened = context.new_page()
    problems: list[str] = []
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("requestfailed", lambda one: problems.append(one.url))
    opened.goto((tmp_path / "page.html").as_uri())
    yield opened
    assert problems == []
    context.close()


def test_a_module_opens_from_the_table_and_a_line_shows_its_tests(page: Any) -> None:
    page.get_by_role("link", name="shop.till").first.click()
    line = page.locator("#m1-21")
    line.locator("summary").click()
    panel = line.locator(".p")
    assert "Run by 1 test: test_change_2_1_returns_1" in panel.inner_text()
    assert "test_change_2_1_returns_1 notices - → +" in panel.inner_text()
    panel.get_by_role("link").first.click()
    page.locator("#t2 pre").wait_for(state="visible")
    assert "assert change(2, 1) == 1" in page.locator("#t2 pre").inner_text()


def test_a_survivor_is_seen_without_a_click_and_explained_with_one(page: Any) -> None:
    page.get_by_role("link", name="shop.till").first.click()
    line = page.locator("#m1-19")
    assert "1 survives" in line.locator("summary").inner_text()
    line.locator("summary").click()
    assert "< → <=" in line.locator(".p").inner_text()


def test_a_line_opens_by_the_keyboard(page: Any) -> None:
    page.get_by_role("link", name="shop.till").first.click()
    page.locator("#m1-25 summary").focus()
    page.keyboard.press("Enter")
    assert "No test runs this line." in page.locator("#m1-25 .p").inner_text()


def test_gaps_can_be_shown_alone(page: Any) -> None:
    page.get_by_role("link", name="shop.till").first.click()
    page.locator("details[open] > div > .only input").check()
    assert [line.get_attribute("id") for line in page.locator("#m1 .l").all() if line.is_visible()] == [
        "m1-19",
        "m1-25",
    ]


@pytest.mark.parametrize("width", [1100, 360])
def test_nothing_is_wider_than_the_screen_but_what_scrolls_by_itself(browser: Any, sample: Report, width: int) -> None:
    opened = browser.new_page(viewport={"width": width, "height": 800})
    opened.set_content(html(sample))
    opened.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    opened.close()


CONTRASTS = """selectors => {
  const parts = text => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => { const f = v => (v /= 255) <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
    return .2126 * f(r) + .7152 * f(g) + .0722 * f(b); };
  const back = node => { for (; node; node = node.parentElement) { const c = parts(getComputedStyle(node).backgroundColor);
    if (c.length && c[3] !== 0) return c; } };
  return selectors.flatMap(s => [...document.querySelectorAll(s)].map(node => {
    const [a, b] = [light(parts(getComputedStyle(node).color)), light(back(node))];
    return [s, (Math.max(a, b) + .05) / (Math.min(a, b) + .05)]; }));
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read_in_the_light_and_in_the_dark(browser: Any, sample: Report, scheme: str) -> None:
    opened = browser.new_page(color_scheme=scheme)
    opened.set_content(html(sample))
    opened.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    selectors = [
        "body",
        ".soft",
        ".l code",
        ".l i",
        ".l s",
        ".l em > *",
        ".p",
        ".p a",
        ".p code",
        "pre i",
        ".tag",
        ".warning",
    ]
    found = opened.evaluate(CONTRASTS, selectors)
    assert {name for name, _ in found} == set(selectors)
    assert [(name, ratio) for name, ratio in found if ratio < 4.5] == []  # WCAG AA
    opened.close()


def test_the_table_sorts_by_number(browser: Any, sample: Report) -> None:
    opened = browser.new_page()
    opened.set_content(html(sample))
    opened.locator("th button").nth(2).click()
    assert opened.locator("tbody tr td:first-child").all_inner_texts() == ["shop.idle", "shop.till"]
    opened.locator("th button").nth(2).click()
    assert opened.locator("tbody tr td:first-child").all_inner_texts() == ["shop.till", "shop.idle"]
    opened.close()


@nightly
def test_a_module_of_three_thousand_lines_has_a_small_page(browser: Any) -> None:
    source = "\n".join(f"value_{number} = {number} + len('text')" for number in range(3000))
    tests = tuple(
        ReportedTest(
            f"test_{n}", "t.py", 1, "def test(): pass", Ran(f"t.py::test_{n}", Path("t.py"), 1, True, 1, "passed", "")
        )
        for n in range(300)
    )
    lines = tuple(Line(number, "generated", tuple(range(300))) for number in range(1, 3001))
    text = html(Report("big", (ReportedModule(**fields(source=source, lines=lines)),), tests, ()))
    assert len(text) < 4_000_000  # all names at all lines would take thirty
    opened = browser.new_page()
    opened.set_content(text)
    assert opened.locator(".l").count() == 3000 + 3
    opened.close()
