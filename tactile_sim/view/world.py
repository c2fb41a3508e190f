"""What there is to see: a scene that stays as it is, and one moment of it. Knows no browser, no engine."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np


def _none(*shape: int) -> np.ndarray:
    return field(default_factory=lambda: np.zeros(shape))


@dataclass(frozen=True)
class Shape:
    """A thing that is drawn, fixed to a body."""

    name: str
    body: int
    """Index into ``World.bodies``."""
    vertices: np.ndarray
    """(v, 3) in the body's frame [m]."""
    faces: np.ndarray
    """(f, 3) indices of vertices, wound outward."""
    color: np.ndarray
    """(4,) red, green, blue, alpha, 0 to 1."""


@dataclass(frozen=True)
class Picture:
    """The tactile image of a body."""

    body: int
    """Index into ``World.bodies``."""
    width: int
    height: int
    sense: str = "skin"
    """Whose image it is: of ``skin`` or of ``feelers``."""


@dataclass(frozen=True)
class World:
    """A scene with its skin: what stays as it is from moment to moment."""

    title: str
    bodies: tuple[str, ...]
    """The world first."""
    shapes: tuple[Shape, ...] = ()
    timestep: float = 0.0
    """[s]; 0: unknown."""
    real_time_factor: float = 1.0
    """What is asked for at first; 0: as fast as possible."""
    center: np.ndarray = _none(3)
    """(3,) the middle of what is worth seeing, in the world [m]."""
    extent: float = 0.0
    """How large that is [m]; 0: unknown, to be found from the skin and the shapes."""
    camera: np.ndarray | None = None
    """(3,) from where it is seen at first, in the world [m]; None: from the front right, a little above."""

    skin_bodies: np.ndarray = _none(0)
    """(s,) indices of the bodies with skin."""
    taxel_counts: np.ndarray = _none(0)
    """(s,) taxels of each, one body after another in all arrays over taxels."""
    taxel_positions: np.ndarray = _none(0, 3)
    """(n, 3) in their bodies' frames [m]."""
    taxel_normals: np.ndarray = _none(0, 3)
    """(n, 3) outward, unit."""
    taxel_spacings: np.ndarray = _none(0)
    """(s,) [m]"""
    taxel_scale: float = 1.0
    """The reading at the end of the colour scale: [N], or what ``Moment.unit`` says."""

    feeler_bodies: np.ndarray = _none(0)
    """(f,) the body of each feeler."""
    feeler_positions: np.ndarray = _none(0, 3)
    """(f, 3) in their bodies' frames [m]."""
    feeler_normals: np.ndarray = _none(0, 3)
    """(f, 3) where they point, unit."""
    feeler_lengths: np.ndarray = _none(0)
    """(f,) [m]"""
    pictures: tuple[Picture, ...] = ()

    actuators: tuple[str, ...] = ()
    control_ranges: np.ndarray = _none(0, 2)
    """(a, 2) least and most, infinite where there is no bound."""
    free_bodies: tuple[int, ...] = ()
    """Those that can be pushed."""
    keyframes: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    """Names of the actions that the panel has buttons for."""


@dataclass(frozen=True)
class Moment:
    """How it all is at one time."""

    time: float
    """Simulation time [s]."""
    body_positions: np.ndarray
    """(bodies, 3) in the world [m]."""
    body_quaternions: np.ndarray
    """(bodies, 4) wxyz."""
    taxels: np.ndarray = _none(0)
    """(n,) magnitude of each reading."""
    unit: str = "N"
    taxel_scale: float = 0.0
    """The reading at the end of the colour scale, where it was chosen; 0: as the world has it."""
    forces: np.ndarray = _none(0, 3)
    """(s, 3) net force on each body with skin, in the world [N]."""
    contacts: np.ndarray = _none(0, 3)
    """(c, 3) contact points in the world [m]."""
    arrows: np.ndarray = _none(0, 2, 3)
    """(k, 2, 3) ends of the force arrows in the world [m]."""
    arrow_kinds: np.ndarray = _none(0)
    """(k,) as in `tactile_sim.drawing.arrows`: normal, first tangent, second tangent, net."""
    feelers: np.ndarray = _none(0)
    """(f,) free lengths [m]."""
    pictures: tuple[np.ndarray, ...] = ()
    """Each (height, width) or (height, width, 3) uint8."""
    controls: np.ndarray = _none(0)
    """(a,)"""
    real_time_factor: float = 0.0
    paused: bool = False
    begins: bool = False
    """Whether something other than time led here: a jump, or a change of the state from outside."""
    fault: str = ""
    """What broke the physics, if anything did."""
