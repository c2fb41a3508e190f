"""Write replays of bags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np

from tactile_sim.bag.mcap_file import Progress
from tactile_sim.common.errors import BagError, suggest
from tactile_sim.view.bag.frames import BagFrames
from tactile_sim.view.bag.index import BagIndex
from tactile_sim.view.bag.opening import opening_scene
from tactile_sim.view.bag.scene import BagScene, read_scene
from tactile_sim.view.content import ViewFrame
from tactile_sim.view.replay.recorder import ReplayRecorder
from tactile_sim.view.viewer import Viewer
from tactile_sim.view.web.address import RANDOM, Endpoint


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

    Returns:
        A summary of the replay.

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
