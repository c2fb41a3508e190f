"""Simulation of a scene: stepping, snapshots of its state, and actions that change it."""

from tactile_sim.simulation.simulation import Simulation
from tactile_sim.simulation.snapshot import Snapshot

__all__ = ["Simulation", "Snapshot"]
