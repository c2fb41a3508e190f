"""The inner loops of tactile_sim, as one C++ library."""

from collections.abc import Sequence
import enum
from typing import Annotated

import numpy
from numpy.typing import NDArray


def relative_poses(positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], quaternions: Annotated[NDArray[numpy.float64], dict(shape=(None, 4), order='C', writable=False)], rotations: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 3), order='C', writable=False)], child: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], parent: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Return the poses (n, 7) of children in the frames of their parents: position, quaternion xyzw.
    """

def write_point_forces(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, 9), order='C', device='cpu')], forces: Annotated[NDArray[numpy.float32], dict(shape=(None, 3), order='C', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
    """
    Write columns 3 to 8 of tactile/points: magnitude and force [N], and pad and taxel as uint32.
    """

def depth_in_hull(points: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], normals: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    Return the depth (n,) of points (n, 3) below the nearest plane of a hull [m]; negative outside.
    """

def hull_normals(points: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], normals: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], blur: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Return, for each point, the sum (n, 3) of the normals of the hull's planes that are nearest to it.
    """

def onto_hull(points: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], normals: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], middle: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """Project points (n, 3) near a hull onto it, given a point (3,) inside."""

def project_to_hull(points: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], normals: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], first: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], beside: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
    """
    Project points onto a hull around the origin; return points and outward normals, and update `at`.
    """

def push_apart(points: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], normals: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], reach: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Return the repulsion (n, 3) of each point by the points within reach on the same side of the body.
    """

def keep_apart(points: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], normals: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], order: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], distance: float) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    Return the indices of the candidates that keep a distance to all those selected before them.
    """

def zip_rings(first_a: int, count_a: int, phase_a: float, first_b: int, count_b: int, phase_b: float) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
    """
    Return the triangles (t, 3) of the band between two rings of points; phases in turns.
    """

def flip_to_delaunay(triangles: Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', device='cpu')], across: Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', device='cpu')], positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], facing: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu')], label: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], alike: float) -> None:
    """
    Flip edges of a closed mesh in place until it is Delaunay (Lawson's algorithm).
    """

def thin_mesh(positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], role: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], triangles: Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', device='cpu')], across: Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', device='cpu')], label: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], facing: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], alive: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')], at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], longest: float, normals: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], spacing: float) -> None:
    """
    Remove vertices that are not taxels, or too close to another vertex at a seam.
    """

def drop_vertices(positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], role: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], triangles: Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', device='cpu')], across: Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', device='cpu')], label: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], facing: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], alive: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')], at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], longest: float, least: int, worst: float) -> None:
    """
    Remove vertices of at least this role, unless a triangle would get worse than `worst`.
    """

def rasterize(triangles: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 2), order='C', device='cpu', writable=False)], wanted: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', writable=False)]) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None, None))], int, int, int, int]:
    """
    Return the triangle of each pixel, and row, column and both triangles of the first overlap, or -1.
    """

def covering_triangles(triangles: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 2), order='C', device='cpu', writable=False)], chart: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], slack: float) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
    """
    Return 1 for triangles that overlap an earlier one of the same chart which is not covered itself.
    """

def apply_rules(desired: Annotated[NDArray[numpy.float64], dict(shape=(4, None), order='C', device='cpu', writable=False)], gains: Annotated[NDArray[numpy.float64], dict(shape=(4, None), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], velocities: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], applied: Annotated[NDArray[numpy.float64], dict(shape=(3, None), order='C', device='cpu')]) -> None:
    """
    Compute applied torques and gains (3, n); see tactile_sim.trifinger.physics.rules.
    """

def add_drag(model: int, data: int, dampings: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
    """
    Add drag to qfrc_passive, with a damping (nbody,) for each body [1/s]; call this after mj_step1.
    """

def limit_speed(positions: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], velocities: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], time_step: float, most: float) -> None:
    """Limit joint speeds after a semi-implicit step, in place."""

def shift_references(model: int, data: int, references: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], accelerations: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """
    Shift the reference accelerations of contacts; see tactile_sim.trifinger.physics.friction.
    """

class FeelerBody:
    """The feelers of one body, in its frame."""

    def __init__(self, body: int, children: bool, tolerance: float, positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], normals: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], lengths: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class Feelers:
    """The feelers on the bodies of a model."""

    def __init__(self, model: int, bodies: Sequence[FeelerBody]) -> None: ...

    def read(self, model: int, body_positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], body_rotations: Annotated[NDArray[numpy.float64], dict(shape=(None, 9), order='C', device='cpu', writable=False)], geom_positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], geom_rotations: Annotated[NDArray[numpy.float64], dict(shape=(None, 9), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

class WireStep(enum.IntEnum):
    """Kinds of steps of a WireTemplate."""

    CHECK = 0

    PIECE = 1

    STAMP = 2

    INT = 3

    DOUBLES = 4

    SINGLES = 5

    ROWS = 6

    PAYLOAD = 7

    REPEAT = 8

    NEXT = 9

class WireTemplate:
    """A message in the CDR wire format, with variable fields."""

    def __init__(self, steps: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], pieces: bytes, spans: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], size: int, row_size: int) -> None: ...

    def fill(self, stamp: int, keys: NDArray[numpy.int32], values: NDArray[numpy.float64], points: NDArray[numpy.float64], *data: object) -> bytes | tuple[int, int]:
        """
        Return the message, or the row and the index of the step at which it failed.
        """

    def reserve(self, stamp: int, size: int) -> tuple:
        """
        Return a message with one payload of this size and otherwise only stamps, and a view of the payload.
        """
