"""``skin.pads.NAME``: keys of a pad, and the pads of a scene that follow from them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from tactile_sim import presets
from tactile_sim.config.files import find_file
from tactile_sim.config.functions import RESPONSE_FUNCTION, SAMPLING, TOUCH_FUNCTION
from tactile_sim.config.scales import check_count, colliding_areas
from tactile_sim.errors import ConfigError, suggest
from tactile_sim.names import Names
from tactile_sim.patterns import match
from tactile_sim.schema import SLOWEST, SPACING, Check, Choice, Integer, Number, Numbers, Text, Texts

if TYPE_CHECKING:
    from tactile_sim.config.settings import Settings
    from tactile_sim.skin.pads import Layout, PadPlan


def _key(check: Check, doc: str, key: str = "") -> Any:
    return field(default=None, metadata={"check": check, "doc": doc, "key": key})


@dataclass(frozen=True)
class PadSettings:
    """One pad. Exactly one of `preset`, `layout`, `grid`, `sites` and `spacing` gives its taxels."""

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
        Numbers(SPACING, (2,)), "distance of columns along x and of rows along y [m]", "grid.pitch"
    )
    sites: tuple[str, ...] | None = _key(
        Texts(),
        "sites of the scene, names or shell patterns; z is the outward normal, x and y are the tangents",
    )
    spacing: float | None = _key(
        SPACING, "distance between evenly spaced taxels [m]; with another layout: edge of the cell of a taxel"
    )
    geoms: tuple[str, ...] | None = _key(
        Texts(), "with spacing: geoms to cover, names or shell patterns; default: all that collide"
    )
    flex: str | None = _key(
        Text(filled=True),
        "with spacing: name of the flex to cover; its body is the one that carries the flex",
    )
    normal: tuple[float, ...] | None = _key(
        Numbers(lengths=(3,)),
        "with spacing: direction of the covered part, in the body's frame",
        "region.normal",
    )
    within: float | None = _key(
        Number(above=0, most=180.0, unit="degrees"),
        "greatest angle between the normal of a taxel and that direction [degrees]; default 90",
        "region.within",
    )
    box: tuple[float, ...] | None = _key(
        Numbers(lengths=(6,)),
        "with spacing: opposite corners x y z x y z of the covered part, body frame [m]",
        "region.box",
    )
    position: tuple[float, ...] | None = _key(
        Numbers(lengths=(3,)),
        "origin of the pad on its body [m], for presets, layouts and grids; default 0 0 0",
    )
    orientation: tuple[float, ...] | None = _key(
        Numbers(lengths=(4,)),
        "orientation of the pad on its body, quaternion w x y z; default: that of the body",
    )
    rate: float | None = _key(
        Number(least=SLOWEST, unit="Hz"),
        "rate of the topics of the pad [Hz of simulation time], at most one message a step; default "
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
        "a load farther than one spacing from any taxel, or on the back of the pad, goes to the nearest "
        "taxel, or is left out; default nearest",
    )

    def __post_init__(self) -> None:
        """Check keys that depend on each other. Raises ValueError: the key, what is wrong."""
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
        for name in ("normal", "orientation"):
            value = getattr(self, name)
            if value is not None and np.linalg.norm(value) < 1e-6:
                raise ValueError(f"{_NAMES[name]}: must not be all zeros")


_NAMES = {key.name: key.metadata["key"] or key.name for key in dataclasses.fields(PadSettings)}
"""Key in a configuration by the name of the field."""
PAD: dict[str, Check] = {_NAMES[key.name]: key.metadata["check"] for key in dataclasses.fields(PadSettings)}
"""Check of each key."""
PAD_KEYS: dict[str, str] = {_NAMES[key.name]: key.metadata["doc"] for key in dataclasses.fields(PadSettings)}
"""Description of each key."""
_SOURCES = ("layout", "grid", "sites")


def resolve_pads(
    settings: Settings, model: mujoco.MjModel, names: Names, scales: Mapping[int, float]
) -> tuple[list[PadPlan], dict[str, dict[str, Any]]]:
    """Return the pads of ``skin.pads``, sorted by name, and their signal chains.

    Args:
        settings: The configuration.
        model: The scene.
        names: Names of its bodies, geoms and sites.
        scales: Spacing by id of the bodies that are covered as a whole.

    Returns:
        The pads, and ``skin.sensor`` extended by the stages of presets.

    Raises:
        ConfigError: A pad is invalid or does not fit the scene.
        SceneError: The address of a layout cannot be resolved.
    """
    plans, stages = [], {}
    whole = [names.bodies[body] for body in scales]
    # rcl sorts parameters, so the order in the file is not known everywhere.
    for name, given in sorted(settings.skin.pads.items()):
        where = f"{settings.source}: skin.pads.{name}"
        if name in whole:
            raise ConfigError(f"{where}: the body {name!r} is a pad already, by skin.scales; rename the pad")
        preset = presets.load(given["preset"], f"{where}.preset") if "preset" in given else None
        base = settings.base
        if preset:
            own = {key: value for key, value in given.items() if key != "preset"}
            kept = {key: _checked(value, key) for key, value in preset.pad.items()}
            if "grid" in own:
                own["grid"] = {**kept.get("grid", {}), **own["grid"]}
            if any(source in own for source in _SOURCES):
                kept = {key: value for key, value in kept.items() if key not in _SOURCES}
            elif "layout" in kept:
                base = presets.FOLDER
            if "rate" in kept and "rate" not in own:
                kept["rate"] = min(kept["rate"], 1 / model.opt.timestep)
            given = {**kept, **own}
            if preset.sensor:
                stages[name] = preset.sensor
        plans.append(_plan(_settings(given, where), model, names, name, where, base))
    _check_responses(plans, {body: names.bodies[body] for body in scales}, names)
    check_count(
        {
            plan.name: colliding_areas(model)[plan.body]
            for plan in plans
            if plan.layout is None and plan.flex < 0
        },
        {plan.name: plan.spacing for plan in plans},
        {plan.name: f"{plan.where}.spacing" for plan in plans},
    )
    sensor = settings.skin.sensor
    chosen = (
        match(sensor, [*whole, *settings.skin.pads], f"{settings.source}: skin.sensor", "pad")
        if sensor
        else {}
    )
    extended = {name: {**own, **sensor.get(chosen.get(name, ""), {})} for name, own in stages.items()}
    return plans, {**sensor, **extended}


def _check_responses(plans: Sequence[PadPlan], whole: Mapping[int, str], names: Names) -> None:
    """Check that the pads of a body, which share its loads, have the same response function."""
    first: dict[tuple[int, int], tuple[str, str | None]] = {
        (body, -1): (pad, None) for body, pad in whole.items()
    }
    for plan in plans:
        key = plan.body, plan.flex
        other, response = first.setdefault(key, (plan.name, plan.response_function))
        if plan.response_function != response:
            raise ConfigError(
                f"{plan.where}.response_function: must be the same for all pads of the body"
                f" {names.bodies[plan.body]!r}, because they share its loads, got"
                f" {plan.response_function or 'none'} beside {response or 'none'} of the pad {other!r}"
            )


def _checked(value: Any, key: str) -> Any:
    """Return a value of a preset, or a group of values, as the schema has it."""
    if isinstance(value, Mapping):
        return {leaf: _checked(entry, f"{key}.{leaf}") for leaf, entry in value.items()}
    return PAD[key](value)


def _settings(given: Mapping[str, Any], where: str) -> PadSettings:
    """Return checked settings of a pad from keys of one or two levels."""
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


def _plan(
    pad: PadSettings, model: mujoco.MjModel, names: Names, name: str, where: str, base: Path | None
) -> PadPlan:
    # Its kernels take a second to import, which help texts do without.
    from tactile_sim.skin.pads import PadPlan, Region, grid, read_layout
    from tactile_sim.skin.pads.flex import carrier

    body = _body(pad.body, names, where) if pad.body is not None else -1
    layout, region = None, None
    geoms: tuple[int, ...] = ()
    flex = -1
    if pad.sites is not None:
        body, layout = _of_sites(pad.sites, model, names, body, f"{where}.sites")
    elif pad.layout is not None or pad.rows is not None:
        if pad.layout is not None:
            layout = read_layout(find_file(pad.layout, base, f"{where}.layout"), f"{where}.layout")
        else:
            assert pad.columns and pad.pitch and pad.rows
            layout = grid(pad.rows, pad.columns, (pad.pitch[0], pad.pitch[1]))
        rotation = np.empty(9)
        quaternion = np.array(pad.orientation or (1.0, 0.0, 0.0, 0.0))
        mujoco.mju_quat2Mat(rotation, quaternion / np.linalg.norm(quaternion))
        layout = layout.moved(np.array(pad.position or (0.0, 0.0, 0.0)), rotation.reshape(3, 3))
    elif pad.flex is not None:
        flex = _flex(pad.flex, model, f"{where}.flex")
        body = carrier(model, flex)
    elif pad.geoms is not None:
        geoms = _matching(pad.geoms, names.geoms, "geom", f"{where}.geoms")
        body = _one_body(model.geom_bodyid[list(geoms)], body, names, "geoms", f"{where}.geoms")
    if body < 0:
        raise ConfigError(f"{where}.body: is missing; name the body that carries the pad")
    if flex < 0 and colliding_areas(model)[body] == 0:
        raise ConfigError(
            f"{where}: the body {names.bodies[body]!r} has no geom that collides, so it cannot feel"
        )
    if pad.normal is not None or pad.box is not None:
        region = Region(
            None if pad.normal is None else np.array(pad.normal),
            90.0 if pad.within is None else pad.within,
            None if pad.box is None else np.array(pad.box).reshape(2, 3),
        )
    if pad.rate is not None and pad.rate * model.opt.timestep > 1 + 1e-9:
        raise ConfigError(
            f"{where}.rate: must be at most {1 / model.opt.timestep:g} Hz, one message a step,"
            f" got {pad.rate:g}"
        )
    return PadPlan(
        name, body, where, pad.spacing or 0.0, layout, geoms, region, pad.outside == "ignore",
        pad.rate or 0.0, pad.touch_function, pad.response_function, pad.sampling, flex,
    )  # fmt: skip


def _body(name: str, names: Names, where: str) -> int:
    if name not in names.bodies:
        raise ConfigError(f"{where}.body: the scene has no body named {name!r}{suggest(name, names.bodies)}")
    return names.bodies.index(name)


def _flex(name: str, model: mujoco.MjModel, where: str) -> int:
    """Return the id of a flex with a surface."""
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_FLEX, k) or "" for k in range(model.nflex)]
    if name not in names:
        raise ConfigError(f"{where}: the scene has no flex named {name!r}{suggest(name, names)}")
    flex = names.index(name)
    if model.flex_dim[flex] == 1:
        raise ConfigError(f"{where}: must have triangles or tetrahedra (dim 2 or 3), got {name!r} with dim 1")
    return flex


def _matching(patterns: Sequence[str], known: Sequence[str], kind: str, where: str) -> tuple[int, ...]:
    """Return the ids of things whose names match, in the order of patterns, each once."""
    found: dict[int, None] = {}
    for pattern in patterns:
        ids = [i for i, name in enumerate(known) if name == pattern or fnmatchcase(name, pattern)]
        if not ids:
            raise ConfigError(f"{where}: no {kind} of the scene matches {pattern!r}{suggest(pattern, known)}")
        found |= dict.fromkeys(ids)
    return tuple(found)


def _one_body(bodies: np.ndarray, body: int, names: Names, kind: str, where: str) -> int:
    """Return the one body of things, which must be the declared one, if any."""
    others = sorted({int(other) for other in bodies} | ({body} if body >= 0 else set()))
    if len(others) > 1:
        listed = ", ".join(repr(names.bodies[other]) for other in others[:3])
        raise ConfigError(f"{where}: must be on one body, got {kind} on {listed}; make a pad for each body")
    return others[0]


def _of_sites(
    patterns: Sequence[str], model: mujoco.MjModel, names: Names, body: int, where: str
) -> tuple[int, Layout]:
    """Return the body of sites and the layout that they make."""
    from tactile_sim.skin.pads import Layout
    from tactile_sim.skin.pads.layout import spacing_of

    known = [model.site(i).name for i in range(model.nsite)]
    sites = np.array(_matching(patterns, known, "site", where))
    body = _one_body(model.site_bodyid[sites], body, names, "sites", where)
    axes = np.empty((len(sites), 9))
    for k, site in enumerate(sites):
        mujoco.mju_quat2Mat(axes[k], model.site_quat[site])
    positions, none = model.site_pos[sites].copy(), np.empty(0, np.uint32)
    return body, Layout(
        positions,
        axes.reshape(-1, 3, 3).transpose(0, 2, 1).copy(),
        np.arange(len(sites), dtype=np.uint32),
        none,
        none,
        spacing_of(positions),
    )
