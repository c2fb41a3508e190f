"""The signal chain of a skin: its stages in their fixed order, from ideal to real readings."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tactile_sim.errors import CommandError, ConfigError, suggest
from tactile_sim.patterns import match
from tactile_sim.schema import SEED, Check, shown
from tactile_sim.signal_chain.adaptation import FastAdaptation, SlowAdaptation
from tactile_sim.signal_chain.converter import Quantisation, Saturation, Threshold
from tactile_sim.signal_chain.material import CrossTalk, Hysteresis
from tactile_sim.signal_chain.noise import Noise
from tactile_sim.signal_chain.stage import Group, Stage
from tactile_sim.signal_chain.tare import Tare, TareMemory
from tactile_sim.signal_chain.transmission import DeadTaxels, Delay

if TYPE_CHECKING:
    from tactile_sim.skin import Skin

KEY = "skin.sensor"
"""The key of the stages in a configuration."""
STAGES: dict[str, type[Stage]] = {
    stage.key(): stage
    for stage in (
        CrossTalk,
        Hysteresis,
        SlowAdaptation,
        FastAdaptation,
        Noise,
        Threshold,
        Saturation,
        Quantisation,
        DeadTaxels,
        Delay,
        Tare,
    )
}
"""All stages in the order in which they act: material, receptor, amplifier, converter, wires, bus, driver."""

PARAMETERS: dict[str, Check] = {
    f"{key}.{field.name}": field.metadata["check"]
    for key, stage in STAGES.items()
    for field in dataclasses.fields(stage)
}
"""The check of each ``<stage>.<parameter>``."""


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
    ):
        """Build the stages of each body.

        Args:
            skin: the skin that is read.
            stages: body name or shell pattern -> stage -> parameter -> value, as below ``skin.sensor``. One
                entry applies to a body, with all its stages.
            timestep: time between two steps [s].
            seed: seed of noise and of dead taxels.
            source: name of the origin in errors, usually a file.

        Raises:
            ConfigError: a stage, parameter, value or body is invalid.
        """
        where = f"{source}: {KEY}"
        try:
            SEED(seed)
        except ValueError as error:
            raise ConfigError(f"{source}: seed: {error}") from None
        names = [body.name for body in skin.bodies]
        chosen = make_stages(stages, names, where)
        self.staged = np.array([name in chosen for name in names], bool)
        """(bodies,) whether each body of the skin has stages."""
        self._groups: dict[type[Stage], Group] = {}
        for key, stage in STAGES.items():
            bodies = [body for body in skin.bodies if key in chosen.get(body.name, {})]
            if bodies or stage is Tare:
                own = [chosen[body.name][key] for body in bodies]
                self._groups[stage] = Group(bodies, own, skin.neighbours, timestep, seed)
        try:
            self._start: dict[type[Stage], Any] = {
                stage: stage.start(group) for stage, group in self._groups.items()
            }
        except ConfigError as error:
            raise ConfigError(f"{where}.{error}") from None
        self._taxels = len(skin.positions)
        self.seed = seed
        """Seed of noise and of dead taxels."""
        self.forget()

    def copy(self, seed: int) -> SignalChain:
        """Return a chain with the same stages and another seed, that has read nothing."""
        chain = copy.copy(self)
        chain.seed = seed
        chain._groups = {}
        for stage, group in self._groups.items():
            chain._groups[stage] = own = dataclasses.replace(group, seed=seed)
            own.__dict__.update(ranges=group.ranges, parameters=group.parameters)  # they are cached
        chain._start = {stage: stage.start(group) for stage, group in chain._groups.items()}
        chain.forget()
        return chain

    @property
    def has_memory(self) -> bool:
        """Whether readings depend on earlier ones: then each one at a tactile message must be kept."""
        return bool(self._memory[Tare].waiting) or any(
            stage.has_memory for stage in self._groups if stage is not Tare
        )

    @property
    def idle(self) -> bool:
        """Whether readings are returned as they are."""
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
        """Subtract the output for a reading from all later outputs, on all bodies."""
        self.zero = self._apply(step, reading, [stage for stage in self._groups if stage is not Tare])[0]

    @property
    def zero(self) -> np.ndarray | None:
        """(taxels, channels) that the tare subtracts; None: nothing was tared."""
        return self._memory[Tare].zero

    @zero.setter
    def zero(self, values: np.ndarray | None) -> None:
        self._memory = self._memory | {Tare: TareMemory(values, self._memory[Tare].waiting)}

    def restart(self) -> None:
        """Restart steps, random numbers and memory; the tare is kept."""
        self._memory = self._start | {Tare: self._memory[Tare]}
        self._kept = 0

    def forget(self) -> None:
        """Restart everything, the tare included, for readings of another touch function."""
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
        values = np.array(reading, float)
        if values.ndim != 2 or values.shape != (self._taxels, self._channels or values.shape[-1]):
            expected = f"({self._taxels}, {self._channels or 'channels'})"
            raise CommandError(
                f"reading: must have shape {expected}, got {values.shape}; "
                "call forget() before readings of another touch function"
            )
        self._channels = values.shape[1]
        memory = dict(self._memory)
        for stage in stages:
            memory[stage] = stage.apply(values, self._groups[stage], memory[stage], step)
        return values, memory


def make_stages(
    table: Mapping[str, Mapping[str, Mapping[str, Any]]], bodies: Sequence[str], where: str
) -> dict[str, dict[str, Stage]]:
    """Return the stages of each body that has some, by body and key.

    Args:
        table: parameters by pattern, stage and name. Names and patterns are matched as in
            `tactile_sim.patterns.match`.
        bodies: names of the bodies with skin.
        where: name of the table in errors: file and key.

    Raises:
        ConfigError: an unknown stage or parameter, an invalid value, a parameter that is missing, a pattern
            that matches nothing.
    """
    made = {
        pattern: {
            key: _stage(key, parameters, f"{where}.{pattern}.{key}")
            for key, parameters in _entries(stages, STAGES, f"{where}.{pattern}").items()
        }
        for pattern, stages in table.items()
    }
    return {body: made[entry] for body, entry in match(made, bodies, where, "body with skin").items()}


def _stage(key: str, parameters: Any, where: str) -> Stage:
    stage = STAGES[key]
    fields = {field.name: field for field in dataclasses.fields(stage)}
    values = {}
    for name, value in _entries(parameters, fields, where).items():
        try:
            values[name] = fields[name].metadata["check"](value)
        except ValueError as error:
            raise ConfigError(f"{where}.{name}: {error}") from None
    for name, field in fields.items():
        if name not in values and field.default is dataclasses.MISSING:
            raise ConfigError(f"{where}.{name}: is missing and has no default")
    return stage(**values)


def _entries(mapping: Any, known: Iterable[str], where: str) -> Mapping[str, Any]:
    """Return a mapping whose keys are all known."""
    if not isinstance(mapping, Mapping):
        raise ConfigError(f"{where}: must have keys below it ({', '.join(known)}), got {shown(mapping)}")
    for key in mapping:
        if key not in known:
            raise ConfigError(f"{where}: unknown key {key!r}{suggest(key, known)}")
    return mapping
