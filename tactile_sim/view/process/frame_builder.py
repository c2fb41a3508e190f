"""Build frames in the view's process from the shared memory."""

from __future__ import annotations

import time
from collections import deque

import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.common.frames import to_xyzw
from tactile_sim.engines import Contacts
from tactile_sim.figures.arrows import force_arrows
from tactile_sim.view.content import ViewFrame, ViewScene
from tactile_sim.view.process.camera_views import CameraViews
from tactile_sim.view.process.image_renderer import ImageRenderer
from tactile_sim.view.process.replica import Replica
from tactile_sim.view.scene.color_scale import ColorScale

WINDOW = 1.0
"""Wall time over which the real-time factor is measured [s]."""


class FrameBuilder:
    """Builds frames from the records in `tactile_sim.view.process.shared_frame`."""

    def __init__(
        self,
        scene: ViewScene,
        renderer: ImageRenderer | None,
        replica: Replica | None,
        scale: ColorScale | None = None,
        cameras: CameraViews | None = None,
    ):
        """Create a builder.

        Args:
            scene: Constant content of the view.
            renderer: Renders the tactile images; None if there are no images.
            replica: Computes the missing fields of records; None if records are complete.
            scale: Colour scale of the view. The default is an automatic scale.
            cameras: Renders the cameras of the replica; None if there are none.
        """
        self._cameras = cameras
        self._scale = scale or ColorScale(scene.taxel_scale)
        self._scene = scene
        self._replica = replica
        self._renderer = renderer
        self._skin_bodies = np.asarray(scene.skin_bodies, int)
        self._past: deque[tuple[float, float]] = deque()
        """Wall time and simulation time of the frames within `WINDOW` [s]."""
        self._origin = 0
        """Step count minus the steps since the last reset. `Runner.interfere` can increase it by one."""

    def build(self, record: np.ndarray) -> ViewFrame:
        """Fill in the missing fields of a record and convert it to a frame."""
        if self._replica:
            self._replica.complete(record)
        quaternions = record["quaternions"]
        rotations = Rotation.from_quat(to_xyzw(quaternions)).as_matrix()
        contacts = record["contacts"][: int(record["contact_count"])]
        arrows, kinds, sources = force_arrows(
            contacts,
            record["positions"],
            rotations,
            self._skin_bodies,
            record["wrenches"],
            float(record["force_scale"]),
        )
        channels = int(record["channels"])
        values = record["readings"][: channels * len(self._scene.taxel_positions)]
        readings = np.linalg.norm(values.reshape(-1, channels), axis=1)
        discontinuous = self._is_discontinuous(record)
        feelers = record["feelers"]
        self._scale.update(readings, float(record["time"]), float(record["taxel_scale"]))
        return ViewFrame(
            time=float(record["time"]),
            body_positions=record["positions"],
            body_quaternions=quaternions,
            readings=readings,
            valid=record["valid"].astype(bool),
            unit=bytes(record["unit"]).rstrip(b"\0").decode(),
            taxel_scale=self._scale.end,
            forces=np.einsum("bij,bj->bi", rotations[self._skin_bodies], record["wrenches"][:, :3]),
            pad_readings=record["pad_readings"],
            contact_points=contacts[:, Contacts.POSITION : Contacts.POSITION + 3],
            contact_bodies=record["contact_bodies"][: len(contacts)],
            arrows=arrows,
            arrow_kinds=kinds,
            arrow_sources=sources,
            arrow_scale=float(record["force_scale"]),
            pull_force=float(np.linalg.norm(record["pull_force"])),
            free_lengths=feelers,
            images=(
                *(self._renderer.render(readings, self._scale, feelers) if self._renderer else ()),
                *(self._cameras.images(at_once=bool(record["paused"])) if self._cameras else ()),
            ),
            controls=record["controls"],
            enabled=record["enabled"],
            real_time_factor=self._real_time_factor(float(record["time"])),
            paused=bool(record["paused"]),
            discontinuous=discontinuous,
            fault=bytes(record["fault"]).rstrip(b"\0").decode(errors="ignore"),
        )

    def _is_discontinuous(self, record: np.ndarray) -> bool:
        """Return whether this is the first frame or follows a reset or an interference such as a throw."""
        before, self._origin = self._origin, int(record["step"] - record["taken"])
        return not self._past or before != self._origin

    def _real_time_factor(self, now: float) -> float:
        wall = time.monotonic()
        self._past.append((wall, now))
        while len(self._past) > 2 and wall - self._past[1][0] > WINDOW:
            self._past.popleft()
        began, then = self._past[0]
        return (now - then) / (wall - began) if wall > began else 0.0
