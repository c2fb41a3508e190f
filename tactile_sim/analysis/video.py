"""Create a video from a bag: the scene with contact forces, the readings, and a plot of the forces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from tactile_sim.analysis import style
from tactile_sim.analysis.cursor import Cursor
from tactile_sim.analysis.framing import Spheres, around
from tactile_sim.analysis.images import body_of, pixels_of
from tactile_sim.analysis.layouts import Placed, place
from tactile_sim.analysis.poses import MOVING
from tactile_sim.analysis.recording import Recording
from tactile_sim.analysis.renderer import SceneRenderer
from tactile_sim.analysis.skin_panel import MARGIN, SkinPanel, font, reach
from tactile_sim.analysis.tactile_frames import finite, frames_of_skin
from tactile_sim.analysis.video_strip import ForceStrip
from tactile_sim.bag.messages import Message, Messages
from tactile_sim.errors import BagError

WIDTH, HEIGHT, SCENE, STRIP = 1280, 720, 760, 120
"""Width and height of the video, width of its left part, which shows the scene, and height of its force
strip [pixels]."""
SAMPLES = 40
"""Approximate number of times at which positions are sampled to compute the visible region."""
LENGTH = 0.4
"""Desired arrow length for the median contact force, relative to the radius of the visible region."""
LONGEST = 1.2
"""Maximum length of an arrow, relative to the radius of the visible region."""
SHORTEST = 0.01
"""Length below which arrows are not drawn, relative to the maximum length."""
MIN_MOTION = 1e-3
"""Distance that an object must move to be included in the visible region [m]."""
MOST_IMAGES = 6
"""Maximum number of tactile images. If there are more, none is shown, as they would be too small."""
INK = (52, 59, 70)


class Video:
    """Renders the images of a video from a recording.

    Args:
        recording: Data from the bag.
        bodies: Names of the bodies to show.
        fps: Images per second of simulation time.

    Raises:
        BagError: The bag lacks scene markers, tactile frames or the layouts of these bodies, or OpenGL is not
            available.
    """

    def __init__(self, recording: Recording, bodies: Sequence[str], fps: float) -> None:
        self._recording = recording
        path = recording.path
        touch, own = next(iter(recording.touch.split()), (recording.touch, []))  # pads with one unit
        missing = [
            what
            for what, there in (("scene_markers", recording.markers), ("tactile/frame", touch.bodies))
            if not there
        ]
        layouts = recording.layouts.of(touch.layout_id, touch.bodies, touch.counts.tolist())
        self._known = {
            n: layout for n, layout in enumerate(layouts) if layout and n in own and touch.bodies[n] in bodies
        }
        if not self._known:
            missing.append("tactile/BODY/layout")
        if missing:
            raise BagError(f"{path}: --video requires {', '.join(missing)}; not in the bag")
        images = sorted(topic for topic in recording.robot.images if body_of(topic) in bodies)
        self._image_topics = images if len(images) <= MOST_IMAGES else []
        self._taxels = touch.taxels_of(list(self._known))
        first, last = (round(1e9 * time) for time in recording.times[[0, -1]])
        count = max(1, round((last - first) / 1e9 * fps))
        self.stamps = first + np.rint(np.arange(count) * 1e9 / fps).astype(np.int64)
        low, high, half = self._bounds()
        center, radius = (low + high) / 2, max(float(np.linalg.norm(high - low)) / 2, 1e-3)
        self._scale = self._arrow_scale(radius)
        self._longest = LONGEST * radius
        self._renderer = SceneRenderer(recording.markers, center, radius, SCENE, HEIGHT - STRIP)
        norm = style.scale(np.array([row[self._taxels].max() for row in touch.raster.rows]))
        label = f"{style.words(touch.quantity)} per taxel [{touch.unit}]"
        self._panel = SkinPanel(WIDTH - SCENE, HEIGHT - STRIP, half, norm, label)
        pads = list(self._known)
        names = [touch.bodies[pad] for pad in pads]
        self._strip = ForceStrip(WIDTH, STRIP, touch.times, touch.nets[:, pads], names, touch.unit)

    def images(self) -> Iterator[np.ndarray]:
        """Yield images (HEIGHT, WIDTH, 3) uint8 at the times in ``stamps``, then close the renderer."""
        state = _State(self._recording, self._image_topics)
        try:
            for stamp in self.stamps.tolist():
                state.advance(stamp)
                yield np.asarray(self._image(state, stamp / 1e9))
        finally:
            self._renderer.close()

    def _image(self, state: _State, time: float) -> Image.Image:
        image = Image.new("RGB", (WIDTH, HEIGHT))
        arrows, kinds = self._arrows(state.contacts)
        image.paste(Image.fromarray(self._renderer.render(state.poses, arrows, kinds)))
        skin = place(list(self._known.values()), state.poses)
        panel = self._panel.paint(skin, state.readings[self._taxels], state.images)
        image.paste(panel, (SCENE, 0))
        image.paste(self._strip.paint(time), (0, HEIGHT - STRIP))
        pen = ImageDraw.Draw(image)
        pen.text(
            (MARGIN, MARGIN - 4), f"{time:.2f} s", (255, 255, 255), font(20), stroke_width=2, stroke_fill=INK
        )
        legend = f"arrows: {self._scale:g} m/N, normal blue, friction green"
        pen.text(
            (MARGIN, HEIGHT - STRIP - 26), legend, (255, 255, 255), font(14), stroke_width=2, stroke_fill=INK
        )
        return image

    def _bounds(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute the region that contains the skin and nearby shapes that move, at the sampled times.

        Returns:
            The lower and the upper corner of the region, each (3,) [m], and the largest `reach` of the skin
            at any of the sampled times (2,) [m].
        """
        state, shapes = _State(self._recording, []), Spheres(self._recording.markers)
        lows, highs, reaches, centers = [], [], [], []
        for stamp in self.stamps[:: max(1, len(self.stamps) // SAMPLES)].tolist():
            state.advance(stamp)
            skin: Placed = place(list(self._known.values()), state.poses)
            lows.append(skin.positions.min(axis=0))
            highs.append(skin.positions.max(axis=0))
            reaches.append(reach(skin))
            centers.append(shapes.centers(state.poses))
        static = self._recording.static
        moving = np.array([frame in state.poses and frame not in static for frame in shapes.frames], bool)
        moving &= np.linalg.norm(np.ptp(centers, axis=0), axis=1) > MIN_MOTION
        low, high = around(
            np.min(lows, axis=0),
            np.max(highs, axis=0),
            np.stack(centers)[:, moving],
            shapes.radii[moving],
        )
        return low, high, np.maximum(np.max(reaches, axis=0), 1e-3)

    def _arrow_scale(self, radius: float) -> float:
        """Return an arrow scale [m/N] that suits most contacts: 1, 2 or 5 times a power of ten.

        Args:
            radius: Radius of the visible region [m].
        """
        forces = self._recording.contacts.magnitudes
        forces = forces[forces > 0]
        wanted = LENGTH * radius / np.median(forces) if forces.size else 0.01
        decade = 10.0 ** np.floor(np.log10(wanted))
        return float(max(step * decade for step in (1.0, 2.0, 5.0) if step * decade <= wanted * 1.001))

    def _arrows(self, contacts: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the arrows of the normal force and the friction of all contacts.

        Returns:
            ends: Start and end point of each of the k arrows in the world (k, 2, 3) [m].
            kinds: Index of each arrow's colour in ARROW_COLORS (k,).
        """
        if contacts is None or not len(contacts):
            return np.zeros((0, 2, 3)), np.zeros(0, int)
        normal, first, second = np.moveaxis(np.asarray(contacts.contact_force)[:, :, None], 1, 0)
        friction = first * contacts.tangent1 + second * contacts.tangent2
        vectors = self._scale * np.stack([normal * contacts.normal, friction], axis=1)  # (contacts, 2, 3)
        lengths = np.linalg.norm(vectors, axis=2, keepdims=True)
        vectors = vectors * np.minimum(1.0, self._longest / np.maximum(lengths, 1e-12))
        starts = np.broadcast_to(contacts.position[:, None], vectors.shape)
        seen = lengths[..., 0] > SHORTEST * self._longest
        return np.stack([starts, starts + vectors], axis=2)[seen], np.nonzero(seen)[1]


class _State:
    """State of the robot at one time, according to the latest message on each topic."""

    def __init__(self, recording: Recording, image_topics: Sequence[str]) -> None:
        path, robot = recording.path, recording.robot
        self.poses = copy(recording.static)
        self.readings = np.zeros(recording.touch.offsets[-1])
        self.contacts: Any = None
        self.images: dict[str, np.ndarray] = {}
        self._layout_id = recording.touch.layout_id
        self._frames = frames_of_skin(robot)
        takes = [
            ({MOVING}, self.poses.add),
            (self._frames.topics, self._add_readings),
            ({robot.contacts}, self._add_contacts),
        ]
        takes += [({topic}, self._add_image) for topic in image_topics]
        self._cursors = [Cursor(Messages(path, topics.__contains__), take) for topics, take in takes]

    def advance(self, stamp: int) -> None:
        """Process the messages up to a time [ns]."""
        for cursor in self._cursors:
            cursor.until(stamp)

    def _add_readings(self, message: Message) -> None:
        for frame in self._frames.of(message):
            if frame.layout_id == self._layout_id and len(frame.readings) == len(self.readings):
                self.readings = np.linalg.norm(finite(frame.readings), axis=1)

    def _add_contacts(self, message: Message) -> None:
        self.contacts = message.value.contacts

    def _add_image(self, message: Message) -> None:
        self.images[body_of(message.topic)] = pixels_of(message.value)
