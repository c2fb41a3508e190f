"""Scenes from MJCF or URDF, with additions such as contact sensors; each error of a scene takes one line."""

from tactile_sim.scenes.loading import compiled, find_scene, load_model, load_scene, load_spec

__all__ = ["compiled", "find_scene", "load_model", "load_scene", "load_spec"]
