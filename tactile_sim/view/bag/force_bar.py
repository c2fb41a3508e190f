"""A force strip of an entire bag in the panel, in which users click to seek."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from viser import GuiApi, GuiEvent

from tactile_sim.view.bag.index import BagIndex
from tactile_sim.view.bag.samples import FORCE, PEAK, TopicSamples
from tactile_sim.view.bag.scene import BagScene
from tactile_sim.view.content import ViewFrame
from tactile_sim.view.panel.force_strip import force_strip
from tactile_sim.view.panel.run_controls import ORDER


class ForceSeries(NamedTuple):
    """Force on each body with skin over a bag, or the largest reading of its pads if all forces are zero."""

    times: np.ndarray
    """Log times (n,) [ns]."""
    values: np.ndarray
    """Magnitudes of the forces or largest readings (n, b)."""
    is_force: bool


class ForceBar:
    """A force strip with a cursor at the current time."""

    def __init__(
        self,
        gui: GuiApi,
        index: BagIndex,
        content: BagScene,
        unit: str,
        on_seek: Callable[[float], None],
    ):
        """Add the strip to the panel, unless all forces and readings in the bag are zero or missing.

        Args:
            gui: viser's panel.
            index: Index of the bag.
            content: Scene of the bag.
            unit: Unit of the readings.
            on_seek: Called with the fraction of the bag's duration at which a user clicks.
        """
        self._on_seek = on_seek
        self._pads = _pads_of_bodies(content)
        self._stops = np.cumsum(content.scene.taxel_counts).astype(int)
        self._series = series = force_series(index, content)
        if series is None:
            return
        channel = gui.add_text("seek", "", visible=False)
        channel.on_update(self._on_message)
        strip = force_strip(
            (series.times - index.start) / 1e9,
            series.values,
            [content.pad_bodies[pads[0]] for pads in self._pads],
            "N" if series.is_force else unit,
            (index.stop - index.start) / 1e9,
            channel._impl.uuid,
        )
        self._shown = [self._pads[body] for body in strip.shown]
        gui.add_html(strip.html, order=ORDER - 0.02)
        self._state = gui.add_html("", order=ORDER - 0.01)

    def draw(self, share: float, frame: ViewFrame) -> None:
        """Move the cursor to a fraction of the bag's duration, and show the values in a frame."""
        if self._series is None:
            return
        values = " ".join(f"{self._value(pads, frame):.3g}" for pads in self._shown)
        self._state.content = (
            f'<div class="force-strip-state" data-share="{share:.6g}" data-values="{values}"></div>'
        )

    def _value(self, pads: np.ndarray, frame: ViewFrame) -> float:
        """Return the force on the body of these pads or their largest reading."""
        assert self._series is not None
        if self._series.is_force:
            return float(np.linalg.norm(frame.forces[pads[0]]))
        parts = np.split(np.nan_to_num(frame.readings), self._stops[:-1])
        return float(max(parts[pad].max(initial=0.0) for pad in pads))

    async def _on_message(self, event: GuiEvent) -> None:  # async callbacks run in order
        await to_thread(self._seek, event.target.value)

    def _seek(self, message: str) -> None:
        """Handle a message ``TIME SHARE``."""
        try:
            share = float(message.split()[1])
        except (IndexError, ValueError):
            return
        if 0.0 <= share <= 1.0:
            self._on_seek(share)


def force_series(index: BagIndex, content: BagScene) -> ForceSeries | None:
    """Return the forces on all bodies with skin over a bag, or None if it has neither forces nor readings.

    As in view frames, the force on a body is the net contact force or, in bags without contacts, the sum of
    its readings.
    """
    return next((series for series in _series(index, content) if series.values.any()), None)


def _series(index: BagIndex, content: BagScene) -> Iterator[ForceSeries]:
    """Yield the possible series. The first one that is not zero is shown."""
    robot, groups = content.robot, _pads_of_bodies(content)
    if not groups or content.points is not None:
        return
    contacts = [index.samples[robot.contacts]] if robot.contacts in index.samples else []
    topics = [robot.frame] if robot.frame else sorted(robot.arrays)
    skin = [index.samples[topic] for topic in topics if topic in index.samples]
    if contacts:
        times, table = _table(contacts, [content.pad_bodies[pads[0]] for pads in groups])
        yield ForceSeries(times, np.linalg.norm(table[..., FORCE], axis=2), True)
    if skin:
        times, table = _table(skin, content.pads)
        if not contacts:
            sums = np.stack([table[:, pads, FORCE].sum(axis=1) for pads in groups], axis=1)
            yield ForceSeries(times, np.linalg.norm(sums, axis=2), True)
        peaks = np.stack([table[:, pads, PEAK].max(axis=1) for pads in groups], axis=1)
        yield ForceSeries(times, peaks, False)


def _table(topics: list[TopicSamples], names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the first topic's sample times (n,) [ns], and the samples of all topics then (n, names, 4)."""
    times = topics[0].times
    found = [[each.at(name, times) for each in topics if name in each.names] for name in names]
    return times, np.stack([parts[0] if parts else np.zeros((len(times), 4)) for parts in found], axis=1)


def _pads_of_bodies(content: BagScene) -> list[np.ndarray]:
    """Return the indices of the pads on each body with skin."""
    bodies = np.array(content.pad_bodies, object)
    return [np.flatnonzero(bodies == body) for body in dict.fromkeys(content.pad_bodies)]
