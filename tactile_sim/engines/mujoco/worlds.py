"""Wrapper of MuJoCo's C batch, which, unlike `mujoco.batch`, also records contacts."""

from __future__ import annotations

import ctypes
from typing import Any

import mujoco
import numpy as np

from tactile_sim.engines.contacts import Contacts
from tactile_sim.engines.keyframes import keyframe_id
from tactile_sim.engines.mujoco.engine import STABILITY_WARNINGS
from tactile_sim.engines.mujoco.layout import field_offset
from tactile_sim.engines.mujoco.library import BatchConfig, BatchOwner, library
from tactile_sim.engines.mujoco.recording import IDS, ROOM, STEPS, VALUES, compiled_callback, new_job
from tactile_sim.engines.mujoco.sensors import MujocoSensors
from tactile_sim.engines.state_arrays import StateArrays
from tactile_sim.errors import EngineError
from tactile_sim.mujoco_log import ignore_instability

_STATE = {
    "time": mujoco.mjtState.mjSTATE_TIME,
    "qpos": mujoco.mjtState.mjSTATE_QPOS,
    "qvel": mujoco.mjtState.mjSTATE_QVEL,
    "act": mujoco.mjtState.mjSTATE_ACT,
    "ctrl": mujoco.mjtState.mjSTATE_CTRL,
    "qfrc_applied": mujoco.mjtState.mjSTATE_QFRC_APPLIED,
    "xfrc_applied": mujoco.mjtState.mjSTATE_XFRC_APPLIED,
    "mocap_pos": mujoco.mjtState.mjSTATE_MOCAP_POS,
    "mocap_quat": mujoco.mjtState.mjSTATE_MOCAP_QUAT,
    "qacc_warmstart": mujoco.mjtState.mjSTATE_WARMSTART,
}
_RECORDED = ("xpos", "xmat", "qfrc_actuator", "sensordata")
_CAPACITY = 32


class Worlds(StateArrays, MujocoSensors):
    """Environments of one model, stepped by MuJoCo's thread pool.

    The results are the same as if each environment were stepped individually. All arrays have a leading axis
    for the environments. States and inputs (``qpos``, ``qvel``, ``act``, ``ctrl``, ``qfrc_applied``,
    ``xfrc_applied``, ``mocap_pos``, ``mocap_quat``, ``time``) can be read, assigned and modified in place.
    The other arrays contain the results of the last `record`.
    """

    name = "mujoco"
    time: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray
    act: np.ndarray
    ctrl: np.ndarray
    qfrc_applied: np.ndarray
    xfrc_applied: np.ndarray
    mocap_pos: np.ndarray
    mocap_quat: np.ndarray
    qacc_warmstart: np.ndarray
    xpos: np.ndarray
    """(num_envs, nbody, 3) positions of the body origins in the world [m]."""
    xmat: np.ndarray
    """(num_envs, nbody, 9) rotations from body frames to the world."""
    qfrc_actuator: np.ndarray
    """(num_envs, nv) generalized forces of the actuators [N, N m]."""
    sensordata: np.ndarray
    """(num_envs, nsensordata) values of all sensors."""
    contact_values: np.ndarray
    """(num_envs, k, Contacts.WIDTH) quantities of the recorded contacts, see `Contacts.values`."""
    contact_ids: np.ndarray
    """(num_envs, k, Contacts.IDS) ids of the recorded contacts, see `Contacts.ids`."""

    def __init__(self, model: mujoco.MjModel, num_envs: int, threads: int = 0):
        """Create the environments in the initial state.

        Args:
            model: MuJoCo model of one environment; the batch copies it.
            num_envs: Number of environments.
            threads: Number of threads, or 0 for one thread per processor.

        Raises:
            EngineError: MuJoCo rejects the model or runs out of memory.
        """
        ignore_instability()
        self.model, self.num_envs = model, num_envs
        self._lib = library()
        error = ctypes.create_string_buffer(1000)
        for persistent in (0, 1):  # models with sleep need one mjData for each environment
            config = BatchConfig(threads, persistent)
            self._batch = self._lib.mjb_makeBatch(
                model._address, num_envs, ctypes.byref(config), error, len(error)
            )
            if self._batch:
                self._persistent = bool(persistent)
                break
        else:
            reason = " ".join(error.value.decode(errors="replace").split())
            raise EngineError(f"engine 'mujoco' cannot make {num_envs} environments: {reason}")
        self._owner = BatchOwner(self._batch)
        self.threads = int(self._lib.mjb_nthread(self._batch))
        width = self._lib.mjb_nstate(self._batch)
        self.state = self._owner.view(self._lib.mjb_state(self._batch), (num_envs, width), ctypes.c_double)
        """(num_envs, nstate) complete state of each environment."""
        first, size, data = self.state.ctypes.data, ctypes.c_int(), mujoco.MjData(model)
        for name, part in _STATE.items():
            address = self._lib.mjb_stateComponent(self._batch, int(part), ctypes.byref(size))
            start = (address - first) // 8 if size.value else 0
            columns = self.state[:, start : start + size.value]
            setattr(self, name, columns.reshape(num_envs, *np.shape(getattr(data, name))))
        self._warnings = self._owner.view(
            self._lib.mjb_warning(self._batch), (num_envs, int(mujoco.mjtWarning.mjNWARNING), 2), ctypes.c_int
        )
        self._errors: dict[int, str] = {}
        self._record_into(data)
        self.reset()

    def __deepcopy__(self, memo: dict[int, Any]) -> Worlds:
        """Return environments in the same states, with the same recorded results.

        Raises:
            EngineError: The model has sleep, whose state MuJoCo's batch does not reveal.
        """
        if self._persistent:
            raise EngineError("engine 'mujoco': environments of a model with sleep cannot be copied")
        new = memo[id(self)] = Worlds(self.model, self.num_envs, self.threads)
        new._make_room(self.contact_ids.shape[1])
        recorded = *_RECORDED, "contact_counts", "contact_values", "contact_ids", "state", "_warnings"
        for name in recorded:
            getattr(new, name)[:] = getattr(self, name)
        new._errors = dict(self._errors)
        return new

    def step(self, n: int = 1) -> None:
        """Advance every environment by n time steps; call `faults` afterwards to detect failures."""
        self._note(self._lib.mjb_step(self._batch, None, 0, n, 0))

    def record(self, steps: int = 0) -> None:
        """Compute and record contacts, poses, forces and sensors for the current states, then step.

        Args:
            steps: Number of time steps to take after recording.
        """
        self._job[STEPS] = steps
        ids: np.ndarray | None = None
        while True:
            self._note(
                self._lib.mjb_apply(
                    self._batch, None if ids is None else ids.ctypes.data, 0 if ids is None else len(ids),
                    self._callback.address, self._job.ctypes.data, int(steps > 0),
                )
            )  # fmt: skip
            ids = np.flatnonzero(self.contact_counts < 0).astype(np.int32)
            if not len(ids):
                return
            self._make_room(int(-self.contact_counts.min()))

    def reset(self, envs: np.ndarray | None = None, keyframe: str | None = None) -> None:
        """Reset environments to the initial state or to a keyframe.

        Args:
            envs: Indices (int32) of the environments in ascending order. None resets all.
            keyframe: Name of the keyframe; None for the initial state.

        Raises:
            EngineError: The keyframe does not exist.
        """
        count = self.num_envs if envs is None else len(envs)
        keys = np.full(count, keyframe_id(self.model, keyframe), np.int32)
        if count:
            ids = None if envs is None else envs.ctypes.data
            self._lib.mjb_reset(self._batch, ids, 0 if envs is None else count, keys.ctypes.data, 0)
        for env in range(self.num_envs) if envs is None else envs.tolist():
            self._errors.pop(env, None)

    def faults(self) -> dict[int, str]:
        """Return why environments have failed since their last reset, by environment index.

        Environments in which MuJoCo raised an error keep their previous state and readings, but have no
        contacts.
        """
        counts = self._warnings[:, list(STABILITY_WARNINGS), 1]
        names = list(STABILITY_WARNINGS.values())
        rows = np.flatnonzero(counts.any(axis=1))
        return {env: f"bad {names[int(np.argmax(counts[env]))]}" for env in rows.tolist()} | self._errors

    def contacts(self, env: int) -> Contacts:
        """Return the contacts that the last `record` stored for an environment, without copying them."""
        count = int(self.contact_counts[env])
        return Contacts(self.contact_values[env, :count], self.contact_ids[env, :count])

    @property
    def _sensordata(self) -> np.ndarray:  # type: ignore[override]
        return self.sensordata

    def _record_into(self, data: mujoco.MjData) -> None:
        """Allocate the arrays that `record` writes, and create the table of their addresses."""
        model = self.model
        copies = []
        for name in _RECORDED:
            shape = np.shape(getattr(data, name))
            out = np.zeros((self.num_envs, *shape))
            setattr(self, name, out)
            if out.size:
                copies.append((field_offset(data, name), out.ctypes.data, out[0].size))
        self._constants = model.geom_bodyid.copy(), model.body_rootid.copy()
        self.contact_counts = np.zeros(self.num_envs, np.int32)
        """(num_envs,) number of contacts that carry a force."""
        self._job = new_job(model, data, self.contact_counts, self._constants, copies)
        self._make_room(_CAPACITY)
        self._callback = compiled_callback(int(model.opt.integrator))

    def _make_room(self, contacts: int) -> None:
        """Enlarge the contact arrays to this number of contacts per environment; keep recorded contacts."""
        values = np.zeros((self.num_envs, contacts, Contacts.WIDTH))
        ids = np.zeros((self.num_envs, contacts, Contacts.IDS), np.int32)
        room = self._job[ROOM]
        if room:
            values[:, :room], ids[:, :room] = self.contact_values, self.contact_ids
        self.contact_values, self.contact_ids = values, ids
        self._job[VALUES], self._job[IDS] = values.ctypes.data, ids.ctypes.data
        self._job[ROOM] = contacts

    def _note(self, failed: int) -> None:
        """Store the error messages of environments in which MuJoCo raised an error."""
        if failed:
            status = self._owner.view(self._lib.mjb_status(self._batch), (self.num_envs,), ctypes.c_int)
            for env in np.flatnonzero(status).tolist():
                text = self._lib.mjb_error(self._batch, env).decode(errors="replace")
                self._errors[env] = " ".join(text.split())
            self.contact_counts[list(self._errors)] = 0
