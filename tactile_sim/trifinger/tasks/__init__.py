"""The tasks of the TriFinger platform: goals to draw, goals to check, and the cost of a state."""
