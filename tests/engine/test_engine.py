"""The engine runs a real search on a real worker, reproducibly."""

import copy
import pickle
import time
from pathlib import Path

import numpy as np
import pytest

from fitgym.engine import FITNESS, SEARCH, Engine
from fitgym.engine.stopwatch import Stopwatch
from fitgym.errors import ExecutionError, InputError, SubjectError, UnknownName
from fitgym.evolution.budget import Budget
from fitgym.execution.executor import Executor
from fitgym.subject.source import locate
from fitgym.testcase.expression import Literal

PROGRAMS = Path(__file__).parents[1] / "programs"


@pytest.fixture(scope="module")
def executor():
    with Executor(locate(str(PROGRAMS / "triangle.py"))) as running:
        yield running


def engine(executor, **options):
    options.setdefault("population", 10)
    return Engine(executor, **options)


def state(running):
    """What a run has come to, as plain data."""
    suites = [[running.table.statements(t) for t in i.testcases] for i in running.search.population]
    return running.generation, running.executions, running.coverage(), running.search.fitness.tolist(), suites


def test_the_search_covers_more_branches_than_the_first_population(executor):
    running = engine(executor)
    running.step()
    covered, total = running.coverage()["branch"]
    for _ in range(40):
        running.step()
    assert running.coverage()["branch"][1] == total
    assert running.coverage()["branch"][0] > covered


@pytest.mark.parametrize("search", SEARCH.names())
def test_the_same_seed_gives_the_same_run_for_every_search(executor, search):
    states = []
    for _ in range(2):
        running = engine(executor, search=search, seed=7)
        for _ in range(6):
            running.step()
        states.append(state(running))
    assert states[0] == states[1]


@pytest.mark.parametrize("search", SEARCH.names())
@pytest.mark.parametrize("amount", [1, 13, 200])
def test_no_search_makes_one_execution_more_than_its_budget(executor, search, amount):
    running = engine(executor, search=search, budget=Budget(amount, "x"))
    for _ in range(60):
        running.step()
    assert running.executions == amount and running.over and running.spent == 1.0
    generations = running.generation
    running.step()
    running.activate(("line", "output"))
    assert running.generation == generations and running.executions == amount


def test_what_ran_before_the_budget_was_used_up_is_archived(executor):
    running = engine(executor, budget=Budget(30, "x"), population=50)
    running.step()
    assert running.executions == 30 and running.coverage()["branch"][0] > 0
    assert running.best_suite() and running.generation == 1


def test_a_search_knows_how_much_of_it_is_over(executor):
    running = engine(executor, budget=Budget(8, "g"))
    seen = []
    for _ in range(8):
        running.step()
        seen.append(running.search.progress)
    assert seen == [generation / 8 for generation in range(8)] and running.over
    running = engine(executor)
    running.step()
    assert running.search.progress == 0.0 and not running.over
    running = engine(executor, deadline=time.monotonic() + 3600)
    running.step()
    assert 0.0 < running.search.progress < 0.1 and running.spent == 0.0


@pytest.mark.parametrize("search", SEARCH.names())
def test_every_search_survives_an_exchange_of_the_fitness_functions(executor, search):
    running = engine(executor, search=search)
    for names in (("branch",), ("exception", "line"), ("output", "direct_branch"), ("branch",)):
        running.activate(names)
        running.step()
        assert running.active == names
    assert running.generation == 4


@pytest.mark.parametrize("name", FITNESS.names())
def test_every_fitness_function_guides_a_search(executor, name):
    running = engine(executor, fitness=(name,))
    for _ in range(3):
        running.step()
    assert 0.0 <= running.search.fitness[0] <= 1.0
    covered, total = running.coverage()[name]
    assert covered > 0 or (total == 0 and running.measurements.fitness[name].reads_tests)


@pytest.mark.parametrize("name", FITNESS.names())
def test_objectives_are_the_distances_to_the_open_targets(executor, name):
    running = engine(executor, fitness=(name, "branch"), search="mosa")
    for _ in range(4):
        running.step()
    testcases = [individual.testcases[0] for individual in running.search.population]
    found = running.objectives(testcases)
    traces = [running.measurements.trace(testcase) for testcase in testcases]
    expected = []
    for function in dict.fromkeys((name, "branch")):
        fitness = running.measurements.fitness[function]
        if not fitness.reads_tests:
            open_ = ~running.archive.covered(function)
            expected.append(fitness.distances(traces)[:, : len(fitness.targets)][:, open_])
    assert np.array_equal(found, np.hstack(expected))
    running._sweep()
    assert np.array_equal(running.objectives(testcases), found)


def test_many_objective_search_covers_a_small_subject(executor):
    running = engine(executor, search="mosa", population=20)
    for _ in range(60):
        running.step()
    covered, total = running.coverage()["branch"]
    assert covered >= total - 1
    suite = running.coverage_of(running.search.best.testcases)["branch"][0]
    assert suite == covered and running.fitness_of("branch", running.search.best) <= 1 / total


def test_exchanging_functions_runs_nothing_again_unless_more_must_be_recorded(executor):
    running = engine(executor, fitness=("branch",))
    running.step()
    before = running.executions
    running.activate(("line", "branch"))
    assert running.executions == before
    running.activate(("direct_branch",))
    assert running.executions > before


@pytest.fixture
def asked(executor, monkeypatch):
    """What was asked for at each run, as (number of test cases, needs)."""
    run, calls = executor.run, []

    def spy(testcases, table, needs=frozenset()):
        calls.append((len(testcases), needs - {"constants"}))
        return run(testcases, table, needs)

    monkeypatch.setattr(executor, "run", spy)
    return calls


def test_only_what_active_and_tracked_functions_need_is_recorded(executor, asked):
    running = engine(executor, fitness=("branch", "line", "exception", "method"))
    running.step()
    assert {needs for _, needs in asked} == {frozenset()}
    asked.clear()
    running = engine(executor, fitness=("branch",), tracked=("input",))
    running.step()
    assert {needs for _, needs in asked} == {frozenset({"input"})}


def test_functions_that_come_and_go_in_turn_run_a_test_case_again_once_for_each_probe(executor, asked):
    running = engine(executor)
    running.step()
    living = {t for individual in running.search.population for t in individual.testcases}
    asked.clear()
    for _ in range(2):
        for name in ("direct_branch", "output", "branch"):
            running.activate((name,))
    assert asked == [(len(living), {"direct"}), (len(living), {"direct", "output"})]
    running.step()
    assert asked[-1][1] == frozenset()


def test_what_each_set_of_active_functions_took_is_put_down_to_it(executor):
    running = engine(executor)
    sets = (("branch",), ("direct_branch", "line"), ("branch",))
    for names in sets:
        running.activate(names)
        running.step()
    assert list(running.costs) == [("branch",), ("direct_branch", "line")]
    assert [cost.generations for cost in running.costs.values()] == [2, 1]
    assert sum(cost.executions for cost in running.costs.values()) == running.executions
    before = copy.deepcopy(running.costs)
    running.activate(("output",))
    assert running.costs.pop(("output",)).executions > 0
    assert running.costs == before


def test_time_is_counted_once_for_the_innermost_stage(monkeypatch):
    ticks = iter(range(10**6))
    monkeypatch.setattr("fitgym.engine.stopwatch.time.perf_counter", lambda: float(next(ticks)))
    watch = Stopwatch()
    # Entered at ticks 0, 1, 2 and left at 3, 4, 5.
    with watch.time("search"), watch.time("measure"), watch.time("execute"):
        pass
    assert watch.seconds == {"execute": 1.0, "measure": 2.0, "search": 2.0}


def test_without_archive_covered_targets_stay_in_the_fitness(executor):
    running = engine(executor, search="whole_suite:use_archive=false")
    for _ in range(5):
        running.step()
    best = running.search.best
    open_share = float((~running.measurements.covers("branch", best.testcases).any(axis=0)).mean())
    assert running.fitness_of("branch", best) <= open_share + 1e-9
    assert running.fitness_of("branch", best) > 0 or open_share == 0


def test_discoveries_name_class_function_and_kind(executor):
    running = engine(executor, fitness=("exception",), tracked=("exception",), population=20)
    for _ in range(15):
        running.step()
    found = {(d.type, d.function, d.kind) for d in running.discoveries()}
    assert ("ValueError", "classify", "declared") in found
    assert ("ZeroDivisionError", "ratio", "implicit") in found


def test_exceptions_of_ill_typed_arguments_are_reported_apart(tmp_path):
    path = tmp_path / "prepared.py"
    path.write_text("def half(n: int) -> int:\n    return n // 2 if isinstance(n, int) else n / 2\n")
    with Executor(locate(str(path))) as prepared:
        running = engine(prepared, fitness=("exception",), tracked=("exception",), population=20)
        for _ in range(15):
            running.step()
        assert ("TypeError", "half") in running.ill_typed()
        assert ("TypeError", "half") not in {(d.type, d.function) for d in running.discoveries()}


def test_annotations_are_kept_to_where_the_code_is_not_prepared_for_anything_else(executor):
    running = engine(executor, fitness=("exception",), tracked=("exception",), population=20)
    for _ in range(15):
        running.step()
    assert ("TypeError", "classify") not in running.ill_typed()


def test_the_best_suite_covers_what_the_archive_covers(executor):
    running = engine(executor)
    for _ in range(20):
        running.step()
    suite = running.best_suite()
    covered = running.measurements.covers("branch", suite).any(axis=0)
    assert (covered >= running.archive.covered("branch")).all()


def test_a_copy_goes_on_exactly_as_the_original(executor):
    running = engine(executor, seed=3)
    for _ in range(3):
        running.step()
    twins = [copy.deepcopy(running), pickle.loads(pickle.dumps(running))]
    for _ in range(3):
        running.step()
    for twin in twins:
        with twin.executor:
            for _ in range(3):
                twin.step()
            assert state(twin) == state(running)


def test_memory_of_the_search_is_swept(executor):
    running = engine(executor, population=6)
    for _ in range(41):
        running.step()
    living = {t for i in running.search.population for t in i.testcases} | set(running.archive.testcases())
    assert len(running.measurements) <= len(living) + 1 + 200
    assert len(running.table) < 50 * len(living)


def test_no_fitness_function_is_refused(executor):
    with pytest.raises(InputError, match="no fitness function is active: name at least one"):
        engine(executor, fitness=())


def test_an_unknown_fitness_function_is_named_with_the_nearest_one(executor):
    with pytest.raises(UnknownName, match="no fitness function named 'brnch'; did you mean 'branch'"):
        engine(executor, fitness=("brnch",))


def test_an_unknown_search_is_named(executor):
    with pytest.raises(UnknownName, match="no search algorithm named 'whole'; did you mean"):
        engine(executor, search="whole")


def test_a_search_takes_options_after_a_colon(executor):
    running = engine(executor, search="whole_suite:population=7,clone=0.5")
    assert (running.search.size, running.search.clone) == (7, 0.5)


def test_an_unknown_option_of_a_search_is_named(executor):
    with pytest.raises(
        InputError, match=r"search algorithm 'random_search' has no option 'elite=1'; expected after the"
    ):
        engine(executor, search="random_search:elite=1")


def test_hashes_that_come_from_addresses_change_no_run(tmp_path):
    # Before Python 3.12 hash(None) is an address, another one in every process; a hash is no output.
    program = tmp_path / "hashed.py"
    program.write_text(
        "class Point:\n"
        "    def __init__(self, x: int, y: int | None = None) -> None:\n"
        "        self.x, self.y = x, y\n"
        "    def __hash__(self) -> int:\n"
        "        return hash((self.x, self.y))\n"
        "    def shift(self, by: int) -> int:\n"
        "        return self.x + by if by > 0 else 0\n"
    )
    states = []
    for _ in range(3):
        with Executor(locate(str(program))) as executor:
            running = engine(executor, fitness=("output", "branch"))
            for _ in range(6):
                running.step()
            states.append(state(running))
    assert states[0] == states[1] == states[2]


def test_weak_mutation_is_measured_where_it_is_usable(executor):
    running = engine(executor, usable=("weak_mutation",))
    running.step()
    assert "weak_mutation" not in running.coverage()
    running.activate(("branch", "weak_mutation"))
    for _ in range(5):
        running.step()
    covered, total = running.coverage()["weak_mutation"]
    assert 0 < covered <= total == len(executor.subject.mutants)


def test_examples_of_people_meet_the_mutants_however_late_these_are_asked_for(tmp_path, monkeypatch):
    path = tmp_path / "sizes.py"
    path.write_text(
        "def size(number):\n    return 0 if number < 59049 else 1\n\n\n"
        + "".join(
            f'def size_{n}():\n    """Return 1.\n\n    >>> size({n})\n    1\n    >>> size({n + 1})\n    1\n    """\n'
            for n in range(59049, 59055)
        )
    )
    with Executor(locate(str(path))) as running:
        kill, tried = running.kill, []

        def spy(trials, expected, table, **options):
            tried.extend([call.args[0] for call in table.statements(testcase) if call.args] for testcase, _ in trials)
            return kill(trials, expected, table, **options)

        monkeypatch.setattr(running, "kill", spy)
        searching = engine(running, late=["strong_mutation"])
        for _ in range(30):  # one of the examples covers all that the others do
            searching.step()
        assert not tried
        searching.activate(["branch", "strong_mutation"])
        for number in range(59049, 59055):
            assert [Literal(str(number)), Literal(str(number + 1))] in tried


def test_weak_mutation_out_of_the_blue_is_refused():
    with Executor(locate(str(PROGRAMS / "triangle.py"))) as executor:
        running = engine(executor)
        with pytest.raises(ExecutionError, match="no probes for it"):
            running.activate(("weak_mutation",))
            running.step()


def test_probes_that_are_not_asked_change_no_search(executor):
    plain = Executor(locate(str(PROGRAMS / "triangle.py")))
    with plain:
        runs = [engine(plain, seed=3), engine(executor, seed=3, usable=("weak_mutation",))]
        for running in runs:
            for _ in range(5):
                running.step()
        assert state(runs[0]) == state(runs[1])


@pytest.mark.parametrize("search", ["mosa", "whole_suite", "mio", "random_search"])
def test_a_deadline_that_passes_before_anything_has_run_breaks_no_search(executor, search):
    engine = Engine(executor, search=search, deadline=time.monotonic() - 1.0)
    engine.step()
    assert engine.over and engine.best_suite(["branch"]) == []
    engine.deadline = None


@pytest.mark.parametrize("search", ["mosa", "dynamosa", "one_goal", "whole_suite", "mio", "random_search"])
def test_a_first_population_without_time_to_run_is_followed_by_another(executor, search, monkeypatch):
    engine = Engine(executor, search=search, deadline=time.monotonic() + 3600)
    monkeypatch.setattr("fitgym.engine.engine._FIRST_SHARE", 0.0)
    engine.step()
    assert engine.executions == 0 and not engine.over
    monkeypatch.undo()
    engine.step()
    engine.step()
    assert engine.executions > 0 and engine.best_suite(["branch"])


ABSTRACT = "    @abc.abstractmethod\n    def area{}(self, scale: int):\n        return scale\n"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (ABSTRACT.format(""), "its abstract classes have no code besides abstract members"),
        (
            "".join(ABSTRACT.format(number) for number in range(13)) + "    def twice(self): return 2 * self.area(1)\n",
            "no object of its classes can be made, because they are abstract",
        ),
    ],
)
def test_a_module_with_abstract_classes_only_is_refused_with_a_sentence(body, message, tmp_path):
    (tmp_path / "ideas.py").write_text(f"import abc\n\n\nclass Shape(abc.ABC):\n{body}")
    with Executor(locate("ideas", tmp_path)) as executor, pytest.raises(SubjectError, match=message):
        Engine(executor)


def test_objects_that_are_only_asked_for_attributes_and_dicts_with_known_keys_are_made():
    with Executor(locate(str(PROGRAMS / "options.py"))) as running:
        made = engine(running, fitness=("branch",), search="mosa", seed=1)
        while made.executions < 1500:
            made.step()
        covered, total = made.coverage()["branch"]
    assert covered == total
