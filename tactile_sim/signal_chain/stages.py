"""List all stages in order, and build the stages of each pad from a configuration."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tactile_sim.common.errors import CommandError, ConfigError, ErrorList, suggest
from tactile_sim.common.names import match
from tactile_sim.common.schema import Check, shown
from tactile_sim.signal_chain.amplifier import Drift, Gain, Noise, Offset, Saturation
from tactile_sim.signal_chain.converter import Quantisation, Smoothing, Threshold
from tactile_sim.signal_chain.curve import Calibration, Transfer
from tactile_sim.signal_chain.driver import Clip, Contact, History, Tare
from tactile_sim.signal_chain.group import Group, Taxels
from tactile_sim.signal_chain.material import (
    CrossTalk,
    FastAdaptation,
    Hysteresis,
    SlowAdaptation,
    Viscoelasticity,
)
from tactile_sim.signal_chain.stage import Stage
from tactile_sim.signal_chain.transmission import DeadTaxels, Delay, Dropout

if TYPE_CHECKING:
    from tactile_sim.skin import Pad

STAGES: dict[str, type[Stage]] = {
    stage.key(): stage
    for stage in (
        CrossTalk,
        Hysteresis,
        Viscoelasticity,
        SlowAdaptation,
        FastAdaptation,
        Gain,
        Offset,
        Drift,
        Noise,
        Saturation,
        Smoothing,
        Threshold,
        Transfer,
        Quantisation,
        DeadTaxels,
        Dropout,
        Delay,
        Calibration,
        Tare,
        Clip,
        Contact,
        History,
    )
}
"""All stages in order of application: material, receptor, amplifier, converter, wires, bus, driver."""


def _parameters(stage: type[Stage]) -> dict[str, Check]:
    return {f"{stage.key()}.{field.name}": field.metadata["check"] for field in dataclasses.fields(stage)}


PARAMETERS: dict[str, Check] = {
    name: check for stage in STAGES.values() for name, check in _parameters(stage).items()
}
"""Check for the values of each stage parameter, by key ``<stage>.<parameter>``."""


def add_stage(stage: type[Stage], before: str) -> None:
    """Add a stage of your own, see `Stage.compute`, before any configuration is loaded.

    Args:
        stage: Dataclass whose parameters become keys of ``skin.sensor.<pad>.<stage>``.
        before: Key of the stage that follows it, such as ``noise``.

    Raises:
        CommandError: The stage has no method ``compute``, its key is in use, or there is no stage ``before``.
    """
    key = stage.key()
    if stage.compute is None or key in STAGES:
        fault = "must have a key that is not in use" if key in STAGES else "must have a method compute"
        raise CommandError(f"add_stage: stage {key!r}: {fault}")
    if before not in STAGES:
        raise CommandError(f"add_stage: no stage {before!r}{suggest(before, STAGES)}")
    order = list(STAGES)
    order.insert(order.index(before), key)
    stages = STAGES | {key: stage}
    STAGES.clear()
    STAGES.update({key: stages[key] for key in order})
    PARAMETERS.update(_parameters(stage))


def make_stages(
    table: Mapping[str, Mapping[str, Mapping[str, Any]]], bodies: Sequence[str], where: str
) -> dict[str, dict[str, Stage]]:
    """Build the stages of all pads from a configuration.

    Args:
        table: Values by pad name or pattern, stage and parameter. Names and patterns are matched as in
            `tactile_sim.common.names.match`.
        bodies: Names of the pads.
        where: Prefix for error messages (file and key).

    Returns:
        Pad name -> stage key -> stage, for each pad that has stages.

    Raises:
        ConfigError: A stage or parameter is unknown, a value is invalid, a parameter is missing, or a pattern
            matches nothing.
        ConfigErrors: There are several such errors.
    """
    errors, chosen = ErrorList(), {}
    made: dict[str, dict[str, Stage]] = {pattern: {} for pattern in table}
    for pattern, stages in table.items():
        with errors.collect():
            for key, parameters in _entries(stages, STAGES, f"{where}.{pattern}").items():
                with errors.collect():
                    made[pattern][key] = _stage(key, parameters, f"{where}.{pattern}.{key}")
    with errors.collect():
        chosen = match(made, bodies, where, "pad")
    errors.check()
    return {body: made[entry] for body, entry in chosen.items()}


def make_groups(
    pads: Sequence[Pad], skin: Taxels, chosen: Mapping[str, Mapping[str, Stage]], where: str
) -> dict[type[Stage], Group]:
    """Create one `Group` for each stage that occurs: the pads that have this stage.

    The groups are in the order of `STAGES`. `Tare` has a group even if no pad has this stage.

    Args:
        pads: Pads of the skin.
        skin: All taxels of the skin.
        chosen: Stages of each pad, keyed by pad name and stage key.
        where: Prefix for error messages (file and key).

    Raises:
        ConfigError: Parameters of a stage are inconsistent or do not fit their pad.
    """
    groups: dict[type[Stage], Group] = {}
    for key, stage in STAGES.items():
        bodies = [pad for pad in pads if key in chosen.get(pad.name, {})]
        if bodies or stage is Tare:
            groups[stage] = Group(bodies, [chosen[pad.name][key] for pad in bodies], skin)
    try:
        for stage, group in groups.items():
            stage.check(group)
    except ConfigError as error:
        raise ConfigError(f"{where}.{error}") from None
    return groups


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


def _entries(mapping: Any, known: Collection[str], where: str) -> Mapping[str, Any]:
    """Return a mapping after checking that all its keys are known."""
    if not isinstance(mapping, Mapping):
        raise ConfigError(f"{where}: must have keys below it ({', '.join(known)}), got {shown(mapping)}")
    for key in mapping:
        if key not in known:
            raise ConfigError(f"{where}: unknown key {key!r}", near=(key, known))
    return mapping
