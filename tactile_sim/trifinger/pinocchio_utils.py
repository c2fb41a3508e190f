"""Compute the forward and inverse kinematics of the fingers with MuJoCo. Pinocchio is not required."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.trifinger.checks import MissingAttributeError, count, numbers
from tactile_sim.trifinger.scene import read_robot

STEP = 0.1
"""Fraction of the remaining distance that each iteration of the inverse kinematics covers."""


class Kinematics:
    """Forward and inverse kinematics of a robot whose fingers move independently.

    Tip positions are in the frame of the robot's base. Joint positions are ordered finger by finger, from
    base to tip. Methods raise `InvalidValueError` for arrays that are not finite or have the wrong shape.

    Attributes:
        model: MuJoCo model of the robot without geoms.
        data: State of that model.
        tip_link_ids: Body ids of the tips.
    """

    def __init__(self, finger_urdf_path: str | os.PathLike[str], tip_link_names: Iterable[str]):
        """Load a robot from its URDF.

        Args:
            finger_urdf_path: Path of the robot's URDF.
            tip_link_names: Name of each finger's tip link.
        """
        robot = read_robot(Path(finger_urdf_path))
        for link in robot.iter("link"):
            for shape in [*link.findall("collision"), *link.findall("visual")]:
                link.remove(shape)
        self.model = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding="unicode")).compile()
        self.data = mujoco.MjData(self.model)
        self.tip_link_ids = [self.model.body(name).id for name in tip_link_names]

    @property
    def robot_model(self) -> NoReturn:
        """The pinocchio model of trifinger_simulation, which is not available here.

        Raises:
            AttributeError: Always. Use ``model``, ``data`` and `jacobian` instead.
        """
        raise MissingAttributeError(
            "Kinematics.robot_model: no pinocchio model available; use MuJoCo's `model` and `data`, and"
            " `jacobian()` instead of pinocchio.computeFrameJacobian()"
        )

    def forward_kinematics(
        self, joint_positions: ArrayLike, joint_velocities: ArrayLike | None = None
    ) -> list[np.ndarray] | tuple[list[np.ndarray], list[np.ndarray]]:
        """Return the positions of the tips and, optionally, their velocities.

        Args:
            joint_positions: (n_joints,) joint positions [rad].
            joint_velocities: (n_joints,) joint velocities [rad/s], or None to compute only positions.

        Returns:
            List of tip positions (3,) [m]. If joint velocities are specified, a tuple of this list and a list
            of tip velocities (3,) [m/s].
        """
        self._pose(joint_positions)
        positions = [self.data.xpos[tip].copy() for tip in self.tip_link_ids]
        if joint_velocities is None:
            return positions
        velocities = numbers("joint_velocities", joint_velocities, self.model.nv)
        return positions, [self._jacobian(tip) @ velocities for tip in self.tip_link_ids]

    def jacobian(self, finger_idx: int, joint_positions: ArrayLike) -> np.ndarray:
        """Return the Jacobian of a tip's position.

        A force f (3,) [N] at the tip corresponds to the joint torques ``jacobian(...).T @ f`` [N m].

        Args:
            finger_idx: Index of the finger.
            joint_positions: (n_joints,) joint positions [rad].

        Returns:
            (3, n_joints) Jacobian [m/rad]; 0 for joints of other fingers.
        """
        tip = self._tip(finger_idx)
        self._pose(joint_positions)
        return self._jacobian(tip)

    def inverse_kinematics_one_finger(
        self,
        finger_idx: int,
        tip_target_position: ArrayLike,
        joint_angles_guess: ArrayLike,
        tolerance: float = 0.005,
        max_iterations: int = 1000,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute joint positions for a desired position of one tip.

        Args:
            finger_idx: Index of the finger.
            tip_target_position: (3,) desired position [m].
            joint_angles_guess: (n_joints,) initial joint positions [rad]. Joints of other fingers keep these
                values.
            tolerance: Distance from the target at which the iteration stops [m].
            max_iterations: Maximum number of iterations.

        Returns:
            Joint positions (n_joints,) [rad], and the position error (3,) in the last iteration, which is the
            target minus the position of the tip [m].
        """
        joints = numbers("joint_angles_guess", joint_angles_guess, self.model.nq)
        target = numbers("tip_target_position", tip_target_position, 3)
        tolerance = float(numbers("tolerance", tolerance))
        tip, iterations = self._tip(finger_idx), count("max_iterations", max_iterations)
        error = np.full(3, np.nan)
        for _ in range(iterations):
            self._pose(joints)
            error = target - self.data.xpos[tip]
            jacobian = self._jacobian(tip)
            own = jacobian.any(axis=0)
            joints[own] += STEP * np.linalg.pinv(jacobian[:, own]) @ error
            if np.linalg.norm(error) < tolerance:
                break
        return joints, error

    def inverse_kinematics(
        self,
        tip_target_positions: Sequence[ArrayLike] | np.ndarray,
        joint_angles_guess: Sequence[float] | np.ndarray,
        tolerance: float = 0.005,
        max_iterations: int = 1000,
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Compute joint positions for desired positions (n_fingers, 3) of all tips [m].

        The other arguments and the results are those of `inverse_kinematics_one_finger`, with one position
        error for each tip.
        """
        targets = numbers("tip_target_positions", tip_target_positions, len(self.tip_link_ids), 3)
        joints, errors = numbers("joint_angles_guess", joint_angles_guess, self.model.nq), []
        for finger, target in enumerate(targets):
            joints, error = self.inverse_kinematics_one_finger(
                finger, target, joints, tolerance, max_iterations
            )
            errors.append(error)
        return joints, errors

    def _pose(self, joint_positions: ArrayLike) -> None:
        self.data.qpos[:] = numbers("joint_positions", joint_positions, self.model.nq)
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)

    def _tip(self, finger_idx: int) -> int:
        return self.tip_link_ids[count("finger_idx", finger_idx, 0, len(self.tip_link_ids) - 1)]

    def _jacobian(self, tip: int) -> np.ndarray:
        """Return the Jacobian (3, n_joints) of a tip body's position."""
        out = np.zeros((3, self.model.nv))
        mujoco.mj_jacBody(self.model, self.data, out, None, tip)
        return out
