"""Build the scene that a configuration specifies, with a robot, a table and an object."""

from __future__ import annotations

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.errors import ConfigError
from tactile_sim.trifinger.finger_types_data import get_number_of_fingers
from tactile_sim.trifinger.robot.spec import load_spec
from tactile_sim.trifinger.settings import TrifingerSettings
from tactile_sim.trifinger.workspace.objects import add_cube

EYE, LOOKS_AT = (0.045, -0.17, 0.165), (0.0, 0.0, 0.05)
"""Position of the scene's camera and the point it looks at, in the world frame [m]."""


def workspace_spec(settings: TrifingerSettings, where: str) -> mujoco.MjSpec:
    """Build the scene for ``engine: trifinger``.

    Args:
        settings: Settings from the configuration's ``trifinger`` section.
        where: Prefix for error messages (file and key).

    Raises:
        SceneError: The robot's files are not installed.
        ConfigError: A grasp is configured without three fingers or without the cube.
    """
    if settings.grasp and (settings.object != "cube" or get_number_of_fingers(settings.type) < 3):
        raise ConfigError(
            f"{where}.grasp: requires three fingers and the cube, got type: {settings.type} and"
            f" object: {settings.object}; remove it, or set type: trifingerpro and object: cube"
        )
    spec = load_spec(settings.type)
    back = np.subtract(EYE, LOOKS_AT)
    turn, _ = Rotation.align_vectors([back, (0.0, 0.0, 1.0)], [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0)], [1e6, 1.0])
    spec.worldbody.add_camera(name="main", pos=EYE, quat=np.roll(turn.as_quat(), 1))
    if settings.object == "cube":
        add_cube(spec)
    return spec
