"""Place the taxels of pads on the bodies of a model."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import mujoco
import numpy as np
from scipy.spatial import cKDTree

from tactile_sim.common.errors import ConfigError
from tactile_sim.common.names import Names
from tactile_sim.skin.pads.flex import place_flex
from tactile_sim.skin.pads.layout import Layout, default_tangents, facing
from tactile_sim.skin.pads.plan import PadPlan, PlacedPad
from tactile_sim.skin.pads.precedence import places_beside
from tactile_sim.skin.pads.projection import project
from tactile_sim.skin.placement.merge import Placement, colliding_geoms, merge
from tactile_sim.skin.placement.shapes import Shape
from tactile_sim.skin.placement.surface import BodySurface
from tactile_sim.skin.quadrature import Cells, cells_of

_LOG = logging.getLogger("tactile_sim.skin")
FARTHEST = 0.01
"""Maximum distance of a layout's taxel from the surface of its body [m]."""
FARTHEST_ORIGIN = 0.1
"""Maximum distance of the origin of a pad from the surface on which it is laid [m]."""
LINK = 1.75
"""Maximum distance between neighboring taxels that no mesh connects, as a multiple of the spacing."""
STEP = 1e-4
"""Distance from the surface at which the direction of normals is checked [m]."""
ROUNDS = 50
"""Number of steps that move a taxel along the normal to the surface."""
MOST_LINKS = 8
"""Maximum number of neighbors of a taxel on another pad with a smaller spacing."""
ALIKE = 0.3
"""Minimum cosine between the normals of neighboring taxels that no mesh connects."""


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
    pad = place_body(plan.name, plan.body, plan.spacing, surface.part(kept))
    mesh = surface.triangles.astype(np.int64)
    cells = cells_of(surface.positions, surface.normals, surface.areas, mesh)
    own = kept[cells.owner]
    owner = (np.cumsum(kept) - 1)[cells.owner[own]]
    return replace(
        pad,
        ignores_outside=plan.ignores_outside,
        is_whole=False,
        cells=Cells(owner, cells.points[own], cells.smooth[kept]),
        beside=np.stack([surface.positions[~kept], surface.normals[~kept]], axis=1),
    )


def links(pads: Sequence[PlacedPad]) -> np.ndarray:
    """Return pairs (e, 2) of neighboring taxels on one body that are not connected by a mesh.

    Taxels are numbered consecutively over all pads.
    """
    firsts = np.cumsum([0, *map(len, pads)])
    trees = [cKDTree(pad.surface.positions) for pad in pads]
    pairs = [np.empty((0, 2), np.int64)]
    for pad, tree, first in zip(pads, trees, firsts, strict=False):
        if not pad.is_meshed:
            pairs.append(tree.query_pairs(LINK * pad.spacing, output_type="ndarray") + first)
    for a, b in permutations(range(len(pads)), 2):
        if (pads[a].spacing, a) > (pads[b].spacing, b):
            # The finer pad may have many taxels within the spacing of the other one.
            count, farthest = min(MOST_LINKS, len(pads[b])), LINK * pads[a].spacing
            _, near = trees[b].query(trees[a].data, range(1, count + 1), distance_upper_bound=farthest)
            i, j = np.nonzero(near < len(pads[b]))
            pairs.append(np.stack([firsts[a] + i, firsts[b] + near[i, j]], axis=1))
    normals = np.concatenate([pad.surface.normals for pad in pads])
    i, j = np.concatenate(pairs).T
    alike = np.einsum("ni,ni->n", normals[i], normals[j]) > ALIKE
    return np.stack([i[alike], j[alike]], axis=1)


def _place_layout(model: mujoco.MjModel, plan: PadPlan, layout: Layout, names: Names) -> PlacedPad:
    body, spacing = names.bodies[plan.body], plan.spacing or layout.spacing
    if not spacing > 0:
        raise ConfigError(
            f"{plan.where}.spacing: is required for a single taxel; give the edge of its cell [m]"
        )
    geoms, shapes = colliding_geoms(model, plan.body), body_shapes(model, plan.body)
    if not shapes:
        raise ConfigError(
            f"{plan.where}: the body {body!r} has no geom that collides, so it cannot have a pad"
        )
    positions, distances, geom = project(shapes, layout.positions)
    worst = int(np.argmax(distances))
    if distances[worst] > FARTHEST:
        raise ConfigError(
            f"{plan.where}: the taxel with id {layout.ids[worst]} is {distances[worst] * 1e3:.3g} mm from the"
            f" surface of the body {body!r}, at most {FARTHEST * 1e3:g} mm; correct position and orientation,"
            " and give all lengths in meters"
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
        beside=places_beside(positions, layout.axes, spacing, (layout.rows, layout.columns)),
    )  # fmt: skip


def body_shapes(model: mujoco.MjModel, body: int) -> list[Shape]:
    """Return the shapes of a body's colliding geoms."""
    return [Shape.of_geom(model, geom) for geom in colliding_geoms(model, body)]


def laid_on_surface(
    shapes: Sequence[Shape],
    layout: Layout,
    position: np.ndarray,
    rotation: np.ndarray | None,
    turn: float,
    where: str,
) -> Layout:
    """Return a layout in the body's frame with its taxels moved along the pad's normal to the surface.

    Args:
        shapes: The colliding geoms of the body.
        layout: Taxels in the pad's frame.
        position: (3,) point whose nearest point on the surface is the pad's origin [m].
        rotation: (3, 3) rotation of the pad; None takes the normal of the surface at the origin.
        turn: Angle about that normal [degrees].
        where: Prefix for error messages (file and key).

    Raises:
        ConfigError: The position is too far from the surface, or the line through a taxel along the normal
            does not meet it.
    """
    step = 1e-3 * (layout.spacing or 1e-3)
    origin, (distance,), _ = project(shapes, position[None])
    if distance > FARTHEST_ORIGIN:
        raise ConfigError(
            f"{where}.position: is {distance:.3g} m from the surface of the body, at most"
            f" {FARTHEST_ORIGIN:g} m; give all lengths in meters"
        )
    if rotation is None:
        rotation = facing(_surface_normals(shapes, origin, step)[0], turn)
    flat = layout.moved(origin[0], rotation)
    normal, points = rotation[:, 2], flat.positions.copy()
    for _ in range(ROUNDS):
        nearest, distances, _ = project(shapes, points)
        points += np.einsum("ni,i->n", nearest - points, normal)[:, None] * normal
    worst = int(np.argmax(distances))
    if distances[worst] > 10.0 * step:
        raise ConfigError(
            f"{where}.surface: the taxel with id {layout.ids[worst]} is beside the surface of the body, by"
            f" {distances[worst] * 1e3:.3g} mm; correct position, normal and turn, or remove surface"
        )
    normals = _surface_normals(shapes, points, step)
    tangents = flat.axes[:, 0] - np.einsum("ni,ni->n", flat.axes[:, 0], normals)[:, None] * normals
    tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
    axes = np.stack([tangents, np.cross(normals, tangents), normals], axis=1)
    return replace(flat, positions=points, axes=axes)


def _surface_normals(shapes: Sequence[Shape], points: np.ndarray, step: float) -> np.ndarray:
    """Return the outward unit normals (n, 3) at points (n, 3) of the surface, from differences [m]."""
    gradient = np.empty_like(points)
    for k, along in enumerate(step * np.eye(3)):
        ahead, behind = (
            np.max([shape.depth(p) for shape in shapes], axis=0) for p in (points + along, points - along)
        )
        gradient[:, k] = behind - ahead
    return gradient / np.linalg.norm(gradient, axis=1, keepdims=True)


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
