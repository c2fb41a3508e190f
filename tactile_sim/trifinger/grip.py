"""Controller that makes three fingers grasp the cube on the table, lift it and hold it.

One finger presses on one face of the cube, the other two on the opposite face. Impedance control moves the
tips along their paths: the joint torques are the transposed Jacobian times a spring-damper force at the tip.
After contact the tips press with a specified force. The paths are fixed, so the cube must be within 0.03 m of
the center of the arena. It can be rotated about the vertical axis.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from tactile_sim.engines import Engine
from tactile_sim.trifinger.collision_objects import CUBE_MASS, get_pose
from tactile_sim.trifinger.finger_types_data import tip_link_names
from tactile_sim.trifinger.physics import FingerPhysics
from tactile_sim.trifinger.pinocchio_utils import Kinematics
from tactile_sim.trifinger.scene import urdf_file
from tactile_sim.trifinger.tasks import CUBE_WIDTH

STIFFNESS, DAMPING = 250.0, 6.0
"""Stiffness [N/m] and damping [N s/m] of the spring-damper force at each tip."""
APART = 0.018
"""Distance of the two tips on the same face from the center of that face [m]."""
TIP_RADIUS = 0.009
"""Approximate radius of a tip [m]."""
CLEARANCE = 0.035
"""Distance between tips and faces before closing [m]."""
ABOVE = 0.05
"""Additional height of the tips during the approach, so that they do not hit the cube [m]."""
GAP = 0.005
"""Distance between tips and faces after closing [m]. A small force then closes this gap."""
TOUCH = 0.3
"""Force with which the tips first touch the faces, as a fraction of the grip force."""
GRAVITY = 9.81


@dataclass(frozen=True)
class Times:
    """Durations of the phases of the motion [s]."""

    approach: float = 0.8
    lower: float = 0.6
    close: float = 0.5
    touch: float = 0.5
    press: float = 0.4
    lift: float = 1.5


class Grip:
    """Grasp motion for one pose of the cube. `torques` must be called in each step."""

    def __init__(
        self,
        kinematics: Kinematics,
        joints: ArrayLike,
        position: ArrayLike,
        orientation: Sequence[float] = (0, 0, 0, 1),
        *,
        height: float = 0.05,
        force: float = 2.0,
        times: Times = Times(),
    ):
        """Plan the motion.

        Args:
            kinematics: Kinematics of a robot with three fingers and its base at the world's origin.
            joints: (9,) current joint positions [rad].
            position: (3,) position of the cube on the table [m].
            orientation: Orientation of the cube, quaternion (x, y, z, w).
            height: Height of the lift [m].
            force: Force of the finger that presses alone on one face [N]. The two fingers on the opposite
                face press with half this force each.
            times: Durations of the phases.
        """
        self._model, self._tips = kinematics.model, kinematics.tip_link_ids
        self._data = mujoco.MjData(self._model)
        self._height, self._times = height, times
        self._start = np.array(kinematics.forward_kinematics(np.asarray(joints, float)))
        # The axis of the first joint points from the center of the robot to the finger.
        toward = kinematics.data.xaxis[:: len(self._tips)]
        places, self._inward, shares = _assign(toward, np.asarray(position), orientation)
        self._apart, self._near = (places - self._inward * gap for gap in (CLEARANCE, GAP))
        self._above = self._apart + np.array((0, 0, ABOVE))
        self._press = self._inward * (force * shares)[:, None]
        self._weight = np.outer(shares / shares.sum(), (0, 0, CUBE_MASS * GRAVITY))
        self._touching: np.ndarray | None = None

    def torques(self, time: float, joints: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """Return the motor torques (9,) for the current state of the robot [N m].

        Args:
            time: Time since the start of the motion [s].
            joints: (9,) joint positions [rad].
            velocities: (9,) joint velocities [rad/s].
        """
        model, data = self._model, self._data
        data.qpos[:], data.qvel[:] = joints, 0.0
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        out = np.empty(model.nv)
        mujoco.mj_rne(model, data, 0, out)  # gravity compensation of the links
        forces = self._forces(time, data.xpos[self._tips])
        jacobian = np.empty((3, model.nv))
        for tip, force in zip(self._tips, forces, strict=True):
            mujoco.mj_jacBody(model, data, jacobian, None, tip)
            out += jacobian.T @ (force - DAMPING * (jacobian @ velocities))
        return out

    def _forces(self, time: float, tips: np.ndarray) -> np.ndarray:
        """Return the desired forces (3, 3) [N] at tip positions (3, 3) [m], without damping."""
        times = self._times
        if time < times.approach:
            return STIFFNESS * (_between(self._start, self._above, time / times.approach) - tips)
        time -= times.approach
        if time < times.lower:
            return STIFFNESS * (_between(self._above, self._apart, time / times.lower) - tips)
        time -= times.lower
        if time < times.close:
            return STIFFNESS * (_between(self._apart, self._near, time / times.close) - tips)
        time -= times.close
        if time < times.touch:
            aside = self._near - tips
            aside -= self._inward * (self._inward * aside).sum(axis=1, keepdims=True)
            return STIFFNESS * aside + TOUCH * self._press
        time -= times.touch
        if self._touching is None:
            self._touching = tips.copy()
        pressing = TOUCH + (1 - TOUCH) * min(time / times.press, 1.0)
        rise = np.array((0, 0, self._height * _smooth((time - times.press) / times.lift)))
        return STIFFNESS * (self._touching + rise - tips) + pressing * self._press + self._weight


class GraspMotion:
    """Built-in motion of the node: a `Grip`, planned for the pose of the cube at the start of the motion."""

    interval = 0.0

    def __init__(self, physics: FingerPhysics):
        """Create the motion of a robot with three fingers, with a cube in the scene."""
        finger_type = physics.finger_type
        self._kinematics = Kinematics(urdf_file(finger_type), tip_link_names(finger_type))
        self._physics = physics
        self._grip: Grip | None = None

    def restart(self) -> None:
        """Restart the motion; the next `act` plans a new grip."""
        self._grip = None

    def act(self, engine: Engine) -> None:
        """Set the torques for the current time as the desired action. The first call also plans the grip."""
        physics = self._physics
        if self._grip is None:
            position, orientation = get_pose(engine.model, engine.qpos, "cube")
            self._grip = Grip(self._kinematics, physics.q, position, orientation.tolist())
        physics.rules.rest()
        physics.rules.desired[0] = self._grip.torques(engine.time, physics.q, physics.qd)


def _assign(
    toward: np.ndarray, position: np.ndarray, orientation: Sequence[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Assign one finger to a face of the cube and two to the opposite face.

    Of all such assignments, the function selects the one whose faces point most directly toward the fingers.

    Args:
        toward: (3, 3) unit vectors from the center of the robot to the fingers.
        position: (3,) position of the cube [m].
        orientation: Orientation of the cube, quaternion (x, y, z, w).

    Returns:
        Tip positions (3, 3) [m], force directions (3, 3) and fractions of the grip force (3,), with one row
        per finger.
    """
    axes = Rotation.from_quat(orientation).as_matrix().T
    axes = axes[np.argsort(np.abs(axes[:, 2]))[:2]]  # the two horizontal axes
    axes[:, 2] = 0.0
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    half = CUBE_WIDTH / 2 + TIP_RADIUS
    best = None
    for inward, (alone, left, right) in itertools.product([*axes, *-axes], itertools.permutations(range(3))):
        aside = np.array((-inward[1], inward[0], 0.0)) * APART
        places, normals, shares = np.empty((3, 3)), np.empty((3, 3)), np.full(3, 0.5)
        places[alone], normals[alone], shares[alone] = -inward * half, inward, 1.0
        places[left], normals[left] = inward * half + aside, -inward
        places[right], normals[right] = inward * half - aside, -inward
        facing = (places * toward).sum()
        if best is None or facing > best[0]:
            best = facing, places + position, normals, shares
    assert best is not None
    return best[1:]


def _smooth(part: float) -> float:
    """Return the progress of a minimum-jerk motion after a fraction of its duration, clamped to 0 to 1."""
    x = min(max(part, 0.0), 1.0)
    return x**3 * (10 - 15 * x + 6 * x * x)


def _between(first: np.ndarray, last: np.ndarray, part: float) -> np.ndarray:
    """Return the position on a straight minimum-jerk path after a fraction ``part`` of its duration."""
    return first + (last - first) * _smooth(part)
