"""Engine that steps several environments of one scene with the class `mujoco.batch.Batch`."""

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np
from mujoco.batch import Batch

from tactile_sim.arguments import require_controls, whole
from tactile_sim.engines.batch import Environments, environment_ids
from tactile_sim.engines.keyframes import keyframe_id
from tactile_sim.engines.mujoco.engine import STABILITY_WARNINGS, first_bad
from tactile_sim.errors import EngineError


class MujocoBatch(Environments):
    """Engine that steps several environments of one model with MuJoCo.

    The attribute ``data`` is a `mujoco.batch.Batch`. Its fields have a leading axis for the environments,
    such as ``data.qpos`` (num_envs, nq), ``data.ctrl`` (num_envs, nu) or ``data.xpos`` (num_envs, nbody, 3).
    """

    name = "mujoco"

    def __init__(self, model: mujoco.MjModel, num_envs: int, threads: int = 0):
        """Create the environments.

        Args:
            model: MuJoCo model of one environment.
            num_envs: Number of environments.
            threads: Number of threads, or 0 for one thread per processor.
        """
        model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
        self.model = model
        self.num_envs = num_envs
        self.timestep = float(model.opt.timestep)
        """Time step [s]."""
        self.data = Batch(model, num_envs, threads)
        self._sensordata = self.data.bind("sensordata")
        self.reset()

    @property
    def time(self) -> np.ndarray:
        """(num_envs,) time of each environment since its last reset [s]."""
        return self.data.time.copy()

    def step(self, n: int = 1) -> None:
        """Advance every environment by n time steps.

        Raises:
            CommandError: A control is not finite, or too large.
        """
        require_controls(self.data.ctrl)
        if whole("step: n", n, error=EngineError):
            self.data.step(nstep=n)

    def forward(self) -> None:
        """Compute all quantities that depend on the current positions, velocities and controls.

        Raises:
            CommandError: A control is not finite, or too large.
        """
        require_controls(self.data.ctrl)
        self.data.forward()

    def reset(self, keyframe: str | None = None, envs: Sequence[int] | np.ndarray | None = None) -> None:
        """Reset environments to the initial state or to a keyframe.

        Args:
            keyframe: Name of the keyframe; None for the initial state.
            envs: Indices of the environments, or a boolean mask (num_envs,); default: all.

        Raises:
            EngineError: The keyframe or an environment does not exist.
        """
        ids = None if envs is None else environment_ids(envs, self.num_envs)
        self.data.reset(ids=ids, keyframe=keyframe_id(self.model, keyframe))

    def fault(self) -> str | None:
        """Return the cause and the index of an unstable environment as text, or None if all are stable."""
        # The last axis contains MuJoCo's ``lastinfo`` and the number of occurrences of a warning.
        counts = self.data.warning[:, :, 1]
        for env in np.flatnonzero(counts.any(axis=1)).tolist():
            if (warning := first_bad(counts[env].tolist())) is not None:
                return f"bad {STABILITY_WARNINGS[warning]} in environment {env}"
        return None
