"""Where the tips of fingers are, and which joint angles bring them somewhere; computed by MuJoCo."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NoReturn

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from tactile_sim.trifinger.errors import InvalidValueError, MissingAttributeError
from tactile_sim.trifinger.robot.files import read_robot
from tactile_sim.trifinger.values import numbers

STEP = 0.1
"""Part of the whole way that one iteration of the inverse kinematics goes."""


class Kinematics:
    """Kinematics of a robot of independent fingers.

    All positions are in the frame of the robot's base. Joint positions [rad] are flat: finger by finger, from
    the base outwards. Values that cannot be, NaN or another number of them, are a ValueError.
    """

    def __init__(self, finger_urdf_path: str | os.PathLike[str], tip_link_names: Iterable[str]):
        """tip_link_names: of the tips, one a finger."""
        robot = read_robot(Path(finger_urdf_path))
        for link in robot.iter("link"):
            for shape in [*link.findall("collision"), *link.findall("visual")]:
                link.remove(shape)
        self.model = mujoco.MjSpec.from_string(ElementTree.tostring(robot, encoding="unicode")).compile()
        self.data = mujoco.MjData(self.model)
        self.tip_link_ids = [self.model.body(name).id for name in tip_link_names]

    @property
    def robot_model(self) -> NoReturn:
        """Not available: the pinocchio model that this class has in trifinger_simulation.

        Raises:
            AttributeError: Always; ``model``, ``data`` and `jacobian` replace it.
        """
        raise MissingAttributeError(
            "Kinematics.robot_model: there is no pinocchio model; use `model` and `data`, which are MuJoCo's,"
            " and `jacobian()` instead of pinocchio.computeFrameJacobian()"
        )

    def forward_kinematics(
        self, joint_positions: ArrayLike, joint_velocities: ArrayLike | None = None
    ) -> list[np.ndarray] | tuple[list[np.ndarray], list[np.ndarray]]:
        """Positions (3,) of the tips [m]; with joint velocities [rad/s] also those of the tips (3,) [m/s]."""
        self._pose(joint_positions)
        positions = [self.data.xpos[tip].copy() for tip in self.tip_link_ids]
        if joint_velocities is None:
            return positions
        velocities = numbers("joint_velocities", joint_velocities, self.model.nv)
        return positions, [self._jacobian(tip) @ velocities for tip in self.tip_link_ids]

    def jacobian(self, finger_idx: int, joint_positions: ArrayLike) -> np.ndarray:
        """How a tip moves with the joints.

        With it a force f (3,) of the tip [N] is the joint torques ``jacobian(...).T @ f`` [N m].

        Args:
            finger_idx: which finger.
            joint_positions: (n_joints,) of the robot [rad].

        Returns:
            (3, n_joints): ∂ position of the tip / ∂ joint positions [m/rad]; 0 at joints of other fingers.
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
        """Joint positions that bring one tip to a place.

        Args:
            finger_idx: which finger.
            tip_target_position: (3,) [m].
            joint_angles_guess: where to begin; joints of other fingers stay there.
            tolerance: distance [m] from the target that is good enough.
            max_iterations: how often to come nearer, at most.

        Returns:
            Joint positions of the robot, and from where the tip was in the last iteration, the way (3,) to
            the target [m].
        """
        joints = numbers("joint_angles_guess", joint_angles_guess, self.model.nq)
        target = numbers("tip_target_position", tip_target_position, 3)
        tip = self._tip(finger_idx)
        way = np.full(3, np.nan)
        for _ in range(max_iterations):
            self._pose(joints)
            way = target - self.data.xpos[tip]
            jacobian = self._jacobian(tip)
            own = jacobian.any(axis=0)
            joints[own] += STEP * np.linalg.pinv(jacobian[:, own]) @ way
            if np.linalg.norm(way) < tolerance:
                break
        return joints, way

    def inverse_kinematics(
        self,
        tip_target_positions: Sequence[ArrayLike] | np.ndarray,
        joint_angles_guess: Sequence[float] | np.ndarray,
        tolerance: float = 0.005,
        max_iterations: int = 1000,
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """The same for all fingers: (3,) a finger; joint positions, and of each tip the way that was left."""
        targets = numbers("tip_target_positions", tip_target_positions, len(self.tip_link_ids), 3)
        joints, ways = numbers("joint_angles_guess", joint_angles_guess, self.model.nq), []
        for finger, target in enumerate(targets):
            joints, way = self.inverse_kinematics_one_finger(
                finger, target, joints, tolerance, max_iterations
            )
            ways.append(way)
        return joints, ways

    def _pose(self, joint_positions: ArrayLike) -> None:
        self.data.qpos[:] = numbers("joint_positions", joint_positions, self.model.nq)
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)

    def _tip(self, finger_idx: int) -> int:
        if finger_idx not in range(len(self.tip_link_ids)):
            raise InvalidValueError(
                f"finger_idx: the robot has the fingers 0 to {len(self.tip_link_ids) - 1}, not {finger_idx!r}"
            )
        return self.tip_link_ids[finger_idx]

    def _jacobian(self, tip: int) -> np.ndarray:
        """(3, n_joints) of a tip's position."""
        out = np.zeros((3, self.model.nv))
        mujoco.mj_jacBody(self.model, self.data, out, None, tip)
        return out
