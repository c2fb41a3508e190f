"""Create a video from a bag: the scene with contact forces, the readings, and a plot of the forces."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import LogNorm
from PIL import Image, ImageDraw, ImageFont

from tactile_sim.bag.atomic_write import fresh, fresh_folder
from tactile_sim.bag.mcap_file import Progress
from tactile_sim.bag.messages import Message, Messages, require
from tactile_sim.common.errors import BagError
from tactile_sim.figures import style
from tactile_sim.figures.colors import DARK, full_scale
from tactile_sim.figures.messages import MOVING, Cursor, Placed, Span, finite, frames_of_skin, place
from tactile_sim.figures.recording import Recording
from tactile_sim.figures.renderer import SceneRenderer, Spheres, around

NAME = "{:07d}.png"
"""Name of an image file; ``ffmpeg -i %07d.png`` reads the files in order."""


def body_of(topic: str) -> str:
    """Return the name of the body in a topic name, such as ``palm`` in ``/left/tactile/palm/image``."""
    return topic.rpartition("/tactile/")[2].partition("/")[0]


def pixels_of(value: Any) -> np.ndarray:
    """Return the RGB pixels (height, width, 3) uint8 of an Image message."""
    channels = 3 if value.encoding in ("rgb8", "bgr8") else 1
    size = value.height * value.step
    if not 0 < value.width * channels <= value.step or not 0 < size == len(value.data):
        raise BagError(
            f"image: must have {value.height} rows of {value.step} bytes for a width of {value.width}"
            f" {value.encoding} pixels, got {len(value.data)} bytes; choose other bodies with --body"
        )
    rows = value.data.reshape(value.height, value.step)
    image = rows[:, : value.width * channels].reshape(value.height, value.width, channels)
    image = image[:, :, ::-1] if value.encoding == "bgr8" else image
    return np.ascontiguousarray(np.broadcast_to(image, (*image.shape[:2], 3)))


def write_frames(
    bag: Path,
    topics: Collection[str],
    span: Span,
    out: Path,
    force: bool = False,
    progress: Progress | None = None,
) -> dict[Path, int]:
    """Write each topic's images as PNG files, numbered from 0, to a folder named after the topic's body."""
    folders = {topic: out / body_of(topic) for topic in topics}
    for folder in folders.values():
        if folder.exists() and not force:
            raise BagError(f"{folder} already exists; choose another folder, or replace it with --force")
    counts = dict.fromkeys(folders.values(), 0)
    with fresh_folder(out):
        for message in Messages(bag, folders.__contains__, progress):
            if message.stamp not in span:
                continue
            folder = folders[message.topic]
            with fresh_folder(folder), fresh(folder / NAME.format(counts[folder])) as path:
                Image.fromarray(pixels_of(message.value)).save(path, format="png")
            counts[folder] += 1
    if not any(counts.values()):
        raise BagError(f"{bag}: --frames requires tactile/BODY/image; not in the bag {span}")
    for folder, count in counts.items():
        for stale in folder.glob("[0-9]" * 7 + ".png"):
            if int(stale.stem) >= count:
                stale.unlink()
    return counts


CODECS = {"libx264": {"crf": "20", "preset": "fast"}, "libopenh264": {"b": "4M"}, "mpeg4": {"qscale": "3"}}
"""Codecs in order of preference, with their options."""


def require_video(out: Path) -> None:
    """Check that a video can be written."""
    if out.suffix.lower() != ".mp4":
        raise BagError(f"--video: file name must end in .mp4, got {out}")
    require("--video", "av", "PyAV", "av")


@contextmanager
def video(path: Path, rate: float, width: int, height: int) -> Iterator[Callable[[np.ndarray], None]]:
    """Open an MP4 file and yield a function that encodes the next image (height, width, 3) uint8.

    Args:
        path: Path of the file.
        rate: Frame rate [1/s].
        width: Width of the images, an even number [pixels].
        height: Height of the images, an even number [pixels].
    """
    import av

    with av.open(str(path), "w", format="mp4", options={"movflags": "+faststart"}) as container:
        codec = next(name for name in CODECS if name in av.codecs_available)
        fps = Fraction(rate).limit_denominator(1001)
        stream: Any = container.add_stream(codec, rate=fps, options=CODECS[codec])
        stream.pix_fmt, stream.width, stream.height = "yuv420p", width, height

        def encode(image: np.ndarray) -> None:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")))

        yield encode
        container.mux(stream.encode())


DOT_FILL = 1.05
"""Diameter of a dot relative to the taxel spacing."""


def view_axes(elevation: float, azimuth: float) -> np.ndarray:
    """Return the axes of a view as rows (3, 3): right, up and toward the camera.

    Args:
        elevation: Angle of the camera above the horizontal plane [degrees].
        azimuth: Angle of the camera about the vertical axis [degrees].
    """
    up, around = np.radians(elevation), np.radians(azimuth)
    toward = np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])
    right = np.array([-np.sin(around), np.cos(around), 0.0])
    return np.stack([right, np.cross(toward, right), toward])


def draw_dots(
    skin: Placed, colors: np.ndarray, view: np.ndarray, center: np.ndarray, zoom: float, image: np.ndarray
) -> None:
    """Draw the taxels that face the camera into an image.

    Args:
        skin: Positions, normals and spacings of the n taxels.
        colors: Colors of the taxels (n, 3) uint8.
        view: Axes of the view from :func:`axes`.
        center: Point (3,) at the center of the image [m].
        zoom: Pixels per meter.
        image: Image (height, width, 3) uint8, modified in place.
    """
    height, width = image.shape[:2]
    facing = (skin.normals @ view[2] > 0.0) | ~skin.normals.any(axis=1)  # a zero normal: always visible
    order = np.flatnonzero(facing)
    order = order[np.argsort(skin.positions[order] @ view[2])]  # farthest first
    across = (skin.positions[order] - center) @ view[:2].T * zoom
    columns = np.rint(width / 2 + across[:, 0]).astype(int)
    rows = np.rint(height / 2 - across[:, 1]).astype(int)
    dot = np.maximum(DOT_FILL * skin.spacings[order] * zoom / 2, 1.0)
    reach = int(np.ceil(dot.max(initial=0.0)))
    down, aside = (grid.ravel() for grid in np.mgrid[-reach : reach + 1, -reach : reach + 1])
    inside = down**2 + aside**2 <= dot[:, None] ** 2
    rows, columns = rows[:, None] + down, columns[:, None] + aside
    inside &= (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    painted = np.broadcast_to(colors[order][:, None], (*inside.shape, 3))
    image[rows[inside], columns[inside]] = painted[inside]


BACKGROUND = (20, 23, 28)
TEXT = (214, 220, 229)
UNLOADED = np.array([69.0, 79.0, 94.0])
"""RGB color (0 to 255) of taxels without load."""
SIDES = (("from above", view_axes(30.0, -50.0)), ("from below", view_axes(-30.0, -50.0)))
FILL = 0.92
"""Fraction of the available space that the skin fills."""
OVERSAMPLING = 2
"""Taxels are drawn at this multiple of the final resolution, for smooth edges."""
TITLE, LEGEND, MARGIN = 24, 70, 12
"""Height of a title, height of the legend, and width of the margin [pixels]."""


def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Return the font of this size [pixels] for text in videos."""
    return ImageFont.load_default(size)


def middle(skin: Placed) -> np.ndarray:
    """Return the center (3,) of a skin's bounding box [m]."""
    return (skin.positions.min(axis=0) + skin.positions.max(axis=0)) / 2


def reach(skin: Placed) -> np.ndarray:
    """Return the largest distances from a taxel to the :func:`middle` of the skin, in all views.

    Returns:
        The largest horizontal and the largest vertical distance in the image plane (2,) [m].
    """
    apart = skin.positions - middle(skin)
    return np.max([np.abs(apart @ view[:2].T).max(axis=0) for _, view in SIDES], axis=0)


class SkinPanel:
    """Draws the right part of each image of a video.

    Args:
        width: Width of the panel [pixels].
        height: Height of the panel [pixels].
        half: Half-width and half-height of the region that each view must show (2,) [m], from :func:`reach`.
        norm: Color scale of the readings.
        label: Label of the color scale.
    """

    def __init__(self, width: int, height: int, half: np.ndarray, norm: LogNorm, label: str) -> None:
        self.width, self.height = width, height
        self._half, self._norm = half, norm
        self._empty = self._bar(label)

    def paint(self, skin: Placed, felt: np.ndarray, images: Mapping[str, np.ndarray]) -> Image.Image:
        """Draw the panel for one time.

        Args:
            skin: Positions, normals and spacings of the n taxels.
            felt: Magnitudes of the readings (n,).
            images: Tactile images (height, width, 3) uint8, keyed by body name.
        """
        panel = self._empty.copy()
        tiers = len(SIDES) + bool(images)
        height = (self.height - LEGEND) // tiers
        for tier, (side, view) in enumerate(SIDES):
            taxels = self._taxels(skin, felt, view, height - TITLE)
            self._put(panel, taxels, MARGIN, (tier + bool(images)) * height, side)
        columns = self.width // max(1, len(images))
        for k, (body, image) in enumerate(sorted(images.items())):
            zoom = min((columns - 2 * MARGIN) / image.shape[1], (height - TITLE) / image.shape[0])
            size = max(1, round(zoom * image.shape[1])), max(1, round(zoom * image.shape[0]))
            resized = Image.fromarray(image).resize(size, Image.Resampling.NEAREST)
            left = k * columns + (columns - size[0]) // 2
            self._put(panel, resized, left, 0, f"tactile image of {body}" if columns > 200 else body)
        return panel

    def _put(self, panel: Image.Image, part: Image.Image, left: int, top: int, title: str) -> None:
        panel.paste(part, (left, top + TITLE))
        ImageDraw.Draw(panel).text((left, top + 4), title, TEXT, font(15))

    def _taxels(self, skin: Placed, felt: np.ndarray, view: np.ndarray, height: int) -> Image.Image:
        """Draw the taxels as seen along one view."""
        width = self.width - 2 * MARGIN
        image = np.full((OVERSAMPLING * height, OVERSAMPLING * width, 3), BACKGROUND, np.uint8)
        light = np.clip(0.55 + 0.45 * skin.normals @ view[2], 0.35, 1.0)[:, None]
        shown = (UNLOADED * light).astype(np.uint8)
        shown[felt > 0] = (255 * style.shades(felt[felt > 0], self._norm)).astype(np.uint8)
        zoom = FILL * (np.array([width, height]) / (2 * self._half)).min()
        draw_dots(skin, shown, view, middle(skin), OVERSAMPLING * zoom, image)
        return Image.fromarray(image).resize((width, height), Image.Resampling.BOX)

    def _bar(self, label: str) -> Image.Image:
        """Return an empty panel with the color scale at the bottom."""
        panel = Image.new("RGB", (self.width, self.height), BACKGROUND)
        low, high = np.log10([self._norm.vmin or 1.0, self._norm.vmax or 1.0])
        left, top, width = 2 * MARGIN, self.height - 40, self.width - 4 * MARGIN
        levels = 10 ** np.linspace(low, high, width)
        bar = (255 * style.shades(levels, self._norm)).astype(np.uint8)
        panel.paste(Image.fromarray(np.tile(bar, (10, 1, 1))), (left, top))
        pen = ImageDraw.Draw(panel)
        pen.text((left, top - 6), label, TEXT, font(15), anchor="ls")
        for mark in style.marks(self._norm):
            x = left + width * (np.log10(mark) - low) / (high - low)
            pen.text((x, top + 14), f"{mark:g}", TEXT, font(14), anchor="ma")
        return panel


STRIP_LEGEND, LINE = 26, 2
"""Height of the legend above the plot, and width of the lines [pixels]."""
CURSOR = (255, 255, 255)


class ForceStrip:
    """Draws the strip below each image of a video.

    Args:
        width: Width [pixels].
        height: Height [pixels].
        times: Times of the readings (n,) [s].
        nets: Net readings (n, p) of the pads over time, in ``unit``.
        names: Names of the pads (p,).
        unit: Unit of the readings.
    """

    def __init__(
        self, width: int, height: int, times: np.ndarray, nets: np.ndarray, names: Sequence[str], unit: str
    ) -> None:
        lines = DARK.lines[: style.NAMED_LINES]
        order = np.argsort(-nets.max(axis=0), kind="stable")[: len(lines)]
        shown = [int(pad) for pad in order if nets[:, pad].max() > 0.0]
        self._times, self._nets = times, nets[:, shown]
        self._names, self._colors = [names[pad] for pad in shown], lines[: len(shown)]
        self._left, self._right = MARGIN, width - MARGIN
        self._top, self._bottom = STRIP_LEGEND, height - MARGIN
        self._empty = self._plot(width, height, unit)

    def paint(self, time: float) -> Image.Image:
        """Draw the strip with the cursor and the values at a time [s]."""
        image = self._empty.copy()
        pen = ImageDraw.Draw(image)
        row = max(0, int(np.searchsorted(self._times, time, side="right")) - 1)
        step = (self._right - self._left) // max(len(self._names), 4)
        for k, (name, color) in enumerate(zip(self._names, self._colors, strict=True)):
            left = self._left + k * step
            pen.line([(left, STRIP_LEGEND // 2), (left + 14, STRIP_LEGEND // 2)], color, 4)
            text = f"{name} {self._nets[row, k]:.2f}"
            pen.text((left + 20, STRIP_LEGEND // 2), text, TEXT, font(15), anchor="lm")
        x = float(self._x(np.array([time]))[0])
        pen.line([(x, self._top), (x, self._bottom)], CURSOR, LINE)
        return image

    def _plot(self, width: int, height: int, unit: str) -> Image.Image:
        """Return the strip without cursor and values."""
        image = Image.new("RGB", (width, height), BACKGROUND)
        pen = ImageDraw.Draw(image)
        end = full_scale(float(self._nets.max(initial=0.0)) / 1.2)
        for y in (self._top, self._bottom):
            pen.line([(self._left, y), (self._right, y)], DARK.grid)
        x = self._x(self._times)
        for values, color in zip(self._nets.T, self._colors, strict=True):
            y = self._bottom - (self._bottom - self._top) * values / end
            pen.line(np.column_stack([x, y]).ravel().tolist(), color, LINE)
        pen.text((self._right, self._top + 4), f"{end:g} {unit}", TEXT, font(13), anchor="ra")
        return image

    def _x(self, times: np.ndarray) -> np.ndarray:
        """Return the horizontal pixels (n,) of times (n,) [s]."""
        first, last = self._times[0], self._times[-1]
        share = np.clip((times - first) / max(last - first, 1e-9), 0.0, 1.0)
        return self._left + share * (self._right - self._left)


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
    """Renders the images of a video from a recording."""

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
        """Compute the region that contains the skin and nearby shapes that move, at the sampled times."""
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
            np.min(lows, axis=0), np.max(highs, axis=0), np.stack(centers)[:, moving], shapes.radii[moving]
        )
        return low, high, np.maximum(np.max(reaches, axis=0), 1e-3)

    def _arrow_scale(self, radius: float) -> float:
        """Return an arrow scale [m/N] that suits most contacts: 1, 2 or 5 times a power of ten."""
        forces = self._recording.contacts.magnitudes
        forces = forces[forces > 0]
        wanted = LENGTH * radius / np.median(forces) if forces.size else 0.01
        decade = 10.0 ** np.floor(np.log10(wanted))
        return float(max(step * decade for step in (1.0, 2.0, 5.0) if step * decade <= wanted * 1.001))

    def _arrows(self, contacts: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return the arrows of the normal force and the friction of all contacts."""
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
