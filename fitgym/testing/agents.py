"""Checks of an agent: it must meet the requirements of training, comparison and replay."""

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
from gymnasium.spaces import Box, Discrete, MultiBinary, Space
from numpy.typing import NDArray

from fitgym.agents.base import Agent, Transition
from fitgym.agents.base import kind as class_of
from fitgym.agents.base import make as make_named
from fitgym.errors import InputError

__all__ = ["Levers", "check_agent"]

_LEVERS = 5
_SEEN = 3
_AGAIN = 20  # steps of the runs that are compared


class Levers(gymnasium.Env[NDArray[np.float32], Any]):
    """A small environment for checks; an episode has seven steps.

    | `kind` | reward, plus noise below 0.01 | masks of every other `info` |
    |---|---|---|
    | `Discrete` | k / n for lever k of n | forbid one lever other than the first |
    | `MultiBinary` | the share of correct levers: even ones down (1), odd ones up (0) | forbid a 1 of one lever other than the first |
    | `Box(-1, 1)` | 1 - the mean distance of the levers from 0.8 (even) or -0.8 (odd) | all true |

    Observations are random. A step counts as three generations.

    Args:
        n: number of levers, at least 2.
        kind: the kind of the action space.
    """

    def __init__(self, n: int = _LEVERS, kind: type[Space[Any]] = Discrete) -> None:
        self.n = n
        if kind is Box:
            self.action_space: Space[Any] = Box(-1.0, 1.0, (n,), np.float32)
        else:
            self.action_space = MultiBinary(n) if kind is MultiBinary else Discrete(n)
        self.observation_space = Box(0.0, 1.0, (_SEEN,), np.float32)
        self.steps = 0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        self.steps = 0
        return self.np_random.random(_SEEN, np.float32), self._info()

    def step(self, action: Any) -> tuple[NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Pull one lever, or set all of them."""
        reward = self.pays(action) + 0.01 * float(self.np_random.random())
        self.steps += 1
        return self.np_random.random(_SEEN, np.float32), reward, self.steps == 7, False, self._info()

    def pays(self, action: Any) -> float:
        """Return the reward of an action without noise, at most 1."""
        if isinstance(self.action_space, Discrete):
            return int(action) / self.n
        even = np.arange(self.n) % 2 == 0
        if isinstance(self.action_space, MultiBinary):
            return float(np.mean(np.asarray(action) == even))
        return 1.0 - float(np.mean(np.abs(np.asarray(action) - np.where(even, 0.8, -0.8))))

    def action_masks(self) -> NDArray[np.bool_]:
        """The mask of allowed lever values."""
        mask = np.ones(2 * self.n if isinstance(self.action_space, MultiBinary) else self.n, bool)
        lever = 1 + self.steps % (self.n - 1)
        if self.steps % 2 and not isinstance(self.action_space, Box):
            mask[2 * lever + 1 if isinstance(self.action_space, MultiBinary) else lever] = False
        return mask

    def _info(self) -> dict[str, Any]:
        return {"generation": 3 * self.steps, "action_mask": self.action_masks()}


def check_agent(kind: str | type[Agent], /, *, steps: int = 25, seed: int = 0, **hyper_parameters: Any) -> None:
    """Check an agent in a small environment, for each space that it declares in `Agent.spaces`.

    - `act` returns a plain `int` (`Discrete`) or an array of the space. `predict` returns arrays, one action for each
      observation. Both obey the mask or raise an `InputError`. They refuse a mask that allows nothing or has another
      shape. Masks of `Box` are ignored.
    - `predict` changes neither the next actions of `act` nor the saved agent, except for the generator that it draws
      from. A deterministic prediction draws no random numbers and is repeatable.
    - A saved and loaded agent continues as the original would, with the same hyper-parameters.
    - The same seed gives the same run. The generators of `random`, `numpy.random` and `torch` are unchanged.
    - `learn` and `load` refuse an environment with another number of actions, bits or numbers, with an `InputError`
      that names both numbers.

    Args:
        kind: a class, or the name of an agent of fitgym with options as on the command line, such as `ucb:c=0.5`.
        steps: number of training steps before each check.
        seed: seed of the agent and of the environment.
        hyper_parameters: hyper-parameters of a class; a name contains its own options.

    Raises:
        AssertionError: a requirement is not met.
        InputError: hyper-parameters were given in addition to a name.
    """
    if isinstance(kind, str) and hyper_parameters:
        given = ",".join(f"{name}={value}" for name, value in hyper_parameters.items())
        raise InputError(
            f"hyper-parameters were given beside the name '{kind}': write '{kind.partition(':')[0]}:{given}'"
        )
    name = kind if isinstance(kind, str) else kind.__name__
    declared = (class_of(kind) if isinstance(kind, str) else kind).spaces
    assert declared, f"{name} declares no spaces, expected some of Discrete, MultiBinary and Box"
    for space in declared:
        assert space in (Discrete, MultiBinary, Box), (
            f"{name} declares the space {space.__name__}, expected some of Discrete, MultiBinary and Box"
        )
        _check_in(_Pupil(kind, steps, seed, hyper_parameters, space))


def _check_in(pupil: _Pupil) -> None:
    """Run all checks in one space."""
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
        assert not changed, f"{pupil.name} changes a shared random generator: {changed}"


class _Pupil:
    """Makes fresh copies of the agent under test."""

    def __init__(
        self,
        kind: str | type[Agent],
        steps: int,
        seed: int,
        hyper_parameters: dict[str, Any],
        space: type[Space[Any]] = Discrete,
    ) -> None:
        name = kind if isinstance(kind, str) else kind.__name__
        self.name = name if space is Discrete else f"{name} in {space.__name__}"
        self.kind = kind
        self.space = space
        self.steps = steps
        self.seed = seed
        self.hyper_parameters = hyper_parameters

    def levers(self, n: int = _LEVERS) -> Levers:
        """Return the environment of the check."""
        return Levers(n, self.space)

    def new(self) -> Agent:
        """Return the untrained agent."""
        space, names = self.levers().action_space, [f"lever {k}" for k in range(_LEVERS)]
        if isinstance(self.kind, str):
            return make_named(self.kind, space, action_names=names, seed=self.seed)
        return self.kind(space, action_names=names, seed=self.seed, **self.hyper_parameters)

    def new_trained(self, steps: int | None = None) -> Agent:
        """Return an agent that has learnt for some steps and has an environment, always the same."""
        agent = self.new().learn(self.levers(), self.steps if steps is None else steps, seed=self.seed)
        return self.before(agent)

    def before(self, agent: Agent) -> Agent:
        """Give the agent an environment, and return it."""
        env = self.levers()
        env.reset(seed=1)
        agent.watch(env)
        return agent

    def run(self, agent: Agent) -> list[Any]:
        """Return the actions of one more run."""
        done: list[Any] = []
        agent.learn(self.levers(), _AGAIN, seed=5, callback=lambda _, step: done.append(_plain(step.action)))
        return done


def _plain(action: Any) -> Any:
    """Convert an action to Python numbers, which can be compared."""
    return np.asarray(action).tolist()


def _observations(n: int) -> NDArray[np.float32]:
    return np.random.default_rng(7).random((n, _SEEN), np.float32)


def _saved(agent: Agent, folder: Path) -> dict[str, Any]:
    """Save the agent and return its files by name."""
    agent.save(folder)
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.suffix == ".npz":  # its bytes contain the time of writing
            with np.load(path, allow_pickle=False) as stored:
                arrays = {key: stored[key] for key in stored.files}
            for key, array in arrays.items():
                # Bytes rather than values, because NaN differs from itself.
                found[f"{name}:{key}"] = array.dtype.str, array.shape, array.tobytes()
        elif path.is_file():
            found[name] = path.read_bytes()
    return found


def _predicted(agent: Agent, deterministic: bool) -> list[Any]:
    """Return the predictions for a sequence of observations, passing on the agent's state."""
    state: Any = None
    found = []
    for i, observation in enumerate(_observations(9)):
        action, state = agent.predict(observation, state, np.array(i == 0), deterministic)
        found.append(np.asarray(action).tolist())
    return found


def _check_actions(pupil: _Pupil) -> None:
    name, agent, space = pupil.name, pupil.new_trained(), pupil.levers().action_space
    for observation in _observations(_AGAIN):
        action = agent.act(observation, {})
        if isinstance(space, Discrete):
            assert type(action) is int, f"{name}: act gave a {type(action).__name__}, expected a plain int"
        else:
            found = f"array of type {action.dtype}" if isinstance(action, np.ndarray) else type(action).__name__
            assert found == f"array of type {space.dtype}", (
                f"{name}: act gave {found}, expected an array of type {space.dtype}"
            )
        assert space.contains(action), f"{name}: act gave {action}, which is not in {space}"
        agent.observe(Transition(observation, action, 0.1, observation))
    inner = space.shape or ()
    for deterministic in (False, True):
        single, _ = agent.predict(_observations(1)[0], deterministic=deterministic)
        assert np.shape(single) == inner, f"{name}: predict gave shape {np.shape(single)} for one observation"
        assert space.contains(_of(space, single)), f"{name}: predict gave {single}, which is not in {space}"
        for n in (1, 4):
            several, _ = agent.predict(_observations(n), None, np.ones(n, bool), deterministic)
            shape = np.shape(several)
            assert shape == (n, *inner), f"{name}: predict gave shape {shape} for {n} observations"
            outside = [action for action in several if not space.contains(_of(space, action))]
            assert not outside, f"{name}: predict gave {outside}, which are not in {space}"


def _of(space: Space[Any], action: Any) -> Any:
    """Convert a predicted action to the form that the space accepts."""
    return np.int64(action) if isinstance(space, Discrete) else action


def _check_masks(pupil: _Pupil) -> None:
    name, agent, rng = pupil.name, pupil.new_trained(), np.random.default_rng(3)
    space = pupil.levers().action_space
    for observation in _observations(_AGAIN):
        mask = _mask(space, rng)
        with suppress(InputError):
            action = agent.act(observation, {"action_mask": mask})
            assert _obeys(space, action, mask), f"{name}: act gave {action}, which the action mask forbids"
            agent.observe(Transition(observation, action, 0.1, observation))
        for deterministic in (False, True):
            with suppress(InputError):
                chosen, _ = agent.predict(observation, deterministic=deterministic, action_masks=mask)
                assert _obeys(space, chosen, mask), f"{name}: predict gave {chosen}, which the action mask forbids"
    if isinstance(space, Box):
        return  # masks are ignored
    observation, size = _observations(1)[0], len(_mask(space, rng))
    for useless in ([False] * size, [True] * (size - 1)):
        for what in ("act", "predict"):
            try:
                if what == "act":
                    agent.act(observation, {"action_mask": np.array(useless)})
                else:
                    agent.predict(observation, action_masks=np.array(useless))
            except InputError:
                continue
            raise AssertionError(f"{name}: {what} took the action mask {useless}, expected an InputError")


def _mask(space: Space[Any], rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return a random mask that allows at least one action."""
    if isinstance(space, MultiBinary):
        pairs = rng.random((_LEVERS, 2)) < 0.4
        pairs[np.arange(_LEVERS), rng.integers(0, 2, _LEVERS)] = True
        return pairs.reshape(-1)
    mask = rng.random(_LEVERS) < 0.4
    mask[int(rng.integers(_LEVERS))] = True
    return mask


def _obeys(space: Space[Any], action: Any, mask: NDArray[np.bool_]) -> bool:
    """Whether the mask allows the action. Any action of a `Box` is allowed."""
    if isinstance(space, MultiBinary):
        return bool(mask.reshape(-1, 2)[np.arange(len(mask) // 2), np.asarray(action, int)].all())
    return bool(space.contains(action)) if isinstance(space, Box) else bool(mask[int(action)])


def _check_predict(pupil: _Pupil, folder: Path) -> None:
    name, disturbed, undisturbed = pupil.name, pupil.new_trained(), pupil.new_trained()
    before = _saved(disturbed, folder / "before")
    first, second = _predicted(disturbed, True), _predicted(disturbed, True)
    assert first == second, f"{name}: a deterministic prediction gave {first} and then {second}"
    changed = _difference(before, _saved(disturbed, folder / "after"))
    assert not changed, f"{name}: a deterministic prediction changed {changed}"
    _predicted(disturbed, False)
    assert disturbed.n_updates == undisturbed.n_updates, f"{name}: predict counts as an update"
    drawn = _saved(disturbed, folder / "drawn")
    drawn["agent.json"] = before["agent.json"]  # contains the generator, from which predict may draw
    changed = _difference(before, drawn)
    assert not changed, f"{name}: a prediction that draws changed {changed}"
    after = pupil.run(disturbed)
    expected = pupil.run(undisturbed)
    assert after == expected, f"{name}: after predictions it did {after}, without them {expected}"


def _check_saving(pupil: _Pupil, folder: Path) -> None:
    for steps in (0, pupil.steps):
        name, saved = f"{pupil.name} after {steps} steps", pupil.before(pupil.new_trained(steps))
        place = saved.save(folder / f"saved-{steps}")
        loaded = pupil.before(type(saved).load(place, pupil.levers().action_space))
        assert type(loaded) is type(saved), f"{name}: loaded it is a {type(loaded).__name__}"
        ours, theirs = saved.hyper_parameters(), loaded.hyper_parameters()
        assert ours == theirs, f"{name}: loaded it has the hyper-parameters {theirs}, expected {ours}"
        assert loaded.n_updates == saved.n_updates, f"{name}: loaded it counts {loaded.n_updates} updates"
        for deterministic in (True, False):
            found, expected = _predicted(loaded, deterministic), _predicted(saved, deterministic)
            assert found == expected, f"{name}: loaded it predicts {found}, expected {expected}"
        after, expected = pupil.run(loaded), pupil.run(saved)
        assert after == expected, f"{name}: loaded it did {after}, expected {expected}"


def _check_seed(pupil: _Pupil, folder: Path) -> None:
    runs = []
    for attempt in range(2):
        agent = pupil.new_trained()
        runs.append((pupil.run(agent), _saved(agent, folder / f"attempt-{attempt}")))
    (first, learnt), (second, again) = runs
    assert first == second, f"{pupil.name}: the same seed gave {first} and then {second}"
    changed = _difference(learnt, again)
    assert not changed, f"{pupil.name}: the same seed and actions gave a different {changed}"


def _check_refusals(pupil: _Pupil, folder: Path) -> None:
    agent, env = pupil.new_trained(), pupil.levers(_LEVERS + 1)
    place = agent.save(folder / "other")
    asked: dict[str, Callable[[], object]] = {
        "learn": lambda: agent.learn(env, 1),
        "load": lambda: type(agent).load(place, env.action_space),
    }
    for what, ask in asked.items():
        expected = f"expected an InputError that names {_LEVERS + 1} and {_LEVERS}"
        try:
            ask()
        except InputError as problem:
            said = str(problem)
            clear = str(_LEVERS) in said and str(_LEVERS + 1) in said
            assert clear, f"{pupil.name}: {what} with another number of actions said '{said}', {expected}"
            continue
        raise AssertionError(f"{pupil.name}: {what} accepted another number of actions, {expected}")


def _difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """Return the names of entries that differ, joined as text; empty if there are none."""
    return ", ".join(key for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key))


def _shared_chance() -> dict[str, Any]:
    """Return the states of the shared random generators."""
    found: dict[str, Any] = {"random": random.getstate(), "numpy.random": repr(np.random.get_state())}
    if "torch" in sys.modules:
        found["torch"] = sys.modules["torch"].get_rng_state().tolist()
    return found
