"""Create the tactile skin of the fingers."""

from __future__ import annotations

from collections.abc import Mapping

import mujoco

from tactile_sim.errors import suggest
from tactile_sim.skin import Skin
from tactile_sim.trifinger.errors import InvalidValueError
from tactile_sim.trifinger.robot.spec import FINGERS, LINKS, TIP
from tactile_sim.trifinger.values import numbers

SPACINGS: Mapping[str, float] = {TIP: 0.002, LINKS[2]: 0.005}
"""Default spacing of the taxels on tips and lower links [m].

The keys are link names without the finger's suffix.
"""


def check_spacings(spacings: Mapping[str, float]) -> Mapping[str, float]:
    """Check taxel spacings.

    Args:
        spacings: Taxel spacing [m] by the link's name without the finger's suffix.

    Returns:
        ``spacings`` unchanged.

    Raises:
        InvalidValueError: A link is unknown, or a spacing is not > 0.
    """
    if not isinstance(spacings, Mapping):
        raise InvalidValueError(f"spacings: must be a mapping of links to spacings, got {spacings!r}")
    for link, spacing in spacings.items():
        if link not in (*LINKS, TIP):
            raise InvalidValueError(
                f"spacings: no link {link!r} can have a skin{suggest(link, (*LINKS, TIP))}"
            )
        if numbers(f"spacings: {link}", spacing) <= 0:
            raise InvalidValueError(f"spacings: {link}: must be > 0 m, got {spacing}")
    return spacings


def make_skin(model: mujoco.MjModel, number_of_fingers: int, spacings: Mapping[str, float]) -> Skin:
    """Create a skin on the selected links of all fingers.

    Args:
        model: Compiled scene.
        number_of_fingers: 1 or 3.
        spacings: Taxel spacing [m] by the link's name without the finger's suffix.

    Returns:
        The skin; taxels are ordered finger by finger.
    """
    ends = FINGERS[number_of_fingers]
    scales = {model.body(link + end).id: spacing for end in ends for link, spacing in spacings.items()}
    return Skin(model, scales)
