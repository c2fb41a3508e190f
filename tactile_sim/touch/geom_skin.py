"""A skin on selected geoms, optionally with explicit sensor positions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.names import Names
from tactile_sim.skin import Loads, Skin
from tactile_sim.skin.placement.merge import Placement
from tactile_sim.skin.placement.shapes import Shape
from tactile_sim.skin.placement.surface import BodySurface, Surface

LINK = 3.0
"""Distance up to which explicitly positioned sensors are neighbours, as a multiple of their spacing."""


def skin_of_geoms(
    model: mujoco.MjModel,
    shapes: Mapping[int, Shape],
    spacings: Mapping[int, float],
    moved: Mapping[int, np.ndarray],
    options: Mapping[str, Any],
) -> Skin:
    """Return a skin in which each geom is a separate patch.

    Args:
        model: The model.
        shapes: Shape of each geom, keyed by geom id.
        spacings: Distance between sensors [m], keyed by geom id.
        moved: Positions (n, 3) [m] in the geom's frame that replace the default ones, keyed by geom id.
        options: Further arguments of `Skin`.
    """

    def cover(_: Any, body: int, spacing: float, placement: Placement, names: Names) -> BodySurface:
        geoms = [geom for geom in sorted(shapes) if model.geom_bodyid[geom] == body]
        lay = placement.alone or placement.cover
        surfaces, links, start = [], [], 0
        for geom in geoms:
            surface = lay(shapes[geom], spacings[geom])
            if geom in moved:
                surface = _move(surface, shapes[geom], moved[geom])
                tree = cKDTree(surface.positions)
                links.append(start + tree.query_pairs(LINK * spacings[geom], output_type="ndarray"))
            surfaces.append(surface)
            start += len(surface)
        whole = BodySurface.of_parts(np.array(geoms, np.int32), surfaces)
        each = np.array([spacings[geom] for geom in geoms])
        return replace(whole, edges=np.concatenate([whole.edges, *links]), spacings=each)

    bodies = {int(model.geom_bodyid[geom]): spacing for geom, spacing in spacings.items()}
    return Skin(model, bodies, kind=cover, **options)


def _move(surface: Surface, shape: Shape, points: np.ndarray) -> Surface:
    """Replace the taxels of a geom by taxels at ``points`` (n, 3) in the geom's frame [m].

    Each new taxel has the normal and area of the nearest original taxel.
    """
    positions = points @ shape.rotation.T + shape.position
    _, nearest = cKDTree(surface.positions).query(positions)
    none = np.empty((0, 3), np.int64)
    return Surface(positions, surface.normals[nearest], surface.areas[nearest], none)


def turn_loads(loads: Loads, rotations: np.ndarray) -> None:
    """Rotate force, normal and velocities of loads from body frames to patch frames, in place.

    Args:
        loads: The m loads.
        rotations: Rotation (p, 3, 3) from each patch's frame to the frame of its body.
    """
    for vector in (loads.force, loads.normal, loads.velocity, loads.angular_velocity):
        vector[:] = np.einsum("mi,mik->mk", vector, rotations[loads.patch])
