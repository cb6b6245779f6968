"""Deep reinforcement learning by Stable-Baselines3, behind the protocol of all agents.

Learning needs the extra `deep`. The learnt parameters of the small network are kept as arrays and evaluated with numpy.
A trained agent therefore acts, saves and loads without torch, and nothing is pickled.
"""

from __future__ import annotations

import importlib
import importlib.util
import random
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from fitgym.agents._data import Data
from fitgym.agents._network import Network
from fitgym.agents._numbers import positive, share, whole
from fitgym.agents.base import Agent, Callback
from fitgym.agents.transition import Action, Transition
from fitgym.errors import InputError

if TYPE_CHECKING:
    import gymnasium

__all__ = ["Deep", "descend", "inputs", "whole_batches"]

_ENDLESS = 1 << 40  # steps; used when the limit is a number of episodes
_BATCH = 256  # recorded steps in an update


class Deep(Agent):
    """An agent that learns across runs: `learn` trains it, `observe` changes nothing.

    An untrained agent scores all actions equally. Each call of `learn` continues from the current parameters with a new
    optimiser (and a new replay buffer). Their seed is drawn from the agent's own generator, so a loaded agent continues
    exactly like the saved one. Stable-Baselines3 uses the global generators of `random`, `numpy.random` and `torch`;
    `learn` restores them afterwards. Torch uses one thread meanwhile, because such small networks gain nothing from more.

    A subclass names the algorithm and builds its arguments.

    Args:
        action_space, action_names, seed: as for every agent.
        learning_rate: step size of the optimiser, above 0.
        gamma: discount of later rewards, in [0, 1].
        hidden: units in each of the two hidden layers.
    """

    algorithm: ClassVar[str]
    """The algorithm's class, as `package:Class`."""

    policy: ClassVar[str] = "MlpPolicy"
    """The library's name for the kind of policy."""

    def __init__(
        self,
        action_space: spaces.Space[Any] | int,
        action_names: Sequence[str] | None = None,
        seed: int = 0,
        *,
        learning_rate: float,
        gamma: float,
        hidden: int,
    ) -> None:
        super().__init__(action_space, action_names, seed)
        self.learning_rate = positive(learning_rate, "the learning rate")
        self.gamma = share(gamma, "the discount gamma")
        self.hidden = whole(hidden, "hidden", 1, "units")
        self._parameters: dict[str, NDArray[np.float32]] = {}
        self._network: Network | None = None

    @abstractmethod
    def network(self, parameters: Mapping[str, NDArray[np.float32]]) -> Network:
        """The network that computes scores from an observation, see `scores`."""

    def draw(self, scores: NDArray[np.float64], rng: np.random.Generator) -> int:
        """Draw an action of `Discrete` from the scores, which are minus infinity for actions that are not allowed.

        Agents for `Discrete` implement this method.
        """
        raise NotImplementedError(f"{type(self).__name__} does not draw in Discrete")

    @abstractmethod
    def arguments(self, steps: int, envs: int) -> dict[str, Any]:
        """Arguments of the algorithm except policy, environment, learning rate, discount, seed and hidden layers.

        Args:
            steps: the most steps that this call of `learn` makes.
            envs: number of parallel environments.
        """

    def policy_arguments(self) -> dict[str, Any]:
        """Arguments of the networks except the hidden layers."""
        return {}

    def prepare(self, model: Any) -> None:
        """Adjust the library's model before it learns."""

    def improve(self, model: Any, batch: Data, number: int) -> None:
        """Update the library's model from recorded steps. Agents that learn from data implement this method.

        Args:
            model: the model.
            batch: some of the recorded steps.
            number: number of batches so far.

        Raises:
            InputError: the agent does not learn from data.
        """
        name = type(self).__module__.rpartition(".")[2]
        raise InputError(f"agent '{name}' does not learn from data: use ppo or a2c (cloning), or dqn")

    @property
    def n_scores(self) -> int:
        """The number of outputs of the network."""
        return self.n_actions

    @property
    def ready(self) -> bool:
        """Whether the agent has been trained."""
        return self._network is not None

    def scores(self, observation: Any) -> NDArray[np.float64]:
        """The outputs of the network, shape `(n_scores,)`; zeros before the first training.

        `decide` reads them; for `Discrete` there is one score for each action.

        Raises:
            InputError: the observation does not have the length of those in training.
        """
        if self._network is None:
            return np.zeros(self.n_scores)
        return self._network(inputs(observation, self._network.n_inputs)).astype(np.float64)

    def act(self, observation: Any, info: Mapping[str, Any]) -> Action:
        """Draw an action from the policy with the agent's own generator."""
        return self.choose(observation, self.allowed(info), self.rng)

    def choose(self, observation: Any, allowed: NDArray[np.bool_], rng: np.random.Generator | None) -> Action:
        """Draw an action from the policy; without `rng`, take the most likely or best one."""
        return self.decide(self.scores(observation), allowed, rng)

    def decide(
        self, scores: NDArray[np.float64], allowed: NDArray[np.bool_], rng: np.random.Generator | None
    ) -> Action:
        """Choose an action by its score. Agents for spaces other than `Discrete` extend this method.

        Args:
            scores: see `scores`.
            allowed, rng: as in `choose`.
        """
        scores = np.where(allowed, scores, -np.inf)
        return int(np.argmax(scores)) if rng is None else self.draw(scores, rng)

    def learn(
        self,
        env: gymnasium.Env[Any, Any],
        total_timesteps: int | None = None,
        *,
        episodes: int | None = None,
        callback: Callback | None = None,
        seed: int | None = None,
        log: str | Path | None = None,
        tensorboard: bool = False,
    ) -> Self:
        """Train in `env`, which may be a vector environment of Stable-Baselines3; all its steps count.

        Args:
            env: must have this agent's action space, and observations that are vectors of numbers.
            total_timesteps: the most steps to learn from.
            episodes: the most episodes to learn from. If a limit is reached in the middle of a rollout, the algorithm
                updates once more from the steps so far, except the last one.
            callback: called as `callback(agent, transition)` for each step; returning False ends learning. The agent is
                in the state after the last update, and may be saved.
            seed: of the first `env.reset`.
            log: folder for `progress.jsonl`. It gets a line every few updates, with losses, steps per second, and means
                over the episodes since the last line: rewards, lengths and, if `info` has it, the goal's value.
            tensorboard: also write these values as TensorBoard events to that folder.

        Raises:
            InputError: there is no limit, the action space or the observations do not fit, the extra `deep` is missing,
                or TensorBoard is not installed or has no folder.
        """
        if total_timesteps is None and episodes is None:
            raise InputError("learning needs a limit: give total_timesteps or episodes")
        self.check(env.action_space)
        seen = env.observation_space
        if not (isinstance(seen, spaces.Box) and len(seen.shape) == 1):
            raise InputError(f"the observations are {seen}, expected a row of numbers: Box of shape (n,)")
        steps = _ENDLESS if total_timesteps is None else total_timesteps
        if steps < 1 or (episodes is not None and episodes < 1):
            return self
        formats = _formats(log, tensorboard)
        with self._model(env, steps) as model:
            if seed is not None:
                model.get_env().seed(seed)
            watcher = _watcher(self, callback, steps, episodes)
            model.set_logger(_logger(log, formats))
            model.learn(steps, callback=watcher)
            _learn_from_the_rest(model, watcher)
            model.logger.dump(model.num_timesteps)  # values since the last line of the log
            model.logger.close()
            self._keep(_parameters_of(model.policy))
        return self

    def learn_from(
        self, data: Data, env: gymnasium.Env[Any, Any], batches: int, *, callback: Callable[[Self], None] | None = None
    ) -> Self:
        """Learn from recorded steps, without acting; each batch of 256 steps counts as one step of learning.

        Actor-critic agents imitate the recorded actions, and `dqn` learns values conservatively; see their `improve`.

        Args:
            data: the steps; the rewards are divided by their standard deviation.
            env: has the spaces of the data; nothing else of it is used.
            batches: number of updates.
            callback: called after each of them.

        Raises:
            InputError: the agent does not learn from data, or does not fit the environment.
        """
        self.check(env.action_space)
        data = data.scaled()
        with self._model(env, batches) as model:
            for number in range(1, batches + 1):
                self.improve(model, data.drawn(_BATCH, self.rng), number)
                self._n_updates += 1
                if callback is not None or number == batches:
                    self._keep(_parameters_of(model.policy))
                if callback is not None:
                    callback(self)
        return self

    @contextmanager
    def _model(self, env: gymnasium.Env[Any, Any], steps: int) -> Iterator[Any]:
        """The library's model with the current parameters; the global generators are restored after the block."""
        algorithm, drawn = self._algorithm(), int(self.rng.integers(2**31))
        with _chance_put_back(), warnings.catch_warnings():
            # The library warns if the last batch of a rollout is smaller than the others; users need not act on that.
            warnings.filterwarnings("ignore", message="You have specified a mini-batch size")
            model = algorithm(
                self.policy,
                env,
                learning_rate=self.learning_rate,
                gamma=self.gamma,
                seed=drawn,
                device="cpu",
                policy_kwargs={"net_arch": [self.hidden, self.hidden], **self.policy_arguments()},
                **self.arguments(steps, getattr(env, "num_envs", 1)),
            )
            if self._parameters:
                _load(model.policy, self._parameters)
            self.prepare(model)
            yield model

    def _algorithm(self) -> Any:
        package, _, name = self.algorithm.partition(":")
        try:
            return getattr(importlib.import_module(package), name)
        except ImportError as problem:
            raise InputError(
                f"learning with '{type(self).__module__.rpartition('.')[2]}' needs the extra 'deep': "
                f"pip install torch==2.13.0, then pip install 'fitgym[deep]' ({problem})"
            ) from None

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The parameters of the networks, by torch's names."""
        return {name: values.copy() for name, values in self._parameters.items()}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Restore the parameters from `arrays`."""
        self._keep({name: values.copy() for name, values in arrays.items()})

    def _keep(self, parameters: dict[str, NDArray[np.float32]]) -> None:
        self._parameters = parameters
        self._network = self.network(parameters) if parameters else None


def inputs(observation: Any, n: int) -> NDArray[np.float32]:
    """Convert an observation to the input of a network with `n` inputs.

    Raises:
        InputError: the observation does not have `n` entries.
    """
    seen = np.asarray(observation, np.float32).reshape(-1)
    if len(seen) != n:
        raise InputError(f"the observation has {len(seen)} entries, this agent has learnt from {n}")
    return seen


def descend(policy: Any, loss: Any) -> None:
    """Take one step of the policy's optimiser, with the gradient clipped to length 10."""
    import torch

    policy.optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(policy.parameters(), 10.0)
    policy.optimizer.step()


def _parameters_of(policy: Any) -> dict[str, NDArray[np.float32]]:
    return {name: values.detach().cpu().numpy().copy() for name, values in policy.state_dict().items()}


def _load(policy: Any, parameters: Mapping[str, NDArray[np.float32]]) -> None:
    import torch

    try:
        policy.load_state_dict({name: torch.as_tensor(values.copy()) for name, values in parameters.items()})
    except RuntimeError:
        raise InputError(
            "the agent was trained with other observations or actions than this environment has; train it here anew"
        ) from None


@contextmanager
def _chance_put_back() -> Iterator[None]:
    """Restore the global random generators, which the library seeds, after the block."""
    import torch

    states = random.getstate(), np.random.get_state(), torch.get_rng_state(), torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])
        torch.set_rng_state(states[2])
        torch.set_num_threads(states[3])


def _learn_from_the_rest(model: Any, watcher: Any) -> None:
    """Update once more from an unfinished rollout, which the library would discard.

    The last step is missing, because the library calls its callback before it stores the step. The value of that step's
    state is the bootstrap value of the steps before it.
    """
    buffer = getattr(model, "rollout_buffer", None)
    if buffer is None or buffer.full or buffer.pos < 2:
        return
    steps, buffer.buffer_size = buffer.buffer_size, buffer.pos
    for name, values in vars(buffer).items():
        if isinstance(values, np.ndarray) and values.shape[:1] == (steps,):
            setattr(buffer, name, values[: buffer.pos])
    buffer.full = True
    buffer.compute_returns_and_advantage(last_values=watcher.values, dones=model._last_episode_starts)
    if hasattr(model, "batch_size"):
        model.batch_size = whole_batches(model.batch_size, buffer.pos * buffer.n_envs)
    model.train()


def whole_batches(size: int, steps: int) -> int:
    """The batch size, enlarged by one if the last batch would hold a single step.

    A single advantage cannot be normalised: its standard deviation is not a number, and the parameters would follow.
    """
    return size + 1 if size < steps and steps % size == 1 else size


def _formats(log: str | Path | None, tensorboard: bool) -> list[str]:
    """The log formats of Stable-Baselines3 for these options."""
    if tensorboard and (log is None or importlib.util.find_spec("tensorboard") is None):
        raise InputError(
            "events for TensorBoard need a folder"
            if log is None
            else "events for TensorBoard need the package tensorboard: pip install 'fitgym[deep]'"
        )
    return [] if log is None else ["jsonl", "tensorboard"] if tensorboard else ["jsonl"]


def _logger(log: str | Path | None, formats: Sequence[str]) -> Any:
    """A logger for the values of the library and of the watcher.

    Without it, the library would leave a folder `SB3-*` among the temporary files.
    """
    from stable_baselines3.common import logger

    if not formats:
        return logger.Logger(folder=None, output_formats=[])
    folder = Path(str(log))
    folder.mkdir(parents=True, exist_ok=True)
    outputs = [logger.JSONOutputFormat(str(folder / "progress.jsonl"))]
    if "tensorboard" in formats:
        outputs.append(logger.TensorBoardOutputFormat(str(folder)))
    return logger.Logger(str(folder), outputs)


def _taken(space: spaces.Space[Any], action: Any) -> Action:
    """Convert the library's action to an agent's: arrays get the dtype of the space and are clipped to a box."""
    if isinstance(space, spaces.Discrete):
        return int(action)
    if isinstance(space, spaces.Box):
        action = np.clip(action, space.low, space.high)
    return np.array(action, space.dtype)


def _watcher(agent: Deep, callback: Callback | None, steps: int, episodes: int | None) -> Any:
    """A callback for the library that counts steps and episodes, calls `callback`, and stops at the limits."""
    from stable_baselines3.common.callbacks import BaseCallback

    class Watcher(BaseCallback):
        def __init__(self) -> None:
            super().__init__()
            self.seen = 0
            self.ended = 0
            self.open: dict[int, list[float]] = {}
            self.values: Any = None

        def _on_rollout_start(self) -> None:
            if self.seen:
                agent._keep(_parameters_of(self.model.policy))

        def _on_step(self) -> bool:
            found = self.locals
            self.values = found.get("values")  # of the states before this step
            before: Any = self.model._last_obs  # the library replaces it after this callback
            for i, done in enumerate(found["dones"]):
                self.seen += 1
                agent._n_updates += 1
                self.ended += bool(done)
                info = found["infos"][i]
                truncated = bool(info.get("TimeLimit.truncated", False))
                transition = Transition(
                    before[i],
                    _taken(agent.action_space, found.get("clipped_actions", found["actions"])[i]),
                    float(found["rewards"][i]),
                    info.get("terminal_observation", found["new_obs"][i]),
                    bool(done) and not truncated,
                    truncated,
                    info,
                )
                rewards = self.open.setdefault(i, [])
                rewards.append(transition.reward)
                if done:
                    self._tell(rewards, info)
                    rewards.clear()
                if callback is not None and callback(agent, transition) is False:
                    return False
            if episodes is not None:
                if self.ended:  # exploration decreases with the share of episodes, as it would with steps
                    self.model._total_timesteps = max(self.seen + 1, self.seen * episodes // self.ended)
                if self.ended >= episodes:
                    return False
            return self.seen < steps or self._is_whole()

        def _is_whole(self) -> bool:
            """Whether this step completes a rollout; the library then updates by itself and ends."""
            buffer = getattr(self.model, "rollout_buffer", None)
            return buffer is not None and buffer.pos == buffer.buffer_size - 1

        def _tell(self, rewards: list[float], info: Mapping[str, Any]) -> None:
            self.logger.record_mean("episode/rewards", float(np.sum(rewards)))
            self.logger.record_mean("episode/length", len(rewards))
            if "goal_value" in info:
                self.logger.record_mean("episode/goal_value", float(info["goal_value"]))

    return Watcher()
