"""Topics for RViz and Foxglove: markers for contacts, skin and geoms, and the scene as URDF."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from importlib.util import find_spec
from typing import Any

import mujoco
import numpy as np
from std_msgs.msg import String
from visualization_msgs.msg import Marker, MarkerArray

from tactile_sim.common.frames import to_xyzw
from tactile_sim.config import robot_description
from tactile_sim.engines import Contacts
from tactile_sim.figures import colors
from tactile_sim.figures.arrows import LitTriangles, force_arrows
from tactile_sim.figures.colors import taxel_scale, unit_rgba
from tactile_sim.geometry.shapes import capsule_mesh, geom_colors, geom_mesh
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic, header, latched
from tactile_sim.simulation import Simulation, Snapshot

POINT, POINT_SHARE = 0.004, 0.008
"""Default radius of a contact point [m], and its largest share of the scene's extent."""
LONGEST = 0.5
"""Maximum length of an arrow, as a fraction of the scene's extent, so that it stays in the window."""
_LEVELS = 9
"""Number of colors in which feelers are drawn. All feelers of one color form one marker."""
_FREE, _COVERED = np.array(unit_rgba(colors.FREE_FEELER)), np.array(unit_rgba(colors.COVERED_FEELER))
_LOOKS = (
    ("normal force (green)", Marker.ARROW, Marker.ADD, unit_rgba(colors.MARKER_NORMAL)),
    ("friction (red, blue)", Marker.ARROW, Marker.ADD, unit_rgba(colors.MARKER_TANGENT1)),
    ("friction (red, blue)", Marker.ARROW, Marker.ADD, unit_rgba(colors.MARKER_TANGENT2)),
    ("net force (yellow)", Marker.ARROW, Marker.ADD, unit_rgba(colors.MARKER_NET)),
    ("contact points (white)", Marker.SPHERE_LIST, Marker.ADD, unit_rgba(colors.CONTACT_POINT)),
    ("", Marker.ARROW, Marker.DELETEALL, (1.0, 1.0, 1.0, 1.0)),
    *(
        ("feelers (yellow: covered)", Marker.LINE_LIST, Marker.ADD, tuple(_FREE + share * (_COVERED - _FREE)))
        for share in np.linspace(0.0, 1.0, _LEVELS)
    ),
)
"""Namespace, type, action and RGBA color of each kind of marker.

RViz lists the namespaces below its display, where they are the legend. The first four kinds are the arrows of
`tactile_sim.figures.arrows`, in the same order.
"""
_POINTS, _CLEAR, _FEELERS = 4, 5, 6
_BALL = (2.0, 2.0, 2.0)
_LINE = (0.3, 0.3, 0.3)
"""Marker scale of a line list, in contact point radii: the line width, and two unused values."""
_SHAFT_AND_HEAD = (0.6, 1.5, 2.0)
"""Shaft diameter, head diameter and head length of an arrow, in contact point radii."""


def marker_topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield ``markers``: contacts, net forces and feelers for RViz.

    Contact points are white. Normal forces are green, first tangential forces red, second tangential forces
    blue, and the net force on each body is yellow. Contact forces are those on the second body. If an arrow
    is longer than half the extent of the scene, all arrows are shortened by the same factor. The color of
    feelers ranges from gray (free) to yellow (covered).
    """
    engine, world = simulation.engine, simulation.settings.world_frame
    first_pads = np.unique(simulation.skin.pad_bodies, return_index=True)[1]  # of each body with skin
    usual_radius = min(POINT, POINT_SHARE * engine.model.stat.extent)
    template = lru_cache(1)(lambda radius: _marker_template(world, radius))

    def make(snapshot: Snapshot) -> bytes:
        settings = simulation.settings.markers  # can change at run time
        contacts = snapshot.contacts.values
        ends, parts, _ = force_arrows(
            contacts,
            engine.body_positions,
            engine.body_rotations,
            simulation.skin_bodies,
            snapshot.wrenches[first_pads],
            settings.force_scale,
            True,
            LONGEST * engine.model.stat.extent,
        )
        keys, points = _contact_markers(contacts, ends, parts)
        if len(simulation.feelers.positions):
            keys, points = _with_feelers(keys, points, *snapshot.feeler_segments)
        return template(settings.contact_radius or usual_radius).fill(snapshot.stamp, keys, points=points)

    yield Topic("markers", MarkerArray, "markers", make)


def _marker_template(world: str, radius: float) -> cdr.MessageTemplate:
    """Return the message template for a contact point radius [m]."""
    spaces, types, actions, rgba = zip(*_LOOKS, strict=True)
    sizes = {Marker.ARROW: _SHAFT_AND_HEAD, Marker.SPHERE_LIST: _BALL, Marker.LINE_LIST: _LINE}
    scales = radius * np.array([sizes[kind] for kind in types])
    marker = {
        "header": header(world),
        "ns": cdr.Lookup(0, spaces),
        "id": cdr.IntColumn(1),
        "type": cdr.Lookup(0, types),
        "action": cdr.Lookup(0, actions),
        "pose": {"orientation": {"w": 1.0}},
        "scale": cdr.Lookup(0, scales.tolist()),
        "color": cdr.Lookup(0, rgba),
        "points": cdr.RowRange(2, 3),
    }
    return cdr.template(MarkerArray, {"markers": cdr.Repeat(marker)})


def _contact_markers(
    contacts: np.ndarray, ends: np.ndarray, kinds: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the markers of contact points and arrows, after one that deletes all earlier markers.

    Earlier markers are deleted in the same message, so that no marker outlives its contact.

    - ``contacts``: (n, WIDTH) quantities of the contacts, as in ``Contacts.values``.
    - ``ends``: (a, 2, 3) start and end of the arrows [m].
    - ``kinds``: (a,) kinds of the arrows, indices into `_LOOKS`.

    Returns:
        Keys (m, 4) int32 with one row per marker: index into `_LOOKS`, id, index of its first point, and
        number of its points; and the points (p, 3) of all markers [m].
    """
    n, first = len(contacts), 2 if len(contacts) else 1
    keys = np.zeros((first + len(ends), 4), np.int32)
    keys[0, 0] = _CLEAR
    if n:
        keys[1] = _POINTS, 0, 0, n
    arrows, number = keys[first:], np.arange(len(ends))
    arrows[:, 0], arrows[:, 1], arrows[:, 2], arrows[:, 3] = kinds, number, n + 2 * number, 2
    return keys, np.concatenate([contacts[:, Contacts.POSITION : Contacts.POSITION + 3], ends.reshape(-1, 3)])


def _with_feelers(
    keys: np.ndarray, points: np.ndarray, lines: np.ndarray, cover: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Append one marker for each feeler color in use.

    - ``keys``: Keys (m, 4) int32 of the other markers, as from `_contact_markers`.
    - ``points``: (p, 3) points of these markers, world frame [m].
    - ``lines``: (f, 2, 3) roots and tips of the feelers, world frame [m].
    - ``cover``: (f,) covered fraction of each feeler, 0 (free) to 1.

    Returns:
        The extended keys and points.
    """
    levels = np.rint(cover * (_LEVELS - 1)).astype(np.int64)
    order = np.argsort(levels, kind="stable")
    used, counts = np.unique(levels, return_counts=True)
    added = np.empty((len(used), 4), np.int32)
    added[:, 0] = _FEELERS + used
    added[:, 1] = used
    added[:, 3] = 2 * counts
    added[:, 2] = len(points) + np.cumsum(added[:, 3]) - added[:, 3]
    return np.concatenate([keys, added]), np.concatenate([points, lines[order].reshape(-1, 3)])


LIFT = 0.05
"""Height of the triangles above the surface, relative to the spacing. RViz draws geoms at the surface."""


def skin_marker_topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield ``skin_markers``: all triangles with contact at one or more corners, one marker for each pad.

    The markers are locked to the frames of the bodies, so that RViz moves them with every ``/tf``, like the
    geoms. The colors are the same as in the views, on a logarithmic scale that ends at
    ``markers.taxel_scale`` [N].
    """
    skin, world = simulation.skin, simulation.settings.world_frame
    find_lit, largest = LitTriangles(skin, LIFT), taxel_scale(simulation.engine.model)
    frames = [simulation.frames[body] for body in skin.pad_bodies]

    @cache
    def template(count: int) -> cdr.MessageTemplate:
        """Return the template for a number of pads in contact; its keys (1, count) are their indices."""
        # Delete the previous triangles in the same message. RViz reports an error for a list without points,
        # and for two markers of one message that have the same namespace and id, also if one of them is a
        # deletion.
        clear = _skin_marker(world, ns="", action=Marker.DELETEALL)
        lit = [
            _skin_marker(
                cdr.Lookup(column, frames),
                id=cdr.IntColumn(column),
                frame_locked=True,
                points=cdr.Payload(),
                colors=cdr.Payload(),
            )
            for column in range(count)
        ]
        return cdr.template(MarkerArray, {"markers": [clear, *lit]})

    def make(snapshot: Snapshot) -> bytes:
        scale = simulation.settings.markers.taxel_scale or largest
        pads, corners, colors = find_lit(snapshot.forces_world, scale)
        if not len(pads):
            return template(0).fill(snapshot.stamp)
        data = tuple(part for both in zip(corners, colors, strict=True) for part in both)
        return template(len(pads)).fill(snapshot.stamp, pads[None], data=data)

    yield Topic("markers", MarkerArray, "skin_markers", make, frames=tuple(frames))


def _skin_marker(frame: Any, **fields: Any) -> dict[str, Any]:
    return {
        "header": header(frame),
        "ns": "skin",
        "type": Marker.TRIANGLE_LIST,
        "action": Marker.ADD,
        "pose": {"orientation": {"w": 1.0}},
        "scale": {"x": 1.0, "y": 1.0, "z": 1.0},
        "color": {"r": 1.0, "g": 1.0, "b": 1.0, "a": 1.0},
        **fields,
    }


PLANE_EXTENT = 10.0
"""Half the edge length of the squares that represent infinite planes [m]."""
PLANE_THICKNESS = 0.001
"""Thickness of the boxes that represent planes [m]."""

_GEOM = mujoco.mjtGeom


def scene_topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield ``scene_markers`` (all visible geoms in the frames of their bodies) and ``robot_description``.

    If foxglove_msgs is installed, also yield ``scene_update``, which contains the same geoms.

    Geoms that MuJoCo's viewer hides by default (groups 3 and up) and geoms with alpha 0 are left out. Markers
    are published again when ``/tf`` gets a new subscriber, because RViz drops markers that arrive before
    the frames of the current run.
    """
    model, names = simulation.engine.model, simulation.names
    markers = _scene_markers(model, names.geoms, simulation.frames)
    fields = {"markers": markers}
    yield latched(MarkerArray, "scene_markers", lambda _: fields, again_after="/tf")
    if find_spec("foxglove_msgs"):
        yield _scene_update(markers)
    description = {"data": robot_description(simulation.settings, model, names)}
    yield latched(String, "robot_description", lambda _: description)


def _scene_markers(model: mujoco.MjModel, names: list[str], frames: list[str]) -> list[dict[str, Any]]:
    colors = geom_colors(model)
    return [
        {
            "header": header(frames[model.geom_bodyid[geom]], 0),
            "ns": names[geom],
            "id": geom,
            "frame_locked": True,
            "pose": np.concatenate([model.geom_pos[geom], to_xyzw(model.geom_quat[geom])]),
            "color": colors[geom],
            **_shape(model, geom),
        }
        for geom in range(model.ngeom)
        if model.geom_group[geom] < 3 and colors[geom, 3] > 0.0
    ]


def _shape(model: mujoco.MjModel, geom: int) -> dict[str, Any]:
    """Return the type, scale and triangles of a geom as marker fields."""
    size = model.geom_size[geom]
    match _GEOM(model.geom_type[geom]):
        case _GEOM.mjGEOM_SPHERE:
            return {"type": Marker.SPHERE, "scale": [2 * size[0]] * 3}
        case _GEOM.mjGEOM_ELLIPSOID:
            return {"type": Marker.SPHERE, "scale": 2 * size}
        case _GEOM.mjGEOM_BOX:
            return {"type": Marker.CUBE, "scale": 2 * size}
        case _GEOM.mjGEOM_CYLINDER:
            return {"type": Marker.CYLINDER, "scale": [2 * size[0], 2 * size[0], 2 * size[1]]}
        case _GEOM.mjGEOM_PLANE:
            sides = 2 * np.where(size[:2] > 0.0, size[:2], PLANE_EXTENT)
            return {"type": Marker.CUBE, "scale": [*sides, PLANE_THICKNESS]}
        case _GEOM.mjGEOM_CAPSULE:
            vertices, faces = capsule_mesh(size[0], size[1])
        case _:
            vertices, faces = geom_mesh(model, geom)
    return {"type": Marker.TRIANGLE_LIST, "scale": [1.0] * 3, "points": vertices[faces].reshape(-1, 3)}


_ENTITY_KINDS = {Marker.CUBE: "cubes", Marker.SPHERE: "spheres", Marker.CYLINDER: "cylinders"}


def _scene_update(markers: Sequence[dict[str, Any]]) -> Topic:
    """Return ``scene_update``, which has one entity for each marker of ``scene_markers``."""
    from foxglove_msgs.msg import SceneUpdate

    fields = {"entities": [_entity(marker) for marker in markers]}
    return latched(SceneUpdate, "scene_update", lambda _: fields, again_after="/tf")


def _entity(marker: dict[str, Any]) -> dict[str, Any]:
    shape = {"pose": marker["pose"], "color": marker["color"]}
    if marker["type"] in _ENTITY_KINDS:
        kind = _ENTITY_KINDS[marker["type"]]
        shape["size"] = marker["scale"]
        if kind == "cylinders":
            shape |= {"bottom_scale": 1.0, "top_scale": 1.0}
    else:
        kind = "triangles"
        points, indices = np.unique(marker["points"], axis=0, return_inverse=True)
        shape |= {"points": points, "indices": indices.ravel().astype(np.uint32)}
    return {
        "timestamp": marker["header"]["stamp"],
        "frame_id": marker["header"]["frame_id"],
        "id": marker["ns"],
        "frame_locked": marker["frame_locked"],
        kind: [shape],
    }
