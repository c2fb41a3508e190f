"""Match the keys of the skin and of feelers with the bodies of a scene."""

from __future__ import annotations

import dataclasses
import fnmatch
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim import presets
from tactile_sim.common.errors import ConfigError, ErrorList, suggest
from tactile_sim.common.files import of_address, shipped_file
from tactile_sim.common.names import Names, is_pattern, match, topic_token
from tactile_sim.common.schema import checks
from tactile_sim.config.settings import FeelerSettings, PadSettings, Settings
from tactile_sim.engines.registry import engine_plugin
from tactile_sim.signal_chain.stage import ENABLED
from tactile_sim.skin.limits import check_count, colliding_areas
from tactile_sim.skin.pads import Layout, PadPlan, Region, grid, read_layout
from tactile_sim.skin.pads.flex import carrier
from tactile_sim.skin.pads.layout import facing, spacing_of
from tactile_sim.skin.pads.place import body_shapes, laid_on_surface
from tactile_sim.skin.state import ContactThresholds


def find_file(name: str, base: Path | None, where: str) -> Path:
    """Return the path of a file named in a configuration, without checking that the file exists."""
    shown = repr(name if len(name) <= 60 else f"{name[:60]}...")
    if not name.isprintable():
        raise ConfigError(f"{where}: {shown} has characters that are not printable; give the name of a file")
    try:
        path = of_address(name, f"{where}: ")
        if path.is_absolute():
            return path
        if base is not None and (base / path).is_file():
            return base / path
        shipped = shipped_file("scenes", name)
    except OSError as error:
        raise ConfigError(f"{where}: {shown}: {error.strerror}; give the name of a file") from None
    if shipped is not None:
        return shipped
    if base is None:
        raise ConfigError(
            f"{where}: {shown} is not shipped, and there is no base folder for a relative path;"
            " write an absolute path or package://PACKAGE/FILE"
        )
    return base / path


def check_topics(
    pads: Iterable[str],
    where: str,
    topic: str = "tactile",
    remedy: str = "rename one, or leave one without skin or feelers",
) -> None:
    """Check that names stay distinct after replacing the characters that topics do not allow."""
    taken: dict[str, str] = {}
    for pad in sorted(pads):
        token = topic_token(pad)
        if token in taken:
            raise ConfigError(
                f"{where}: {taken[token]!r} and {pad!r} would share the topic '{topic}/{token}'; {remedy}"
            )
        taken[token] = pad


def resolve_scales(settings: Settings, model: mujoco.MjModel, names: Names) -> dict[int, float]:
    """Return the taxel spacing [m] of the bodies that ``skin.scales`` covers, in order of body id.

    If neither ``skin.scales`` nor ``skin.pads`` is set, the default of the engine applies.
    """
    where = f"{settings.source}: skin.scales"
    default = engine_plugin(settings.engine).default_scales(settings.engine_settings)
    wanted = settings.skin.scales or ({} if settings.skin.pads else default)
    scales = match_scales(wanted, model, names, where)
    if not scales and not settings.skin.pads and settings.contacts == "skin" and not settings.feelers:
        example = f"{(_feeling(model, names) or ['BODY'])[0]}: 0.02"
        raise ConfigError(
            f"{where}: no body has a skin; give one its spacing in meters, such as 'scales: {{{example}}}',"
            " or set 'contacts: all' to run without a skin"
        )
    check_topics({*(names.bodies[body] for body in scales), *settings.skin.pads}, where)
    return dict(sorted(scales.items()))


def match_scales(
    scales: Mapping[str, float | None], model: mujoco.MjModel, names: Names, where: str
) -> dict[int, float]:
    """Return the spacing of taxels [m], keyed by body id, in the order of the matching entries.

    Args:
        scales: Spacings [m] by body name or pattern, see :func:`tactile_sim.config.match`. A pattern matches
            only bodies that can collide, and never the world. None excludes bodies.
        model: Compiled scene.
        names: Names of the scene's elements.
        where: Prefix for error messages (file and key).
    """
    can_feel = _feeling(model, names)
    for entry in (entry for entry in scales if is_pattern(entry) and entry not in names.bodies):
        matched = fnmatch.filter(names.bodies[1:], entry)
        if matched and scales[entry] is not None and not set(matched) & set(can_feel):
            raise ConfigError(
                f"{where}.{entry}: none of the bodies that match ({len(matched)}) has a geom that collides,"
                " which skin requires; set contype and conaffinity of their geoms in the scene"
            )
    matching = match(scales, names.bodies, where, "body", can_feel)
    chosen = {
        body: (entry, spacing) for body, entry in matching.items() if (spacing := scales[entry]) is not None
    }
    ids = {name: body for body, name in enumerate(names.bodies)}
    areas = colliding_areas(model)
    for body in chosen:
        if areas[ids[body]] == 0:
            raise ConfigError(
                f"{where}.{body}: the body {body!r} has no geom that collides, which skin requires"
                f"{suggest(body, can_feel)}"
            )
    check_count([(f"{where}.{entry}", areas[ids[body]], size) for body, (entry, size) in chosen.items()])
    entries = {entry: k for k, entry in enumerate(scales)}
    order = sorted(chosen, key=lambda body: (entries[chosen[body][0]], ids[body]))
    return {ids[body]: chosen[body][1] for body in order}


def _feeling(model: mujoco.MjModel, names: Names) -> list[str]:
    """Return the names of all bodies that can collide, except the world."""
    areas = colliding_areas(model)
    return [name for body, name in enumerate(names.bodies) if body and areas[body] > 0]


Values = float | dict[int, float]
"""Either one value for all bodies, or a dictionary of values keyed by body id."""


def resolve_layers(settings: Settings, names: Names, bodies: Iterable[int]) -> dict[str, Values]:
    """Return the properties of the skin's layer, as arguments of `Skin`."""
    ids = {names.bodies[body]: body for body in sorted(bodies)}
    errors, values = ErrorList(), {}
    for key in ("stiffness", "thickness", "poisson_ratio", "sensor_depth"):
        with errors.collect():
            values[key] = _by_id(getattr(settings.skin, key), ids, f"{settings.source}: skin.{key}")
    errors.check()
    return values


def _by_id(given: float | dict[str, float], ids: dict[str, int], where: str) -> Values:
    if not isinstance(given, dict):
        return given
    chosen = match(given, list(ids), where, "body with skin")
    return {ids[body]: given[entry] for body, entry in chosen.items()}


def resolve_states(settings: Settings, pads: Sequence[str]) -> dict[str, ContactThresholds]:
    """Return the thresholds of each pad in ``skin.state``, keyed by pad name."""
    where, table = f"{settings.source}: skin.state", settings.skin.state
    errors, thresholds, chosen = ErrorList(), {}, {}
    for pattern, keys in table.items():
        try:
            thresholds[pattern] = ContactThresholds(**keys)
        except ValueError as error:
            errors.add(ConfigError(f"{where}.{pattern}.{error}"))
    with errors.collect():
        chosen = match(table, pads, where, "pad")
    errors.check()
    return {pad: thresholds[entry] for pad, entry in chosen.items()}


_PAD = checks(PadSettings)
"""The check of each key of a pad, such as ``grid.rows``."""
_SOURCES = ("layout", "grid", "sites")


def checked(value: Any, key: str) -> Any:
    """Check and convert a value in a preset, or all values of a group such as ``grid``."""
    if isinstance(value, Mapping):
        return {leaf: checked(entry, f"{key}.{leaf}") for leaf, entry in value.items()}
    return _PAD[key](value)


def _pad_settings(given: Mapping[str, Any], where: str) -> PadSettings:
    """Build the settings of a pad from checked values."""
    values: dict[str, Any] = {}
    for field_name in PadSettings.__dataclass_fields__:
        key = PadSettings.key(field_name)
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
            plans.append(_plan(_pad_settings(merged, where), model, names, name, where, base))
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
        if pad.mirror:
            layout = layout.mirrored()
        position, turn = np.array(pad.position or (0.0, 0.0, 0.0)), pad.turn or 0.0
        rotation = None if pad.surface else np.eye(3)
        if pad.orientation is not None:
            rotation = Rotation.from_quat(pad.orientation).as_matrix()
        elif pad.outward is not None:
            rotation = facing(np.array(pad.outward), turn)
        if pad.surface:
            shapes = body_shapes(model, body) if body >= 0 else []
            if shapes:  # otherwise the checks below fail
                layout = laid_on_surface(shapes, layout, position, rotation, turn, where)
        elif rotation is not None:
            layout = layout.moved(position, rotation)
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
    """Return the ids, without duplicates, of elements whose names match one of the patterns."""
    found: dict[int, None] = {}
    for pattern in patterns:
        ids = [i for i, name in enumerate(known) if name == pattern or fnmatchcase(name, pattern)]
        if not ids:
            raise ConfigError(f"{where}: no {kind} of the scene matches {pattern!r}", near=(pattern, known))
        found |= dict.fromkeys(ids)
    return tuple(found)


def _one_body(bodies: np.ndarray, body: int, names: Names, kind: str, where: str) -> int:
    """Return the id of the body that all elements belong to."""
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


def resolve_feelers(
    settings: Settings, names: Names, skin_bodies: Iterable[int]
) -> dict[int, tuple[str, FeelerSettings]]:
    """Return the feeler settings of each body that has feelers.

    Returns:
        For each body id, in increasing order: a prefix for error messages (file and key), and the settings
        with absolute image paths.
    """
    where = f"{settings.source}: feelers"
    chosen = match(settings.feelers, names.bodies, where, "body", names.bodies[1:])
    made = {}
    for body, name in enumerate(names.bodies):
        if name not in chosen:
            continue
        place = f"{where}.{chosen[name]}"
        feelers = FeelerSettings(**settings.feelers[chosen[name]])
        if (feelers.image is None) == (feelers.spacing is None):
            have = "has both image and spacing" if feelers.image else "has neither image nor spacing"
            raise ConfigError(f"{place}: {have}; give one: image: map.png, or spacing: 0.01")
        if feelers.image is not None:
            image = str(find_file(feelers.image, settings.base, f"{place}.image"))
            feelers = dataclasses.replace(feelers, image=image)
        made[body] = (place, feelers)
    check_topics([names.bodies[body] for body in {*made, *skin_bodies}], where)
    return made


@dataclass
class SkinPlan:
    """What the keys ``skin.*`` and ``feelers.*`` mean for the bodies of a scene."""

    scales: dict[int, float]
    """Spacing [m] of the taxels on bodies that skin covers entirely, by body id."""
    pads: list[PadPlan]
    """Plans of the pads in ``skin.pads``."""
    stages: dict[str, dict[str, Any]]
    """The table ``skin.sensor`` with the stages of presets added."""
    layer: dict[str, Values]
    """Properties of the skin's layer, as arguments of `Skin`."""
    feelers: dict[int, tuple[str, FeelerSettings]]
    """For each body id, a prefix for error messages and the feelers."""


def skin_plan(settings: Settings, model: mujoco.MjModel, names: Names) -> SkinPlan:
    """Match the keys of the skin and of feelers with the bodies of a scene."""
    errors = ErrorList()
    scales = pads = values = feelers = None
    with errors.collect():
        scales = resolve_scales(settings, model, names)
    if scales is not None:
        with errors.collect():
            pads, stages = resolve_pads(settings, model, names, scales)
    if scales is not None and pads is not None:
        with errors.collect():
            values = resolve_layers(settings, names, {*scales, *(pad.body for pad in pads)})
    with errors.collect():
        feelers = resolve_feelers(settings, names, scales or ())
    errors.check()
    assert scales is not None and pads is not None and values is not None and feelers is not None
    return SkinPlan(scales, pads, stages, values, feelers)
