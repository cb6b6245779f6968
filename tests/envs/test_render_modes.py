"""Every environment in every render mode: return values, no side effects, and videos."""

import json
import pickle
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.wrappers import RecordVideo
from nightly import every

from fitgym.envs import ENVIRONMENTS, VARIANTS, WITHOUT_SUBJECT
from fitgym.envs.action.activate import choices
from fitgym.envs.fitness_selection import FitnessSelection
from fitgym.envs.toy import Toy
from fitgym.errors import InputError, UnknownName
from fitgym.rendering.display import MODES
from fitgym.rendering.picture import HEAT, NEW, line_at, picture
from fitgym.testing import check_env_strict

TRIANGLE = str(Path(__file__).parents[1] / "programs" / "triangle.py")
EVERY = (*ENVIRONMENTS, *VARIANTS, *WITHOUT_SUBJECT)


def make(name, mode, **options):
    if name == "fitgym/MultiGoal-v0":
        options = {"weights": [1.0, 1.0], **options}
    if name not in WITHOUT_SUBJECT:
        options = {"subject": TRIANGLE, "budget": "30g", "population": 6, "generations_per_step": 1, **options}
    return gymnasium.make(name, render_mode=mode, **options)


def frames(env, steps=3):
    """The pictures of the beginning of an episode, with actions drawn by the seed."""
    env.action_space.seed(0)
    env.reset(seed=0)
    seen = [env.render()]
    for _ in range(steps):
        env.step(env.action_space.sample())
        seen.append(env.render())
    return seen


@pytest.mark.parametrize("name", every(2, EVERY))
@pytest.mark.filterwarnings("error")
def test_every_environment_draws_pictures_that_change_with_every_step(name):
    with make(name, "rgb_array") as env:
        seen = frames(env)
    assert all(frame.shape == (600, 800, 3) and frame.dtype == np.uint8 for frame in seen)
    assert len({frame.tobytes() for frame in seen}) == len(seen)


@pytest.mark.parametrize("name", every(2, EVERY))
@pytest.mark.filterwarnings("error")
def test_every_environment_shows_itself_to_people(name, capfd):
    with make(name, "human") as env:
        assert frames(env, steps=2) == [None, None, None]
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 3 and "Before the first choice" in lines[0] and "Step 2: " in lines[2]


@pytest.mark.parametrize("name", every(2, EVERY))
@pytest.mark.filterwarnings("error")
def test_every_environment_says_a_line(name):
    with make(name, "ansi") as env:
        assert all(isinstance(text, str) and "\n" not in text for text in frames(env))


@pytest.mark.parametrize("name", every(10, EVERY))
def test_gymnasium_accepts_every_declared_mode(name, recwarn):
    with make(name, "ansi") as env:
        assert env.metadata["render_modes"] == list(MODES)
        check_env(env.unwrapped)
    assert [str(w.message) for w in recwarn if "render" in str(w.message)] == []


@pytest.mark.parametrize("mode", MODES)
def test_the_episode_does_not_depend_on_the_mode(mode):
    def walked(mode):
        with make("fitgym/BranchCoverage-v0", mode) as env:
            return repr([env.reset(seed=3), *(env.step(action) for action in (0, 9, 4))])

    assert walked(mode) == walked(None)


@pytest.mark.parametrize("mode", every(2, ["rgb_array", "human"]))
@pytest.mark.parametrize("name", every(2, ["fitgym/BranchCoverage-v0", "fitgym/Artificial-v0", "fitgym/Toy-v0"]))
def test_environments_that_are_watched_are_as_strict_as_the_others(name, mode):
    options = {} if name in WITHOUT_SUBJECT else {"subject": TRIANGLE, "budget": "30g", "population": 6}
    check_env_strict(name, processes=False, checkers=False, render_mode=mode, **options)


def test_the_lines_of_the_picture_are_those_that_the_search_has_covered():
    with make("fitgym/BranchCoverage-v0", "rgb_array").unwrapped as env:
        frames(env, 4)
        engine = env.engine
        line = engine.measurements.fitness["line"]
        covered = {t.key[0] for t, done in zip(line.targets, engine.archive.covered("line"), strict=True) if done}
        episode = env._display.episode
        frame = picture(episode)
        for number in episode.listing.code:
            left, top, _, _ = line_at(episode, number)
            colour = tuple(map(int, frame[top + 1, left - 3]))
            assert (colour in (*HEAT, NEW)) == (number in covered), number


def test_where_the_algorithm_is_chosen_it_is_no_part_of_the_setting():
    with make("fitgym/AlgorithmSelection-v0", "rgb_array", fitness="branch").unwrapped as env:
        frames(env)
        episode = env._display.episode
    assert episode.options == env.options.searches and episode.setting.startswith(
        "goal exceptions · guided by branch · seed "
    )
    assert [len(step.active) for step in episode.steps] == [1] * len(episode.steps)


def test_of_a_class_its_own_part_is_shown():
    with FitnessSelection("fractions:Fraction", budget="6g", population=4, render_mode="rgb_array") as env:
        env.reset(seed=0)
        listing = env._display.episode.listing
    assert listing.lines[0].startswith("class Fraction")
    assert listing.first < min(listing.code) <= max(listing.code) < listing.first + len(listing.lines)
    assert listing.function(min(listing.code)) == "Fraction.__new__"


def test_of_equally_seeded_episodes_two_processes_draw_the_same_pictures():
    code = """
import hashlib, sys, gymnasium, fitgym.envs
env = gymnasium.make("fitgym/BranchCoverage-v0", subject=sys.argv[1], budget="30g", population=6, render_mode="rgb_array")
env.reset(seed=0)
digest = hashlib.sha256(env.render())
for action in (0, 9, 4):
    env.step(action)
    digest.update(env.render())
env.close()
print(digest.hexdigest())
"""
    command = [sys.executable, "-c", code, TRIANGLE]
    first, second = (
        subprocess.run(command, capture_output=True, text=True, env={"PYTHONHASHSEED": seed}, check=True).stdout
        for seed in ("1", "2")
    )
    assert first == second and len(first) == 65


def test_a_picture_belongs_to_whoever_asked_for_it():
    with Toy(render_mode="rgb_array") as env:
        env.reset()
        env.render()[:] = 0
        assert env.render().any()


@pytest.mark.parametrize("copied", [Toy.fork, lambda env: pickle.loads(pickle.dumps(env))], ids=["fork", "pickle"])
def test_a_copy_stays_off_the_terminal_until_its_own_episode_begins(copied, capfd):
    with Toy(render_mode="human") as env:
        env.reset()
        with copied(env) as twin:
            capfd.readouterr()
            twin.step(1)
            assert capfd.readouterr().err == ""
            twin.reset()
            assert capfd.readouterr().err == "toy: Before the first choice\n"
        env.step(2)
        assert capfd.readouterr().err.startswith("toy: Step 1: rising")


def test_a_copy_has_its_own_picture():
    with Toy(render_mode="rgb_array") as env:
        env.reset()
        before = env.render()
        twin = env.fork()
        twin.step(1)
        assert (env.render() == before).all() and (twin.render() != before).any()


def test_without_a_mode_nothing_is_kept():
    with make("fitgym/BranchCoverage-v0", None).unwrapped as env:
        frames(env)
        assert env.render() is None and env._display is None and env._footprint is None


@pytest.mark.parametrize(
    ("kind", "action", "said"),
    [
        ("bits", [1, 0, 1], "branch+output"),
        ("bits", [0, 0, 0], "as before"),
        ("weights", [1.0, -1.0, -0.34], "1.00 branch + 0.33 output"),
        ("singles", 1, "line"),
    ],
)
def test_an_action_is_shown_in_few_words(kind, action, said):
    assert choices(kind, ("branch", "line", "output")).read(action).label == said


def test_there_is_no_picture_before_the_first_episode():
    assert Toy(render_mode="rgb_array").render() is None


def test_an_unknown_mode_is_refused():
    with pytest.raises(UnknownName, match="no render mode named 'rgb_arry'; did you mean 'rgb_array'"):
        Toy(render_mode="rgb_arry")


@pytest.mark.parametrize("library", ["PIL", "matplotlib"])
def test_a_library_that_is_missing_is_named_with_its_extra(library, monkeypatch):
    for module in [name for name in sys.modules if name.startswith(("fitgym.rendering.picture", "fitgym.rendering.l"))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(
        InputError, match=f"^render mode 'rgb_array' needs {library}.*: pip install 'fitgym\\[render\\]'$"
    ):
        Toy(render_mode="rgb_array")
    Toy(render_mode="human").close()


@pytest.mark.parametrize("name", ["fitgym/BranchCoverage-v0", "fitgym/Toy-v0"])
def test_a_video_of_an_episode_can_be_read_back(name, tmp_path):
    video = pytest.importorskip("moviepy", reason="the extra 'video' is not installed")
    options = {"horizon": 6} if name == "fitgym/Toy-v0" else {"budget": "10g"}
    with RecordVideo(make(name, "rgb_array", **options), str(tmp_path / "videos"), disable_logger=True) as env:
        env.action_space.seed(0)
        env.reset(seed=0)
        n_frames, over, last = 1, False, None
        while not over:
            over = env.step(env.action_space.sample())[2]
            n_frames, last = n_frames + 1, env.env.render()
    (file,) = (tmp_path / "videos").glob("*.mp4")
    with video.VideoFileClip(str(file)) as clip:
        assert clip.size == [800, 600]
        assert round(clip.duration * clip.fps) == n_frames
        shown = clip.get_frame(clip.duration - 0.5 / clip.fps)
    assert np.abs(shown.astype(int) - last).mean() < 5  # but for the compression


def test_the_spec_of_a_watched_environment_is_json():
    with make("fitgym/Toy-v0", "rgb_array") as env:
        assert json.loads(env.spec.to_json())["kwargs"]["render_mode"] == "rgb_array"


def test_pictures_can_be_collected():
    with gymnasium.make("fitgym/Toy-v0", render_mode="rgb_array_list") as env:
        env.reset()
        env.step(0)
        assert [frame.shape for frame in env.render()] == [(600, 800, 3)] * 2
