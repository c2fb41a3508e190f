"""The TriFinger robots in MuJoCo, with the interface of trifinger_simulation, which uses PyBullet.

Modules that trifinger_simulation also provides have the same names here. The subpackages contain the
implementation: `robot`, `workspace` (table, border and objects), `physics`, `control`, `images`, `running`
(state of running simulations) and `tasks`. `plugin` makes the robots available as an engine of tactile_sim.
"""

from pathlib import Path

from tactile_sim.trifinger import finger_types_data, sample, tasks, visual_objects
from tactile_sim.trifinger.action import Action
from tactile_sim.trifinger.observation import Observation
from tactile_sim.trifinger.sim_finger import SimFinger
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
