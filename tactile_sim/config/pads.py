"""Convert the entries of ``skin.pads`` to plans for the pads of a scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from tactile_sim import presets
from tactile_sim.config.files import find_file
from tactile_sim.config.pad_settings import PadSettings, checked, pad_settings
from tactile_sim.errors import ConfigError, ErrorList
from tactile_sim.frames import to_wxyz
from tactile_sim.names import Names
from tactile_sim.patterns import match
from tactile_sim.signal_chain.stage import ENABLED
from tactile_sim.skin.limits import colliding_areas
from tactile_sim.skin.pads import Layout, PadPlan, Region, grid, read_layout
from tactile_sim.skin.pads.flex import carrier
from tactile_sim.skin.pads.layout import spacing_of

if TYPE_CHECKING:
    from tactile_sim.config.settings import Settings


_SOURCES = ("layout", "grid", "sites")


def resolve_pads(
    settings: Settings, model: mujoco.MjModel, names: Names, scales: Mapping[int, float]
) -> tuple[list[PadPlan], dict[str, dict[str, Any]]]:
    """Return the plans of the pads in ``skin.pads``, sorted by name, and the signal chains.

    Args:
        settings: Configuration with the tables ``skin.pads`` and ``skin.sensor``.
        model: Compiled scene.
        names: Names of the scene's elements.
        scales: Taxel spacing [m] of the bodies that skin covers entirely, keyed by body id.

    Returns:
        Plans of the pads, and the table ``skin.sensor`` with the stages of presets added.

    Raises:
        ConfigError: A pad is invalid or does not fit the scene.
        ConfigErrors: Several pads are invalid.
        SceneError: The address of a layout cannot be resolved.
    """
    plans: list[PadPlan] = []
    stages: dict[str, dict[str, Any]] = {}
    whole = [names.bodies[body] for body in scales]
    # rcl sorts parameters, so a node does not know their order in the file.
    errors = ErrorList()
    for name, given in sorted(settings.skin.pads.items()):
        where = f"{settings.source}: skin.pads.{name}"
        with errors.collect():
            if name in whole:
                raise ConfigError(
                    f"{where}: skin.scales already defines a pad {name!r}; rename this one, or exclude the"
                    f" body with 'scales: {{{name}: null}}'"
                )
            preset = presets.load(given["preset"], f"{where}.preset") if "preset" in given else None
            merged, base = (given, settings.base)
            if preset:
                merged, base = _merged(given, preset, settings.base, 1 / model.opt.timestep)
                if preset.sensor:
                    stages[name] = preset.sensor
            plans.append(_plan(pad_settings(merged, where), model, names, name, where, base))
    errors.check()
    _check_responses(plans, {body: names.bodies[body] for body in scales}, names)
    sensor = settings.skin.sensor
    chosen = (
        match(sensor, [*whole, *settings.skin.pads], f"{settings.source}: skin.sensor", "pad")
        if sensor
        else {}
    )
    extended = {name: _extended(own, sensor.get(chosen.get(name, ""), {})) for name, own in stages.items()}
    return plans, {**sensor, **extended}


def _merged(
    given: Mapping[str, Any], preset: presets.Preset, base: Path | None, steps_per_second: float
) -> tuple[dict[str, Any], Path | None]:
    """Merge the keys of a pad with those of its preset.

    The configured keys take precedence. If they contain a source of taxels other than a grid, that of the
    preset is ignored; the keys of a grid replace those of the preset's grid one by one.

    Args:
        given: Configured keys of the pad.
        preset: Preset of the pad.
        base: Folder of the configuration.
        steps_per_second: Upper limit for the rate of the preset [Hz].

    Returns:
        The keys, and the folder to which the path of the layout refers.
    """
    own = {key: value for key, value in given.items() if key != "preset"}
    kept = {key: checked(value, key) for key, value in preset.pad.items()}
    if "grid" in own:
        own["grid"] = {**kept.get("grid", {}), **own["grid"]}
    if any(source in own for source in _SOURCES):
        kept = {key: value for key, value in kept.items() if key not in _SOURCES}
    elif "layout" in kept:
        base = presets.FOLDER
    if "rate" in kept and "rate" not in own:
        kept["rate"] = min(kept["rate"], steps_per_second)
    return {**kept, **own}, base


def _extended(preset: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the stages of a preset with those of the configuration, which take precedence.

    A configured stage replaces the preset's stage, but if its only key is ``enabled``, it just switches the
    preset's stage on or off.
    """
    switched = {
        stage: {**preset[stage], **own}
        for stage, own in given.items()
        if stage in preset and set(own) == {ENABLED}
    }
    return {**preset, **given, **switched}


def _check_responses(plans: Sequence[PadPlan], whole: Mapping[int, str], names: Names) -> None:
    """Check that all pads of a body have the same response function, because they share its loads."""
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
                f" {plan.response_function or 'none'}, and {response or 'none'} for the pad {other!r}"
            )


def _plan(
    pad: PadSettings, model: mujoco.MjModel, names: Names, name: str, where: str, base: Path | None
) -> PadPlan:
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
        quaternion = np.array(pad.orientation or (0.0, 0.0, 0.0, 1.0))
        mujoco.mju_quat2Mat(rotation, to_wxyz(quaternion / np.linalg.norm(quaternion)))
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
            f"{where}: the body {names.bodies[body]!r} has no geom that collides, which a pad requires"
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
        raise ConfigError(f"{where}.body: the scene has no body named {name!r}", near=(name, names.bodies))
    return names.bodies.index(name)


def _flex(name: str, model: mujoco.MjModel, where: str) -> int:
    """Return the id of the flex with this name, which must have triangles or tetrahedra."""
    names = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_FLEX, k) or "" for k in range(model.nflex)]
    if name not in names:
        raise ConfigError(f"{where}: the scene has no flex named {name!r}", near=(name, names))
    flex = names.index(name)
    if model.flex_dim[flex] == 1:
        raise ConfigError(f"{where}: must have triangles or tetrahedra (dim 2 or 3), got {name!r} with dim 1")
    return flex


def _matching(patterns: Sequence[str], known: Sequence[str], kind: str, where: str) -> tuple[int, ...]:
    """Return the ids, without duplicates, of elements whose names match one of the patterns.

    Raises:
        ConfigError: A pattern matches no element.
    """
    found: dict[int, None] = {}
    for pattern in patterns:
        ids = [i for i, name in enumerate(known) if name == pattern or fnmatchcase(name, pattern)]
        if not ids:
            raise ConfigError(f"{where}: no {kind} of the scene matches {pattern!r}", near=(pattern, known))
        found |= dict.fromkeys(ids)
    return tuple(found)


def _one_body(bodies: np.ndarray, body: int, names: Names, kind: str, where: str) -> int:
    """Return the id of the body that all elements belong to.

    Args:
        bodies: Body id of each element.
        body: Id of the body required by the configuration; negative if it requires none.
        names: Names of the scene's elements.
        kind: Kind of the elements, for the error message.
        where: Prefix for the error message (file and key).

    Raises:
        ConfigError: The elements belong to several bodies or to another body.
    """
    others = sorted({int(other) for other in bodies} | ({body} if body >= 0 else set()))
    if len(others) > 1:
        listed = ", ".join(repr(names.bodies[other]) for other in others[:3])
        raise ConfigError(f"{where}: must be on one body, got {kind} on {listed}; make a pad for each body")
    return others[0]


def _of_sites(
    patterns: Sequence[str], model: mujoco.MjModel, names: Names, body: int, where: str
) -> tuple[int, Layout]:
    """Return the id of the body to which sites belong, and a layout with a taxel at each site."""
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
