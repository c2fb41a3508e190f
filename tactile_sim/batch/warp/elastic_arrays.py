"""Data of the kernels of `elastic_foundation`: quadrature points, geoms of the scene, working memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from warp import float64 as real

from tactile_sim.skin import Skin

MEMORY = 2**18
"""Working memory on a GPU per environment [bytes]; it limits the number of threads."""


@wp.struct
class Cell:
    """Taxel with fields of `quadrature.TAXEL`; ``id`` is its index in the skin."""

    position: wp.vec3d
    normal: wp.vec3d
    area: real
    margin: real
    id: int
    begin: int


@wp.struct
class Node:
    """Node of a tree of boxes, with the fields of `geometry.solids.NODE`."""

    center: wp.vec3d
    half: wp.vec3d
    first: int
    last: int
    skip: int


@wp.struct
class Solid:
    """Geom with the fields of `solids.SOLID`, and its pose in the frame of its body."""

    kind: int
    size: wp.vec3d
    center: wp.vec3d
    half: wp.vec3d
    nodes: wp.vec2i
    position: wp.vec3d
    rotation: wp.mat33d


@wp.struct
class Load:
    """Load on a patch of skin, in the frame of the patch's body, with fields of `skin.loads.LOAD`."""

    contact: int
    """Twice the index of the contact, plus 1 if the patch is on the contact's second geom."""
    group: int
    """Number of the load's pair; -1 if it is spread linearly, `kernels.OUTSIDE` if no taxel receives it."""
    other: int
    other_body: int
    other_patch: int
    point: wp.vec3d
    normal: wp.vec3d
    force: wp.vec3d
    torque: wp.vec3d
    other_position: wp.vec3d
    other_rotation: wp.mat33d


@wp.struct
class Pose:
    """Pose of a geom in a `Pair`'s frame, and a box in the geom's frame that selects triangles to test."""

    geom: int
    load: int
    position: wp.vec3d
    rotation: wp.mat33d
    center: wp.vec3d
    half: wp.vec3d


@wp.struct
class Layer:
    """The elastic layer of a skin; see `quadrature.Quadrature` and `solids.Solids`.

    The arrays from ``loads`` on are per-thread working memory for one patch. Their last axis is the
    thread (``lane`` in the functions), so that adjacent GPU threads access adjacent memory.

    First axis of ``near``: x, y, z and gap [m] of a taxel, cosine of the angle between its inward normal and
    the pair's normal, area [m2] and margin as in `quadrature.TAXEL`. Of ``points``: x, y, z, gap [m] and
    projected area [m2]. Of ``sums``: sum of area times depth [m3], and its first moments along u, v and z
    [m4].
    """

    modulus: wp.array[real]
    """Plane-strain modulus of each patch [Pa]."""
    thickness: wp.array[real]
    """Thickness of the layer of each patch [m]."""
    cells: wp.array[Cell]
    place: wp.array[int]
    own: wp.array2d[real]
    beside: wp.array2d[int]
    nodes: wp.array[Node]
    roots: wp.array[int]
    solids: wp.array[Solid]
    corners: wp.array2d[wp.vec3d]
    mesh_nodes: wp.array[Node]
    loads: wp.array2d[Load]
    poses: wp.array2d[Pose]
    gap: wp.array2d[real]
    near: wp.array3d[real]
    points: wp.array3d[real]
    sums: wp.array3d[real]
    taxel: wp.array2d[int]
    several: wp.array2d[int]
    owner: wp.array2d[int]
    pressed: wp.array2d[int]


def layer_of(skin: Skin, num_envs: int) -> Any:
    """Copy the elastic layer of a skin to the current device, and allocate its working memory.

    Only the memory for loads is not allocated; see `fit_loads`.
    """
    quad, solids, layer = skin.quadrature, skin.solids, Layer()
    layer.modulus = wp.array(skin.patch_stiffness, dtype=real)
    layer.thickness = wp.array(skin.patch_thickness, dtype=real)
    layer.cells = structs(Cell, _with_vectors(quad.taxels, position="xyz", normal=("nx", "ny", "nz")))
    layer.place = wp.array(quad.place, dtype=int)
    layer.own = wp.array(quad.points, dtype=real)
    layer.beside = wp.array(quad.beside, dtype=int)
    layer.roots = wp.array(quad.roots, dtype=int)
    layer.nodes, layer.mesh_nodes = (
        structs(Node, _with_vectors(nodes, center="xyz", half=("hx", "hy", "hz")))
        for nodes in (quad.nodes, solids.nodes)
    )
    geoms = skin._geoms[: len(solids.table)]
    layer.solids = structs(Solid, solids.table, position=geoms["position"], rotation=geoms["rotation"])
    layer.corners = wp.array(solids.corners, dtype=wp.vec3d)

    taxels, points = _largest_patch(skin)
    lanes = thread_count(skin, num_envs, wp.get_device())
    layer.gap = wp.full((taxels, lanes), np.inf, dtype=real)
    layer.near = wp.empty((7, taxels, lanes), dtype=real)
    layer.points = wp.empty((5, points, lanes), dtype=real)
    layer.sums = wp.empty((4, taxels, lanes), dtype=real)
    layer.taxel, layer.several, layer.pressed = (wp.empty((taxels, lanes), dtype=int) for _ in range(3))
    layer.owner = wp.empty((points, lanes), dtype=int)
    return layer


def thread_count(skin: Skin, num_envs: int, device: Any) -> int:
    """Return the number of threads, each with its own working memory.

    It is 1 on the CPU, where Warp runs the threads of a kernel one after another.
    """
    taxels, points = _largest_patch(skin)
    each = 8 * (13 * taxels + 6 * points)
    return max(1, min(num_envs * len(skin.patch_ids), num_envs * MEMORY // each)) if device.is_cuda else 1


def _largest_patch(skin: Skin) -> tuple[int, int]:
    """Return the most taxels and the most quadrature points that a patch of the skin has, at least 1 each."""
    begin = skin.quadrature.taxels["begin"][skin.patch_offsets]
    taxels, points = (int(np.diff(ends).max(initial=1)) for ends in (skin.patch_offsets, begin))
    return taxels, points


def fit_loads(layer: Any, contacts: int) -> None:
    """Allocate working memory for up to ``contacts`` loads on a patch in each thread."""
    if layer.loads is None or layer.loads.shape[0] != contacts:
        shape, device = (contacts, layer.gap.shape[1]), layer.gap.device
        layer.loads = wp.empty(shape, dtype=Load, device=device)
        layer.poses = wp.empty(shape, dtype=Pose, device=device)


def _with_vectors(table: np.ndarray, **vectors: Any) -> dict[str, np.ndarray]:
    """Return the columns of a structured array by name, and vectors (n, 3) combined from three columns each.

    The keywords are the names of the vectors, and their values the names of the three columns.
    """
    columns = {name: table[name] for name in table.dtype.names or ()}
    made = {name: np.stack([table[part] for part in parts], axis=-1) for name, parts in vectors.items()}
    return columns | made


def structs(kind: Any, table: Any, **more: np.ndarray) -> Any:
    """Copy a table to the current device as an array of Warp structs.

    Args:
        kind: Class of the Warp structs.
        table: Structured array or mapping with the fields of the struct.
        **more: Columns by name; they replace those of the table and add fields that it lacks.
    """
    count = len(table) if isinstance(table, np.ndarray) else len(next(iter(table.values())))
    rows = np.zeros(count, kind.numpy_dtype())
    for name in rows.dtype.names or ():
        rows[name] = more[name] if name in more else table[name]
    return wp.array(rows, dtype=kind)
