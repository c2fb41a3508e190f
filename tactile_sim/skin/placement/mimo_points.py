"""Points on primitives at the positions of MIMo's ``sensorpoints``, in the same order.

These are the sensors of MIMo's DiscreteTouch. The first argument of each primitive's function is the
distance between points [m]. These functions return positions (n, 3) [m] around the origin, with axes along z,
and outward unit normals (n, 3), which are averaged over the adjacent faces at edges. A primitive too small
for the distance has one point at its center, with the normal (0, 0, 1).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tactile_sim.common.errors import TactileSimError

Points = tuple[np.ndarray, np.ndarray]

FINEST = 1e4
"""Maximum ratio of a primitive's size to its resolution; larger ratios indicate wrong units."""


def checked(function: str, resolution: object, **sizes: object) -> list[Any]:
    """Check and convert the arguments of a public function.

    Args:
        function: Name of the function, for error messages.
        resolution: Distance between points > 0 [m]; may be infinite.
        sizes: Further lengths [m]: ``sizes`` and ``radii`` (3,), ``length`` >= 0, all others > 0.

    Returns:
        The resolution and the sizes, in this order, as floats and arrays (3,).

    Raises:
        TactileSimError: An argument is invalid.
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
        least = ">= 0" if name == "length" else "> 0"
        enough = (value >= 0 if name == "length" else value > 0) & (
            np.isfinite(value) | (name == "resolution")
        )
        if value.shape != shape or not enough.all():
            shown = " ".join(repr(given).split())[:60]
            raise TactileSimError(f"{function}: {name}: must be {wanted} {least} m, got {shown}")
        values.append(value if shape else float(value))
    largest = max(float(np.max(value)) for value in values[1:])
    if largest / values[0] > FINEST:
        raise TactileSimError(
            f"{function}: resolution: too many points for a size of {largest:g} m, got {values[0]:g} m; "
            f"use {largest / FINEST:g} m or more"
        )
    return values


def box(spacing: float, half: np.ndarray) -> Points:
    """Return the points of a grid on each face of a box, with their normals.

    Args:
        spacing: Distance between points [m].
        half: Half lengths (3,) [m].
    """
    return center() if spacing > half.max() else box_grid(spacing, half)[1:]


def sphere(spacing: float, radius: float) -> Points:
    """Return points on rings of latitude of a sphere, without the poles, and their normals.

    Args:
        spacing: Distance between points [m].
        radius: Radius [m].
    """
    return ellipsoid(spacing, np.full(3, radius))


def ellipsoid(spacing: float, radii: np.ndarray) -> Points:
    """Return points on an ellipsoid, scaled from a sphere of its largest radius, and their normals.

    Args:
        spacing: Distance between points [m].
        radii: Radii (3,) [m].
    """
    largest = float(radii.max())
    if spacing > largest:
        return center()
    theta, count = sphere_rings(spacing, largest)
    unit, _ = rings(count, np.sin(theta), np.cos(theta), 0.0, 0.0)
    return unit * radii, _unit(unit / radii)


def pipe(spacing: float, length: float, radius: float) -> Points:
    """Return points on rings along a pipe, and their normals.

    Args:
        spacing: Distance between points [m].
        length: Length [m]; a pipe of length 0 has one ring in the middle.
        radius: Radius [m].
    """
    around = round_pipe(spacing, radius)
    if around == 0:
        return center()
    height = pipe_heights(spacing, length)
    return rings(np.full(len(height), around), radius, height, 1.0, 0.0)


def cylinder(spacing: float, length: float, radius: float) -> Points:
    """Return points on a cylinder and their normals.

    The points on the side come first, then the points on the caps, which are in rings from the center
    outward, alternating between the lower and upper cap.

    Args:
        spacing: Distance between points [m].
        length: Length [m].
        radius: Radius [m].
    """
    if round_pipe(spacing, radius) < 3 or math.ceil(length / spacing) < 2:
        return center()
    side, radial = pipe(spacing, length, radius)
    radial[: round_pipe(spacing, radius), 2] = -1
    radial[-round_pipe(spacing, radius) :, 2] = 1
    # The outermost ring belongs to the pipe.
    radii = cap_radii(spacing, radius)[:-1]
    count = [1 if r == 0 else math.floor(2 * math.pi * r / spacing) for r in radii]
    above = rings(count, radii, length / 2, 0.0, 1.0, phase=0.5)
    cap, up = _both_ends(above, first=-1)
    return np.concatenate([side, cap]), _unit(np.concatenate([radial, up]))


def capsule(spacing: float, length: float, radius: float) -> Points:
    """Return points on a capsule and their normals.

    The points on the side come first, then the points on the hemispheres, which are in rings from the pole,
    alternating between the upper and lower hemisphere.

    Args:
        spacing: Distance between points [m].
        length: Length of the cylinder between the hemispheres [m].
        radius: Radius [m].
    """
    if round_pipe(spacing, radius) < 3:
        return center()
    side, radial = pipe(spacing, length, radius)
    number = round(math.pi * radius / (2 * spacing))
    theta = [i * math.pi / (2 * number) for i in range(number)]
    count = [max(1, round(2 * math.pi * math.sin(t) * radius / spacing)) for t in theta]
    sin, cos = np.sin(theta), np.cos(theta)
    above = rings(count, radius * sin, radius * cos + length / 2, sin, cos)
    cap, out = _both_ends(above, first=1)
    return np.concatenate([side, cap]), np.concatenate([radial, out])


def center() -> Points:
    """Return the point (1, 3) and normal (1, 3) of a primitive that is too small for the distance."""
    return np.zeros((1, 3)), np.array([[0.0, 0.0, 1.0]])


def box_grid(spacing: float, half: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the grid index, position and normal (n, 3) of each point of a box.

    The points on the faces normal to x come first, then the remaining points on the faces normal to y, then
    the remaining points on the faces normal to z.
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
    """Return the polar angle of each ring of a sphere (k,) [rad], and the number of points on each.

    Args:
        spacing: Distance between points [m].
        radius: Radius [m].
    """
    # Computed with Python floats as in MIMo, since the last bit affects rounding.
    number = math.ceil(math.pi * radius / spacing)
    theta = [(i + 0.5) * math.pi / number for i in range(number)]
    return np.array(theta), [round(2 * math.pi * math.sin(t) * radius / spacing) for t in theta]


def round_pipe(spacing: float, radius: float) -> int:
    """Return the number of points around a pipe."""
    return math.ceil(2 * math.pi * radius / spacing)


def pipe_heights(spacing: float, length: float) -> np.ndarray:
    """Return the heights of a pipe's rings, lowest first [m]."""
    steps = math.ceil(length / spacing)
    return np.arange(steps + 1) * length / steps - length / 2 if steps else np.zeros(1)


def cap_radii(spacing: float, radius: float) -> np.ndarray:
    """Return the radii of the rings of a disc, from its center to its rim [m]."""
    return np.linspace(0, radius, round(radius / spacing) + 1)


def rings(
    count: Sequence[int] | np.ndarray,
    radius: np.ndarray | float,
    height: np.ndarray | float,
    out: np.ndarray | float,
    up: np.ndarray | float,
    phase: float = 0.0,
) -> Points:
    """Return points on k rings around the z axis, ring after ring.

    Args:
        count: Number of points (k,) of each ring.
        radius: Radius, (k,) or a scalar [m].
        height: Height, (k,) or a scalar [m].
        out: Radial component of the normals, (k,) or a scalar.
        up: Component of the normals along z, (k,) or a scalar.
        phase: Azimuth of each ring's first point, as a fraction of the angle between points.
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
    """Return points alternating with their mirror images.

    Args:
        upper: The points at the upper end.
        first: 1 to start with the upper end, -1 for the lower.
    """
    flips = np.array([[1.0, 1.0, first], [1.0, 1.0, -first]])
    positions, normals = ((values[:, None] * flips).reshape(-1, 3) for values in upper)
    return positions, normals


def _unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
