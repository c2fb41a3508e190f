"""Live keys ``skin.sensor.ENTRY.STAGE.enabled``, which switch stages of the signal chain on and off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tactile_sim.config.keys import Key
from tactile_sim.schema import Flag
from tactile_sim.signal_chain.stage import ENABLED

Sensor = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""The table ``skin.sensor``: pad name or pattern -> stage -> parameter -> value."""
_TABLE = "skin.sensor"


def switch_places(sensor: Sensor) -> Iterator[tuple[str, str, str]]:
    """Yield the full key, the entry (pad name or pattern) and the stage of each switch."""
    for entry, stages in sensor.items():
        for stage in stages:
            yield f"{_TABLE}.{entry}.{stage}.{ENABLED}", entry, stage


def switches(sensor: Sensor) -> dict[str, bool]:
    """Return the value of each switch, keyed by full key. Stages are on by default."""
    return {key: sensor[entry][stage].get(ENABLED, True) for key, entry, stage in switch_places(sensor)}


def switch_keys(sensor: Sensor) -> dict[str, Key]:
    """Return the declaration of each switch as a live key, keyed by full name."""
    return {
        key: Key(key, True, Flag(), f"whether the stage {stage} changes readings", live=True)
        for key, _, stage in switch_places(sensor)
    }


def with_switches(sensor: Sensor, values: Mapping[str, bool]) -> dict[str, dict[str, dict[str, Any]]]:
    """Return a copy of the table with new values for some switches, which are keyed by full key."""
    copy = {entry: {stage: dict(own) for stage, own in stages.items()} for entry, stages in sensor.items()}
    for key, entry, stage in switch_places(sensor):
        if key in values:
            copy[entry][stage][ENABLED] = values[key]
    return copy


def switches_of_pads(sensor: Sensor, entries: Mapping[str, str]) -> dict[str, dict[str, bool]]:
    """Return the values of the switches by pad and stage, as `SignalChain.switch` expects them.

    Args:
        sensor: The table ``skin.sensor``.
        entries: For each pad name, the entry (pad name or pattern) that applies to it.
    """
    return {
        pad: {stage: own.get(ENABLED, True) for stage, own in sensor[entry].items()}
        for pad, entry in entries.items()
    }
