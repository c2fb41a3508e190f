"""What the configuration says about a scene's bodies, joints and keyframes, matched against the model."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from math import ceil, floor, log10
from typing import TypeVar

import mujoco
import numpy as np

from tactile_sim.config.settings import Gains, Settings
from tactile_sim.errors import ConfigError, suggest
from tactile_sim.names import Names, topic_token

MOST_TAXELS = 1_000_000
_WORLD = 0
T = TypeVar("T")


def resolve_scales(settings: Settings, model: mujoco.MjModel, names: Names) -> dict[int, float]:
    """Spacing of the taxels [m] by body id, for the bodies that have a skin.

    An exact name wins over patterns; among patterns the one with the most literal characters does. Patterns mean bodies
    that can collide, and never the world.

    Raises:
        ConfigError: unknown body, pattern without a match, body without a colliding geom, no skin where contacts of skins
            are asked for, too many taxels, or two bodies with one topic name.
    """
    key, source = "skin.scales", settings.source
    areas = _colliding_areas(model)
    can_collide = [name for body, name in enumerate(names.bodies) if areas[body] > 0 and body != _WORLD]
    chosen = _match(settings.skin.scales, names.bodies, can_collide, "body", key, source)
    for body, (_, entry) in chosen.items():
        if areas[body] <= 0:
            raise ConfigError(
                f"{source}: {key}.{entry}: body {names.bodies[body]!r} has no geom that collides, so it cannot feel"
                f"{suggest(names.bodies[body], can_collide)}"
            )
    if not chosen and settings.contacts == "skin":
        raise ConfigError(
            f"{source}: {key}: no body has a skin; give a body its spacing in metres, e.g. 'skin: {{scales: {{"
            f"{(can_collide or ['BODY'])[0]}: 0.02}}}}', or set 'contacts: all' to run without a skin"
        )
    _check_count({body: spacing for body, (spacing, _) in chosen.items()}, areas, chosen, source)
    _check_topics([names.bodies[body] for body in sorted(chosen)], source)
    return {body: chosen[body][0] for body in sorted(chosen)}


def resolve_gains(settings: Settings, names: Names) -> dict[int, Gains]:
    """Gains by joint id, for the joints that have some. Matched as bodies are in :func:`resolve_scales`."""
    chosen = _match(settings.gains, names.joints, names.joints, "joint", "gains", settings.source)
    return {joint: chosen[joint][0] for joint in sorted(chosen)}


def resolve_keyframes(settings: Settings, names: Names) -> list[int]:
    """Ids of the keyframes of the built-in motion, in its order."""
    for name in settings.motion.keyframes:
        if name not in names.keyframes:
            raise ConfigError(
                f"{settings.source}: motion.keyframes: the scene has no keyframe named {name!r}"
                f"{suggest(name, names.keyframes)}"
            )
    return [names.keyframes.index(name) for name in settings.motion.keyframes]


def _match(
    table: Mapping[str, T], names: list[str], candidates: list[str], kind: str, key: str, source: str
) -> dict[int, tuple[T, str]]:
    """The entry for each thing that one stands for: id -> (value, entry's name). Patterns see ``candidates`` only."""
    chosen: dict[int, tuple[T, str]] = {}
    exact = {entry for entry in table if entry in names}
    patterns = [entry for entry in table if entry not in exact]
    for pattern in sorted(patterns, key=lambda entry: (_literals(entry), entry)):
        matches = [name for name in candidates if fnmatchcase(name, pattern)]
        if not matches and _literals(pattern) == len(pattern):
            raise ConfigError(f"{source}: {key}.{pattern}: the scene has no {kind} named {pattern!r}{suggest(pattern, names)}")
        if not matches:
            raise ConfigError(
                f"{source}: {key}.{pattern}: no {kind} matches the pattern {pattern!r}{suggest(pattern.strip('*'), candidates)}"
            )
        for name in matches:
            index = names.index(name)
            value, rival = chosen.get(index, (None, ""))
            if rival and value != table[pattern] and _literals(rival) == _literals(pattern) and name not in exact:
                raise ConfigError(
                    f"{source}: {key}: the patterns {rival!r} and {pattern!r} differ for the {kind} {name!r}; give its exact name"
                )
            chosen[index] = (table[pattern], pattern)
    for name in exact:
        chosen[names.index(name)] = (table[name], name)
    return chosen


def _literals(pattern: str) -> int:
    """How many characters of a shell pattern stand for themselves; all of them where it is a plain name."""
    plain, inside = 0, False
    for character in pattern:
        inside = character == "[" or (inside and character != "]")
        plain += not inside and character not in "*?]"
    return plain


def _colliding_areas(model: mujoco.MjModel) -> np.ndarray:
    """Upper estimate of each body's colliding surface [m2], (nbody,): of the boxes around its colliding geoms.

    A convex geom inside a box has no more surface than the box.
    """
    half = model.geom_aabb[:, 3:]
    surface = 8 * (half[:, 0] * half[:, 1] + half[:, 1] * half[:, 2] + half[:, 2] * half[:, 0])
    collides = (model.geom_contype | model.geom_conaffinity) != 0
    collides[model.pair_geom1] = True
    collides[model.pair_geom2] = True
    return np.bincount(model.geom_bodyid, np.where(collides, np.maximum(surface, 1e-12), 0), minlength=model.nbody)


def _check_count(
    spacings: dict[int, float], areas: np.ndarray, chosen: Mapping[int, tuple[float, str]], source: str
) -> None:
    counts = {body: max(1.0, areas[body] / spacing**2) for body, spacing in spacings.items()}
    total = sum(counts.values())
    if total <= MOST_TAXELS:
        return
    worst = max(counts, key=counts.__getitem__)
    spacing, entry = chosen[worst]
    remedy = _round_up(spacing * (total / MOST_TAXELS) ** 0.5)
    raise ConfigError(
        f"{source}: skin.scales.{entry}: {spacing:g} m makes too many taxels: about {total:.2g} in all, at most"
        f" {MOST_TAXELS:,}; {remedy:g} m would do"
    )


def _round_up(value: float) -> float:
    """Up to two significant digits."""
    step = 10.0 ** (floor(log10(value)) - 1)
    return float(f"{ceil(value / step) * step:.2g}")


def _check_topics(bodies: list[str], source: str) -> None:
    taken: dict[str, str] = {}
    for body in bodies:
        token = topic_token(body)
        if token in taken:
            raise ConfigError(
                f"{source}: skin.scales: the bodies {taken[token]!r} and {body!r} would share the topic 'tactile/{token}';"
                " rename one in the scene, or leave one without a skin"
            )
        taken[token] = body
