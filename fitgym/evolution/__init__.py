"""The parts that search algorithms are made of."""
