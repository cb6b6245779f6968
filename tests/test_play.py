"""Playing: the game, its private server, the command, and a real browser."""

from __future__ import annotations

import http.client
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from nightly import all_but

from fitgym.errors import InputError, UnknownName
from fitgym.player.game import BEST_CONSTANT, Game
from fitgym.player.server import HOST, Server
from fitgym.run.evaluation import run
from fitgym.run.replay import replay
from fitgym.run.setting import Setting

VAULT = str(Path(__file__).parent / "programs" / "vault.py")


def setting(budget: str = "7g", **options: Any) -> Setting:
    return Setting.from_keywords(
        subject=VAULT, goal="coverage", budget=budget, population=6, **{"actions": ["branch", "line"], **options}
    )


@pytest.fixture(scope="module")
def played() -> Iterator[Game]:
    """A game whose person has ended an episode."""
    game = Game(setting(), ("ucb", BEST_CONSTANT, "oracle"))
    while not game.episode.ended:
        game.step("branch")
    yield game
    game.close()


# -------------------------------------------------------------------------------------------------------------- game


@pytest.mark.parametrize("name", all_but(["ucb", "oracle"], ["oracle"]))
def test_a_rival_plays_the_same_run_as_evaluate_does(played: Game, name: str) -> None:
    theirs = played.rival(name)["film"]
    row = run(Setting.from_keywords(**{**vars_of(played.setting), "agent": name}))
    assert theirs["steps"][-1]["value"] == row.value and row.record is not None
    assert [step["choice"] for step in theirs["steps"][1:]] == row.record["actions"]
    assert theirs["steps"][0] == played.film()["steps"][0]  # the same first population


def vars_of(one: Setting) -> dict[str, Any]:
    return {"env": one.env, "subject": one.subject, "seed": one.seed, "budget": one.budget, **one.options}


def test_the_best_constant_is_no_worse_than_a_person_who_never_changes(played: Game) -> None:
    found = played.rival(BEST_CONSTANT)
    assert found["film"]["steps"][-1]["value"] >= played.episode.steps[-1].value
    assert len({step["choice"] for step in found["film"]["steps"][1:]}) == 1
    assert "the best of 2 constants, known only afterwards" in found["told"]


def test_the_record_of_a_person_can_be_replayed(played: Game) -> None:
    assert played.complete is not None and played.complete["agent"] == "you"
    assert replay(played.complete).differences == ()


def test_what_cannot_be_played_is_refused_in_a_sentence(played: Game) -> None:
    with pytest.raises(InputError, match="the episode has ended: play another seed"):
        played.step("branch")
    with pytest.raises(InputError, match="'nobody' does not play here, expected one of ucb"):
        played.rival("nobody")
    with pytest.raises(UnknownName, match="did you mean 'ucb'"):
        Game(setting(), ("ubc",))
    with pytest.raises(InputError, match="cannot be played: expected a search with a catalogue of actions"):
        Game(setting(actions="bits"))
    with pytest.raises(InputError, match="cannot be played"):
        Game(Setting.from_keywords(env="fitgym/Toy-v0"))


def test_another_game_takes_the_next_seed_and_waits_for_the_person() -> None:
    game = Game(setting(seed=3), ("ucb",))
    try:
        before = game.film()
        game.step("line")
        after = game.again()
        assert game.setting.seed == 4 and len(after["steps"]) == 1 and after["setting"] != before["setting"]
        with pytest.raises(InputError, match="the rivals play after you"):
            game.rival("ucb")
        with pytest.raises(InputError, match="no action named 'lines'"):
            game.step("lines")
    finally:
        game.close()


def test_rivals_that_nobody_named_play_only_where_they_can() -> None:
    game = Game(setting())
    try:
        assert game.rivals == ("ucb", "uniform", BEST_CONSTANT, "oracle")  # no policy is trained for these actions
        assert game.film()["live"]["actions"] == ["branch", "line"]
    finally:
        game.close()


# ------------------------------------------------------------------------------------------------------------ server


class Fake:
    """Stands for a game that plays nothing."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def film(self) -> dict[str, Any]:
        return {"title": "a game", "live": {}}

    def step(self, action: str) -> dict[str, Any]:
        self.asked.append(f"{action} in {threading.current_thread().name}")
        if action == "wrong":
            raise InputError("no action named 'wrong'")
        return {"step": action}

    def rival(self, name: str) -> dict[str, Any]:
        return {"name": name}

    def again(self) -> dict[str, Any]:
        return {}


@contextmanager
def serving() -> Iterator[tuple[Server, Fake]]:
    """A server whose jobs run in a thread called main."""
    fake = Fake()
    with Server(fake, token="secret") as server:  # type: ignore[arg-type]
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                server.answer()

        worker = threading.Thread(target=work, name="main", daemon=True)
        worker.start()
        yield server, fake
        stop.set()
        server.get("")  # lets the worker see that it ends
        worker.join(5)


def ask(server: Server, path: str, body: Any = None, **headers: str) -> tuple[int, str, dict[str, str]]:
    connection = http.client.HTTPConnection(HOST, int(server.origin.rpartition(":")[2]), timeout=10)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    if body is not None:
        given = {"Content-Type": "application/json", **given}
        connection.request("POST", path, body if isinstance(body, str) else json.dumps(body), given)
    else:
        connection.request("GET", path, headers=given)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, dict(answer.getheaders())


def test_the_page_comes_with_the_token_and_a_strict_policy() -> None:
    with serving() as (server, _):
        assert server.url == f"{server.origin}/secret/" and server.origin.startswith(f"http://{HOST}:")
        status, text, headers = ask(server, "/secret/")
        assert status == 200 and "<title>a game" in text
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert headers["Cache-Control"] == "no-store" and "Access-Control-Allow-Origin" not in headers
        saved = ask(server, "/secret/replay.html")[1]
        assert '"live"' in text and '"live"' not in saved


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {}),
        ("/wrong/", {}),
        ("/secret2/", {}),
        ("/wrong/step", {}),
        ("/secret/", {"Host": "evil.example"}),
        ("/secret/", {"Origin": "http://evil.example"}),
        ("/secret/", {"Origin": "null"}),
        ("/secret/", {"Sec_Fetch_Site": "cross-site"}),
    ],
)
def test_whoever_lacks_the_token_or_comes_from_elsewhere_is_refused(path: str, headers: dict[str, str]) -> None:
    with serving() as (server, fake):
        for body in (None, {"action": "branch"}):
            assert ask(server, path, body, **headers)[0] == 403
        assert fake.asked == []


@pytest.mark.parametrize(
    ("path", "body", "headers", "status", "said"),
    [
        ("/secret/step", "[", {}, 400, "expected a short JSON object"),
        ("/secret/step", "[1]", {}, 400, "expected a short JSON object"),
        ("/secret/step", {"action": "x" * 20_000}, {}, 400, "expected a short JSON object"),
        ("/secret/step", {"action": "branch"}, {"Content_Type": "text/plain"}, 400, "expected a short JSON object"),
        ("/secret/step", {"action": "wrong"}, {}, 400, "no action named"),
        ("/secret/fly", {}, {}, 404, "no command 'fly'"),
        ("/secret/fly", None, {}, 404, "no such page"),
    ],
)
def test_what_is_no_command_is_answered_in_a_sentence(
    path: str, body: Any, headers: dict[str, str], status: int, said: str
) -> None:
    with serving() as (server, _):
        found = ask(server, path, body, **headers)
        assert found[0] == status and said in found[1]


def test_the_game_runs_in_the_thread_that_answers() -> None:
    with serving() as (server, fake):
        assert json.loads(ask(server, "/secret/step", {"action": "branch"}, Origin=server.origin)[1]) == {
            "step": "branch"
        }
        assert fake.asked == ["branch in main"]


def test_a_taken_port_is_refused() -> None:
    with serving() as (server, fake):
        taken = int(server.origin.rpartition(":")[2])
        with pytest.raises(InputError, match=f"port {taken} cannot be used"):
            Server(fake, taken)  # type: ignore[arg-type]


# ----------------------------------------------------------------------------------------------------------- command


@contextmanager
def command(folder: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The running command and the address that it prints."""
    line = [sys.executable, "-m", "fitgym", "play", VAULT, "--goal", "coverage", "--budget", "7g", "--population", "6"]
    running = subprocess.Popen(
        [*line, "--no-browser", *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    try:
        said = running.stdout.readline()
        found = re.match(r"Play at (http://127\.0\.0\.1:\d+/[\w-]{20,}/) \(Ctrl-C ends\)$", said)
        assert found is not None, said + (running.stderr.read() if running.stderr else "")
        yield running, found[1]
    finally:
        running.kill()
        running.communicate()


def children(process: int) -> list[str]:
    return Path(f"/proc/{process}/task/{process}/children").read_text().split()


def test_ctrl_c_ends_the_command_and_leaves_no_process(tmp_path: Path) -> None:
    with command(tmp_path) as (running, _):
        workers = children(running.pid)
        assert workers
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 0
        assert [one for one in workers if Path(f"/proc/{one}").exists()] == []
        assert running.stderr is not None and running.stderr.read() == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--port", "70000"], "port is 70000, expected a number from 0 to 65535"), (["--against", "ubc"], "'ucb'")],
)
def test_bad_input_is_one_sentence(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    from fitgym.cli import main

    with pytest.raises(SystemExit) as ended:
        main(["play", VAULT, "--goal", "coverage", "--no-browser", *arguments])
    assert ended.value.code == 2 and said in capsys.readouterr().err


CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome") or ""


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium is installed: apt-get install chromium, or name one in CHROMIUM")
def test_a_person_plays_a_whole_game_in_a_browser(tmp_path: Path) -> None:
    from playwright.sync_api import expect, sync_playwright

    with (
        command(tmp_path, "--against", "ucb", "--against", BEST_CONSTANT, "--json", "mine.json") as (running, url),
        sync_playwright() as driver,
    ):
        opened = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = opened.new_page()
        page.set_default_timeout(30_000)
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.goto(url)
        expect(page.locator("#go")).to_be_disabled()
        page.get_by_role("button", name="branch").first.click()
        page.locator("#go").click()
        expect(page.locator("#told")).to_contain_text("Step 1: branch")
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        expect(page.locator("#result")).to_be_visible(timeout=30_000)
        expect(page.locator("#rivals tr")).to_have_count(3, timeout=60_000)
        expect(page.locator("#verdict")).to_contain_text("on this seed", timeout=60_000)
        page.locator("#rivals tr", has_text="ucb").get_by_role("button").click()
        expect(page.locator("#told")).to_contain_text("Before the first choice")
        page.get_by_role("button", name="Play another seed").click()
        expect(page.locator("#play")).to_be_visible()
        expect(page.locator("#setting")).to_contain_text("seed 1")
        assert problems == []
        opened.close()
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 0
    assert json.loads((tmp_path / "mine.json").read_text())["steps"] == 2
