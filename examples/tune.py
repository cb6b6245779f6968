#!/usr/bin/env python3
"""Tune PPO with Optuna: trials with a bad validation curve are stopped early.

    pip install torch==2.13.0 && pip install -e '.[deep,tune]'
    python examples/tune.py --trials 20
    python examples/tune.py --trials 20 --storage sqlite:///tune.db     # resumes; several processes may share the file

Each trial trains with other hyper-parameters and the same seed, and plays validation tasks four times. The test tasks are
not used. At the end it prints the command that trains with the best hyper-parameters.
"""

from __future__ import annotations

import argparse
import tempfile

import optuna

from fitgym.learning.training import Training, train
from fitgym.learning.validation import Point


def agent_of(trial: optuna.Trial) -> str:
    """Draw the hyper-parameters of a trial, as `fitgym train` reads them."""
    drawn = {
        "learning_rate": round(trial.suggest_float("learning_rate", 1e-4, 3e-3, log=True), 6),
        "n_steps": trial.suggest_categorical("n_steps", [30, 60, 120]),
        "n_epochs": trial.suggest_int("n_epochs", 2, 8),
        "trace": round(trial.suggest_float("trace", 0.6, 0.98), 3),
        "entropy": round(trial.suggest_float("entropy", 1e-4, 3e-2, log=True), 6),
    }
    batches = trial.suggest_categorical("batches", [4, 8])  # in an epoch
    drawn["batch_size"] = drawn["n_steps"] * trial.user_attrs["envs"] // batches
    return "ppo:" + ",".join(f"{name}={value}" for name, value in drawn.items())


def main() -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env-id", default="fitgym/Landscapes-v0")
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--steps", type=int, default=60_000, help="training steps of a trial")
    parser.add_argument("--envs", type=int, default=16, help="parallel environments")
    parser.add_argument("--tasks", default="0-49", help="validation tasks")
    parser.add_argument("--storage", help="database that keeps the study, such as sqlite:///tune.db")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()

    def objective(trial: optuna.Trial) -> float:
        trial.set_user_attr("envs", options.envs)
        agent = agent_of(trial)
        trial.set_user_attr("agent", agent)

        def validated(point: Point) -> None:
            trial.report(point.mean, point.step)
            if trial.should_prune():
                raise optuna.TrialPruned

        with tempfile.TemporaryDirectory() as folder:
            request = Training.of(
                agent,
                env=options.env_id,
                steps=options.steps,
                envs=options.envs,
                validate=max(1, options.steps // 4),
                validate_on=options.tasks,
                seed=options.seed,
                output=folder,
            )
            return train(request, validated=validated).validations[-1].mean

    study = optuna.create_study(
        study_name=f"ppo {options.env_id}",
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=options.seed),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=5),
        storage=options.storage,
        load_if_exists=True,
    )
    study.optimize(objective, n_trials=options.trials)
    best = study.best_trial
    print(f"best validation score {best.value:.3f} in trial {best.number}:")
    print(
        f"fitgym train {best.user_attrs['agent']} --env {options.env_id} --envs {options.envs} --steps {options.steps}"
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
