"""Add actuators to joints that have none, as configured by ``control``, with suitable gains."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import mujoco
import numpy as np

from tactile_sim.common.names import Names, match
from tactile_sim.scenes.drives import (
    EFFORT,
    POSITION,
    SCALAR,
    VELOCITY,
    Drive,
    followed_equalities,
    leaders,
    read_drives,
)

FREQUENCY = 5.0
"""Lowest natural frequency of a servo [Hz]."""
SAG = 0.004
"""Largest deflection of a hinge under gravity [rad], unless its effort limit is too low."""
SLIDE_SAG = 0.0005
"""Largest deflection of a slide joint under gravity [m], unless its effort limit is too low."""


class DefaultGains:
    """Default servo gains for the joints of a model in its initial pose.

    Each servo is critically damped. Its stiffness gives a natural frequency of at least `FREQUENCY` with the
    inertia about the joint, and limits the deflection under the weight of the moved bodies to `SAG` (or
    `SLIDE_SAG`) in any orientation. For a robot with a free base, the robot's total weight is used, because
    the joint may have to support it. A base on slide joints without actuators, like that of a planar robot,
    is also treated as free. The load on joints that follow another joint is added to the load on the leading
    joint.
    """

    def __init__(self, model: mujoco.MjModel, driven: Collection[int]):
        """Compute joint inertias in the initial pose."""
        self._model, self._data, self._driven = model, mujoco.MjData(model), driven
        mujoco.mj_fwdPosition(model, self._data)
        full = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, self._data, full)
        self._inertias = full.diagonal()

    def __call__(self, joint: int, limit: float) -> tuple[float, float]:
        """Return kp [N m/rad or N/m] and kd [N m s/rad or N s/m] for a position servo."""
        model = self._model
        weight, inertia = self._load(joint)
        for equality, leader in followed_equalities(model).items():
            if leader == joint:  # it moves this joint, too
                ratio = abs(float(model.eq_data[equality, 1]))
                more = self._load(int(model.eq_obj1id[equality]))
                weight, inertia = weight + ratio * more[0], inertia + ratio**2 * more[1]
        slides = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE
        kp = max(
            inertia * (2.0 * np.pi * FREQUENCY) ** 2, min(weight, limit) / (SLIDE_SAG if slides else SAG)
        )
        return kp, 2.0 * float(np.sqrt(kp * inertia))

    def _load(self, joint: int) -> tuple[float, float]:
        """Return the largest effort of gravity on a joint [N m, N] and the moved inertia [kg m², kg]."""
        model, data = self._model, self._data
        body = int(model.jnt_bodyid[joint])
        root = int(model.body_rootid[body])
        moved = np.flatnonzero(self._descendants(body))
        distances = np.linalg.norm(data.xipos[moved] - data.xanchor[joint], axis=1)
        masses = model.body_mass[moved]
        slides = model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_SLIDE
        load = float(masses.sum() if slides else masses @ distances)
        inertia = float(self._inertias[model.jnt_dofadr[joint]])
        if self._is_free(root):
            mass, reach = float(model.body_subtreemass[root]), float(distances.max())
            load = max(load, mass * (1.0 if slides else reach))
            inertia += mass * (1.0 if slides else reach**2)
        return float(np.linalg.norm(model.opt.gravity)) * load, inertia

    def _is_free(self, root: int) -> bool:
        """Return whether a root body has a free joint, or a slide joint without an actuator."""
        first = int(self._model.body_jntadr[root])
        joints = range(first, first + int(self._model.body_jntnum[root]))
        kinds = {int(self._model.jnt_type[joint]) for joint in joints if joint not in self._driven}
        return bool(kinds & {int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_SLIDE)})

    def _descendants(self, body: int) -> np.ndarray:
        """Return a mask (nbody,) that selects a body and all its descendants."""
        below = np.zeros(self._model.nbody, bool)
        below[body] = True
        for other in range(body + 1, self._model.nbody):  # parents come first
            below[other] |= below[self._model.body_parentid[other]]
        return below


PREFIX = "control/"
"""Prefix for the names of added actuators, followed by the joint name."""
Control = Mapping[str, Mapping[str, Any]]
_EXPLICIT = (mujoco.mjtIntegrator.mjINT_EULER, mujoco.mjtIntegrator.mjINT_RK4)
_FIELDS = (
    "gear ctrllimited ctrlrange forcelimited forcerange actlimited actrange actearly actdim dyntype dynprm"
    " ctrlspec group damping armature delay nsample interp lengthrange inheritrange"
).split()
"""Attributes that an added actuator inherits from the scene's default class; they are reset."""


def match_control(
    control: Control, model: mujoco.MjModel, names: Names, where: str
) -> dict[int, tuple[str, Mapping[str, Any]]]:
    """Return the matching entry of ``control`` and its keys for each matched joint, keyed by joint id."""
    joints = {names.joints[j]: j for j in range(model.njnt) if model.jnt_type[j] in SCALAR}
    chosen = match(control, list(joints), where, "hinge or slide joint")
    return {joints[name]: (entry, control[entry]) for name, entry in chosen.items()}


def mode_of(keys: Mapping[str, Any]) -> str:
    """Return the mode of an entry in ``control``: ``position``, ``velocity``, ``effort`` or ``free``.

    The default is ``velocity`` if the entry has ``kd`` but no ``kp``, and ``position`` otherwise.
    """
    return keys.get("mode", "velocity" if keys.get("kd") and not keys.get("kp") else "position")


def add_actuators(
    spec: mujoco.MjSpec, control: Control, where: str, modes: Mapping[str, str] | None = None
) -> None:
    """Add an actuator to each joint in ``control`` or ``modes`` that does not have a suitable one.

    The control is a position for a position servo, a velocity for a velocity servo and an effort for a motor.
    The force is limited by the joint's own limit (the effort in a URDF, or ``actuatorfrcrange``), by the
    limits of the joint's motor and by ``limit``. Joints with the mode ``free`` are skipped, as are coupled
    joints unless an entry names them.

    An explicit integrator is replaced so that ``kd`` acts implicitly. The joint gets the armature that its
    servo needs for stability at the time step.
    """
    model = spec.compile()
    names = Names(model)
    drives = read_drives(model)
    driven = {field: {drive.joint for drive in drives if drive.field == field} for field in range(3)}
    elements = {joint.id: joint for joint in spec.joints}
    coupled = leaders(model)
    chosen = match_control(control, model, names, where)
    for joint in set(range(model.njnt)) - chosen.keys() - {drive.joint for drive in drives}:
        if mode := (modes or {}).get(names.joints[joint]):
            chosen[joint] = ("", {"mode": mode})
    driven_joints = {drive.joint for drive in drives}
    driven_joints |= {joint for joint, (_, keys) in chosen.items() if mode_of(keys) != "free"}
    defaults = None
    for joint, (entry, keys) in sorted(chosen.items()):
        name, mode = names.joints[joint], mode_of(keys)
        if mode == "free" or (joint in coupled and entry != name) or _has(mode, joint, driven):
            continue
        low, high = effort_range(model, joint, drives)
        limit = keys.get("limit", np.inf)
        limits = max(low, -limit), min(high, limit)
        kp, kd = keys.get("kp"), keys.get("kd")
        if mode != "effort" and ((kp is None and mode == "position") or (kd is None and kp is None)):
            defaults = defaults or DefaultGains(model, driven_joints)
            stiffness, damping = defaults(joint, limits[1])
            kp = stiffness if kp is None else kp
            kd = damping * np.sqrt(kp / stiffness) if kd is None else kd
        elements[joint].name = name
        _add_actuator(spec, elements[joint], mode, (kp or 0.0, kd or 0.0), limits)
        if mode == "position" and joint in coupled.values():
            # Constraint forces ignore implicit damping, which may far exceed the inertia of a light leader.
            elements[joint].armature += spec.option.timestep * (kd or 0.0)


def _has(mode: str, joint: int, driven: Mapping[int, set[int]]) -> bool:
    """Return whether a joint already has an actuator that serves the specified mode."""
    if mode == "effort":
        return joint in driven[EFFORT]
    return joint in driven[POSITION] or (mode == "velocity" and joint in driven[VELOCITY])


def _add_actuator(
    spec: mujoco.MjSpec, joint: Any, mode: str, gains: tuple[float, float], limits: tuple[float, float]
) -> None:
    """Add an actuator to a joint, with the armature and the integrator that it needs for stability.

    Args:
        spec: The scene as an editable spec.
        joint: The joint to drive, which must have a name.
        mode: ``position``, ``velocity`` or ``effort``.
        gains: kp [N m/rad or N/m] and kd [N m s/rad or N s/m]. Both are ignored in the mode ``effort``, and
            kp in the mode ``velocity``.
        limits: Minimum and maximum effort [N m or N]; infinite if unlimited.
    """
    plain = mujoco.MjSpec().add_actuator()
    actuator = spec.add_actuator(
        name=PREFIX + joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT, target=joint.name
    )
    for field in _FIELDS:
        setattr(actuator, field, getattr(plain, field))
    kp, kd = gains if mode == "position" else (0.0, gains[1])
    gain, bias = (1.0, (0.0, 0.0, 0.0)) if mode == "effort" else (kp or kd, (0.0, -kp, -kd))
    actuator.gaintype = mujoco.mjtGain.mjGAIN_FIXED
    actuator.biastype = mujoco.mjtBias.mjBIAS_NONE if mode == "effort" else mujoco.mjtBias.mjBIAS_AFFINE
    actuator.gainprm = [gain, *[0.0] * (len(actuator.gainprm) - 1)]
    actuator.biasprm = [*bias, *[0.0] * (len(actuator.biasprm) - 3)]
    if np.isfinite(limits).all():
        actuator.forcelimited, actuator.forcerange = mujoco.mjtLimited.mjLIMITED_TRUE, limits
    if mode == "effort":
        return
    joint.armature += _armature(kp, kd, spec.option.timestep)
    if kd and spec.option.integrator in _EXPLICIT:
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST


def added_servos(model: mujoco.MjModel, drives: list[Drive]) -> list[Drive]:
    """Return the drives of the position and velocity servos that `add_actuators` added."""
    return [
        drive
        for drive in drives
        if drive.field != EFFORT and model.actuator(drive.actuator).name.startswith(PREFIX)
    ]


def effort_range(model: mujoco.MjModel, joint: int, drives: list[Drive]) -> tuple[float, float]:
    """Return the minimum and maximum effort on a joint [N m or N]; infinite if unlimited."""
    ranges = [(-np.inf, np.inf)]
    if model.jnt_actfrclimited[joint]:
        ranges.append(tuple(model.jnt_actfrcrange[joint].tolist()))
    for drive in drives:
        if drive.joint == joint and drive.field == EFFORT:
            ranges += list(_force_ranges(model, drive))
    return max(low for low, _ in ranges), min(high for _, high in ranges)


def hold_keyframes(model: mujoco.MjModel) -> None:
    """Set the controls in each keyframe so that the added position servos hold the keyframe's pose."""
    for drive in added_servos(model, read_drives(model)):
        if drive.field == POSITION:
            model.key_ctrl[:, drive.control] = model.key_qpos[:, model.jnt_qposadr[drive.joint]]


def _armature(kp: float, kd: float, step: float) -> float:
    """Return the armature that makes a servo stable for any joint inertia [kg m² or kg].

    With explicit damping, a time step h is stable for inertias above ``h² kp / 4 + h kd / 2``. Here, damping
    is implicit and acts like an additional inertia of ``h kd``. But MuJoCo drops the implicit part while a
    force is at its limit, and computes contact forces without it. If ``h kd`` were much larger than the
    joint's inertia, contact forces would be too weak at first and would then launch the robot.
    """
    return 0.25 * step**2 * kp + 0.5 * step * kd


def _force_ranges(model: mujoco.MjModel, drive: Drive) -> Iterator[tuple[float, float]]:
    """Yield the ranges of joint effort [N m or N] given by a motor's force limits and control limits."""
    if model.actuator_forcelimited[drive.actuator]:
        yield tuple(sorted((drive.ratio * model.actuator_forcerange[drive.actuator]).tolist()))
    if model.actuator_ctrllimited[drive.control]:
        efforts = (model.actuator_ctrlrange[drive.control] - drive.offset) / drive.weights[EFFORT]
        yield tuple(sorted(efforts.tolist()))
