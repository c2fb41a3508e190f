"""Declare the keys ``hardware.*``, which define where the readings of real sensors come from."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tactile_sim.config.keys import key
from tactile_sim.errors import ConfigError, ErrorList, suggest
from tactile_sim.schema import Choice, Flag, Integer, Integers, Number, Text, checks, parameter


def check_address(value: Any) -> str:
    """Check a websocket address and return it unchanged.

    Raises:
        ValueError: The value is not a websocket address.
    """
    address = Text(filled=True)(value)
    try:
        parts = urlsplit(address)
        valid = parts.scheme in ("ws", "wss") and parts.hostname and parts.port != 0
    except ValueError:  # the port is not a number up to 65535
        valid = False
    if not valid:
        raise ValueError(f"must be an address such as ws://127.0.0.1:5000, got {address!r}")
    return address


def check_topic(value: Any) -> str:
    """Check an absolute, relative or private ROS topic name and return it unchanged.

    Raises:
        ValueError: The value is not a topic name.
    """
    name = Text(filled=True)(value)
    if not re.fullmatch("(~?/)?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*", name):
        raise ValueError(f"must be a topic such as /hub_0/sensor_0, got {name!r}")
    return name


@dataclass(frozen=True)
class HardwarePad:
    """Source of one pad's readings, and their conversion."""

    sensor: int | None = parameter(Integer(0, 255), "driver xela: number of the sensor in the stream", None)
    topic: str | None = parameter(
        check_topic, "drivers papillarray and array: topic of the sensor's messages", None
    )
    raw: bool = parameter(
        Flag(), "driver xela: whether raw values are read instead of calibrated forces", False
    )
    baseline: float = parameter(
        Number(), "value without load [units of the message]; it is subtracted from each value", 0.0
    )
    scale: float = parameter(Number(), "force per unit of the message [N]", 1.0)
    axes: str = parameter(
        Text(filled=True),
        "axes of the sensor that point along the first tangent, the second tangent and the inward normal of "
        "the taxels, with signs, such as `-x y z`",
        "x y z",
    )
    order: tuple[int, ...] = parameter(
        Integers(0),
        "position in the message of each taxel of the layout; default: the order of the layout",
        (),
    )


HARDWARE_PAD = checks(HardwarePad)
"""For each key of a pad with a real sensor, the function that checks its value."""


@dataclass(frozen=True)
class HardwareSettings:
    """``hardware.*``: source of the readings of ``tactile_sim hardware``; ignored by the simulation."""

    driver: str = key(
        "array",
        Choice(("xela", "papillarray", "array")),
        "source of the messages that `tactile_sim hardware` reads: the websocket of XELA's server, topics "
        "with Contactile's `sensor_interfaces/SensorState`, or topics with `std_msgs/Float32MultiArray`",
    )
    address: str = key("ws://127.0.0.1:5000", check_address, "address of XELA's server")
    timeout: float = key(
        0.5, Number(above=0, unit="s"), "time without a message after which a pad is reported as lost [s]"
    )
    pads: dict[str, dict[str, Any]] = field(default_factory=dict, metadata={"record": HARDWARE_PAD})
    """Keys of `HardwarePad` by the name of a pad."""


def check_pad_names(hardware: HardwareSettings, pads: Collection[str], source: str) -> None:
    """Check the names of the pads that receive data from a sensor.

    Args:
        hardware: Values of the keys ``hardware.*``.
        pads: Names of all pads.
        source: Name of the configuration in error messages.

    Raises:
        ConfigError: A pad is unknown.
        ConfigErrors: Several pads are unknown.
    """
    ErrorList(
        ConfigError(f"{source}: hardware.pads: the skin has no pad {name!r}{suggest(name, pads)}")
        for name in hardware.pads
        if name not in pads
    ).check()


def resolve_hardware(
    hardware: HardwareSettings, taxels: dict[str, int], source: str
) -> dict[str, HardwarePad]:
    """Check the settings of the pads that receive data from a sensor, and return them keyed by pad name.

    Args:
        hardware: Values of the keys ``hardware.*``.
        taxels: Number of taxels of each pad of the skin, keyed by pad name.
        source: Name of the configuration in error messages.

    Raises:
        ConfigError: The address is invalid, no pad is configured, a pad is unknown, or its keys do not fit
            the driver or the layout.
        ConfigErrors: Several pads are unknown.
    """
    if hardware.driver == "xela" and not hardware.address.startswith(("ws://", "wss://")):
        raise ConfigError(
            f"{source}: hardware.address: must begin with ws:// or wss://, got {hardware.address!r}"
        )
    where = f"{source}: hardware.pads"
    if not hardware.pads:
        raise ConfigError(
            f"{where}: is missing; name the pads and their sensors, for example left: {{sensor: 1}}"
        )
    check_pad_names(hardware, taxels, source)
    required, other = ("sensor", "topic") if hardware.driver == "xela" else ("topic", "sensor")
    pads = {}
    for name, given in hardware.pads.items():
        pad = HardwarePad(**given)
        if getattr(pad, required) is None:
            raise ConfigError(f"{where}.{name}.{required}: is required with driver {hardware.driver!r}")
        if getattr(pad, other) is not None or (pad.raw and hardware.driver != "xela"):
            key_name = other if getattr(pad, other) is not None else "raw"
            raise ConfigError(
                f"{where}.{name}.{key_name}: is not used with driver {hardware.driver!r}; remove it"
            )
        if not pad.scale:
            raise ConfigError(f"{where}.{name}.scale: must not be 0, since all readings would be 0")
        axes = pad.axes.split()
        if sorted(axis.removeprefix("-") for axis in axes) != ["x", "y", "z"]:
            raise ConfigError(
                f"{where}.{name}.axes: must have x, y and z once each, such as '-x y z', got {pad.axes!r}"
            )
        if pad.order and sorted(pad.order) != list(range(taxels[name])):
            raise ConfigError(
                f"{where}.{name}.order: must have each index from 0 to {taxels[name] - 1} once,"
                f" as the pad has {taxels[name]} taxels, got {list(pad.order)}"
            )
        pads[name] = pad
    inputs = [getattr(pad, required) for pad in pads.values()]
    if twice := [value for value in inputs if inputs.count(value) > 1]:
        raise ConfigError(f"{where}: two pads have {required} {twice[0]!r}; each pad needs its own")
    return pads
