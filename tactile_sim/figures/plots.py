"""Plot a recording in one of several figures, which `FIGURES` lists by name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from tactile_sim.common.errors import BagError
from tactile_sim.figures import style
from tactile_sim.figures.messages import Layout, Poses, place
from tactile_sim.figures.peak import Part, peak
from tactile_sim.figures.recording import COVER, Contacts, Recording, Touch
from tactile_sim.figures.skin_map import RestPose, SkinMap

NAMED_PADS = style.NAMED_LINES
FORCE_HEIGHTS = 4.2, 3.2
"""Height of the first panel, and of each other panel [inches]."""


def forces(parts: Sequence[tuple[Touch, Sequence[int]]]) -> Figure:
    """Plot the net force on each body, or the covered fraction of its feelers, over time.

    Each of the most loaded bodies has its own line. One more line shows the sum over all other bodies.
    """
    heights = [FORCE_HEIGHTS[bool(place)] for place in range(len(parts))]
    fig = Figure(figsize=(9.0, sum(heights)), layout="constrained")
    axes = fig.subplots(len(parts), squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    colors: dict[str, str] = {}
    for ax, (touch, bodies) in zip(axes, parts, strict=True):
        _draw_forces(ax, touch, bodies, colors)
    axes[-1].set_xlabel(style.TIME)
    return fig


def _draw_forces(ax: Any, touch: Touch, bodies: Sequence[int], colors: dict[str, str]) -> None:
    """Draw the panel for one history."""
    nets = touch.nets[:, bodies]
    feelers = touch.quantity == COVER
    weights = touch.counts[bodies] if feelers else None
    named, others = style.strongest(nets.sum(axis=0), NAMED_PADS)
    named.sort(key=lambda k: -nets[:, k].max())  # the legend states peaks
    _choose(colors, [touch.bodies[bodies[k]] for k in named])
    highest = 0.0
    for k in named:
        name, values = touch.bodies[bodies[k]], _together(nets, [k], weights)
        highest = max(highest, values.max())
        label = f"{name}  (peak {values.max():.3g})"
        ax.plot(touch.times, values, color=colors[name], lw=1.4, label=label)
    if others:
        values = _together(nets, others, weights)
        highest = max(highest, values.max())
        ax.plot(touch.times, values, color=style.theme().rest, lw=1.4, label=f"sum of {len(others)} others")
    quiet = len(bodies) - len(named) - len(others)
    if quiet:
        ax.plot([], [], " ", label=f"{quiet} {'never covered' if feelers else 'without load'}")
    label = "covered share of feelers" if feelers else f"net {style.words(touch.quantity)} [{touch.unit}]"
    title = "Feelers per body" if feelers else f"{style.words(touch.quantity).capitalize()} per pad"
    ax.set(title=title, ylabel=label, xlim=_limits(touch.times))
    ax.set_ylim(0, 1.05 * max(highest, 1e-9))
    ax.grid()
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    title = "body" if feelers else f"pad [{touch.unit}]"
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), title=title, alignment="left")


def _together(nets: np.ndarray, places: Sequence[int], weights: np.ndarray | None) -> np.ndarray:
    """Add up the forces on several bodies, or average the covered fractions of their feelers."""
    total: np.ndarray = nets[:, places].sum(axis=1)
    return total if weights is None else total / weights[places].sum()


def _choose(colors: dict[str, str], names: Sequence[str]) -> None:
    """Add a distinct color to ``colors`` for each name that does not have one yet."""
    taken = {colors[name] for name in names if name in colors}
    free = (color for color in style.theme().lines if color not in taken)
    colors.update({name: next(free) for name in names if name not in colors})


def _limits(times: np.ndarray) -> tuple[float, float]:
    return (times[0], times[-1]) if len(times) > 1 else (times[0] - 0.5, times[0] + 0.5)


ROWS = 1200
"""Approximate maximum number of rows. If more taxels were loaded, several taxels of a body share a row."""
RASTER_HEIGHTS = 5.6, 3.8
"""Minimum height of the first panel, and of each other panel [inches]."""
ROOM = 0.17
"""Height that a body's label requires [inches]."""


def raster(parts: Sequence[tuple[Touch, Sequence[int]]]) -> Figure:
    """Plot a row for each taxel that was loaded and for each feeler that was covered."""
    heights = [
        max(RASTER_HEIGHTS[bool(place)], 2 * ROOM * _loaded(touch, bodies))
        for place, (touch, bodies) in enumerate(parts)
    ]
    fig = Figure(figsize=(9.0, sum(heights)), layout="constrained")
    axes = fig.subplots(len(parts), squeeze=False, sharex=True, height_ratios=heights)[:, 0]
    for ax, height, (touch, bodies) in zip(axes, heights, parts, strict=True):
        _draw_raster(fig, ax, height, touch, bodies)
    axes[-1].set_xlabel(style.TIME)
    return fig


def _draw_raster(fig: Figure, ax: Any, height: float, touch: Touch, bodies: Sequence[int]) -> None:
    rows = np.stack(touch.raster.rows)
    felt = rows.max(axis=0) > 0
    parts, names = [], []
    taxels = touch.taxels_of(bodies)
    per_row = max(1, -(-int(felt[taxels].sum()) // ROWS))
    for body in bodies:
        own = rows[:, touch.offsets[body] : touch.offsets[body + 1]][
            :, felt[touch.offsets[body] : touch.offsets[body + 1]]
        ]
        if own.shape[1]:
            own = own[:, np.argsort((own > 0).argmax(axis=0), kind="stable")]  # first touched on top
            parts.append(np.maximum.reduceat(own, range(0, own.shape[1], per_row), axis=1))
            names.append(touch.bodies[body])
    feelers = touch.quantity == COVER
    norm = style.share() if feelers else style.scale(rows[:, taxels])
    counts = np.array([part.shape[1] for part in parts] or [1])
    ends = np.cumsum([0.0, *np.maximum(counts, ROOM / height * counts.sum())])  # room for each label
    for part, low, high in zip(parts or [np.zeros((len(rows), 1))], ends[:-1], ends[1:], strict=True):
        start, stop = style.bands(ax, part.T, touch.times, norm, (low, high))
    ax.set_ylim(ends[-1], 0)
    ax.hlines(ends[1:-1], start, stop, color=style.theme().rest, lw=0.4)
    ax.set_yticks((ends[1:] + ends[:-1])[: len(names)] / 2, names, fontsize=8)
    what, state = ("feelers", "covered") if feelers else ("taxels", "loaded")
    group = "body" if feelers else "pad"
    count = f"{int(felt[taxels].sum())} of {len(taxels)} {state}"
    ax.set(title=f"{what.capitalize()} over time: {count}", ylabel=f"{what} by {group}")
    label = (
        "covered share of a feeler" if feelers else f"{style.words(touch.quantity)} per taxel [{touch.unit}]"
    )
    style.color_bar(fig, norm, label, ax=ax, pad=0.01)


def _loaded(touch: Touch, bodies: Sequence[int]) -> int:
    """Return the number of bodies, among those with the given indices, that ever have a reading above 0."""
    largest = np.max(touch.raster.rows, axis=0)
    return sum(bool(largest[touch.taxels_of([body])].any()) for body in bodies)


NAMED_PAIRS = 18
COLUMNS = 1600
"""Maximum number of columns. If there are more messages, several of them share a column."""


def timeline(contacts: Contacts, bodies: Collection[str] | None) -> Figure:
    """Plot a row for each of the most loaded pairs of bodies, and one for the sum of all others."""
    pairs, force = contacts.pairs()
    chosen = [
        number for number, pair in enumerate(pairs) if bodies is None or not set(pair).isdisjoint(bodies)
    ]
    force = force[:, chosen]
    named, others = style.strongest(force.sum(axis=0), NAMED_PAIRS)
    rows = [force[:, place] for place in named]
    labels = [" – ".join(pairs[chosen[place]]) for place in named]
    if others:
        rows.append(force[:, others].sum(axis=1))
        labels.append(f"sum of {len(others)} others")
    times = contacts.times
    image = np.stack(rows) if rows else np.zeros((1, len(times)))
    image = np.maximum.reduceat(image, range(0, len(times), -(-len(times) // COLUMNS)), axis=1)
    norm = style.scale(image)

    fig = Figure(figsize=(9.0, max(2.2, 1.3 + 0.27 * len(image))), layout="constrained")
    ax = fig.add_subplot()
    start, stop = style.bands(ax, image, times, norm)
    ax.hlines(np.arange(1, len(image)), start, stop, color=style.theme().background, lw=2.5)
    ax.set_yticks(np.arange(len(labels)) + 0.5, labels, fontsize=9)
    ax.spines[:].set_visible(False)
    ax.set(title="Contacts over time" if labels else "Contacts over time: no contact", xlabel=style.TIME)
    ax.set_ylabel("bodies in contact")
    style.color_bar(fig, norm, "contact force [N]", ax=ax, pad=0.01)
    return fig


WIDTH = 10.0
"""Width of the figure [inches]."""


def skin_map(touch: Touch, pads: Sequence[int], layouts: Sequence[Layout], poses: Poses) -> Figure:
    """Plot the readings at the peak on a `SkinMap`."""
    assert touch.peak is not None
    placed = place(layouts, poses)
    names = [touch.bodies[pad] for pad in pads]
    pose = RestPose(
        names,
        np.array([len(layout.positions) for layout in layouts]),
        poses.parents([layout.frame for layout in layouts]),
        placed.positions,
        placed.normals,
        np.array([layout.spacing for layout in layouts]),
    )
    readings = touch.peak.magnitudes[np.concatenate([touch.taxels_of([pad]) for pad in pads])]
    norm, chart = style.scale(readings), SkinMap(pose)
    image = chart.image(readings, norm.vmax or 1.0)
    fig = Figure(figsize=(WIDTH, WIDTH * chart.height / chart.width + 0.95), layout="constrained")
    ax = fig.subplots()
    ax.imshow(image, interpolation="antialiased")
    ax.set_axis_off()
    ax.set_title(
        f"Skin at the peak: {touch.peak.stamp / 1e9:.3f} s, "
        f"{np.count_nonzero(readings)} of {len(readings)} taxels",
        fontsize=11,
    )
    label = f"{style.words(touch.quantity)} per taxel [{touch.unit}]"
    style.color_bar(fig, norm, label, ax=ax, location="bottom", shrink=0.5, pad=0.02, aspect=40)
    return fig


class MissingTopics(BagError):
    """Error for topics that a figure requires and a bag lacks."""


def _parts(recording: Recording, bodies: Sequence[str]) -> list[tuple[Touch, list[int]]]:
    """Split the readings of a recording by unit, because each panel of a figure shows one unit."""
    there = [touch for touch in (recording.touch, recording.feelers) if touch.bodies]
    if not there:
        raise MissingTopics("requires tactile/frame, tactile/BODY/array or tactile/BODY/feelers")
    chosen = [
        (part, [place for place in places if part.bodies[place] in bodies])
        for touch in there
        for part, places in touch.split()
    ]
    return [(part, places) for part, places in chosen if places]


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
    "forces": lambda recording, bodies: forces(_parts(recording, bodies)),
    "raster": lambda recording, bodies: raster(_parts(recording, bodies)),
    "peak": _peak,
    "map": _map,
    "contacts": _contacts,
}
"""Functions that plot a recording for the specified bodies, keyed by the name of the figure.

The functions raise MissingTopics if the bag lacks topics that they require.
"""
