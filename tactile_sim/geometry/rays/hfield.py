"""Intersect a ray with a height field, using the same triangles as MuJoCo's collision detection."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.geometry.rays.primitives import intersect_box


@kernel(error_model="numpy")
def hit_hfield(x, y, z, u, v, w, size, heights, reach):
    """Return the distance along a ray to the first point inside a height field [m].

    The field is solid from its base up to its surface, which consists of two triangles per cell. Its sides
    are vertical.

    Args:
        x: x component of the ray's origin in the geom's frame [m].
        y: y component of the origin [m].
        z: z component of the origin [m].
        u: x component of the ray's unit direction.
        v: y component of the direction.
        w: z component of the direction.
        size: Sizes as in MuJoCo's hfield_size: half lengths along x and y, height, depth of the base [m].
        heights: (rows, columns) elevations as fractions of the height.
        reach: Largest distance of interest [m].

    Returns:
        The distance, which is 0 if the ray starts inside, and infinite without a hit within reach.
    """
    middle = 0.5 * (size[2] - size[3])
    solid = (size[0], size[1], 0.5 * (size[2] + size[3]))
    enter, leave = intersect_box(x, y, z - middle, u, v, w, solid)
    at, end = max(enter, 0.0), min(leave, reach)
    if not at <= end:
        return np.inf
    rows, columns = heights.shape
    # In units of cells, the surface is flat between integer values of column, row and column - row.
    i, di = (x + size[0]) * (columns - 1) / (2 * size[0]), u * (columns - 1) / (2 * size[0])
    j, dj = (y + size[1]) * (rows - 1) / (2 * size[1]), v * (rows - 1) / (2 * size[1])
    above = z + at * w - size[2] * _height(heights, i + at * di, j + at * dj)
    if above <= 0.0:
        return at
    column, column_step = _next(i, di, at)
    row, row_step = _next(j, dj, at)
    diagonal, diagonal_step = _next(i - j, di - dj, at)
    while at < end:
        stop = end
        by_column = (column - i) / di if column_step else np.inf
        by_row = (row - j) / dj if row_step else np.inf
        by_diagonal = (diagonal - i + j) / (di - dj) if diagonal_step else np.inf
        if by_column <= stop:
            stop = by_column
        if by_row <= stop:
            stop = by_row
        if by_diagonal <= stop:
            stop = by_diagonal
        column += column_step if by_column == stop else 0.0
        row += row_step if by_row == stop else 0.0
        diagonal += diagonal_step if by_diagonal == stop else 0.0
        height = z + stop * w - size[2] * _height(heights, i + stop * di, j + stop * dj)
        if height <= 0.0:
            return at + (stop - at) * above / (above - height)
        at, above = stop, height
    return np.inf


@kernel(error_model="numpy")
def _next(value, rate, at):
    """Return the next integer that ``value + at * rate`` reaches as ``at`` grows, and the step (1, -1 or 0).

    Both results are 0 if ``rate`` is 0.
    """
    now = value + at * rate
    if rate > 0.0:
        return np.floor(now) + 1.0, 1.0
    if rate < 0.0:
        return np.ceil(now) - 1.0, -1.0
    return 0.0, 0.0


@kernel(error_model="numpy")
def _height(heights, i, j):
    """Return the elevation of a height field's surface, as a fraction of the field's height.

    Each cell is divided along the diagonal from its first to its last corner.

    Args:
        heights: (rows, columns) elevations at the grid points, from 0 to 1.
        i: Fractional column, from 0 to columns - 1.
        j: Fractional row, from 0 to rows - 1.
    """
    column = min(max(int(i), 0), heights.shape[1] - 2)
    row = min(max(int(j), 0), heights.shape[0] - 2)
    i, j = i - column, j - row
    first, last = heights[row, column], heights[row + 1, column + 1]
    if i >= j:
        side = heights[row, column + 1]
        return first + i * (side - first) + j * (last - side)
    side = heights[row + 1, column]
    return first + j * (side - first) + i * (last - side)
