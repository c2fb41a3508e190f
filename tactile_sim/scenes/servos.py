"""Servos for the ``gains`` of a configuration: actuators that MuJoCo integrates implicitly and limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import mujoco
import numpy as np

from tactile_sim.names import Names
from tactile_sim.patterns import match
from tactile_sim.scenes.drives import EFFORT, POSITION, SCALAR, VELOCITY, Drive, leaders, read_drives

PREFIX = "gains/"
"""Begins the names of the actuators that are added: then comes the joint's."""
Gains = Mapping[str, Mapping[str, float]]
_EXPLICIT = (mujoco.mjtIntegrator.mjINT_EULER, mujoco.mjtIntegrator.mjINT_RK4)
_FIELDS = (
    "gear ctrllimited ctrlrange forcelimited forcerange actlimited actrange actearly actdim dyntype dynprm"
    " ctrlspec group damping armature delay nsample interp lengthrange inheritrange"
).split()
"""What an actuator takes over from the scene's default class, to be undone."""


def match_gains(
    gains: Gains, model: mujoco.MjModel, names: Names, where: str
) -> dict[int, tuple[str, float, float]]:
    """Return the entry of ``gains``, kp and kd by joint id.

    Args:
        gains: ``kp`` and ``kd`` by joint name or shell pattern.
        where: what errors call that table.

    Raises:
        ConfigError: an entry matches no hinge or slide joint, or two patterns differ about one.
    """
    joints = {names.joints[j]: j for j in range(model.njnt) if model.jnt_type[j] in SCALAR}
    chosen = match(gains, list(joints), where, "hinge or slide joint")
    return {
        joints[name]: (entry, gains[entry].get("kp", 0.0), gains[entry].get("kd", 0.0))
        for name, entry in chosen.items()
    }


def add_servos(spec: mujoco.MjSpec, gains: Gains, where: str) -> None:
    """Add a servo to each joint that has gains and no servo of its own. Patterns skip coupled joints.

    With ``kp`` it is a position servo whose control is a position, without a velocity servo. Its force is
    limited as the joint is (by the effort of a URDF, or ``actuatorfrcrange``), or as the joint's motor.

    An explicit integrator is replaced, so that ``kd`` acts implicitly, and the joint gets the armature that
    the time step needs.

    Args:
        spec: the scene.
        gains: ``kp`` and ``kd`` by joint name or shell pattern.
        where: what errors call that table.

    Raises:
        ConfigError: an entry matches no hinge or slide joint, or two patterns differ about one.
    """
    model = spec.compile()
    names = Names(model)
    drives = read_drives(model)
    servoed = {
        field: {drive.joint for drive in drives if drive.field == field} for field in (POSITION, VELOCITY)
    }
    plain = mujoco.MjSpec().add_actuator()
    elements = {joint.id: joint for joint in spec.joints}
    coupled = leaders(model)
    for joint, (entry, kp, kd) in sorted(match_gains(gains, model, names, where).items()):
        name = names.joints[joint]
        if joint in servoed[POSITION] or not (kp or (kd and joint not in servoed[VELOCITY])):
            continue
        if joint in coupled and entry != name:
            continue
        elements[joint].name = name
        servo = spec.add_actuator(name=PREFIX + name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=name)
        for field in _FIELDS:
            setattr(servo, field, getattr(plain, field))
        servo.gaintype, servo.biastype = mujoco.mjtGain.mjGAIN_FIXED, mujoco.mjtBias.mjBIAS_AFFINE
        servo.gainprm = [kp or kd, *[0.0] * (len(servo.gainprm) - 1)]
        servo.biasprm = [0.0, -kp, -kd, *[0.0] * (len(servo.biasprm) - 3)]
        limits = effort_range(model, joint, drives)
        limited = bool(np.isfinite(limits).all())
        if limited:
            servo.forcelimited, servo.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, limits
        elements[joint].armature += _armature(kp, kd, model.opt.timestep, limited)
        if kd and spec.option.integrator in _EXPLICIT:
            spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST


def added_servos(model: mujoco.MjModel, drives: list[Drive]) -> list[Drive]:
    """Return the drives that `add_servos` added."""
    return [drive for drive in drives if model.actuator(drive.actuator).name.startswith(PREFIX)]


def effort_range(model: mujoco.MjModel, joint: int, drives: list[Drive]) -> tuple[float, float]:
    """Return the least and the greatest effort on a joint [N m or N], by its own limit and its motor's."""
    ranges = [(-np.inf, np.inf)]
    if model.jnt_actfrclimited[joint]:
        ranges.append(tuple(model.jnt_actfrcrange[joint].tolist()))
    for drive in drives:
        if drive.joint == joint and drive.field == EFFORT:
            ranges += list(_force_ranges(model, drive))
    return max(low for low, _ in ranges), min(high for _, high in ranges)


def hold_keyframes(model: mujoco.MjModel) -> None:
    """Let the added servos hold the positions of each keyframe."""
    for drive in added_servos(model, read_drives(model)):
        if drive.field == POSITION:
            model.key_ctrl[:, drive.control] = model.key_qpos[:, model.jnt_qposadr[drive.joint]]


def _armature(kp: float, kd: float, step: float, limited: bool) -> float:
    """Return the armature with which a servo is stable on a joint of any inertia [kg m² or kg].

    A step of length h is stable for inertias above ``h² kp / 4 - h kd / 2`` with implicit damping, and above
    ``h² kp / 4 + h kd / 2`` with explicit damping: MuJoCo drops the implicit part while a force is at its
    limit. Implicit damping itself acts like an additional inertia of ``h kd``.
    """
    return max(0.0, 0.25 * step**2 * kp + 0.5 * step * (kd if limited else -kd))


def _force_ranges(model: mujoco.MjModel, drive: Drive) -> Iterator[tuple[float, float]]:
    """Yield the efforts to which an actuator's limits of control and force confine a motor."""
    if model.actuator_forcelimited[drive.actuator]:
        yield tuple(sorted((drive.ratio * model.actuator_forcerange[drive.actuator]).tolist()))
    if model.actuator_ctrllimited[drive.control]:
        efforts = (model.actuator_ctrlrange[drive.control] - drive.offset) / drive.weights[EFFORT]
        yield tuple(sorted(efforts.tolist()))
