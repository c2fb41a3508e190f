"""Declare the keys ``feelers.BODY.*`` and match them with the bodies of a scene."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tactile_sim.config.files import find_file
from tactile_sim.config.topics import check_topics
from tactile_sim.errors import ConfigError
from tactile_sim.patterns import match
from tactile_sim.schema import SPACING, Flag, Number, Text, checks, parameter

if TYPE_CHECKING:
    from tactile_sim.config.settings import Settings
    from tactile_sim.names import Names


@dataclass(frozen=True)
class FeelerSettings:
    """Settings of the feelers on one body, whose positions are set by an image or are evenly spaced."""

    image: str | None = parameter(
        Text(filled=True),
        "image on the UV map of the body: white pixels are feelers of full length, grey ones are shorter, "
        "black pixels have none; a path relative to the configuration file or absolute, `package://` or "
        '`file://`; if several geoms have a map, one image for each: `"skin_{geom}.png"`, quoted',
        None,
    )
    spacing: float | None = parameter(
        SPACING, "without an image: distance between neighbouring feelers [m]", None
    )
    length: float = parameter(
        Number(above=0, most=1e6, unit="m", usual=(1e-3, 100.0)), "length of the longest feelers [m]", 0.1
    )
    white_only: bool | None = parameter(
        Flag(),
        "whether only white pixels of the image are feelers; by default true if the image has colours, false "
        "if it is grey",
        None,
    )
    tolerance: float = parameter(
        Number(least=0, most=1),
        "depth inside the body at which feelers begin, as a fraction of their length",
        0.2,
    )
    children: bool = parameter(
        Flag(), "whether bodies below this one in the kinematic tree cover its feelers", True
    )


FEELER = checks(FeelerSettings)
"""For each key of a body's feelers, the function that checks its value."""


def resolve_feelers(
    settings: Settings, names: Names, skin_bodies: Iterable[int]
) -> dict[int, tuple[str, FeelerSettings]]:
    """Return the feeler settings of each body that has feelers.

    Args:
        settings: Configuration with the table ``feelers``.
        names: Names of the scene's elements.
        skin_bodies: Ids of the bodies with skin.

    Returns:
        For each body id, in increasing order: a prefix for error messages (file and key), and the settings
        with absolute image paths.

    Raises:
        ConfigError: A body is unknown, a pattern matches nothing, an entry does not have exactly one of
            ``image`` and ``spacing``, or two bodies would share a topic.
        SceneError: The address of an image is invalid.
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
