"""Record datasets of randomized episodes as Parquet shards.

Actions come from a policy, or are random if only a task is given. Without either, the built-in motion of the
configuration runs.
"""

from tactile_sim.collect.collection import Collection, collect
from tactile_sim.collect.episodes import Recipe
from tactile_sim.collect.sweep import Sweep, sweep

__all__ = ["Collection", "Recipe", "Sweep", "collect", "sweep"]
