"""Load scenes from MJCF or URDF, add elements such as contact sensors, and report errors in one line."""

from tactile_sim.scenes.loading import compiled, find_scene, load_model, load_scene, load_spec

__all__ = ["compiled", "find_scene", "load_model", "load_scene", "load_spec"]
