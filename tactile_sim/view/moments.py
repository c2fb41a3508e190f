"""From what lies in the shared memory to what is drawn: in the view's process, off the physics."""

from __future__ import annotations

import time
from collections import deque

import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.drawing.arrows import force_arrows
from tactile_sim.engines import Contacts
from tactile_sim.frames import to_xyzw
from tactile_sim.view.mirror import Mirror
from tactile_sim.view.pictures import Pictures
from tactile_sim.view.world import Moment, World

WINDOW = 1.0
"""The real-time factor is that of about so long [s of wall time]."""


class Moments:
    """Makes the moments of one world out of records as `tactile_sim.view.channel` has them."""

    def __init__(self, world: World, pictures: Pictures | None, mirror: Mirror | None):
        """pictures: who draws them; mirror: who finds what records leave out; None where nobody has to."""
        self._world = world
        self._mirror = mirror
        self._pictures = pictures
        self._skin_bodies = np.asarray(world.skin_bodies, int)
        self._past: deque[tuple[float, float]] = deque()
        """Wall and simulation time of the moments within the window [s]."""
        self._origin = 0
        """The step of the last reset; a push and a throw count one more."""

    def moment(self, record: np.ndarray) -> Moment:
        """All that is drawn of one record, which is filled."""
        if self._mirror:
            self._mirror.fill(record)
        quaternions = record["quaternions"]
        rotations = Rotation.from_quat(to_xyzw(quaternions)).as_matrix()
        contacts = record["contacts"][: int(record["contact_count"])]
        arrows, kinds = force_arrows(
            contacts,
            record["positions"],
            rotations,
            self._skin_bodies,
            record["wrenches"],
            float(record["force_scale"]),
        )
        channels = int(record["channels"])
        readings = record["readings"][: channels * len(self._world.taxel_positions)]
        taxels = np.linalg.norm(readings.reshape(-1, channels), axis=1)
        begins = self._begins(record)
        feelers, scale = record["feelers"], float(record["taxel_scale"]) or self._world.taxel_scale
        return Moment(
            time=float(record["time"]),
            body_positions=record["positions"],
            body_quaternions=quaternions,
            taxels=taxels,
            unit=bytes(record["unit"]).rstrip(b"\0").decode(),
            taxel_scale=scale,
            forces=np.einsum("bij,bj->bi", rotations[self._skin_bodies], record["wrenches"][:, :3]),
            contacts=contacts[:, Contacts.POSITION : Contacts.POSITION + 3],
            arrows=arrows,
            arrow_kinds=kinds,
            feelers=feelers,
            pictures=self._pictures.draw(taxels, scale, feelers) if self._pictures else (),
            controls=record["controls"],
            real_time_factor=self._real_time_factor(float(record["time"])),
            paused=bool(record["paused"]),
            begins=begins,
            fault=bytes(record["fault"]).rstrip(b"\0").decode(errors="ignore"),
        )

    def _begins(self, record: np.ndarray) -> bool:
        """Whether something other than time led here from the last moment."""
        before, self._origin = self._origin, int(record["step"] - record["taken"])
        return not self._past or before != self._origin

    def _real_time_factor(self, now: float) -> float:
        wall = time.monotonic()
        self._past.append((wall, now))
        while len(self._past) > 2 and wall - self._past[1][0] > WINDOW:
            self._past.popleft()
        began, then = self._past[0]
        return (now - then) / (wall - began) if wall > began else 0.0
