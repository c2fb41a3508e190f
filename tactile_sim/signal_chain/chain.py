"""Signal chain of a skin, which applies its stages to ideal readings in a fixed order."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tactile_sim.common.errors import CommandError, ConfigError
from tactile_sim.common.schema import SEED, valid
from tactile_sim.signal_chain.driver import History, Tare
from tactile_sim.signal_chain.group import Sensed, Taxels, normal_axes
from tactile_sim.signal_chain.program import Program, Workspace, compact
from tactile_sim.signal_chain.stage import Stage
from tactile_sim.signal_chain.stages import make_groups, make_stages

KEY = "skin.sensor"
"""Configuration key of the stages."""
_ALONE = np.zeros(1, np.int64)
"""Index of the only environment of a `SignalChain`, as an array."""


class SignalChain:
    """Signal chain that turns the ideal readings of a skin into realistic ones.

    >>> chain = SignalChain(skin, {"palm": {"noise": {"std": 0.01}, "delay": {"time": 0.02}}}, timestep=0.002)
    >>> reading = chain.read(step, skin.readings_from_loads(loads))

    Readings are arrays (taxels, channels) of all taxels of the skin, in the units of its touch function. Pads
    without stages keep their ideal readings.
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
        """Build the stages of each pad.

        Args:
            skin: Skin whose readings are processed.
            stages: Pad name or shell pattern -> stage -> parameter -> value, as in the configuration under
                ``skin.sensor``. Only one entry applies to each pad; it defines all stages of the pad.
            timestep: Time between two steps [s].
            seed: Seed of all random numbers.
            source: Origin of the stages for error messages, usually a file.
            frame: Frame of vector readings: ``body``, ``taxel`` (the third axis is the normal) or ``world``.

        Raises:
            ConfigError: A stage, parameter, value or pad name is invalid.
        """
        where = f"{source}: {KEY}"
        valid(f"{source}: seed", seed, SEED, ConfigError)
        names = [body.name for body in skin.pads]
        chosen = make_stages(stages, names, where)
        self.staged = np.array([name in chosen for name in names], bool)
        """(pads,) whether each pad of the skin has stages."""
        self._skin = Taxels(skin.positions, skin.normals, skin.neighbors)
        self._groups = make_groups(skin.pads, self._skin, chosen, where)
        self._marks = any(stage.marks for stage in self._groups)
        self._keeps = any(
            stage.has_memory or group.random.any() for stage, group in self._groups.items() if group.bodies
        )
        self._inert = len(self._groups) == 1 and not self._groups[Tare].bodies
        """Whether there is no stage, except for the tare after `tare`."""
        self._timestep, self._seed, self._episode = timestep, seed, 0
        self.changes = 0
        """Number of changes of what `native` returns."""
        self._zero: np.ndarray | None
        self.forget(frame)

    def of_pad(self, pad: int) -> SignalChain:
        """Return this chain, which processes all pads. `SplitChain.of_pad` can return different chains."""
        return self

    def program(self, seeds: Sequence[int], channels: int, rate: float = 0.0) -> Program:
        """Create a program that runs the same stages in many environments, each with its own seed.

        The stage `History`, which does not change readings, is omitted. Stages stay switched on or off.

        Args:
            seeds: (n,) Seed of each environment.
            channels: Number of channels of the readings.
            rate: Expected rate of the readings [Hz], which sets the initial capacity of the delay buffer. The
                buffer grows if necessary.
        """
        groups = {stage: group for stage, group in self._groups.items() if stage is not History}
        return Program(compact(groups), seeds, self._timestep, channels, rate=rate)

    def bytes_per_environment(self, channels: int, rate: float) -> int:
        """Return the memory that each environment of a program needs [bytes].

        Args:
            channels: Number of channels of the readings.
            rate: Expected rate of the readings [Hz], as in `program`.
        """
        return 0 if self.idle else self.program([0], channels, rate).bytes_per_environment

    def workspace(self, channels: int) -> Workspace:
        """Allocate the arrays that a thread needs to run a program of this chain."""
        return Workspace(self._axes, channels)

    def switch(self, enabled: Mapping[str, Mapping[str, bool]]) -> None:
        """Switch stages on or off.

        A stage that is off keeps its memory up to date without changing readings, so when it is switched
        on, it continues as if it had been on. Random numbers do not depend on switches.

        Args:
            enabled: Pad name -> stage -> whether it is on. Unknown pads, and stages that a pad does not
                have, are ignored.
        """
        for stage, group in self._groups.items():
            for pad, switches in enabled.items():
                if stage.key() in switches:
                    group.switch(pad, switches[stage.key()])
        if self._program is not None:
            self._program.read_switches()

    def native(self, channels: int) -> tuple[Any, Any, bool, bool] | None:
        """Return what a step in native code needs to run the stages, or None if that is not possible.

        Args:
            channels: Number of channels of the readings.

        Returns:
            The native program and workspace (None if `idle`), whether it has memory, and whether readings
            can be invalid.
        """
        if self.idle:
            return None, None, False, False
        program = self._prepare(channels)
        if program.has_own_stages or program.waits_for_tare:
            return None
        return program.native, self._workspace.native, program.has_memory, self._marks

    @property
    def has_memory(self) -> bool:
        """True if readings depend on earlier ones, so the reading of each tactile message must be stored.

        This is the case if a stage stores earlier readings, or if a parameter is a range that is drawn again
        at each reset.
        """
        return self._keeps if self._program is None else self._program.has_memory

    @property
    def idle(self) -> bool:
        """True if readings are returned unchanged."""
        return self._inert and self._zero is None

    def read(self, step: int, reading: np.ndarray) -> np.ndarray:
        """Return the output for an ideal reading, and update the memory of the stages.

        Call this once for each tactile message.

        Args:
            step: Number of steps since the start or the last `restart`. Another call with the same step
                and reading returns the same output.
            reading: (taxels, channels) Ideal reading; it is not modified.

        Returns:
            (taxels, channels) Output of the last stage.

        Raises:
            CommandError: The step is before the last stored one, or the shape is wrong.
        """
        return reading if self.idle else self._run(step, reading, keep=True)

    @property
    def valid(self) -> np.ndarray:
        """(taxels,) uint8, 0 where the last output is invalid: dead, saturated or not reported yet.

        The array is delayed like the output. If no stage can make a reading invalid, the array is empty.
        """
        if not self._marks:
            return np.empty(0, np.uint8)
        return self._workspace.valid.copy()

    @property
    def history(self) -> dict[str, np.ndarray]:
        """Last outputs of each pad that has the stage `History`, keyed by pad name.

        Each array (samples, taxels, channels) starts with the oldest output. Samples before the first output
        are zero.
        """
        if History not in self._groups:
            return {}
        if self._program is None:
            return History.outputs(dataclasses.replace(self._groups[History], channels=0), np.empty(0))
        return self._program.history(0)

    def peek(self, step: int, reading: np.ndarray) -> np.ndarray:
        """Return what `read` would return for these arguments, without updating the memory of the stages."""
        return reading if self.idle else self._run(step, reading, keep=False)

    def tare(self, step: int, reading: np.ndarray) -> None:
        """Process a reading with the stages before the tare, and subtract the result from all later readings.

        The result becomes `zero`; the memory of the stages is not updated.

        Args:
            step: Step since the last reset.
            reading: (taxels, channels) Ideal reading to use as zero.

        Raises:
            CommandError: The step is before the last stored one, or the shape is wrong.
        """
        self.zero = self._run(step, reading, keep=False, until=Tare)

    @property
    def zero(self) -> np.ndarray | None:
        """Readings (taxels, channels) that the tare subtracts; None before the first tare."""
        return self._zero

    @zero.setter
    def zero(self, values: np.ndarray | None) -> None:
        self._zero = values
        self.changes += 1
        if values is not None:
            self._prepare(values.shape[1]).tare(_ALONE, values[None])
        elif self._program is not None:
            self._program.clear_tare()

    def restart(self, seed: int | None = None) -> None:
        """Reset the step count, random numbers and memory, and draw from ranges again. The tare is kept.

        Args:
            seed: New seed. The chain then gives the same random numbers as a new chain with this seed. None
                keeps the seed, and draws other values from ranges than before.

        Raises:
            CommandError: The seed is invalid.
        """
        if seed is not None:
            valid("seed", seed, SEED)
            self._seed, self._episode = seed, 0
        else:
            self._episode += 1
        if self._program is not None:
            self._program.restart(_ALONE, seed)

    def forget(self, frame: str = "body") -> None:
        """Reset everything, including the tare, before readings of another touch function are processed.

        Args:
            frame: Frame of the new touch function's vector readings, as in `SignalChain`.
        """
        self._axes = normal_axes(self._skin.normals, frame)
        self._program: Program | None = None
        self.changes += 1
        self._workspace = self.workspace(0)
        self._zero = None

    def _prepare(self, channels: int) -> Program:
        """Return the program of this chain. The first call creates it for the given number of channels."""
        if self._program is None:
            self._program = Program(self._groups, [self._seed], self._timestep, channels, self._episode)
            self._workspace = self.workspace(channels)
        return self._program

    def _run(
        self, step: int, reading: np.ndarray, keep: bool, until: type[Stage] | None = None
    ) -> np.ndarray:
        """Return the output of all stages, or of those before ``until``; ``keep`` updates their memory."""
        truth = np.ascontiguousarray(reading, float)
        taxels, channels = (
            len(self._skin.normals),
            self._program.channels if self._program else truth.shape[-1],
        )
        if truth.shape != (taxels, channels):
            raise CommandError(
                f"reading: must have shape ({taxels}, {channels}), got {truth.shape}; "
                "call forget() before readings of another touch function"
            )
        program = self._program or self._prepare(channels)
        if step < (kept := program.kept(0)):
            raise CommandError(
                f"step: must be >= {kept} as in the last reading, got {step}; restart the chain first"
            )
        waits = keep and program.waits_for_tare
        output = program.read(self._workspace, step, truth, keep and program.has_memory, until)
        if waits and program.tared(0):
            self._zero = program.zero(0)
            self.changes += 1
        return output
