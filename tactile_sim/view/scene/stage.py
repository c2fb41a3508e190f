"""Background and lights of the scene in the browser.

The background is lighter than the bodies, and lights behind them mark their outlines, so that dark bodies are
distinct. Surfaces that face the first camera stay dark, and readings on them stand out.
"""

from __future__ import annotations

import numpy as np
from viser import SceneApi

TOP_COLOR, BOTTOM_COLOR = (70, 78, 92), (26, 29, 36)
"""Background colours, which are darker than all readings."""
AMBIENT_INTENSITY = 2.8
"""Intensity of the light from all directions, which makes colours visible on all sides."""
OUTLINE_COLOR, OUTLINE_INTENSITY = (200, 220, 255), 1.2
"""Colour and intensity of each light behind the scene. Its cold colour does not occur in the colour scale."""
OUTLINE_HEIGHT = 0.1
"""Height of these lights, relative to their horizontal distance. Low lights hardly light the ground."""


def add_stage(api: SceneApi) -> None:
    """Add the background and the light from all directions."""
    shade = np.linspace(TOP_COLOR, BOTTOM_COLOR, 128).round().astype(np.uint8)
    # viser's environment map is an image that must be loaded first; plain lights work immediately.
    api.configure_environment_map(None)
    api.add_light_hemisphere(
        "/sky", sky_color=(255, 255, 255), ground_color=(150, 145, 140), intensity=AMBIENT_INTENSITY
    )
    api.set_background_image(shade[:, None].repeat(2, axis=1), format="png")


def add_outline_lights(api: SceneApi, camera: np.ndarray, focus: np.ndarray) -> None:
    """Add two lights behind the scene, on the left and on the right as seen from the first camera.

    Args:
        api: Scene of the server.
        camera: Position of the camera (3,), world frame [m].
        focus: Point that the camera looks at (3,), world frame [m].
    """
    x, y = (focus - camera)[:2]
    distance = np.hypot(x, y)
    away = np.array([x, y]) / distance if distance > 0.0 else np.array([0.0, 1.0])  # it may look down
    for name, side in (("left", -1.0), ("right", 1.0)):
        horizontal = away + side * np.array([away[1], -away[0]])
        height = OUTLINE_HEIGHT * np.linalg.norm(horizontal)
        # The light shines from this position towards the origin.
        api.add_light_directional(
            f"/outline_{name}",
            color=OUTLINE_COLOR,
            intensity=OUTLINE_INTENSITY,
            position=(*horizontal.tolist(), float(height)),
        )
