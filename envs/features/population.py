"""Population: the diversity, size and age of the individuals."""

from __future__ import annotations

import numpy as np

from fitgym.engine.queries import Queries
from fitgym.envs.features.base import Block, Moment, View, squash

__all__ = ["Population"]


class Population(Block):
    """Statistics of the population; numbers with a half in the table are squashed to x / (x + half).

    The fitness of an individual is the mean over all measured functions, active or not. The numbers of two steps are
    therefore comparable even if the active functions differ. The fitness is in [0, 1]; 0 is best.

    | feature | meaning | half |
    |---|---|---|
    | population_deviation | standard deviation of the fitness | 0.02 |
    | population_quartiles | interquartile range of the fitness | 0.02 |
    | population_distinct | number of distinct sets of test cases, as a share of the individuals | |
    | best_age | generations since the individual with the lowest fitness appeared | 10 |
    | population_age | mean age of the individuals in generations | 10 |
    | population_size | mean number of test cases of an individual | 20 |
    | population_size_deviation | standard deviation of that number | 5 |
    | population_length | mean number of statements of an individual | 100 |
    | population_length_deviation | standard deviation of that number | 20 |

    Some algorithms evolve single test cases: all sizes are then 1, and only the lengths are informative. With `mosa` and
    its relatives the active functions choose which test cases survive, so these features tell more about the last
    action than others do.
    """

    def names(self, view: View) -> list[str]:
        return [
            *("population_deviation", "population_quartiles", "population_distinct", "best_age", "population_age"),
            *("population_size", "population_size_deviation", "population_length", "population_length_deviation"),
        ]

    def values(self, engine: Queries, view: View, moment: Moment) -> list[float]:
        population = engine.population
        fitness = engine.mean_fitness([name for name in view.functions if engine.measures(name)], population)
        low, high = np.percentile(fitness, (25, 75)).tolist()
        ages = [engine.age_of(individual) for individual in population]
        sizes, lengths = [len(one) for one in population], [one.length for one in population]
        return [
            squash(float(np.std(fitness)), 0.02),
            squash(high - low, 0.02),
            len({one.testcases for one in population}) / len(population),
            squash(float(ages[int(np.argmin(fitness))]), 10.0),
            squash(float(np.mean(ages)), 10.0),
            squash(float(np.mean(sizes)), 20.0),
            squash(float(np.std(sizes)), 5.0),
            squash(float(np.mean(lengths)), 100.0),
            squash(float(np.std(lengths)), 20.0),
        ]
