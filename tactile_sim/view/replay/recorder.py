"""Record the frames that a view shows."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from viser.infra import StateSerializer

from tactile_sim.view.content import ViewFrame
from tactile_sim.view.panel.force_strip import force_strip
from tactile_sim.view.replay.page import replay_page
from tactile_sim.view.viewer import Viewer


class ReplayRecorder:
    """Records the frames of a view and builds a replay page from them."""

    def __init__(self, viewer: Viewer, pads: Collection[str] | None = None):
        """Prepare a recording.

        Args:
            viewer: View that draws the frames.
            pads: Names of the pads in the force strip, or None for all pads.
        """
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
            self._serializer.serialize(),
            force_strip(times, forces, names, unit, times[-1]),
            self._end,
            self._unit,
            self._viewer.scale.logarithmic,
            fits_camera=self._scene.live_view is None,
        )
