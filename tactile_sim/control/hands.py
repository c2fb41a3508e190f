"""Forces of a user on bodies: a spring that pulls, and a finger that presses on the skin."""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

from tactile_sim.engines import Contacts

FREQUENCY = 10.0
"""Angular frequency of a body on the spring [rad/s], as in MuJoCo's simulate. The damping is critical."""


@dataclass(frozen=True)
class Pull:
    """A spring from a point of a body to a target."""

    body: int
    point: np.ndarray
    """(3,) body frame [m]"""
    target: np.ndarray
    """(3,) world frame [m]"""
    limit: float
    """Largest force [N]."""
    mass: float
    """Effective mass at the point [kg]."""


@dataclass(frozen=True)
class Press:
    """A force on the skin of a body, felt as a contact with nothing."""

    body: int
    geom: int
    point: np.ndarray
    """(3,) body frame [m]"""
    force: np.ndarray
    """(3,) body frame [N]"""
    end: int
    """Step since the reset at which it ends."""


class Hands:
    """Applies at most one pull and one press to the data of an engine based on MuJoCo.

    Attributes:
        pull: The pull, or None.
        press: The press, or None.
        pull_force: Force of the spring at the last step (3,), world frame [N].
    """

    def __init__(self, model: mujoco.MjModel):
        self._model = model
        self.pull: Pull | None = None
        self.press: Press | None = None
        self.pull_force = np.zeros(3)
        self._touched: set[int] = set()
        """Bodies with an applied force."""

    @property
    def active(self) -> bool:
        """True if forces change with each step."""
        return bool(self.pull or self.press or self._touched)

    def effective_mass(self, data: mujoco.MjData, body: int, point: np.ndarray) -> float:
        """Return the mean effective mass of a body at a point (3,), world frame [m], over all directions."""
        model = self._model
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_factorM(model, data)
        jacobian, solved = np.empty((3, model.nv)), np.empty((3, model.nv))
        mujoco.mj_jac(model, data, jacobian, None, point, body)
        mujoco.mj_solveM(model, data, solved, jacobian)
        return 3.0 / max(float((jacobian * solved).sum()), 1e-9)

    def apply(self, data: mujoco.MjData, step: int) -> None:
        """Set the applied forces for the coming step.

        Args:
            data: Data of the engine.
            step: Steps since the reset.
        """
        if not self.active:
            return
        for body in self._touched:
            data.xfrc_applied[body] = 0.0
        self._touched.clear()
        self.pull_force[:] = 0.0
        if self.press and step >= self.press.end:
            self.press = None
        if self.pull or self.press:
            mujoco.mj_kinematics(self._model, data)
            mujoco.mj_comPos(self._model, data)
        if self.pull:
            self._apply_pull(data, self.pull)
        if self.press:
            force = data.xmat[self.press.body].reshape(3, 3) @ self.press.force
            self._add(data, self.press.body, _world(data, self.press.body, self.press.point), force)

    def _apply_pull(self, data: mujoco.MjData, pull: Pull) -> None:
        point = _world(data, pull.body, pull.point)
        jacobian = np.empty((3, self._model.nv))
        mujoco.mj_jac(self._model, data, jacobian, None, point, pull.body)
        velocity = jacobian @ data.qvel
        force = pull.mass * (FREQUENCY**2 * (pull.target - point) - 2.0 * FREQUENCY * velocity)
        self.pull_force[:] = force * min(1.0, pull.limit / max(float(np.linalg.norm(force)), 1e-12))
        self._add(data, pull.body, point, self.pull_force)

    def _add(self, data: mujoco.MjData, body: int, point: np.ndarray, force: np.ndarray) -> None:
        data.xfrc_applied[body, :3] += force
        data.xfrc_applied[body, 3:] += np.cross(point - data.xipos[body], force)
        self._touched.add(body)

    def release(self, data: mujoco.MjData) -> None:
        """End both."""
        self.pull = self.press = None
        self.apply(data, 0)

    def with_press(self, contacts: Contacts, positions: np.ndarray, rotations: np.ndarray) -> Contacts:
        """Return contacts with that of the press added.

        Args:
            contacts: The other contacts.
            positions: Positions of all bodies (nbody, 3) [m].
            rotations: Rotations of all bodies to the world frame (nbody, 3, 3).
        """
        press = self.press
        if press is None:
            return contacts
        added = Contacts.empty(1)
        force = rotations[press.body] @ press.force
        normal = force / np.linalg.norm(force)
        first = np.cross(normal, np.eye(3)[np.abs(normal).argmin()])
        first /= np.linalg.norm(first)
        added.values[:] = 0.0
        added.position[0] = positions[press.body] + rotations[press.body] @ press.point
        added.frame[0] = normal, first, np.cross(normal, first)
        added.wrench_world[0, :3] = force
        added.wrench[0, 0] = np.linalg.norm(force)
        added.ids[0] = -1
        added.bodies[0, 1], added.geoms[0, 1] = press.body, press.geom
        return Contacts(
            np.concatenate([contacts.values, added.values]), np.concatenate([contacts.ids, added.ids])
        )


def _world(data: mujoco.MjData, body: int, point: np.ndarray) -> np.ndarray:
    """Return a point of a body in the world frame."""
    return data.xpos[body] + data.xmat[body].reshape(3, 3) @ point
