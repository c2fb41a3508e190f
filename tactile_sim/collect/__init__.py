"""Datasets of randomized episodes as Parquet shards, from built-in motion, tasks or policies."""

from tactile_sim.collect.collection import Collection, collect
from tactile_sim.collect.episodes import Recipe

__all__ = ["Collection", "Recipe", "collect"]
