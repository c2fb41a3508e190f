"""The signal chain of a skin: its stages in their fixed order, from ideal to real readings."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tactile_sim.errors import CommandError, ConfigError
from tactile_sim.schema import SEED
from tactile_sim.signal_chain.driver import History
from tactile_sim.signal_chain.stage import Group, Stage, Taxels
from tactile_sim.signal_chain.stages import STAGES, make_stages
from tactile_sim.signal_chain.tare import Tare, TareMemory

if TYPE_CHECKING:
    from tactile_sim.skin import Skin

KEY = "skin.sensor"
"""The key of the stages in a configuration."""


class SignalChain:
    """The signal chain of a skin.

    >>> chain = SignalChain(skin, {"palm": {"noise": {"std": 0.01}, "delay": {"time": 0.02}}}, timestep=0.002)
    >>> reading = chain.read(step, skin.sense(loads))

    Readings are (taxels, channels) over the whole skin, in the units of its touch function. Bodies without
    stages keep their ideal readings; without any stage a reading is returned as it is.
    """

    def __init__(
        self,
        skin: Skin,
        stages: Mapping[str, Mapping[str, Mapping[str, Any]]],
        timestep: float,
        seed: int = 0,
        source: str = "configuration",
        frame: str = "body",
    ):
        """Build the stages of each body.

        Args:
            skin: the skin that is read.
            stages: body name or shell pattern -> stage -> parameter -> value, as below ``skin.sensor``. One
                entry applies to a body, with all its stages.
            timestep: time between two steps [s].
            seed: seed of all random numbers.
            source: name of the origin in errors, usually a file.
            frame: of vector readings: ``body``, ``taxel`` (the third axis is the normal) or ``world``.

        Raises:
            ConfigError: a stage, parameter, value or body is invalid.
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
        number = len(skin.positions)
        self._skin = Taxels(
            skin.positions, skin.normals, skin.neighbours, np.empty((number, 3)), np.ones(number, np.uint8)
        )
        self._groups: dict[type[Stage], Group] = {}
        for key, stage in STAGES.items():
            bodies = [body for body in skin.pads if key in chosen.get(body.name, {})]
            if bodies or stage is Tare:
                own = [chosen[body.name][key] for body in bodies]
                self._groups[stage] = Group(bodies, own, self._skin, timestep, seed)
        try:
            self._start: dict[type[Stage], Any] = {
                stage: stage.start(group) for stage, group in self._groups.items()
            }
        except ConfigError as error:
            raise ConfigError(f"{where}.{error}") from None
        self._marks = any(stage.marks for stage in self._groups)
        self._random = [stage for stage, group in self._groups.items() if group.random]
        self.forget(frame)

    def copy(self, seed: int) -> SignalChain:
        """Return a chain with the same stages and another seed, that has read nothing."""
        chain = copy.copy(self)
        skin = self._skin
        chain._skin = Taxels(
            skin.positions, skin.normals, skin.neighbours, skin.axes.copy(), np.ones_like(skin.valid)
        )
        chain._groups = {
            stage: dataclasses.replace(group, skin=chain._skin, seed=seed)
            for stage, group in self._groups.items()
        }
        chain._start = {stage: stage.start(group) for stage, group in chain._groups.items()}
        chain._memory, chain._kept, chain._channels = chain._start, 0, None
        return chain

    @property
    def has_memory(self) -> bool:
        """True if readings depend on the past: then each one at a tactile message must be kept.

        They do where a stage remembers earlier ones, and where a range is drawn again at each reset.
        """
        return (
            bool(self._memory[Tare].waiting)
            or bool(self._random)
            or any(stage.has_memory for stage in self._groups if stage is not Tare)
        )

    @property
    def idle(self) -> bool:
        """True if readings are returned as they are."""
        return len(self._groups) == 1 and self.zero is None and not self._memory[Tare].waiting

    def read(self, step: int, reading: np.ndarray) -> np.ndarray:
        """Return the output for an ideal reading and keep it, once for each tactile message.

        Args:
            step: since the start or the last `restart`. The same reading at the same step gives the same
                output again.
            reading: (taxels, channels), not changed.

        Raises:
            CommandError: the step is before the last one that was kept, or the shape differs from before.
        """
        output = self.peek(step, reading)
        self.keep()
        return output

    @property
    def valid(self) -> np.ndarray:
        """(taxels,) uint8 of the last output: 0 where a taxel is dead, saturated or has not reported yet.

        It is late by the delay, as the output is. Empty while no stage can make a reading invalid.
        """
        return self._skin.valid.copy() if self._marks else np.empty(0, np.uint8)

    @property
    def history(self) -> dict[str, np.ndarray]:
        """Last outputs that were kept, (samples, taxels, channels), oldest first, by body with a history.

        Outputs before the first one are zero.
        """
        if History not in self._groups:
            return {}
        group, outputs = self._groups[History], [output for _, output in self._memory[History] or ()]
        made = {}
        for body, stage, rows in zip(group.bodies, group.stages, group.rows, strict=True):
            own = np.zeros((stage.samples, rows.stop - rows.start, self._channels or 0))
            for back, output in enumerate(outputs[: -stage.samples - 1 : -1], start=1):
                own[-back] = output[rows]
            made[body.name] = own
        return made

    def peek(self, step: int, reading: np.ndarray) -> np.ndarray:
        """Return the output as `read` does, without keeping it."""
        if self.idle:
            return reading
        output, self._peeked = self._apply(step, reading, self._groups)
        self._peeked_step = step
        return output

    def keep(self) -> None:
        """Keep the reading of the last `peek` in memory."""
        if self.has_memory:
            self._memory = self._peeked
            self._kept = self._peeked_step

    def tare(self, step: int, reading: np.ndarray) -> None:
        """Subtract what the stages before the tare make of a reading from all later ones, on all bodies."""
        stages = list(self._groups)
        self.zero = self._apply(step, reading, stages[: stages.index(Tare)])[0]

    @property
    def zero(self) -> np.ndarray | None:
        """(taxels, channels) that the tare subtracts; None: nothing was tared."""
        return self._memory[Tare].zero

    @zero.setter
    def zero(self, values: np.ndarray | None) -> None:
        self._memory = self._memory | {Tare: TareMemory(values, self._memory[Tare].waiting)}

    def restart(self, seed: int | None = None) -> None:
        """Restart steps, random numbers and memory, and draw ranges again; the tare is kept.

        Args:
            seed: a new seed, from which all is drawn as in a new chain; None: the next draws of the present
                seed.

        Raises:
            CommandError: the seed is invalid.
        """
        if seed is not None:
            try:
                SEED(seed)
            except ValueError as error:
                raise CommandError(f"seed: {error}") from None
        for stage in self._random if seed is None else list(self._groups):
            group = self._groups[stage]
            if seed is None:
                drawn = dataclasses.replace(group, episode=group.episode + 1)
            else:
                drawn = dataclasses.replace(group, seed=seed, episode=0)
            self._groups[stage], self._start[stage] = drawn, stage.start(drawn)
        self._memory = self._start | {Tare: self._memory[Tare]}
        self._kept = 0

    def forget(self, frame: str = "body") -> None:
        """Restart everything, the tare included, for readings of another touch function.

        Args:
            frame: of its vectors, as in `SignalChain`.
        """
        axes = {"body": self._skin.normals, "taxel": np.array([0.0, 0.0, 1.0]), "world": np.zeros(3)}
        self._skin.axes[:] = axes[frame]
        self._memory = self._start
        self._kept = 0
        self._channels: int | None = None

    def _apply(
        self, step: int, reading: np.ndarray, stages: Iterable[type[Stage]]
    ) -> tuple[np.ndarray, dict[type[Stage], Any]]:
        """Return the output of some stages and the memory after them."""
        if step < self._kept:
            raise CommandError(
                f"step: must be >= {self._kept} as in the last reading, got {step}; restart the chain first"
            )
        values, taxels = np.array(reading, float), len(self._skin.valid)
        if values.ndim != 2 or values.shape != (taxels, self._channels or values.shape[-1]):
            expected = f"({taxels}, {self._channels or 'channels'})"
            raise CommandError(
                f"reading: must have shape {expected}, got {values.shape}; "
                "call forget() before readings of another touch function"
            )
        self._channels = values.shape[1]
        self._skin.valid.fill(1)
        memory = dict(self._memory)
        for stage in stages:
            memory[stage] = stage.apply(values, self._groups[stage], memory[stage], step)
        return values, memory
