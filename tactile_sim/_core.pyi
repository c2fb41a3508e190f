"""The inner loops of tactile_sim, as one C++ library."""

from collections.abc import Sequence
import enum
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


def relative_poses(positions: numpy.ndarray, quaternions: Annotated[NDArray[numpy.float64], dict(shape=(None, 4), order='C', writable=False)], rotations: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 3), order='C', writable=False)], child: numpy.ndarray, parent: numpy.ndarray) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Return the poses (n, 7) of children in the frames of their parents: position, quaternion xyzw.
    """

def write_point_forces(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, 9), order='C', device='cpu')], forces: Annotated[NDArray[numpy.float32], dict(shape=(None, 3), order='C', writable=False)], offsets: numpy.ndarray) -> None:
    """
    Write columns 3 to 8 of tactile/points: magnitude and force [N], and pad and taxel as uint32.
    """

def depth_in_hull(points: numpy.ndarray, normals: numpy.ndarray, offsets: numpy.ndarray) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    Return the depth (n,) of points (n, 3) below the nearest plane of a hull [m]; negative outside.
    """

def hull_normals(points: numpy.ndarray, normals: numpy.ndarray, offsets: numpy.ndarray, blur: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Return, for each point, the sum (n, 3) of the normals of the hull's planes that are nearest to it.
    """

def onto_hull(points: numpy.ndarray, normals: numpy.ndarray, offsets: numpy.ndarray, middle: numpy.ndarray) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """Project points (n, 3) near a hull onto it, given a point (3,) inside."""

def project_to_hull(points: numpy.ndarray, at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], normals: numpy.ndarray, offsets: numpy.ndarray, first: numpy.ndarray, beside: numpy.ndarray) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
    """
    Project points onto a hull around the origin; return points and outward normals, and update `at`.
    """

def push_apart(points: numpy.ndarray, normals: numpy.ndarray, reach: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Return the repulsion (n, 3) of each point by the points within reach on the same side of the body.
    """

def keep_apart(points: numpy.ndarray, normals: numpy.ndarray, order: numpy.ndarray, distance: float) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
    """
    Return the indices of the candidates that keep a distance to all those selected before them.
    """

def zip_rings(first_a: int, count_a: int, phase_a: float, first_b: int, count_b: int, phase_b: float) -> Annotated[NDArray[numpy.int64], dict(shape=(None, None))]:
    """
    Return the triangles (t, 3) of the band between two rings of points; phases in turns.
    """

def flip_to_delaunay(triangles: Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', device='cpu')], across: Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', device='cpu')], positions: numpy.ndarray, facing: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu')], label: numpy.ndarray, alike: float) -> None:
    """
    Flip edges of a closed mesh in place until it is Delaunay (Lawson's algorithm).
    """

def thin_mesh(positions: numpy.ndarray, role: numpy.ndarray, triangles: Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', device='cpu')], across: Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', device='cpu')], label: numpy.ndarray, facing: numpy.ndarray, alive: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')], at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], longest: float, normals: numpy.ndarray, spacing: float) -> None:
    """
    Remove vertices that are not taxels, or too close to another vertex at a seam.
    """

def drop_vertices(positions: numpy.ndarray, role: numpy.ndarray, triangles: Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', device='cpu')], across: Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', device='cpu')], label: numpy.ndarray, facing: numpy.ndarray, alive: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu')], at: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu')], longest: float, least: int, worst: float) -> None:
    """
    Remove vertices of at least this role, unless a triangle would get worse than `worst`.
    """

def rasterize(triangles: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 2), order='C', device='cpu', writable=False)], wanted: Annotated[NDArray[numpy.bool_], dict(shape=(None, None), order='C', writable=False)]) -> tuple[Annotated[NDArray[numpy.int32], dict(shape=(None, None))], int, int, int, int]:
    """
    Return the triangle of each pixel, and row, column and both triangles of the first overlap, or -1.
    """

def covering_triangles(triangles: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 2), order='C', device='cpu', writable=False)], chart: numpy.ndarray, slack: float) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
    """
    Return 1 for triangles that overlap an earlier one of the same chart which is not covered itself.
    """

class SkinFunction:
    """What the readings of a skin are."""

    def __init__(self, quantity: int, law: int, mean: bool, in_taxel_axes: bool, factors: numpy.ndarray) -> None: ...

class Skin:
    """The taxels of a scene; several threads can use one skin."""

    def __init__(self, positions: numpy.ndarray, normals: numpy.ndarray, axes: numpy.ndarray, extents: numpy.ndarray, begin: numpy.ndarray, neighbors: numpy.ndarray, along_surface: bool, patches: object, patch_bodies: numpy.ndarray, geoms: object, slots: numpy.ndarray, bodies: int, quadrature: tuple, solids: tuple) -> None: ...

    @property
    def patches(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """Memory of the patches, records of `skin.patches.PATCH`."""

    @property
    def cell_start(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """
        Start of each cell's taxels in `order`; after the cells of each patch, the end of the last cell.
        """

    @property
    def order(self) -> Annotated[NDArray[numpy.int64], dict(shape=(None,))]:
        """Indices of the taxels, cell by cell."""

    def loads(self, values: numpy.ndarray, ids: numpy.ndarray, positions: numpy.ndarray, rotations: numpy.ndarray) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """
        Return the loads of contacts on bodies with skin, as the memory of records of `skin.loads.LOAD`.
        """

    def contacts_exist(self, ids: numpy.ndarray, rigid: int) -> bool:
        """
        Return whether all bodies and geoms exist; the first `rigid` geoms are no flexes.
        """

    def loads_exist(self, loads: object, rigid: int) -> bool:
        """
        Return whether all patches, bodies and geoms that loads refer to exist.
        """

    def inside(self, loads: object, paired: bool) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]:
        """
        Return whether a taxel receives each load; `paired`: those of two surfaces together.
        """

    def press(self, loads: object) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.bool_], dict(shape=(None,))]]:
        """
        Return the loads on pressed taxels, these taxels, and a mask of the loads that no area can transmit.
        """

    def spread(self, loads: object, law: int, reach: numpy.ndarray) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        Return the taxels around each load and their weights: begin, taxel, weight.
        """

    @overload
    def gather(self, function: SkinFunction, loads: object, begin: numpy.ndarray, taxel: numpy.ndarray, weight: numpy.ndarray, values: numpy.ndarray, out: numpy.ndarray) -> None:
        """
        Write the readings of loads with values (of loads or of shares) to `out`, zeros.
        """

    @overload
    def gather(self, function: SkinFunction, loads: object, begin: numpy.ndarray, taxel: numpy.ndarray, weight: numpy.ndarray, values: numpy.ndarray, out: numpy.ndarray) -> None: ...

    def read(self, function: SkinFunction, values: numpy.ndarray, ids: numpy.ndarray, positions: numpy.ndarray, rotations: numpy.ndarray) -> numpy.ndarray:
        """Return the readings (n, channels) due to contacts."""

    def read_float32(self, function: SkinFunction, values: numpy.ndarray, ids: numpy.ndarray, positions: numpy.ndarray, rotations: numpy.ndarray) -> numpy.ndarray: ...

    def read_environments(self, function: SkinFunction, counts: numpy.ndarray, values: numpy.ndarray, ids: numpy.ndarray, positions: numpy.ndarray, rotations: numpy.ndarray, first: int, last: int, taxels: numpy.ndarray, touched: numpy.ndarray, touched_counts: numpy.ndarray, wrenches: numpy.ndarray) -> None:
        """Write the readings and wrenches of environments [first, last)."""

    def wrenches(self, values: numpy.ndarray, ids: numpy.ndarray, positions: numpy.ndarray, rotations: numpy.ndarray) -> numpy.ndarray:
        """
        Return the net contact wrench (b, 6) of each body with skin about its origin, in its frame.
        """

    def at_taxels(self, loads: object, begin: numpy.ndarray, taxel: numpy.ndarray) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """
        Return each load once for each of its taxels, with the velocity at the taxel's position.
        """

    def k_nearest(self, patch: int, points: numpy.ndarray, k: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
        """
        Return the k taxels of a patch nearest to each point, and their distances.
        """

def evaluate(loads: object, quantity: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """Return the values (m, c) of a built-in quantity for loads."""

@overload
def place_in_world(points: numpy.ndarray, offsets: numpy.ndarray, bodies: numpy.ndarray, positions: numpy.ndarray, rotations: numpy.ndarray, out: numpy.ndarray) -> None:
    """
    Write the world positions of points, pad by pad on these bodies, to `out`.
    """

@overload
def place_in_world(points: numpy.ndarray, offsets: numpy.ndarray, bodies: numpy.ndarray, positions: numpy.ndarray, rotations: numpy.ndarray, out: numpy.ndarray) -> None: ...

def effective_radius(geoms: object, first: int, second: int, frame: numpy.ndarray, rotations: numpy.ndarray) -> float:
    """
    Return the effective radius of curvature of two touching geoms (-1: flat) [m]; `frame`: normal and tangents.
    """

def contact_quantities(readings: numpy.ndarray, positions: numpy.ndarray, areas: numpy.ndarray, offsets: numpy.ndarray) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Return normal force, center, normal, area, force, torque, utilization and slip (p, 18) of pads.
    """

def move_to_rest(values: numpy.ndarray, touching: numpy.ndarray, sign: float, present: numpy.ndarray, rest: numpy.ndarray, triangles: numpy.ndarray, begin: numpy.ndarray, near: numpy.ndarray, position: numpy.ndarray, rotation: numpy.ndarray) -> None:
    """
    Move contacts on a flex, in place, to the same points of its rest shape.
    """

def centers_of_touch(values: numpy.ndarray, ids: numpy.ndarray, positions: numpy.ndarray, rotations: numpy.ndarray, bodies: numpy.ndarray) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
    """
    Return the sum of normal forces on each body, and the mean position and outward normal of its contacts.
    """

class FeelerBody:
    """The feelers of one body, in its frame."""

    def __init__(self, body: int, children: bool, tolerance: float, positions: numpy.ndarray, normals: numpy.ndarray, lengths: numpy.ndarray) -> None: ...

class Feelers:
    """The feelers on the bodies of a model."""

    def __init__(self, model: int, bodies: Sequence[FeelerBody]) -> None: ...

    def read(self, model: int, body_positions: numpy.ndarray, body_rotations: numpy.ndarray, geom_positions: numpy.ndarray, geom_rotations: numpy.ndarray) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

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

    def __init__(self, steps: numpy.ndarray, pieces: bytes, spans: numpy.ndarray, size: int, row_size: int) -> None: ...

    def fill(self, stamp: int, keys: NDArray[numpy.int32], values: NDArray[numpy.float64], points: NDArray[numpy.float64], *data: object) -> bytes | tuple[int, int]:
        """
        Return the message, or the row and the index of the step at which it failed.
        """

    def reserve(self, stamp: int, size: int) -> tuple:
        """
        Return a message with one payload of this size and otherwise only stamps, and a view of the payload.
        """
