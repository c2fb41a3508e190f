"""Find meshes with holes and pads with inward normals, which are valid but probably unintended."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np

from tactile_sim.common.names import Names
from tactile_sim.common.text import shortened
from tactile_sim.geometry.solids import hole_area, mesh_triangles
from tactile_sim.skin.limits import geom_areas
from tactile_sim.skin.placement.shapes import Shape
from tactile_sim.skin.taxels import Taxels

_HOLES = 1e-3
"""Area of holes that is negligible, as a fraction of the area of a mesh's triangles."""
_STEP = 1e-4
"""Distance from the surface at which a normal is compared with the body's surface [m]."""


def open_meshes(model: mujoco.MjModel) -> Iterator[str]:
    """Yield a warning if colliding meshes have holes.

    Contacts use the convex hull, which is closed, but `elastic_foundation` measures gaps to the triangles.
    """
    collides = (model.geom_type == mujoco.mjtGeom.mjGEOM_MESH) & (geom_areas(model) > 0.0)
    holes = {mesh: _open_area(model, mesh) for mesh in set(model.geom_dataid[collides].tolist())}
    geoms = [geom for geom in np.flatnonzero(collides).tolist() if holes[model.geom_dataid[geom]]]
    if geoms:
        geoms.sort(key=lambda geom: -holes[model.geom_dataid[geom]])
        names, largest = Names(model), holes[model.geom_dataid[geoms[0]]]
        yield (
            f"meshes have holes of up to {largest * 1e4:.3g} cm², near which elastic_foundation returns wrong"
            f" pressures; close the meshes of {shortened([names.geoms[geom] for geom in geoms])}"
        )


def _open_area(model: mujoco.MjModel, mesh: int) -> float:
    """Return the total area of a mesh's holes [m2]; 0 if it is negligible."""
    corners = mesh_triangles(model, mesh)
    sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area, hole = 0.5 * float(np.linalg.norm(sides, axis=1).sum()), hole_area(corners)
    return hole if hole > _HOLES * area else 0.0


def inward_pads(model: mujoco.MjModel, skin: Taxels) -> Iterator[str]:
    """Yield a warning for each pad with normals that point into its body."""
    names = Names(model)
    for pad in skin.pads:
        if pad.flex >= 0 or not len(pad.geom_ids):
            continue
        shapes = [Shape.of_geom(model, geom) for geom in pad.geom_ids.tolist()]
        points, normals = skin.surface_positions[pad.start : pad.stop], skin.normals[pad.start : pad.stop]
        below, above = (
            np.max([shape.depth(points + side * normals) for shape in shapes], axis=0)
            for side in (-_STEP, _STEP)
        )
        inward = int((above - below > _STEP).sum())
        if inward:
            yield (
                f"skin.pads.{pad.name}: the normals of {inward} of {len(points)} taxels point into the body"
                f" {names.bodies[pad.body_id]!r}; turn the pad around, or reverse these normals"
            )
