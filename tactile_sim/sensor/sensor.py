"""A skin's sensors: the stages of its bodies, one after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tactile_sim.config import KEYS, SENSOR_STAGES, records, resolve_stages
from tactile_sim.errors import CommandError, ConfigError
from tactile_sim.sensor.adaptation import FastAdaptation, SlowAdaptation
from tactile_sim.sensor.converter import Quantisation, Saturation, Threshold
from tactile_sim.sensor.material import CrossTalk, Hysteresis
from tactile_sim.sensor.noise import Noise
from tactile_sim.sensor.stage import Plan, Stage
from tactile_sim.sensor.tare import Tare
from tactile_sim.sensor.wires import DeadTaxels, Delay

if TYPE_CHECKING:
    from tactile_sim.skin import Skin

KEY = "skin.sensor"
STAGES: dict[str, Callable[[Plan], Stage]] = {
    "cross_talk": CrossTalk,
    "hysteresis": Hysteresis,
    "slow_adaptation": SlowAdaptation,
    "fast_adaptation": FastAdaptation,
    "noise": Noise,
    "threshold": Threshold,
    "saturation": Saturation,
    "quantisation": Quantisation,
    "dead_taxels": DeadTaxels,
    "delay": Delay,
    "tare": Tare,
}
"""What each stage of `tactile_sim.config.SENSOR_STAGES` does; they act in that order."""


class Sensor:
    """What a skin tells of what it feels.

    >>> sensor = Sensor(skin, {"palm": {"noise": {"std": 0.01}, "delay": {"time": 0.02}}}, timestep=0.002)
    >>> told = sensor.read(step, skin.sense(loads))

    Readings are (taxels, channels) over the whole skin, in the units of its touch function. Bodies without
    stages read as they feel, and without any stage a reading is passed through as it is.
    """

    def __init__(
        self,
        skin: Skin,
        stages: Mapping[str, Mapping[str, Mapping[str, Any]]],
        timestep: float,
        seed: int = 0,
        source: str = "configuration",
    ):
        """
        Args:
            skin: what feels.
            stages: body name or shell pattern -> stage -> parameter -> value, as below ``skin.sensor``.
            timestep: between two steps [s].
            seed: of noise and of dead taxels.
            source: how errors call the origin of the stages, usually a file.

        Raises:
            ConfigError: names the key, what is there, and the nearest valid name.
        """
        where = f"{source}: {KEY}"
        try:
            KEYS["seed"].check(seed)
        except ValueError as error:
            raise ConfigError(f"{source}: seed: {error}") from None
        names = [body.name for body in skin.bodies]
        chosen = resolve_stages(records(KEY, stages, source), names, where)
        self.staged = np.array([name in chosen for name in names], bool)
        """(bodies,) which of the skin's bodies have stages."""

        def plan(stage: str) -> Plan:
            bodies = [body for body in skin.bodies if stage in chosen.get(body.name, {})]
            return Plan(
                bodies, [chosen[body.name][stage] for body in bodies], skin.neighbours, timestep, seed
            )

        try:
            self._stages = [
                STAGES[name](made) for name in SENSOR_STAGES if name != "tare" and (made := plan(name)).bodies
            ]
        except ConfigError as error:
            raise ConfigError(f"{where}.{error}") from None
        self._tare = Tare(plan("tare"))
        self._remembers = any(stage.remembers for stage in self._stages)
        self._kept = 0
        self._taxels = len(skin.positions)
        self._channels: int | None = None
        """Of readings; unknown before the first."""

    @property
    def remembers(self) -> bool:
        """Whether what is told depends on readings before: then each tick's has to be kept."""
        return self._remembers or self._tare.waits

    @property
    def idle(self) -> bool:
        """Whether readings are passed through as they are."""
        return not self._stages and self._tare.idle

    def read(self, step: int, reading: np.ndarray) -> np.ndarray:
        """What is told of a reading, (taxels, channels); it is remembered. Once a tick.

        step: since the start or the last `restart`. The same reading at the same step gives the same again.
        Raises CommandError for a step before that of the last one that was kept, and for a reading of another
        shape than those before.
        """
        told = self.peek(step, reading)
        self.keep()
        return told

    def peek(self, step: int, reading: np.ndarray) -> np.ndarray:
        """The same, without being remembered."""
        if self.idle:
            return reading
        told = self._before_tare(step, reading)
        self._tare.act(told, step)
        self._peeked = step
        return told

    def keep(self) -> None:
        """Remembers the reading of the last `peek`."""
        if self.remembers:
            for stage in self._stages:
                stage.keep()
            self._tare.keep()
            self._kept = self._peeked

    def tare(self, step: int, reading: np.ndarray) -> None:
        """Lets what is told of a reading count as zero from now on, on all bodies."""
        self._tare.take(self._before_tare(step, reading))

    @property
    def zero(self) -> np.ndarray | None:
        """(taxels, channels) what counts as zero, before it is taken off; None: nothing was tared."""
        return self._tare.zero

    @zero.setter
    def zero(self, values: np.ndarray | None) -> None:
        self._tare.zero = values

    def restart(self) -> None:
        """From here on steps and random numbers begin anew, and nothing is remembered but the tare."""
        for stage in self._stages:
            stage.restart()
        self._kept = 0

    def forget(self) -> None:
        """The same, and the tare is gone too: readings of another kind follow."""
        self.restart()
        self._tare.forget()
        self._channels = None

    def _before_tare(self, step: int, reading: np.ndarray) -> np.ndarray:
        if step < self._kept:
            raise CommandError(
                f"a reading of step {step} cannot follow one of step {self._kept}: restart the sensor first"
            )
        told = np.array(reading, float)
        if told.ndim != 2 or told.shape != (self._taxels, self._channels or told.shape[-1]):
            expected = f"({self._taxels}, {self._channels or 'channels'})"
            raise CommandError(
                f"a reading must be an array {expected}, not {told.shape}; "
                "let the sensor forget readings of another kind"
            )
        self._channels = told.shape[1]
        for stage in self._stages:
            stage.act(told, step)
        return told
