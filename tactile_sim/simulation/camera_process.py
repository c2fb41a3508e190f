"""Render the cameras of a simulation in a separate process, so that physics does not wait for OpenGL."""

from __future__ import annotations

import logging
import mmap
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from threading import Lock, Thread
from typing import Any, NamedTuple, Self

import mujoco
import numpy as np

from tactile_sim.common import signals
from tactile_sim.common.processes import Child, Connection, pickled
from tactile_sim.common.signals import Stopped
from tactile_sim.scenes.camera import Camera
from tactile_sim.scenes.renderer import RenderingError, State

_LOG = logging.getLogger("tactile_sim.simulation")
START_TIMEOUT = 180.0
"""Wall time within which the process must render its first images [s]."""
PATIENCE = 60.0
"""Wall time after which an image that the simulation waits for counts as lost [s]."""
STATE = ("qpos", "mocap_pos", "mocap_quat")
"""Attributes of `State`."""
POLL = 0.05
"""Wall time between two checks for signals during the start [s]."""


class CameraImage(NamedTuple):
    """Image of a camera at one state of a simulation."""

    stamp: int
    """Simulation time of the state [ns]."""
    color: np.ndarray
    """(height, width, 3) uint8, RGB."""
    depth: np.ndarray | None
    """(height, width) float32 distance along the optical axis [m]; infinite where nothing is; or None."""


class SharedImage:
    """Memory for a state that the simulation writes, and for the image that the process renders from it."""

    def __init__(self, model: mujoco.MjModel, camera: Camera, file: int | None = None):
        size = camera.height, camera.width
        record = np.dtype(
            [
                ("qpos", "f8", (model.nq,)),
                ("mocap_pos", "f8", (model.nmocap, 3)),
                ("mocap_quat", "f8", (model.nmocap, 4)),
                ("depth", "f4", size if camera.depth else (0,)),
                ("color", "u1", (*size, 3)),
            ]
        )
        self.file = os.memfd_create("tactile_sim_camera") if file is None else file
        if file is None:
            os.truncate(self.file, record.itemsize)
        fields = np.ndarray((), record, mmap.mmap(self.file, record.itemsize))
        self.qpos, self.color = fields["qpos"], fields["color"]
        self.mocap_pos, self.mocap_quat = fields["mocap_pos"], fields["mocap_quat"]
        self.depth = fields["depth"] if camera.depth else None

    def close(self) -> None:
        """Close the file descriptor. The memory stays mapped as long as this object exists."""
        os.close(self.file)


class CameraProcess:
    """Renders cameras in another process while this object is open.

    It renders one image of each camera at a time. The simulation sends ``{"render": index}`` after it has
    written a state to the camera's `SharedImage`; the process sends ``{"ready": true}`` or
    ``{"error": text}`` at the start, and ``{"done": index}`` for each image.

    Attributes:
        on_lost: Called in another thread with the reason if the process ends unexpectedly.
        skipped: Number of skipped images by camera name.
    """

    def __init__(self, model: mujoco.MjModel, cameras: Sequence[Camera]):
        self.on_lost: Callable[[str], None] = lambda reason: None
        self.skipped: Counter[str] = Counter()
        self._indices = {camera.name: index for index, camera in enumerate(cameras)}
        self._shared = [SharedImage(model, camera) for camera in cameras]
        self._latest: list[Future[CameraImage] | None] = [None] * len(cameras)
        self._stamps = [-1] * len(cameras)
        self._completing = Lock()
        """Held while an image is completed and the callbacks of its future run."""
        self._closing = self._lost = False
        self._connection, theirs = Connection.pair()
        with pickled((model, cameras)) as content:
            files = (content, theirs.file, *(shared.file for shared in self._shared))
            self._process = Child(*map(str, files), module="tactile_sim.simulation.camera_main", files=files)
        theirs.close()
        self._receiver = Thread(target=self._receive, name="cameras", daemon=True)
        try:
            answer = self._first_answer()
        except Stopped:
            self.close()
            raise
        if not answer or "ready" not in answer:
            self.close()
            output = " ".join(self._process.last_lines[-1:]) or "no answer"
            raise RenderingError(
                (answer or {}).get("error", f"cameras: their process did not start: {output}")
            )
        self._receiver.start()

    def request(
        self, name: str, state: State, stamp: int, may_skip: bool = True
    ) -> Future[CameraImage] | None:
        """Request an image of a state.

        Args:
            name: Name of the camera.
            state: The state, which is copied.
            stamp: Simulation time of the state [ns]. Requests with the same stamp and state share an image.
            may_skip: Whether to skip the image if the previous one of this camera is not finished. Otherwise,
                this method waits for it.

        Returns:
            The image, which a thread of this object completes, or None if it is skipped.
        """
        index = self._indices[name]
        latest, shared = self._latest[index], self._shared[index]
        copies = [(getattr(shared, field), getattr(state, field)) for field in STATE]
        same = self._stamps[index] == stamp and all(np.array_equal(*pair) for pair in copies)
        if latest is not None and same:
            return latest
        if latest is not None and not latest.done():
            if may_skip or not wait([latest], PATIENCE).done:
                self.skipped[name] += 1
                if self.skipped[name] == 1:
                    _LOG.warning(
                        "camera %r: skips images, because rendering takes longer than their interval; choose"
                        " a lower rate or a smaller size, or real_time_factor: 0, which waits for images",
                        name,
                    )
                return None
        if self._lost:
            return None
        for memory, values in copies:
            memory[:] = values
        future: Future[CameraImage] = Future()
        self._latest[index], self._stamps[index] = future, stamp
        self._connection.send(render=index)
        if self._lost:  # since the check above
            _cancel(future)
        return future

    def finish(self) -> None:
        """Wait until the requested images are complete and the callbacks of their futures have returned."""
        wait([future for future in self._latest if future is not None], PATIENCE)
        with self._completing:
            pass

    def close(self) -> None:
        """End the process. Images that are not complete are canceled."""
        self._closing = True
        self._connection.shut_down()
        if self._receiver.ident is not None:
            self._receiver.join()
        self._process.end()
        self._connection.close()
        for shared in self._shared:
            shared.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _first_answer(self) -> dict[str, Any] | None:
        end = time.monotonic() + START_TIMEOUT
        answer: dict[str, Any] | None = {}
        while answer == {} and time.monotonic() < end:
            signals.check()
            answer = self._connection.receive(POLL)
        return answer

    def _receive(self) -> None:
        """Complete images until the connection ends."""
        while (message := self._connection.receive()) is not None:
            index = message["done"]
            shared, future = self._shared[index], self._latest[index]
            assert future is not None
            depth = None if shared.depth is None else shared.depth.copy()
            with self._completing:
                future.set_result(CameraImage(self._stamps[index], shared.color.copy(), depth))
        self._lost = True
        for future in self._latest:
            if future is not None:
                _cancel(future)
        if not self._closing:
            self._process.end()
            reason = " ".join(self._process.last_lines[-1:]) or f"exit code {self._process.returncode}"
            self.on_lost(f"the camera process failed ({reason}); the simulation continues without images")


def _cancel(future: Future[CameraImage]) -> None:
    """Cancel an image, unless it is complete, and wake up those who wait for it."""
    if future.cancel():
        future.set_running_or_notify_cancel()
