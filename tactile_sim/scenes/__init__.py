"""Load scenes from MJCF or URDF, add elements such as contact sensors, and report errors in one line."""

from tactile_sim.scenes.faults import log_warnings
from tactile_sim.scenes.loading import compiled, find_scene, load_model, load_scene, load_spec

log_warnings()

__all__ = ["compiled", "find_scene", "load_model", "load_scene", "load_spec"]
