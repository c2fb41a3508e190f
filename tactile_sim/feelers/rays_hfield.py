"""Where a ray meets a height field: exact, on the triangles that contacts are found with."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.feelers.rays import through_box


@kernel(error_model="numpy")
def first_in_hfield(x, y, z, u, v, w, size, heights, reach):
    """How far along a ray the ground begins [m]: 0 where it starts in it, infinity beyond reach.

    The ground is solid, from its base up to two triangles a cell, with upright walls at the edges.

    Args:
        x, y, z, u, v, w: start [m] and unit direction, in the geom's frame.
        size: as MuJoCo has it: half lengths along x and y, height, depth of the base [m].
        heights: (rows, columns) of the height.
        reach: [m]
    """
    middle = 0.5 * (size[2] - size[3])
    solid = (size[0], size[1], 0.5 * (size[2] + size[3]))
    enter, leave = through_box(x, y, z - middle, u, v, w, solid)
    at, end = max(enter, 0.0), min(leave, reach)
    if not at <= end:
        return np.inf
    rows, columns = heights.shape
    # In cells: the height is flat between whole columns, whole rows and the diagonals column - row.
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
    """The next whole number that a value passes after `at` at this rate, and the step to the one after."""
    now = value + at * rate
    if rate > 0.0:
        return np.floor(now) + 1.0, 1.0
    if rate < 0.0:
        return np.ceil(now) - 1.0, -1.0
    return 0.0, 0.0


@kernel(error_model="numpy")
def _height(heights, i, j):
    """At a column and a row, parts of cells included; each cell is cut from its first corner to its last."""
    column = min(max(int(i), 0), heights.shape[1] - 2)
    row = min(max(int(j), 0), heights.shape[0] - 2)
    i, j = i - column, j - row
    first, last = heights[row, column], heights[row + 1, column + 1]
    if i >= j:
        side = heights[row, column + 1]
        return first + i * (side - first) + j * (last - side)
    side = heights[row + 1, column]
    return first + j * (side - first) + i * (last - side)
