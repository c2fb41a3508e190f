"""Move contacts on flexes with pads from the current shape of the flex to its rest shape."""

from __future__ import annotations

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.engines.contacts import Contacts
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
            contacts: Contacts of the engine, optionally including the contact of `Interaction.press`.
            engine: The engine after its last ``forward``.
        """
        parts = [(contacts.values, contacts.ids)]
        for flex, surface in self._surfaces.items():
            first, number = self._model.flex_vertadr[flex], self._model.flex_vertnum[flex]
            body = surface.body
            for side in range(2):
                rows = self._rows(contacts, engine, flex, side)
                values, ids = contacts.values[rows].copy(), contacts.ids[rows].copy()
                ids[:, Contacts.BODIES : Contacts.BODIES + 2] = ids[
                    :, Contacts.GEOMS : Contacts.GEOMS + 2
                ] = -1
                ids[:, Contacts.BODIES + side], ids[:, Contacts.GEOMS + side] = body, self._model.ngeom + flex
                index = contacts.index[rows]
                _core.move_to_rest(
                    values, self._vertices_of(engine, flex, side, index), 1.0 if side else -1.0,
                    engine.flex_vertices[first : first + number], surface.vertices, surface.triangles,
                    *self._near[flex], engine.body_positions[body], engine.body_rotations[body],
                )  # fmt: skip
                parts.append((values, ids))
        return Contacts(*(np.concatenate(blocks) for blocks in zip(*parts, strict=True)))

    def wrenches(self, contacts: Contacts, engine: Engine) -> np.ndarray:
        """Return the net contact wrench on the flex of each pad.

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
            engine: The engine, in the state of the positions.
        """
        for k in self.pads:
            pad = self._skin.pads[k]
            assert pad.corners is not None and pad.weights is not None
            vertices = engine.flex_vertices[self._model.flex_vertadr[pad.flex] + pad.corners]
            positions[pad.start : pad.stop] = np.einsum("nk,nki->ni", pad.weights, vertices)

    @staticmethod
    def _rows(contacts: Contacts, engine: Engine, flex: int, side: int) -> np.ndarray:
        """Return the indices (k,) of the contacts whose object on a side (0 or 1) is the flex.

        A press by `Interaction.press`, which is not a contact of the engine, is left out.
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
