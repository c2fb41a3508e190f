"""Move contacts on flexes with pads from the current shape of the flex to its rest shape."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.engines.contacts import BODIES, DISTANCE, FRAME, GEOMS, POSITION, Contacts
from tactile_sim.engines.protocol import Engine
from tactile_sim.skin.pads.flex import FlexSurface
from tactile_sim.skin.taxels import Taxels


class FlexPads:
    """Pads on flexes.

    A contact acts on the nearest surface triangle of the current shape. Its load is distributed around the
    same point of that triangle in the rest shape; the force keeps its current direction.
    """

    def __init__(self, model: mujoco.MjModel, skin: Taxels):
        """Prepare the surfaces of the flexes with pads.

        Args:
            model: The model.
            skin: The skin, with at least one pad on a flex.
        """
        self._model, self._skin = model, skin
        self.pads = [k for k, pad in enumerate(skin.pads) if pad.flex >= 0]
        """Indices of the pads on flexes."""
        self._surfaces = {
            flex: FlexSurface.of(model, flex) for flex in sorted({skin.pads[k].flex for k in self.pads})
        }
        self._near = {flex: _triangles_of_vertices(surface) for flex, surface in self._surfaces.items()}

    def on_skin(self, contacts: Contacts, engine: Engine) -> Contacts:
        """Return all contacts, followed by copies of those on flexes, for `Skin.readings_from_contacts`.

        A copy is at the position of the contact in the flex's rest shape. In the copy, the flex is a virtual
        geom with the id ``ngeom + flex``, and the other side has neither geom nor body. The original contacts
        are unchanged and have no geom on the side of a flex.

        Args:
            contacts: Contacts of the engine, optionally including the contact of `InteractiveScene.press`.
            engine: The engine after its last ``forward``.
        """
        parts = [(contacts.values, contacts.ids)]
        for flex, surface in self._surfaces.items():
            first, number = self._model.flex_vertadr[flex], self._model.flex_vertnum[flex]
            body = surface.body
            for side in range(2):
                rows = self._rows(contacts, engine, flex, side)
                values, ids = contacts.values[rows].copy(), contacts.ids[rows].copy()
                ids[:, BODIES : BODIES + 2] = ids[:, GEOMS : GEOMS + 2] = -1
                ids[:, BODIES + side], ids[:, GEOMS + side] = body, self._model.ngeom + flex
                index = contacts.index[rows]
                move_to_rest(
                    values, 1.0 if side else -1.0,
                    self._vertices_of(engine, flex, side, index),
                    engine.flex_vertices[first : first + number], surface.vertices, surface.triangles,
                    *self._near[flex], engine.body_positions[body], engine.body_rotations[body],
                )  # fmt: skip
                parts.append((values, ids))
        return Contacts(*(np.concatenate(blocks) for blocks in zip(*parts, strict=True)))

    def wrenches(self, contacts: Contacts, engine: Engine) -> np.ndarray:
        """Return the net contact wrench on the flex of each pad.

        Args:
            contacts: As in `on_skin`.
            engine: As in `on_skin`.

        Returns:
            (k, 6) for each of the k ``pads``: force [N] and torque [N m] about the origin of the body that
            carries the flex, in the frame of that body.
        """
        out = np.zeros((len(self.pads), 6))
        for row, k in enumerate(self.pads):
            flex, body = self._skin.pads[k].flex, self._skin.pads[k].body_id
            for side in range(2):
                rows = self._rows(contacts, engine, flex, side)
                wrench = (1.0 if side else -1.0) * contacts.wrench_world[rows]
                arm = contacts.position[rows] - engine.body_positions[body]
                out[row, :3] += wrench[:, :3].sum(axis=0)
                out[row, 3:] += (wrench[:, 3:] + np.cross(arm, wrench[:, :3])).sum(axis=0)
            rotation = engine.body_rotations[body]
            out[row] = (out[row].reshape(2, 3) @ rotation).ravel()
        return out

    def move(self, positions: np.ndarray, engine: Engine) -> None:
        """Set the positions of taxels on flexes to their current positions in the world.

        Args:
            positions: (n, 3) world positions of all taxels [m]; rows of taxels on flexes are overwritten.
            engine: As in `on_skin`.
        """
        for k in self.pads:
            pad = self._skin.pads[k]
            assert pad.corners is not None and pad.weights is not None
            vertices = engine.flex_vertices[self._model.flex_vertadr[pad.flex] + pad.corners]
            positions[pad.start : pad.stop] = np.einsum("nk,nki->ni", pad.weights, vertices)

    @staticmethod
    def _rows(contacts: Contacts, engine: Engine, flex: int, side: int) -> np.ndarray:
        """Return the indices (k,) of the contacts whose object on a side (0 or 1) is the flex.

        A press by `InteractiveScene.press`, which is not a contact of the engine, is left out.
        """
        index = contacts.index
        flexes = engine.flex_contacts().flex[:, side]
        known = (index >= 0) & (index < len(flexes))
        on_flex = np.zeros(len(contacts), bool)
        on_flex[known] = flexes[index[known]] == flex
        return np.flatnonzero(on_flex & (contacts.geoms[:, side] < 0))

    def _vertices_of(self, engine: Engine, flex: int, side: int, index: np.ndarray) -> np.ndarray:
        """Return the flex vertices in each contact (n, 4), padded with -1 if there are fewer than four."""
        model, touching = self._model, engine.flex_contacts()
        per_element = model.flex_dim[flex] + 1
        start = model.flex_elemdataadr[flex]
        elements = model.flex_elem[start : start + per_element * model.flex_elemnum[flex]]
        out = np.full((len(index), 4), -1, np.int64)
        vertex, element = touching.vertex[index, side], touching.element[index, side]
        out[:, 0] = vertex
        by_element = element >= 0
        out[by_element, :per_element] = elements.reshape(-1, per_element)[element[by_element]]
        return out


def _triangles_of_vertices(surface: FlexSurface) -> tuple[np.ndarray, np.ndarray]:
    """Return the triangles at each of the v vertices of a surface.

    Returns:
        The start of each vertex's list in the second array (v + 1,), and the concatenated lists of triangle
        indices (3 t,).
    """
    corners = surface.triangles.ravel()
    order = np.argsort(corners, kind="stable")
    counts = np.bincount(corners, minlength=len(surface.vertices))
    return np.concatenate([[0], np.cumsum(counts)]), order // 3


@kernel
def move_to_rest(values, sign, touching, present, rest, triangles, begin, near, position, rotation):
    """Move contacts from the current shape of a flex to the same points of the rest shape.

    Args:
        values: (n, WIDTH) of `Contacts`, modified in place.
        sign: 1 if the flex is object 2 of the contacts, otherwise -1.
        touching: (n, 4) vertices of the flex in each contact, or -1.
        present: (v, 3) current positions of the vertices in the world [m].
        rest: (v, 3) positions of the vertices at rest, in the frame of the body that carries the flex [m].
        triangles: (t, 3) vertex indices of the surface triangles.
        begin: (v + 1,) start of each vertex's triangles in ``near``.
        near: Indices of the triangles at each vertex, concatenated.
        position: (3,) position of the body that carries the flex, in the world [m].
        rotation: (3, 3) rotation from the frame of that body to the world.
    """
    weights, best = np.empty(3), np.empty(3)
    for c in range(len(values)):
        half = 0.5 * values[c, DISTANCE] * sign
        point = values[c, POSITION : POSITION + 3] + half * values[c, FRAME : FRAME + 3]
        least, found = np.inf, -1
        for k in range(4):
            vertex = touching[c, k]
            if vertex >= 0:
                for e in range(begin[vertex], begin[vertex + 1]):
                    square = closest(point, present, triangles[near[e]], weights)
                    if square < least:
                        least, found = square, near[e]
                        best[:] = weights
        if found < 0:  # The element has no vertex on the surface.
            for t in range(len(triangles)):
                square = closest(point, present, triangles[t], weights)
                if square < least:
                    least, found = square, t
                    best[:] = weights
        if found < 0:
            continue
        for i in range(3):
            values[c, POSITION + i] = position[i] - half * values[c, FRAME + i]
            for k in range(3):
                for j in range(3):
                    values[c, POSITION + i] += rotation[i, j] * best[k] * rest[triangles[found, k], j]


@kernel
def closest(point, vertices, corners, weights):
    """Find the point of a triangle that is closest to a given point.

    Args:
        point: (3,) the given point [m].
        vertices: (v, 3) positions of the vertices [m].
        corners: (3,) indices of the triangle's vertices.
        weights: (3,) output: barycentric coordinates of the closest point.

    Returns:
        The squared distance [m2].
    """
    a, b, c = vertices[corners[0]], vertices[corners[1]], vertices[corners[2]]
    u, v, w = b - a, c - a, point - a
    uu, uv, vv = (u * u).sum(), (u * v).sum(), (v * v).sum()
    uw, vw = (u * w).sum(), (v * w).sum()
    area = uu * vv - uv * uv
    s, t = 0.0, 0.0
    if area > 0.0:
        s, t = (vv * uw - uv * vw) / area, (uu * vw - uv * uw) / area
    if area <= 0.0 or s < 0.0 or t < 0.0 or s + t > 1.0:
        # The closest point is on an edge.
        least = np.inf
        for edge in range(3):
            start = a if edge < 2 else b
            along = u if edge == 0 else v if edge == 1 else c - b
            length = (along * along).sum()
            part = 0.0
            if length > 0.0:
                part = min(max(((point - start) * along).sum() / length, 0.0), 1.0)
            square = ((start + part * along - point) ** 2).sum()
            if square < least:
                least = square
                s = part if edge == 0 else 0.0 if edge == 1 else 1.0 - part
                t = 0.0 if edge == 0 else part
    weights[0], weights[1], weights[2] = 1.0 - s - t, s, t
    return ((a + s * u + t * v - point) ** 2).sum()
