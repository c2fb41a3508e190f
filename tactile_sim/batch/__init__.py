"""Many environments of one configuration: physics, skins and signal chains in parallel."""

from tactile_sim.batch.batch import BACKENDS, Batch
from tactile_sim.batch.observation import Observation

__all__ = ["BACKENDS", "Batch", "Observation"]
