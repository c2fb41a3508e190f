"""Match the entries of ``skin.scales`` with bodies to find the spacing of their taxels."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from math import ceil, floor, log10
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from tactile_sim.config.topics import check_topics
from tactile_sim.errors import ConfigError, suggest
from tactile_sim.names import Names
from tactile_sim.patterns import match
from tactile_sim.registry import engine_plugin

if TYPE_CHECKING:
    from tactile_sim.config.settings import Settings

MOST_TAXELS = 1_000_000
FINEST = 1e-100
"""Smallest spacing used to count taxels [m]; the square of a smaller one could underflow."""


def resolve_scales(settings: Settings, model: mujoco.MjModel, names: Names) -> dict[int, float]:
    """Return the taxel spacing [m] of the bodies that ``skin.scales`` covers, in order of body id.

    If neither ``skin.scales`` nor ``skin.pads`` is set, the default of the engine applies.

    Args:
        settings: Configuration with the table ``skin.scales``.
        model: Compiled scene.
        names: Names of the scene's elements.

    Raises:
        ConfigError: A body is unknown, cannot collide or has too many taxels; no body has skin although only
            contacts on skin are published; or two bodies would share a topic.
    """
    where = f"{settings.source}: skin.scales"
    default = engine_plugin(settings.engine).default_scales(settings.engine_settings)
    wanted = settings.skin.scales or ({} if settings.skin.pads else default)
    scales = match_scales(wanted, model, names, where)
    if not scales and not settings.skin.pads and settings.contacts == "skin" and not settings.feelers:
        example = f"{(_feeling(model, names) or ['BODY'])[0]}: 0.02"
        raise ConfigError(
            f"{where}: no body has a skin; give one its spacing in metres, such as 'scales: {{{example}}}',"
            " or set 'contacts: all' to run without a skin"
        )
    check_topics({*(names.bodies[body] for body in scales), *settings.skin.pads}, where)
    return dict(sorted(scales.items()))


def match_scales(
    scales: Mapping[str, float], model: mujoco.MjModel, names: Names, where: str
) -> dict[int, float]:
    """Return the spacing of taxels [m] by body id, in the order of the matching entries.

    Args:
        scales: Spacings [m] by body name or pattern, see :func:`tactile_sim.config.match`. A pattern matches
            only bodies that can collide, and never the world.
        model: Compiled scene.
        names: Names of the scene's elements.
        where: Prefix for error messages (file and key).

    Raises:
        ConfigError: A body is unknown, a pattern matches nothing, a body has no geom that collides, or there
            are too many taxels.
    """
    can_feel = _feeling(model, names)
    for entry in scales:
        matched = [body for body in names.bodies[1:] if fnmatch.fnmatchcase(body, entry)]
        if matched and entry not in names.bodies and not set(matched) & set(can_feel):
            raise ConfigError(
                f"{where}.{entry}: none of the bodies that match ({len(matched)}) has a geom that collides,"
                " which skin requires; set contype and conaffinity of their geoms in the scene"
            )
    chosen = match(scales, names.bodies, where, "body", can_feel)
    ids = {name: body for body, name in enumerate(names.bodies)}
    areas = colliding_areas(model)
    for body in chosen:
        if areas[ids[body]] == 0:
            raise ConfigError(
                f"{where}.{body}: the body {body!r} has no geom that collides, which skin requires"
                f"{suggest(body, can_feel)}"
            )
    check_count(
        {body: areas[ids[body]] for body in chosen},
        {body: scales[entry] for body, entry in chosen.items()},
        {body: f"{where}.{entry}" for body, entry in chosen.items()},
    )
    entries = list(scales)
    order = sorted(chosen, key=lambda body: (entries.index(chosen[body]), ids[body]))
    return {ids[body]: scales[chosen[body]] for body in order}


def _feeling(model: mujoco.MjModel, names: Names) -> list[str]:
    """Return the names of all bodies that can collide, except the world."""
    areas = colliding_areas(model)
    return [name for body, name in enumerate(names.bodies) if body and areas[body] > 0]


def colliding_areas(model: mujoco.MjModel) -> np.ndarray:
    """Return the total surface area (nbody,) of each body's colliding geoms [m2], see `geom_areas`."""
    return np.bincount(model.geom_bodyid, geom_areas(model), minlength=model.nbody)


def geom_areas(model: mujoco.MjModel) -> np.ndarray:
    """Return the surface area (ngeom,) of each geom's bounding box [m2].

    This is an upper bound on the surface area of a convex geom. It is 0 for geoms that do not collide and
    almost 0 for planes.
    """
    x, y, z = np.where(model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE, 0.0, model.geom_aabb[:, 3:].T)
    collides = (model.geom_contype | model.geom_conaffinity) != 0
    collides[model.pair_geom1] = True
    collides[model.pair_geom2] = True
    return np.where(collides, np.maximum(8 * (x * y + y * z + z * x), np.finfo(float).tiny), 0.0)


def check_count(areas: Mapping[Any, float], spacings: Mapping[Any, float], places: Mapping[Any, str]) -> None:
    """Check that the total number of taxels is at most `MOST_TAXELS`.

    Args:
        areas: Surface area of each pad or body [m2].
        spacings: Taxel spacing of each pad or body [m].
        places: Prefix for error messages (file and key) for each pad or body.

    Raises:
        ConfigError: There are too many taxels. The message names the entry with the most taxels.
    """
    counts = {part: area / max(spacings[part], FINEST) ** 2 for part, area in areas.items()}
    total = sum(counts.values())
    if total <= MOST_TAXELS:
        return
    worst = max(counts, key=counts.__getitem__)
    spacing = spacings[worst]
    remedy = _rounded_up(max(spacing, FINEST) * (total / MOST_TAXELS) ** 0.5)
    raise ConfigError(
        f"{places[worst]}: must give at most {MOST_TAXELS:,} taxels in total, got about {total:.1e} with"
        f" a spacing of {spacing:g} m; make it {remedy:g} m or more"
    )


def _rounded_up(value: float) -> float:
    """Round up to two significant digits."""
    step = 10.0 ** (floor(log10(value)) - 1)
    return ceil(value / step) * step
