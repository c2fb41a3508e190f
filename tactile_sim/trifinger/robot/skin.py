"""Which links of fingers feel, and how densely."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco

from tactile_sim.errors import suggest
from tactile_sim.skin import Skin
from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.robot.spec import FINGERS, LINKS, TIP
from tactile_sim.trifinger.values import numbers

SPACINGS: Mapping[str, float] = {TIP: 0.002, LINKS[2]: 0.005}
"""Between the taxels of tips and lower links [m], where nothing else is said."""


def check_spacings(spacings: Mapping[str, float]) -> Mapping[str, float]:
    """Spacings of taxels [m] by a link's name without the finger's number; ValueError where there is no such
    link or spacing."""
    for link, spacing in spacings.items():
        if link not in (*LINKS, TIP):
            raise InvalidValueError(f"spacings: no link {link!r} can feel{suggest(link, (*LINKS, TIP))}")
        if numbers(f"spacings: {link}", spacing) <= 0:
            raise InvalidValueError(f"spacings: {link} is {spacing}; give metres above 0")
    return spacings


def make_skin(model: mujoco.MjModel, number_of_fingers: int, spacings: Mapping[str, float]) -> Skin:
    """The skin of these links of all fingers, finger by finger."""
    ends = FINGERS[number_of_fingers]
    scales = {model.body(link + end).id: spacing for end in ends for link, spacing in spacings.items()}
    return Skin(model, scales)
