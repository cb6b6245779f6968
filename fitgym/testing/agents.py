"""Does an agent keep the promises that training, comparing and replaying lean on?"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents.base import Agent, Transition
from fitgym.agents.base import make as make_named
from fitgym.errors import InputError

__all__ = ["Levers", "check_agent"]

_LEVERS = 5
_SEEN = 3
_AGAIN = 20  # steps of a run that is compared with another one


class Levers(gymnasium.Env[NDArray[np.float32], np.int64]):
    """A small environment for checks: lever k of n pays k / n and a little noise, an episode has seven steps.

    Observations are random, every other `info` has a mask that forbids one of the levers but the first, and a step counts
    three generations.

    Args:
        n: number of levers, at least 2.
    """

    def __init__(self, n: int = _LEVERS) -> None:
        self.n = n
        self.action_space = spaces.Discrete(n)
        self.observation_space = spaces.Box(0.0, 1.0, (_SEEN,), np.float32)
        self.steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        self.steps = 0
        return self.np_random.random(_SEEN, np.float32), self._info()

    def step(self, action: np.int64) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Pull a lever."""
        reward = int(action) / self.n + 0.01 * float(self.np_random.random())
        self.steps += 1
        return self.np_random.random(_SEEN, np.float32), reward, self.steps == 7, False, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """Which levers may be pulled now."""
        mask = np.ones(self.n, bool)
        if self.steps % 2:
            mask[1 + self.steps % (self.n - 1)] = False
        return mask

    def _info(self) -> dict[str, Any]:
        return {"generation": 3 * self.steps, "action_mask": self.action_masks()}


def check_agent(kind: str | type[Agent], /, *, steps: int = 25, seed: int = 0, **hyper_parameters: Any) -> None:
    """Hold an agent to everything that training, comparing and replaying lean on, in a small environment of its own.

    - `act` gives plain numbers of the space, `predict` arrays of them, one for each observation; both keep to the mask
      (or say by an `InputError` that they cannot), and refuse one that allows nothing or does not fit.
    - `predict` changes nothing: neither what is saved, but for the generator it draws from, nor what the agent does
      next. Asked to be deterministic it draws nothing and says the same again.
    - Saved and loaded it goes on as it would have, and has its hyper-parameters.
    - The same seed gives the same run, and generators that everybody shares are left as they were.
    - An environment with another number of actions is refused, when it is to learn and when it is loaded for one, by an
      `InputError` that names both numbers.

    Args:
        kind: a class, or the name of an agent of fitgym with options as on the command line, such as `ucb:c=0.5`.
        steps: that it has learnt from when it is looked at.
        seed: of the agent and of the environment.
        hyper_parameters: of the class; a name has its options with it.

    Raises:
        AssertionError: one of these does not hold.
        InputError: hyper-parameters were given beside a name.
    """
    if isinstance(kind, str) and hyper_parameters:
        given = ",".join(f"{name}={value}" for name, value in hyper_parameters.items())
        raise InputError(
            f"hyper-parameters were given beside the name '{kind}': write '{kind.partition(':')[0]}:{given}'"
        )
    pupil = _Pupil(kind, steps, seed, hyper_parameters)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shared = _shared_chance()
        _check_actions(pupil)
        _check_masks(pupil)
        _check_predict(pupil, folder)
        _check_saving(pupil, folder)
        _check_seed(pupil, folder)
        _check_refusals(pupil, folder)
        changed = _difference(shared, {key: state for key, state in _shared_chance().items() if key in shared})
        assert not changed, f"{pupil.name} changes the generator that everybody shares: {changed}"


class _Pupil:
    """Makes the agent that is checked, as often as it is needed."""

    def __init__(self, kind: str | type[Agent], steps: int, seed: int, hyper_parameters: dict[str, Any]) -> None:
        self.name = kind if isinstance(kind, str) else kind.__name__
        self.kind = kind
        self.steps = steps
        self.seed = seed
        self.hyper_parameters = hyper_parameters

    def new(self, n: int = _LEVERS) -> Agent:
        names = [f"lever {k}" for k in range(n)]
        if isinstance(self.kind, str):
            return make_named(self.kind, n, action_names=names, seed=self.seed)
        return self.kind(n, action_names=names, seed=self.seed, **self.hyper_parameters)

    def taught(self, steps: int | None = None) -> Agent:
        """One that has learnt for a while and has an environment in front of it, always the same."""
        agent = self.new().learn(Levers(), self.steps if steps is None else steps, seed=self.seed)
        return _before(agent)


def _before(agent: Agent) -> Agent:
    env = Levers()
    env.reset(seed=1)
    agent.watch(env)
    return agent


def _observations(n: int) -> NDArray[np.float32]:
    return np.random.default_rng(7).random((n, _SEEN), np.float32)


def _run(agent: Agent) -> list[int]:
    """What it does in one more run."""
    done: list[int] = []
    agent.learn(Levers(), _AGAIN, seed=5, callback=lambda _, transition: done.append(int(transition.action)))
    return done


def _saved(agent: Agent, folder: Path) -> dict[str, Any]:
    """What it writes when it is saved, by name of file."""
    agent.save(folder)
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.suffix == ".npz":  # the bytes hold the time of day
            with np.load(path, allow_pickle=False) as stored:
                arrays = {key: stored[key] for key in stored.files}
            for key, array in arrays.items():
                found[f"{name}:{key}"] = array.dtype.str, array.shape, array.tobytes()  # equal where not a number too
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def _predicted(agent: Agent, deterministic: bool) -> list[Any]:
    """What it predicts for some observations after each other, its state handed on."""
    state: Any = None
    found = []
    for i, observation in enumerate(_observations(9)):
        action, state = agent.predict(observation, state, np.array(i == 0), deterministic)
        found.append(np.asarray(action).tolist())
    return found


def _check_actions(pupil: _Pupil) -> None:
    name, agent, space = pupil.name, pupil.taught(), Levers().action_space
    for observation in _observations(_AGAIN):
        action = agent.act(observation, {})
        assert type(action) is int, f"{name}: act gave a {type(action).__name__}, expected a plain int"
        assert space.contains(action), f"{name}: act gave {action}, which is not in {space}"
        agent.observe(Transition(observation, action, 0.1, observation))
    for deterministic in (False, True):
        single, _ = agent.predict(_observations(1)[0], deterministic=deterministic)
        assert np.shape(single) == (), f"{name}: predict gave shape {np.shape(single)} for one observation"
        assert space.contains(np.int64(single)), f"{name}: predict gave {single}, which is not in {space}"
        for n in (1, 4):
            several, _ = agent.predict(_observations(n), None, np.ones(n, bool), deterministic)
            assert np.shape(several) == (n,), f"{name}: predict gave shape {np.shape(several)} for {n} observations"
            outside = [action for action in several if not space.contains(action)]
            assert not outside, f"{name}: predict gave {outside}, which are not in {space}"


def _check_masks(pupil: _Pupil) -> None:
    name, agent, rng = pupil.name, pupil.taught(), np.random.default_rng(3)
    for observation in _observations(_AGAIN):
        mask = rng.random(_LEVERS) < 0.4
        mask[int(rng.integers(_LEVERS))] = True
        with suppress(InputError):
            action = agent.act(observation, {"action_mask": mask})
            assert mask[action], f"{name}: act gave {action}, which the action mask forbids"
            agent.observe(Transition(observation, action, 0.1, observation))
        for deterministic in (False, True):
            with suppress(InputError):
                chosen, _ = agent.predict(observation, deterministic=deterministic, action_masks=mask)
                assert mask[int(chosen)], f"{name}: predict gave {chosen}, which the action mask forbids"
    observation = _observations(1)[0]
    for useless in ([False] * _LEVERS, [True] * (_LEVERS - 1)):
        for what in ("act", "predict"):
            try:
                if what == "act":
                    agent.act(observation, {"action_mask": np.array(useless)})
                else:
                    agent.predict(observation, action_masks=np.array(useless))
            except InputError:
                continue
            raise AssertionError(f"{name}: {what} took the action mask {useless}, expected an InputError")


def _check_predict(pupil: _Pupil, folder: Path) -> None:
    name, disturbed, undisturbed = pupil.name, pupil.taught(), pupil.taught()
    before = _saved(disturbed, folder / "before")
    first, second = _predicted(disturbed, True), _predicted(disturbed, True)
    assert first == second, f"{name}: a deterministic prediction gave {first} and then {second}"
    changed = _difference(before, _saved(disturbed, folder / "after"))
    assert not changed, f"{name}: a deterministic prediction changed {changed}"
    _predicted(disturbed, False)
    assert disturbed.n_updates == undisturbed.n_updates, f"{name}: predict counts as an update"
    drawn = _saved(disturbed, folder / "drawn")
    drawn["agent.json"] = before["agent.json"]  # it may have drawn from its generator
    changed = _difference(before, drawn)
    assert not changed, f"{name}: a prediction that draws changed {changed}"
    after = _run(disturbed)
    expected = _run(undisturbed)
    assert after == expected, f"{name}: after predictions it did {after}, without them {expected}"


def _check_saving(pupil: _Pupil, folder: Path) -> None:
    for steps in (0, pupil.steps):
        name, saved = f"{pupil.name} after {steps} steps", _before(pupil.taught(steps))
        place = saved.save(folder / f"saved-{steps}")
        loaded = _before(type(saved).load(place, Levers().action_space))
        assert type(loaded) is type(saved), f"{name}: loaded it is a {type(loaded).__name__}"
        ours, theirs = saved.hyper_parameters(), loaded.hyper_parameters()
        assert ours == theirs, f"{name}: loaded it has the hyper-parameters {theirs}, expected {ours}"
        assert loaded.n_updates == saved.n_updates, f"{name}: loaded it counts {loaded.n_updates} updates"
        for deterministic in (True, False):
            found, expected = _predicted(loaded, deterministic), _predicted(saved, deterministic)
            assert found == expected, f"{name}: loaded it predicts {found}, expected {expected}"
        after, expected = _run(loaded), _run(saved)
        assert after == expected, f"{name}: loaded it did {after}, expected {expected}"


def _check_seed(pupil: _Pupil, folder: Path) -> None:
    runs = []
    for attempt in range(2):
        agent = pupil.taught()
        runs.append((_run(agent), _saved(agent, folder / f"attempt-{attempt}")))
    (first, learnt), (second, again) = runs
    assert first == second, f"{pupil.name}: the same seed gave {first} and then {second}"
    changed = _difference(learnt, again)
    assert not changed, f"{pupil.name}: the same seed and actions left another {changed}"


def _check_refusals(pupil: _Pupil, folder: Path) -> None:
    agent, env = pupil.taught(), Levers(_LEVERS + 1)
    place = agent.save(folder / "other")
    asked: dict[str, Callable[[], object]] = {
        "to learn": lambda: agent.learn(env, 1),
        "to be loaded": lambda: type(agent).load(place, env.action_space),
    }
    for what, ask in asked.items():
        expected = f"expected an InputError that names {_LEVERS + 1} and {_LEVERS}"
        try:
            ask()
        except InputError as problem:
            said = str(problem)
            clear = str(_LEVERS) in said and str(_LEVERS + 1) in said
            assert clear, f"{pupil.name}: asked {what} for other actions it said '{said}', {expected}"
            continue
        raise AssertionError(f"{pupil.name}: asked {what} for other actions it did, {expected}")


def _difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """What is saved otherwise, as text, empty if nothing is."""
    return ", ".join(key for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key))


def _shared_chance() -> dict[str, Any]:
    """Where the generators stand that everybody shares."""
    found: dict[str, Any] = {"random": random.getstate(), "numpy.random": repr(np.random.get_state())}
    if "torch" in sys.modules:
        found["torch"] = sys.modules["torch"].get_rng_state().tolist()
    return found
