"""Write replays of bags: HTML pages that play a recorded view without a server."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from html import escape
from pathlib import Path

import numpy as np
from viser.infra import StateSerializer

from tactile_sim.bag.mcap_file import Progress
from tactile_sim.common.errors import BagError, suggest
from tactile_sim.figures.colors import DECADES, bar_colors, number, prefixed
from tactile_sim.view.address import RANDOM, Endpoint
from tactile_sim.view.bag_frames import BagFrames, opening_scene
from tactile_sim.view.bag_index import BagIndex
from tactile_sim.view.bag_scene import BagScene, read_scene
from tactile_sim.view.content import ViewFrame
from tactile_sim.view.legend import READINGS
from tactile_sim.view.page import assets
from tactile_sim.view.plots import ForceStrip, force_strip
from tactile_sim.view.viewer import Viewer

FILES = ("strip.css", "replay.css", "frames.js", "scene.js", "strip.js", "replay.js")
"""Files in static/ of the page of a replay."""


def _color_scale(end: float, unit: str, logarithmic: bool) -> str:
    """Return the color scale as HTML."""
    size, symbol = prefixed(end, unit)
    start = f"&le; {number(end / size / 10**DECADES)}" if logarithmic else "0"
    what = f"{READINGS.get(unit, 'reading')} of a taxel" + (f" [{escape(symbol)}]" if unit else "")
    return (
        f'<div id="color-scale"><div>{what}</div><div class="bar"></div>'
        f'<div class="ends"><span>{start}</span><span>{number(end / size)}</span></div></div>'
    )


def replay_page(
    title: str,
    recording: StateSerializer,
    strip: ForceStrip,
    end: float,
    unit: str,
    logarithmic: bool = True,
    fits_camera: bool = True,
) -> str:
    """Return the page of a replay as HTML. The page needs no other files and no network."""
    colors = ", ".join("#{:02x}{:02x}{:02x}".format(*color) for color in bar_colors(18, logarithmic).tolist())
    added = assets(
        FILES,
        strip=strip.html,
        end=strip.end,
        fitsCamera=fits_camera,
        scale=_color_scale(end, unit, logarithmic),
    )
    added += f"<style>:root {{ --color-scale: {colors} }}</style>"
    head, tag, rest = recording.as_html(dark_mode=True).partition("</head>")
    return head.replace("<title>Viser</title>", f"<title>{escape(title)}</title>", 1) + added + tag + rest


class ReplayRecorder:
    """Records the frames of a view and builds a replay page from them."""

    def __init__(self, viewer: Viewer, pads: Collection[str] | None = None):
        self._viewer = viewer
        self._scene = scene = viewer.content
        bodies = np.asarray(scene.skin_bodies, int)
        stops = np.cumsum(scene.taxel_counts).astype(int)
        self._parts = [slice(stop - int(n), stop) for stop, n in zip(stops, scene.taxel_counts, strict=True)]
        chosen = [k for k, pad in enumerate(scene.pads) if pads is None or pad in pads]
        self._columns = [[k for k in chosen if bodies[k] == body] for body in dict.fromkeys(bodies[chosen])]
        """Indices of the chosen pads on each body in the strip."""
        self._serializer: StateSerializer | None = None
        self._times: list[float] = []
        self._forces: list[np.ndarray] = []
        self._peaks: list[np.ndarray] = []
        self._unit, self._end = "N", 1.0

    def add(self, frame: ViewFrame) -> None:
        """Draw and record a frame. Its time must not be earlier than that of the previous frame."""
        if self._serializer is None:
            self._viewer.draw(frame)
            self._serializer = self._viewer.server.get_scene_serializer()
        else:
            self._serializer.insert_sleep(frame.time - self._times[-1])
            self._viewer.draw(frame)
        self._times.append(frame.time)
        self._unit, self._end = frame.unit, frame.taxel_scale
        norms = np.linalg.norm(frame.forces, axis=1) if len(frame.forces) else np.zeros(len(self._parts))
        self._forces.append(norms[[pads[0] for pads in self._columns]])
        readings = np.nan_to_num(frame.readings)
        peaks = np.array([readings[part].max(initial=0.0) for part in self._parts])
        self._peaks.append(np.array([peaks[pads].max() for pads in self._columns]))

    def page(self) -> str:
        """End the recording and return the replay page as HTML.

        If all net forces are zero, the force strip shows the largest reading on each body's chosen pads.
        """
        assert self._serializer is not None
        forces = np.array(self._forces).reshape(len(self._times), -1)
        unit = "N"
        if not forces.any():
            forces, unit = np.array(self._peaks).reshape(len(self._times), -1), self._unit
        names = [self._scene.bodies[int(self._scene.skin_bodies[pads[0]])] for pads in self._columns]
        times = [time - self._times[0] for time in self._times]
        return replay_page(
            self._scene.title,
            self._serializer,
            force_strip(times, forces, names, unit, times[-1]),
            self._end,
            self._unit,
            self._viewer.scale.logarithmic,
            fits_camera=self._scene.live_view is None,
        )


@dataclass(frozen=True)
class ReplaySummary:
    """Number of frames and duration of a replay."""

    frames: int
    duration: float
    """Duration of the replay [s]."""
    notes: tuple[str, ...]
    """Messages to users about content that cannot be shown."""


def write_bag_replay(
    bag: Path,
    out: Path,
    namespace: str | None = None,
    start: float = -np.inf,
    stop: float = np.inf,
    fps: float = 30.0,
    patterns: Sequence[str] = (),
    progress: Progress | None = None,
) -> ReplaySummary:
    """Write a replay of a bag.

    Args:
        bag: Folder or MCAP file of the bag.
        out: HTML file to write.
        namespace: Namespace of the robot, or None for the first one.
        start: Simulation time at which the replay starts [s].
        stop: Simulation time at which the replay ends [s].
        fps: Frame rate in simulation time [Hz].
        patterns: Shell patterns for the names of the bodies or pads in the force strip. By default, it shows
            all.
        progress: Called with the number of frames recorded so far and the total number.

    Raises:
        BagError: The path is not a bag, or the bag contains nothing to show at these times.
    """
    index = BagIndex(bag)
    content = read_scene(index, namespace)
    first, last = max(index.start, _nanoseconds(start)), min(index.stop, _nanoseconds(stop))
    if first > last:
        raise BagError(
            f"{bag}: must have data from {start:g} s to {stop:g} s, got {index.start / 1e9:g} s to "
            f"{index.stop / 1e9:g} s"
        )
    frames = BagFrames(index, content)
    scene = opening_scene(content, frames, first, last)
    chosen = _chosen(bag, content, patterns)
    times = np.arange(first, last + 1, round(1e9 / fps))
    viewer = Viewer(scene, Endpoint(port=0, token=RANDOM), None)
    try:
        recorder = ReplayRecorder(viewer, chosen)
        scale = viewer.scale.fixed or scene.taxel_scale
        for number, time in enumerate(times.tolist(), start=1):
            recorder.add(_prepared(frames.at(time), time - first, scale))
            if progress:
                progress(number, len(times))
        out.write_text(recorder.page())
    finally:
        viewer.close()
    return ReplaySummary(len(times), (int(times[-1]) - first) / 1e9, tuple(content.notes))


def _prepared(frame: ViewFrame, elapsed: int, scale: float) -> ViewFrame:
    return replace(frame, time=elapsed / 1e9, taxel_scale=scale)


def _nanoseconds(time: float) -> int:
    return int(np.clip(time, -9e9, 9e9) * 1e9)


def _chosen(bag: Path, content: BagScene, patterns: Sequence[str]) -> list[str]:
    """Return the names of the pads that match any pattern, or of all pads if there are no patterns."""
    for pattern in patterns:
        if not any(fnmatchcase(pad, pattern) for pad in content.pads):
            raise BagError(f"{bag}: no body with skin matches {pattern!r}{suggest(pattern, content.pads)}")
    return [pad for pad in content.pads if not patterns or any(fnmatchcase(pad, p) for p in patterns)]
