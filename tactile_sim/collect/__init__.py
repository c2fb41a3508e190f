"""Datasets of randomized episodes as Parquet shards, from built-in motion, tasks or policies."""

from tactile_sim.collect.collection import Collection, collect
from tactile_sim.collect.episodes import Recipe
from tactile_sim.collect.sweep import Sweep, sweep

__all__ = ["Collection", "Recipe", "Sweep", "collect", "sweep"]
