"""The robot, its table and what lies on it, as a configuration asks for them."""

from __future__ import annotations

import mujoco

from tactile_sim.config import TrifingerSettings
from tactile_sim.errors import ConfigError
from tactile_sim.trifinger.finger_types_data import get_number_of_fingers
from tactile_sim.trifinger.objects import add_cube
from tactile_sim.trifinger.robot import load_spec


def workplace_spec(settings: TrifingerSettings, where: str) -> mujoco.MjSpec:
    """The scene of ``engine: trifinger``, not compiled.

    Raises:
        SceneError: the robot's files are not installed.
        ConfigError: a grasp without three fingers or without a cube; ``where`` begins its text.
    """
    if settings.grasp and (settings.object != "cube" or get_number_of_fingers(settings.type) < 3):
        raise ConfigError(
            f"{where}.grasp: takes three fingers and a cube, but here are type: {settings.type} and"
            f" object: {settings.object}; leave it out, or choose type: trifingerpro and object: cube"
        )
    spec = load_spec(settings.type)
    if settings.object == "cube":
        add_cube(spec)
    return spec
