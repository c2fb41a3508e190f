"""The MotrixSim engine with one environment, and the features of scenes that MotrixSim does not support."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple, NoReturn

import mujoco
import numpy as np

from tactile_sim.common.errors import EngineError
from tactile_sim.common.names import Names, first_outputs
from tactile_sim.common.schema import LARGEST_STATE, require_controls, whole
from tactile_sim.engines.contacts import Contacts
from tactile_sim.engines.motrix_model import (
    MotrixModel,
    MotrixState,
    is_panic,
    pairs_that_may_touch,
    read_raw,
    sliding_friction,
)
from tactile_sim.engines.mujoco import MjDataEngine
from tactile_sim.engines.sensors import Sensors
from tactile_sim.scenes.contact_sensors import ALL_BITS, contact_layout, is_contact, sensor_names

_SENSOR, _EQUALITY = mujoco.mjtSensor, mujoco.mjtEq
_LIMIT_FORCES = [int(_SENSOR.mjSENS_JOINTLIMITFRC), int(_SENSOR.mjSENS_TENDONLIMITFRC)]
_REACTIONS = [int(_SENSOR.mjSENS_FORCE), int(_SENSOR.mjSENS_TORQUE)]
_LOOSE = (mujoco.mjtJoint.mjJNT_FREE, mujoco.mjtJoint.mjJNT_BALL)
_ON_JOINTS = (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
_HOLDS_BODIES = (_EQUALITY.mjEQ_CONNECT, _EQUALITY.mjEQ_WELD)
_NO_CONTACTS = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)


class PartialSensors(Sensors):
    """Base class of engines that support only some sensors.

    Reading an unsupported sensor raises an error that contains the reason.
    """

    name: str
    _unsupported_sensors: dict[int, str]
    """Reason why each unsupported sensor is not supported, keyed by sensor id."""

    @cached_property
    def _all_sensors(self) -> dict[str, int]:
        return sensor_names(self.model)

    @cached_property
    def sensor_ids(self) -> dict[str, int]:
        """Ids of the supported sensors by name; an unnamed sensor is called ``sensor<id>``."""
        return {name: k for name, k in self._all_sensors.items() if k not in self._unsupported_sensors}

    def unsupported_sensor_lines(self) -> list[str]:
        """Return one line for each reason why sensors are unsupported, with the names of these sensors."""
        names: dict[str, list[str]] = {}
        for name, sensor in self._all_sensors.items():
            if sensor in self._unsupported_sensors:
                names.setdefault(self._unsupported_sensors[sensor], []).append(repr(name))
        return [
            f"unsupported sensor{'s' if len(those) > 1 else ''} {', '.join(those)}: {why}"
            for why, those in names.items()
        ]

    def _sensor(self, name: str) -> int:
        sensor = self._all_sensors.get(name) if isinstance(name, str) else None
        if sensor in self._unsupported_sensors:
            raise EngineError(
                f"engine {self.name!r} does not support sensor {name!r}: {self._unsupported_sensors[sensor]}"
            )
        return super()._sensor(name)


def unsupported_sensors(model: mujoco.MjModel) -> dict[int, str]:
    """Return why sensors are not supported when the engine steps a single environment, keyed by sensor id."""
    why = dict.fromkeys(_LIMIT_FORCES, "motrixsim does not report the forces of limits")
    if np.isin(model.eq_type, _HOLDS_BODIES).any():
        why |= dict.fromkeys(_REACTIONS, "motrixsim does not report the forces of connects and welds")
    found = {s: why[kind] for s, kind in enumerate(model.sensor_type.tolist()) if kind in why}
    late = np.flatnonzero((model.sensor_delay > 0.0) | (model.sensor_interval > 0.0).any(axis=1))
    return found | dict.fromkeys(
        late.tolist(), "it has a delay or an interval, which only MuJoCo's own steps support"
    )


def unsupported_in_batch(model: mujoco.MjModel) -> dict[int, str]:
    """Return why sensors are not supported when the engine steps several environments, keyed by sensor id."""
    remedy = "; load the scene with num_envs=1"
    why = unsupported_sensors(model)
    for sensor in range(model.nsensor):
        if not is_contact(model, sensor):
            why[sensor] = "several environments support contact sensors only" + remedy
        elif contact_layout(model, sensor, "").bits & ~ALL_BITS:
            why[sensor] = "several environments do not support velocities of contacts" + remedy
    return why


def _may_exceed_limit(model: mujoco.MjModel) -> np.ndarray:
    """Return for each joint (njnt,) whether its actuators could exceed the joint's force limit."""
    exceeds = np.full(model.njnt, bool((model.actuator_trntype == mujoco.mjtTrn.mjTRN_TENDON).any()))
    on_joints = np.isin(model.actuator_trntype, _ON_JOINTS)
    gears = model.actuator_gear[first_outputs(model), :1]
    most = np.abs(model.actuator_forcerange * gears).max(axis=1, initial=0.0)
    most[model.actuator_forcelimited == 0] = np.inf
    for joint in range(model.njnt):
        own = most[on_joints & (model.actuator_trnid[:, 0] == joint)]
        exceeds[joint] |= own.sum() > np.abs(model.jnt_actfrcrange[joint]).min()
    return exceeds


def unsupported_features(model: mujoco.MjModel) -> list[str]:
    """Return a line for each unsupported feature that motrixsim does not warn about, except sensors."""
    joints = Names(model).joints
    lines: list[str] = []
    loose = np.isin(model.jnt_type, _LOOSE)
    for key, there in (
        ("actuatorfrcrange", model.jnt_actfrclimited & _may_exceed_limit(model)),
        ("damping", loose & (model.dof_damping[model.jnt_dofadr] != 0.0)),
        ("stiffness", loose & (model.jnt_stiffness != 0.0)),
    ):
        lines += [f"joint {joints[j]!r}: {key} is ignored" for j in np.flatnonzero(there).tolist()]
    if model.nflex:
        lines.append("flexes are ignored")
    return lines


class _StepStart(NamedTuple):
    """The state from which a step starts, with its time and inputs."""

    time: float
    qpos: np.ndarray
    qvel: np.ndarray
    act: np.ndarray
    ctrl: np.ndarray
    qfrc_applied: np.ndarray


class MotrixEngine(PartialSensors, MjDataEngine):
    """One environment stepped by motrixsim.

    MuJoCo's ``data`` mirrors the state of motrixsim and is never stepped. Poses, velocities, efforts and
    sensors are computed on demand from motrixsim's state and contacts.

    motrixsim computes the contacts of a state only in the step that starts from it. Therefore, ``forward``
    already takes that step and ``integrate`` accepts its result. If controls or state change in between, the
    step is repeated. Like MuJoCo's, values that are read after ``step`` belong to the state before the last
    time step.
    """

    name = "motrix"
    accepts_body_forces = False
    switches_equalities = False
    reports_flex_contacts = False

    def __init__(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, bodies: Collection[int] | None = None
    ) -> None:
        """Load a scene.

        ``bodies`` are the ids of the bodies whose contacts are needed, or None for all. They are ignored if
        the scene has sensors.
        """
        # With an elliptic cone, constraint forces are the components along the contact frame.
        model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        super().__init__(model)
        self._unsupported_sensors = unsupported_sensors(model)
        pairs = pairs_that_may_touch(model)
        if bodies is not None and not model.nsensor:
            pairs = pairs[np.isin(model.geom_bodyid[pairs], list(bodies)).any(axis=1)]
        self._motrix = MotrixModel(spec, model, pairs)
        self.unsupported = [
            *self._motrix.unsupported, *unsupported_features(model), *self.unsupported_sensor_lines()
        ]  # fmt: skip
        """Scene features that the engine ignores or cannot report, one line each."""
        self.reset()

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        """Raise EngineError, because motrixsim cannot copy its state."""
        raise EngineError("engine 'motrix': cannot be copied, because motrixsim cannot copy its state")

    # -- stepping --------------------------------------------------------------------------------------------

    def reset(self, keyframe: str | None = None) -> None:
        """Reset to the initial state or to a keyframe, and compute everything as in `forward`."""
        self._reset_data(keyframe)
        # A new state has no forces from previous steps.
        self._state = MotrixState(self._motrix)
        self._placed: tuple[bytes, ...] = ()
        self._begin, self._taken = self.data.time, 0
        self._ahead = False
        self._fault: str | None = None
        self.forward()

    def step(self, n: int = 1) -> None:
        """Advance n time steps."""
        n = whole("step: n", n, error=EngineError)
        if n and self._ahead and self._inputs() == self._placed:
            self.integrate()
            n -= 1
        if n > 0 and self._prepare():
            stateful = len(self._motrix.activations) > 0
            for steps in [1] * n if stateful else [n - 1, 1] if n > 1 else [1]:
                self._advance(steps)
                self._accept(steps)

    def forward(self) -> bool:
        """Compute everything for the current state; return False if nothing has changed since then."""
        if self._ahead and self._inputs() == self._placed:
            return False
        if self._prepare():
            self._advance(1)
            self._ahead = True
            self._update_poses()
        return True

    def integrate(self) -> None:
        """Advance one time step from the state of the last ``forward``."""
        if self._ahead:
            self._accept(1)

    def fault(self) -> str | None:
        """Return why the physics has become unstable since the last reset, or None if it is stable."""
        return self._fault

    def _inputs(self) -> tuple[bytes, ...]:
        """Return the state and inputs on which a step depends, as bytes that can be compared."""
        data = self.data
        return (
            data.qpos.tobytes(), data.qvel.tobytes(), data.act.tobytes(), data.ctrl.tobytes(),
            data.qfrc_applied.tobytes(), data.mocap_pos.tobytes(), data.mocap_quat.tobytes(),
        )  # fmt: skip

    def _prepare(self) -> bool:
        """Pass changed inputs to motrixsim; return False if the physics is unstable."""
        require_controls(self.ctrl)
        if self._fault or not self._valid(self.data.qpos, self.data.qvel):
            return False
        data = self.data
        if self._ahead or (data.qpos.tobytes(), data.qvel.tobytes()) != self._placed[:2]:
            mujoco.mj_normalizeQuat(self.model, data.qpos)
            self._state.place(data.qpos, data.qvel)
        inputs = self._inputs()
        if inputs[2:5] != self._placed[2:5]:
            self._state.control(data.ctrl, data.act, data.qfrc_applied)
        if inputs[5:] != self._placed[5:]:
            self._state.place_mocaps(data.mocap_pos, data.mocap_quat)
        self._ahead = False
        self._placed = inputs
        return True

    def _advance(self, n: int) -> None:
        """Step motrixsim n times; store the starting state in ``_start`` and the result in ``_next``."""
        data = self.data
        self._start = _StepStart(data.time, *(getattr(data, name).copy() for name in _StepStart._fields[1:]))
        self._poses_valid = self._contacts_valid = False
        try:
            self._state.step(n)
            self._next = self._state.read()
        except BaseException as error:
            if not is_panic(error):
                raise
            self._fault = " ".join(str(error).split())

    def _accept(self, n: int) -> None:
        """Copy motrixsim's state after n steps to MuJoCo's ``data``, unless the state is invalid."""
        self._ahead = False
        if self._fault or not self._valid(*self._next):
            return
        data = self.data
        data.qpos[:], data.qvel[:] = self._next
        self._taken += n
        data.time = self._begin + self._taken * self.timestep
        if len(self._motrix.activations):
            data.act[:] = self._motrix.activations.next(self._start.ctrl, self._start.act)
            self._state.control(self._start.ctrl, data.act, self._start.qfrc_applied)
        self._placed = (
            data.qpos.tobytes(), data.qvel.tobytes(), data.act.tobytes(), *self._placed[3:]
        )  # fmt: skip

    def _valid(self, qpos: np.ndarray, qvel: np.ndarray) -> bool:
        """Return whether all positions and velocities are valid; store a fault if one is not."""
        for what, values, addresses in (
            ("position", qpos, self.model.jnt_qposadr),
            ("velocity", qvel, self.model.jnt_dofadr),
        ):
            fine = np.abs(values) < LARGEST_STATE
            if not fine.all():
                bad = np.flatnonzero(~fine)
                place = f" of {self._degree_of_freedom(addresses, int(bad[0]))}" if len(bad) == 1 else ""
                self._fault = f"bad {what}{place}"
                return False
        return True

    # -- reading the mirror ----------------------------------------------------------------------------------

    def contacts(self) -> Contacts:
        """Return the contacts of the last ``forward``; after ``step``, those before the last time step."""
        self._update_contacts()
        return super().contacts()

    def _values_at(self, address: int) -> np.ndarray:
        self._update_contacts()
        return super()._values_at(address)

    def _update_poses(self) -> None:
        """Compute poses, velocities and efforts at ``_start`` if they are not up to date."""
        if not (self._poses_valid or self._fault):
            self._poses_valid = True
            with self._at_start():
                self._mirror_poses()

    def _update_contacts(self) -> None:
        """Compute contacts and sensors at ``_start`` if they are not up to date."""
        if not (self._contacts_valid or self._fault):
            self._update_poses()
            self._contacts_valid = True
            with self._at_start():
                self._mirror_contacts()

    @contextmanager
    def _at_start(self) -> Iterator[None]:
        """Set MuJoCo's data to the state ``_start`` within a ``with`` block."""
        data = self.data
        places = [getattr(data, name) for name in _StepStart._fields[1:]]
        kept, time = [place.copy() for place in places], data.time
        for place, values in zip(places, self._start[1:], strict=True):
            place[:] = values
        data.time = self._start.time
        try:
            yield
        finally:
            for place, values in zip(places, kept, strict=True):
                place[:] = values
            data.time = time

    def _mirror_poses(self) -> None:
        """Compute poses, velocities, actuator forces and accelerations in MuJoCo's data."""
        model, data = self.model, self.data
        model.opt.disableflags |= _NO_CONTACTS
        mujoco.mj_fwdPosition(model, data)
        model.opt.disableflags &= ~_NO_CONTACTS
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_fwdActuation(model, data)
        data.qacc[:] = (self._next[1] - data.qvel) / self.timestep

    def _mirror_contacts(self) -> None:
        """Write motrixsim's contacts to MuJoCo's data, and compute MuJoCo's sensors from them."""
        raw = self._state.contacts()
        self._motrix.warn_of_truncation(raw)
        contacts = read_raw(raw, self._motrix.flipped)
        write_contacts(self.model, self.data, contacts, self._motrix.pairs[contacts.index])
        if self.model.nsensor:
            mujoco.mj_sensorPos(self.model, self.data)
            mujoco.mj_sensorVel(self.model, self.data)
            # Otherwise, sensors would use old accelerations, because MuJoCo's dynamics do not run.
            self.data.flg_rnepost = False
            mujoco.mj_sensorAcc(self.model, self.data)


_ANY = mujoco.MjContact()
_ANY.efc_address = -1
_NEAR_ENOUGH = 1e3
"""Distance below which MuJoCo treats a contact as active [m]; large enough to include all contacts."""


def write_contacts(model: mujoco.MjModel, data: mujoco.MjData, contacts: Contacts, geoms: np.ndarray) -> None:
    """Write contacts of geoms (n, 2) and their forces to MuJoCo's data, which has poses and no contacts.

    The model must have elliptic friction cones, so that constraint forces are in contact frames.
    """
    for _ in range(len(geoms)):
        mujoco.mj_addContact(model, data, _ANY)
    if len(geoms):
        contact = data.contact
        contact.pos[:] = contacts.position
        contact.frame[:] = contacts.frame.reshape(-1, 9)
        contact.dist[:] = contacts.distance
        contact.geom[:] = geoms
        contact.geom1[:], contact.geom2[:] = geoms.T
        contact.flex[:] = contact.elem[:] = contact.vert[:] = -1
        contact.dim[:] = 6
        contact.exclude[:] = 0
        contact.includemargin[:] = _NEAR_ENOUGH
        contact.friction[:] = 1.0
        contact.friction[:, :2] = sliding_friction(model, geoms)[:, None]
        contact.solref[:] = (0.02, 1.0)
        contact.solimp[:] = (0.9, 0.95, 0.001, 0.5, 2.0)
    mujoco.mj_makeConstraint(model, data)
    data.efc_force[:] = 0.0
    if len(geoms):
        rows = data.contact.efc_address[:, None] + np.arange(6)
        data.efc_force[rows] = contacts.wrench
