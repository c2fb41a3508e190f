"""A small controller with which three fingers take the cube from the table, lift it and hold it.

One finger presses on one side of the cube, the other two beside each other on the opposite side. The tips are
drawn along their paths by springs (impedance control: torques are the transposed Jacobian times a force at
the tip), and press with a given force once they touch. This is no planner: the cube has to be within
0.03 m of the middle of the arena; it may be turned about the vertical.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from tactile_sim.trifinger.robot.kinematics import Kinematics
from tactile_sim.trifinger.workspace.objects import CUBE_MASS, CUBE_WIDTH

STIFFNESS, DAMPING = 250.0, 6.0
"""Of the springs that hold the tips [N/m], [N s/m]."""
APART = 0.018
"""From the middle of a side to each of two tips on it [m]."""
TIP_RADIUS = 0.009
"""[m], about."""
CLEARANCE = 0.035
"""From a side to the tips before they close [m]."""
ABOVE = 0.05
"""How much higher they come there [m], so as not to push the cube on their way."""
GAP = 0.005
"""From a side to the tips when they have closed [m]; then they go on with little force until they touch."""
TOUCH = 0.3
"""Part of the force with which they do so."""
GRAVITY = 9.81


@dataclass(frozen=True)
class Times:
    """How long each part of the motion takes [s]."""

    approach: float = 0.8
    lower: float = 0.6
    close: float = 0.5
    touch: float = 0.5
    press: float = 0.4
    lift: float = 1.5


class Grip:
    """The motion for one pose of the cube; :meth:`torques` is to be asked in each step."""

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
        """Args:
        kinematics: of a robot with three fingers, whose base is in the world's origin.
        joints: (9,) angles from which it starts [rad].
        position, orientation: of the cube on the table, (3,) [m] and quaternion (x, y, z, w).
        height: how far it is lifted [m].
        force: of the finger that is alone on its side [N]; each of the others presses half as much.
        times: of the parts of the motion.
        """
        self._model, self._tips = kinematics.model, kinematics.tip_link_ids
        self._data = mujoco.MjData(self._model)
        self._height, self._times = height, times
        self._start = np.array(kinematics.forward_kinematics(np.asarray(joints, float)))
        # The first joint's axis points from the robot's middle to where the finger hangs.
        towards = kinematics.data.xaxis[:: len(self._tips)]
        places, self._inward, shares = _places(towards, np.asarray(position), orientation)
        self._apart, self._near = (places - self._inward * gap for gap in (CLEARANCE, GAP))
        self._above = self._apart + np.array((0, 0, ABOVE))
        self._press = self._inward * (force * shares)[:, None]
        self._weight = np.outer(shares / shares.sum(), (0, 0, CUBE_MASS * GRAVITY))
        self._touching: np.ndarray | None = None

    def torques(self, time: float, joints: np.ndarray, velocities: np.ndarray) -> np.ndarray:
        """(9,) torques [N m] for the motors.

        Args:
            time: since the motion began [s].
            joints: (9,) [rad].
            velocities: (9,) [rad/s].
        """
        model, data = self._model, self._data
        data.qpos[:], data.qvel[:] = joints, 0.0
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        out = np.empty(model.nv)
        mujoco.mj_rne(model, data, 0, out)  # what holds the links themselves
        forces = self._forces(time, data.xpos[self._tips])
        jacobian = np.empty((3, model.nv))
        for tip, force in zip(self._tips, forces, strict=True):
            mujoco.mj_jacBody(model, data, jacobian, None, tip)
            out += jacobian.T @ (force - DAMPING * (jacobian @ velocities))
        return out

    def _forces(self, time: float, tips: np.ndarray) -> np.ndarray:
        """(3, 3) of springs and pressing, on the tips which are at (3, 3) [m]."""
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


def _places(
    towards: np.ndarray, position: np.ndarray, orientation: Sequence[float]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each finger: its place (3, 3) [m], in which direction (3, 3) and with what share it presses (3,).

    One finger has one side, two have the opposite one; the sides chosen are those that face the fingers most.

    Args:
        towards: (3, 3) unit vectors from the middle of the robot to the fingers.
        position, orientation: of the cube.
    """
    axes = Rotation.from_quat(orientation).as_matrix().T
    axes = axes[np.argsort(np.abs(axes[:, 2]))[:2]]  # of the two level ones
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
        facing = (places * towards).sum()
        if best is None or facing > best[0]:
            best = facing, places + position, normals, shares
    assert best is not None
    return best[1:]


def _smooth(part: float) -> float:
    """From 0 to 1 with the least jerk."""
    x = min(max(part, 0.0), 1.0)
    return x**3 * (10 - 15 * x + 6 * x * x)


def _between(first: np.ndarray, last: np.ndarray, part: float) -> np.ndarray:
    return first + (last - first) * _smooth(part)
