"""The figures of a recording, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from matplotlib.figure import Figure

from tactile_sim.analysis.forces import forces
from tactile_sim.analysis.layouts import place
from tactile_sim.analysis.peak import peak
from tactile_sim.analysis.raster import raster
from tactile_sim.analysis.recording import Recording
from tactile_sim.analysis.timeline import timeline
from tactile_sim.analysis.touch import Touch
from tactile_sim.errors import BagError


class Lacking(BagError):
    """The bag lacks what a figure needs."""


def _parts(recording: Recording, bodies: Sequence[str]) -> list[tuple[Touch, list[int]]]:
    """The skin and the feelers, as far as there are any, and the places of bodies in them."""
    there = [touch for touch in (recording.touch, recording.feelers) if touch.bodies]
    if not there:
        raise Lacking("the bag has neither tactile/frame nor tactile/BODY/array, nor tactile/BODY/feelers")
    chosen = [(touch, [k for k, body in enumerate(touch.bodies) if body in bodies]) for touch in there]
    return [(touch, places) for touch, places in chosen if places]


def _forces(recording: Recording, bodies: Sequence[str]) -> Figure:
    return forces(_parts(recording, bodies))


def _raster(recording: Recording, bodies: Sequence[str]) -> Figure:
    return raster(_parts(recording, bodies))


def _peak(recording: Recording, bodies: Sequence[str]) -> Figure:
    touch, chosen = _parts(recording, bodies)[0]
    layouts = recording.layouts if touch is recording.touch else recording.covers.layouts
    found = layouts.of(touch.layout_id, touch.bodies, touch.counts.tolist())
    known = {body: layout for body in chosen if (layout := found[body])}
    if not known or touch.peak is None:
        raise Lacking("the bag has no layout (tactile/BODY/layout) of this skin")
    poses = recording.poses_at(touch.peak.stamp)
    frame, haired = "world", bodies
    if not poses:  # in their own frames bodies would lie one in the other
        sums = {body: touch.peak.magnitudes[touch.taxels_of([body])].sum() for body in known}
        strongest = max(known, key=sums.__getitem__)
        known = {strongest: known[strongest]}
        frame, haired = known[strongest].frame, [touch.bodies[strongest]]
    hairs = recording.hairs_at(touch.peak.stamp, haired, poses)
    return peak(touch, place(list(known.values()), poses), touch.taxels_of(list(known)), hairs, frame)


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
