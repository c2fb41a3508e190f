"""Match the names in a configuration with the elements of its scene, and report all errors together."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import mujoco

from tactile_sim.config.feelers import FeelerSettings, resolve_feelers
from tactile_sim.config.layers import Values, resolve_layers
from tactile_sim.config.pads import resolve_pads
from tactile_sim.config.scales import resolve_scales
from tactile_sim.config.scene import configured_scene
from tactile_sim.config.settings import KEYS, RECORDS, TABLES, Settings
from tactile_sim.errors import ErrorList
from tactile_sim.names import Names
from tactile_sim.skin.pads import PadPlan

_SCENE = ("scene", "engine", "robots", "objects", "ground", "scene_options", "package_paths", "xacro")
"""Keys that determine which elements a scene has."""


@dataclass
class SkinPlan:
    """What the keys ``skin.*`` and ``feelers.*`` mean for the bodies of a scene."""

    scales: dict[int, float]
    """Spacing [m] of the taxels on bodies that skin covers entirely, by body id."""
    pads: list[PadPlan]
    """Plans of the pads in ``skin.pads``."""
    stages: dict[str, dict[str, Any]]
    """The table ``skin.sensor`` with the stages of presets added."""
    stiffness: Values
    """Stiffness [Pa] of the skin."""
    thickness: Values
    """Thickness [m] of the skin."""
    feelers: dict[int, tuple[str, FeelerSettings]]
    """For each body id, a prefix for error messages and the feelers."""


def skin_plan(settings: Settings, model: mujoco.MjModel, names: Names) -> SkinPlan:
    """Match the keys of the skin and of feelers with the bodies of a scene.

    Args:
        settings: Configuration.
        model: Compiled scene.
        names: Names of the scene's elements.

    Raises:
        ConfigError: A key does not fit the scene.
        ConfigErrors: Several keys do not fit the scene.
        SceneError: The address of a file cannot be resolved.
    """
    errors = ErrorList()
    plan = _plan(settings, model, names, errors)
    errors.check()
    assert plan is not None
    return plan


def add_scene_errors(settings: Settings, wrong: Collection[str], errors: ErrorList) -> None:
    """Add the errors in the scene and in names of its elements to those of invalid values.

    Checks whose result depends on an invalid value are skipped.

    Args:
        settings: Settings from `checked_mapping`, without the invalid values.
        wrong: Full names of the invalid keys.
        errors: List to which the errors are added.
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

    complete = not any(key.startswith("skin.pads") for key in wrong)
    sensor = settings.skin.sensor if complete and valid("skin.sensor") == settings.skin.sensor else {}
    settings = dataclasses.replace(
        settings,
        contacts="all",  # otherwise, a configuration whose skin is invalid would have too little skin
        skin=dataclasses.replace(settings.skin, pads=valid("skin.pads"), sensor=sensor),
        control=valid("control"),
        contact_sensors=valid("contact_sensors"),
        feelers=valid("feelers"),
    )
    with errors.collect():
        _, model = configured_scene(settings)
        _plan(settings, model, Names(model), errors, layers=complete)


def _plan(
    settings: Settings, model: mujoco.MjModel, names: Names, errors: ErrorList, layers: bool = True
) -> SkinPlan | None:
    """Return the plan, or None if it is incomplete because of errors, which are added to the list.

    Args:
        settings: Configuration.
        model: Compiled scene.
        names: Names of the scene's elements.
        errors: List to which the errors are added.
        layers: Whether to check the names in ``skin.stiffness`` and ``skin.thickness``.
    """
    scales = pads = values = feelers = None
    with errors.collect():
        scales = resolve_scales(settings, model, names)
    if scales is not None:
        with errors.collect():
            pads, stages = resolve_pads(settings, model, names, scales)
    if scales is not None and pads is not None and layers:
        with errors.collect():
            values = resolve_layers(settings, names, {*scales, *(pad.body for pad in pads)})
    with errors.collect():
        feelers = resolve_feelers(settings, names, scales or ())
    if scales is None or pads is None or values is None or feelers is None:
        return None
    return SkinPlan(scales, pads, stages, *values, feelers)
