"""Match the entries of ``skin.stiffness`` and ``skin.thickness`` with the bodies that have skin."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tactile_sim.errors import ErrorList
from tactile_sim.names import Names
from tactile_sim.patterns import match

if TYPE_CHECKING:
    from tactile_sim.config.settings import Settings

Values = float | dict[int, float]
"""Either one value for all bodies, or a dictionary of values keyed by body id."""


def resolve_layers(settings: Settings, names: Names, bodies: Iterable[int]) -> tuple[Values, Values]:
    """Return stiffness [Pa] and thickness [m] of the skin, as arguments of `Skin`.

    Args:
        settings: Configuration with the keys ``skin.stiffness`` and ``skin.thickness``.
        names: Names of the scene's elements.
        bodies: Ids of the bodies with skin.

    Raises:
        ConfigError: An entry names a body without skin, or a pattern matches no body with skin.
        ConfigErrors: There are several such entries.
    """
    ids = {names.bodies[body]: body for body in sorted(bodies)}
    errors, values = ErrorList(), []
    for key, given in (("stiffness", settings.skin.stiffness), ("thickness", settings.skin.thickness)):
        with errors.collect():
            values.append(_by_id(given, ids, f"{settings.source}: skin.{key}"))
    errors.check()
    return values[0], values[1]


def _by_id(given: float | dict[str, float], ids: dict[str, int], where: str) -> Values:
    if not isinstance(given, dict):
        return given
    chosen = match(given, list(ids), where, "body with skin")
    return {ids[body]: given[entry] for body, entry in chosen.items()}
