"""Choose how the view or the replay of a bag opens."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tactile_sim.bag.messages import VIEW_TOPIC
from tactile_sim.view.bag.frames import BagFrames
from tactile_sim.view.bag.scene import BagScene
from tactile_sim.view.content import ViewScene
from tactile_sim.view.scene.viewpoint import Viewpoint

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
