"""Place the taxels of pads on the bodies of a model."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.errors import ConfigError
from tactile_sim.names import Names
from tactile_sim.skin.pads.flex import place_flex
from tactile_sim.skin.pads.layout import Layout, default_tangents
from tactile_sim.skin.pads.plan import PadPlan, PlacedPad
from tactile_sim.skin.pads.projection import project
from tactile_sim.skin.placement.merge import Placement, colliding_geoms, merge
from tactile_sim.skin.placement.shapes import Shape
from tactile_sim.skin.placement.surface import BodySurface

_LOG = logging.getLogger("tactile_sim.skin")
FARTHEST = 0.01
"""Maximum distance of a layout's taxel from the surface of its body [m]."""
LINK = 1.75
"""Maximum distance between neighbouring taxels that no mesh connects, as a multiple of the spacing."""
STEP = 1e-4
"""Distance from the surface at which the direction of normals is checked [m]."""
ALIKE = 0.3
"""Minimum cosine between the normals of neighbouring taxels that no mesh connects."""


def place_body(name: str, body: int, spacing: float, surface: BodySurface) -> PlacedPad:
    """Return the pad of a body that is completely covered.

    Args:
        name: Name of the pad.
        body: Id of the body.
        spacing: Distance between taxels [m].
        surface: The n taxels in the body's frame; they get the ids 0 to n - 1 and default tangents.
    """
    normals = surface.normals
    tangents = default_tangents(normals)
    axes = np.stack([tangents, np.cross(normals, tangents), normals], axis=1)
    axes[~normals.any(axis=1)] = np.eye(3)
    ids, none = np.arange(len(normals), dtype=np.uint32), np.empty(0, np.uint32)
    return PlacedPad(name, body, spacing, surface, surface.positions, axes, ids, none, none, is_whole=True)


def place_pad(model: mujoco.MjModel, plan: PadPlan, placement: Placement, names: Names) -> PlacedPad:
    """Place the taxels of a configured pad: on a flex, in a layout, or evenly on a part of a body's surface.

    Args:
        model: The model.
        plan: The configured pad.
        placement: Method that places evenly spaced taxels.
        names: Names of bodies and geoms, for error messages.

    Raises:
        SceneError: The body cannot have a skin.
        ConfigError: The pad has no taxel, or a layout is too far from its body.
    """
    if plan.flex >= 0:
        return place_flex(model, plan)
    if plan.layout is not None:
        return _place_layout(model, plan, plan.layout, names)
    surface = merge(model, plan.body, plan.spacing, placement, names)
    kept = np.ones(len(surface.positions), bool)
    if plan.geoms:
        kept &= np.isin(surface.geom_ids[surface.geom_index], plan.geoms)
    if plan.region is not None:
        kept &= plan.region.contains(surface.positions, surface.normals)
    if not kept.any():
        raise ConfigError(
            f"{plan.where}: no taxel of the body {names.bodies[plan.body]!r} is in the region; make it"
            " larger, or the spacing smaller"
        )
    pad = place_body(plan.name, plan.body, plan.spacing, _part(surface, kept))
    return replace(pad, ignores_outside=plan.ignores_outside, is_whole=False)


def links(pads: Sequence[PlacedPad]) -> np.ndarray:
    """Return pairs (e, 2) of neighbouring taxels on one body that are not connected by a mesh.

    Taxels are numbered consecutively over all pads.
    """
    if len(pads) == 1 and pads[0].is_meshed:
        return np.empty((0, 2), np.int64)
    counts = [len(pad) for pad in pads]
    positions = np.concatenate([pad.surface.positions for pad in pads])
    normals = np.concatenate([pad.surface.normals for pad in pads])
    spacings = np.repeat([pad.spacing for pad in pads], counts)
    owner = np.repeat(np.arange(len(pads)), counts)
    meshed = np.array([pad.is_meshed for pad in pads])
    pairs = cKDTree(positions).query_pairs(LINK * spacings.max(), output_type="ndarray")
    i, j = pairs.T
    near = np.linalg.norm(positions[i] - positions[j], axis=1) <= LINK * np.maximum(spacings[i], spacings[j])
    alike = np.einsum("ni,ni->n", normals[i], normals[j]) > ALIKE
    connected = (owner[i] == owner[j]) & meshed[owner[i]]
    return pairs[near & alike & ~connected].astype(np.int64)


def _place_layout(model: mujoco.MjModel, plan: PadPlan, layout: Layout, names: Names) -> PlacedPad:
    body, spacing = names.bodies[plan.body], plan.spacing or layout.spacing
    if not spacing > 0:
        raise ConfigError(
            f"{plan.where}.spacing: is required for a single taxel; give the edge of its cell [m]"
        )
    geoms = colliding_geoms(model, plan.body)
    if len(geoms) == 0:
        raise ConfigError(
            f"{plan.where}: the body {body!r} has no geom that collides, so it cannot have a pad"
        )
    shapes = [Shape.of_geom(model, geom) for geom in geoms]
    positions, distances, geom = project(shapes, layout.positions)
    worst = int(np.argmax(distances))
    if distances[worst] > FARTHEST:
        raise ConfigError(
            f"{plan.where}: the taxel with id {layout.ids[worst]} is {distances[worst] * 1e3:.3g} mm from the"
            f" surface of the body {body!r}, at most {FARTHEST * 1e3:g} mm; correct position and orientation,"
            " and give all lengths in metres"
        )
    sideways = _count_sideways(shapes, positions, layout.axes[:, 2], min(STEP, 0.1 * spacing))
    if sideways > 0.5 * len(positions):
        _LOG.warning(
            "%s: the normals of %d of %d taxels are more than 60 degrees off those of the surface of the body"
            " %r; check the orientation and the position of the pad",
            plan.where, sideways, len(positions), body,
        )  # fmt: skip
    surface = BodySurface(
        geoms,
        positions,
        layout.axes[:, 2],
        np.full(len(positions), spacing**2),
        geom.astype(np.uint16),
        layout.triangles(),
        np.empty((0, 2), np.int64),
    )
    return PlacedPad(
        plan.name, plan.body, spacing, surface, layout.positions, layout.axes, layout.ids, layout.rows,
        layout.columns, plan.ignores_outside, is_meshed=False,
    )  # fmt: skip


def _count_sideways(shapes: Sequence[Shape], positions: np.ndarray, normals: np.ndarray, step: float) -> int:
    """Count the taxels whose normal is more than 60 degrees off the outward normal of the surface.

    Args:
        shapes: The colliding geoms of the body.
        positions: (n, 3) points on the surface [m].
        normals: (n, 3) unit normals of the taxels.
        step: Length of a step along the normals [m], much smaller than the body.
    """
    outside = -np.max([shape.depth(positions + step * normals) for shape in shapes], axis=0)
    return int((outside < 0.5 * step).sum())


def _part(surface: BodySurface, kept: np.ndarray) -> BodySurface:
    """Return a surface reduced to some of its taxels, with their geoms and the mesh between them.

    Args:
        surface: The surface with n taxels.
        kept: (n,) whether to keep each taxel.
    """
    new = np.cumsum(kept) - 1
    used, geom_index = np.unique(surface.geom_index[kept], return_inverse=True)
    return BodySurface(
        surface.geom_ids[used],
        surface.positions[kept],
        surface.normals[kept],
        surface.areas[kept],
        geom_index.astype(np.uint16),
        new[surface.triangles[kept[surface.triangles].all(axis=1)]].astype(np.uint32),
        new[surface.edges[kept[surface.edges].all(axis=1)]],
    )
