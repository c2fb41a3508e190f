"""Apply built-in motion and joint commands to many environments."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from tactile_sim.control.commander import Commander, JointCommand, joint_tables
from tactile_sim.engines import Environments
from tactile_sim.simulation import Simulation

_FOREVER = 1 << 30


class Commands:
    """Joint commands and built-in motion of all environments, with the same effect as in `Simulation`."""

    def __init__(self, simulation: Simulation, worlds: Environments):
        """Use the commander of ``simulation``, and its built-in motion if it has one, in all environments."""
        self._commander = simulation.commander
        self._motion: Any = simulation.motion
        interval = self._motion.interval if self._motion else 0.0
        self._interval = max(1, round(interval / simulation.engine.timestep))
        self._worlds = worlds
        self._commanders: dict[int, Commander] = {}
        """Commanders by environment, for environments that have received joint commands."""
        self._moving = np.full(worlds.num_envs, self._motion is not None)
        self._moved_at = np.full(worlds.num_envs, -1)
        self._own = worlds.ctrl.copy()
        """Controls last set by built-in motion or by a reset."""

    def apply(self, steps_since_reset: np.ndarray) -> None:
        """Write the controls that commands and built-in motion require for the next step.

        The built-in motion of an environment ends if the user has changed the environment's controls.
        Repeated calls before the step have no effect.
        """
        if self._moving.any():
            ctrl = self._worlds.ctrl
            self._moving &= (ctrl == self._own).all(axis=1)
            due = self._moving & (steps_since_reset % self._interval == 0)
            due &= self._moved_at != steps_since_reset
            times, which = np.unique(self._worlds.time[due], return_inverse=True)
            if len(times):
                controls = np.stack([self._motion.control(time) for time in times.tolist()])
                ctrl[due] = self._own[due] = controls[which]
                self._moved_at[due] = steps_since_reset[due]
        for env, commander in self._commanders.items():
            if commander.every_step:
                commander.apply(self._data(env))

    def free_steps(self, steps_since_reset: np.ndarray) -> int:
        """Return the number of steps that can be taken before `apply` must be called again."""
        if any(commander.every_step for commander in self._commanders.values()):
            return 1
        if not self._moving.any():
            return _FOREVER
        return self._interval - int((steps_since_reset[self._moving] % self._interval).max())

    def restart(self, envs: np.ndarray) -> None:
        """Clear commands, set the initial controls and restart built-in motion in environments (k,)."""
        if not len(envs):
            return
        for env in envs.tolist():
            self._commanders.pop(env, None)
        # All were reset to the same state, so the controls of the first apply to all of them.
        ctrl = self._worlds.ctrl
        self._commander.start(self._data(int(envs[0])))
        ctrl[envs] = ctrl[envs[0]]
        self._own[envs] = ctrl[envs]
        self._moving[envs] = self._motion is not None
        self._moved_at[envs] = -1

    def accept(self, envs: np.ndarray, fields: Mapping[str, Mapping[str, float | np.ndarray] | None]) -> None:
        """Set joint commands for environments (k,), and end their built-in motion, or raise CommandError.

        For each of ``position``, ``velocity`` and ``effort``, the fields are scalars or arrays (k,) by joint
        name.
        """
        names, tables = joint_tables(fields, len(envs))
        checked = [
            self._commander.check(JointCommand(names, *(table[row] for table in tables)))
            for row in range(len(envs))
        ]
        for env, targets in zip(envs.tolist(), checked, strict=True):
            if env not in self._commanders:
                self._commanders[env] = copy.copy(self._commander)
                self._commanders[env].release()
            self._commanders[env].accept(targets, self._data(env))
        self._moving[envs] = False

    def _data(self, env: int) -> Any:
        """Return the attributes of an environment that a `Commander` uses, named as in MjData."""
        worlds = self._worlds
        return SimpleNamespace(
            qpos=worlds.qpos[env], ctrl=worlds.ctrl[env], qfrc_applied=worlds.qfrc_applied[env]
        )
