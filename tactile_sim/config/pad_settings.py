"""Declare the keys ``skin.pads.NAME.*`` of a pad."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tactile_sim.config.functions import RESPONSE_FUNCTION, SAMPLING, TOUCH_FUNCTION
from tactile_sim.errors import ConfigError
from tactile_sim.schema import SLOWEST, SPACING, Check, Choice, Integer, Number, Numbers, Text, Texts


def _key(check: Check, doc: str, key: str = "") -> Any:
    return field(default=None, metadata={"check": check, "doc": doc, "key": key})


@dataclass(frozen=True)
class PadSettings:
    """Settings of one pad; None means that a key was not specified.

    The taxels come from at most one of `layout`, a grid (`rows`, `columns`, `pitch`) and `sites`, or else
    from `spacing`. The keys of a preset must already be merged into these fields.
    """

    body: str | None = _key(Text(filled=True), "name of the body that carries the pad")
    preset: str | None = _key(
        Text(filled=True),
        "name of a shipped sensor, see `tactile_sim presets`; other keys override those of the preset",
    )
    layout: str | None = _key(
        Text(filled=True),
        "file with the taxels: .csv, .npz or .yaml; a path relative to the configuration file or absolute, "
        "`package://` or `file://`",
    )
    rows: int | None = _key(Integer(1, 1000), "number of rows, along the pad's y axis", "grid.rows")
    columns: int | None = _key(Integer(1, 1000), "number of columns, along the pad's x axis", "grid.columns")
    pitch: tuple[float, ...] | None = _key(
        Numbers(SPACING, (2,)), "distance between columns along x and between rows along y [m]", "grid.pitch"
    )
    sites: tuple[str, ...] | None = _key(
        Texts(),
        "sites of the scene, names or shell patterns; z is the outward normal, x and y are the tangents",
    )
    spacing: float | None = _key(
        SPACING,
        "distance between evenly spaced taxels [m]; with another source of taxels: edge of a taxel's cell",
    )
    geoms: tuple[str, ...] | None = _key(
        Texts(), "with spacing: geoms to cover, names or shell patterns; default: all that collide"
    )
    flex: str | None = _key(
        Text(filled=True),
        "with spacing: name of the flex to cover; the pad's body is the one that carries the flex",
    )
    normal: tuple[float, ...] | None = _key(
        Numbers(lengths=(3,)),
        "with spacing: direction that the covered part of the surface faces, in the body's frame",
        "region.normal",
    )
    within: float | None = _key(
        Number(above=0, most=180.0, unit="degrees"),
        "maximum angle between the normal of a taxel and `region.normal` [degrees]; default 90",
        "region.within",
    )
    box: tuple[float, ...] | None = _key(
        Numbers(lengths=(6,)),
        "with spacing: opposite corners x y z x y z of a box around the covered part, body frame [m]",
        "region.box",
    )
    position: tuple[float, ...] | None = _key(
        Numbers(lengths=(3,)),
        "origin of the pad on its body [m], for presets, layouts and grids; default 0 0 0",
    )
    orientation: tuple[float, ...] | None = _key(
        Numbers(lengths=(4,)),
        "orientation of the pad on its body, quaternion x y z w; default: that of the body",
    )
    rate: float | None = _key(
        Number(least=SLOWEST, unit="Hz"),
        "rate of the topics of the pad [Hz of simulation time], at most one message per step; default "
        "`rates.tactile`",
    )
    touch_function: str | None = _key(
        TOUCH_FUNCTION, "quantity that taxels measure; default `skin.touch_function`"
    )
    response_function: str | None = _key(
        RESPONSE_FUNCTION,
        "distribution of a load over taxels, the same for all pads of a body; default "
        "`skin.response_function`",
    )
    sampling: str | None = _key(
        SAMPLING, "value published for the interval between two messages; default `skin.sampling`"
    )
    outside: str | None = _key(
        Choice(("nearest", "ignore")),
        "what happens to a load farther than one spacing from any taxel, or on the back of the pad: the "
        "nearest taxel receives it (`nearest`), or it is left out (`ignore`); default nearest",
    )

    def __post_init__(self) -> None:
        """Check that the specified keys do not contradict each other.

        Raises:
            ValueError: Keys contradict each other. The message starts with a key.
        """
        grid = (self.rows, self.columns, self.pitch)
        if any(value is not None for value in grid) and None in grid:
            raise ValueError("grid: must have rows, columns and pitch")
        given = [name for name in ("layout", "rows", "sites") if getattr(self, name) is not None]
        if len(given) > 1:
            first, second = ("grid" if name == "rows" else name for name in given[:2])
            raise ValueError(f"{second}: the pad has a {first} already; remove one")
        if not given and self.spacing is None:
            raise ValueError("has no taxels; give one of preset, layout, grid, sites or spacing")
        for name in ("geoms", "flex", "normal", "within", "box"):
            if given and getattr(self, name) is not None:
                raise ValueError(
                    f"{_NAMES[name]}: requires evenly spaced taxels; remove it or the {given[0]}"
                )
        for name in ("body", "geoms"):
            if self.flex is not None and getattr(self, name) is not None:
                raise ValueError(f"{name}: must not be given with a flex; remove it")
        if self.within is not None and self.normal is None:
            raise ValueError("region.within: requires region.normal")
        for name in ("position", "orientation"):
            if getattr(self, name) is not None and not (self.layout or self.rows):
                raise ValueError(f"{name}: requires a preset, layout or grid; remove it")
        for name, example in (("normal", [0.0, 0.0, 1.0]), ("orientation", [0.0, 0.0, 0.0, 1.0])):
            value = getattr(self, name)
            if value is not None and np.linalg.norm(value) < 1e-6:
                raise ValueError(
                    f"{_NAMES[name]}: must not be 0, got {list(value)}; write it as in {example}"
                )


_NAMES = {key.name: key.metadata["key"] or key.name for key in dataclasses.fields(PadSettings)}
"""Key in the configuration, such as ``grid.rows``, for each field name."""
PAD: dict[str, Check] = {_NAMES[key.name]: key.metadata["check"] for key in dataclasses.fields(PadSettings)}
"""For each key of a pad, the function that checks its value."""
PAD_KEYS: dict[str, str] = {_NAMES[key.name]: key.metadata["doc"] for key in dataclasses.fields(PadSettings)}
"""For each key of a pad, its description."""


def checked(value: Any, key: str) -> Any:
    """Check and convert a value in a preset, or all values of a group such as ``grid``.

    Args:
        value: Value of the key. For a group, a mapping from the keys in the group to their values.
        key: Key in `PAD`, such as ``grid.rows``, or the name of a group.
    """
    if isinstance(value, Mapping):
        return {leaf: checked(entry, f"{key}.{leaf}") for leaf, entry in value.items()}
    return PAD[key](value)


def pad_settings(given: Mapping[str, Any], where: str) -> PadSettings:
    """Build the settings of a pad from checked values.

    Args:
        given: Checked values by key. The values of a group such as ``grid`` are in a nested mapping.
        where: Prefix for error messages (file and key).

    Raises:
        ConfigError: Keys contradict each other, or a required key is missing.
    """
    values: dict[str, Any] = {}
    for field_name, key in _NAMES.items():
        group, _, leaf = key.rpartition(".")
        source = given.get(group, {}) if group else given
        if leaf in source:
            values[field_name] = source[leaf]
    try:
        return PadSettings(**values)
    except ValueError as error:
        text = str(error)
        key, colon, rest = text.partition(": ")
        raise ConfigError(f"{where}.{key}: {rest}" if colon else f"{where}: {text}") from None
