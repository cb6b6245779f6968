"""Answers to the exercises of lesson 18, and tempting ones that are wrong."""


def _longest_first(durations, workers):
    free = [0] * workers
    for duration in sorted(durations, reverse=True):
        first = free.index(min(free))
        free[first] += duration
    return max(free)


def _in_order(durations, workers):
    free = [0] * workers
    for duration in durations:
        first = free.index(min(free))
        free[first] += duration
    return max(free)


SOLUTIONS = {
    "workers_needed": 26,
    "speed_up": lambda start, work, workers: (start + work) / (start + work / workers),
    "finish": _longest_first,
}

TEMPTING = {
    "workers_needed": [24, 30],
    "speed_up": [
        lambda start, work, workers: work / (start + work / workers),
        lambda start, work, workers: workers,
    ],
    "finish": [_in_order, lambda durations, workers: sum(durations) / workers],
}
