"""Run many environments of one configuration in parallel."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import mujoco
import numpy as np

from tactile_sim._core import reduce_pads
from tactile_sim.batch.backends import check_arguments, check_configuration, make_backend
from tactile_sim.batch.commands import Commands
from tactile_sim.common.errors import CommandError, EngineError
from tactile_sim.common.exclusive import Seen, Use, computed, exclusive
from tactile_sim.common.schema import LARGEST_STATE, known, require_controls, whole
from tactile_sim.config import Settings
from tactile_sim.engines import Contacts, ContactSensor
from tactile_sim.engines.environments import environment_ids
from tactile_sim.simulation import Simulation

_LOG = logging.getLogger("tactile_sim.batch")
_SUM, _PEAK, _CENTER = range(3)
"""Reductions of `reduce_pads`."""
_REDUCTIONS = {
    "sum": (_SUM, 0),
    "peak": (_PEAK, 1),
    "contact": (_PEAK, 1),
    "center_of_pressure": (_CENTER, 4),
}
"""For each argument ``reduce``, the native reduction and its number of values; 0: as many as channels."""


class Batch:
    """``num_envs`` environments of one configuration, each with its own state, skin readings and seed.

    With the backend ``mujoco``, environment k is bit-identical to a `Simulation` of the configuration with
    ``seed + k`` added to its seed, for any number of threads and environments.

    >>> batch = Batch("hand", 1024)
    >>> batch.ctrl[:] = policy(batch.observe().readings)
    >>> batch.step(5)

    Environments whose physics becomes unstable are reset after the step and listed in ``faults``; the others
    are not affected.
    """

    def __init__(
        self,
        config: Settings | str | Path | Mapping[str, Any] | mujoco.MjSpec | mujoco.MjModel,
        num_envs: int,
        backend: str = "mujoco",
        device: str | None = None,
        seed: int = 0,
        *,
        settings: Mapping[str, Any] | None = None,
        threads: int = 0,
        pads: Sequence[str] | None = None,
        reduce: str | None = None,
    ):
        """Load a configuration and create its environments in the initial state.

        Args:
            config: Configuration, or scene built in Python, as for `Simulation`.
            num_envs: Number of environments.
            backend: ``mujoco`` runs MuJoCo on the CPU in float64; ``warp`` runs MuJoCo Warp and ``motrix``
                MotrixSim, both in float32.
            device: Device for ``warp``: ``cpu``, ``cuda`` or ``cuda:N``. None uses a GPU if there is one.
            seed: Added to the seed of the configuration.
            settings: Configuration for a scene built in Python, as for `Simulation`.
            threads: Number of threads; 0 uses one per processor. It does not affect the results. MotrixSim
                accepts it only for the first batch of a process.
            pads: Default for the argument ``pads`` of `observe`.
            reduce: Default for the argument ``reduce`` of `observe`.

        Raises:
            TactileSimError: The configuration is invalid or not supported, the backend does not exist, or
                the environments do not fit in memory.
        """
        check_arguments(num_envs, backend, device, seed, threads)
        self.simulation = simulation = Simulation(config, settings)
        """Simulation of the same configuration, for its names, skin and settings. It is never stepped."""
        checked = simulation.settings
        check_configuration(simulation, backend)
        check_selection(simulation, pads, reduce)
        self._pads, self._reduce = pads, reduce
        self.num_envs = num_envs
        self.use = Use("Batch", forks=False)
        """Context in which one thread uses the batch."""
        self.version = 0
        """Number of changes. An `Observation` of an earlier version is outdated."""
        made = config if isinstance(config, mujoco.MjSpec | mujoco.MjModel) else None
        self.worlds, self._readings = make_backend(
            simulation, made, num_envs, backend, device, checked.seed + seed, threads
        )
        """Physics states, with a leading axis for the environments, and the readings of the skin."""
        self._commands = Commands(simulation, self.worlds)
        self.step_count = 0
        """Number of steps since the batch was created; resets do not change it."""
        self.steps_since_reset = np.zeros(num_envs, np.int64)
        """(num_envs,) number of steps since the last reset of each environment."""
        self.faults: dict[int, str] = {}
        """Reasons, by environment index, why the last `step` or a later `observe` reset environments."""
        self._commands.restart(np.arange(num_envs))

    # -- state -----------------------------------------------------------------------------------------------

    @property
    def timestep(self) -> float:
        """Time step of the physics [s]."""
        return self.simulation.engine.timestep

    @property
    @exclusive
    def time(self) -> np.ndarray:
        """(num_envs,) simulated time since the last reset of each environment [s]."""
        return self.worlds.time

    @property
    @exclusive
    def qpos(self) -> np.ndarray:
        """(num_envs, nq) joint positions, as in MuJoCo [m, rad]. Assign or modify to set the state."""
        return self.worlds.qpos

    @qpos.setter
    @exclusive
    def qpos(self, values: np.ndarray) -> None:
        self.worlds.qpos = values

    @property
    @exclusive
    def qvel(self) -> np.ndarray:
        """(num_envs, nv) joint velocities, as in MuJoCo [m/s, rad/s]. Assign or modify to set the state."""
        return self.worlds.qvel

    @qvel.setter
    @exclusive
    def qvel(self, values: np.ndarray) -> None:
        self.worlds.qvel = values

    @property
    @exclusive
    def ctrl(self) -> np.ndarray:
        """(num_envs, nu) actuator controls. Assign or modify them; a change ends the built-in motion.

        Values are limited as in `Simulation.ctrl`.
        """
        return self.worlds.ctrl

    @ctrl.setter
    @exclusive
    def ctrl(self, values: np.ndarray) -> None:
        self.worlds.ctrl = values

    # -- stepping --------------------------------------------------------------------------------------------

    @exclusive
    def step(self, n: int = 1) -> None:
        """Advance every environment by n time steps, as `Simulation.step` does.

        Environments with unstable physics are reset to the initial state and listed in ``faults``.

        Raises:
            CommandError: ``n`` is negative or not an integer, or a control is invalid, see `Simulation.ctrl`.
            EngineError: Another process created the batch, and this process is a fork of it.
        """
        end = self.step_count + whole("step: n", n)
        require_controls(self.worlds.ctrl)
        self.faults = {}
        schedule = self.simulation.schedule
        while self.step_count < end:
            self._commands.apply(self.steps_since_reset)
            steps = min(end - self.step_count, self._commands.free_steps(self.steps_since_reset))
            if self._readings.sampled:
                steps = 1
            if self._readings.has_memory and (due := schedule.next(self.step_count, schedule.tactile)):
                steps = min(steps, due - self.step_count)
            self._advance(steps)
        if self.faults:  # they were reset when the fault occurred; discard their steps since then
            self.reset(list(self.faults))

    @exclusive
    def observe(self, pads: Sequence[str] | None = None, reduce: str | None = None) -> Observation:
        """Return the current state and readings of all environments.

        Values that were read stay valid; others can be read until the next step, reset or observation.
        Environments with invalid positions or velocities are reset first and added to ``faults``, as in
        `step`.

        Args:
            pads: Names of the pads to read. None uses the batch's ``pads``, or all pads if that is None.
            reduce: Reduction of the readings by pad: ``sum``, ``peak``, ``contact`` or
                ``center_of_pressure``, see `Observation.reduced`. None uses the batch's ``reduce``, or no
                reduction if that is None.

        Raises:
            CommandError: A name is unknown, a pad is named twice, or a control is invalid.
            EngineError: Another process created the batch, and this process is a fork of it.
        """
        pads = self._pads if pads is None else pads
        reduce = self._reduce if reduce is None else reduce
        check_selection(self.simulation, pads, reduce)
        require_controls(self.worlds.ctrl)
        self.version += 1
        if faults := self._invalid_states():
            self._reset_faulty(faults)
        self._commands.apply(self.steps_since_reset)
        self.worlds.record()
        self._readings.update()
        return Observation(self, pads, reduce)

    @exclusive
    def reset(
        self,
        envs: Sequence[int] | np.ndarray | None = None,
        keyframe: str | None = None,
        seed: int | None = None,
    ) -> None:
        """Reset the state, random numbers, built-in motion and commands of environments. The tare is kept.

        Args:
            envs: Indices of the environments, or a boolean mask (num_envs,); None resets all.
            keyframe: Name of a keyframe of the scene; None uses the initial state.
            seed: The signal chains then give the same random numbers as in a new batch with this seed. None
                keeps the seed, and draws other values from ranges than before.

        Raises:
            EngineError: The keyframe or an environment does not exist, or the seed is invalid. Nothing is
                changed in this case.
        """
        if seed is not None:
            whole("reset: seed", seed, error=EngineError)
        ids = environment_ids(envs, self.num_envs)
        self.worlds.reset(keyframe, ids)
        self.version += 1
        self.steps_since_reset[ids] = 0
        first = None if seed is None else self.simulation.settings.seed + seed
        self._readings.restart(ids, first)
        self._commands.restart(ids)

    @exclusive
    def command_joints(
        self,
        position: Mapping[str, float | np.ndarray] | None = None,
        velocity: Mapping[str, float | np.ndarray] | None = None,
        effort: Mapping[str, float | np.ndarray] | None = None,
        envs: Sequence[int] | np.ndarray | None = None,
    ) -> None:
        """Command joints by name, as `Simulation.command_joints` does.

        For many environments, writing to ``ctrl`` is faster.

        Args:
            position: Target positions by joint name [rad, m]: a scalar for all environments or an array (k,).
            velocity: Target velocities by joint name [rad/s, m/s], in the same form.
            effort: Efforts by joint name [N m, N], in the same form.
            envs: Indices of the k environments, or a boolean mask (num_envs,); None commands all.

        Raises:
            CommandError: A joint does not exist or does not accept this command. Nothing is changed in this
                case.
        """
        ids = environment_ids(envs, self.num_envs)
        self._commands.accept(ids, {"position": position, "velocity": velocity, "effort": effort})

    @exclusive
    def take_tare(self, envs: Sequence[int] | np.ndarray | None = None) -> None:
        """Subtract the current readings from all later ones. Earlier observations become invalid.

        Args:
            envs: Indices of the environments, or a boolean mask (num_envs,); None tares all.
        """
        ids = environment_ids(envs, self.num_envs)
        self.observe()
        self._readings.tare(ids, self.steps_since_reset)
        self.version += 1

    @exclusive
    def device_array(self, name: str) -> Any:
        """Return a device array of the backend ``warp`` without a copy, for ``torch.from_dlpack`` and JAX.

        Do not write to the array; set states through ``qpos``, ``ctrl`` and the other NumPy arrays.

        Args:
            name: Name of the array. `observe` updates ``readings`` (only without signal chain and
                sampling), ``wrenches`` of the bodies with skin, ``sensordata``, ``xpos``, ``xmat`` and
                ``qfrc_actuator``. `step` updates ``qpos``, ``qvel``, ``act``, ``ctrl`` and other states.

        Raises:
            EngineError: The backend is not ``warp``.
            CommandError: There is no such array.
        """
        states = getattr(self.worlds, "device_arrays", None)
        if states is None:
            raise EngineError(
                f"device_array: needs backend 'warp', got {self.worlds.name!r}, whose arrays are in NumPy"
            )
        arrays = states | self._readings.device_arrays
        if isinstance(name, str) and name == "readings" and name not in arrays:
            raise CommandError(
                "device_array: 'readings' with a signal chain or sampling are computed on the CPU;"
                " use observe().readings"
            )
        return arrays[known("device_array: no array", name, arrays)]

    def __deepcopy__(self, memo: dict[int, Any]) -> Batch:
        """Return an independent copy in the same state, which shares the model and the tables of the skin.

        Raises:
            EngineError: The backend cannot copy its state.
        """
        if not hasattr(self.worlds, "__deepcopy__"):
            raise EngineError(f"Batch: backend {self.worlds.name!r} cannot be copied; use backend 'mujoco'")
        new = memo[id(self)] = object.__new__(type(self))
        memo[id(self.use)] = Use("Batch", forks=False)
        with self.use:
            for name in ("simulation", "worlds", *vars(self)):
                setattr(new, name, copy.deepcopy(getattr(self, name), memo))
        return new

    def __copy__(self) -> Batch:
        return copy.deepcopy(self)

    def __reduce__(self) -> NoReturn:
        raise EngineError("Batch: cannot be pickled; create one with the same arguments instead")

    def _advance(self, steps: int) -> None:
        self.version += 1
        simulation = self.simulation
        due: set[str] = set()
        if self._readings.has_memory:
            due = simulation.schedule.due(self.step_count, simulation.schedule.tactile)
        reads = bool(due) or self._readings.sampled
        if reads:
            self.worlds.record(steps)
        else:
            self.worlds.advance(steps)
        faults = self.worlds.faults()
        if reads:
            self._readings.update()
            self._readings.keep(self.steps_since_reset, due, faults)
        self.step_count += steps
        self.steps_since_reset += steps
        if faults:
            self._reset_faulty(faults)

    def _invalid_states(self) -> dict[int, str]:
        """Return the fault of each environment with invalid positions or velocities, by environment index."""
        found: dict[int, str] = {}
        for what, values in (("velocity", self.worlds.qvel), ("position", self.worlds.qpos)):
            if not np.abs(values).max(initial=0.0) < LARGEST_STATE:
                invalid = ~(np.abs(values) < LARGEST_STATE).all(axis=1)
                found |= dict.fromkeys(np.flatnonzero(invalid).tolist(), f"bad {what}")
        return found

    def _reset_faulty(self, faults: dict[int, str]) -> None:
        """Reset environments with unstable physics, log a warning, and list them in ``faults``."""
        self.faults |= faults
        env, fault = next(iter(faults.items()))
        more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
        _LOG.warning("environment %d%s: physics became unstable: %s; reset", env, more, fault)
        self.reset(list(faults))


class Observation(Seen):
    """State and readings of n environments, which are computed when they are first read.

    After a step, a reset or another observation, values that were already read stay valid; reading others
    raises CommandError.
    """

    def __init__(self, batch: Batch, pads: Sequence[str] | None, reduce: str | None):
        super().__init__(batch)
        self._batch, self._source = batch, batch._readings
        self._steps = batch.steps_since_reset.copy()
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
        known("reduce: unknown reduction", how, _REDUCTIONS)
        skin, values = self._batch.simulation.skin, self._output
        count = len(skin.pads)
        chosen = np.arange(count) if self._chosen is None else self._chosen
        slots = np.full(count, -1, np.int64)
        slots[chosen] = np.arange(len(chosen))
        slots = slots[skin.pad_index]
        law, width = _REDUCTIONS[how]
        out = np.zeros((len(values), len(chosen), width or values.shape[2]))
        touched = counts = None
        if self._source.sparse:
            touched, counts = self._source.ideal.touched, self._source.ideal.touched_counts
        self._source.in_threads(
            lambda _, first, last: reduce_pads(
                first, last, values, touched, counts, slots, skin.positions, law, out
            )
        )
        if how == "peak":
            return out[..., 0]
        if how == "contact":
            return out[..., 0] > 0.0
        if how == "center_of_pressure":
            with np.errstate(invalid="ignore"):
                return out[..., :3] / out[..., 3:]
        return out

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
        found = self._batch.worlds.contacts(env)
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
        known("reduce: unknown reduction", reduce, _REDUCTIONS)
