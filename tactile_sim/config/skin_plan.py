"""Match the keys of the skin and of feelers with the bodies of a scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mujoco

from tactile_sim.config.feelers import FeelerSettings, resolve_feelers
from tactile_sim.config.layers import Values, resolve_layers
from tactile_sim.config.pads import resolve_pads
from tactile_sim.config.scales import resolve_scales
from tactile_sim.config.settings import Settings
from tactile_sim.errors import ErrorList
from tactile_sim.names import Names
from tactile_sim.skin.pads import PadPlan


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
    return SkinPlan(scales, pads, stages, *values, feelers)
