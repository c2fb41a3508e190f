"""What every engine of the node can do, whichever it is."""

from __future__ import annotations

from typing import Protocol

import mujoco
import numpy as np

from tactile_sim.engines.contact_sensors import ContactSensor
from tactile_sim.engines.contacts import Contacts
from tactile_sim.engines.sensor_layout import ContactLayout


class Engine(Protocol):
    """One environment of a scene.

    ``model`` is the scene as MuJoCo compiles it; ``data`` bears the state and the controls of MuJoCo's names:
    they are read and set there, whoever moves them.
    """

    name: str
    num_envs: int
    model: mujoco.MjModel
    data: mujoco.MjData
    timestep: float
    """[s]"""
    free_bodies: np.ndarray
    """Ids of the bodies with a free joint."""
    limits: list[str]
    """What the engine leaves out of the scene, or cannot tell of it: a line each."""

    @property
    def sensor_ids(self) -> dict[str, int]:
        """Ids of the sensors that can be read, by name; an unnamed one is ``sensor<id>``."""

    @property
    def contact_sensor_names(self) -> list[str]:
        """The ``<contact>`` sensors among them."""

    @property
    def desired(self) -> np.ndarray:
        """What acts beside the controls in ``data``, to be read and set in place; empty for most engines."""

    @property
    def time(self) -> float:
        """Time since the last reset [s]."""

    def step(self, n: int = 1) -> None:
        """Goes n time steps on."""

    def forward(self) -> None:
        """Computes all that follows from the present positions, velocities and controls."""

    def integrate(self) -> None:
        """Goes from the instant of the last ``forward`` to the next."""

    def reset(self, keyframe: str | None = None) -> None:
        """Goes back to the initial state, or to that of a keyframe; EngineError for an unknown one."""

    def fault(self) -> str | None:
        """What made the physics unstable since the last reset, or None."""

    def contacts(self) -> Contacts:
        """The contacts of the last ``forward``."""

    @property
    def body_positions(self) -> np.ndarray:
        """(nbody, 3) origins of the bodies, world [m]."""

    @property
    def body_rotations(self) -> np.ndarray:
        """(nbody, 3, 3) matrices that turn body vectors into world vectors."""

    @property
    def body_quaternions(self) -> np.ndarray:
        """(nbody, 4) orientations of the bodies in the world, wxyz."""

    def set_free_body(
        self, body: int, position: np.ndarray, quaternion: np.ndarray, linear: np.ndarray, angular: np.ndarray
    ) -> None:
        """Puts a body with a free joint somewhere; all in the world, quaternion wxyz."""

    def strike(self, body: int, impulse: np.ndarray) -> None:
        """Gives a body a blow at its centre of mass: an impulse (3,) in the world [N s]."""

    @property
    def sensor_data(self) -> np.ndarray:
        """(nsensordata,) what all sensors of the scene measure, as MuJoCo lays it out."""

    def get_sensor_data(self, name: str) -> np.ndarray:
        """(num_envs, n) numbers of any sensor, as MuJoCo lays them out."""

    def get_sensor_value(self, name: str) -> np.ndarray:
        """The documented flat array, float32; of a contact sensor with the count first."""

    def get_contact_sensor(self, name: str) -> ContactSensor:
        """All that a contact sensor finds."""

    def get_contact_force_magnitude(self, name: str) -> np.ndarray:
        """(num_envs,) magnitude of the force between a contact sensor's two objects [N]."""

    def contact_layout(self, name: str) -> ContactLayout:
        """What a contact sensor is asked for."""
