"""Whole-suite search: proposals and survivors, on a factory made of counters."""

import numpy as np
import pytest

from fitgym.evolution.individual import Individual
from fitgym.search.random_search import RandomSearch
from fitgym.search.whole_suite import WholeSuite


class Factory:
    """Test cases are tuples of numbers; mutation changes one of them."""

    def random_test(self, rng):
        return tuple(int(rng.random() * 100) for _ in range(1 + int(rng.random() * 5)))

    def mutate(self, testcase, rng):
        changed = list(testcase)
        changed[int(rng.random() * len(changed))] = int(rng.random() * 100)
        return tuple(changed)


class NoArchive:
    version = 0

    def testcases(self, names=None):
        return ()


class Stored(NoArchive):
    def testcases(self, names=None):
        return ((7, 7, 7),)


class Shorter:
    """The secondary objective is the length."""

    def secondary(self, individuals):
        return np.array([individual.length for individual in individuals])


class Sum(Shorter):
    """Fitness: how far the largest number of the suite is from 99."""

    def suite_fitness(self, individuals):
        return np.array([99.0 - max(n for t in i.testcases for n in t) for i in individuals])


def search(seed=0, archive=None, **options):
    return WholeSuite(Factory(), archive or NoArchive(), np.random.default_rng(seed), **options)


def run(algorithm, generations, evaluation):
    history = []
    for _ in range(generations):
        algorithm.ask()
        algorithm.tell(evaluation)
        history.append(float(algorithm.fitness[0]))
    return history


def test_the_best_fitness_never_gets_worse():
    history = run(search(), 40, Sum())
    assert history == sorted(history, reverse=True)
    assert history[-1] == 0.0


def test_the_population_keeps_its_size_and_is_sorted():
    algorithm = search(population=11)
    run(algorithm, 5, Sum())
    assert len(algorithm.population) == 11
    assert algorithm.fitness.tolist() == sorted(algorithm.fitness.tolist())


def test_the_same_seed_gives_the_same_run():
    first, second = search(3), search(3)
    assert run(first, 10, Sum()) == run(second, 10, Sum())
    assert [i.testcases for i in first.population] == [i.testcases for i in second.population]


def test_another_seed_gives_another_run():
    first, second = search(3), search(4)
    run(first, 3, Sum())
    run(second, 3, Sum())
    assert [i.testcases for i in first.population] != [i.testcases for i in second.population]


def test_suites_are_never_empty_never_too_long_and_hold_no_test_twice():
    algorithm = search(max_tests=6, insertion=0.9)
    for _ in range(15):
        for individual in algorithm.ask():
            assert 1 <= len(individual) <= 6
            assert len(set(individual.testcases)) == len(individual)
            assert all(individual.testcases)
        algorithm.tell(Sum())


def test_equal_fitness_is_decided_by_length():
    class Flat(Shorter):
        def suite_fitness(self, individuals):
            return np.zeros(len(individuals))

    algorithm = search()
    run(algorithm, 1, Flat())
    shortest = algorithm.best.length
    run(algorithm, 30, Flat())
    lengths = [i.length for i in algorithm.population]
    assert lengths == sorted(lengths)
    assert lengths[0] <= shortest


def test_bloated_offspring_are_turned_down_unless_they_beat_the_best():
    algorithm = search()
    small, big = Individual(((1, 2),)), Individual(((1, 2, 3, 4, 5),))
    key = {small: (1.0, 2), big: (1.0, 5)}
    assert not algorithm._acceptable(big, small, key)
    key[big] = (0.5, 5)
    assert algorithm._acceptable(big, small, key)


def test_exchanged_fitness_functions_reorder_the_population():
    class Negated(Sum):
        def suite_fitness(self, individuals):
            return -super().suite_fitness(individuals)

    algorithm = search()
    run(algorithm, 1, Sum())
    best = algorithm.best
    algorithm.refresh(Negated())
    values = Sum().suite_fitness(algorithm.population).tolist()
    assert values == sorted(values, reverse=True)
    assert values[-1] == Sum().suite_fitness([best])[0]


def test_new_tests_come_from_the_archive_at_the_rate_of_clone():
    algorithm = search(archive=Stored(), clone=1.0, clone_mutations=0)
    assert {t for i in algorithm.ask() for t in i.testcases} == {(7, 7, 7)}


def test_without_archive_the_stored_tests_are_not_used():
    algorithm = search(archive=Stored(), clone=1.0, clone_mutations=0, use_archive=False)
    assert (7, 7, 7) not in {t for i in algorithm.ask() for t in i.testcases}


def test_crossover_exchanges_tests_and_loses_none():
    class Unchanging(Factory):
        def mutate(self, testcase, rng):
            return testcase

    algorithm = WholeSuite(Unchanging(), NoArchive(), np.random.default_rng(0), crossover=1.0, insertion=0.0)
    algorithm.ask()
    algorithm.tell(Sum())
    for mother, father, daughter, son in [algorithm._pair() for _ in range(20)]:
        assert {*daughter.testcases, *son.testcases} == {*mother.testcases, *father.testcases}


def test_a_population_of_one_is_refused():
    with pytest.raises(ValueError, match="population is 1, expected at least 2"):
        search(population=1)


def test_random_search_keeps_nothing_but_the_archive():
    algorithm = RandomSearch(Factory(), Stored(), np.random.default_rng(0), population=5)
    first = algorithm.ask()
    algorithm.tell(Sum())
    second = algorithm.ask()
    assert len(first) == len(second) == 5
    assert all(len(individual) == 1 for individual in first)
    assert algorithm.best.testcases == ((7, 7, 7),)
