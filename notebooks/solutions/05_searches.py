"""Answers to the exercises of lesson 05."""

LARGEST = 1000


def patient_climbers(problem, rng, patience=12):
    """A climber for each open goal, which starts again after `patience` tries without progress."""
    climbers = {}  # goal: (distance, x, tries without progress)
    while not problem.done:
        goal = rng.choice(sorted(problem.open))
        best, x, idle = climbers.get(goal, (2.0, None, 0))
        if x is None:
            y = rng.randint(0, LARGEST)
        else:
            y = min(LARGEST, max(0, x + rng.choice([-1, 1]) * 2 ** rng.randrange(11)))
        distance = problem.run((goal, y))
        idle = 0 if distance < best else idle + 1
        if distance <= best:
            best, x = distance, y
        climbers[goal] = (best, x, idle) if idle < patience else (2.0, None, 0)


def guess_only(problem, rng):
    """Random tests, as in random search."""
    while not problem.done:
        problem.run(problem.random_test(rng))


SOLUTIONS = {
    "kept": {"t1", "t2", "t3"},
    "settings": (5, 10),
    "my_search": patient_climbers,
}

TEMPTING = {
    "kept": [{"t1", "t2"}, {"t1", "t2", "t3", "t5"}],  # t5 is good for all goals, best for none
    "settings": [(50, 25), (10, 20), (10, 50)],
    "my_search": [guess_only],
}
