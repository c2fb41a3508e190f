"""Scenes, MJCF or URDF, with what a configuration adds to them; what is wrong with one is told in a line."""

from tactile_sim.scenes.loading import (
    compiled,
    configured_scene,
    find_scene,
    load_model,
    load_scene,
    load_spec,
)

__all__ = ["compiled", "configured_scene", "find_scene", "load_model", "load_scene", "load_spec"]
