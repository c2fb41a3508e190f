"""Record datasets of randomized episodes as Parquet shards.

The motion is built in, or computed by a task or a policy.
"""

from tactile_sim.collect.collection import Collection, collect
from tactile_sim.collect.episodes import Recipe
from tactile_sim.collect.sweep import Sweep, sweep

__all__ = ["Collection", "Recipe", "Sweep", "collect", "sweep"]
