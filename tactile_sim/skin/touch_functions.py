"""Touch functions, which define the quantity that taxels measure.

User-defined touch functions have access to all fields of `Loads`. See docs/skin.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from tactile_sim import _core
from tactile_sim.common.errors import ConfigError
from tactile_sim.skin.loads import Loads

if TYPE_CHECKING:
    from tactile_sim.skin.skin import Skin


class TouchFunction(NamedTuple):
    """A quantity that taxels measure."""

    channels: int
    unit: str
    evaluate: Callable[[Loads], np.ndarray]
    """Function that computes the value of this quantity for each of m loads, (m, channels)."""
    mean: bool = False
    """Whether readings are means instead of sums.

    If False, the value of a load is divided among taxels, and the readings of a body's taxels sum to the
    values of its loads. If True, a taxel reads the mean over its loads, weighted by the normal force on the
    taxel. Loads whose value is NaN are left out; a taxel without loads reads 0.
    """
    frame: Literal["body", "world", "taxel"] = "body"
    """The frame of vector values, which determines the ``frame_id`` of the messages.

    With "taxel", `evaluate` returns vectors in the body's frame; the readings are their components along the
    axes of each taxel: two tangents and the inward normal.
    """
    factor: Callable[[Skin], np.ndarray] | None = None
    """Function that returns the factors (n,) by which the readings of a skin's n taxels are multiplied.

    None uses factors of 1.
    """
    at_taxels: bool = False
    """Whether `evaluate` needs the velocity of the load at each taxel, see `Loads.velocity`.

    If False, `evaluate` returns one value for each load. If True, it receives each load once for each of its
    taxels, with the velocity at the position of that taxel.
    """


NORMAL, NORMAL_FORCE, FORCE_VECTOR, FORCE_VECTOR_GLOBAL, FRICTION, SLIP = range(6)


def normal(loads: Loads) -> np.ndarray:
    """Return the force along the contact normal (m, 1) [N], positive into the body."""
    return _core.evaluate(loads.records, NORMAL)


def normal_force(loads: Loads) -> np.ndarray:
    """Return the force along the contact normal as a vector (m, 3) in the body's frame [N]."""
    return _core.evaluate(loads.records, NORMAL_FORCE)


def force_vector(loads: Loads) -> np.ndarray:
    """Return the force including friction (m, 3), in the body's frame [N]."""
    return _core.evaluate(loads.records, FORCE_VECTOR)


def force_vector_global(loads: Loads) -> np.ndarray:
    """Return the force including friction (m, 3), in the world frame [N]."""
    return _core.evaluate(loads.records, FORCE_VECTOR_GLOBAL)


def force_vector_taxel(loads: Loads) -> np.ndarray:
    """Return the force including friction (m, 3), in the body's frame [N].

    This is the same as `force_vector`; the touch function ``force_vector_taxel`` converts the readings to the
    axes of each taxel afterwards.
    """
    return _core.evaluate(loads.records, FORCE_VECTOR)


def friction(loads: Loads) -> np.ndarray:
    """Return the tangential component of the force (m, 3), in the body's frame [N]."""
    return _core.evaluate(loads.records, FRICTION)


def slip(loads: Loads) -> np.ndarray:
    """Return the tangential velocity of the other surface relative to the skin (m, 3) [m/s].

    It is in the body's frame and points in the direction of friction. It is NaN if either surface is a flex,
    because the surface of a flex does not move with a single body.
    """
    return _core.evaluate(loads.records, SLIP)


def per_area(skin: Skin) -> np.ndarray:
    """Return the inverse area of each taxel (n,) [1/m2], 0 for taxels without an area."""
    return np.divide(1.0, skin.areas, out=np.zeros(len(skin.areas)), where=skin.areas > 0.0)


def compliance(skin: Skin) -> np.ndarray:
    """Return the compliance of each taxel (n,): indentation of the elastic layer per force [m/N]."""
    layer = skin.patch_thickness / skin.patch_stiffness
    return np.repeat(layer, np.diff(skin.patch_offsets)) * per_area(skin)


def name_of(function: Callable) -> str:
    """Return the name of a user-defined function or callable object for error messages."""
    return getattr(function, "__name__", repr(function))


def checked_values(touch: TouchFunction, loads: Loads) -> np.ndarray:
    """Return the values (m, channels) of a touch function for m loads.

    Raises:
        ConfigError: The function returned something other than an array of this shape.
    """
    given = touch.evaluate(loads)
    try:
        values = np.ascontiguousarray(given, float)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.shape != (len(loads), touch.channels):
        raise ConfigError(
            f"skin.touch_function: {name_of(touch.evaluate)} returned an array {values.shape} for"
            f" {len(loads)} loads; of {touch.channels} channels it must be {(len(loads), touch.channels)}"
        )
    return values


TOUCH_FUNCTIONS: dict[str, TouchFunction] = {
    "force_vector": TouchFunction(3, "N", force_vector),
    "force_vector_global": TouchFunction(3, "N", force_vector_global, frame="world"),
    "force_vector_taxel": TouchFunction(3, "N", force_vector_taxel, frame="taxel"),
    "normal_force": TouchFunction(3, "N", normal_force),
    "normal": TouchFunction(1, "N", normal),
    "friction": TouchFunction(3, "N", friction),
    "slip": TouchFunction(3, "m/s", slip, mean=True, at_taxels=True),
    "pressure": TouchFunction(1, "Pa", normal, factor=per_area),
    "depth": TouchFunction(1, "m", normal, factor=compliance),
}
BUILT_IN: dict[Callable[[Loads], np.ndarray], int] = {
    normal: NORMAL,
    normal_force: NORMAL_FORCE,
    force_vector: FORCE_VECTOR,
    force_vector_global: FORCE_VECTOR_GLOBAL,
    force_vector_taxel: FORCE_VECTOR,
    friction: FRICTION,
    slip: SLIP,
}
"""Number of the quantity in native code for each built-in function."""
