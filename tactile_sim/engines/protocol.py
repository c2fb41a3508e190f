"""Interface that all physics engines implement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import mujoco
import numpy as np

from tactile_sim.engines.contacts import Contacts, FlexContacts
from tactile_sim.engines.sensors import ContactSensor
from tactile_sim.scenes.contact_sensors import ContactLayout


class EngineArrays(Protocol):
    """State and inputs of one environment as writable arrays, with the names and order that MuJoCo uses."""

    qpos: np.ndarray
    """(nq,) generalized positions [rad, m]."""
    qvel: np.ndarray
    """(nv,) generalized velocities [rad/s, m/s]."""
    ctrl: np.ndarray
    """(nu,) controls of the actuators."""
    qfrc_applied: np.ndarray
    """(nv,) generalized forces in addition to those of the actuators [N m, N]."""
    xfrc_applied: np.ndarray
    """(nbody, 6) forces [N] and torques [N m] on the bodies at their centers of mass, in the world frame."""
    mocap_pos: np.ndarray
    """(nmocap, 3) positions of the mocap bodies in the world [m]."""
    mocap_quat: np.ndarray
    """(nmocap, 4) orientations of the mocap bodies in the world, wxyz."""
    eq_active: np.ndarray
    """(neq,) bool, True for each active equality constraint."""

    @property
    def time(self) -> float:
        """Time since the last reset [s]."""


class Engine(EngineArrays, Protocol):
    """Engine that simulates one environment of a scene.

    The other packages of tactile_sim use only the members of this interface. Methods raise CommandError for
    invalid arguments and controls; the state is then unchanged.

    Attributes:
        model: The compiled scene, a MuJoCo model that does not change.
    """

    name: str
    num_envs: int
    model: mujoco.MjModel
    accepts_body_forces: bool
    """False if the engine ignores ``xfrc_applied``."""
    switches_equalities: bool
    """False if the engine ignores changes to ``eq_active``."""
    reports_flex_contacts: bool
    """False if the engine does not report flex contacts, which pads on flexes require."""
    timestep: float
    """Duration of a time step [s]."""
    free_bodies: np.ndarray
    """Ids of the bodies with a free joint."""
    unsupported: list[str]
    """Scene features that the engine ignores or cannot report, one line each."""

    @property
    def sensor_ids(self) -> dict[str, int]:
        """Ids of the readable sensors by name; an unnamed sensor is called ``sensor<id>``."""

    @property
    def contact_sensor_names(self) -> list[str]:
        """Names of the readable ``<contact>`` sensors."""

    @property
    def state_size(self) -> int:
        """Number of values that `get_state` writes."""

    def get_state(self, out: np.ndarray) -> None:
        """Write the state and the inputs, which together determine all later states, to ``out``.

        Args:
            out: (state_size,) array to fill.
        """

    def set_state(self, values: np.ndarray) -> None:
        """Restore the state and inputs that `get_state` wrote; call `forward` to update everything else."""

    def step(self, n: int = 1) -> None:
        """Advance n time steps."""

    def forward(self) -> bool:
        """Compute all quantities that depend on the current positions, velocities and controls.

        Returns:
            False if nothing has changed since the last call.
        """

    def integrate(self) -> None:
        """Advance one time step from the state of the last ``forward``."""

    def reset(self, keyframe: str | None = None) -> None:
        """Reset to the initial state or to a keyframe, and compute everything as in `forward`.

        Args:
            keyframe: Name of the keyframe; None for the initial state.

        Raises:
            EngineError: The keyframe does not exist.
        """

    def fault(self) -> str | None:
        """Return why the physics has become unstable since the last reset, or None if it is stable."""

    def contacts(self) -> Contacts:
        """Return the contacts of the last ``forward``."""

    @property
    def body_positions(self) -> np.ndarray:
        """(nbody, 3) positions of the body origins in the world [m]."""

    @property
    def body_rotations(self) -> np.ndarray:
        """(nbody, 3, 3) rotations from body frames to the world."""

    @property
    def body_quaternions(self) -> np.ndarray:
        """(nbody, 4) orientations of the bodies in the world, wxyz."""

    @property
    def flex_vertices(self) -> np.ndarray:
        """(v, 3) vertices of all flexes in the world [m]."""

    def flex_contacts(self) -> FlexContacts:
        """Return the ids of flexes, elements and vertices in the contacts of the last ``forward``."""

    @property
    def geom_positions(self) -> np.ndarray:
        """(ngeom, 3) positions of the geoms in the world [m]."""

    @property
    def geom_rotations(self) -> np.ndarray:
        """(ngeom, 3, 3) rotations from geom frames to the world."""

    @property
    def joint_efforts(self) -> np.ndarray:
        """(nv,) generalized forces of the actuators and of ``qfrc_applied`` [N m, N]."""

    def body_states(self, bodies: Sequence[int]) -> np.ndarray:
        """Return the poses and velocities of bodies for the current ``qpos`` and ``qvel``.

        It is not necessary to call `forward` first.

        Args:
            bodies: Ids of n bodies.

        Returns:
            (n, 13) with one row for each body, in the world frame: position of the origin [m], orientation
            (quaternion wxyz), linear velocity [m/s] and angular velocity [rad/s].
        """

    def effective_mass(self, body: int, point: np.ndarray) -> float:
        """Return the effective mass of a body at a point [kg].

        The effective mass depends on the direction of the force. The result is its harmonic mean over all
        directions.

        Args:
            body: Id of the body.
            point: (3,) position of the point in the body's frame [m].
        """

    def set_free_body(
        self, body: int, position: np.ndarray, quaternion: np.ndarray, linear: np.ndarray, angular: np.ndarray
    ) -> None:
        """Set the pose and velocity of a body with a free joint.

        Args:
            body: Id of the body, one of ``free_bodies``.
            position: (3,) position of the body's origin in the world [m].
            quaternion: (4,) orientation in the world, wxyz; it is normalized.
            linear: (3,) linear velocity in the world [m/s].
            angular: (3,) angular velocity in the world [rad/s].
        """

    def strike(self, body: int, impulse: np.ndarray) -> None:
        """Apply an impulse at a body's center of mass.

        The generalized velocities change immediately by M⁻¹ Jᵀ p, where M is the mass matrix, J the Jacobian
        of the center of mass and p the impulse. Contacts and limits react in the next step.

        Args:
            body: Id of the body.
            impulse: (3,) impulse in the world [N s].
        """

    @property
    def sensor_data(self) -> np.ndarray:
        """(nsensordata,) values of all sensors in MuJoCo's layout."""

    def get_sensor_data(self, name: str) -> np.ndarray:
        """Return the values (num_envs, n) of a sensor of any type, in MuJoCo's layout."""

    def get_sensor_value(self, name: str) -> np.ndarray:
        """Return a sensor's values as a flat float32 array; see `Sensors.get_sensor_value`."""

    def get_contact_sensor(self, name: str) -> ContactSensor:
        """Return all fields of a contact sensor."""

    def get_contact_force_magnitude(self, name: str) -> np.ndarray:
        """Return the magnitude (num_envs,) of the force between a contact sensor's two objects [N]."""

    def contact_layout(self, name: str) -> ContactLayout:
        """Return the configuration of a contact sensor."""


class DataEngine(Engine, Protocol):
    """An engine that exposes MuJoCo's data to users, as all engines in this package do.

    Attributes:
        data: MuJoCo's data: the state, the inputs and all quantities computed from them.
    """

    data: mujoco.MjData
