"""The view of a running simulation: a process of its own, and the data sent to it."""
