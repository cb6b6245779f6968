"""A small tram depot, written for the benchmark `benchmarks/refactorings.py`."""
