"""A project: a package with its tests, its configuration and the tests that fitgym made for it.

Commands (`fitgym/commands/`) and the pytest plugin call this package. It calls `fitgym.run.generation` and `fitgym.suite`.
"""
