"""RViz markers for contacts, net forces and feelers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np
from visualization_msgs.msg import Marker, MarkerArray

from tactile_sim.drawing import colors
from tactile_sim.drawing.arrows import force_arrows
from tactile_sim.drawing.colors import unit_rgba
from tactile_sim.engines import Contacts
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic, header
from tactile_sim.simulation import Simulation, Snapshot

POINT, POINT_SHARE = 0.004, 0.008
"""Default radius of a contact point [m], and its largest share of the scene's extent."""
LONGEST = 0.5
"""Maximum length of an arrow, as a fraction of the scene's extent, so that it stays in the window."""
_LEVELS = 9
"""Number of colours in which feelers are drawn. All feelers of one colour form one marker."""
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
"""Namespace, type, action and RGBA colour of each kind of marker.

RViz lists the namespaces below its display, where they are the legend. The first four kinds are the arrows of
`tactile_sim.drawing.arrows`, in the same order.
"""
_POINTS, _CLEAR, _FEELERS = 4, 5, 6
_BALL = (2.0, 2.0, 2.0)
_LINE = (0.3, 0.3, 0.3)
"""Marker scale of a line list, in contact point radii: the line width, and two unused values."""
_SHAFT_AND_HEAD = (0.6, 1.5, 2.0)
"""Shaft diameter, head diameter and head length of an arrow, in contact point radii."""


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield ``markers``: contacts, net forces and feelers for RViz.

    Contact points are white. Normal forces are green, first tangential forces red, second tangential forces
    blue, and the net force on each body is yellow. Contact forces are those on the second body. If an arrow
    is longer than half the extent of the scene, all arrows are shortened by the same factor. The colour of
    feelers ranges from grey (free) to yellow (covered).
    """
    engine, world = simulation.engine, simulation.settings.world_frame
    first_pads = np.unique(simulation.skin.pad_bodies, return_index=True)[1]  # of each body with skin
    usual_radius = min(POINT, POINT_SHARE * engine.model.stat.extent)
    template = lru_cache(1)(lambda radius: _template(world, radius))

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


def _template(world: str, radius: float) -> cdr.MessageTemplate:
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

    Args:
        contacts: (n, WIDTH) quantities of the contacts, as in ``Contacts.values``.
        ends: (a, 2, 3) start and end of the arrows [m].
        kinds: (a,) kinds of the arrows, indices into `_LOOKS`.

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
    """Append one marker for each feeler colour in use.

    Args:
        keys: Keys (m, 4) int32 of the other markers, as from `_contact_markers`.
        points: (p, 3) points of these markers, world frame [m].
        lines: (f, 2, 3) roots and tips of the feelers, world frame [m].
        cover: (f,) covered fraction of each feeler, 0 (free) to 1.

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
