"""The moments of a bag, at any time of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from tactile_sim.analysis.poses import Poses
from tactile_sim.analysis.tactile_frames import readings_of
from tactile_sim.bag.mcap_file import Message as Stored
from tactile_sim.drawing.arrows import force_arrows
from tactile_sim.engines import Contacts
from tactile_sim.view.bag_index import LOOK_BACK, BagIndex
from tactile_sim.view.bag_world import Seen
from tactile_sim.view.world import Moment

ARROW_SCALE = 0.01
"""Length of an arrow [m/N]."""


class BagMoments:
    """Reads a bag on as time goes on, and from another place where it jumps; holds one instant of it."""

    def __init__(self, index: BagIndex, seen: Seen):
        self._index = index
        self._seen = seen
        robot = seen.robot
        single = {robot.frame, robot.contacts, seen.cloud} - {""}
        self._wanted = {*single, *robot.arrays, *seen.feelers, *seen.images}
        self._reading: Iterator[Stored] = iter(())
        self._next: Stored | None = None
        self._now = 0
        self._poses = Poses()
        self._latest: dict[str, Stored] = {}
        self._jump(index.start)

    def at(self, time: int) -> Moment:
        """How it all was at a log time [ns]."""
        if time < self._now or time > self._now + LOOK_BACK:
            self._jump(time)
        while self._next is not None and self._next.log_time <= time:
            self._take(self._next)
            self._next = next(self._reading, None)
        self._now = time
        return self._moment((time - self._index.start) / 1e9)

    def _jump(self, time: int) -> None:
        self._reading = self._index.messages(time - LOOK_BACK)
        self._next = next(self._reading, None)
        self._latest.clear()
        self._poses = self._index.poses()

    def _take(self, message: Stored) -> None:
        topic = message.channel.topic
        if topic == "/tf":
            self._poses.add(self._index.decode(message))
        elif topic in self._wanted:
            self._latest[topic] = message

    def _value(self, topic: str) -> Any:
        """The last message of a topic, decoded; None where there is none."""
        message = self._latest.get(topic)
        return self._index.decode(message).value if message else None

    def _moment(self, time: float) -> Moment:
        world, points = self._seen.world, self._seen.points
        known = len(world.bodies) - (len(self._seen.bodies) if points else 0)
        positions, rotations = self._poses.of(world.bodies[:known])
        quaternions = Rotation.from_matrix(rotations).as_quat(scalar_first=True)
        unit = "N"
        if points:
            taxels, where, turns = self._read_points()
            positions, quaternions = np.concatenate([positions, where]), np.concatenate([quaternions, turns])
            forces = np.zeros((len(where), 3))
        else:
            taxels, forces, unit = self._read_skin(rotations)
        contacts = self._contacts()
        net = self._net(contacts) if contacts is not None else forces
        values = _contact_values(contacts)
        ends, kinds = force_arrows(
            values,
            positions,
            np.tile(np.eye(3), (len(positions), 1, 1)),
            np.asarray(world.skin_bodies, int),
            np.concatenate([net, np.zeros_like(net)], axis=1),
            ARROW_SCALE,
        )
        return Moment(
            time=time,
            body_positions=positions,
            body_quaternions=quaternions,
            taxels=taxels,
            unit=unit,
            forces=net,
            contacts=values[:, Contacts.POSITION : Contacts.POSITION + 3],
            arrows=ends,
            arrow_kinds=kinds,
            feelers=self._free(),
            pictures=tuple(self._pictures()),
        )

    def _read_skin(self, rotations: np.ndarray) -> tuple[np.ndarray, np.ndarray, str]:
        """Magnitudes (taxels,), net forces (s, 3) in the world if the readings are forces, and the unit."""
        world, unit = self._seen.world, "N"
        magnitudes = np.zeros(len(world.taxel_positions))
        forces = np.zeros((len(world.skin_bodies), 3))
        stops = np.cumsum(world.taxel_counts).astype(int)
        parts, found = self._readings()
        for k, (body, stop) in enumerate(zip(self._seen.bodies, stops, strict=True)):
            readings = parts.get(body)
            if readings is None or len(readings) != world.taxel_counts[k]:
                continue
            magnitudes[stop - len(readings) : stop] = np.linalg.norm(readings, axis=1)
            if found.quantity.startswith("force_vector"):
                turn = np.eye(3) if found.quantity.endswith("global") else rotations[world.skin_bodies[k]]
                forces[k] = turn @ readings.sum(axis=0, dtype=float)
        return magnitudes, forces, found.unit if found is not None else unit

    def _readings(self) -> tuple[dict[str, np.ndarray], Any]:
        """(taxels, channels) by body, and a message that says what they are; None where there is none."""
        robot = self._seen.robot
        if robot.frame:
            frame = self._value(robot.frame)
            if frame is None:
                return {}, None
            starts = np.cumsum(frame.taxel_counts)[:-1]
            return dict(zip(frame.bodies, np.split(readings_of(frame), starts), strict=True)), frame
        found = [value for topic in robot.arrays if (value := self._value(topic)) is not None]
        parts = {value.body: readings_of(value) for value in found}
        return parts, found[0] if found else None

    def _read_points(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        points = self._seen.points
        assert points is not None
        cloud = self._value(self._seen.cloud) or self._index.first[self._seen.cloud].value
        read = points.read(cloud) or points.read(self._index.first[self._seen.cloud].value)
        assert read is not None
        return read

    def _contacts(self) -> Any:
        message = self._value(self._seen.robot.contacts)
        return None if message is None else message.contacts

    def _net(self, contacts: Any) -> np.ndarray:
        """(s, 3) sums of the contacts' forces on the bodies with skin, in the world [N]."""
        first, second = np.array(contacts.body1, object), np.array(contacts.body2, object)
        force = contacts.wrench.force
        return np.array(
            [
                force[second == body].sum(axis=0) - force[first == body].sum(axis=0)
                for body in self._seen.bodies
            ]
        ).reshape(-1, 3)

    def _free(self) -> np.ndarray:
        """Free lengths of all feelers; none where a body's are missing."""
        found = [self._value(topic) for topic in self._seen.feelers]
        if not found or any(value is None for value in found):
            return np.zeros(0)
        return np.concatenate([value.data for value in found]).astype(float)

    def _pictures(self) -> Iterator[np.ndarray]:
        for topic in self._seen.images:
            image = self._value(topic) or self._index.first[topic].value
            channels = 3 if image.encoding == "rgb8" else 1
            rows = image.data.reshape(image.height, image.step)[:, : channels * image.width]
            yield rows.reshape(image.height, image.width, channels) if channels == 3 else rows


def _contact_values(contacts: Any) -> np.ndarray:
    """(c, WIDTH) as `Contacts.values`, as far as arrows need it."""
    values = np.zeros((len(contacts) if contacts is not None else 0, Contacts.WIDTH))
    if len(values):
        values[:, Contacts.POSITION : Contacts.POSITION + 3] = contacts.position
        for row, axis in enumerate((contacts.normal, contacts.tangent1, contacts.tangent2)):
            values[:, Contacts.FRAME + 3 * row : Contacts.FRAME + 3 * row + 3] = axis
        values[:, Contacts.WRENCH : Contacts.WRENCH + 3] = contacts.contact_force
    return values
