"""Skins on a single geom, and loads on them."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.skin import Loads, Skin


def one_geom(attributes, spacing):
    """Return a skin on a free geom at the origin."""
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody><body><freejoint/><geom {attributes}/></body></worldbody></mujoco>"
    )
    return Skin(model, {1: spacing})


def loads_at(points, normals, forces=None):
    """Return loads on the first body of a skin; the default is 1 N along each normal."""
    points, normals = np.atleast_2d(points).astype(float), np.atleast_2d(normals).astype(float)
    forces = normals if forces is None else np.atleast_2d(forces).astype(float)
    loads = Loads.empty(len(points))
    loads.contact[:] = np.arange(len(points))
    loads.point[:], loads.normal[:], loads.force[:], loads.force_world[:] = points, normals, forces, forces
    loads.radius[:] = 0.1
    return loads
