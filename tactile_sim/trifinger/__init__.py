"""The TriFinger robots on MuJoCo, under the names that trifinger_simulation has on PyBullet.

Modules here are those that its programs import; what they stand on lies in folders: the `robot`, the `stage`
around it, the `physics` of a step, the `control` of the fingers, `pictures`, and what goes along with a
`running` simulation.
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
"""Of trifinger_simulation, whose interface this is."""


def get_data_dir() -> Path:
    """Where the package's own files lie: the cameras' calibrations, ..."""
    return Path(__file__).parent / "data"
