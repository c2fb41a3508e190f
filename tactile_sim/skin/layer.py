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
    """Scratch memory, reused for each pair of surfaces. The skin has n taxels and q quadrature points.

    Arrays with n entries or columns are allocated with q.
    """

    gap: np.ndarray
    """(n,) gap at each taxel in `Quadrature.taxels` [m]; reset to infinity after use."""
    low: np.ndarray
    """(n,) smallest gap of those neighbors of each taxel that may be pressed [m]; reset to infinity after
    use."""
    near: np.ndarray
    """(7, n) taxels near the other body, one per column. Rows: x, y, z and gap [m], cosine of the angle
    between the taxel's inward normal and the pair's normal, area [m2], and margin as in `quadrature.TAXEL`
    [m]."""
    points: np.ndarray
    """(5, q) points that may be pressed, one per column, grouped by taxel. Rows: x, y, z, gap [m] and
    projected area [m2]."""
    kept: np.ndarray
    """(5, q) those of ``points`` that are pressed or nearly pressed, with coordinates u and v of `press`."""
    sums: np.ndarray
    """(4, n) sum of area times depth over the points of each pressed taxel [m3], and the first moments of
    area times depth along the coordinates u, v and z of `press` [m4]."""
    taxel: np.ndarray
    """(n,) indices into `Quadrature.taxels` of the taxels in ``near``."""
    several: np.ndarray
    """(n,) columns in ``near`` of the taxels that may need several points."""
    touched: np.ndarray
    """(n,) indices in the skin of the taxels that any pair presses."""
    owner: np.ndarray
    """(q,) index in the skin of the taxel to which each point belongs."""
    kept_owner: np.ndarray
    """(q,) index in the skin of the taxel to which each point in ``kept`` belongs."""
    pressed: np.ndarray
    """(n,) indices in the skin of the taxels that the current pair presses."""
    geoms: np.ndarray
    """(2, g) id of each touching geom of the other body, and the index of one load from this geom."""
    poses: np.ndarray
    """(g, 12) positions [m] and rotations of the touching geoms in the frame of the pair."""
    triangles: tuple
    """Empty result of `bin_triangles`, for pairs without a mesh."""


NEAR, POINTS, KEPT, SUMS, ROWS = 2, 9, 14, 19, 23
"""Start rows of ``near``, ``points``, ``kept`` and ``sums`` in the first array of ``ElasticArrays.memory``,
and the total number of rows of that array."""
TOUCHED = 2
"""Row of ``touched`` in the second array of ``ElasticArrays.memory``."""


class ElasticArrays(NamedTuple):
    """All arrays that the kernels of `elastic_foundation` need for a skin in a scene."""

    taxel_index: TaxelIndex
    quad: Quadrature
    solids: Solids
    memory: tuple[np.ndarray, ...]
    """Memory of a `Layer` in four arrays. The rows of the first array are gap, low, near, points, kept and
    sums. The rows of the second are taxel, several, touched, owner, kept_owner and pressed. The other two are
    geoms and poses."""

    def twin(self, index: TaxelIndex) -> ElasticArrays:
        """Return a copy with another `TaxelIndex` and separate scratch memory, for another thread."""
        return self._replace(taxel_index=index, memory=tuple(part.copy() for part in self.memory))

    def table(self) -> np.ndarray:
        """Pack the arrays into a table for `unpack`. Keep the arrays alive while the table is in use."""
        return _pack([*self.taxel_index, *self.quad, *self.solids, *self.memory])


def elastic_arrays(skin: Taxels, model: mujoco.MjModel, index: TaxelIndex) -> ElasticArrays:
    """Create the arrays that `elastic_foundation` needs for a skin.

    Args:
        skin: The skin.
        model: The model.
        index: The skin's `TaxelIndex`.
    """
    quad = quadrature(skin)
    points, geoms = len(quad.points), model.ngeom
    numbers = np.empty((ROWS, points))
    numbers[:NEAR] = np.inf
    memory = (
        numbers,
        np.empty((6, points), np.int64),
        np.empty((2, geoms), np.int64),
        np.empty((geoms, 12)),
    )
    return ElasticArrays(index, quad, solids(model), memory)


_F, _I = np.float64, np.int64
_pack, _unpack = packing(
    (
        *((_F, 2), (_F, 2), (PATCH, 1), (_I, 1), (_I, 1), (_I, 1), (np.int32, 1), (_F, 1), (_F, 2), (_F, 2)),
        *((TAXEL, 1), (_I, 1), (_F, 2), (np.int32, 2), (NODE, 1), (_F, 2), (_I, 1)),
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
    numbers, indices, geoms, poses = arrays[20:]
    none = numbers[:0], indices[0, :0], indices[0, :0], numbers[0, :0]
    layer = Layer(
        numbers[0], numbers[1], numbers[NEAR:POINTS], numbers[POINTS:KEPT], numbers[KEPT:SUMS],
        numbers[SUMS:ROWS], indices[0], indices[1], indices[TOUCHED], indices[3], indices[4], indices[5],
        geoms, poses, none,
    )  # fmt: skip
    return arrays[:10], Quadrature(*arrays[10:17]), Solids(*arrays[17:20]), layer
