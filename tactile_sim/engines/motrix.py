"""MotrixSim behind the engine interface."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import mujoco
import numpy as np

from tactile_sim.engines.contacts import Contacts
from tactile_sim.engines.motrix_boundary import is_panic
from tactile_sim.engines.motrix_contacts import put_into, read_raw
from tactile_sim.engines.motrix_limits import TellsSome, limits, unknown_efforts, untold_sensors
from tactile_sim.engines.motrix_model import MotrixModel, MotrixState
from tactile_sim.engines.motrix_scene import SLOTS, pairs_that_may_touch
from tactile_sim.engines.state import LARGEST, State

_LOG = logging.getLogger("tactile_sim.motrix")
_NO_CONTACTS = int(mujoco.mjtDisableBit.mjDSBL_CONTACT)


class _Moment(NamedTuple):
    """A state, the controls that act on it, and its time."""

    time: float
    qpos: np.ndarray
    qvel: np.ndarray
    ctrl: np.ndarray
    qfrc_applied: np.ndarray


class MotrixEngine(TellsSome, State):
    """One environment that motrixsim moves. MuJoCo's ``data`` mirrors it: it never steps, but from
    motrixsim's state and contacts it tells poses, velocities, efforts and sensors, and only when asked.

    motrixsim tells the contacts of a state with the step that leads out of it. So ``forward`` takes that
    step, and ``integrate`` takes it for good; where controls or state are changed in between, it is taken
    anew from where it began. What is read after ``step`` is of the state that its last time step began with,
    as with MuJoCo.
    """

    name = "motrix"

    def __init__(
        self, spec: mujoco.MjSpec, model: mujoco.MjModel, bodies: Collection[int] | None = None
    ) -> None:
        """spec: the scene; model: what it compiles to; bodies: ids of those whose contacts are wanted, where
        no sensor needs those of others; None: of all.

        Raises EngineError where motrixsim is not installed, or does not take the scene.
        """
        # In an elliptic cone the forces of a contact are those along its frame; and all have their place.
        model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        model.opt.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        super().__init__(model)
        self._untold = untold_sensors(model)
        pairs = pairs_that_may_touch(model)
        if bodies is not None and not model.nsensor:
            pairs = pairs[np.isin(model.geom_bodyid[pairs], list(bodies)).any(axis=1)]
        self._motrix = MotrixModel(spec, model, pairs)
        self.limits = [*self._motrix.limits, *limits(model), *self.untold_lines()]
        """What this engine leaves out of the scene, or cannot tell of it: a line each."""
        self._unknown_efforts = unknown_efforts(model)
        self._crowded: set[tuple[int, int]] = set()
        self.reset()

    # -- going on --------------------------------------------------------------------------------------------

    def reset(self, keyframe: str | None = None) -> None:
        """Goes back to the initial state, or to that of a keyframe.

        Raises EngineError for an unknown keyframe.
        """
        self._to_start(keyframe)
        # A new state remembers nothing, neither forces of the last step nor activations.
        self._state = MotrixState(self._motrix)
        self._placed: tuple[bytes, ...] = ()
        self._begin, self._taken = self.data.time, 0
        self._ahead = False
        self._fault: str | None = None
        self.forward()

    def step(self, n: int = 1) -> None:
        """Goes n time steps on."""
        if self._ahead and self._inputs() == self._placed:
            self.integrate()
            n -= 1
        if n > 0 and self._prepare():
            if n > 1:
                self._advance(n - 1)
                self._arrive(n - 1)
            self._advance(1)
            self._arrive(1)

    def forward(self) -> None:
        """Computes all that follows from the present positions, velocities and controls."""
        if self._ahead and self._inputs() == self._placed:
            return
        if self._prepare():
            self._advance(1)
            self._ahead = True
            self._show_poses()

    def integrate(self) -> None:
        """Goes from the instant of the last ``forward`` to the next."""
        if self._ahead:
            self._arrive(1)

    def fault(self) -> str | None:
        """What made the physics unstable since the last reset, or None."""
        return self._fault

    def _inputs(self) -> tuple[bytes, ...]:
        """All that a step depends on, to be compared."""
        data = self.data
        return (
            data.qpos.tobytes(), data.qvel.tobytes(), data.ctrl.tobytes(), data.qfrc_applied.tobytes(),
            data.mocap_pos.tobytes(), data.mocap_quat.tobytes(),
        )  # fmt: skip

    def _prepare(self) -> bool:
        """Hands over what has changed since motrixsim last heard of it. False: the physics is broken."""
        if self._fault or not self._sound(self.data.qpos, self.data.qvel):
            return False
        data = self.data
        if self._ahead or (data.qpos.tobytes(), data.qvel.tobytes()) != self._placed[:2]:
            mujoco.mj_normalizeQuat(self.model, data.qpos)
            self._state.place(data.qpos, data.qvel)
        inputs = self._inputs()
        if inputs[2:4] != self._placed[2:4]:
            self._state.control(data.ctrl, data.qfrc_applied)
        if inputs[4:] != self._placed[4:]:
            self._state.place_mocaps(data.mocap_pos, data.mocap_quat)
        self._ahead = False
        self._placed = inputs
        return True

    def _advance(self, n: int) -> None:
        """Lets motrixsim go n steps on; ``_next`` is where that leads, ``_shown`` the moment it begins at."""
        data = self.data
        now = (data.qpos.copy(), data.qvel.copy(), data.ctrl.copy(), data.qfrc_applied.copy())
        self._shown = _Moment(data.time, *now)
        self._poses = self._touches = False
        try:
            self._state.step(n)
            self._next = self._state.read()
        except BaseException as error:
            if not is_panic(error):
                raise
            self._fault = " ".join(str(error).split())

    def _arrive(self, n: int) -> None:
        """Takes over the state that n steps have led to."""
        self._ahead = False
        if self._fault or not self._sound(*self._next):
            return
        self.data.qpos[:], self.data.qvel[:] = self._next
        self._taken += n
        self.data.time = self._begin + self._taken * self.timestep
        self._placed = (self.data.qpos.tobytes(), self.data.qvel.tobytes(), *self._placed[2:])

    def _sound(self, qpos: np.ndarray, qvel: np.ndarray) -> bool:
        """Whether all numbers are such as can be; otherwise that is the fault."""
        for what, values, addresses in (
            ("position", qpos, self.model.jnt_qposadr),
            ("velocity", qvel, self.model.jnt_dofadr),
        ):
            fine = np.abs(values) < LARGEST
            if not fine.all():
                bad = np.flatnonzero(~fine)
                place = f" of {self._degree_of_freedom(addresses, int(bad[0]))}" if len(bad) == 1 else ""
                self._fault = f"bad {what}{place}"
                return False
        return True

    # -- what the mirror tells -------------------------------------------------------------------------------

    def contacts(self) -> Contacts:
        """The contacts of the last ``forward``, or of the state that the last time step began with."""
        self._show_touches()
        return super().contacts()

    @property
    def body_positions(self) -> np.ndarray:
        """(nbody, 3) origins of the bodies, world [m]."""
        self._show_poses()
        return super().body_positions

    @property
    def body_rotations(self) -> np.ndarray:
        """(nbody, 3, 3) matrices that turn body vectors into world vectors."""
        self._show_poses()
        return super().body_rotations

    @property
    def body_quaternions(self) -> np.ndarray:
        """(nbody, 4) orientations of the bodies in the world, wxyz."""
        self._show_poses()
        return super().body_quaternions

    @property
    def _sensordata(self) -> np.ndarray:
        self._show_touches()
        return self._mirrored

    @_sensordata.setter
    def _sensordata(self, values: np.ndarray) -> None:
        self._mirrored = values

    def _show_poses(self) -> None:
        """Poses, velocities and efforts of the moment that is shown."""
        if not (self._poses or self._fault):
            self._poses = True
            with self._moment():
                self._mirror_poses()

    def _show_touches(self) -> None:
        """Its contacts and sensors as well."""
        if not (self._touches or self._fault):
            self._show_poses()
            self._touches = True
            with self._moment():
                self._mirror_touches()

    @contextmanager
    def _moment(self) -> Iterator[None]:
        """Puts the moment that is shown into the data meanwhile."""
        data = self.data
        places = (data.qpos, data.qvel, data.ctrl, data.qfrc_applied)
        kept, time = [place.copy() for place in places], data.time
        for place, values in zip(places, self._shown[1:], strict=True):
            place[:] = values
        data.time = self._shown.time
        try:
            yield
        finally:
            for place, values in zip(places, kept, strict=True):
                place[:] = values
            data.time = time

    def _mirror_poses(self) -> None:
        model, data = self.model, self.data
        model.opt.disableflags |= _NO_CONTACTS
        mujoco.mj_fwdPosition(model, data)
        model.opt.disableflags &= ~_NO_CONTACTS
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_fwdActuation(model, data)
        data.qfrc_actuator[self._unknown_efforts] = np.nan
        data.qacc[:] = (self._next[1] - data.qvel) / self.timestep

    def _mirror_touches(self) -> None:
        raw = self._state.contacts()
        self._tell_of_crowds(raw)
        contacts = read_raw(raw, self._motrix.flipped)
        put_into(self.model, self.data, contacts, self._motrix.pairs[contacts.pair])
        if self.model.nsensor:
            mujoco.mj_sensorPos(self.model, self.data)
            mujoco.mj_sensorVel(self.model, self.data)
            # Only MuJoCo's own dynamics, which do not run here, clear what an earlier step left.
            self.data.flg_rnepost = False
            mujoco.mj_sensorAcc(self.model, self.data)

    def _tell_of_crowds(self, raw: np.ndarray) -> None:
        """Says once of a pair of geoms that it has more contacts than are read."""
        for p in np.flatnonzero(raw[:, 0] > SLOTS).tolist():
            pair = tuple(self._motrix.pairs[p].tolist())
            if pair not in self._crowded:
                self._crowded.add(pair)
                a, b = (self.model.geom(geom).name or f"geom {geom}" for geom in pair)
                _LOG.warning(
                    "engine 'motrix': %s and %s touch at %d points, of which %d are told",
                    a, b, raw[p, 0], SLOTS,
                )  # fmt: skip
