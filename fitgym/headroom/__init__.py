"""Headroom: the gain that good decisions can bring in an environment, measured without training.

    from fitgym.headroom.ladder import Request, measure
    ladder = measure(Request(env="fitgym/Programs-v0", tests=20, seeds=4))
    print(ladder.verdict())

The rungs are: random actions, the best constant action, the best constant for each task, the best simple rule, the best
schedule, and an oracle that looks ahead on copies of the environment.
"""
