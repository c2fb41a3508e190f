"""The figures of a recording, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.figure import Figure

from tactile_sim.analysis.forces import forces
from tactile_sim.analysis.layouts import place
from tactile_sim.analysis.peak import peak
from tactile_sim.analysis.raster import raster
from tactile_sim.analysis.recording import Recording
from tactile_sim.analysis.timeline import timeline
from tactile_sim.errors import BagError


class Lacking(BagError):
    """The bag lacks what a figure needs."""


def _skin(recording: Recording, bodies: Sequence[str]) -> list[int]:
    """The places of bodies in the skin."""
    if not recording.touch.bodies:
        raise Lacking("the bag has neither tactile/frame nor tactile/BODY/array")
    return [place for place, body in enumerate(recording.touch.bodies) if body in bodies]


def _forces(recording: Recording, bodies: Sequence[str]) -> Figure:
    return forces(recording.touch, _skin(recording, bodies))


def _raster(recording: Recording, bodies: Sequence[str]) -> Figure:
    return raster(recording.touch, _skin(recording, bodies))


def _peak(recording: Recording, bodies: Sequence[str]) -> Figure:
    touch, chosen = recording.touch, _skin(recording, bodies)
    found = recording.layouts.of(touch.layout_id, touch.bodies, np.diff(touch.offsets).tolist())
    known = {body: layout for body in chosen if (layout := found[body])}
    if not known or touch.peak is None:
        raise Lacking("the bag has no layout (tactile/BODY/layout) of this skin")
    poses = recording.poses_at(touch.peak.stamp)
    frame = "world"
    if not poses:  # in their own frames bodies would lie one in the other
        sums = {body: touch.peak.magnitudes[touch.taxels_of([body])].sum() for body in known}
        strongest = max(known, key=sums.__getitem__)
        known = {strongest: known[strongest]}
        frame = known[strongest].frame
    return peak(touch, place(list(known.values()), poses), touch.taxels_of(list(known)), frame)


def _contacts(recording: Recording, bodies: Sequence[str]) -> Figure:
    if not len(recording.contacts.times):
        raise Lacking("the bag has no contacts")
    return timeline(recording.contacts, set(bodies))


FIGURES: dict[str, Callable[[Recording, Sequence[str]], Figure]] = {
    "forces": _forces,
    "raster": _raster,
    "peak": _peak,
    "contacts": _contacts,
}
"""Each takes a recording and names of bodies, and raises Lacking where the bag has not what it needs."""
