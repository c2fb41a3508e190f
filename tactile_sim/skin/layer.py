"""Data used by the kernels of `elastic_foundation`, and their scratch memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import mujoco
import numpy as np

from tactile_sim.compilation import kernel, packing
from tactile_sim.geometry.solids import SOLID, Solids, solids
from tactile_sim.geometry.tree import NODE
from tactile_sim.skin.patches import PATCH, TaxelIndex
from tactile_sim.skin.quadrature import TAXEL, Quadrature, quadrature

if TYPE_CHECKING:
    from tactile_sim.skin.taxels import Taxels


class Layer(NamedTuple):
    """Scratch memory for a pair, of a skin with n taxels and q points."""

    gap: np.ndarray
    """(n,) gap at each taxel in the order of the quadrature [m]; reset to infinity after use."""
    near: np.ndarray
    """(7, n) x, y, z and gap [m] of taxels near a pair, cosine to the pair's normal, area and margin."""
    points: np.ndarray
    """(5, q) x, y, z, gap [m] and area [m2] of the points that may be pressed, grouped by taxel."""
    sums: np.ndarray
    """(4, n) area times depth of each pressed taxel [m3], and its first moments along u, v and z [m4]."""
    taxel: np.ndarray
    """(n,) taxels near a pair, in the order of the quadrature."""
    several: np.ndarray
    """(n,) indices of the taxels in ``near`` that may need several points."""
    touched: np.ndarray
    """(n,) taxels of the skin that any pair presses."""
    owner: np.ndarray
    """(q,) taxel of the skin that each point belongs to."""
    pressed: np.ndarray
    """(n,) taxels of the skin that a pair presses."""
    geoms: np.ndarray
    """(2, g) ids of the touching geoms of the other body, and the index of a load on each."""
    poses: np.ndarray
    """(g, 12) positions and rotations of these geoms in the frame of a pair."""
    triangles: tuple
    """Empty result of `bin_triangles`, for pairs without a mesh."""


NEAR, POINTS, SUMS, ROWS = 1, 8, 13, 17
"""Start rows of ``near``, ``points`` and ``sums`` in the first array of ``ElasticArrays.memory``, and the
number of its rows."""
TOUCHED = 2
"""Row of ``touched`` in the second array of ``ElasticArrays.memory``."""


class ElasticArrays(NamedTuple):
    """All arrays that the kernels of `elastic_foundation` need for a skin in a scene."""

    taxel_index: TaxelIndex
    quad: Quadrature
    solids: Solids
    memory: tuple[np.ndarray, ...]
    """Memory of a `Layer` in four arrays: one with the rows gap, near, points and sums, one with the rows
    taxel, several, touched, owner and pressed, and geoms and poses."""

    def twin(self, index: TaxelIndex) -> ElasticArrays:
        """Return a copy with another index and separate scratch memory, for another thread."""
        return self._replace(taxel_index=index, memory=tuple(part.copy() for part in self.memory))

    def table(self) -> np.ndarray:
        """Return a table of the arrays, for `unpack`. Keep the arrays alive while it is used."""
        return _pack([*self.taxel_index, *self.quad, *self.solids, *self.memory])


def elastic_arrays(skin: Taxels, model: mujoco.MjModel, index: TaxelIndex) -> ElasticArrays:
    """Create the arrays of a skin.

    Args:
        skin: The skin.
        model: The model.
        index: The index of the taxels.
    """
    quad = quadrature(skin)
    points, geoms = len(quad.points), model.ngeom
    numbers = np.empty((ROWS, points))
    numbers[0] = np.inf
    memory = (
        numbers,
        np.empty((5, points), np.int64),
        np.empty((2, geoms), np.int64),
        np.empty((geoms, 12)),
    )
    return ElasticArrays(index, quad, solids(model), memory)


_F, _I = np.float64, np.int64
_pack, _unpack = packing(
    (
        *((_F, 2), (_F, 2), (PATCH, 1), (_I, 1), (_I, 1), (_I, 1), (np.int32, 1), (_F, 1), (_F, 2), (_F, 2)),
        *((TAXEL, 1), (_I, 1), (_F, 2), (_I, 1), (NODE, 1), (_I, 1)),
        *((SOLID, 1), (_F, 3), (NODE, 1)),
        *((_F, 2), (_I, 2), (_I, 2), (_F, 2)),
    )
)


@kernel(inline="always")
def unpack(table):
    """Return the arrays of a table from ``ElasticArrays.table``.

    Returns:
        The fields of the `TaxelIndex` as a plain tuple, the `Quadrature`, the `Solids` and the `Layer`.
    """
    arrays = _unpack(table)
    numbers, indices, geoms, poses = arrays[19:]
    none = numbers[:0], indices[0, :0], indices[0, :0], numbers[0, :0]
    layer = Layer(
        numbers[0], numbers[NEAR:POINTS], numbers[POINTS:SUMS], numbers[SUMS:ROWS],
        indices[0], indices[1], indices[TOUCHED], indices[3], indices[4], geoms, poses, none,
    )  # fmt: skip
    return arrays[:10], Quadrature(*arrays[10:16]), Solids(*arrays[16:19]), layer
