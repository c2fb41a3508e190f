"""Many environments of one scene, stepped at once by motrixsim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import mujoco
import numpy as np

from tactile_sim.engines.batch import Environments, environment_ids
from tactile_sim.engines.motrix_boundary import guarded, motrixsim
from tactile_sim.engines.motrix_contacts import WIDTH, read_raw
from tactile_sim.engines.motrix_limits import TellsSome, limits, untold_sensors
from tactile_sim.engines.motrix_model import MotrixModel, MotrixState
from tactile_sim.engines.motrix_reduce import find, lengths, matches, slot_columns
from tactile_sim.engines.motrix_scene import net_force_is_told, pairs_that_may_touch
from tactile_sim.engines.sensor_layout import ALL_BITS, contact_layout, is_contact
from tactile_sim.engines.state import LARGEST, keyframe_id

_SITE = int(mujoco.mjtObj.mjOBJ_SITE)


@dataclass
class BatchData:
    """State and controls of n environments, in MuJoCo's names and order."""

    qpos: np.ndarray
    """(n, nq)"""
    qvel: np.ndarray
    """(n, nv)"""
    ctrl: np.ndarray
    """(n, nu)"""
    qfrc_applied: np.ndarray
    """(n, nv) forces applied to hinges and slides [N m, N]"""
    time: np.ndarray
    """(n, 1) since the last reset [s]"""


class MotrixBatch(TellsSome, Environments):
    """``num_envs`` environments of one model, each with its own state in the arrays of ``data``.

    Of the sensors the ``<contact>`` ones are told, but for those in a site's volume. As with MuJoCo, after
    ``step`` they are of the state that its last time step began with.
    """

    name = "motrix"

    def __init__(self, spec: mujoco.MjSpec, model: mujoco.MjModel, num_envs: int, threads: int = 0):
        """threads: how many step the environments, once for all of a process; 0: motrixsim decides.

        Raises EngineError where motrixsim is not installed, or does not take the scene.
        """
        self.model = model
        self.num_envs = num_envs
        self.timestep = float(model.opt.timestep)
        """[s]"""
        if threads:
            with guarded(f"cannot step with {threads} threads"):
                motrixsim().init_thread_pool(threads)
        self._untold = {sensor: why for sensor in range(model.nsensor) if (why := self._why_not(sensor))}
        told = [sensor for sensor in range(model.nsensor) if sensor not in self._untold]
        pairs = pairs_that_may_touch(model)
        signs = {sensor: matches(model, sensor, pairs) for sensor in told}
        wanted = np.any([np.zeros(len(pairs)), *signs.values()], axis=0)
        self._signs = {sensor: sign[wanted] for sensor, sign in signs.items()}
        self._layouts = {sensor: contact_layout(model, sensor, "") for sensor in told}
        nets = [
            sensor
            for name, sensor in self.sensor_ids.items()
            if self._layouts[sensor].reduce == "netforce" and net_force_is_told(model, sensor)
        ]
        self._motrix = MotrixModel(spec, model, pairs[wanted], nets)
        self.limits = [*self._motrix.limits, *limits(model), *self.untold_lines()]
        """What this engine leaves out of the scene, or cannot tell of it: a line each."""
        start = mujoco.MjData(model)
        rows = (start.qpos, start.qvel, start.ctrl, start.qfrc_applied, np.zeros(1))
        self.data = BatchData(*(np.tile(row, (num_envs, 1)) for row in rows))
        self._flipped = np.tile(self._motrix.flipped, num_envs)
        self._values = np.zeros((num_envs, model.nsensordata))
        self._known: dict[str, np.ndarray] = {}
        """What motrixsim has heard last."""
        self.reset()

    @property
    def time(self) -> np.ndarray:
        """(num_envs,) time of each environment since its last reset [s]."""
        return self.data.time[:, 0]

    def step(self, n: int = 1) -> None:
        """Goes n time steps on in every environment."""
        self._hand_over()
        self._advance(n)
        self.data.qpos[:], self.data.qvel[:] = self._state.read()
        self.data.time += n * self.timestep
        self._known = self._copied()

    def forward(self) -> None:
        """Computes what the sensors find of the present positions, velocities and controls."""
        self._hand_over()
        # motrixsim tells the contacts of a state with the step that leads out of it.
        self._advance(1)
        self._known = {}

    def reset(self, keyframe: str | None = None, envs: Sequence[int] | np.ndarray | None = None) -> None:
        """Puts environments back to the initial state, or to that of a keyframe.

        envs: numbers of the environments, or a mask (num_envs,) of booleans; all by default. Raises
        EngineError for an unknown keyframe or environment.
        """
        chosen = slice(None) if envs is None else environment_ids(envs, self.num_envs)
        start = mujoco.MjData(self.model)
        if keyframe:
            mujoco.mj_resetDataKeyframe(self.model, start, keyframe_id(self.model, keyframe))
        for field in fields(self.data):
            getattr(self.data, field.name)[chosen] = getattr(start, field.name)
        if envs is None:
            # A new state remembers nothing, neither forces of the last step nor activations.
            self._state = MotrixState(self._motrix, (self.num_envs,))
            self._state.place_mocaps(start.mocap_pos, start.mocap_quat)
        self._known = {}
        self.forward()

    def fault(self) -> str | None:
        """What made the physics unstable since the last reset, and in which environment first; or None."""
        for what, values in (("position", self.data.qpos), ("velocity", self.data.qvel)):
            bad = ~(np.abs(values) < LARGEST).all(axis=1)
            if bad.any():
                return f"bad {what} in environment {int(np.argmax(bad))}"
        return None

    def get_contact_force_magnitude(self, name: str) -> np.ndarray:
        """(num_envs,) magnitude of the force between a contact sensor's two objects [N].

        See MuJoCo's; that of a ``netforce`` motrixsim tells directly.
        """
        sensor = self._sensor(name)
        if sensor in self._motrix.nets:
            return lengths(self._state.net_forces(sensor))
        return super().get_contact_force_magnitude(name)

    def _why_not(self, sensor: int) -> str | None:
        """Why a sensor cannot be told, or None."""
        one = "several environments at once tell contact sensors alone; load the scene with num_envs=1"
        if not is_contact(self.model, sensor):
            return one
        if self.model.sensor_objtype[sensor] == _SITE:
            return one.replace("contact sensors alone", "no contacts in sites")
        if contact_layout(self.model, sensor, "").bits & ~ALL_BITS:
            return one.replace("contact sensors alone", "no velocities of contacts")
        return untold_sensors(self.model).get(sensor)

    def _hand_over(self) -> None:
        """Tells motrixsim what has changed since it last heard of it."""
        known, data = self._known, self.data
        changed = {name for name in ("qpos", "qvel", "ctrl", "qfrc_applied")
                   if name not in known or not np.array_equal(known[name], getattr(data, name))}  # fmt: skip
        if changed & {"qpos", "qvel"}:
            # A broken environment stands still where it began: motrixsim panics at quaternions that are none.
            sound = np.isfinite(data.qpos).all(axis=1) & np.isfinite(data.qvel).all(axis=1)
            qpos = np.where(sound[:, None], data.qpos, self.model.qpos0)
            for env in range(self.num_envs):
                mujoco.mj_normalizeQuat(self.model, qpos[env])
            self._state.place(qpos, data.qvel)
        if changed & {"ctrl", "qfrc_applied"}:
            self._state.control(data.ctrl, data.qfrc_applied)

    def _copied(self) -> dict[str, np.ndarray]:
        return {field.name: getattr(self.data, field.name).copy() for field in fields(self.data)}

    def _advance(self, n: int) -> None:
        with guarded("broke"):
            self._state.step(n)
        self._stale = True

    @property
    def _sensordata(self) -> np.ndarray:  # type: ignore[override]
        """(num_envs, nsensordata) where those of the contact sensors are filled in."""
        if self._stale:
            self._stale = False
            self._find()
        return self._values

    def _find(self) -> None:
        raw = self._state.contacts().reshape(-1, WIDTH)
        contacts = read_raw(raw, self._flipped)
        pairs = max(1, len(self._motrix.pairs))
        envs, pair = contacts.pair // pairs, contacts.pair % pairs
        self._values[:] = 0.0
        for sensor, layout in self._layouts.items():
            slots = find(
                contacts, envs, self._signs[sensor][pair], layout.reduce, self.num_envs, layout.slots
            )
            told = slots[:, :, slot_columns(layout)].reshape(self.num_envs, -1)
            self._values[:, layout.address : layout.address + told.shape[1]] = told
