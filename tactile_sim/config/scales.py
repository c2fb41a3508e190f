"""Match the entries of ``skin.scales`` with bodies to find the spacing of their taxels."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping
from typing import TYPE_CHECKING

import mujoco

from tactile_sim.config.topics import check_topics
from tactile_sim.errors import ConfigError, suggest
from tactile_sim.names import Names
from tactile_sim.patterns import match
from tactile_sim.registry import engine_plugin
from tactile_sim.skin.limits import check_count, colliding_areas

if TYPE_CHECKING:
    from tactile_sim.config.settings import Settings


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
    scales: Mapping[str, float | None], model: mujoco.MjModel, names: Names, where: str
) -> dict[int, float]:
    """Return the spacing of taxels [m], keyed by body id, in the order of the matching entries.

    Args:
        scales: Spacings [m] by body name or pattern, see :func:`tactile_sim.config.match`. A pattern matches
            only bodies that can collide, and never the world. None excludes bodies.
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
        if (
            matched
            and scales[entry] is not None
            and entry not in names.bodies
            and not set(matched) & set(can_feel)
        ):
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
