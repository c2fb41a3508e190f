"""Show the map of the whole skin in the panel."""

from __future__ import annotations

import time

import numpy as np
from scipy.spatial.transform import Rotation
from viser import GuiApi, GuiImageHandle

from tactile_sim.figures.skin_map import RestPose, SkinMap, pad_parents
from tactile_sim.view.content import ViewFrame, ViewScene

LARGEST = 520
"""Maximum width and height of one side of the map [px]."""
REST = 10.0
"""Minimum pause between two updates, relative to the time that an update takes. Without it, the view's
process would spend half of its time on encoding the map of a large skin."""


class PanelMap:
    """Shows a `SkinMap` in a folder of the panel. The map shows the pose of the first frame.

    Attributes:
        handle: viser's image element, or None before the first frame.
    """

    def __init__(self, gui: GuiApi, scene: ViewScene) -> None:
        """Create the display; the image is added with the first frame.

        Args:
            gui: viser's panel.
            scene: Constant content of the view. Each pad must have taxels.
        """
        self._scene = scene
        self._folder = gui.add_folder("Skin map")
        self._gui = gui
        self._map: SkinMap | None = None
        self._pixels = np.zeros(0, np.uint8)
        self._due = 0.0
        """Time of the next update [s of `time.monotonic`]."""
        self.handle: GuiImageHandle | None = None

    def draw(self, frame: ViewFrame, logarithmic: bool, at_once: bool) -> bool:
        """Show the readings of a frame if an update is due, and return whether the map is up to date.

        Args:
            frame: The frame to show.
            logarithmic: Whether the colour scale is logarithmic.
            at_once: Whether to update the map even if no update is due.
        """
        if not len(frame.readings):
            return True
        began = time.monotonic()
        if began < self._due and not at_once:
            return False
        if self._map is None:
            self._map = SkinMap(rest_pose(self._scene, frame), LARGEST, stacked=True)
        pixels = self._map.image(frame.readings, frame.taxel_scale or self._scene.taxel_scale, logarithmic)
        if self.handle is None:
            with self._folder:
                self.handle = self._gui.add_image(pixels, format="png")
        elif not np.array_equal(pixels, self._pixels):
            self.handle.image = pixels
        self._pixels = pixels
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
