"""A running scene: what one step advances, what its state is, and the actions on it."""

from tactile_sim.simulation.simulation import Simulation
from tactile_sim.simulation.snapshot import Snapshot

__all__ = ["Simulation", "Snapshot"]
