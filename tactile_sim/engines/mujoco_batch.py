"""Many environments of one scene, stepped at once by MuJoCo's batch."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from mujoco.batch import Batch

from tactile_sim.engines.batch import Environments, environment_ids
from tactile_sim.engines.mujoco import STABILITY_WARNINGS, first_bad
from tactile_sim.engines.state import keyframe_id


class MujocoBatch(Environments):
    """``num_envs`` environments of one model, each with its own state.

    ``data`` is MuJoCo's batch: its fields are arrays over the environments, such as ``data.qpos``
    (num_envs, nq), ``data.ctrl`` (num_envs, nu) or ``data.xpos`` (num_envs, nbody, 3).
    """

    name = "mujoco"

    def __init__(self, model: mujoco.MjModel, num_envs: int, threads: int = 0):
        """threads: how many step the environments; 0: as many as the machine has processors."""
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        self.model = model
        self.num_envs = num_envs
        self.timestep = float(model.opt.timestep)
        """[s]"""
        self.data = Batch(model, num_envs, threads)
        self._sensordata = self.data.bind("sensordata")
        self.reset()

    @property
    def time(self) -> np.ndarray:
        """(num_envs,) time of each environment since its last reset [s]."""
        return self.data.time.copy()

    def step(self, n: int = 1) -> None:
        """Goes n time steps on in every environment."""
        if n:
            self.data.step(nstep=n)

    def forward(self) -> None:
        """Computes all that follows from the present positions, velocities and controls."""
        self.data.forward()

    def reset(self, keyframe: str | None = None, envs: Sequence[int] | np.ndarray | None = None) -> None:
        """Puts environments back to the initial state, or to that of a keyframe.

        envs: numbers of the environments, or a mask (num_envs,) of booleans; all by default. Raises
        EngineError for an unknown keyframe or environment.
        """
        ids = None if envs is None else environment_ids(envs, self.num_envs)
        self.data.reset(ids=ids, keyframe=keyframe_id(self.model, keyframe) if keyframe else -1)

    def fault(self) -> str | None:
        """What made the physics unstable since the last reset, and in which environment first; or None."""
        # For each environment and warning: MuJoCo's last detail, and how often it came.
        counts = self.data.warning[:, :, 1]
        for env in np.flatnonzero(counts.any(axis=1)).tolist():
            if (warning := first_bad(counts[env].tolist())) is not None:
                return f"bad {STABILITY_WARNINGS[warning]} in environment {env}"
        return None
