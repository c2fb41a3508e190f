"""The feelers of a body, their free lengths and their images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from tactile_sim import _core
from tactile_sim.common.errors import CommandError, ConfigError
from tactile_sim.common.names import Names
from tactile_sim.common.schema import as_number, require_arrays


@dataclass(frozen=True)
class Part:
    """The area of a body's image that shows one geom.

    The areas of all geoms are stacked vertically and left-aligned.
    """

    geom_id: int
    top: int
    """First row of the part in the body's image."""
    width: int
    """Width of the part [pixels]."""
    height: int
    """Height of the part [pixels]."""


@dataclass(frozen=True)
class Placed:
    """The feelers of one body, in its frame.

    u increases to the right and v upwards, each from 0 to 1 over a geom's image. Row 0 of an image is the top
    row; the center of the pixel in column x of row y is (x + 1/2, y + 1/2) pixels from the upper left corner.
    """

    body_id: int
    positions: np.ndarray
    """(n, 3) float64 positions of the feelers' roots on the surface [m], in the body's frame."""
    normals: np.ndarray
    """(n, 3) outward unit vectors along the feelers, in the body's frame."""
    lengths: np.ndarray
    """(n,) full length of each feeler [m]."""
    geom_index: np.ndarray
    """(n,) uint16 index of each feeler's geom in ``parts``."""
    uv: np.ndarray
    """(n, 2) float64 position (u, v) of each root on its geom's UV map; a pixel's center if painted."""
    pixels: np.ndarray
    """(n,) uint32 unique pixel indices (row * width + column) in the body's image."""
    parts: tuple[Part, ...]
    """For each geom with feelers, the area of the body's image that shows it."""
    width: int
    """Width of the body's image [pixels]."""
    height: int
    """Height of the body's image [pixels]."""
    spacing: float
    """Approximate distance between neighboring feelers [m], used for drawing."""


@dataclass(frozen=True)
class FeelerBody:
    """A body with feelers. Its feelers are entries [start, stop) in the arrays of all feelers."""

    name: str
    body_id: int
    start: int
    stop: int
    placed: Placed


class Feelers:
    """Feelers on one or more bodies of a model.

    The free length of a feeler is the distance from its root, along its normal, to the first obstacle, at
    most the full length. The feeler's ray starts inside the body, at a depth of `tolerance` times the length,
    so that an obstacle that touches or slightly penetrates the surface covers the feeler completely. The ray
    never starts deeper than half the thickness of the body, so it does not reach obstacles behind the body.

    A geom of another body is an obstacle if it can collide (by contype and conaffinity, or in a contact
    pair), whether static or not. Geoms of descendants in the kinematic tree can be excluded.

    - Meshes are represented by their actual triangles, although MuJoCo's contacts use their convex hulls.
      The inside of a closed mesh is solid. An open mesh (with an edge that belongs to one triangle only, or
      to triangles with inconsistent winding) is treated as a sheet.
    - A plane is infinite, regardless of its rendered size, and solid below.
    - A height field is solid down to its base.
    - Flexes are never obstacles.

    The constructor reads the geoms, their sizes and their collision settings once. Only the elevations of
    height fields may change later.

    Attributes:
        model: MuJoCo model.
        bodies: The bodies with feelers, in the specified order.
        positions: (n, 3) roots in the frames of their bodies [m].
        normals: (n, 3) outward unit vectors in the frames of their bodies.
        lengths: (n,) full length of each feeler [m].
        offsets: (b + 1,) index of each body's first feeler, followed by the total number of feelers.
        body_index: (n,) index of each feeler's body in ``bodies``.
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        placed: Sequence[Placed],
        *,
        tolerance: float | Sequence[float] = 0.2,
        children: bool | Sequence[bool] = True,
    ) -> None:
        """Build the tables for the feelers.

        Args:
            model: MuJoCo model. A reference is kept to read the elevations of height fields.
            placed: The feelers of each body.
            tolerance: Depth inside the body at which rays start, as a fraction of the feeler's length; one
                value for all bodies or one for each.
            children: Whether the descendants of a body in the kinematic tree can cover its feelers; one value
                for all bodies or one for each. Feelers on the world body can be covered by all other bodies.

        Raises:
            ConfigError: A tolerance is negative or not finite, or the number of values differs from the
                number of bodies.
        """
        if not isinstance(model, mujoco.MjModel):
            raise ConfigError(f"feelers: model: must be a mujoco.MjModel, got {model!r}")
        if not isinstance(placed, Sequence) or not all(isinstance(body, Placed) for body in placed):
            raise ConfigError(f"feelers: placed: must be a list of results of place, got {placed!r}")
        names = Names(model)
        tolerances = _per_body("tolerance", tolerance, len(placed))
        below = _per_body("children", children, len(placed))
        for each, body in zip(tolerances, placed, strict=True):
            if not 0 <= as_number(each) < np.inf:
                raise ConfigError(
                    f"feelers of {names.bodies[body.body_id]}: tolerance must be >= 0 and finite, got {each};"
                    " give a fraction of the length, such as 0.2"
                )
        self.offsets = np.cumsum([0, *(len(body.positions) for body in placed)])
        self.bodies: tuple[FeelerBody, ...] = tuple(
            FeelerBody(names.bodies[body.body_id], body.body_id, int(start), int(stop), body)
            for body, start, stop in zip(placed, self.offsets[:-1], self.offsets[1:], strict=True)
        )
        self.positions = np.concatenate([np.empty((0, 3)), *(body.positions for body in placed)])
        self.normals = np.concatenate([np.empty((0, 3)), *(body.normals for body in placed)])
        self.lengths = np.concatenate([np.empty(0), *(body.lengths for body in placed)])
        self.body_index = np.repeat(np.arange(len(placed)), np.diff(self.offsets))
        self._body_ids = np.array([body.body_id for body in placed], np.int64)
        self.model = model
        self._core = _core.Feelers(
            model._address,
            [
                _core.FeelerBody(
                    body.body_id, bool(each), tolerance, _array(body.positions), _array(body.normals),
                    _array(body.lengths),
                )
                for body, each, tolerance in zip(placed, below, tolerances, strict=True)
            ],
        )  # fmt: skip

    def read(self, data: mujoco.MjData) -> np.ndarray:
        """Return the free length of each feeler.

        Args:
            data: Data with up-to-date geom_xpos, geom_xmat, xpos and xmat. After mj_step, these still contain
                the poses of the previous state; mj_kinematics updates them.

        Returns:
            (n,) free lengths [m], as in `free_lengths`.
        """
        if not isinstance(data, mujoco.MjData):
            raise CommandError(f"feelers: data: must be a mujoco.MjData, got {data!r}")
        return self.free_lengths(data.xpos, data.xmat, data.geom_xpos, data.geom_xmat)

    def free_lengths(
        self,
        body_positions: np.ndarray,
        body_rotations: np.ndarray,
        geom_positions: np.ndarray,
        geom_rotations: np.ndarray,
    ) -> np.ndarray:
        """Return the free length of each feeler.

        Args:
            body_positions: (nbody, 3) origins of the bodies in the world [m].
            body_rotations: (nbody, 3, 3) or (nbody, 9) rotations from body frames to the world.
            geom_positions: (ngeom, 3) positions of the geoms in the world [m].
            geom_rotations: (ngeom, 3, 3) or (ngeom, 9) rotations from geom frames to the world.

        Returns:
            (n,) free lengths [m], from 0 (completely covered) to the full length. An obstacle that intersects
            the section of the ray inside the body covers the feeler completely.
        """
        nbody, ngeom = self.model.nbody, self.model.ngeom
        body_rotations, geom_rotations = _rows(body_rotations), _rows(geom_rotations)
        require_arrays(
            body_positions=(body_positions, (nbody, 3)), body_rotations=(body_rotations, (nbody, 9)),
            geom_positions=(geom_positions, (ngeom, 3)), geom_rotations=(geom_rotations, (ngeom, 9)),
        )  # fmt: skip
        return self._core.read(
            self.model._address, body_positions, body_rotations, geom_positions, geom_rotations
        )

    def world(self, body_positions: np.ndarray, body_rotations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Transform the roots and directions of all feelers to the world frame.

        Args:
            body_positions: (nbody, 3) origins of the bodies in the world [m].
            body_rotations: (nbody, 3, 3) rotations from body frames to the world.

        Returns:
            Roots (n, 3) [m] and unit directions (n, 3) in the world frame.
        """
        nbody = self.model.nbody
        require_arrays(
            body_positions=(body_positions, (nbody, 3)), body_rotations=(body_rotations, (nbody, 3, 3))
        )
        body = self._body_ids[self.body_index]
        turn = body_rotations[body]
        starts = body_positions[body] + np.einsum("nij,nj->ni", turn, self.positions)
        return starts, np.einsum("nij,nj->ni", turn, self.normals)


def image(placed: Placed, free: np.ndarray) -> np.ndarray:
    """Render an image of a body's feelers in which covered feelers are bright.

    Args:
        placed: The feelers of a body.
        free: (n,) free length of each feeler [m].

    Returns:
        (height, width) uint8 image. The pixel of a feeler ranges from 0 (free) to 255 (completely covered);
        all other pixels are 0.
    """
    out = np.zeros(placed.height * placed.width, np.uint8)
    out[placed.pixels] = np.rint(255.0 * np.clip(1.0 - free / placed.lengths, 0.0, 1.0)).astype(np.uint8)
    return out.reshape(placed.height, placed.width)


def _rows(rotations: np.ndarray) -> np.ndarray:
    """Return rotations (n, 3, 3) as rows (n, 9), and any other value as it is."""
    stacked = isinstance(rotations, np.ndarray) and rotations.shape[1:] == (3, 3)
    return rotations.reshape(-1, 9) if stacked else rotations


def _per_body(what: str, given: float | Sequence[float], number: int) -> list[float]:
    """Return one value of the parameter ``what`` for each of a number of bodies."""
    if isinstance(given, Sequence | np.ndarray):
        if len(given) != number:
            raise ConfigError(
                f"feelers: {what} must have one value for each of {number} bodies, got {len(given)}"
            )
        return list(given)
    return [given] * number


def _array(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, np.float64)
