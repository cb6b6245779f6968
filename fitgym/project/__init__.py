"""A project: a package with its tests, its configuration and its generated tests.

Commands (`fitgym/commands/`) and the pytest plugin call this package. It calls `fitgym.run.generation` and
`fitgym.suite`.
"""
