"""State and readings of all environments at one time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from tactile_sim.arguments import known, whole
from tactile_sim.batch.readings import Readings
from tactile_sim.batch.reductions import REDUCTIONS, reduce_readings
from tactile_sim.engines import Contacts, ContactSensor
from tactile_sim.errors import CommandError
from tactile_sim.exclusive import Seen, computed, exclusive

if TYPE_CHECKING:
    from tactile_sim.batch.batch import Batch
    from tactile_sim.simulation import Simulation


class Observation(Seen):
    """State and readings of n environments, which are computed when they are first read.

    After a step, a reset or another observation, values that were already read stay valid; reading others
    raises CommandError.
    """

    def __init__(
        self,
        batch: Batch,
        readings: Readings,
        steps: np.ndarray,
        pads: Sequence[str] | None,
        reduce: str | None,
    ):
        """Create an observation of the current state. Call `Batch.observe` instead of this."""
        super().__init__(batch)
        self._batch, self._source = batch, readings
        self._steps = steps.copy()
        check_selection(batch.simulation, pads, reduce)
        names = [pad.name for pad in batch.simulation.skin.pads]
        self.pads = list(names if pads is None else pads)
        """Names of the pads in ``readings``, ``truth`` and ``wrenches``."""
        self._reduce = reduce
        self._chosen = None if pads is None else np.array([names.index(name) for name in pads], np.int64)

    @computed
    def time(self) -> np.ndarray:
        """(n,) simulated time since the last reset of each environment [s]."""
        return self._batch.time.copy()

    @computed
    def readings(self) -> np.ndarray:
        """(n, taxels, channels) readings after the signal chain, grouped by pad.

        They are float32 if all pads have stages, which compute in float32, and float64 otherwise.
        With a reduction (argument ``reduce`` of `Batch.observe`), this is the result of `reduced`.
        """
        return self._selected(self._output) if self._reduce is None else self.reduced(self._reduce)

    @exclusive
    def reduced(self, how: str) -> np.ndarray:
        """Return the readings reduced to one value or vector for each pad.

        Args:
            how: ``sum``: sum over the taxels (n, pads, channels). ``peak``: largest magnitude (n, pads).
                ``contact``: whether any reading is nonzero (n, pads), bool; this includes noise unless the
                stage ``threshold`` removes it. ``center_of_pressure``: mean taxel position weighted by
                magnitude, in the body frame (n, pads, 3) [m]; NaN if all readings are zero.

        Raises:
            CommandError: The reduction is unknown.
        """
        _check_reduction(how)
        skin = self._batch.simulation.skin
        return reduce_readings(skin, self._source, self._output, how, self._chosen)

    @computed
    def _output(self) -> np.ndarray:
        return self._source.output(self._steps)

    @computed
    def truth(self) -> np.ndarray:
        """(n, taxels, channels) readings of the selected pads before the signal chain."""
        return self._selected(self._source.truth())

    @computed
    def wrenches(self) -> np.ndarray:
        """(n, pads, 6) net force [N] and torque [N m] on each pad's body, about its origin, in its frame."""
        slots = self._batch.simulation.skin._pad_slots
        return self._source.ideal.wrenches[:, slots if self._chosen is None else slots[self._chosen]]

    @computed
    def joint_states(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Positions [m, rad], velocities [m/s, rad/s] and efforts [N, N m] of the hinge and slide joints.

        The three arrays have the shape (n, joints) and are in the order of ``joint_names``.
        """
        worlds, commander = self._batch.worlds, self._batch.simulation.commander
        effort = worlds.qfrc_actuator[:, commander.dofs] + worlds.qfrc_applied[:, commander.dofs]
        return worlds.qpos[:, commander.qpos], worlds.qvel[:, commander.dofs], effort

    @property
    def joint_names(self) -> list[str]:
        """Names of the joints in ``joint_states``."""
        return self._batch.simulation.commander.joint_names

    @computed
    def sensor_data(self) -> np.ndarray:
        """(n, nsensordata) values of all sensors in the scene, in MuJoCo's layout."""
        return self._batch.worlds.sensordata.copy()

    @exclusive
    def contact_sensor(self, name: str) -> ContactSensor:
        """Return the measurements of one of the scene's contact sensors in all environments.

        Raises:
            EngineError: The scene has no contact sensor with this name.
        """
        return self._batch.worlds.get_contact_sensor(name)

    @exclusive
    def contacts(self, env: int) -> Contacts:
        """Return the contacts with a nonzero force in one environment.

        Args:
            env: Index of the environment.

        Raises:
            CommandError: There is no such environment.
        """
        found = self._batch.worlds.contacts(whole("contacts: env", env, 0, self._batch.num_envs - 1))
        return Contacts(found.values.copy(), found.ids.copy())

    @computed
    def feelers(self) -> np.ndarray:
        """(n, feelers) free length of each feeler [m]. Slow: environments are processed one by one."""
        simulation, worlds = self._batch.simulation, self._batch.worlds
        model = simulation.engine.model
        data = mujoco.MjData(model)
        out = np.empty((worlds.num_envs, len(simulation.feelers.lengths)))
        for env in range(worlds.num_envs):
            for name in ("qpos", "mocap_pos", "mocap_quat"):
                getattr(data, name)[:] = getattr(worlds, name)[env]
            mujoco.mj_kinematics(model, data)
            out[env] = simulation.feelers.read(data)
        return out

    def _selected(self, values: np.ndarray) -> np.ndarray:
        """Return a copy of the readings (n, taxels, channels) of the selected pads."""
        if self._chosen is None:
            return values.copy()
        pads = self._batch.simulation.skin.pads
        parts = [values[:, pads[pad].start : pads[pad].stop] for pad in self._chosen.tolist()]
        return np.concatenate([values[:, :0], *parts], axis=1)


def check_selection(simulation: Simulation, pads: Sequence[str] | None, reduce: str | None) -> None:
    """Raise CommandError if a pad or the reduction does not exist, or a pad is given twice."""
    valid = [pad.name for pad in simulation.skin.pads]
    if pads is not None and (isinstance(pads, str) or not isinstance(pads, Iterable)):
        raise CommandError(f"pads: must be a list of names, got {pads!r}; write [{str(pads)!r}]")
    names = [] if pads is None else list(np.atleast_1d(pads) if isinstance(pads, np.ndarray) else pads)
    for name in names:
        known("pads: no pad", name, valid)
    if len(set(names)) < len(names):
        raise CommandError(f"pads: must be distinct names, got {names}")
    if reduce is not None:
        _check_reduction(reduce)


def _check_reduction(how: str) -> None:
    known("reduce: unknown reduction", how, REDUCTIONS)
