"""Search for the taxels near loads and points."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import mujoco
import numpy as np

from tactile_sim.arguments import distance_array, is_index, known, positions, whole
from tactile_sim.errors import ConfigError, SceneError
from tactile_sim.skin.checks import require_loads
from tactile_sim.skin.loads import Loads
from tactile_sim.skin.materials import STIFFNESS, STIFFNESS_RANGE, THICKNESS, THICKNESS_RANGE, by_body
from tactile_sim.skin.pads.plan import PadPlan
from tactile_sim.skin.patches import TaxelIndex, k_nearest_taxels, sort_patches
from tactile_sim.skin.placement.surface import BodySurface
from tactile_sim.skin.responses import DISTANCES, HERTZ, NEAREST, spread
from tactile_sim.skin.shares import Near
from tactile_sim.skin.taxels import Taxels

ALONG_SURFACE = {"euclidean": False, "surface": True}
"""For each measure of distance, whether it follows the surface."""
NO_REACH = np.empty(0)


class TaxelSearch(Taxels):
    """Taxels with a spatial index.

    `nearest`, `taxels_near_loads` and `spread` find taxels around loads, for response functions.
    `nearest_taxels`, `k_nearest_taxels` and `taxels_within` find taxels around arbitrary points. The class is
    not thread-safe, because its methods share scratch memory.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        scales: Mapping[int, float],
        placement: str = "even",
        kind: str | Callable[..., BodySurface] = "mesh",
        pads: Sequence[PadPlan] = (),
        distance: str = "euclidean",
        stiffness: float | Mapping[int, float] = STIFFNESS,
        thickness: float | Mapping[int, float] = THICKNESS,
    ) -> None:
        """Place the taxels and sort them into the index.

        Args:
            model: The model.
            scales: As in `Taxels`.
            placement: As in `Taxels`.
            kind: As in `Taxels`.
            pads: As in `Taxels`.
            distance: How distances from a load are measured: ``euclidean`` or along the ``surface``.
            stiffness: Plane-strain modulus of the skin [Pa], which determines the size of contact areas: one
                value for all bodies, or a dictionary keyed by body id. Other bodies have the default.
            thickness: Thickness of the elastic layer [m], specified like ``stiffness``.

        Raises:
            SceneError: As in `Taxels`.
            ConfigError: As in `Taxels`; or the distance is unknown, a stiffness or thickness is out of range,
                or its body has no skin.
        """
        super().__init__(model, scales, placement, kind, pads)
        moduli = by_body("skin.stiffness", stiffness, STIFFNESS, STIFFNESS_RANGE, self.body_ids)
        layers = by_body("skin.thickness", thickness, THICKNESS, THICKNESS_RANGE, self.body_ids)
        self.patch_stiffness = moduli[self.patch_bodies]
        """(q,) plane-strain modulus of the skin of each patch [Pa]."""
        self.patch_thickness = layers[self.patch_bodies]
        """(q,) thickness of the elastic layer of each patch [m]."""
        self._along = ALONG_SURFACE[
            known("skin.distance: unknown name", distance, ALONG_SURFACE, ConfigError)
        ]
        number, steps = len(self.positions), len(self.neighbours[1])
        by_pad = self.kind == "mesh"
        offsets, each = (self.offsets, self.spacings) if by_pad else (self.patch_offsets, self.patch_spacings)
        spacings = np.repeat(each, np.diff(offsets))
        ignoring = np.repeat([pad.ignores_outside for pad in self.pads], np.diff(self.offsets)).astype(bool)
        self._extents = np.stack([self.areas, spacings, np.where(ignoring, spacings, np.inf)], axis=1)
        self._has_limits = bool(ignoring.any())
        self._far = np.full(number, np.inf)
        self._index = tuple(
            TaxelIndex(
                self.surface_positions,
                self.normals,
                *sort_patches(
                    self.surface_positions,
                    self.patch_offsets,
                    self.patch_spacings,
                    self._extents,
                    self.patch_stiffness,
                    self.patch_thickness,
                ),
                *self.neighbours,
                self._far,
                np.empty((steps + 1 if self._along else 0, 2)),
                np.empty((number if self._along else 0, 3)),
            )
        )
        self._room = 32
        """Number of taxels per load for which scratch arrays are allocated."""

    def nearest(self, loads: Loads) -> np.ndarray:
        """Return the taxel (m,) that receives each load, by the rule in `tactile_sim.skin.responses`."""
        return self.spread(loads, NEAREST)[1]

    def taxels_near_loads(self, loads: Loads, reach: float | np.ndarray) -> Near:
        """Return the taxel that receives each load and the taxels within reach that face the load.

        Taxels are only included if a path over such taxels connects them to the receiving taxel.

        Args:
            loads: The m loads.
            reach: Maximum distance [m], as a scalar or (m,).

        Raises:
            CommandError: The loads or the reach are invalid.
        """
        return Near(*self.spread(loads, DISTANCES, reach))

    def spread(
        self, loads: Loads, law: int, reach: float | np.ndarray = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the taxels around loads, with weights according to a law of `responses.spread`.

        Args:
            loads: The m loads.
            law: Number of the law, from DISTANCES to HERTZ.
            reach: Radius of the search [m], as a scalar or (m,), for the law `DISTANCES`.

        Returns:
            A tuple of three arrays:

            - ``begin`` (m + 1,): start of each load in the other two arrays; the last entry is k.
            - ``taxel`` (k,): indices of taxels in the skin, load by load.
            - ``weight`` (k,): weights of these taxels or, with the law `DISTANCES`, their distances [m].

        Raises:
            CommandError: An argument is invalid.
        """
        require_loads(self, loads)
        law = whole("law", law, DISTANCES, HERTZ)
        limits = distance_array("reach", reach, len(loads)) if law == DISTANCES else NO_REACH
        begin = np.empty(len(loads) + 1, np.int64)
        while True:
            room = self._room * len(loads)
            taxel, weight = np.empty(room, np.int64), np.empty(room)
            count = spread(loads.table, law, limits, self._extents, self._index, begin, taxel, weight)
            if count >= 0:
                return begin, taxel[:count], weight[:count]
            self._make_room()

    # -- queries: taxels of one patch near points (m, 3), or one (3,), in the frame of its body [m].
    # -- Indices of taxels start at 0 in each patch; distances are as in `taxels_near_loads`. All raise
    # -- SceneError if the patch does not exist, and CommandError if another argument is invalid.

    def nearest_taxels(self, patch: int, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Find the taxel of a patch that is nearest to each point.

        Args:
            patch: Index of the patch.
            points: (m, 3) points, or one point (3,), in the frame of the patch's body [m].

        Returns:
            Indices of the taxels (m,), counted from 0 within the patch, and their distances (m,) [m].

        Raises:
            SceneError: The patch does not exist.
            CommandError: The points are invalid.
        """
        taxels, distances = self.k_nearest_taxels(patch, points, 1)
        return taxels[:, 0], distances[:, 0]

    def k_nearest_taxels(self, patch: int, points: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Find the k taxels of a patch that are nearest to each point, nearest first.

        Args:
            patch: Index of the patch.
            points: (m, 3) points, or one point (3,), in the frame of the patch's body [m].
            k: Number of taxels. If the patch has fewer, all of them are returned.

        Returns:
            Indices of the taxels (m, k), counted from 0 within the patch, and their distances (m, k) [m]. For
            distances along the surface, taxels that are not connected to the point by a path come last, with
            infinite distance.

        Raises:
            SceneError: The patch does not exist.
            CommandError: The points or ``k`` are invalid.
        """
        points, k = self._points_on(patch, points), whole("k", k)
        start, stop = self.patch_offsets[patch : patch + 2].tolist()
        k = min(k, stop - start)
        taxels, distances = np.empty((len(points), k), np.int64), np.empty((len(points), k))
        if k == 0:
            return taxels, distances
        if not self._along:
            k_nearest_taxels(points, patch, self._index, taxels, distances)
            return taxels - start, distances
        found = self.taxels_within(patch, points, (2 + np.sqrt(k)) * self.patch_spacings[patch])
        if any(len(near) < k for near, _ in found):
            found = self.taxels_within(patch, points, np.inf)
        for m, (near, far) in enumerate(found):
            rest = np.setdiff1d(np.arange(stop - start), near)[: max(k - len(near), 0)]
            taxels[m] = np.concatenate([near[:k], rest])
            distances[m] = np.concatenate([far[:k], np.full(len(rest), np.inf)])
        return taxels, distances

    def taxels_within(
        self, patch: int, points: np.ndarray, limit: float | np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Find the taxels of a patch within a distance of each point, nearest first.

        Taxels are only included if a path over taxels within this distance connects them to the nearest one.

        Args:
            patch: Index of the patch.
            points: (m, 3) points, or one point (3,), in the frame of the patch's body [m].
            limit: Maximum distance [m], as a scalar or (m,).

        Returns:
            For each point, the indices of the k taxels (k,), counted from 0 within the patch, and their
            distances (k,) [m].

        Raises:
            SceneError: The patch does not exist.
            CommandError: The points or the limit are invalid.
        """
        points = self._points_on(patch, points)
        loads = Loads.empty(len(points))
        loads.patch[:], loads.point[:] = patch, points
        limits = distance_array("limit", limit, len(points))
        near = self.taxels_near_loads(loads, limits)
        found = []
        for m in range(len(points)):
            these = slice(near.begin[m], near.begin[m + 1])
            taxels, distances = near.taxel[these], near.distance[these]
            order = np.lexsort([taxels, distances])
            order = order[distances[order] <= limits[m]]
            found.append((taxels[order] - self.patch_offsets[patch], distances[order]))
        return found

    def _points_on(self, patch: int, points: np.ndarray) -> np.ndarray:
        """Convert the points of a query to an array (m, 3), and check that the patch exists."""
        if not is_index(patch, len(self.patch_ids)):
            raise SceneError(f"patch {patch!r} does not exist; the skin has {len(self.patch_ids)}")
        return np.ascontiguousarray(positions("points", points)).reshape(-1, 3)

    def _make_room(self) -> None:
        """Enlarge later output arrays and reset the scratch memory after a search found too many taxels."""
        self._room = min(4 * self._room, len(self.positions))
        self._far[:] = np.inf
