"""Build view frames from a bag at arbitrary times, and choose how its view opens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.bag.mcap_file import Message as Stored
from tactile_sim.bag.messages import VIEW_TOPIC
from tactile_sim.engines import Contacts
from tactile_sim.figures.arrows import force_arrows
from tactile_sim.figures.messages import PadReadings, Poses, by_pad
from tactile_sim.view.bag_index import LOOK_BACK, BagIndex
from tactile_sim.view.bag_scene import BagScene
from tactile_sim.view.camera import Viewpoint
from tactile_sim.view.content import ViewFrame, ViewScene

ARROW_SCALE = 0.01
"""Length of an arrow per force [m/N]."""


class BagFrames:
    """Builds view frames from a bag. It reads sequentially while time advances and seeks when time jumps."""

    def __init__(self, index: BagIndex, bag_scene: BagScene):
        self._index = index
        self._content = bag_scene
        robot = bag_scene.robot
        single = {robot.frame, robot.contacts, bag_scene.cloud} - {""}
        self._topics = {*single, *robot.arrays, *bag_scene.feelers, *bag_scene.images}
        self._messages: Iterator[Stored] = iter(())
        self._next: Stored | None = None
        self._now = 0
        self._poses = Poses()
        self._latest: dict[str, Stored] = {}
        self._seek(index.start)

    def at(self, time: int) -> ViewFrame:
        """Return the frame at a log time [ns], built from the latest message on each topic up to this time.

        After a jump in time, only the chunk at ``time - LOOK_BACK`` and later chunks are read.
        """
        if time < self._now or time > self._now + LOOK_BACK:
            self._seek(time)
        while self._next is not None and self._next.log_time <= time:
            self._take(self._next)
            self._next = next(self._messages, None)
        self._now = time
        return self._build((time - self._index.start) / 1e9)

    def _seek(self, time: int) -> None:
        self._messages = self._index.messages(time - LOOK_BACK)
        self._next = next(self._messages, None)
        self._latest.clear()
        self._poses = self._index.static_poses()

    def _take(self, message: Stored) -> None:
        topic = message.channel.topic
        if topic == "/tf":
            self._poses.add(self._index.decode(message))
        elif topic in self._topics:
            self._latest[topic] = message

    def _value(self, topic: str) -> Any:
        """Return the decoded value of the latest message on a topic, or None if there is none."""
        message = self._latest.get(topic)
        return self._index.decode(message).value if message else None

    def _build(self, time: float) -> ViewFrame:
        scene, points = self._content.scene, self._content.points
        count = len(scene.bodies) - (len(self._content.pads) if points else 0)
        positions, rotations = self._poses.of(scene.bodies[:count])
        quaternions = Rotation.from_matrix(rotations).as_quat(scalar_first=True)
        unit, valid = "N", np.empty(0, bool)
        if points:
            readings, centers, turns = self._read_points()
            positions, quaternions = (
                np.concatenate([positions, centers]),
                np.concatenate([quaternions, turns]),
            )
            forces = np.zeros((len(centers), 3))
        else:
            readings, valid, forces, unit = self._read_skin(rotations)
        contacts = self._contacts()
        net = self._net_forces(contacts) if contacts is not None else forces
        values = _contact_values(contacts)
        ends, kinds, sources = force_arrows(
            values,
            positions,
            np.tile(np.eye(3), (len(positions), 1, 1)),
            np.asarray(scene.skin_bodies, int),
            np.concatenate([net, np.zeros_like(net)], axis=1),
            ARROW_SCALE,
        )
        return ViewFrame(
            time=time,
            body_positions=positions,
            body_quaternions=quaternions,
            readings=readings,
            valid=valid,
            unit=unit,
            forces=net,
            contact_points=values[:, Contacts.POSITION : Contacts.POSITION + 3],
            contact_bodies=self._contact_bodies(contacts),
            arrows=ends,
            arrow_kinds=kinds,
            arrow_sources=sources,
            arrow_scale=ARROW_SCALE,
            free_lengths=self._free_lengths(),
            images=tuple(self._images()),
        )

    def _read_skin(self, rotations: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, str]:
        """Return the current readings of all taxels.

        Args:
            rotations: Rotation of each body to the world frame (bodies, 3, 3).

        Returns:
            A tuple of the magnitudes (taxels,), whether they are valid (taxels,), the sum of the readings on
            each pad's body (s, 3) in the world frame [N], and the unit. The sums are zero unless the readings
            are force vectors. The unit is empty if the pads have different units.
        """
        scene = self._content.scene
        magnitudes = np.zeros(len(scene.taxel_positions))
        valid = np.ones(len(magnitudes), bool)
        forces = np.zeros((len(scene.skin_bodies), 3))
        stops = np.cumsum(scene.taxel_counts).astype(int)
        parts = self._readings()
        for k, (pad, stop) in enumerate(zip(self._content.pads, stops, strict=True)):
            if pad not in parts or len(parts[pad].readings) != scene.taxel_counts[k]:
                continue
            readings, part = parts[pad].readings, slice(stop - len(parts[pad].readings), stop)
            magnitudes[part], valid[part] = np.linalg.norm(readings, axis=1), parts[pad].valid
            if parts[pad].quantity in ("force_vector", "force_vector_global"):
                is_global = parts[pad].quantity.endswith("global")
                rotation = np.eye(3) if is_global else rotations[scene.skin_bodies[k]]
                forces[k] = rotation @ readings.sum(axis=0, dtype=float)
        _, body = np.unique(scene.skin_bodies, return_inverse=True)
        sums = np.zeros((len(forces), 3))
        np.add.at(sums, body, forces)
        units = {part.unit for part in parts.values()} or {"N"}
        return magnitudes, valid, sums[body], units.pop() if len(units) == 1 else ""

    def _readings(self) -> dict[str, PadReadings]:
        """Return the readings of each pad, keyed by pad name."""
        robot = self._content.robot
        topics = [robot.frame] if robot.frame else robot.arrays
        found = [value for topic in topics if (value := self._value(topic)) is not None]
        return {pad: part for value in found for pad, part in by_pad(value).items()}

    def _read_points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        points = self._content.points
        assert points is not None
        cloud = self._value(self._content.cloud) or self._index.first[self._content.cloud].value
        result = points.read(cloud) or points.read(self._index.first[self._content.cloud].value)
        assert result is not None
        return result

    def _contacts(self) -> Any:
        message = self._value(self._content.robot.contacts)
        return None if message is None else message.contacts

    def _net_forces(self, contacts: Any) -> np.ndarray:
        """Return the net contact force on the body of each pad (s, 3), world frame [N]."""
        first, second = np.array(contacts.body1, object), np.array(contacts.body2, object)
        force = contacts.wrench.force
        return np.array(
            [
                force[second == body].sum(axis=0) - force[first == body].sum(axis=0)
                for body in self._content.pad_bodies
            ]
        ).reshape(-1, 3)

    def _contact_bodies(self, contacts: Any) -> np.ndarray:
        """Return the indices of the two bodies in each contact (c, 2), or -1 for bodies without skin."""
        if contacts is None:
            return np.zeros((0, 2), int)
        known = dict(
            zip(self._content.pad_bodies, self._content.scene.skin_bodies.astype(int).tolist(), strict=True)
        )
        sides = [[known.get(body, -1) for body in side] for side in (contacts.body1, contacts.body2)]
        return np.array(sides, int).reshape(2, -1).T

    def parents(self) -> np.ndarray:
        """Return the index of each body's parent (bodies,) according to the current transforms."""
        return self._poses.parents(self._content.scene.bodies)

    def _free_lengths(self) -> np.ndarray:
        """Return the free lengths of all feelers (f,) [m]; empty if the message of any body is missing."""
        found = [self._value(topic) for topic in self._content.feelers]
        if not found or any(value is None for value in found):
            return np.zeros(0)
        return np.concatenate([value.data for value in found]).astype(float)

    def _images(self) -> Iterator[np.ndarray]:
        for topic in self._content.images:
            image = self._value(topic) or self._index.first[topic].value
            channels = 3 if image.encoding == "rgb8" else 1
            rows = image.data.reshape(image.height, image.step)[:, : channels * image.width]
            yield rows.reshape(image.height, image.width, channels) if channels == 3 else rows


def _contact_values(contacts: Any) -> np.ndarray:
    """Convert decoded contacts to `Contacts.values` (c, WIDTH). Only the fields that arrows need are set."""
    values = np.zeros((len(contacts) if contacts is not None else 0, Contacts.WIDTH))
    if len(values):
        values[:, Contacts.POSITION : Contacts.POSITION + 3] = contacts.position
        for row, axis in enumerate((contacts.normal, contacts.tangent1, contacts.tangent2)):
            values[:, Contacts.FRAME + 3 * row : Contacts.FRAME + 3 * row + 3] = axis
        values[:, Contacts.WRENCH : Contacts.WRENCH + 3] = contacts.contact_force
    return values


CAMERA_SAMPLES = 5
"""Number of frames, spread over the shown time, in which the initial camera must show the entire skin."""


def opening_scene(content: BagScene, frames: BagFrames, start: int, stop: int) -> ViewScene:
    """Return the scene of a bag with its region of interest and, if it is usable, the recorded live view.

    A live view whose camera cannot see the region of interest is noted and ignored.

    Args:
        content: Scene of the bag, to whose notes a note is added.
        frames: Frames of the bag.
        start: First log time that is shown [ns].
        stop: Last log time that is shown [ns].
    """
    scene = content.scene
    times = np.linspace(start, stop, CAMERA_SAMPLES)
    viewpoint = Viewpoint.of(scene, [frames.at(round(time)) for time in times])
    view = scene.live_view
    if view and not viewpoint.is_visible_from(view):
        position = ", ".join(f"{value:g}" for value in view.position)
        content.notes.append(
            f"{VIEW_TOPIC}: the camera at ({position}) cannot see the scene around "
            f"({', '.join(f'{value:.3g}' for value in viewpoint.center)}); it is ignored"
        )
        view = None
    return replace(scene, center=viewpoint.center, extent=2.0 * viewpoint.radius, live_view=view)
