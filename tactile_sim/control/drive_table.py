"""Store the drives of joints and the ranges of their targets as arrays."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.scenes.drives import EFFORT, FIELDS, POSITION, VELOCITY, read_drives
from tactile_sim.scenes.servos import added_servos, effort_range


class DriveTable:
    """Drives of hinge and slide joints, which convert targets to controls.

    Each drive belongs to one joint. Joints are specified by their indices in the table.

    Attributes:
        joint: (drives,) Joint of each drive.
        control: (drives,) Index of the control of each drive.
        field: (drives,) Index in `FIELDS` of the target that each drive accepts.
        servo: (drives,) Whether each drive was added by the configuration's table ``control``.
        offset: (drives,) Control when all targets are 0.
        weights: (drives, 3) Weights of the targets in the control.
        force_weights: (drives,) Change of the control per unit of effort on the joint; 0 if unknown.
        range: (drives, 2) Range to which MuJoCo clamps the control.
        takes: For each field, a mask (joints,) of the joints that accept a target for it.
        reach: (joints, 3, 2) Minimum and maximum of the position [rad or m], velocity [rad/s or m/s] and
            effort [N m or N] targets.
    """

    def __init__(self, model: mujoco.MjModel, joints: np.ndarray):
        rows = {int(joint): k for k, joint in enumerate(joints)}
        found = read_drives(model)
        servos = added_servos(model, found)
        by_servo = {drive.joint for drive in servos}
        motors: dict[int, int] = {}  # if a joint has several motors, only one is used
        for drive in found:
            if drive.field == EFFORT and drive.joint not in by_servo:
                motors.setdefault(drive.joint, drive.control)
        drives = [d for d in found if d.field != EFFORT or motors.get(d.joint) == d.control]
        self.joint = np.array([rows[drive.joint] for drive in drives], int)
        self.control = np.array([drive.control for drive in drives], int)
        self.field = np.array([drive.field for drive in drives], int)
        self.servo = np.array([drive in servos for drive in drives], bool)
        self.offset = np.array([drive.offset for drive in drives], float)
        self.weights = np.array([drive.weights for drive in drives], float).reshape(-1, len(FIELDS))
        self.force_weights = self.weights[:, EFFORT].copy()
        self.weights[(self.field != EFFORT) & ~self.servo, EFFORT] = 0.0
        limited = model.actuator_ctrllimited[self.control].astype(bool)[:, None]
        limited &= not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_CLAMPCTRL
        self.range = np.where(limited, model.actuator_ctrlrange[self.control], (-np.inf, np.inf))
        takes = np.zeros((len(joints), len(FIELDS)), bool)
        takes[self.joint, self.field] = True
        takes[self.joint[self.servo], EFFORT] = True
        damped = self.servo & (self.weights[:, VELOCITY] != 0.0)
        takes[self.joint[damped], VELOCITY] = True
        self.takes = dict(zip(FIELDS, takes.T, strict=True))
        self.reach = np.tile((-np.inf, np.inf), (len(joints), len(FIELDS), 1))
        limits = np.where(model.jnt_limited[:, None].astype(bool), model.jnt_range, (-np.inf, np.inf))
        self.reach[:, POSITION] = limits[joints]
        for k, joint in enumerate(joints.tolist()):
            self.reach[k, EFFORT] = effort_range(model, joint, found)
        for k in np.flatnonzero(self.weights[np.arange(len(drives)), self.field]).tolist():
            reach, weight = self.reach[self.joint[k], self.field[k]], self.weights[k, self.field[k]]
            low, high = np.sort((self.range[k] - self.offset[k]) / weight)
            reach[:] = max(reach[0], low), min(reach[1], high)

    def controls(self, drives: np.ndarray, targets: np.ndarray) -> np.ndarray:
        """Return the controls (k,) of some drives, clamped to their ranges.

        Args:
            drives: Indices or mask of k drives.
            targets: (k, 3) Position, velocity and effort targets of their joints; NaN means no target.
        """
        controls = self.offset[drives] + np.sum(self.weights[drives] * np.nan_to_num(targets), axis=1)
        return np.clip(controls, *self.range[drives].T)
