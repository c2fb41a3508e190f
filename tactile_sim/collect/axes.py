"""Parse the axes of a sweep, which are configuration keys with lists of values."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tactile_sim import config
from tactile_sim.config.parameter_file import scalar
from tactile_sim.errors import CommandError, ConfigError, ConfigErrors

MOST_POINTS = 100_000
"""Largest number of points in a grid."""
_COMMA = re.compile(r",(?![^\[]*\])")
"""Comma between two values, but not between the numbers of a list."""
_SENSOR = "sensor."
"""Prefix of abbreviated keys, which apply to the signal chains of all pads."""


@dataclass(frozen=True)
class Axis:
    """A configuration key and the values to sweep."""

    name: str
    """The key as the user wrote it."""
    keys: tuple[str, ...]
    """Full configuration keys that the axis sets."""
    values: tuple[Any, ...]


def make_axes(name: str, given: Sequence[str]) -> tuple[Axis, ...]:
    """Parse the axes of a sweep's grid.

    Args:
        name: Shipped name or path of the configuration.
        given: Axes as strings, such as ``skin.thickness=0.001:0.005:5`` (start, end and number of values) or
            ``sensor.noise.std=0,0.01`` (a list). ``sensor.STAGE.PARAMETER`` sets the parameter in all
            entries of ``skin.sensor``, or in an entry ``*`` if there are none.

    Raises:
        TactileSimError: The configuration, an axis, a key or a value is invalid, or there are too many
            points.
    """
    settings = config.load(name)
    axes: list[Axis] = []
    for text in given:
        key, equals, values = text.partition("=")
        if not (key and equals and values):
            raise CommandError(f"--over: must be KEY=A:B:N or KEY=VALUE,VALUE,..., got {text!r}")
        keys = [key]
        if key.startswith(_SENSOR):
            keys = [f"skin.sensor.{pad}.{key.removeprefix(_SENSOR)}" for pad in settings.skin.sensor or ["*"]]
        if any(set(keys) & set(axis.keys) for axis in axes):
            raise CommandError(f"--over: {key} is given twice; list all of its values in one")
        axes.append(Axis(key, tuple(keys), _values(key, values)))
    if math.prod(len(axis.values) for axis in axes) > MOST_POINTS:
        sizes = " x ".join(str(len(axis.values)) for axis in axes)
        raise CommandError(f"--over: must be at most {MOST_POINTS} points, got {sizes}")
    first = {key: axis.values[0] for axis in axes for key in axis.keys}
    for axis in axes:
        for value in axis.values:
            try:
                config.load(name, changes=first | dict.fromkeys(axis.keys, value))
            except ConfigErrors:
                raise
            except ConfigError as error:
                raise CommandError(f"--over {axis.name}: {error}") from None
    return tuple(axes)


def _values(key: str, text: str) -> tuple[Any, ...]:
    """Parse a range ``A:B:N`` or a list of values with the syntax of configuration files."""
    parts: list[Any] = [scalar(part.strip()) for part in text.split(":")]
    if len(parts) == 2 and all(_is_number(part) for part in parts):
        raise CommandError(f"--over {key}: must have the number of values as in {text}:5, got {text!r}")
    if len(parts) == 3 and all(_is_number(part) for part in parts):
        start, end, count = parts
        if not (isinstance(count, int) and 2 <= count <= MOST_POINTS):
            raise CommandError(f"--over {key}: must have 2 to {MOST_POINTS} values, got {text!r}")
        if start == end:
            raise CommandError(f"--over {key}: must be different values, got {text!r}")
        values = np.linspace(start, end, count).tolist()
        whole = isinstance(start, int) and isinstance(end, int) and all(value % 1 == 0 for value in values)
        return tuple(int(value) if whole else _short(value) for value in values)
    values = [_value(key, part) for part in _COMMA.split(text)]
    if len(set(map(str, values))) < len(values):
        raise CommandError(f"--over {key}: must be different values, got {text!r}")
    return tuple(values)


def _value(key: str, text: str) -> Any:
    """Parse a value, or a list in brackets."""
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return [_value(key, part) for part in text[1:-1].split(",")]
    if not text:
        raise CommandError(f"--over {key}: must have a value before and after each comma, got none")
    return scalar(text)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _short(value: float) -> float:
    """Remove the rounding error of a value: 0.0030000000000000005 becomes 0.003."""
    return float(f"{value:.12g}")
