"""Render tactile images, which show the skin or the feelers of a body on its UV map."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tactile_sim.drawing.force_scale import taxel_scale
from tactile_sim.drawing.skin_image import SkinImage, mappable
from tactile_sim.feelers import image
from tactile_sim.names import topic_token
from tactile_sim.simulation import Simulation, Snapshot


class TactileImage(NamedTuple):
    """A tactile image of one body."""

    body: int
    """Id of the body that the image shows."""
    name: str
    """Unique name of the image, which is its topic below ``tactile/``.

    - ``<body>/force_image`` for the skin of a body that also has feelers;
    - ``<body>/<geom>/image`` for a single geom of a body that has feelers on several geoms;
    - ``<body>/image`` in all other cases.
    """
    encoding: str
    """``mono8`` or ``rgb8``, as in sensor_msgs/Image."""
    make: Callable[[Snapshot], np.ndarray]
    """Function that renders a snapshot as a (height, width) or (height, width, 3) uint8 image."""


def tactile_images(simulation: Simulation) -> list[TactileImage]:
    """Return the tactile images that a simulation offers.

    The UV map of a force image is computed when the image is first rendered.

    Args:
        simulation: The simulation whose snapshots will be rendered.

    Returns:
        The images of all bodies with feelers, followed by those of all bodies whose skin has a UV map.
    """
    images, names = [], simulation.names
    for index, body in enumerate(simulation.feelers.bodies):
        place = topic_token(body.name)
        images.append(TactileImage(body.body_id, f"{place}/image", "mono8", _FeelerImage(simulation, index)))
        if len(body.placed.parts) > 1:
            for k, part in enumerate(body.placed.parts):
                name = f"{place}/{topic_token(names.geoms[part.geom_id])}/image"
                images.append(TactileImage(body.body_id, name, "mono8", _FeelerImage(simulation, index, k)))
    with_feelers = {body.body_id for body in simulation.feelers.bodies}
    for index, skin_body in enumerate(simulation.skin.pads):
        if skin_body.is_whole and mappable(simulation.engine.model, skin_body.geom_ids):
            kind = "force_image" if skin_body.body_id in with_feelers else "image"
            name = f"{topic_token(names.bodies[skin_body.body_id])}/{kind}"
            images.append(TactileImage(skin_body.body_id, name, "rgb8", _ForceImage(simulation, index)))
    return images


class _FeelerImage:
    """Renders feelers from black (free) to white (covered to the root)."""

    def __init__(self, simulation: Simulation, index: int, part: int | None = None):
        self._body = simulation.feelers.bodies[index]
        self._part = None if part is None else self._body.placed.parts[part]

    def __call__(self, snapshot: Snapshot) -> np.ndarray:
        pixels = image(self._body.placed, snapshot.feelers[self._body.start : self._body.stop])
        if self._part is None:
            return pixels
        part = self._part
        return np.ascontiguousarray(pixels[part.top : part.top + part.height, : part.width])


class _ForceImage:
    """Renders the readings of a skin in the colours of `tactile_sim.drawing.colors`."""

    def __init__(self, simulation: Simulation, index: int):
        self._simulation = simulation
        self._index = index

    @cached_property
    def _map(self) -> SkinImage:
        return SkinImage(self._simulation.engine.model, self._simulation.skin, self._index)

    @cached_property
    def _usual_scale(self) -> float:
        return taxel_scale(self._simulation.engine.model)

    def __call__(self, snapshot: Snapshot) -> np.ndarray:
        body = self._simulation.skin.pads[self._index]
        readings = snapshot.readings32[body.start : body.stop]
        scale = self._simulation.settings.markers.taxel_scale or self._usual_scale
        return self._map.image(np.linalg.norm(readings, axis=1), scale)
