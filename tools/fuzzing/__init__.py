"""Generators of invalid input for `tools/fuzz.py`, and the runner of one case."""
