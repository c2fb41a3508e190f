"""The content of a view: a scene, which is constant, and its frames. Independent of browsers and engines."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


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
    """Red, green, blue and alpha (4,), 0 to 1."""


@dataclass(frozen=True)
class ImageInfo:
    """The tactile image of a body, without its pixels."""

    body: int
    """Index into ``ViewScene.bodies``."""
    width: int
    """[px]"""
    height: int
    """[px]"""
    source: str = "skin"
    """``skin`` or ``feelers``."""


@dataclass(frozen=True)
class ViewScene:
    """The constant part of a view: shapes, taxels, feelers and the available controls.

    Positions and normals are in the frame of their body.
    """

    title: str
    bodies: tuple[str, ...]
    """Body names, the world first."""
    shapes: tuple[Shape, ...] = ()
    timestep: float = 0.0
    """[s]; 0: unknown."""
    real_time_factor: float = 1.0
    """Requested at the start; 0: as fast as possible."""
    center: np.ndarray = _empty(3)
    """Center of the region of interest (3,), world frame [m]."""
    extent: float = 0.0
    """Diameter of that region [m]; 0: computed from the skin and the shapes."""
    camera: np.ndarray | None = None
    """Initial camera position (3,), world frame [m]; None: in front, on the right, slightly above."""
    cameras: tuple[tuple[str, np.ndarray, np.ndarray], ...] = ()
    """Name, position (3,) and the point looked at (3,) of fixed cameras, world frame [m]."""

    skin_bodies: np.ndarray = _empty(0)
    """Index of the body of each pad (s,)."""
    pads: tuple[str, ...] = ()
    """Names of the pads (s,)."""
    taxel_counts: np.ndarray = _empty(0)
    """Number of taxels of each pad (s,). Taxel arrays list one pad after another."""
    taxel_positions: np.ndarray = _empty(0, 3)
    """(n, 3) [m]"""
    taxel_normals: np.ndarray = _empty(0, 3)
    """Outward unit normals (n, 3)."""
    taxel_ids: np.ndarray = _empty(0)
    """Ids of the taxels in the numbering of their sensors (n,)."""
    taxel_triangles: np.ndarray = _empty(0, 3)
    """Taxel indices of the triangles between taxels (t, 3), wound outward."""
    taxel_spacings: np.ndarray = _empty(0)
    """Taxel spacing of each pad (s,) [m]."""
    taxel_scale: float = 1.0
    """Expected largest reading, in the unit of the readings."""

    feeler_bodies: np.ndarray = _empty(0)
    """Body index of each feeler (f,)."""
    feeler_positions: np.ndarray = _empty(0, 3)
    """Roots (f, 3) [m]."""
    feeler_normals: np.ndarray = _empty(0, 3)
    """Unit directions (f, 3)."""
    feeler_lengths: np.ndarray = _empty(0)
    """(f,) [m]"""
    images: tuple[ImageInfo, ...] = ()

    actuators: tuple[str, ...] = ()
    """Actuator names."""
    control_ranges: np.ndarray = _empty(0, 2)
    """Lower and upper control limits (a, 2), infinite if unlimited."""
    pushable_bodies: tuple[int, ...] = ()
    """Indices of the bodies that can be pushed."""
    choices: tuple[tuple[str, tuple[str, ...], str], ...] = ()
    """Name, options and initial value of live parameters that are texts."""
    keyframes: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    """Names of the actions that the panel has buttons for."""


@dataclass(frozen=True)
class ViewFrame:
    """The variable part of a view at one time. Vectors are in the world frame."""

    time: float
    """Simulation time [s]."""
    body_positions: np.ndarray
    """(bodies, 3) [m]"""
    body_quaternions: np.ndarray
    """(bodies, 4) wxyz"""
    readings: np.ndarray = _empty(0)
    """Magnitude of each taxel's reading (n,)."""
    valid: np.ndarray = _empty(0)
    """Whether each reading is valid (n,) bool; empty: all are."""
    unit: str = "N"
    """Unit of the readings."""
    taxel_scale: float = 0.0
    """Reading at the end of the colour scale if one was set; 0: it follows the readings."""
    forces: np.ndarray = _empty(0, 3)
    """Net force on each body with skin (s, 3) [N]."""
    contact_points: np.ndarray = _empty(0, 3)
    """(c, 3) [m]"""
    arrows: np.ndarray = _empty(0, 2, 3)
    """Start and end points of the force arrows (k, 2, 3) [m]."""
    arrow_kinds: np.ndarray = _empty(0)
    """Kinds of the arrows (k,), as in `tactile_sim.drawing.arrows`."""
    arrow_scale: float = 0.0
    """Length of an arrow per force [m/N]."""
    pull_force: float = 0.0
    """Force of the spring by which a user drags a body [N]."""
    free_lengths: np.ndarray = _empty(0)
    """Free length of each feeler (f,) [m]."""
    images: tuple[np.ndarray, ...] = ()
    """Pixels of each tactile image, (height, width) or (height, width, 3) uint8."""
    controls: np.ndarray = _empty(0)
    """Actuator controls (a,)."""
    real_time_factor: float = 0.0
    """Measured."""
    paused: bool = False
    discontinuous: bool = False
    """True if this frame does not continue the last one: after a jump in time, a reset, a throw or a push."""
    fault: str = ""
    """Why the physics stopped, if it did."""
