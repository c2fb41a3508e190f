"""Relate the controls of a model to its hinge and slide joints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim.common.names import Names, control_spans, count_actuators, first_outputs

POSITION, VELOCITY, EFFORT = range(3)
"""Kinds of joint targets, used in `Drive.field` and as indices into `Drive.weights`."""
FIELDS = ("position", "velocity", "effort")
SCALAR = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))

_GAIN, _BIAS, _DYN, _TRN = mujoco.mjtGain, mujoco.mjtBias, mujoco.mjtDyn, mujoco.mjtTrn
_DIRECT = (_DYN.mjDYN_NONE, _DYN.mjDYN_FILTER, _DYN.mjDYN_FILTEREXACT)
"""Types of actuator dynamics whose activation converges to the control."""


class Drive(NamedTuple):
    """A control that drives a joint: ``ctrl[control] = offset + weights @ (position, velocity, effort)``."""

    actuator: int
    control: int
    joint: int
    field: int
    """The target that this control requires: `POSITION`, `VELOCITY` or `EFFORT`.

    Without that target, the control is not changed.
    """
    offset: float
    weights: tuple[float, float, float]
    """Control units per rad or m, per rad/s or m/s, and per N m or N.

    They are chosen such that the actuator applies the target effort when the joint has reached the target
    position and velocity.
    """
    ratio: float
    """Effort on the joint per unit of the actuator's force."""


class Input(NamedTuple):
    """A control that accepts a target for its actuator's transmission instead of for a joint.

    The fields have the same meaning as in `Drive`, but refer to the length, velocity and force of the
    transmission.
    """

    control: int
    field: int
    offset: float
    weights: tuple[float, float, float]


def read_inputs(model: mujoco.MjModel, actuator: int) -> list[Input]:
    """Return an actuator's controls that accept a target position, velocity or effort.

    Targets refer to the transmission before gearing, so a position is a joint angle or a tendon length.
    """
    gear = float(model.actuator_gear[first_outputs(model)[actuator], 0])
    single = int(model.actuator_trntype[actuator]) in (
        _TRN.mjTRN_JOINT,
        _TRN.mjTRN_JOINTINPARENT,
        _TRN.mjTRN_TENDON,
        _TRN.mjTRN_SLIDERCRANK,
    )
    ratio = gear if single else 1.0
    if ratio == 0.0:
        return []
    first = control_spans(model)[actuator][0]
    return [
        Input(first + k, field, offset, weights)
        for k, field, offset, weights in _inputs(model, actuator, ratio)
    ]


def read_drives(model: mujoco.MjModel) -> list[Drive]:
    """Return the controls that accept a target position, velocity or effort for a hinge or slide joint.

    These are the controls of affine servos and motors with a constant gain (with or without a filter),
    integrated-velocity servos and PID controllers that act on a joint or on a fixed tendon with one joint.
    """
    drives = []
    for actuator in range(count_actuators(model)):
        joints, ratio = _transmission(model, actuator)
        if len(joints) == 1 and ratio != 0.0 and model.jnt_type[joints[0]] in SCALAR:
            control = control_spans(model)[actuator][0]
            drives += [
                Drive(actuator, control + k, joints[0], field, offset, weights, ratio)
                for k, field, offset, weights in _inputs(model, actuator, ratio)
            ]
    return drives


def followed_equalities(model: mujoco.MjModel) -> dict[int, int]:
    """Return the id of the leading joint of each active joint equality, keyed by the equality's id."""
    coupled = (model.eq_type == mujoco.mjtEq.mjEQ_JOINT) & (model.eq_obj2id >= 0) & (model.eq_active0 != 0)
    found = np.flatnonzero(coupled)
    return dict(zip(found.tolist(), model.eq_obj2id[found].tolist(), strict=True))


def leaders(model: mujoco.MjModel) -> dict[int, int]:
    """Return the id of the joint that each coupled joint follows, keyed by the coupled joint's id.

    Joints are coupled by ``<mimic>`` in a URDF and by an equality in MJCF.
    """
    return {int(model.eq_obj1id[eq]): leader for eq, leader in followed_equalities(model).items()}


def undriven(model: mujoco.MjModel, names: Names) -> dict[int, str]:
    """Find the hinge and slide joints that do not accept a target position."""
    fields: dict[int, set[int]] = {}
    for drive in read_drives(model):
        fields.setdefault(drive.actuator, set()).add(drive.field)
    why = {j: "no actuator" for j in range(model.njnt) if model.jnt_type[j] in SCALAR}
    why |= {j: f"follows joint {names.joints[leader]!r}" for j, leader in leaders(model).items()}
    driven: set[int] = set()
    for actuator in range(count_actuators(model)):
        joints, _ = _transmission(model, actuator)
        taken = fields.get(actuator, set())
        if POSITION in taken:
            driven.update(joints)
            continue
        if taken:
            reason = f"accepts only {' and '.join(FIELDS[field] for field in sorted(taken))}"
        else:
            reason = "couples several joints" if len(joints) > 1 else "is not a servo with a constant gain"
        why |= {j: f"actuator {names.actuators[actuator]!r} {reason}" for j in joints if j in why}
    return {joint: reason for joint, reason in why.items() if joint not in driven}


def _transmission(model: mujoco.MjModel, actuator: int) -> tuple[list[int], float]:
    """Return the ids of the joints on which an actuator acts, and the effort per unit of its force.

    The effort refers to the first joint. The list is empty if the actuator acts on something else.
    """
    kind, target = int(model.actuator_trntype[actuator]), int(model.actuator_trnid[actuator, 0])
    gear = float(model.actuator_gear[first_outputs(model)[actuator], 0])
    if kind in (_TRN.mjTRN_JOINT, _TRN.mjTRN_JOINTINPARENT):
        return [target], gear
    if kind != _TRN.mjTRN_TENDON:
        return [], 0.0
    wraps = slice(model.tendon_adr[target], model.tendon_adr[target] + model.tendon_num[target])
    if (model.wrap_type[wraps] != mujoco.mjtWrap.mjWRAP_JOINT).any():
        return [], 0.0
    return model.wrap_objid[wraps].tolist(), gear * float(model.wrap_prm[wraps][0])


def _inputs(
    model: mujoco.MjModel, actuator: int, ratio: float
) -> Iterator[tuple[int, int, float, tuple[float, float, float]]]:
    """Yield the properties of those controls of an actuator that accept a target."""
    kind, dynamics = int(model.actuator_gaintype[actuator]), int(model.actuator_dyntype[actuator])
    gain, slopes = model.actuator_gainprm[actuator, 0], model.actuator_gainprm[actuator, 1:3]
    constant, stiffness, damping = model.actuator_biasprm[actuator, :3].tolist()
    if mujoco.mjtGain(kind).name == "mjGAIN_PID":  # since MuJoCo 4
        bits = mujoco.mjtCtrlInput
        position, velocity, effort = (
            bool(model.actuator_ctrlspec[actuator] & int(bit))
            for bit in (bits.mjINPUT_POS, bits.mjINPUT_VEL, bits.mjINPUT_FF)  # in the order of the controls
        )
        if position and stiffness < 0.0:
            yield 0, POSITION, 0.0, (ratio, 0.0, 0.0)
        if velocity and damping < 0.0 and (position or stiffness == 0.0):
            yield int(position), POSITION if stiffness else VELOCITY, 0.0, (0.0, ratio, 0.0)
        if effort:
            yield position + velocity, EFFORT, 0.0, (0.0, 0.0, 1.0 / ratio)
        return
    if kind not in (_GAIN.mjGAIN_FIXED, _GAIN.mjGAIN_AFFINE) or gain == 0.0:
        return
    if kind == _GAIN.mjGAIN_AFFINE and slopes.any():
        return
    if model.actuator_biastype[actuator] == _BIAS.mjBIAS_NONE:
        constant = stiffness = damping = 0.0
    elif model.actuator_biastype[actuator] != _BIAS.mjBIAS_AFFINE:
        return
    # force = gain * control + constant + stiffness * length + damping * speed; length = ratio * position
    if dynamics == _DYN.mjDYN_INTEGRATOR and stiffness < 0.0:
        yield 0, VELOCITY, 0.0, (0.0, -stiffness * ratio / gain, 0.0)
    elif dynamics in _DIRECT and (stiffness < 0.0 or (stiffness == 0.0 and damping <= 0.0)):
        field = POSITION if stiffness else VELOCITY if damping else EFFORT
        weights = np.array([-stiffness * ratio, -damping * ratio, 1.0 / ratio]) / gain
        yield 0, field, -constant / gain, tuple(weights.tolist())
