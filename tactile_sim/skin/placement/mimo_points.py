"""Points over primitives as MIMo's ``sensorpoints`` lays them, in its order: those of its DiscreteTouch.

Every function takes the distance between points [m] first, and returns positions (n, 3) [m] around the
origin, axes along z, and outward unit normals (n, 3); where two faces meet, the mean of theirs. A primitive
too small for the distance has one point at its centre, with the normal (0, 0, 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tactile_sim.errors import TactileSimError

Points = tuple[np.ndarray, np.ndarray]

FINEST = 1e4
"""A primitive this many times larger than the distance between its points has a mistake in the units."""


def checked(function: str, resolution: object, **sizes: object) -> list[Any]:
    """Arguments of a public function as floats; ``sizes`` and ``radii`` as arrays (3,).

    Raises TactileSimError unless the resolution is above 0 (infinite is allowed), a ``length`` is 0 or more
    and any other size above 0.
    """
    values: list[Any] = []
    for name, given in {"resolution": resolution, **sizes}.items():
        shape, wanted = ((3,), "three lengths") if name in ("sizes", "radii") else ((), "a length")
        try:
            value = np.array(given, float)
        except (TypeError, ValueError):
            value = np.array(np.nan)
        if not shape and value.size == 1:
            value = value.reshape(())
        least = "of 0 or more" if name == "length" else "above 0"
        enough = (value >= 0 if name == "length" else value > 0) & (
            np.isfinite(value) | (name == "resolution")
        )
        if value.shape != shape or not enough.all():
            shown = " ".join(repr(given).split())[:60]
            raise TactileSimError(f"{function}: {name} needs {wanted} {least} [m], but is {shown}")
        values.append(value if shape else float(value))
    largest = max(float(np.max(value)) for value in values[1:])
    if largest / values[0] > FINEST:
        raise TactileSimError(
            f"{function}: a resolution of {values[0]:g} m makes too many points on what is {largest:g} m "
            f"large; give {largest / FINEST:g} or more"
        )
    return values


def box(spacing: float, half: np.ndarray) -> Points:
    """Half edges (3,) [m]."""
    return centre() if spacing > half.max() else box_grid(spacing, half)[1:]


def sphere(spacing: float, radius: float) -> Points:
    """Rings of latitude, none at the poles."""
    return ellipsoid(spacing, np.full(3, radius))


def ellipsoid(spacing: float, radii: np.ndarray) -> Points:
    """A sphere of the largest of the radii (3,), then drawn in along the axes."""
    largest = float(radii.max())
    if spacing > largest:
        return centre()
    theta, count = sphere_rings(spacing, largest)
    unit, _ = rings(count, np.sin(theta), np.cos(theta), 0.0, 0.0)
    return unit * radii, _unit(unit / radii)


def pipe(spacing: float, length: float, radius: float) -> Points:
    """Rings along the side; the only one of a pipe without length is in the middle."""
    around = round_pipe(spacing, radius)
    if around == 0:
        return centre()
    height = pipe_heights(spacing, length)
    return rings(np.full(len(height), around), radius, height, 1.0, 0.0)


def cylinder(spacing: float, length: float, radius: float) -> Points:
    """A pipe, then rings on both caps from the middle outward, point by point below and above."""
    if round_pipe(spacing, radius) < 3 or math.ceil(length / spacing) < 2:
        return centre()
    side, radial = pipe(spacing, length, radius)
    radial[: round_pipe(spacing, radius), 2] = -1
    radial[-round_pipe(spacing, radius) :, 2] = 1
    # The outermost ring is the pipe's.
    radii = cap_radii(spacing, radius)[:-1]
    count = [1 if r == 0 else math.floor(2 * math.pi * r / spacing) for r in radii]
    above = rings(count, radii, length / 2, 0.0, 1.0, phase=0.5)
    cap, up = _both_ends(above, first=-1)
    return np.concatenate([side, cap]), _unit(np.concatenate([radial, up]))


def capsule(spacing: float, length: float, radius: float) -> Points:
    """A pipe, then rings on both hemispheres from the pole down to it, point by point above and below.

    length: of the pipe between the hemispheres.
    """
    if round_pipe(spacing, radius) < 3:
        return centre()
    side, radial = pipe(spacing, length, radius)
    number = round(math.pi * radius / (2 * spacing))
    theta = [i * math.pi / (2 * number) for i in range(number)]
    count = [max(1, round(2 * math.pi * math.sin(t) * radius / spacing)) for t in theta]
    sin, cos = np.sin(theta), np.cos(theta)
    above = rings(count, radius * sin, radius * cos + length / 2, sin, cos)
    cap, out = _both_ends(above, first=1)
    return np.concatenate([side, cap]), np.concatenate([radial, out])


def centre() -> Points:
    """What is too small has this."""
    return np.zeros((1, 3)), np.array([[0.0, 0.0, 1.0]])


def box_grid(spacing: float, half: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The place (n, 3) of each point in the grid of a box, its position and its normal.

    The faces along x come first, then what they leave of those along y, then of those along z.
    """
    last = np.maximum(2, np.ceil(2 * half / spacing).astype(np.int64)) - 1
    faces = []
    for axis in range(3):
        for end in (0, last[axis]):
            along = [np.arange(1, last[k]) if k < axis else np.arange(last[k] + 1) for k in range(3)]
            along[axis] = np.array([end])
            faces.append(np.stack(np.meshgrid(*along, indexing="ij"), axis=-1).reshape(-1, 3))
    ijk = np.concatenate(faces)
    axes = [np.linspace(-h, h, n + 1) for h, n in zip(half, last, strict=True)]
    positions = np.stack([axes[k][ijk[:, k]] for k in range(3)], axis=1)
    return ijk, positions, _unit((ijk == last) * 1.0 - (ijk == 0))


def sphere_rings(spacing: float, radius: float) -> tuple[np.ndarray, list[int]]:
    """Angles of the rings from the upper pole, and their numbers of points."""
    # Numbers of points are made of Python's floats, one by one: a last bit decides how they are rounded.
    number = math.ceil(math.pi * radius / spacing)
    theta = [(i + 0.5) * math.pi / number for i in range(number)]
    return np.array(theta), [round(2 * math.pi * math.sin(t) * radius / spacing) for t in theta]


def round_pipe(spacing: float, radius: float) -> int:
    """Points around a pipe."""
    return math.ceil(2 * math.pi * radius / spacing)


def pipe_heights(spacing: float, length: float) -> np.ndarray:
    """Of the rings of a pipe, from below [m]."""
    steps = math.ceil(length / spacing)
    return np.arange(steps + 1) * length / steps - length / 2 if steps else np.zeros(1)


def cap_radii(spacing: float, radius: float) -> np.ndarray:
    """Of the rings of a disc, from its middle to its rim [m]."""
    return np.linspace(0, radius, round(radius / spacing) + 1)


def rings(
    count: Sequence[int] | np.ndarray,
    radius: np.ndarray | float,
    height: np.ndarray | float,
    out: np.ndarray | float,
    up: np.ndarray | float,
    phase: float = 0.0,
) -> Points:
    """Points on k rings around the z axis, ring after ring.

    count (k,) of the points; radius and height [m], and the components of the normals outward and along z:
    (k,) or one for all. phase: azimuth of the first point of each ring, in steps from point to point.
    """
    count = np.asarray(count, np.int64)
    radius, height, out, up = (np.broadcast_to(value, count.shape) for value in (radius, height, out, up))
    ring = np.repeat(np.arange(len(count)), count)
    place = np.arange(len(ring)) - np.repeat(np.cumsum(count) - count, count)
    azimuth = 2 * np.pi * (place + phase) / count[ring]
    cos, sin = np.cos(azimuth), np.sin(azimuth)
    return (
        np.stack([radius[ring] * cos, radius[ring] * sin, height[ring]], axis=1),
        np.stack([out[ring] * cos, out[ring] * sin, up[ring]], axis=1),
    )


def _both_ends(upper: Points, first: int) -> Points:
    """Each point and its mirror image below, in turn; first: 1 where the upper one is, -1 the lower."""
    flips = np.array([[1.0, 1.0, first], [1.0, 1.0, -first]])
    positions, normals = ((values[:, None] * flips).reshape(-1, 3) for values in upper)
    return positions, normals


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
