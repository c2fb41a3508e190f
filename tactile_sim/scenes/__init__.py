"""Scenes from MJCF or URDF with the additions of a configuration; their errors in one line."""

from tactile_sim.scenes.configured import configured_scene, given_urdf
from tactile_sim.scenes.loading import compiled, find_scene, load_model, load_scene, load_spec

__all__ = [
    "compiled",
    "configured_scene",
    "find_scene",
    "given_urdf",
    "load_model",
    "load_scene",
    "load_spec",
]
