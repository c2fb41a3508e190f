"""The TriFinger robots in MuJoCo, with the interface of trifinger_simulation, which uses PyBullet.

Modules that trifinger_simulation also provides have the same names here. `scene` and `physics` are what
PyBullet is there, `grip` is a controller, and `engine` makes the robots available to the node.
"""

from pathlib import Path

from tactile_sim.trifinger import finger_types_data, sample, tasks, visual_objects
from tactile_sim.trifinger.sim_finger import Action, Observation, SimFinger
from tactile_sim.trifinger.trifinger_platform import (
    CameraObservation,
    ObjectPose,
    TriCameraObjectObservation,
    TriCameraObservation,
    TriFingerPlatform,
)

__all__ = [
    "Action",
    "CameraObservation",
    "ObjectPose",
    "Observation",
    "SimFinger",
    "TriCameraObjectObservation",
    "TriCameraObservation",
    "TriFingerPlatform",
    "finger_types_data",
    "get_data_dir",
    "sample",
    "tasks",
    "visual_objects",
]


__version__ = "2.0.0"
"""Version of trifinger_simulation whose interface this package implements."""


def get_data_dir() -> Path:
    """Return the folder that contains the package's data files, such as camera calibrations."""
    return Path(__file__).parent / "data"
