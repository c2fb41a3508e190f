"""The inner loops of tactile_sim, as one C++ library."""

from collections.abc import Sequence
import enum
from typing import Annotated, overload

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
