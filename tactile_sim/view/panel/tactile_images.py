"""Show tactile images and images of cameras in the panel."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from viser import GuiApi, GuiImageHandle

from tactile_sim.view.content import ViewScene

IMAGE_WIDTH = 240
"""Width up to which smaller images are enlarged [px]."""
MAX_EXPANDED = 3
"""Largest number of images for which their folder is initially open."""


class TactileImages:
    """Shows the tactile images of all bodies in a folder of the panel, and those of cameras in another.

    Attributes:
        handles: viser's image elements, in the order of the scene's images.
    """

    def __init__(self, gui: GuiApi, scene: ViewScene):
        """Add a folder with one element per image for each kind of image in the scene.

        Args:
            gui: viser's panel.
            scene: Constant content of the view, with a description of each image; those of cameras are last.
        """
        self.handles = self._add(gui, scene) if scene.images else []
        self._pixels = [np.zeros(0, np.uint8)] * len(self.handles)
        """Pixels that each image currently shows."""
        self._turn = 0

    @staticmethod
    def _add(gui: GuiApi, scene: ViewScene) -> list[GuiImageHandle]:
        handles = []
        cameras = [info for info in scene.images if info.camera]
        tactile = [info for info in scene.images if not info.camera]
        for title, infos in (("Tactile images", tactile), ("Cameras", cameras)):
            if infos:
                with gui.add_folder(f"{title} ({len(infos)})", expand_by_default=len(infos) <= MAX_EXPANDED):
                    handles += [
                        gui.add_image(
                            _enlarged(np.zeros((info.height, info.width), np.uint8)),
                            label=info.camera or f"{scene.bodies[info.body]}: {info.source}",
                            format="jpeg" if info.camera else "png",
                        )
                        for info in infos
                    ]
        return handles

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
