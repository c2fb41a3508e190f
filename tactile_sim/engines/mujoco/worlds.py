"""Wrapper of MuJoCo's C batch, which, unlike `mujoco.batch`, also records contacts."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.engines.contacts import Contacts
from tactile_sim.engines.keyframes import keyframe_id
from tactile_sim.engines.mujoco.engine import STABILITY_WARNINGS
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
            EngineError: MuJoCo rejects the model, runs out of memory, or is too old.
        """
        ignore_instability()
        self.model, self.num_envs = model, num_envs
        if not hasattr(_core, "Worlds"):
            raise EngineError(
                "engine 'mujoco': several environments require MuJoCo 3.17 or later, got"
                f" {mujoco.__version__}; install it and then tactile_sim again"
            )
        try:
            self._batch = _core.Worlds(model._address, num_envs, threads)
        except RuntimeError as error:
            reason = " ".join(str(error).split())
            raise EngineError(f"engine 'mujoco' cannot make {num_envs} environments: {reason}") from None
        self.threads = self._batch.threads
        self.state = self._batch.states
        """(num_envs, nstate) complete state of each environment."""
        data = mujoco.MjData(model)
        for name, part in _STATE.items():
            start, size = self._batch.component(int(part))
            columns = self.state[:, start : start + size]
            setattr(self, name, columns.reshape(num_envs, *np.shape(getattr(data, name))))
        self._warnings = self._batch.warnings
        self._errors: dict[int, str] = {}
        for name in _RECORDED:
            setattr(self, name, np.zeros((num_envs, *np.shape(getattr(data, name)))))
        self.contact_counts = np.zeros(num_envs, np.int32)
        """(num_envs,) number of contacts that carry a force."""
        self.contact_values, self.contact_ids = _contact_arrays(num_envs, _CAPACITY)
        self.reset()

    def __deepcopy__(self, memo: dict[int, Any]) -> Worlds:
        """Return environments in the same states, with the same recorded results.

        Raises:
            EngineError: The model has sleep, whose state MuJoCo's batch does not reveal.
        """
        if self._batch.persistent:
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
        self._note(self._batch.step(n))

    def record(self, steps: int = 0) -> None:
        """Compute and record contacts, poses, forces and sensors for the current states, then step.

        Args:
            steps: Number of time steps to take after recording.
        """
        ids: np.ndarray | None = None
        while ids is None or len(ids):
            failed = self._batch.record(
                ids, steps, self.contact_values, self.contact_ids, self.contact_counts, self.xpos, self.xmat,
                self.qfrc_actuator, self.sensordata,
            )  # fmt: skip
            self._note(failed)
            ids = np.flatnonzero(self.contact_counts < 0).astype(np.int32)
            if len(ids):
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
            self._batch.reset(envs, keys)
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

    def _make_room(self, contacts: int) -> None:
        """Enlarge the contact arrays to this number of contacts per environment; keep recorded contacts."""
        values, ids = _contact_arrays(self.num_envs, contacts)
        room = self.contact_ids.shape[1]
        values[:, :room], ids[:, :room] = self.contact_values, self.contact_ids
        self.contact_values, self.contact_ids = values, ids

    def _note(self, failed: int) -> None:
        """Store the error messages of environments in which MuJoCo raised an error."""
        if failed:
            for env in range(self.num_envs):
                if text := self._batch.error(env):
                    self._errors[env] = " ".join(text.split())
            self.contact_counts[list(self._errors)] = 0


def _contact_arrays(num_envs: int, contacts: int) -> tuple[np.ndarray, np.ndarray]:
    """Return `Contacts.values` and `Contacts.ids` for this number of contacts in each environment."""
    shape = num_envs, contacts
    return np.zeros((*shape, Contacts.WIDTH)), np.zeros((*shape, Contacts.IDS), np.int32)
