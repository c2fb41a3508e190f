"""Many environments of one configuration: physics, skins and signal chains in parallel."""

from tactile_sim.batch.backends import BACKENDS
from tactile_sim.batch.batch import Batch, Observation

__all__ = ["BACKENDS", "Batch", "Observation"]
