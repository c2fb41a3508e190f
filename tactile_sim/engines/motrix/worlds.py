"""Environments of one scene in motrixsim, with the contacts and poses that a skin needs."""

from __future__ import annotations

import copy
import os
from collections.abc import Collection

import mujoco
import numpy as np
from mujoco.batch import Batch

from tactile_sim import _core
from tactile_sim.engines.contact_sensors import ContactSensor
from tactile_sim.engines.contacts import Contacts
from tactile_sim.engines.motrix.batch import MotrixBatch
from tactile_sim.engines.motrix.contacts import WIDTH, sliding_friction
from tactile_sim.engines.motrix.scene import pairs_that_may_touch
from tactile_sim.engines.state_arrays import StateArrays
from tactile_sim.errors import EngineError

_UNUSED = int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_SENSOR)
_INPUTS = ("qpos", "qvel", "act", "ctrl", "mocap_pos", "mocap_quat")


def bytes_of_contacts(model: mujoco.MjModel) -> int:
    """Return an upper bound on the memory per environment for reading contacts from motrixsim [bytes]."""
    return 2 * 4 * WIDTH * len(pairs_that_may_touch(model))


class MotrixWorlds(StateArrays):
    """Environments of one model, stepped by motrixsim.

    The arrays have the same names and meaning as in `engines.mujoco.worlds.Worlds`. Poses and actuator forces
    are computed by MuJoCo's functions from motrixsim's states, as in `MotrixEngine`.
    """

    name = "motrix"

    def __init__(
        self,
        spec: mujoco.MjSpec,
        model: mujoco.MjModel,
        num_envs: int,
        threads: int = 0,
        bodies: Collection[int] | None = None,
    ):
        """Create the environments in the initial state.

        Args:
            spec: The scene.
            model: The compiled scene.
            num_envs: Number of environments.
            threads: Number of threads, or 0 for one thread per processor. Motrixsim allows a process to set
                this number only once.
            bodies: Ids of bodies whose contacts are read in addition to the contacts that the sensors need.
                None selects all bodies.

        Raises:
            EngineError: Motrixsim is not installed or rejects the scene.
        """
        self.model, self.num_envs = model, num_envs
        self.threads = threads or len(os.sched_getaffinity(0))
        self._engine = engine = MotrixBatch(spec, model, num_envs, threads, bodies)
        self.unsupported = engine.unsupported
        """Scene features that motrixsim ignores or cannot report, one line each."""
        data = engine.data
        self.qpos, self.qvel, self.act, self.ctrl = data.qpos, data.qvel, data.act, data.ctrl
        self.qfrc_applied, self.time = data.qfrc_applied, data.time[:, 0]
        self.mocap_pos, self.mocap_quat = data.mocap_pos, data.mocap_quat
        mirrored = copy.copy(model)
        mirrored.opt.disableflags |= _UNUSED
        self._mirror = Batch(mirrored, num_envs)
        self.xpos = np.zeros((num_envs, model.nbody, 3))
        """(num_envs, nbody, 3) positions of the body origins in the world [m]."""
        self.xmat = np.zeros((num_envs, model.nbody, 9))
        """(num_envs, nbody, 9) rotations from body frames to the world."""
        self.qfrc_actuator = np.zeros((num_envs, model.nv))
        """(num_envs, nv) generalized forces of the actuators [N, N m]."""
        self._cvel = np.zeros((num_envs, model.nbody, 6))
        self._subtree_com = np.zeros((num_envs, model.nbody, 3))
        self._outputs = [
            (self._mirror.bind(name), out)
            for name, out in (
                ("xpos", self.xpos), ("xmat", self.xmat), ("qfrc_actuator", self.qfrc_actuator),
                ("cvel", self._cvel), ("subtree_com", self._subtree_com),
            )
        ]  # fmt: skip
        self._frictions = sliding_friction(model, engine.pairs)
        self.contact_counts = np.zeros(num_envs, np.int32)
        """(num_envs,) number of contacts that carry a force."""
        self._make_room(1)

    @property
    def xfrc_applied(self) -> np.ndarray:
        """Raise an error, because this engine does not support forces on bodies.

        Raises:
            EngineError: Always.
        """
        raise EngineError(
            "backend: 'motrix' does not support forces on bodies, got an access to xfrc_applied;"
            " write qfrc_applied, or use backend='mujoco'"
        )

    def step(self, n: int = 1) -> None:
        """Advance every environment by n time steps; call `faults` afterwards to detect failures."""
        self._engine.step(n)

    def record(self, steps: int = 0) -> None:
        """Compute and record contacts, poses and forces for the current states, then step.

        Args:
            steps: Number of time steps to take after recording.
        """
        self._engine.forward()
        for name in _INPUTS:
            values = getattr(self, name)
            setattr(self._mirror, name, np.where(np.isfinite(values), values, 0.0))
        self._mirror.forward()
        for values, out in self._outputs:
            out[:] = values
        found = self._engine.read_contacts()
        pairs = max(1, len(self._engine.pairs))
        envs, pair = found.index.astype(int) // pairs, found.index % pairs
        most = int(np.bincount(envs, minlength=1).max())
        if most > self.contact_ids.shape[1]:
            self._make_room(most)
        _core.complete_contacts(
            self.model._address, found.values, self._engine.pairs[pair], self._frictions[pair], envs,
            self._cvel, self._subtree_com, self.contact_values, self.contact_ids, self.contact_counts,
        )  # fmt: skip
        self._engine.step(steps)

    def reset(self, envs: np.ndarray | None = None, keyframe: str | None = None) -> None:
        """Reset environments to the initial state or to a keyframe.

        Args:
            envs: Indices of the environments in ascending order. None resets all.
            keyframe: Name of the keyframe; None for the initial state.

        Raises:
            EngineError: The keyframe does not exist.
        """
        everything = envs is None or len(envs) == self.num_envs
        self._engine.reset(keyframe, None if everything else envs)

    def faults(self) -> dict[int, str]:
        """Return why environments have become unstable since their last reset, by environment index."""
        return self._engine.faults()

    def contacts(self, env: int) -> Contacts:
        """Return the contacts that the last `record` stored for an environment, without copying them."""
        count = int(self.contact_counts[env])
        return Contacts(self.contact_values[env, :count], self.contact_ids[env, :count])

    @property
    def sensordata(self) -> np.ndarray:
        """(num_envs, nsensordata) values of the contact sensors; the values of other sensors are NaN."""
        return self._engine._sensordata

    def get_contact_sensor(self, name: str) -> ContactSensor:
        """Return all fields of a contact sensor; see `MujocoSensors.get_contact_sensor`."""
        return self._engine.get_contact_sensor(name)

    def _make_room(self, contacts: int) -> None:
        """Allocate memory for a number of contacts per environment."""
        self.contact_values = np.zeros((self.num_envs, contacts, Contacts.WIDTH))
        """(num_envs, k, Contacts.WIDTH) quantities of the recorded contacts, see `Contacts.values`."""
        self.contact_ids = np.zeros((self.num_envs, contacts, Contacts.IDS), np.int32)
        """(num_envs, k, Contacts.IDS) ids of the recorded contacts, see `Contacts.ids`."""
