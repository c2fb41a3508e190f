"""A video of a bag: the scene with its contact forces beside the skin that feels them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from tactile_sim.analysis import paper
from tactile_sim.analysis.cursor import Cursor
from tactile_sim.analysis.framing import Spheres, around
from tactile_sim.analysis.layouts import Placed, place
from tactile_sim.analysis.poses import MOVING
from tactile_sim.analysis.recording import Recording
from tactile_sim.analysis.skin_panel import MARGIN, SkinPanel, font, reach
from tactile_sim.analysis.stage import Stage
from tactile_sim.analysis.tactile_frames import finite, frames_of_skin
from tactile_sim.bag.messages import Message, Messages
from tactile_sim.errors import BagError

WIDTH, HEIGHT, SCENE = 1280, 720, 760
"""Of the picture, and the width of its left part [pixels]."""
LOOKS = 40
"""So many instants tell how much of the scene the camera is to see."""
LENGTH = 0.4
"""Of the arrow of the median contact force, in radii of what is seen."""
LONGEST = 1.2
"""The longest arrow, in the same."""
SHORTEST = 0.01
"""Arrows that are shorter than this share of the longest are not drawn."""
MOST_IMAGES = 6
"""Tactile images of more bodies would be too small, and are left out."""
INK = (52, 59, 70)


class Film:
    """The pictures of a recording, ``fps`` of them a second of simulation time.

    Raises:
        BagError: the bag lacks the scene's markers, transforms or the layouts of these bodies; no OpenGL.
    """

    def __init__(self, recording: Recording, bodies: Sequence[str], fps: float) -> None:
        self._recording = recording
        touch, path = recording.touch, recording.path
        missing = [
            what
            for what, there in (("scene_markers", recording.markers), ("tactile/frame", touch.bodies))
            if not there
        ]
        layouts = recording.layouts.of(touch.layout_id, touch.bodies, touch.counts.tolist())
        self._known = {n: layout for n, layout in enumerate(layouts) if layout and touch.bodies[n] in bodies}
        if not self._known:
            missing.append("tactile/BODY/layout")
        if missing:
            raise BagError(f"{path}: --video needs {', '.join(missing)}, which the bag has not")
        images = sorted(topic for topic in recording.robot.images if _body_of(topic) in bodies)
        self._image_topics = images if len(images) <= MOST_IMAGES else []
        self._taxels = touch.taxels_of(list(self._known))
        first, last = (round(1e9 * time) for time in recording.times[[0, -1]])
        count = max(1, round((last - first) / 1e9 * fps))
        self.stamps = first + np.rint(np.arange(count) * 1e9 / fps).astype(np.int64)
        low, high, half = self._bounds()
        center, radius = (low + high) / 2, max(float(np.linalg.norm(high - low)) / 2, 1e-3)
        self._scale = self._arrow_scale(radius)
        self._longest = LONGEST * radius
        self._stage = Stage(recording.markers, center, radius, SCENE, HEIGHT)
        norm = paper.scale(np.array([row[self._taxels].max() for row in touch.raster.rows]))
        label = f"{paper.words(touch.quantity)} at a taxel [{touch.unit}]"
        self._panel = SkinPanel(WIDTH - SCENE, HEIGHT, half, norm, label)

    def pictures(self) -> Iterator[np.ndarray]:
        """(HEIGHT, WIDTH, 3) uint8 each, at the times of ``stamps``."""
        now = _Now(self._recording, self._image_topics)
        try:
            for stamp in self.stamps.tolist():
                now.advance(stamp)
                yield np.asarray(self._picture(now, stamp / 1e9))
        finally:
            self._stage.close()

    def _picture(self, now: _Now, time: float) -> Image.Image:
        picture = Image.new("RGB", (WIDTH, HEIGHT))
        arrows, kinds = self._arrows(now.contacts)
        picture.paste(Image.fromarray(self._stage.render(now.poses, arrows, kinds)))
        skin = place(list(self._known.values()), now.poses)
        panel = self._panel.paint(skin, now.felt[self._taxels], now.images)
        picture.paste(panel, (SCENE, 0))
        pen = ImageDraw.Draw(picture)
        pen.text(
            (MARGIN, MARGIN - 4), f"{time:.2f} s", (255, 255, 255), font(20), stroke_width=2, stroke_fill=INK
        )
        told = f"arrows: {self._scale:g} m/N, normal green, friction red and blue"
        pen.text((MARGIN, HEIGHT - 26), told, (255, 255, 255), font(14), stroke_width=2, stroke_fill=INK)
        return picture

    def _bounds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Where the skin and what moves near it come to, low and high (3,), and the skin's reach (2,) [m].

        Some instants of the whole bag tell.
        """
        now, shapes = _Now(self._recording, []), Spheres(self._recording.markers)
        lows, highs, reaches, centers = [], [], [], []
        for stamp in self.stamps[:: max(1, len(self.stamps) // LOOKS)].tolist():
            now.advance(stamp)
            skin: Placed = place(list(self._known.values()), now.poses)
            lows.append(skin.positions.min(axis=0))
            highs.append(skin.positions.max(axis=0))
            reaches.append(reach(skin))
            centers.append(shapes.centers(now.poses))
        static = self._recording.static
        moving = [frame in now.poses and frame not in static for frame in shapes.frames]
        low, high = around(
            np.min(lows, axis=0),
            np.max(highs, axis=0),
            np.stack(centers)[:, moving],
            shapes.radii[moving],
        )
        return low, high, np.maximum(np.max(reaches, axis=0), 1e-3)

    def _arrow_scale(self, radius: float) -> float:
        """A round scale of arrows [m/N], about right for most contacts."""
        forces = self._recording.contacts.magnitudes
        forces = forces[forces > 0]
        wanted = LENGTH * radius / np.median(forces) if forces.size else 0.01
        decade = 10.0 ** np.floor(np.log10(wanted))
        return float(max(step * decade for step in (1.0, 2.0, 5.0) if step * decade <= wanted * 1.001))

    def _arrows(self, contacts: Any) -> tuple[np.ndarray, np.ndarray]:
        """Ends (k, 2, 3) [m] and kinds (k,) of the arrows of all contacts."""
        if contacts is None or not len(contacts):
            return np.zeros((0, 2, 3)), np.zeros(0, int)
        axes = np.stack([contacts.normal, contacts.tangent1, contacts.tangent2], axis=1)
        vectors = self._scale * contacts.contact_force[:, :, None] * axes  # (contacts, 3 parts, 3)
        lengths = np.linalg.norm(vectors, axis=2, keepdims=True)
        vectors = vectors * np.minimum(1.0, self._longest / np.maximum(lengths, 1e-12))
        starts = np.broadcast_to(contacts.position[:, None], vectors.shape)
        seen = lengths[..., 0] > SHORTEST * self._longest
        return np.stack([starts, starts + vectors], axis=2)[seen], np.nonzero(seen)[1]


class _Now:
    """What was last heard of each thing, as time goes on."""

    def __init__(self, recording: Recording, image_topics: Sequence[str]) -> None:
        path, robot = recording.path, recording.robot
        self.poses = copy(recording.static)
        self.felt = np.zeros(recording.touch.offsets[-1])
        self.contacts: Any = None
        self.images: dict[str, np.ndarray] = {}
        self._layout_id = recording.touch.layout_id
        self._frames = frames_of_skin(robot)
        takes = [
            ({MOVING}, self.poses.hear),
            (self._frames.topics, self._feel),
            ({robot.contacts}, self._touch),
        ]
        takes += [({topic}, self._see) for topic in image_topics]
        self._cursors = [Cursor(Messages(path, topics.__contains__), take) for topics, take in takes]

    def advance(self, stamp: int) -> None:
        """Go on to a time [ns]."""
        for cursor in self._cursors:
            cursor.until(stamp)

    def _feel(self, message: Message) -> None:
        for frame in self._frames.of(message):
            if frame.layout_id == self._layout_id and len(frame.readings) == len(self.felt):
                self.felt = np.linalg.norm(finite(frame.readings), axis=1)

    def _touch(self, message: Message) -> None:
        self.contacts = message.value.contacts

    def _see(self, message: Message) -> None:
        value = message.value
        rows = value.data.reshape(value.height, value.step)
        channels = 3 if value.encoding in ("rgb8", "bgr8") else 1
        image = rows[:, : value.width * channels].reshape(value.height, value.width, channels)
        image = image[:, :, ::-1] if value.encoding == "bgr8" else image
        self.images[_body_of(message.topic)] = np.ascontiguousarray(
            np.broadcast_to(image, (*image.shape[:2], 3))
        )


def _body_of(topic: str) -> str:
    """The body of a topic such as ``/left/tactile/palm/image``."""
    return topic.rpartition("/tactile/")[2].partition("/")[0]
