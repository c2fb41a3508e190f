"""Bundles of feelers that stand side by side, each in a ball drawn along a line."""

from __future__ import annotations

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.feelers.tree import BEGIN, SKIP

RADIUS, LENGTH = 6, 7
"""Columns of a bundle, behind the start of its line and its unit direction, both in the body's frame [m]."""


@kernel(error_model="numpy")
def bundles(links, starts, tips):
    """(nodes, 8) the bundle of each node of a tree whose things are feelers (n, 3), in its order.

    What is further from the line than its radius touches none of them. Around feelers that stand askew this
    is much closer than a box.
    """
    out = np.zeros((len(links), 8))
    for node in range(len(links)):
        begin, after = links[node, BEGIN], links[node, SKIP]
        end = links[after, BEGIN] if after < len(links) else len(starts)
        for f in range(begin, end):
            for k in range(3):
                out[node, k] += starts[f, k] / (end - begin)
                out[node, 3 + k] += (tips[f, k] - starts[f, k]) / (end - begin)
        length = np.sqrt(out[node, 3] ** 2 + out[node, 4] ** 2 + out[node, 5] ** 2)
        for k in range(3, 6):
            out[node, k] /= max(length, 1e-12)
        out[node, LENGTH] = length
        square = 0.0
        for f in range(begin, end):
            square = max(square, from_line(out, node, starts[f, 0], starts[f, 1], starts[f, 2]))
            square = max(square, from_line(out, node, tips[f, 0], tips[f, 1], tips[f, 2]))
        out[node, RADIUS] = np.sqrt(square) * (1 + 1e-9)
    return out


@kernel(error_model="numpy")
def from_line(bundles, node, x, y, z):
    """The squared distance of a point from the line of a bundle [m²]."""
    x, y, z = x - bundles[node, 0], y - bundles[node, 1], z - bundles[node, 2]
    u, v, w = bundles[node, 3], bundles[node, 4], bundles[node, 5]
    along = min(max(x * u + y * v + z * w, 0.0), bundles[node, LENGTH])
    x, y, z = x - along * u, y - along * v, z - along * w
    return x * x + y * y + z * z
