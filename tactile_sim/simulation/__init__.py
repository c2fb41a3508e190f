"""A running scene: stepping, its state, and the actions on it."""

from tactile_sim.simulation.simulation import Simulation
from tactile_sim.simulation.snapshot import Snapshot

__all__ = ["Simulation", "Snapshot"]
