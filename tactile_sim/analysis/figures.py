"""Plot a recording in one of several figures, which `FIGURES` lists by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.figure import Figure

from tactile_sim.analysis.forces import forces
from tactile_sim.analysis.layouts import place
from tactile_sim.analysis.peak import Part, peak
from tactile_sim.analysis.raster import raster
from tactile_sim.analysis.recording import Recording
from tactile_sim.analysis.timeline import timeline
from tactile_sim.analysis.touch import Touch
from tactile_sim.analysis.whole_skin import skin_map
from tactile_sim.errors import BagError


class MissingTopics(BagError):
    """Error for topics that a figure requires and a bag lacks."""


def _parts(recording: Recording, bodies: Sequence[str]) -> list[tuple[Touch, list[int]]]:
    """Split the readings of a recording by unit, because each panel of a figure shows one unit.

    Args:
        recording: Readings of skin and feelers.
        bodies: Names of the bodies to plot.

    Returns:
        One history for each physical unit of the skin and one for the feelers, each with the indices of the
        bodies to plot. Histories without any of these bodies are omitted.
    """
    there = [touch for touch in (recording.touch, recording.feelers) if touch.bodies]
    if not there:
        raise MissingTopics("requires tactile/frame, tactile/BODY/array or tactile/BODY/feelers")
    chosen = [
        (part, [place for place in places if part.bodies[place] in bodies])
        for touch in there
        for part, places in touch.split()
    ]
    return [(part, places) for part, places in chosen if places]


def _forces(recording: Recording, bodies: Sequence[str]) -> Figure:
    return forces(_parts(recording, bodies))


def _raster(recording: Recording, bodies: Sequence[str]) -> Figure:
    return raster(_parts(recording, bodies))


def _peak(recording: Recording, bodies: Sequence[str]) -> Figure:
    touch, chosen = _parts(recording, bodies)[0]
    layouts = recording.layouts if touch.frames is recording.touch.frames else recording.covers.layouts
    found = layouts.of(touch.layout_id, touch.bodies, touch.counts.tolist())
    known = {body: layout for body in chosen if (layout := found[body])}
    if not known or touch.peak is None:
        raise MissingTopics("requires the layout of this skin (tactile/BODY/layout)")
    poses = recording.poses_at(touch.peak.stamp)
    frame, feeler_bodies = "world", bodies
    if not poses:  # without poses all bodies would overlap, so draw only the most loaded one
        sums = {body: touch.peak.magnitudes[touch.taxels_of([body])].sum() for body in known}
        strongest = max(known, key=sums.__getitem__)
        known = {strongest: known[strongest]}
        frame, feeler_bodies = known[strongest].frame, [touch.bodies[strongest]]
    feelers = recording.feelers_at(touch.peak.stamp, feeler_bodies, poses)
    parts, start = [], 0
    for body, turn in zip(known, poses.of([layout.frame for layout in known.values()])[1], strict=True):
        taxels = touch.taxels_of([body])
        net = touch.peak.readings[taxels].sum(axis=0)
        turned = {"force_vector": turn, "normal_force": turn, "force_vector_global": np.eye(3)}
        force = turned[touch.quantity] @ net if touch.quantity in turned and len(net) == 3 else None
        parts.append(Part(touch.bodies[body], slice(start, start + len(taxels)), force))
        start += len(taxels)
    skin = place(list(known.values()), poses)
    return peak(touch, skin, touch.taxels_of(list(known)), parts, feelers, frame)


def _map(recording: Recording, bodies: Sequence[str]) -> Figure:
    touch, chosen = _parts(recording, bodies)[0]
    if touch.frames is not recording.touch.frames:
        raise MissingTopics("requires tactile/frame or tactile/BODY/array")
    found = recording.layouts.of(touch.layout_id, touch.bodies, touch.counts.tolist())
    known = {body: layout for body in chosen if (layout := found[body]) and len(layout.positions)}
    if not known or touch.peak is None:
        raise MissingTopics("requires the layout of this skin (tactile/BODY/layout)")
    poses = recording.first_poses()
    if not poses and len(known) > 1:
        raise MissingTopics("requires the poses of the bodies (/tf)")
    return skin_map(touch, list(known), list(known.values()), poses)


def _contacts(recording: Recording, bodies: Sequence[str]) -> Figure:
    if not len(recording.contacts.times):
        raise MissingTopics("requires contacts")
    return timeline(recording.contacts, set(bodies))


FIGURES: dict[str, Callable[[Recording, Sequence[str]], Figure]] = {
    "forces": _forces,
    "raster": _raster,
    "peak": _peak,
    "map": _map,
    "contacts": _contacts,
}
"""Functions that plot a recording for the specified bodies, keyed by the name of the figure.

The functions raise MissingTopics if the bag lacks topics that they require.
"""
