"""What a real sensor makes of touch: the stages of ``skin.sensor`` in the order in which they act.

One dataclass a stage: its sentence, and one field a parameter. A stage is off unless a parameter of it is
given; none works without one, as rcl takes no empty mapping. "Units" are those of the touch function: N, or
m/s for slip.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tactile_sim.config.checks import Check, Integers, Number
from tactile_sim.config.patterns import match
from tactile_sim.errors import ConfigError


def _parameter(check: Check, doc: str, default: Any = dataclasses.MISSING) -> Any:
    return field(default=default, metadata={"check": check, "doc": doc})


_SHARE = Number(least=0, most=1)
_TIME_CONSTANT = Number(above=0, unit="s")


@dataclass(frozen=True)
class CrossTalk:
    """Each taxel passes a share of its load to its neighbours on the skin, in equal parts; none is lost."""

    share: float = _parameter(_SHARE, "the part that is passed on, 0 to 1")


@dataclass(frozen=True)
class Hysteresis:
    """Friction in the material holds the reading back, on the way up and on the way down, by up to a fraction
    of the load."""

    fraction: float = _parameter(_SHARE, "of the load, 0 to 1")


@dataclass(frozen=True)
class SlowAdaptation:
    """The reading of a held load decays exponentially to a fraction of it."""

    fraction: float = _parameter(_SHARE, "what remains in the end, 0 to 1")
    time_constant: float = _parameter(_TIME_CONSTANT, "of the decay [s]")


@dataclass(frozen=True)
class FastAdaptation:
    """Only changes are felt: a high-pass filter of first order."""

    time_constant: float = _parameter(_TIME_CONSTANT, "in which the reading of a held load decays [s]")


@dataclass(frozen=True)
class Noise:
    """White Gaussian noise is added to each channel."""

    std: float = _parameter(Number(least=0), "standard deviation [units]")


@dataclass(frozen=True)
class Threshold:
    """What is weaker than a level reads zero."""

    level: float = _parameter(Number(least=0), "least magnitude that is told [units]")


@dataclass(frozen=True)
class Saturation:
    """What is stronger than a level reads that level, in its own direction."""

    level: float = _parameter(Number(above=0), "greatest magnitude that is told [units]")


@dataclass(frozen=True)
class Quantisation:
    """Each channel is rounded to a whole number of steps."""

    step: float = _parameter(Number(above=0), "width of a step [units]")


@dataclass(frozen=True)
class DeadTaxels:
    """Some taxels always read zero: a fraction of them, chosen by the seed, and those listed."""

    fraction: float = _parameter(_SHARE, "of the body's taxels, 0 to 1", default=0.0)
    taxels: tuple[int, ...] = _parameter(Integers(least=0), "their numbers in the body's array", default=())


@dataclass(frozen=True)
class Delay:
    """A reading comes late: what is told is the newest that is old enough, and zero before there is one."""

    time: float = _parameter(Number(least=0, most=10, unit="s"), "the age [s]")


@dataclass(frozen=True)
class Tare:
    """The reading at some time counts as zero from then on, without a call of ``~/tare``."""

    at: float = _parameter(Number(least=0, unit="s"), "that time after the start [s]")


SENSOR_STAGES: dict[str, type] = {
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
"""From the skin's cover to the computer: material, receptor, amplifier, converter, wires, bus, driver."""
STAGE_PARAMETERS: dict[str, Check] = {
    f"{stage}.{entry.name}": entry.metadata["check"]
    for stage, block in SENSOR_STAGES.items()
    for entry in dataclasses.fields(block)
}
"""What each ``<stage>.<parameter>`` may be."""


def resolve_stages(
    table: Mapping[str, Mapping[str, Mapping[str, Any]]], bodies: Sequence[str], where: str
) -> dict[str, dict[str, Any]]:
    """The stages of each body that has some: body, stage -> one of the dataclasses above, in their order.

    Args:
        table: checked parameters by pattern, stage and name. Names and patterns as in
            :func:`tactile_sim.config.match`: one entry speaks for a body, with all its stages.
        bodies: the bodies with a skin.
        where: how errors call the table: file and key.

    Raises:
        ConfigError: a pattern that matches nothing, a parameter that is missing.
    """
    blocks = {
        pattern: {
            stage: _block(SENSOR_STAGES[stage], stages[stage], f"{where}.{pattern}.{stage}")
            for stage in SENSOR_STAGES
            if stage in stages
        }
        for pattern, stages in table.items()
    }
    return {body: blocks[entry] for body, entry in match(blocks, bodies, where, "body with skin").items()}


def _block(block: type, parameters: Mapping[str, Any], where: str) -> Any:
    missing = [
        entry.name
        for entry in dataclasses.fields(block)
        if entry.default is dataclasses.MISSING and entry.name not in parameters
    ]
    if missing:
        raise ConfigError(f"{where}: the parameter {missing[0]!r} is missing; it has no default")
    return block(**parameters)
