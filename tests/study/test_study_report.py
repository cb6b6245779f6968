"""The report of a study: its content, its reproducibility, and its behaviour in a browser."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from nightly import nightly

from fitgym.study.analysis import Analysis
from fitgym.study.figures import figures
from fitgym.study.plan import Plan
from fitgym.study.report import Entry, Table, _overall, _percent, methods, report
from fitgym.study.results import GRID, PHASES, Choices, Results
from fitgym.study.store import Store
from fitgym.study.trials.base import trials

PLAN = Plan.of(
    {
        **{"name": "by <hand>", "question": "Is 2 > 1?", "trial": "episode", "baseline": "Default", "budget": "100x"},
        **{"subjects": ["colorsys", "textwrap", "string"], "seeds": 4, "settings": {"population": 5}},
        "arms": [{"name": "UCB"}, {"name": "Default", "agent": "own"}, {"name": "All", "agent": "all"}],
        "published": {"source": "a table", "UCB": 12.5},
    }
)
BASE = {"colorsys": 2.0, "textwrap": 10.0, "string": 5.0}
GAIN = {"UCB": 2.0, "Default": 0.0, "All": -1.0}


def record(arm: str, subject: str, seed: int, **changes: Any) -> dict[str, Any]:
    """A run by hand: values are a base of the subject, a gain of the arm and a little of the seed."""
    value = BASE[subject] + GAIN[arm] + seed / 10
    return {
        **{"arm": arm, "subject": subject, "seed": seed, "error": "", "fitgym_version": "0.1.0", "python": "3.11.7"},
        "measures": {
            "value": value,
            "rewards": value,
            "area": value / 2,
            "executions": 100,
            "generations": 10,
            "steps": 2,
        },
        "series": {
            "action": ["exception", "exception+branch"] if arm == "UCB" else ["exception"] * 2,
            "value": [0.0, value / 2, value],
            "reward": [value / 2, value / 2],
            "executions": [10, 50, 100],
        },
        "seconds": {"run": 1.0, "deciding": 0.01},
        **changes,
    }


def records() -> Iterator[dict[str, Any]]:
    for cell in PLAN.cells():
        yield record(cell.arm, cell.subject, cell.seed)


def written(study: Path, output: Path | None = None) -> list[Path]:
    """The files of a report on the records above."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "records", lambda self: records())
        return report(study, output)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a study with its report."""
    folder = tmp_path_factory.mktemp("study")
    Store.create(folder, PLAN)
    written(folder)
    return folder


# --------------------------------------------------------------------------------------------------------- numbers


def test_the_lines_of_the_arms_are_those_worked_out_by_hand() -> None:
    analysis = Analysis.of(Results(PLAN, records()))
    ucb, default, every = analysis.arms
    assert (ucb.runs, ucb.failed, ucb.published) == (12, 0, 12.5)
    assert ucb.median == pytest.approx(np.median([b + 2 + s / 10 for b in BASE.values() for s in range(4)]))
    assert (ucb.rank, default.rank, every.rank) == (1.0, 2.0, 3.0)
    assert ucb.beside is not None and ucb.beside.evidence.a12 == 1.0
    assert every.beside is not None and every.beside.evidence.a12 == 0.0 and default.beside is None
    assert ucb.beside.p == pytest.approx(0.5)  # three subjects: 2/8, times two arms
    assert ucb.beside.verdict == "no difference shown"
    assert ucb.generation_ms == pytest.approx(100.0) and ucb.deciding == pytest.approx(0.01)
    assert ucb.share.value > default.share.value > every.share.value


def test_of_arms_with_equal_ranks_none_is_called_the_best() -> None:
    def ranked(gain: dict[str, float]) -> Analysis:
        even = [one | {"measures": {"value": BASE[one["subject"]] + gain[one["arm"]]}} for one in records()]
        return Analysis.of(Results(PLAN, even))

    two = ranked({"UCB": 1.0, "Default": 1.0, "All": 0.0})
    assert "best mean rank UCB and Default." in two.sentences[-1] and "ranks" in figures(two.results, two.ranks)
    same = ranked(dict.fromkeys(GAIN, 0.0))
    assert "all mean ranks are the same." in same.sentences[-1] and "ranks" not in figures(same.results, same.ranks)


def test_subjects_have_their_best_arm_and_corrected_tests() -> None:
    lines = Analysis.of(Results(PLAN, records())).subjects
    assert [line.best for line in lines] == [("UCB",)] * 3
    assert lines[0].centres["UCB"] == pytest.approx(4.15)
    assert {arm: found.evidence.a12 for arm, found in lines[0].beside.items()} == {"UCB": 1.0, "All": 0.0}
    assert lines[0].beside["UCB"].p == pytest.approx(6 * 2 / 70)  # 2 of 70 ways to choose 4 of 8, times six tests
    assert not lines[0].beside["UCB"].verdict.stated


def many(seeds: int = 4) -> Plan:
    """The plan with eight subjects."""
    return replace(PLAN, subjects=tuple("abcdefgh"), seeds=tuple(range(seeds)))


def runs_of(plan: Plan, gain: dict[str, float]) -> Iterator[dict[str, Any]]:
    """Runs whose value is the place of the subject, the gain of the arm and a little of the seed."""
    for cell in plan.cells():
        value = 10.0 * plan.subjects.index(cell.subject) + 10.0 + gain[cell.arm] + cell.seed / 10
        yield record(cell.arm, "colorsys", cell.seed) | {"subject": cell.subject, "measures": {"value": value}}


def test_an_effect_is_stated_by_interval_and_adjusted_p_with_the_p_beside_it() -> None:
    """Eight subjects, all ahead or all behind: p = 2/2^8, times two arms and times one."""
    found = Analysis.of(Results(many(), runs_of(many(), GAIN)))
    better, worse = found.sentences[:2]
    assert better == (
        "By value, UCB is better than Default. A12 1.00 [1.00, 1.00], ahead on 8 and behind on 0 of 8 subjects; "
        "Holm-adjusted p = 0.016 (Wilcoxon over the subjects)."
    )
    assert worse.startswith("By value, All is worse than Default. A12 0.00")
    overall = _overall(found)
    assert [row[overall.heads.index("verdict")].text for row in overall.rows] == ["better", "-", "worse"]
    assert [row[overall.heads.index("Holm-adjusted p")].text for row in overall.rows] == ["0.016", "-", "0.016"]


def test_an_interval_alone_states_no_effect() -> None:
    """One subject ahead by chance in all seeds and seven alike: the test has one pair, so p = 1."""
    runs = [
        one | {"measures": {"value": float(one["seed"]) + (one["arm"] == "UCB" and one["subject"] in "ab")}}
        for one in runs_of(many(), GAIN)
    ]
    (ucb, *_) = Analysis.of(Results(many(), runs)).arms
    assert ucb.beside is not None and ucb.beside.verdict == "no difference shown" and ucb.beside.p > 0.05


def test_with_one_seed_there_is_no_verdict_anywhere() -> None:
    found = Analysis.of(Results(many(1), runs_of(many(1), GAIN)))
    assert found.sentences[0].startswith("By value, UCB beside Default, one seed: no verdict. A12 1.00")
    assert "Holm-adjusted p" not in " ".join(found.sentences) + " ".join(_overall(found).heads)
    assert found.sentences[2].endswith("all 3 pairs: one seed: no verdict.")
    assert found.ranks is not None and min(found.ranks.pairs.values()) >= 0.05
    assert found.warnings[0] == "One seed: no verdict. Every difference may change with another seed."
    assert not any(one.verdict.stated for line in found.subjects for one in line.beside.values())


def test_pairs_of_arms_follow_the_rule_with_p_adjusted_for_all_pairs() -> None:
    """Eight subjects, all in the same order: 2/2^8, times three pairs. With six subjects it is 3/32, and nothing is shown."""
    found = Analysis.of(Results(many(), runs_of(many(), GAIN)))
    assert "all 3 pairs: UCB and Default; UCB and All; Default and All." in found.sentences[2]
    assert found.ranks is not None and list(found.ranks.pairs.values()) == pytest.approx([3 * 2 / 2**8] * 3)
    few = replace(many(), subjects=tuple("abcdef"))
    found = Analysis.of(Results(few, runs_of(few, GAIN)))
    assert "all 3 pairs: none." in found.sentences[2]
    assert found.ranks is not None and set(found.ranks.pairs.values()) == {1.0}


def test_a_table_of_agents_without_null_arms_says_so() -> None:
    said = Analysis.of(Results(PLAN, records())).warnings[-1]
    assert said.startswith("Null arms are missing: random search (") and "best constant (" in said
    arms = [
        {"name": "Uniform", "agent": "uniform"},
        {"name": "Random", "agent": "random_fixed"},
        {"name": "Best constant", "agent": "fixed:exception"},
        {"name": "Random search", "agent": "uniform", "search": "random_search"},
    ]
    whole = Plan.of(
        {**{"name": "x", "trial": "episode", "budget": "100x", "subjects": ["colorsys"], "seeds": 2}, "arms": arms}
    )
    assert not any("Null arms" in one for one in Analysis.of(Results(whole, [])).warnings)


def test_what_a_reader_should_know_first_is_said() -> None:
    some = [one for one in records() if (one["arm"], one["seed"]) != ("All", 3)]
    some[0] = {**some[0], "error": "it <broke>", "measures": {}, "series": {}, "seconds": {}}
    some[1] = {**some[1], "python": "3.12.1"}
    said = Analysis.of(Results(PLAN, some)).warnings
    assert said[0] == "The study is not complete: 33 of 36 runs have ended."
    assert said[1].startswith("1 runs failed") and said[2].startswith("4 seeds for each subject are fewer than 30")
    assert any(
        one.startswith("Most decisions try an action for the first time in their run: UCB (100%). ") for one in said
    )
    assert "fitgym 0.1.0 on Python 3.11.7; fitgym 0.1.0 on Python 3.12.1" in said[-2]


def test_an_arm_with_one_action_is_not_said_to_have_tried_it() -> None:
    some = list(records())
    for number, one in enumerate(some):  # UCB has the first runs
        one["series"] = {**one["series"], "action": ["exception" if number else "branch"]}
    said = " ".join(Analysis.of(Results(PLAN, some)).warnings)
    assert "for the first time in their run: UCB (100%). " in said


def test_a_test_that_cannot_find_anything_is_not_called_surer() -> None:
    said = " ".join(Analysis.of(Results(PLAN, records())).warnings)
    # 2 arms beside the baseline, 3 subjects: at least 2/8 * 2
    assert "3 subjects are too few" in said and "more certain" not in said
    said = " ".join(Analysis.of(Results(replace(PLAN, subjects=tuple("abcdefg")), [])).warnings)  # 2/128 * 2
    assert "too few" not in said and "Results over all subjects are more certain." in said


def test_arms_that_made_the_same_choices_are_named() -> None:
    said = "UCB and All made the same choices, so they cannot be distinguished here."

    def warnings(more: float) -> tuple[str, ...]:
        """UCB and All choose alike; All reaches as much, and so much more."""
        runs = [
            record("UCB", cell.subject, cell.seed) | {"arm": cell.arm} for cell in PLAN.cells() if cell.arm != "Default"
        ]
        return Analysis.of(
            Results(PLAN, [one | {"measures": {"value": one["seed"] + more * (one["arm"] == "All")}} for one in runs])
        ).warnings

    assert said in warnings(0.0) and said not in warnings(1.0)
    assert said not in Analysis.of(Results(PLAN, records())).warnings


def test_a_study_without_any_result_has_a_report_too(tmp_path: Path) -> None:
    Store.create(tmp_path, PLAN)
    files = report(tmp_path)
    assert "0 of 36 runs have ended" in (tmp_path / "report.md").read_text("utf-8") and files


def test_the_time_for_a_generation_is_the_median_over_the_runs_in_the_table_as_in_the_figure() -> None:
    # Subject, seed, seconds and generations, in the order in which runs are made: 100, 75, 1500 and 50 ms.
    made = [("colorsys", 0, 1.0, 10), ("string", 0, 3.0, 40), ("colorsys", 1, 30.0, 20), ("string", 1, 0.5, 10)]
    runs = [
        record("UCB", subject, seed) | {"measures": {"value": 1.0, "generations": n}, "seconds": {"run": took}}
        for subject, seed, took, n in made
    ]
    results = Results(PLAN, runs)
    assert (
        results.generation_ms["UCB"] == pytest.approx([100.0, 75.0, 1500.0, 50.0]) and not results.generation_ms["All"]
    )
    assert Analysis.of(results).arms[0].generation_ms == pytest.approx(87.5)


def test_choices_are_counted_by_the_tenth_of_the_run() -> None:
    choices = Choices()
    choices.add(["a"] * 5 + ["b"] * 5)
    choices.add(["b"])
    assert choices.times == {"a": 5, "b": 6} and choices.first == 3
    assert choices.phases["a"].tolist() == [1.0] * 5 + [0.0] * 5
    assert choices.phases["b"].tolist() == [1.0, 0, 0, 0, 0, 1.0, 1.0, 1.0, 1.0, 1.0] and PHASES == 10


def test_curves_keep_a_value_until_the_next_and_are_shares_of_the_most() -> None:
    curve = Results(PLAN, [record("UCB", "colorsys", 0), record("Default", "colorsys", 0)]).curves("value")["UCB"]
    half = np.flatnonzero(GRID >= 0.5 - 1e-9)[0]
    assert curve.middle[half - 1] == 0.0 and curve.middle[half] == pytest.approx(0.5) and curve.middle[-1] == 1.0


def test_how_soon_the_level_of_the_baseline_is_reached_is_told_with_those_that_never_do() -> None:
    early = [
        {**one, "series": {**one["series"], "value": [one["measures"]["value"]] * 3}} if one["arm"] == "UCB" else one
        for one in records()
    ]
    reaches = Results(PLAN, early).reaches()
    ucb, default, every = (reaches[arm] for arm in ("UCB", "Default", "All"))
    assert (ucb.median, ucb.reached, ucb.runs) == (pytest.approx(0.1), 12, 12)  # from the first of 10 of 100 executions
    assert (default.median, default.reached) == (1.0, 6)  # the upper half of its own runs, at their end
    assert (every.median, every.reached) == (float("inf"), 0)
    assert ucb.curve[8] == 0.0 and ucb.curve[9] == 1.0 and default.curve[-2] == 0.0 and default.curve[-1] == 0.5
    overall = _overall(Analysis.of(Results(PLAN, early)))
    place = overall.heads.index("at the level of Default after")
    assert [row[place].text for row in overall.rows] == ["10% (12 of 12)", "100% (6 of 12)", "- (0 of 12)"]


def test_no_level_is_told_of_what_has_no_course() -> None:
    assert Results(replace(PLAN, metric="area"), records()).reaches() == {}


def test_a_level_that_is_lost_again_counts_as_reached() -> None:
    lost = record("UCB", "colorsys", 0)
    lost["series"]["value"] = [0.0, 9.0, 1.0]
    found = Results(PLAN, [lost, record("Default", "colorsys", 0)]).reaches()["UCB"]
    assert found.reached == 1 and found.median == pytest.approx(0.5)


FAULTS = """
[[fault]]
id = "easy"
subject = "easy"
fixed = "fixed"
buggy = "buggy"

[[fault]]
id = "hard"
subject = "hard"
fixed = "fixed"
buggy = "buggy"
"""


def test_the_methods_have_no_gap_left_to_be_filled(faults: Plan) -> None:
    for plan, centre in ((PLAN, "medians"), (faults, "mean values")):
        text = " ".join(methods(plan))
        assert "{" not in text and "}" not in text
        assert f"Friedman's test over the {centre} of the subjects" in text and f"over their {centre}," in text


@pytest.fixture
def faults(tmp_path: Path) -> Plan:
    (tmp_path / "faults.toml").write_text(FAULTS, "utf-8")
    arms = [{"name": "UCB"}, {"name": "Default", "agent": "own"}, {"name": "All", "agent": "all"}]
    return Plan.of(
        {
            **{"name": "faults", "trial": "fault", "metric": "detected", "baseline": "Default", "budget": "10x"},
            **{"subjects": ["easy", "hard"], "seeds": 4, "path": str(tmp_path / "faults.toml"), "arms": arms},
        }
    )


def detections(plan: Plan) -> Iterator[dict[str, Any]]:
    """UCB detects the easy fault in every run and the hard one in one of four; the others the easy one in half."""
    for cell in plan.cells():
        detected = cell.seed % 4 < {"easy": 4, "hard": 1}[cell.subject] if cell.arm == "UCB" else False
        detected = detected or (cell.subject == "easy" and cell.seed < 2)
        measures = {"detected": float(detected), "failing": int(detected), "value": 2.0 if detected else 1.0}
        yield {
            **{"arm": cell.arm, "subject": cell.subject, "seed": cell.seed, "error": "", "fitgym_version": "0.1.0"},
            **{"python": "3.11.7", "measures": measures, "series": {}, "seconds": {}},
        }


def test_of_what_happens_or_not_the_likelihood_is_told_and_no_median(faults: Plan) -> None:
    analysis = Analysis.of(Results(faults, detections(faults)))
    overall = _overall(analysis)
    assert overall.heads[3] == "likelihood of detected" and not [head for head in overall.heads if "median" in head]
    assert [line.share.value for line in analysis.arms] == [0.625, 0.25, 0.25]
    assert [line.centres["UCB"] for line in analysis.subjects] == [1.0, 0.25]
    assert "Likelihoods are means" in methods(faults)[1]


def test_detection_is_put_beside_how_far_the_goal_was_reached(faults: Plan) -> None:
    said = Analysis.of(Results(faults, detections(faults))).sentences
    # a run has all of the goal where it detects and half of it else
    assert "point-biserial correlation r = 1.00 over 24 runs" in said[-1]
    never = [{**one, "measures": {**one["measures"], "detected": 0.0}} for one in detections(faults)]
    assert "no correlation" in Analysis.of(Results(faults, never)).sentences[-1]


@pytest.mark.parametrize("name", trials().names())
def test_every_metric_that_a_trial_names_twice_is_one_of_its_metrics(name: str) -> None:
    kind = trials().load(name)
    assert kind.likelihoods <= set(kind.metrics)


@pytest.mark.parametrize("name", trials().names())
def test_the_methods_can_begin_with_what_every_trial_is(name: str) -> None:
    first = (trials().load(name).__doc__ or "").strip().splitlines()[0]
    assert first.startswith("One ") and first.endswith(".") and "`" not in first


def test_the_methods_say_what_the_plan_says() -> None:
    text = " ".join(methods(PLAN))
    for part in (
        "3 arms were compared on 3 subjects with 4 seeds each, 36 runs",
        "100 executions of test cases",
        "All had search whole_suite, population 5, goal exceptions, reward growth.",
        "UCB (agent ucb); Default (agent own); All (agent all)",
    ):
        assert part in text


# ----------------------------------------------------------------------------------------------------------- files


@nightly
def test_the_same_records_give_the_same_bytes(study: Path, tmp_path: Path) -> None:
    again = {file.relative_to(tmp_path): file.read_bytes() for file in written(study, tmp_path)}
    assert again == {name: (study / name).read_bytes() for name in again}
    assert {"report.html", "report.md", "overall.tex", "subjects.tex"} <= {str(name) for name in again}


def test_every_figure_is_one_and_has_no_colour_of_text_of_its_own(study: Path) -> None:
    drawn = sorted((study / "figures").glob("*.svg"))
    assert [file.stem for file in drawn] == ["boxes", "chosen", "heat", "ranks", "reached", "reward", "times", "value"]
    for file in drawn:
        text = file.read_text("utf-8")
        ElementTree.fromstring(text)
        assert "currentColor" in text and "#010203" not in text


def test_every_figure_is_there_as_a_picture_too_on_white(study: Path) -> None:
    from matplotlib.image import imread

    drawn = sorted((study / "figures").glob("*.svg"))
    for file in drawn:
        picture = imread(file.with_suffix(".png"))
        assert picture.shape[1] == 1440
        edges = [*picture[0], *picture[-1]]
        assert all(pixel.tolist() == [1, 1, 1, 1] for pixel in edges) and picture[..., :3].min() < 0.2
    shown = re.findall(r"\(figures/(\w+)\.png\)", (study / "report.md").read_text("utf-8"))
    assert sorted(shown) == [file.stem for file in drawn]


def test_the_page_needs_nothing_from_elsewhere_and_names_are_escaped(study: Path) -> None:
    text = (study / "report.html").read_text("utf-8")
    assert "by &lt;hand&gt;" in text and "<hand>" not in text
    links = re.findall(r'(?:src|href)="([^"#]+)"', text)
    assert [link for link in links if not link.startswith("data:")] == []
    assert "@import" not in text and "fetch(" not in text
    HTMLParser().feed(text)


def test_every_column_that_needs_it_is_explained_between_spaces(study: Path) -> None:
    text = (study / "report.html").read_text("utf-8")
    (legend,) = re.findall(r"<p>(Metric, declared.*?)</p>", text, re.DOTALL)
    for word in ("Share:", "A12:", "At the level after:", "Deciding:", "Published:"):
        assert re.search(rf"[.]\s+{word}", legend), word


def test_a_small_share_of_time_is_not_nothing() -> None:
    assert [_percent(share).text for share in (0.000019, 0.01, 0.5, float("nan"))] == ["0.0019%", "1%", "50%", "-"]


def test_the_markdown_has_the_numbers_of_the_page(study: Path) -> None:
    lines = (study / "report.md").read_text("utf-8").splitlines()
    (ucb,) = [line for line in lines if line.startswith("| UCB |")]
    assert "1.00 [1.00, 1.00]" in ucb and "| 12.5 |" in ucb and "| 1.00 |" in ucb
    assert "| colorsys | **4.15** | 1.00 | 2.15 | 1.15 | 0.00 |" in lines


def test_latex_is_escaped() -> None:
    text = Table(("a_b", "50 %"), ((Entry("x & y"), Entry("1", 1.0, True)), (Entry("p < 0.05"), Entry("\\")))).latex()
    assert "a\\_b & 50 \\% \\\\" in text and "x \\& y & \\textbf{1} \\\\" in text
    assert "p $<$ 0.05 & \\char92{} \\\\" in text


# --------------------------------------------------------------------------------------------------------- browser

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome") or ""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not CHROMIUM:
        pytest.skip("no Chromium is installed: apt-get install chromium, or name one in CHROMIUM")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture
def page(study: Path, browser: Any) -> Iterator[Any]:
    opened = browser.new_page(viewport={"width": 1100, "height": 900})
    problems: list[str] = []
    opened.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("requestfailed", lambda request: problems.append(request.url))
    opened.goto((study / "report.html").as_uri())
    yield opened
    assert problems == []
    opened.close()


def column(page: Any, table: int, index: int) -> list[str]:
    found: list[str] = page.locator("table").nth(table).locator(f"tbody tr td:nth-child({index})").all_inner_texts()
    return found


def test_tables_sort_by_what_they_mean_in_both_directions(page: Any) -> None:
    assert column(page, 1, 1) == ["colorsys", "textwrap", "string"]
    head = page.locator("table").nth(1).locator("th button")
    head.nth(1).click()
    assert column(page, 1, 1) == ["colorsys", "string", "textwrap"]  # 4.15, 7.15, 12.15: by number, not by text
    head.nth(1).click()
    assert column(page, 1, 1) == ["textwrap", "string", "colorsys"]
    head.nth(0).click()
    assert column(page, 1, 1) == ["colorsys", "string", "textwrap"]
    page.locator("table").nth(0).locator("th button").nth(6).click()  # A12: the baseline has none and is last
    assert column(page, 0, 1)[-1] == "Default"
    page.locator("table").nth(0).locator("th button").nth(6).click()
    assert column(page, 0, 1) == ["UCB", "All", "Default"]


def test_every_figure_is_seen(page: Any) -> None:
    boxes = [figure.bounding_box() for figure in page.locator("figure svg").all()]
    assert len(boxes) == 8 and all(box["width"] > 300 and box["height"] > 80 for box in boxes)


@pytest.mark.parametrize("width", [1100, 360])
def test_nothing_is_wider_than_the_screen_but_what_scrolls_by_itself(page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_text_can_be_read_in_the_light_and_in_the_dark(page: Any) -> None:
    def contrast(selector: str) -> float:
        colours = page.evaluate(
            "s => { const e = document.querySelector(s); return [getComputedStyle(e).color,"
            " getComputedStyle(document.body).backgroundColor] }",
            selector,
        )
        lights = []
        for colour in colours:
            parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
            linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
            lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
        return (max(lights) + 0.05) / (min(lights) + 0.05)

    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for selector in ("body", "figcaption", "figure svg", ".question"):
            assert contrast(selector) > 4.5, (scheme, selector)  # WCAG AA
