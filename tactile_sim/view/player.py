"""Play a bag in a view."""

from __future__ import annotations

import sys
import time
from asyncio import to_thread
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

import numpy as np
from viser import GuiApi, GuiEvent

from tactile_sim.bag.mcap_file import Progress
from tactile_sim.common.signals import StopRequest
from tactile_sim.view.address import Endpoint, announcement, open_browser
from tactile_sim.view.bag_frames import BagFrames, opening_scene
from tactile_sim.view.bag_index import FORCE, PEAK, BagIndex, TopicSamples
from tactile_sim.view.bag_scene import BagScene, read_scene
from tactile_sim.view.content import ViewFrame
from tactile_sim.view.inputs import on_user
from tactile_sim.view.panel import RUN_ORDER
from tactile_sim.view.plots import force_strip
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.viser_internals import uuid_of

SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "4", "8")
REFRESH = 0.2
"""Wall time between two updates of the bar during playback [s]."""


class TimeBar:
    """Controls the playback time. Times are relative to the start of the bag [ns].

    User inputs take effect in ``advance``, in the thread that calls it.

    Attributes:
        time: Current time [ns].
        playing: Whether the bag is playing.
        speed: Ratio of bag time to wall time.
        jumped: Whether the last call of ``advance`` moved the time because a user had moved it.
    """

    def __init__(self, gui: GuiApi, step_times: np.ndarray, duration: int):
        """Add the inputs to the panel.

        Args:
            gui: viser's panel.
            step_times: Times (n,) that users can step through, relative to the start of the bag [ns].
            duration: Length of the bag [ns].
        """
        self.time = 0.0
        self.playing = True
        self.speed = 1.0
        self.jumped = False
        self._step_times = step_times
        self._duration = duration
        self._inputs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._since_refresh = 0.0
        self._labeled_playing = True
        orders = count(RUN_ORDER, 0.01)
        self._button = gui.add_button("Pause", color="yellow", order=next(orders))
        end = max(duration / 1e9, 1e-3)
        bar = gui.add_slider("time [s]", 0.0, end, min(1e-3, end), 0.0, order=next(orders))
        steps = gui.add_button_group("message", ("previous", "next"), order=next(orders))
        speed = gui.add_dropdown("speed", SPEEDS, initial_value="1", order=next(orders))
        self._button.on_click(lambda _: self._inputs.put(self._toggle))
        self._put_time = on_user(bar, lambda seconds: self._inputs.put(lambda: self._jump(seconds * 1e9)))
        steps.on_click(lambda event: self._queue_step(1 if event.target.value == "next" else -1))
        on_user(speed, lambda text: self._inputs.put(lambda: self._set_speed(float(text))))

    def advance(self, elapsed: float) -> bool:
        """Advance by wall time [s], apply user inputs and return whether the time or ``playing`` changed."""
        before = self.time, self.playing
        self.jumped = False
        if self.playing:
            self.time = min(self.time + elapsed * self.speed * 1e9, self._duration)
            self.playing = self.time < self._duration
        while True:
            try:
                self._inputs.get_nowait()()
            except Empty:
                break
        self._refresh(elapsed)
        return (self.time, self.playing) != before

    def seek(self, share: float) -> None:
        """Move to a fraction of the duration when ``advance`` is called next."""
        self._inputs.put(lambda: self._jump(share * self._duration))

    def _refresh(self, elapsed: float) -> None:
        self._since_refresh += elapsed
        if self._labeled_playing != self.playing:
            self._labeled_playing = self.playing
            self._button.label = "Pause" if self.playing else "Play"
            self._button.color = "yellow" if self.playing else "green"
        if self._since_refresh >= REFRESH or not self.playing:
            self._since_refresh = 0.0
            self._put_time(round(self.time / 1e9, 3))

    def _toggle(self) -> None:
        self.playing = not self.playing
        if self.playing and self.time >= self._duration:
            self.time = 0.0

    def _jump(self, time: float) -> None:
        self.time = float(np.clip(time, 0.0, self._duration))
        self.jumped = True

    def _set_speed(self, speed: float) -> None:
        self.speed = speed

    def _queue_step(self, direction: int) -> None:
        self._inputs.put(lambda: self._step(direction))

    def _step(self, direction: int) -> None:
        """Pause and move to the next message (1) or the previous one (-1)."""
        self.playing = False
        now = round(self.time)
        if direction > 0:
            k = int(np.searchsorted(self._step_times, now, side="right"))
        else:
            k = int(np.searchsorted(self._step_times, now, side="left")) - 1
        if 0 <= k < len(self._step_times):
            self.time = float(self._step_times[k])


class ForceSeries(NamedTuple):
    """Force on each body with skin over a bag, or the largest reading of its pads if all forces are zero."""

    times: np.ndarray
    """Log times (n,) [ns]."""
    values: np.ndarray
    """Magnitudes of the forces or largest readings (n, b)."""
    is_force: bool


class ForceBar:
    """A force strip with a cursor, which is missing if all forces and readings in the bag are zero."""

    def __init__(
        self,
        gui: GuiApi,
        index: BagIndex,
        content: BagScene,
        unit: str,
        on_seek: Callable[[float], None],
    ):
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
            uuid_of(channel),
        )
        self._shown = [self._pads[body] for body in strip.shown]
        gui.add_html(strip.html, order=RUN_ORDER - 0.02)
        self._state = gui.add_html("", order=RUN_ORDER - 0.01)

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

    The force on a body is the net contact force or, in bags without contacts, the sum of
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


RATE = 25.0
"""Frame rate in wall time [Hz]."""


class Player:
    """Plays a bag while browsers are connected.

    Attributes:
        viewer: View that shows the frames.
        bar: Time bar with which users seek and step through the bag.
        notes: Messages to users about content that cannot be shown.
    """

    def __init__(
        self,
        path: Path,
        endpoint: Endpoint,
        namespace: str | None = None,
        progress: Progress | None = None,
        folder: Path | None = None,
    ):
        """Open a bag.

        Raises:
            BagError: The path is not a bag, or the bag contains nothing to show.
            CommandError: The endpoint cannot be served.
        """
        index = BagIndex(path, progress)
        content = read_scene(index, namespace)
        self.notes = content.notes
        self._start, self._duration = index.start, index.stop - index.start
        self._frames = BagFrames(index, content)
        scene = replace(
            opening_scene(content, self._frames, index.start, index.stop),
            parents=self._frames.parents(),
            output_folder=str(folder.absolute()) if folder else "",
            bag=str(path),
        )
        self.viewer = Viewer(scene, endpoint, None)
        gui = self.viewer.server.gui
        self.bar = TimeBar(gui, index.step_times - index.start, self._duration)
        unit = self._frames.at(index.start).unit
        self._forces = ForceBar(gui, index, content, unit, self.bar.seek)
        self.viewer.notify("; ".join(self.notes))
        self._show()

    def play(self, stop: StopRequest, duration: float | None = None) -> None:
        """Play until a signal is received.

        Args:
            stop: Records received signals.
            duration: Wall time after which playback ends even without a signal [s].
        """
        last = begin = time.monotonic()
        while not stop.wait(1.0 / RATE):
            now = time.monotonic()
            if duration is not None and now >= begin + duration:
                return
            if self.viewer.clients and self.bar.advance(now - last):
                self._show()
            last = now

    def close(self) -> None:
        """Disconnect the browsers."""
        self.viewer.close()

    def _show(self) -> None:
        frame = self._frames.at(self._start + round(self.bar.time))
        bar = self.bar
        self.viewer.show(
            replace(frame, paused=not bar.playing, real_time_factor=bar.speed, discontinuous=bar.jumped)
        )
        self._forces.draw(bar.time / max(self._duration, 1), frame)


def play(
    path: str | Path,
    endpoint: Endpoint,
    duration: float | None = None,
    folder: Path | None = None,
    browses: bool = False,
) -> int:
    """Play a bag until a signal is received.

    Args:
        path: Folder or MCAP file of the bag.
        endpoint: Address at which the view listens.
        duration: Wall time after which playback ends even without a signal [s].
        folder: Folder for films and replays; None disables them.
        browses: Whether to open a browser if there is a display.

    Raises:
        Stopped: A signal was received while the bag was read.
    """
    from tactile_sim.common.text import progress

    with StopRequest() as stop:
        with progress(f"reading {path}") as show:

            def on_progress(done: int, total: int) -> None:
                stop.check()
                show(done, total)

            player = Player(Path(path), endpoint, progress=on_progress, folder=folder)
        try:
            for note in player.notes:
                print(f"tactile_sim: {note}", file=sys.stderr)
            print(announcement(endpoint.host, player.viewer.url), flush=True)
            if browses:
                open_browser(player.viewer.url)
            player.play(stop, duration)
        finally:
            player.close()
    return 0
