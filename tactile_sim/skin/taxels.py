"""Place the taxels of a skin and group them into pads and patches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.common.errors import ConfigError, SceneError
from tactile_sim.common.names import Names
from tactile_sim.common.schema import SPACING, described, is_index, known, require_arrays, valid
from tactile_sim.geometry.curvature import geom_table
from tactile_sim.skin.limits import check_count, colliding_areas
from tactile_sim.skin.neighbors import neighbors
from tactile_sim.skin.pads.flex import flex_rows
from tactile_sim.skin.pads.place import links, place_body, place_pad
from tactile_sim.skin.pads.plan import PadPlan, PlacedPad
from tactile_sim.skin.pads.precedence import uncovered, warn_of_overlaps
from tactile_sim.skin.placement import even, mimo
from tactile_sim.skin.placement.merge import Placement, merge, separate
from tactile_sim.skin.placement.surface import BodySurface

T = TypeVar("T")

PLACEMENTS = {"even": Placement(even.cover), "mimo": mimo.PLACEMENT}
KINDS = {"mesh": merge, "geom": separate}
"""Ways to cover a body: one patch over all its geoms, or one patch on each geom."""


@dataclass(frozen=True)
class Pad:
    """A group of taxels [start, stop) on one body that are read and published together.

    A body that is completely covered (``skin.scales``) is a pad with the body's name.
    """

    name: str
    body_id: int
    start: int
    stop: int
    spacing: float
    """Distance between neighboring taxels [m]."""
    geom_ids: np.ndarray
    """(k,) int32 ids of colliding geoms of the body, including all that carry a taxel of the pad."""
    triangles: np.ndarray
    """(t, 3) uint32 corners of the triangles between taxels, wound outward. Index 0 is the first taxel of the
    pad."""
    rows: np.ndarray
    """(n,) uint32 row of each taxel in the sensor's grid; empty if there is no grid."""
    columns: np.ndarray
    """(n,) uint32 column of each taxel in the sensor's grid; empty if there is no grid."""
    is_whole: bool
    """True if the pad covers its entire body, as configured in ``skin.scales``."""
    ignores_outside: bool
    """True if the pad ignores loads that are farther than one spacing from their nearest taxel."""
    flex: int = -1
    """Id of the flex that carries the taxels, or -1. With a flex, ``body_id`` is the body that carries it."""
    corners: np.ndarray | None = None
    """(n, 3) flex vertices of the triangle that contains each taxel; None for pads not on a flex."""
    weights: np.ndarray | None = None
    """(n, 3) barycentric coordinates of each taxel in the triangle with the vertices ``corners``."""


class Taxels:
    """All taxels of a model: body by body in the order of ids, and pad by pad on each body.

    A load acts on one patch of a body and is distributed over the taxels of the patch. With ``kind="mesh"``,
    the taxels of all pads on a body form one patch, and the taxels of all pads on a flex form another. With
    ``kind="geom"``, each colliding geom of a body is a separate patch, and patches are not connected.

    Attributes of the n taxels, in the frames of their bodies:
        positions: (n, 3) positions as configured [m].
        surface_positions: (n, 3) projections onto the collision surface, used to find taxels near loads [m].
        normals: (n, 3) outward unit normals. If a geom is too small for the placement `mimo`, the normal of
            its only taxel, at its center, is 0; this taxel faces every load.
        axes: (n, 3, 3) rows: first tangent, second tangent, outward normal.
        ids: (n,) uint32 ids, as numbered by the sensor.
        areas: (n,) area that each taxel represents [m2].
        geom_index: (n,) index into the pad's geom_ids.
        pad_index: (n,) index into pads.
        neighbors: Start of each taxel's list (n + 1,), and the concatenated lists of adjacent taxels.

    Attributes of the pads, the bodies with skin and the patches:
        pads: The p pads.
        offsets: (p + 1,) first taxel of each pad; the last entry is n.
        spacings: (p,) distance between neighboring taxels [m].
        pad_bodies: (p,) id of the body of each pad.
        pad_cells: (p,) cells of the taxels of each pad on a part of a triangle mesh, otherwise None.
        body_ids: (b,) ids of the bodies with skin. A flex with pads is a separate entry, with the id of
            the body that carries it.
        patch_offsets: (q + 1,) first taxel of each patch; the last entry is n.
        patch_bodies: (q,) index into body_ids.
        patch_spacings: (q,) maximum distance between neighboring taxels [m].
        patch_ids: (q,) body ids, or with ``kind="geom"`` geom ids.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        scales: Mapping[int, float],
        placement: str = "even",
        kind: str | Callable[..., BodySurface] = "mesh",
        pads: Sequence[PadPlan] = (),
    ) -> None:
        """Place the taxels.

        Args:
            model: The model.
            scales: Spacing [m] of the taxels on each body to cover completely, keyed by body id.
            placement: Name in `PLACEMENTS`.
            kind: Name in `KINDS`, or a function like `separate`, which covers all or some of a body's geoms
                separately.
            pads: Pads in addition to those of ``scales``.

        Raises:
            SceneError: The model is not a MuJoCo model, or a body or spacing is invalid.
            ConfigError: A name or a pad is invalid, or there are too many taxels.
        """
        if not isinstance(model, mujoco.MjModel):
            raise SceneError(f"skin: model: must be a mujoco.MjModel, got {described(model)}")
        if not isinstance(scales, Mapping):
            raise SceneError(f"skin.scales: must be spacings [m] by body id, got {described(scales)}")
        if not isinstance(pads, Sequence) or not all(isinstance(plan, PadPlan) for plan in pads):
            raise ConfigError(f"skin.pads: must be a sequence of PadPlan, got {described(pads)}")
        for plan in pads:
            if not is_index(plan.body, model.nbody):
                raise ConfigError(f"{plan.where}: body: must be below {model.nbody}, got {plan.body!r}")
            if plan.layout is None or np.any(plan.spacing):
                valid(f"{plan.where}.spacing", plan.spacing, SPACING, ConfigError)
        names = Names(model)
        where = choose("skin.placement", placement, PLACEMENTS)
        cover = choose("skin.kind", kind, KINDS)
        if pads and kind != "mesh":
            raise ConfigError(
                f"{pads[0].where}: requires skin.kind mesh, got {kind!r}; use scales without pads"
            )
        self.kind = kind
        self._nbody, self._ngeom = model.nbody, model.ngeom
        self._geoms = geom_table(model)
        for body in scales:
            if not is_index(body, model.nbody):
                raise SceneError(f"skin.scales: must have body ids from 0 to {model.nbody - 1}, got {body!r}")
        spacings = {
            body: valid(f"skin.scales.{names.bodies[body]}", spacing, SPACING, SceneError)
            for body, spacing in sorted(scales.items())
        }
        if isinstance(kind, str):  # a function can cover some geoms only
            _check_count(model, names, spacings, pads)
        placed = [place_pad(model, plan, where, names) for plan in pads]
        warn_of_overlaps(placed)
        skins: list[PlacedPad] = []
        for body, spacing in spacings.items():
            surface = cover(model, body, spacing, where, names)
            whole = place_body(names.bodies[body], int(body), spacing, surface)
            own = [k for k, pad in enumerate(placed) if pad.body == body and pad.flex < 0]
            rest = uncovered(whole, [placed[k] for k in own]) if own else whole
            if rest is not None:
                skins.append(rest)
                for k in own:  # what is outside the pads is on the body's own skin
                    placed[k] = replace(placed[k], ignores_outside=False)
        placed = sorted(skins + placed, key=lambda pad: (pad.body, pad.flex))
        if any(pad.flex >= 0 for pad in placed):
            self._geoms = np.concatenate([self._geoms, flex_rows(model)])
        self._place(placed)
        self._make_patches(placed)

    def _place(self, placed: Sequence[PlacedPad]) -> None:
        """Concatenate the taxels of all pads."""
        self.offsets = np.cumsum([0, *map(len, placed)])
        self.pads = tuple(
            Pad(
                pad.name, pad.body, int(start), int(stop), pad.spacing, pad.surface.geom_ids,
                pad.surface.triangles, pad.rows, pad.columns, pad.is_whole, pad.ignores_outside,
                pad.flex, pad.corners, pad.weights,
            )
            for pad, start, stop in zip(placed, self.offsets, self.offsets[1:], strict=False)
        )  # fmt: skip
        self.pad_cells = tuple(pad.cells for pad in placed)
        surfaces = [pad.surface for pad in placed]
        self.spacings = np.array([pad.spacing for pad in placed], float)
        self.positions = np.concatenate([np.empty((0, 3)), *(pad.positions for pad in placed)])
        self.surface_positions = np.concatenate([np.empty((0, 3)), *(s.positions for s in surfaces)])
        self.normals = np.concatenate([np.empty((0, 3)), *(surface.normals for surface in surfaces)])
        self.axes = np.concatenate([np.empty((0, 3, 3)), *(pad.axes for pad in placed)])
        self.ids = np.concatenate([np.empty(0, np.uint32), *(pad.ids for pad in placed)])
        self.areas = np.concatenate([np.empty(0), *(surface.areas for surface in surfaces)])
        self.geom_index = np.concatenate([np.empty(0, np.uint16), *(s.geom_index for s in surfaces)])
        self.pad_index = np.repeat(np.arange(len(placed)), np.diff(self.offsets))
        self.pad_bodies = np.array([pad.body for pad in placed], np.int64)
        keys = [(pad.body, pad.flex) for pad in placed]
        slots = sorted(set(keys))
        self._pad_slots = np.array([slots.index(key) for key in keys], np.int64)
        self.body_ids = np.array([body for body, _ in slots], np.int64)
        self._slot = np.full(self._nbody, -1, np.int64)
        for slot, (body, flex) in enumerate(slots):
            if flex < 0:
                self._slot[body] = slot

    def _make_patches(self, placed: Sequence[PlacedPad]) -> None:
        """Divide the taxels into patches, and connect neighbors within them."""
        sizes: list[int] = []
        bodies: list[int] = []
        ids: list[int] = []
        spacings: list[np.ndarray] = [np.empty(0)]
        edges = [np.empty((0, 2), np.int64)]
        for slot, body in enumerate(self.body_ids):
            own = np.flatnonzero(self._pad_slots == slot).tolist()
            pads = [placed[k] for k in own]
            if self.kind == "mesh":
                own_geoms = np.flatnonzero(self._geoms["body"][: self._ngeom] == body)
                if pads[0].flex >= 0:
                    own_geoms = np.array([self._ngeom + pads[0].flex])
                # Include geoms that do not collide, because collisions can be enabled during a run.
                self._geoms["patch"][own_geoms] = len(sizes)
                sizes.append(sum(map(len, pads)))
                ids.append(body)
                spacings.append(np.array([max(pad.spacing for pad in pads)], float))
            else:
                surface = pads[0].surface
                self._geoms["patch"][surface.geom_ids] = len(sizes) + np.arange(len(surface.geom_ids))
                sizes += np.bincount(surface.geom_index, minlength=len(surface.geom_ids)).tolist()
                ids += surface.geom_ids.tolist()
                each = np.full(len(surface.geom_ids), pads[0].spacing)
                spacings.append(each if surface.spacings is None else surface.spacings)
            bodies += [slot] * (len(sizes) - len(bodies))
            edges += [placed[k].surface.edges + self.offsets[k] for k in own]
            edges.append(links(pads) + self.offsets[own[0]])
        self.patch_offsets = np.cumsum([0, *sizes])
        self.patch_bodies = np.array(bodies, np.int64)
        self.patch_ids = np.array(ids, np.int64)
        self.patch_spacings = np.concatenate(spacings)
        self.neighbors = neighbors(len(self.positions), np.concatenate(edges))

    def world(
        self, body_positions: np.ndarray, body_rotations: np.ndarray, out: np.ndarray | None = None
    ) -> np.ndarray:
        """Return the world positions (n, 3) of all taxels [m].

        Args:
            body_positions: (nbody, 3) positions of the bodies in the world [m].
            body_rotations: (nbody, 3, 3) rotations from body frames to the world.
            out: Array (n, 3) for the result, float32 or float64; by default, a new float64 array.

        Raises:
            CommandError: An argument has the wrong type or shape.
        """
        if out is None:
            out = np.empty((len(self.positions), 3))
        require_arrays(
            body_positions=(body_positions, (self._nbody, 3)),
            body_rotations=(body_rotations, (self._nbody, 3, 3)),
            out=(out, (len(self.positions), 3)),
        )
        _core.place_in_world(
            self.positions, self.offsets, self.pad_bodies, body_positions, body_rotations, out
        )
        return out


def _check_count(
    model: mujoco.MjModel, names: Names, spacings: Mapping[int, float], pads: Sequence[PadPlan]
) -> None:
    """Check the total number of taxels on completely covered bodies and on pads with evenly spaced taxels."""
    areas = colliding_areas(model)
    parts = [
        (f"skin.scales.{names.bodies[body]}", areas[body], spacing) for body, spacing in spacings.items()
    ]
    parts += [
        (f"{plan.where}.spacing", areas[plan.body], plan.spacing)
        for plan in pads
        if plan.layout is None and plan.flex < 0
    ]
    check_count(parts)


def choose(key: str, choice: str | T, table: Mapping[str, T]) -> T:
    """Look up a choice in a table if it is a name; otherwise return the choice itself.

    Args:
        key: Configuration key, for error messages.
        choice: A name in the table, or an object like those in the table.
        table: Objects keyed by name. They are all callable, or all of one class.

    Raises:
        ConfigError: The name is unknown, or the object has the wrong type.
    """
    if not isinstance(choice, str):
        like = next(iter(table.values()))
        if callable(choice) if callable(like) else isinstance(choice, type(like)):
            return choice
    return table[known(f"{key}: unknown name", choice, table, ConfigError)]
