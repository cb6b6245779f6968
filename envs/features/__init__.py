"""Features: what an agent sees of a running search. Each file defines one block of named numbers."""
