"""Tactile images, images of cameras and the map of the whole skin in the panel."""

from __future__ import annotations

import base64
import time
from collections.abc import Sequence
from io import BytesIO

import numpy as np
from PIL import Image
from scipy.spatial.transform import Rotation
from viser import GuiApi, GuiImageHandle

from tactile_sim.figures.skin_map import RestPose, SkinMap, pad_parents
from tactile_sim.view.content import ViewFrame, ViewScene

IMAGE_WIDTH = 240
"""Width up to which smaller images are enlarged [px]."""
MAX_EXPANDED = 3
"""Largest number of images for which their folder is initially open."""


class TactileImages:
    """Shows the tactile images of all bodies and the images of cameras in a folder of the panel.

    Attributes:
        handles: viser's image elements, in the order of the scene's images.
    """

    def __init__(self, gui: GuiApi, scene: ViewScene):
        self.handles = self._add(gui, scene) if scene.images else []
        self._pixels = [np.zeros(0, np.uint8)] * len(self.handles)
        """Pixels that each image currently shows."""
        self._turn = 0

    @staticmethod
    def _add(gui: GuiApi, scene: ViewScene) -> list[GuiImageHandle]:
        infos = scene.images
        with gui.add_folder(f"Images ({len(infos)})", expand_by_default=len(infos) <= MAX_EXPANDED):
            return [
                gui.add_image(
                    _enlarged(np.zeros((info.height, info.width), np.uint8)),
                    label=f"camera {info.camera}"
                    if info.camera
                    else f"{scene.bodies[info.body]}: {info.source}",
                    format="jpeg" if info.camera else "png",
                )
                for info in infos
            ]

    def draw(self, images: Sequence[np.ndarray], time_limit: float) -> bool:
        """Update changed images in turn and return whether all are up to date.

        Args:
            images: Pixels of all images, each (height, width) or (height, width, 3) uint8.
            time_limit: Wall time after which to stop [s].
        """
        end = time.monotonic() + time_limit
        for _ in images:
            if time.monotonic() > end:
                return False
            k = self._turn = (self._turn + 1) % len(self.handles)
            if not np.array_equal(self._pixels[k], images[k]):
                self._pixels[k] = images[k]
                self.handles[k].image = _enlarged(images[k])
        return True


def _enlarged(pixels: np.ndarray) -> np.ndarray:
    """Convert an image (height, width) or (height, width, 3) to RGB and enlarge it by an integer factor."""
    colored = pixels if pixels.ndim == 3 else np.repeat(pixels[:, :, None], 3, axis=2)
    factor = max(1, IMAGE_WIDTH // max(pixels.shape[1], 1))
    return colored.repeat(factor, axis=0).repeat(factor, axis=1)


LARGEST = 520
"""Maximum width and height of one side of the map [px]."""
REST = 10.0
"""Minimum pause between two updates, relative to the time that an update takes. Without it, the view's
process would spend half of its time on encoding the map of a large skin."""


class PanelMap:
    """Shows a `SkinMap` in the panel. The map shows the pose of the first frame.

    Attributes:
        pixels: The map (height, width, 3) uint8, empty before the first frame.
    """

    def __init__(self, gui: GuiApi, scene: ViewScene, order: float) -> None:
        self._scene = scene
        self._html = gui.add_html("", order=order)
        self._map: SkinMap | None = None
        self.pixels = np.zeros(0, np.uint8)
        self._due = 0.0
        """Time of the next update [s of `time.monotonic`]."""

    def draw(self, frame: ViewFrame, logarithmic: bool, at_once: bool) -> bool:
        """Show the readings of a frame if an update is due, and return whether the map is up to date."""
        if not len(frame.readings):
            return True
        began = time.monotonic()
        if began < self._due and not at_once:
            return False
        if self._map is None:
            self._map = SkinMap(rest_pose(self._scene, frame), LARGEST, stacked=True)
        pixels = self._map.image(frame.readings, frame.taxel_scale or self._scene.taxel_scale, logarithmic)
        if not np.array_equal(pixels, self.pixels):
            self.pixels, file = pixels, BytesIO()
            Image.fromarray(pixels).save(file, "png", compress_level=1)
            data = base64.b64encode(file.getvalue()).decode()
            self._html.content = (
                f'<div data-hud="map"><img alt="skin map" src="data:image/png;base64,{data}"></div>'
            )
        self._due = began + (1.0 + REST) * (time.monotonic() - began)
        return True


def rest_pose(scene: ViewScene, frame: ViewFrame) -> RestPose:
    """Return the taxels of a scene in the pose of a frame."""
    bodies = np.repeat(scene.skin_bodies.astype(int), scene.taxel_counts.astype(int))
    turns = Rotation.from_quat(frame.body_quaternions[bodies], scalar_first=True)
    return RestPose(
        scene.pads,
        scene.taxel_counts.astype(int),
        pad_parents(scene.skin_bodies, scene.parents.astype(int)),
        frame.body_positions[bodies] + turns.apply(scene.taxel_positions),
        turns.apply(scene.taxel_normals),
        scene.taxel_spacings,
    )
