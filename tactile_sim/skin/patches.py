"""Constants and types of the native search for taxels."""

from __future__ import annotations

import numpy as np

FACING = 0.3
"""A taxel faces away from a load if the cosine between its outward normal and the load's normal, which points
into the body, is at least this."""

PATCH = np.dtype(
    [
        ("start", np.int64),
        ("stop", np.int64),
        ("spacing", float),
        ("corner", float, 3),
        ("cell", float),
        ("shape", np.int64, 3),
        ("base", np.int64),
        ("limited", np.int64),
        ("modulus", float),
        ("thickness", float),
        ("depth", float),
        ("table", np.int64),
    ]
)
"""Structured dtype of a patch of skin.

The taxels of the patch have the indices [start, stop) in the skin; ``spacing`` is the maximum distance
between neighbors [m]. The patch's grid starts at ``corner`` [m] and has ``shape`` cells along the axes, with
edges of length ``cell`` [m]; ``base`` is the index of the first cell in ``cell_start`` of `_core.Skin`.
``limited`` is 1 if any taxel ignores loads outside, otherwise 0. The skin has the plane-strain ``modulus``
[Pa] and the ``thickness`` [m]; with `elastic_layer`, its taxels are at a ``depth`` [m], and ``table`` is the
index of its `layer_tables`.
"""
