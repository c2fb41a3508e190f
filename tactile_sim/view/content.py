"""The content of a view: a constant scene and its frames, without browsers and physics engines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tactile_sim.bag.messages import LiveView

if TYPE_CHECKING:
    import trimesh


def _empty(*shape: int) -> np.ndarray:
    return field(default_factory=lambda: np.zeros(shape))


@dataclass(frozen=True)
class Shape:
    """A triangle mesh fixed to a body."""

    name: str
    body: int
    """Index into ``ViewScene.bodies``."""
    vertices: np.ndarray
    """Positions in the body's frame (v, 3) [m]."""
    faces: np.ndarray
    """Vertex indices of the triangles (f, 3), wound outward."""
    color: np.ndarray
    """RGBA color (4,), 0 to 1."""


@dataclass(frozen=True)
class ImageInfo:
    """Description of a tactile image of a body or of a camera's image, without its pixels."""

    body: int
    """Index into ``ViewScene.bodies`` of the body, or of the body that carries the camera."""
    width: int
    """Width of the image [px]."""
    height: int
    """Height of the image [px]."""
    source: str = "skin"
    """Source of the readings, ``skin`` or ``feelers``; or ``camera``."""
    camera: str = ""
    """Name of the camera."""


@dataclass(frozen=True)
class StageSwitch:
    """A switch for a stage of the signal chain on some pads."""

    parameter: str
    """Name of the live parameter that the switch sets."""
    stage: str
    pads: tuple[str, ...]
    """Names of the pads on which the switch acts."""
    description: str
    """Effect of the stage, with its parameters."""


@dataclass(frozen=True)
class ViewScene:
    """The constant part of a view: shapes, taxels, feelers and the available controls.

    Positions and normals are in the frame of their body.
    """

    title: str
    bodies: tuple[str, ...]
    """Body names, starting with the world."""
    shapes: tuple[Shape, ...] = ()
    timestep: float = 0.0
    """Time step of the simulation [s]; 0 if unknown."""
    real_time_factor: float = 1.0
    """Initial requested real-time factor; 0 means as fast as possible."""
    center: np.ndarray = _empty(3)
    """Center of the region of interest (3,), world frame [m]."""
    extent: float = 0.0
    """Diameter of the region of interest [m]; if it is 0, the content determines the region."""
    camera: np.ndarray | None = None
    """Initial camera position (3,), world frame [m], or None for the default; see `Viewpoint.camera`."""
    cameras: tuple[tuple[str, np.ndarray, np.ndarray], ...] = ()
    """Name, position (3,) and look-at point (3,) of each fixed camera, world frame [m]."""

    parents: np.ndarray = _empty(0)
    """Index of each body's parent (bodies,). Roots are their own parents. If empty, all bodies are roots."""
    skin_bodies: np.ndarray = _empty(0)
    """Body index of each pad (s,)."""
    pads: tuple[str, ...] = ()
    """Names of the pads (s,)."""
    taxel_counts: np.ndarray = _empty(0)
    """Number of taxels of each pad (s,). Taxel arrays list one pad after another."""
    taxel_positions: np.ndarray = _empty(0, 3)
    """Positions of the taxels (n, 3) [m]."""
    taxel_normals: np.ndarray = _empty(0, 3)
    """Outward unit normals of the taxels (n, 3)."""
    taxel_ids: np.ndarray = _empty(0)
    """Taxel ids (n,), as numbered by their sensors."""
    taxel_triangles: np.ndarray = _empty(0, 3)
    """Taxel indices (t, 3) of the triangles that connect taxels, wound outward."""
    taxel_spacings: np.ndarray = _empty(0)
    """Taxel spacing of each pad (s,) [m]."""
    taxel_scale: float = 1.0
    """Expected largest reading, in the unit of the readings."""

    feeler_bodies: np.ndarray = _empty(0)
    """Body index of each feeler (f,)."""
    feeler_positions: np.ndarray = _empty(0, 3)
    """Roots of the feelers (f, 3) [m]."""
    feeler_normals: np.ndarray = _empty(0, 3)
    """Unit directions of the feelers (f, 3)."""
    feeler_lengths: np.ndarray = _empty(0)
    """Full lengths of the feelers (f,) [m]."""
    images: tuple[ImageInfo, ...] = ()

    actuators: tuple[str, ...] = ()
    """Names of the actuator controls."""
    control_ranges: np.ndarray = _empty(0, 2)
    """Lower and upper control limits (a, 2); infinite for actuators without limits."""
    pushable_bodies: tuple[int, ...] = ()
    """Indices of the bodies that can be pushed."""
    choices: tuple[tuple[str, tuple[str, ...], str], ...] = ()
    """Name, options and initial value of each live parameter with text values."""
    stages: tuple[StageSwitch, ...] = ()
    keyframes: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    """Names of the actions for which the panel has buttons."""
    output_folder: str = ""
    """Folder on this machine for bags, films and replays; empty if the panel creates no files."""
    start_hints: tuple[str, ...] = ()
    """Sentences that explain why time does not advance, and how to start it."""
    live_view: LiveView | None = None
    """Camera and color scale with which the view opens, or None for the default."""
    bag: str = ""
    """Path of the bag that the view shows, or empty for a simulation."""


_OTHER_BODIES = ("bodies", "shapes", "parents", "center", "extent", "camera", "cameras", "pushable_bodies")
"""Fields in which scenes with the same skin and controls may differ."""


def has_same_skin(one: ViewScene, other: ViewScene) -> bool:
    """Return whether two scenes differ only in bodies without skin and in their shapes and cameras."""

    def same(name: str) -> bool:
        first, second = getattr(one, name), getattr(other, name)
        return np.array_equal(first, second) if isinstance(first, np.ndarray) else bool(first == second)

    names = [[scene.bodies[body] for body in scene.skin_bodies.astype(int)] for scene in (one, other)]
    return names[0] == names[1] and all(
        same(field.name) for field in fields(ViewScene) if field.name not in _OTHER_BODIES
    )


@dataclass(frozen=True)
class ViewFrame:
    """The variable content of a view at one time. Vectors are in the world frame."""

    time: float
    """Simulation time [s]."""
    body_positions: np.ndarray
    """Positions of the bodies (bodies, 3) [m]."""
    body_quaternions: np.ndarray
    """Orientations of the bodies (bodies, 4), wxyz."""
    readings: np.ndarray = _empty(0)
    """Magnitude of each taxel's reading (n,)."""
    valid: np.ndarray = _empty(0)
    """(n,) bool, whether each reading is valid. If empty, all readings are valid."""
    unit: str = "N"
    """Unit of the readings."""
    taxel_scale: float = 0.0
    """Reading at the end of the color scale; 0 adapts the scale to the readings."""
    forces: np.ndarray = _empty(0, 3)
    """Net force on each pad's body (s, 3) [N]; in a bag without contacts, the sum of its readings."""
    pad_readings: np.ndarray = _empty(0)
    """Force on each pad by its own readings (s,) [N], or its largest reading if the unit is another one."""
    contact_points: np.ndarray = _empty(0, 3)
    """Positions of the contacts (c, 3) [m]."""
    contact_bodies: np.ndarray = _empty(0, 2)
    """Indices of the two bodies in each contact (c, 2), or -1 for unknown bodies. May be empty."""
    arrows: np.ndarray = _empty(0, 2, 3)
    """Start and end points of the force arrows (k, 2, 3) [m]."""
    arrow_kinds: np.ndarray = _empty(0)
    """Kinds of the arrows (k,), as in `tactile_sim.figures.arrows`."""
    arrow_sources: np.ndarray = _empty(0)
    """Index (k,) of each arrow's contact, or of its pad if the arrow is a net force. May be empty."""
    arrow_scale: float = 0.0
    """Length of an arrow per force [m/N]."""
    pull_force: float = 0.0
    """Magnitude of the spring force with which a user drags a body [N]; 0 without a drag."""
    free_lengths: np.ndarray = _empty(0)
    """Free length of each feeler (f,) [m]."""
    images: tuple[np.ndarray, ...] = ()
    """Pixels of each image in ``ViewScene.images``, (height, width) or (height, width, 3) uint8."""
    controls: np.ndarray = _empty(0)
    """Actuator controls (a,)."""
    enabled: np.ndarray = _empty(0)
    """Whether each stage in ``ViewScene.stages`` is on, bool; may be empty."""
    real_time_factor: float = 0.0
    """Measured real-time factor."""
    paused: bool = False
    discontinuous: bool = False
    """Whether the motion from the previous frame is discontinuous, for example after a reset or a throw."""
    fault: str = ""
    """Description of the physics fault that stopped the simulation, or an empty string."""


class Controls(Protocol):
    """Receives requests from browsers."""

    def ask(self, action: str, *arguments: Any) -> None:
        """Request an action from `tactile_sim.simulation.actions.ACTIONS` without waiting for its result.

        The result is visible in later frames or reported in a notice.
        """


Mesh = tuple[np.ndarray, np.ndarray]
"""Vertices (v, 3) [m] and triangles (t, 3), wound outward."""


def box(size: Sequence[float] | np.ndarray) -> Mesh:
    """Return a box with the specified side lengths (3,) [m]."""
    return _scaled(_unit("box"), size)


def ellipsoid(size: Sequence[float] | np.ndarray) -> Mesh:
    """Return an ellipsoid with the specified diameters (3,) [m]."""
    return _scaled(_unit("ball"), size)


def cylinder(size: Sequence[float] | np.ndarray) -> Mesh:
    """Return a cylinder along z. The size (3,) is its diameters in x and y and its height [m]."""
    return _scaled(_unit("cylinder"), size)


@cache
def _unit(kind: str) -> trimesh.Trimesh:
    """Return the specified shape with a bounding box of side length 1."""
    import trimesh  # takes 0.2 s and is needed only for a view

    match kind:
        case "box":
            return trimesh.creation.box()
        case "ball":
            return trimesh.creation.uv_sphere(radius=0.5, count=[24, 24])
        case _:
            return trimesh.creation.cylinder(radius=0.5, height=1.0, sections=48)


def _scaled(mesh: trimesh.Trimesh, size: Sequence[float] | np.ndarray) -> Mesh:
    return np.asarray(mesh.vertices) * np.asarray(size, float), np.asarray(mesh.faces)
