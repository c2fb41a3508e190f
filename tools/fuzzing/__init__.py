"""Generators of invalid input for `tools/fuzz.py`, and the runner for a single case."""
