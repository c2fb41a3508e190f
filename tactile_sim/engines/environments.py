"""Many environments of one scene that are stepped together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.common.errors import EngineError
from tactile_sim.common.schema import require_controls, whole
from tactile_sim.engines.contacts import Contacts
from tactile_sim.engines.mujoco import STABILITY_WARNINGS, MjDataEngine, StateArrays, keyframe_id
from tactile_sim.engines.sensors import Sensors
from tactile_sim.scenes.faults import ignore_instability


def environment_ids(envs: Sequence[int] | np.ndarray | None, count: int) -> np.ndarray:
    """Convert a selection of environments to ascending indices (k,).

    Args:
        envs: Indices in any order, or a boolean mask (count,); None selects all.
        count: Number of environments.

    Raises:
        EngineError: ``envs`` has an invalid type or shape, or an index is out of range.
    """
    if envs is None:
        return np.arange(count)
    try:
        chosen = np.asarray(envs)
    except ValueError:  # rows of different lengths
        chosen = np.empty((0, 0))
    if chosen.dtype == bool and chosen.shape == (count,):
        return np.flatnonzero(chosen)
    if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
        raise EngineError(
            f"envs: must be indices of environments, such as [0, 2], or {count} booleans, got {envs!r}"
        )
    wrong = chosen[(chosen < 0) | (chosen >= count)]
    if len(wrong):
        raise EngineError(f"envs: index out of range, got {wrong[0]}; give 0 to {count - 1}")
    return np.unique(chosen).astype(int)


class Environments(StateArrays, Sensors):
    """Environments of one model: the base class of the engines that step several together.

    All arrays have a leading axis for the environments. States and inputs can be read, assigned and modified
    in place. The other arrays are results of the last `record`, `forward` or `reset`. After `step`, they
    belong to the state before the last time step, as in MuJoCo.
    """

    name: str
    threads: int
    unsupported: list[str] = []
    """Scene features that the engine ignores or cannot report, one line each."""
    time: np.ndarray
    """(num_envs,) time since the last reset of each environment [s]."""
    qpos: np.ndarray
    """(num_envs, nq) generalized positions [rad, m]."""
    qvel: np.ndarray
    """(num_envs, nv) generalized velocities [rad/s, m/s]."""
    act: np.ndarray
    """(num_envs, na) activations of stateful actuators."""
    ctrl: np.ndarray
    """(num_envs, nu) controls of the actuators."""
    qfrc_applied: np.ndarray
    """(num_envs, nv) generalized forces in addition to those of the actuators [N m, N]."""
    xfrc_applied: np.ndarray
    """(num_envs, nbody, 6) forces [N] and torques [N m] on the bodies, in the world frame."""
    mocap_pos: np.ndarray
    """(num_envs, nmocap, 3) positions of the mocap bodies in the world [m]."""
    mocap_quat: np.ndarray
    """(num_envs, nmocap, 4) orientations of the mocap bodies in the world, wxyz."""
    xpos: np.ndarray
    """(num_envs, nbody, 3) positions of the body origins in the world [m]."""
    xmat: np.ndarray
    """(num_envs, nbody, 9) rotations from body frames to the world."""
    qfrc_actuator: np.ndarray
    """(num_envs, nv) generalized forces of the actuators [N, N m]."""
    sensordata: np.ndarray
    """(num_envs, nsensordata) values of all sensors, in MuJoCo's layout; NaN if not supported."""
    contact_counts: np.ndarray
    """(num_envs,) number of contacts that carry a force."""
    contact_values: np.ndarray
    """(num_envs, k, Contacts.WIDTH) quantities of the contacts, see `Contacts.values`."""
    contact_ids: np.ndarray
    """(num_envs, k, Contacts.IDS) ids of the contacts, see `Contacts.ids`."""

    def __init__(self, model: mujoco.MjModel, num_envs: int):
        self.model, self.num_envs = model, num_envs
        self.timestep = float(model.opt.timestep)
        """Time step [s]."""
        self.contact_counts = np.zeros(num_envs, np.int32)
        self.contact_values = np.zeros((num_envs, 0, Contacts.WIDTH))
        self.contact_ids = np.zeros((num_envs, 0, Contacts.IDS), np.int32)

    def __getattr__(self, name: str) -> NoReturn:
        single = hasattr(MjDataEngine, name) or name in ("integrate", "eq_active")
        if single and not name.startswith("_") and name not in Environments.__annotations__:
            raise EngineError(
                f"engine {self.name!r} does not support {name!r} with several environments, got"
                f" {self.num_envs}; load the scene with num_envs=1"
            )
        raise AttributeError(name)

    @property
    def data(self) -> Environments:
        """The object with the arrays: this one."""
        return self

    def step(self, n: int = 1) -> None:
        """Advance every environment by n time steps.

        Raises:
            CommandError: A control is not finite, or too large.
            EngineError: n is negative or not an integer.
        """
        require_controls(self.ctrl)
        if whole("step: n", n, error=EngineError):
            self.advance(n - 1)
            self.record(1)

    def forward(self) -> None:
        """Compute all results for the current positions, velocities and controls.

        Raises:
            CommandError: A control is not finite, or too large.
        """
        require_controls(self.ctrl)
        self.record()

    def reset(self, keyframe: str | None = None, envs: Sequence[int] | np.ndarray | None = None) -> None:
        """Reset environments to the initial state or to a keyframe, and compute their results.

        Args:
            keyframe: Name of the keyframe; None for the initial state.
            envs: Indices of the environments, or a boolean mask (num_envs,); None resets all.

        Raises:
            EngineError: The keyframe or an environment does not exist.
        """
        ids = environment_ids(envs, self.num_envs)
        self._reset(keyframe_id(self.model, keyframe), ids)

    def contacts(self, env: int | None = None) -> Contacts:
        """Return the contacts in one environment, without copying them.

        Raises:
            CommandError: There is no such environment.
        """
        env = whole("contacts: env", env, 0, self.num_envs - 1)
        count = int(self.contact_counts[env])
        return Contacts(self.contact_values[env, :count], self.contact_ids[env, :count])

    def advance(self, n: int) -> None:
        """Advance every environment by n time steps, without results and checks."""
        raise NotImplementedError

    def record(self, steps: int = 0) -> None:
        """Compute all results for the current states, then advance."""
        raise NotImplementedError

    def faults(self) -> dict[int, str]:
        """Return why environments have failed since their last reset, by environment index."""
        raise NotImplementedError

    def _reset(self, keyframe: int, envs: np.ndarray) -> None:
        raise NotImplementedError

    def _values_at(self, address: int) -> np.ndarray:
        return self.sensordata

    def _make_room(self, contacts: int) -> None:
        """Enlarge the contact arrays to this number of contacts in each environment."""
        room = self.contact_ids.shape[1]
        values = np.zeros((self.num_envs, contacts, Contacts.WIDTH))
        ids = np.zeros((self.num_envs, contacts, Contacts.IDS), np.int32)
        values[:, :room], ids[:, :room] = self.contact_values, self.contact_ids
        self.contact_values, self.contact_ids = values, ids


_STATES = {
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
_RESULTS = ("xpos", "xmat", "qfrc_actuator", "sensordata")
_CONTACTS = 32
"""Initial capacity for contacts in each environment."""


class MujocoEnvironments(Environments):
    """Environments stepped by MuJoCo's thread pool, with the same results as if each were stepped alone."""

    name = "mujoco"

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
        if not hasattr(_core, "Worlds"):
            raise EngineError(
                "engine 'mujoco': several environments require MuJoCo 4.0 or later, got"
                f" {mujoco.__version__}; install it and then tactile_sim again"
            )
        # MuJoCo would silently reset environments at a NaN; here `faults` reports it.
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        try:
            self._batch = _core.Worlds(model._address, num_envs, threads)
        except RuntimeError as error:
            reason = " ".join(str(error).split())
            if "alloc" in reason:
                raise MemoryError from None
            raise EngineError(f"engine 'mujoco' cannot make {num_envs} environments: {reason}") from None
        super().__init__(model, num_envs)
        self.threads = self._batch.threads
        self.state = self._batch.states
        """(num_envs, nstate) complete state of each environment."""
        data = mujoco.MjData(model)
        for name, part in _STATES.items():
            start, size = self._batch.component(int(part))
            columns = self.state[:, start : start + size]
            setattr(self, name, columns.reshape(num_envs, *np.shape(getattr(data, name))))
        self._warnings = self._batch.warnings
        self._errors: dict[int, str] = {}
        for name in _RESULTS:
            setattr(self, name, np.zeros((num_envs, *np.shape(getattr(data, name)))))
        self._make_room(_CONTACTS)
        self.reset()

    def __deepcopy__(self, memo: dict[int, Any]) -> MujocoEnvironments:
        """Return environments in the same states, with the same results.

        Raises:
            EngineError: The model has sleep, whose state MuJoCo's batch does not reveal.
        """
        if self._batch.persistent:
            raise EngineError("engine 'mujoco': environments of a model with sleep cannot be copied")
        new = memo[id(self)] = MujocoEnvironments(self.model, self.num_envs, self.threads)
        new._make_room(self.contact_ids.shape[1])
        for name in (*_RESULTS, "contact_counts", "contact_values", "contact_ids", "state", "_warnings"):
            getattr(new, name)[:] = getattr(self, name)
        new._errors = dict(self._errors)
        return new

    def advance(self, n: int) -> None:
        """Advance every environment by n time steps, without results and checks."""
        self._note(self._batch.step(n))

    def record(self, steps: int = 0) -> None:
        """Compute all results for the current states, then advance."""
        self._record(None, steps)

    def faults(self) -> dict[int, str]:
        """Return why environments have failed since their last reset, by environment index.

        Environments in which MuJoCo raised an error keep their previous state and results, but have no
        contacts.
        """
        counts = self._warnings[:, list(STABILITY_WARNINGS), 1]
        names = list(STABILITY_WARNINGS.values())
        rows = np.flatnonzero(counts.any(axis=1))
        return {env: f"bad {names[int(np.argmax(counts[env]))]}" for env in rows.tolist()} | self._errors

    def _reset(self, keyframe: int, envs: np.ndarray) -> None:
        if not len(envs):
            return
        self._batch.reset(envs.astype(np.int32), np.full(len(envs), keyframe, np.int32))
        for env in envs.tolist():
            self._errors.pop(env, None)
        self._record(envs.astype(np.int32), 0)

    def _record(self, envs: np.ndarray | None, steps: int) -> None:
        """Compute the results of some environments or of all, then advance them."""
        while envs is None or len(envs):
            failed = self._batch.record(
                envs, steps, self.contact_values, self.contact_ids, self.contact_counts, self.xpos,
                self.xmat, self.qfrc_actuator, self.sensordata,
            )  # fmt: skip
            self._note(failed)
            envs = np.flatnonzero(self.contact_counts < 0).astype(np.int32)
            if len(envs):
                self._make_room(int(-self.contact_counts.min()))

    def _note(self, failed: int) -> None:
        """Store the error messages of environments in which MuJoCo raised an error."""
        if failed:
            for env in range(self.num_envs):
                if text := self._batch.error(env):
                    self._errors[env] = " ".join(text.split())
            self.contact_counts[list(self._errors)] = 0
