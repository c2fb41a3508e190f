#!/usr/bin/env python3
"""Generate the worm's meshes and the feeler maps in scenes/assets: python tools/paint.py."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

ASSETS = Path(__file__).resolve().parent.parent / "scenes" / "assets"

FACE, BORDER = 20, 1
"""Edge length of the cube and width of the black border of each face [pixels]."""

AROUND, RINGS = 32, 24
"""Number of faces of a worm segment around its axis and along its outline."""
LENGTH, RADIUS, TIP = 0.2, 0.03, 0.018
"""Length of a segment, its largest radius, and its radius at the rounded tip [m]."""
MAP = (128, 160)
"""Width and height of a segment's map [pixels]."""
SPARSE, DENSE = 0.010, 0.003
"""Spacings of the feelers: in general, and at the tip [m]."""
DENSE_PART, BARE_PART = 0.06, 0.07
"""Lengths on the upper segment [m]: the tip, where feelers are dense, and the neck, which has none."""


def cube() -> np.ndarray:
    """Return the map of a cube, with a feeler in each pixel except at the borders of the unfolded faces."""
    image = np.zeros((3 * FACE, 4 * FACE), np.uint8)
    for row, column in ((1, 0), (1, 1), (1, 2), (1, 3), (0, 1), (2, 1)):
        face = image[row * FACE : (row + 1) * FACE, column * FACE : (column + 1) * FACE]
        face[BORDER:-BORDER, BORDER:-BORDER] = 255
    return image


def outline(upper_radius: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return height, radius and arc length (k,) along a segment's outline from pole to pole [m]."""
    quarter = np.linspace(0.0, np.pi / 2, 7)
    low = np.stack([RADIUS * (1 - np.cos(quarter)), RADIUS * np.sin(quarter)])
    high = np.stack([LENGTH - upper_radius * (1 - np.cos(quarter)), upper_radius * np.sin(quarter)])[:, ::-1]
    z, r = np.concatenate([low, high], axis=1)
    way = np.r_[0.0, np.cumsum(np.hypot(np.diff(z), np.diff(r)))]
    # Divide the straight part evenly; keep the vertices of the rounded ends.
    straight = np.linspace(way[6], way[7], RINGS - 12 + 1)[1:-1]
    steps = np.sort(np.r_[way, straight])
    return np.interp(steps, way, z), np.interp(steps, way, r), steps


def segment(upper_radius: float) -> str:
    """Return the OBJ text of a segment along z from its lower pole; u runs around it, v along its outline."""
    z, r, way = outline(upper_radius)
    lines = ["# A segment of the worm, made by tools/paint.py."]
    turn = 2 * np.pi * np.arange(AROUND) / AROUND
    lines.append(f"v 0 0 {z[0]:.6f}")
    for height, radius in zip(z[1:-1], r[1:-1], strict=True):
        lines += [f"v {radius * np.cos(a):.6f} {radius * np.sin(a):.6f} {height:.6f}" for a in turn]
    lines.append(f"v 0 0 {z[-1]:.6f}")
    rings = len(z) - 2
    for share in way[1:-1] / way[-1]:
        lines += [f"vt {u / AROUND:.6f} {share:.6f}" for u in range(AROUND + 1)]
    # At a pole, each face has a separate texture coordinate, in the middle of its side.
    lines += [f"vt {(u + 0.5) / AROUND:.6f} {v}" for v in (0, 1) for u in range(AROUND)]

    def corner(ring: int, step: int) -> str:
        return f"{2 + ring * AROUND + step % AROUND}/{1 + ring * (AROUND + 1) + step}"

    poles = 1 + rings * (AROUND + 1)
    for k in range(AROUND):
        lines.append(f"f 1/{poles + k} {corner(0, k + 1)} {corner(0, k)}")
        for ring in range(rings - 1):
            a, b = corner(ring, k), corner(ring, k + 1)
            c, d = corner(ring + 1, k + 1), corner(ring + 1, k)
            lines += [f"f {a} {b} {c}", f"f {a} {c} {d}"]
        lines.append(
            f"f {corner(rings - 1, k)} {corner(rings - 1, k + 1)} {2 + rings * AROUND}/{poles + AROUND + k}"
        )
    return "\n".join(lines) + "\n"


def worm(upper_radius: float, dense_part: float, bare_part: float) -> np.ndarray:
    """Return the feeler map of a segment: rings of white pixels, dense at the tip and sparse elsewhere."""
    _, r, way = outline(upper_radius)
    width, height = MAP
    image = np.zeros((height, width), np.uint8)
    up = (height - np.arange(height) - 0.5) / height * way[-1]
    last, ring = np.inf, 0
    for row, at in enumerate(up):
        spacing = DENSE if way[-1] - at < dense_part else SPARSE
        if last - at < spacing - 1e-9 or at < bare_part:
            continue
        last, ring = at, ring + 1
        number = max(3, round(2 * np.pi * np.interp(at, way, r) / spacing))
        steps = (np.arange(number) + (ring % 2) / 2) / number
        image[row, (steps * width).astype(int) % width] = 255
    return image


def main() -> None:
    """Write all assets."""
    ASSETS.mkdir(exist_ok=True)
    Image.fromarray(cube()).save(ASSETS / "touch_cube.png", optimize=True)
    for name, radius, *parts in (("lower", RADIUS, 0.0, 0.0), ("upper", TIP, DENSE_PART, BARE_PART)):
        (ASSETS / f"worm_{name}.obj").write_text(segment(radius), encoding="utf-8")
        Image.fromarray(worm(radius, *parts)).save(ASSETS / f"worm_{name}.png", optimize=True)


if __name__ == "__main__":
    main()
