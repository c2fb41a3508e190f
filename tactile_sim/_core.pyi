"""The inner loops of tactile_sim, as one C++ library."""

from collections.abc import Sequence
import enum
from typing import Annotated, overload

import numpy
from numpy.typing import NDArray


class Turn:
    """A right of one thread at a time, for which nobody waits."""

    def __init__(self, forks: bool) -> None: ...

    @property
    def forked(self) -> bool:
        """Whether this is a fork of the process, which must not use the object."""

    def begin(self) -> bool:
        """Return False if another thread has the turn, or in a fork."""

    def end(self) -> None: ...

def relative_poses(positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], quaternions: Annotated[NDArray[numpy.float64], dict(shape=(None, 4), order='C', writable=False)], rotations: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 3), order='C', writable=False)], child: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], parent: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Return the poses (n, 7) of children in the frames of their parents: position, quaternion xyzw.
    """

def write_point_forces(rows: Annotated[NDArray[numpy.float32], dict(shape=(None, 9), order='C', device='cpu')], forces: Annotated[NDArray[numpy.float32], dict(shape=(None, 3), order='C', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
    """
    Write columns 3 to 8 of tactile/points: magnitude and force [N], and pad and taxel as uint32.
    """

def read_contacts(model: int, data: int, values: Annotated[NDArray[numpy.float64], dict(shape=(None, 32), order='C', device='cpu')], ids: Annotated[NDArray[numpy.int32], dict(shape=(None, 5), order='C', device='cpu')]) -> int:
    """
    Write the contacts of mjData that carry a force into the arrays of `Contacts`, and return their number.
    """

def touching(sensing: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, 32), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None, 5), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.int32], dict(shape=(None, None))]]:
    """Return the arrays of the contacts that involve sensing bodies."""

def read_contact_sensor(sensordata: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], address: int, stride: int, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None, 22), order='C', device='cpu')], found: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write the slots and the numbers of contacts of a contact sensor with all fields into a `ContactSensor`.
    """

def contact_sensor_force(sensordata: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], address: int, stride: int, slots: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write the magnitude of the sum of the forces in all filled slots of a contact sensor [N].
    """

def read_motrix(raw: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], flipped: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.int32], dict(shape=(None, None))]]:
    """
    Return the arrays of the contacts in the values of sensors on pairs of geoms. Position, frame, distance,
    wrench and index (of the pair) are set.
    """

def reduce_contacts(values: Annotated[NDArray[numpy.float64], dict(shape=(None, 32), order='C', device='cpu', writable=False)], envs: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], signs: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], reduction: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, 17), order='C', device='cpu')]) -> None:
    """
    Write the slots of a contact sensor in each environment, given contacts ordered by environment.
    """

def complete_contacts(model: int, values: Annotated[NDArray[numpy.float64], dict(shape=(None, 32), order='C', device='cpu', writable=False)], geoms: Annotated[NDArray[numpy.int32], dict(shape=(None, 2), order='C', device='cpu', writable=False)], friction: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], envs: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], cvel: Annotated[NDArray[numpy.float64], dict(shape=(None, None, 6), order='C', device='cpu', writable=False)], subtree_com: Annotated[NDArray[numpy.float64], dict(shape=(None, None, 3), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, 32), order='C', device='cpu')], out_ids: Annotated[NDArray[numpy.int32], dict(shape=(None, None, 5), order='C', device='cpu')], counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')]) -> None:
    """
    Write the contacts that carry a force in each environment, completed from `read_motrix` and their geoms.
    """

class Worlds:
    """Environments of one model, stepped by MuJoCo's threads."""

    def __init__(self, model: int, count: int, threads: int) -> None: ...

    @property
    def threads(self) -> int: ...

    @property
    def persistent(self) -> bool: ...

    @property
    def states(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """(n, size) view of the complete state of each environment."""

    @property
    def warnings(self) -> Annotated[NDArray[numpy.int32], dict(shape=(None, 7, 2))]:
        """
        (n, warnings, 2) view of MuJoCo's warning statistics of each environment.
        """

    def component(self, bit: int) -> tuple[int, int]:
        """
        Return the first column of a component (mjtState) in `states`, and its size.
        """

    def error(self, env: int) -> str:
        """Return the error that MuJoCo raised in the last call, or ''."""

    def step(self, steps: int) -> int:
        """
        Step all environments, and return the number of those in which MuJoCo raised an error.
        """

    def reset(self, envs: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, keyframes: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> int:
        """Reset environments to keyframes; -1 is the initial state."""

    def record(self, envs: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, steps: int, values: Annotated[NDArray[numpy.float64], dict(shape=(None, None, 32), order='C', device='cpu')], ids: Annotated[NDArray[numpy.int32], dict(shape=(None, None, 5), order='C', device='cpu')], counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], xpos: Annotated[NDArray[numpy.float64], dict(shape=(None, None, 3), order='C', device='cpu')], xmat: Annotated[NDArray[numpy.float64], dict(shape=(None, None, 9), order='C', device='cpu')], qfrc_actuator: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')], sensordata: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> int:
        """
        Record contacts, poses, forces and sensors of the current states, then step. Return the number of
        environments in which MuJoCo raised an error. If the contacts of an environment do not fit, its count is
        the negative number of contacts, and it does not step.
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

class SkinFunction:
    """What the readings of a skin are."""

    def __init__(self, quantity: int, law: int, mean: bool, in_taxel_axes: bool, factors: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class Skin:
    """The taxels of a scene; several threads can use one skin."""

    def __init__(self, positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], normals: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], axes: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 3), order='C', device='cpu', writable=False)], extents: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], neighbors: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], along_surface: bool, patches: object, patch_bodies: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], geoms: object, slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bodies: int, quadrature: tuple, solids: tuple) -> None: ...

    def set_layers(self, layers: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Set the tables of `skin.layer_tables`, before the first use of an elastic layer.
        """

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

    def loads(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None, 32), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None, 5), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], rotations: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 3), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """
        Return the loads of contacts on bodies with skin, as the memory of records of `skin.loads.LOAD`.
        """

    def contacts_exist(self, ids: Annotated[NDArray[numpy.int32], dict(shape=(None, 5), order='C', device='cpu', writable=False)]) -> bool:
        """Return whether all bodies and geoms exist."""

    def loads_exist(self, loads: object) -> bool:
        """
        Return whether all patches, bodies and geoms that loads refer to exist.
        """

    def inside(self, loads: object, paired: bool) -> Annotated[NDArray[numpy.bool_], dict(shape=(None,))]:
        """
        Return whether a taxel receives each load; `paired`: those of two surfaces together.
        """

    def press(self, loads: object, law: int) -> tuple[Annotated[NDArray[numpy.uint8], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.bool_], dict(shape=(None,))]]:
        """
        Return the loads on pressed taxels, these taxels, and a mask of the loads that no area can transmit.
        """

    def spread(self, loads: object, law: int, reach: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None,))]]:
        """
        Return the taxels around each load and their weights: begin, taxel, weight.
        """

    @overload
    def gather(self, function: SkinFunction, loads: object, begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], taxel: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """
        Write the readings of loads with values (of loads or of shares) to `out`, zeros.
        """

    @overload
    def gather(self, function: SkinFunction, loads: object, begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], taxel: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], weight: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

    @overload
    def read(self, function: SkinFunction, values: Annotated[NDArray[numpy.float64], dict(shape=(None, 32), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None, 5), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], rotations: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 3), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """Write the readings due to contacts to `out`, zeros."""

    @overload
    def read(self, function: SkinFunction, values: Annotated[NDArray[numpy.float64], dict(shape=(None, 32), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None, 5), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], rotations: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 3), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

    @overload
    def read_data(self, function: SkinFunction, model: int, data: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu')]) -> None:
        """Write the readings due to the contacts in mjData to `out`, zeros."""

    @overload
    def read_data(self, function: SkinFunction, model: int, data: int, out: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu')]) -> None: ...

    def read_environments(self, function: SkinFunction, counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float64], dict(shape=(None, None, 32), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None, None, 5), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None, None, 3), order='C', device='cpu', writable=False)], rotations: Annotated[NDArray[numpy.float64], dict(shape=(None, None, 3, 3), order='C', device='cpu', writable=False)], first: int, last: int, taxels: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], touched: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu')], touched_counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu')], wrenches: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None:
        """Write the readings and wrenches of environments [first, last)."""

    def wrenches(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None, 32), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None, 5), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], rotations: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 3), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        Return the net contact wrench (b, 6) of each body with skin about its origin, in its frame.
        """

    def at_taxels(self, loads: object, begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], taxel: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """
        Return each load once for each of its taxels, with the velocity at the taxel's position.
        """

    def k_nearest(self, patch: int, points: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], k: int) -> tuple[Annotated[NDArray[numpy.int64], dict(shape=(None, None))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
        """
        Return the k taxels of a patch nearest to each point, and their distances.
        """

def evaluate(loads: object, quantity: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """Return the values (m, c) of a built-in quantity for loads."""

@overload
def place_in_world(points: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bodies: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], rotations: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 3), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float32], dict(shape=(None, 3), order='C', device='cpu')]) -> None:
    """
    Write the world positions of points, pad by pad on these bodies, to `out`.
    """

@overload
def place_in_world(points: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], bodies: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], rotations: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 3), order='C', device='cpu', writable=False)], out: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu')]) -> None: ...

def effective_radius(geoms: object, first: int, second: int, frame: Annotated[NDArray[numpy.float64], dict(shape=(3, 3), order='C', device='cpu', writable=False)], rotations: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 3), order='C', device='cpu', writable=False)]) -> float:
    """
    Return the effective radius of curvature of two touching geoms (-1: flat) [m]; `frame`: normal and tangents.
    """

def contact_quantities(readings: Annotated[NDArray[numpy.float64], dict(shape=(None, 12), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], areas: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], offsets: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Return normal force, center, normal, area, force, torque, utilization and slip (p, 18) of pads.
    """

def advance_contact_states(states: Annotated[NDArray[numpy.float64], dict(shape=(None, 4), order='C', device='cpu', writable=False)], time: float, normal_force: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None, 4), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Return the debounced contact states (p, 4) of pads after a sample: raw, contact, since, pending.
    """

@overload
def pad_forces(values: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], directions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], stops: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]:
    """
    Return the sums (p,) of the products of the rows of values and directions (n or 1, c) over ranges of rows.
    """

@overload
def pad_forces(values: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], directions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], stops: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.float64], dict(shape=(None,))]: ...

def move_to_rest(values: Annotated[NDArray[numpy.float64], dict(shape=(None, 32), order='C', device='cpu')], touching: Annotated[NDArray[numpy.int64], dict(shape=(None, 4), order='C', device='cpu', writable=False)], sign: float, present: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], rest: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], triangles: Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], begin: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], near: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], position: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], rotation: Annotated[NDArray[numpy.float64], dict(shape=(3, 3), order='C', device='cpu', writable=False)]) -> None:
    """
    Move contacts on a flex, in place, to the same points of its rest shape.
    """

def force_arrows(values: Annotated[NDArray[numpy.float64], dict(shape=(None, 32), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], rotations: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 3), order='C', device='cpu', writable=False)], bodies: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], wrenches: Annotated[NDArray[numpy.float64], dict(shape=(None, 6), order='C', device='cpu', writable=False)], scale: float, tangents: bool, longest: float) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None, None))], Annotated[NDArray[numpy.int64], dict(shape=(None,))], Annotated[NDArray[numpy.int64], dict(shape=(None,))]]:
    """
    Return points (n, 2, 3), kinds and sources of arrows for the forces of contacts and of net wrenches on bodies.
    """

def centers_of_touch(values: Annotated[NDArray[numpy.float64], dict(shape=(None, 32), order='C', device='cpu', writable=False)], ids: Annotated[NDArray[numpy.int32], dict(shape=(None, 5), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], rotations: Annotated[NDArray[numpy.float64], dict(shape=(None, 3, 3), order='C', device='cpu', writable=False)], bodies: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None,))], Annotated[NDArray[numpy.float64], dict(shape=(None, None))]]:
    """
    Return the sum of normal forces on each body, and the mean position and outward normal of its contacts.
    """

def chain_keys(seed: int, names: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], kind: int, episodes: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> Annotated[NDArray[numpy.uint64], dict(shape=(None,))]:
    """
    Return the keys (b,) of random numbers of pads, from hashes of their names and the numbers of redraws.
    """

def draw_uniform(keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """Return uniform random numbers (b, columns) in (0, 1)."""

def draw_normal(table: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], keys: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], sizes: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], columns: int) -> Annotated[NDArray[numpy.int16], dict(shape=(None, None))]:
    """
    Return standard normal numbers (columns, taxels of all pads) as multiples of 1/4096.
    """

def respond(loads: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], intervals: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], friction: float, creep: float, creep_time: float, remains: float, decay_time: float) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
    """
    Return the output (n, m) of hysteresis, viscoelasticity and slow adaptation for loads (n, m).
    """

@overload
def reduce_pads(first: int, last: int, readings: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], touched: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], reduction: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None: ...

@overload
def reduce_pads(first: int, last: int, readings: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], touched: Annotated[NDArray[numpy.int32], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None, counts: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)] | None, slots: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], reduction: int, out: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')]) -> None:
    """
    Reduce the readings of environments [first, last) by pad: sums, largest magnitude, or weighted positions.
    """

class ChainWorkspace:
    """Arrays in which one thread runs a ChainProgram."""

    def __init__(self, axes: Annotated[NDArray[numpy.float32], dict(shape=(None, None), order='C', device='cpu', writable=False)], channels: int) -> None: ...

    def copy(self) -> ChainWorkspace: ...

    @property
    def values(self) -> Annotated[NDArray[numpy.float32], dict(shape=(None, None))]:
        """(channels, taxels) readings of the last environment."""

    @property
    def valid(self) -> Annotated[NDArray[numpy.uint8], dict(shape=(None,))]:
        """(taxels,) 1 where the last reading is valid."""

class ChainStage:
    """A stage of a ChainProgram, on all pads that have it."""

    def __init__(self, *, key: str, hash: int, pads: Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], runs: Annotated[NDArray[numpy.int64], dict(shape=(None, 3), order='C', device='cpu', writable=False)], integers: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], linked: bool, recalled: bool, rests: bool, code_step: float, least_code: int, room: int, varies: bool, parameters: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], constants: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], deviations: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

class ChainProgram:
    """Signal chains of n environments with the same stages."""

    def __init__(self, timestep: float, channels: int, seeds: Annotated[NDArray[numpy.uint64], dict(shape=(None,), order='C', device='cpu', writable=False)], staged: Annotated[NDArray[numpy.bool_], dict(shape=(None,), order='C', device='cpu', writable=False)], normals: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def copy(self) -> ChainProgram: ...

    def add(self, stage: ChainStage) -> None:
        """Append a stage, with the numbers of one environment."""

    def set_numbers(self, stage: int, environment: int, parameters: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], constants: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)], deviations: Annotated[NDArray[numpy.int16], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Replace the numbers of a stage in one environment."""

    def set_bypassed(self, stage: int, bypassed: Annotated[NDArray[numpy.uint8], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Set for each pad whether the stage does not change its readings."""

    def restart(self, environment: int, seed: int) -> None:
        """Reset the memory of an environment, except that of the tare."""

    def make_room(self, steps: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        Ensure that delays can store another reading of these steps (n,), before `run` stores it.
        """

    def read(self, workspace: ChainWorkspace, step: int, truth: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], keep: bool, count: int, own: object | None) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """
        Return the readings (taxels, channels) of the only environment, as `make_room` and `run` compute them.
        """

    def tare(self, environment: int, zero: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)] | None) -> None:
        """Subtract readings (taxels, channels) from all later ones, or nothing."""

    def tared(self, environment: int) -> bool: ...

    def zero(self, environment: int) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Return the readings (taxels, channels) that the tare subtracts."""

    def history(self, environment: int) -> Annotated[NDArray[numpy.float32], dict(shape=(None,))]:
        """
        Return the outputs (samples * channels * taxels,) stored by `history`, oldest first.
        """

    def kept(self, environment: int) -> int:
        """Return the step of the last stored reading, or -1."""

    @property
    def waits_for_tare(self) -> bool:
        """Whether an automatic tare is still pending in some environment."""

    @property
    def memory_bytes(self) -> list[int]:
        """Memory of each environment, for each stage [bytes]."""

    @overload
    def run(self, workspace: ChainWorkspace, environments: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], steps: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], truth: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], output: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], keep: bool, count: int, own: object | None) -> None: ...

    @overload
    def run(self, workspace: ChainWorkspace, environments: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], steps: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], truth: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], output: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu')], keep: bool, count: int, own: object | None) -> None: ...

    @overload
    def run(self, workspace: ChainWorkspace, environments: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], steps: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], truth: Annotated[NDArray[numpy.float64], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], output: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], keep: bool, count: int, own: object | None) -> None: ...

    @overload
    def run(self, workspace: ChainWorkspace, environments: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], steps: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], truth: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu', writable=False)], output: Annotated[NDArray[numpy.float32], dict(shape=(None, None, None), order='C', device='cpu')], keep: bool, count: int, own: object | None) -> None:
        """
        Compute the readings of some environments with the first `count` stages. `own(stage, env, step, interval, first, again, keep, key)` computes stages that the library does not know.
        """

class Physics:
    """The steps of an mjData, without repeated calls of mj_forward."""

    def __init__(self, model: object, data: object, integrate: object, require_controls: object) -> None: ...

    def forward(self) -> bool:
        """
        Compute everything for the current state; return False if nothing has changed since then.
        """

    def integrate(self) -> None:
        """Advance one time step from the state of the last `forward`."""

    def step(self, n: int) -> None:
        """Advance n time steps."""

    @property
    def time(self) -> float:
        """Time since the last reset [s]."""

    def unstable(self) -> bool:
        """Return whether MuJoCo found invalid values since the last reset."""

class Stepper:
    """
    Steps of a simulation whose readings and their memory need no Python code.
    """

    def __init__(self, physics: Physics, skin: object, function: SkinFunction, program: object | None, workspace: object | None, keeps: bool, marks: bool, rates: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], taxels: int) -> None: ...

    def set_pads(self, directions: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], starts: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], stops: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], states: Annotated[NDArray[numpy.float64], dict(shape=(None, 4), order='C', device='cpu')], thresholds: Annotated[NDArray[numpy.float64], dict(shape=(None, None), order='C', device='cpu', writable=False)], timestep: float) -> None:
        """Set the pads whose contact states (p, 4) are stored."""

    def advance(self, n: int, step: int, since_reset: int) -> None:
        """
        Take n steps, or fewer if the physics becomes unstable, and store the readings of those that are due.
        """

    @property
    def taken(self) -> int:
        """Number of steps that the last call of `advance` took."""

    def stored(self) -> bool:
        """Return whether readings were stored since the last call."""

    def truth(self) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """Return the readings (taxels, channels) before the signal chain."""

    def output(self, step: int, keep: bool) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
        """
        Return the readings after the chain, and their validity, which is empty if all are valid.
        """

    def published(self) -> tuple[Annotated[NDArray[numpy.float64], dict(shape=(None, None))], Annotated[NDArray[numpy.uint8], dict(shape=(None,))]]:
        """Return what `advance` has stored last, as `output`."""

def apply_rules(desired: Annotated[NDArray[numpy.float64], dict(shape=(4, None), order='C', device='cpu', writable=False)], gains: Annotated[NDArray[numpy.float64], dict(shape=(4, None), order='C', device='cpu', writable=False)], positions: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], velocities: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], applied: Annotated[NDArray[numpy.float64], dict(shape=(3, None), order='C', device='cpu')]) -> None:
    """
    Compute applied torques and gains (3, n); see tactile_sim.trifinger.physics.
    """

def add_drag(model: int, data: int, dampings: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
    """
    Add drag to qfrc_passive, with a damping (nbody,) for each body [1/s]; call this after mj_step1.
    """

def limit_speed(positions: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], velocities: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu')], time_step: float, most: float) -> None:
    """Limit joint speeds after a semi-implicit step, in place."""

def shift_references(model: int, data: int, references: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)], accelerations: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> float:
    """
    Shift the reference accelerations of contacts; see tactile_sim.trifinger.physics.
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

    def __init__(self, steps: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)], pieces: bytes, spans: Annotated[NDArray[numpy.int64], dict(shape=(None, None), order='C', device='cpu', writable=False)]) -> None: ...

    def fill(self, stamp: int, keys: NDArray[numpy.int32], values: NDArray[numpy.float64], points: NDArray[numpy.float64], *data: object) -> bytes | tuple[int, int]:
        """
        Return the message, or the row and the index of the step at which it failed.
        """

    def reserve(self, stamp: int, size: int) -> tuple:
        """
        Return a message with one payload of this size and otherwise only stamps, and a view of the payload.
        """
