"""Find all errors and implausible values of a configuration, to report them together."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NoReturn

import mujoco

from tactile_sim.common.errors import ErrorList, TactileSimError
from tactile_sim.common.names import Names, match
from tactile_sim.common.schema import implausible
from tactile_sim.config.elements import check_joints, check_keyframes, check_pad_names, resolve_cameras
from tactile_sim.config.scene import configured_scene
from tactile_sim.config.settings import KEYS, RECORDS, TABLES, Settings
from tactile_sim.config.skin import (
    resolve_feelers,
    resolve_layers,
    resolve_pads,
    resolve_scales,
    resolve_states,
)
from tactile_sim.scenes.drives import SCALAR
from tactile_sim.signal_chain.stages import make_stages

_SCENE = ("scene", "engine", "robots", "objects", "ground", "scene_options", "package_paths", "xacro")
"""Keys that determine which elements a scene has."""
_ADDED: tuple[dict[str, Any], ...] = ({}, {"contact_sensors": {}}, {"contact_sensors": {}, "control": {}})
"""Changes that leave out the elements that are added to a scene, without which it may compile."""


def add_scene_errors(settings: Settings, wrong: Collection[str], errors: ErrorList) -> None:
    """Add the errors in the scene and in names of its elements to those of invalid values.

    Checks whose result depends on an invalid value are skipped.
    """
    groups = {name.partition(".")[0] for name in wrong}
    known = {name.partition(".")[0] for name in (*KEYS, *TABLES, *RECORDS)}
    groups |= {found for name in groups - known for found in get_close_matches(name, _SCENE, n=1)}
    if groups & {*_SCENE, settings.engine}:
        return

    def valid(table: str) -> dict[str, Any]:
        """Return the groups of a table, without those that have an invalid key."""
        entries = operator.attrgetter(table)(settings).items()
        return {
            name: entry
            for name, entry in entries
            if not any(key.startswith(f"{table}.{name}.") for key in wrong)
        }

    declared = settings.skin.pads
    settings = dataclasses.replace(
        settings,
        contacts="all",  # otherwise, a configuration whose skin is invalid would have too little skin
        skin=dataclasses.replace(settings.skin, pads=valid("skin.pads"), state=valid("skin.state")),
        control=valid("control"),
        contact_sensors=valid("contact_sensors"),
        feelers=valid("feelers"),
        cameras=valid("cameras"),
    )
    model = _model(settings, errors)
    if model is None:
        return
    names = Names(model)
    complete = not any(key.startswith(("skin.pads", "skin.sensor")) for key in wrong)
    _add_skin_errors(settings, model, names, errors, None if complete else declared)
    with errors.collect():
        check_keyframes(settings, names)
    with errors.collect():
        resolve_cameras(settings, model, names)
    with errors.collect():
        check_joints(settings, [names.joints[j] for j in range(model.njnt) if model.jnt_type[j] in SCALAR])


def raise_all(settings: Settings, error: TactileSimError) -> NoReturn:
    """Raise the error that prevents a simulation, together with all other errors in its configuration."""
    errors = ErrorList()
    errors.add(error)
    add_scene_errors(settings, (), errors)
    errors.check()
    raise error


def _model(settings: Settings, errors: ErrorList) -> mujoco.MjModel | None:
    """Return the compiled scene, if necessary without sensors and actuators, or None if it is invalid.

    Errors are added to the list.
    """
    for change in _ADDED:
        try:
            return configured_scene(dataclasses.replace(settings, **change))[1]
        except TactileSimError as error:
            errors.add(error)
    return None


def _add_skin_errors(
    settings: Settings,
    model: mujoco.MjModel,
    names: Names,
    errors: ErrorList,
    declared: Collection[str] | None,
) -> None:
    """Add the errors of the keys ``skin.*`` and ``feelers.*``, and of the pads in ``hardware.pads``.

    ``declared`` lists all pads in ``skin.pads`` if some of them or their stages have invalid keys.
    """
    scales = plans = None
    whole = dataclasses.replace(settings, skin=dataclasses.replace(settings.skin, sensor={}))
    with errors.collect():
        scales = resolve_scales(settings, model, names)
    with errors.collect():
        plans, _ = resolve_pads(whole, model, names, scales or {})
    with errors.collect():
        resolve_feelers(settings, names, scales or ())
    if scales is not None and plans is not None and declared is None:
        pads = [*(names.bodies[body] for body in scales), *settings.skin.pads]
        bodies = {*scales, *(plan.body for plan in plans)}
        with errors.collect():
            _, stages = resolve_pads(settings, model, names, scales)
            make_stages(stages, pads, f"{settings.source}: skin.sensor")
    else:  # some pads are unknown: accept all names that they can have
        pads = [*names.bodies[1:], *(settings.skin.pads if declared is None else declared)]
        bodies = set(range(1, model.nbody))
        with errors.collect():
            match(settings.skin.sensor, pads, f"{settings.source}: skin.sensor", "pad")
    with errors.collect():
        resolve_layers(settings, names, bodies)
    with errors.collect():
        resolve_states(settings, pads)
    with errors.collect():
        check_pad_names(settings.hardware, pads, settings.source)


def implausible_values(settings: Settings) -> Iterator[str]:
    """Yield a line for each value outside of the usual range that the declaration of its key states."""
    for name, check, value in _values(settings):
        if value is not None and (reason := implausible(check, value)):
            yield f"{name}: {reason}"


def _values(settings: Settings) -> Iterator[tuple[str, Any, Any]]:
    """Yield the full name, the check and the value of each key."""
    keys = settings.keys
    for name, value in settings.parameters().items():
        yield name, keys[name].check, value
    for table, check in TABLES.items():
        values = operator.attrgetter(table)(settings)
        if isinstance(values, Mapping):
            yield from ((f"{table}.{name}", check, value) for name, value in values.items())
    for record, checks in RECORDS.items():
        for name, group in operator.attrgetter(record)(settings).items():
            for key, value in _leaves(group):
                yield f"{record}.{name}.{key}", checks[key], value


def _leaves(group: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in group.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{leaf}", inner) for leaf, inner in value.items())
        else:
            yield key, value


def swapped_quaternions(settings: Settings) -> Iterator[str]:
    """Yield a warning for each orientation that would be no rotation in the order w x y z."""
    tables = {"skin.pads": settings.skin.pads, "robots": settings.robots, "objects": settings.objects}
    for table, entries in tables.items():
        for name, keys in entries.items():
            given = keys.get("orientation", ())
            if len(given) == 4 and abs(given[0]) > 1e-6 and max(map(abs, given[1:])) <= 1e-6:
                yield (
                    f"{table}.{name}.orientation: {list(given)} is half a turn about x, because the order is"
                    " x, y, z, w; no rotation is [0.0, 0.0, 0.0, 1.0]"
                )
