"""The signal chain of a skin: its stages in their fixed order, from ideal to real readings."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tactile_sim.errors import CommandError, ConfigError
from tactile_sim.schema import SEED
from tactile_sim.signal_chain.driver import History
from tactile_sim.signal_chain.program import Program, Workspace
from tactile_sim.signal_chain.stage import Group, Stage, Taxels
from tactile_sim.signal_chain.stages import STAGES, make_stages
from tactile_sim.signal_chain.tare import Tare
from tactile_sim.signal_chain.transmission import Delay

if TYPE_CHECKING:
    from tactile_sim.skin import Pad

KEY = "skin.sensor"
"""The key of the stages in a configuration."""
_ALONE = np.zeros(1, np.int64)
"""The only environment of a chain."""


class Sensed(Protocol):
    """The parts of a skin that a signal chain uses: some of its pads, and all of its n taxels."""

    @property
    def pads(self) -> Sequence[Pad]:
        """The pads."""

    @property
    def positions(self) -> np.ndarray:
        """(n, 3) positions in the frames of their bodies [m]."""

    @property
    def normals(self) -> np.ndarray:
        """(n, 3) outward unit normals in the frames of their bodies."""

    @property
    def neighbours(self) -> tuple[np.ndarray, np.ndarray]:
        """As `tactile_sim.skin.Skin.neighbours`."""


class SignalChain:
    """The signal chain of a skin.

    >>> chain = SignalChain(skin, {"palm": {"noise": {"std": 0.01}, "delay": {"time": 0.02}}}, timestep=0.002)
    >>> reading = chain.read(step, skin.sense(loads))

    Readings are (taxels, channels) over the whole skin, in the units of its touch function. Bodies without
    stages keep their ideal readings; without stages, readings are returned unchanged.
    """

    def __init__(
        self,
        skin: Sensed,
        stages: Mapping[str, Mapping[str, Mapping[str, Any]]],
        timestep: float,
        seed: int = 0,
        source: str = "configuration",
        frame: str = "body",
    ):
        """Build the stages of each body.

        Args:
            skin: The skin that is read.
            stages: Body name or shell pattern -> stage -> parameter -> value, as below ``skin.sensor``. One
                entry applies to a body, with all its stages.
            timestep: Time between two steps [s].
            seed: Seed of all random numbers.
            source: Name of the origin in errors, usually a file.
            frame: Frame of vector readings: ``body``, ``taxel`` (the third axis is the normal) or ``world``.

        Raises:
            ConfigError: A stage, parameter, value or body is invalid.
        """
        where = f"{source}: {KEY}"
        try:
            SEED(seed)
        except ValueError as error:
            raise ConfigError(f"{source}: seed: {error}") from None
        names = [body.name for body in skin.pads]
        chosen = make_stages(stages, names, where)
        self.staged = np.array([name in chosen for name in names], bool)
        """(bodies,) whether each body of the skin has stages."""
        self._skin = Taxels(skin.positions, skin.normals, skin.neighbours)
        self._groups: dict[type[Stage], Group] = {}
        for key, stage in STAGES.items():
            bodies = [body for body in skin.pads if key in chosen.get(body.name, {})]
            if bodies or stage is Tare:
                own = [chosen[body.name][key] for body in bodies]
                self._groups[stage] = Group(bodies, own, self._skin)
        try:
            for stage, group in self._groups.items():
                stage.check(group)
        except ConfigError as error:
            raise ConfigError(f"{where}.{error}") from None
        self._marks = any(stage.marks for stage in self._groups)
        self._has_memory = any(
            stage.has_memory or group.random.any()
            for stage, group in self._groups.items()
            if stage is not Tare or group.bodies
        )
        self._timestep, self._seed, self._episode = timestep, seed, 0
        self._zero: np.ndarray | None
        self.forget(frame)

    def of_pad(self, pad: int) -> SignalChain:
        """Return this chain, which serves all pads; compare `SplitChain.of_pad`."""
        return self

    def program(self, seeds: Sequence[int], channels: int, rate: float = 0.0) -> Program:
        """Return the same stages for many environments, each with its own seed.

        The stage `History`, which changes no reading, is left out.

        Args:
            seeds: (n,) of the environments.
            channels: of the readings.
            rate: of the readings [Hz], for which there is room in the delay; the room grows if necessary.
        """
        return Program(self._groups_of_program(rate), seeds, self._timestep, channels)

    def words(self, channels: int, rate: float) -> int:
        """Return the number of stored values of an environment, for readings at a rate [Hz]."""
        groups = self._groups_of_program(rate)
        sizes = [
            stage.words(dataclasses.replace(group, channels=channels)) for stage, group in groups.items()
        ]
        return sum(sizes) if len(groups) > 1 else 0

    def _groups_of_program(self, rate: float) -> dict[type[Stage], Group]:
        groups = {stage: group for stage, group in self._groups.items() if stage is not History}
        if Delay in groups:
            late = groups[Delay].ends[1].sum(axis=1).max()  # time and jitter
            groups[Delay] = dataclasses.replace(groups[Delay], room=2 + math.ceil(late * rate))
        return groups

    def workspace(self, channels: int) -> Workspace:
        """Return the arrays that a thread needs to run a program of this chain."""
        return Workspace(self._axes, channels)

    @property
    def has_memory(self) -> bool:
        """True if readings depend on earlier ones; the reading of each tactile message must be kept.

        They do where a stage remembers earlier ones, and where a range is drawn again at each reset.
        """
        return self._has_memory if self._program is None else self._program.has_memory

    @property
    def idle(self) -> bool:
        """True if readings are returned as they are."""
        return len(self._groups) == 1 and not self._groups[Tare].bodies and self.zero is None

    def read(self, step: int, reading: np.ndarray) -> np.ndarray:
        """Return the output for an ideal reading and keep it, once for each tactile message.

        Args:
            step: Step since the start or the last `restart`. The same reading at the same step gives the same
                output again.
            reading: (taxels, channels), not changed.

        Raises:
            CommandError: The step is before the last one that was kept, or the shape differs from before.
        """
        return reading if self.idle else self._run(step, reading, keep=self.has_memory)

    @property
    def valid(self) -> np.ndarray:
        """(taxels,) uint8 of the last output: 0 where a taxel is dead, saturated or has not reported yet.

        It is delayed like the output. Empty while no stage can make a reading invalid.
        """
        if not self._marks:
            return np.empty(0, np.uint8)
        return self._workspace.valid.copy()

    @property
    def history(self) -> dict[str, np.ndarray]:
        """Last outputs that were kept, (samples, taxels, channels), oldest first, by body with a history.

        Outputs before the first one are zero.
        """
        if History not in self._groups:
            return {}
        if self._program is None:
            group = dataclasses.replace(self._groups[History], channels=0)
            return History.outputs(group, np.zeros(1))
        own = self._program.memory[0, self._program.columns(History)]
        return History.outputs(self._program.groups[History], own)

    def peek(self, step: int, reading: np.ndarray) -> np.ndarray:
        """Return the output as `read` does, without keeping it."""
        return reading if self.idle else self._run(step, reading, keep=False)

    def tare(self, step: int, reading: np.ndarray) -> None:
        """Process a reading by the stages before the tare, and subtract it from all later ones."""
        self.zero = self._run(step, reading, keep=False, until=Tare)

    @property
    def zero(self) -> np.ndarray | None:
        """Readings (taxels, channels) that the tare subtracts; None before the first tare."""
        return self._zero

    @zero.setter
    def zero(self, values: np.ndarray | None) -> None:
        self._zero = values
        if values is not None:
            self._prepare(values.shape[1]).tare(_ALONE, values[None])
        elif self._program is not None:
            self._program.memory[0, self._program.columns(Tare)] = 0.0

    def restart(self, seed: int | None = None) -> None:
        """Restart steps, random numbers and memory, and draw ranges again; the tare is kept.

        Args:
            seed: A new seed, from which all is drawn as in a new chain; None: the next draws of the present
                seed.

        Raises:
            CommandError: The seed is invalid.
        """
        if seed is not None:
            try:
                SEED(seed)
            except ValueError as error:
                raise CommandError(f"seed: {error}") from None
            self._seed, self._episode = seed, 0
        else:
            self._episode += 1
        if self._program is not None:
            self._program.restart(_ALONE, seed)

    def forget(self, frame: str = "body") -> None:
        """Restart everything, the tare included, for readings of another touch function.

        Args:
            frame: Frame of its vectors, as in `SignalChain`.
        """
        axes = {"body": self._skin.normals, "taxel": np.array([0.0, 0.0, 1.0]), "world": np.zeros(3)}
        self._axes = np.ascontiguousarray(np.broadcast_to(axes[frame], self._skin.normals.shape).T)
        self._program: Program | None = None
        self._workspace = self.workspace(0)
        self._zero = None

    def _prepare(self, channels: int) -> Program:
        """Return the program, made for this number of channels at the first call."""
        if self._program is None:
            self._program = Program(self._groups, [self._seed], self._timestep, channels, self._episode)
            self._workspace = self.workspace(channels)
        return self._program

    def _run(
        self, step: int, reading: np.ndarray, keep: bool, until: type[Stage] | None = None
    ) -> np.ndarray:
        """Return the output of all stages or of those before one."""
        truth = np.ascontiguousarray(reading, float)
        taxels, known = len(self._skin.normals), self._program and self._program.channels
        if truth.ndim != 2 or truth.shape != (taxels, known or truth.shape[-1]):
            raise CommandError(
                f"reading: must have shape ({taxels}, {known or 'channels'}), got {truth.shape}; "
                "call forget() before readings of another touch function"
            )
        program = self._prepare(truth.shape[1])
        if step < program.kept[0]:
            raise CommandError(
                f"step: must be >= {program.kept[0]} as in the last reading, got {step}; "
                "restart the chain first"
            )
        waits = keep and program.waits_for_tare
        if keep:
            program.make_room()
        output = np.empty((1, *truth.shape))
        steps = np.array([step], np.int64)
        program.run(self._workspace, _ALONE, steps, truth[None], output, keep, until)
        if waits and program.tared[0]:
            self._zero = program.zero(0)
        return output[0]
