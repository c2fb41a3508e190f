"""Loads that contacts exert on bodies with skin, and touch functions that map loads to values.

User-defined touch functions have access to all fields of `Loads`. See docs/skin.md.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from tactile_sim.compilation import kernel
from tactile_sim.errors import ConfigError

if TYPE_CHECKING:
    from tactile_sim.skin.skin import Skin

LOAD = np.dtype(
    [
        ("contact", np.int64),
        ("body", np.int64),
        ("patch", np.int64),
        ("point", float, 3),
        ("force", float, 3),
        ("force_world", float, 3),
        ("normal", float, 3),
        ("velocity", float, 3),
        ("radius", float),
        ("friction", float),
        ("other_patch", np.int64),
        ("torque", float, 3),
        ("rotation", float, (3, 3)),
        ("other", np.int64),
        ("other_body", np.int64),
        ("other_position", float, 3),
        ("other_rotation", float, (3, 3)),
    ]
)
"""Structured dtype of one load; the fields are described by the properties of `Loads`."""


class Loads:
    """m loads, each from one contact on one body with skin.

    A contact between two bodies with skin is one load on each. The loads are stored in ``table``, (m,) of
    `LOAD`; the properties are views into it.
    """

    def __init__(self, table: np.ndarray):
        self.table = table

    @staticmethod
    def empty(m: int) -> Loads:
        """Return m loads filled with zeros and without another geom, to be filled in by the caller."""
        loads = Loads(np.zeros(m, LOAD))
        loads.other[:] = loads.other_body[:] = loads.other_patch[:] = -1
        return loads

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, which: slice | np.ndarray) -> Loads:
        """Return the loads selected by a slice, a mask or indices."""
        return Loads(self.table[which])

    @property
    def contact(self) -> np.ndarray:
        """(m,) index of the contact of each load."""
        return self.table["contact"]

    @property
    def body(self) -> np.ndarray:
        """(m,) index into the skin's bodies."""
        return self.table["body"]

    @property
    def patch(self) -> np.ndarray:
        """(m,) index into the skin's patches."""
        return self.table["patch"]

    @property
    def point(self) -> np.ndarray:
        """(m, 3) point of application on the body's surface, body frame [m]."""
        return self.table["point"]

    @property
    def force(self) -> np.ndarray:
        """(m, 3) force on the body, body frame [N]."""
        return self.table["force"]

    @property
    def force_world(self) -> np.ndarray:
        """(m, 3) force on the body, world frame [N]."""
        return self.table["force_world"]

    @property
    def normal(self) -> np.ndarray:
        """(m, 3) unit normal of the contact, into the body, body frame."""
        return self.table["normal"]

    @property
    def velocity(self) -> np.ndarray:
        """(m, 3) velocity of the other surface relative to this one, body frame [m/s]; NaN against a flex."""
        return self.table["velocity"]

    @property
    def radius(self) -> np.ndarray:
        """(m,) effective radius of curvature of the two surfaces, from `curvature` [m]."""
        return self.table["radius"]

    @property
    def friction(self) -> np.ndarray:
        """(m,) coefficient of sliding friction of the contact."""
        return self.table["friction"]

    @property
    def other_patch(self) -> np.ndarray:
        """(m,) index into the skin's patches of the other surface, or -1 if it has no skin."""
        return self.table["other_patch"]

    @property
    def torque(self) -> np.ndarray:
        """(m, 3) torque on the body about the point, in addition to the force, body frame [N m]."""
        return self.table["torque"]

    @property
    def rotation(self) -> np.ndarray:
        """(m, 3, 3) rotation from the frame of the body to the world."""
        return self.table["rotation"]

    @property
    def other(self) -> np.ndarray:
        """(m,) id of the other geom, or -1 for a flex."""
        return self.table["other"]

    @property
    def other_body(self) -> np.ndarray:
        """(m,) id of the other body, or -1 for a flex."""
        return self.table["other_body"]

    @property
    def other_position(self) -> np.ndarray:
        """(m, 3) origin of the other geom, body frame [m]."""
        return self.table["other_position"]

    @property
    def other_rotation(self) -> np.ndarray:
        """(m, 3, 3) rotation from the frame of the other geom to that of the body."""
        return self.table["other_rotation"]


class TouchFunction(NamedTuple):
    """A quantity that taxels measure."""

    channels: int
    unit: str
    evaluate: Callable[[Loads], np.ndarray]
    """Function that maps m loads to values (m, channels)."""
    mean: bool = False
    """Whether readings are means instead of sums.

    If False, the value of a load is divided among taxels, and the taxels of a body sum to its loads. If True,
    a taxel reads the mean over its loads, weighted by the normal force on the taxel. Loads whose value is NaN
    are left out; a taxel without loads reads 0.
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


NORMAL, NORMAL_FORCE, FORCE_VECTOR, FORCE_VECTOR_GLOBAL, FRICTION, SLIP = range(6)


def normal(loads: Loads) -> np.ndarray:
    """Return the force along the contact normal (m, 1) [N], positive into the body."""
    return evaluate(loads.table, NORMAL)


def normal_force(loads: Loads) -> np.ndarray:
    """Return the component of the force along the contact normal (m, 3), body frame [N]."""
    return evaluate(loads.table, NORMAL_FORCE)


def force_vector(loads: Loads) -> np.ndarray:
    """Return the force including friction (m, 3), body frame [N]."""
    return evaluate(loads.table, FORCE_VECTOR)


def force_vector_global(loads: Loads) -> np.ndarray:
    """Return the force including friction (m, 3), world frame [N]."""
    return evaluate(loads.table, FORCE_VECTOR_GLOBAL)


def force_vector_taxel(loads: Loads) -> np.ndarray:
    """Return the force including friction (m, 3), body frame [N].

    This is the same as `force_vector`; the touch function ``force_vector_taxel`` converts the readings to the
    axes of each taxel afterwards.
    """
    return evaluate(loads.table, FORCE_VECTOR)


def friction(loads: Loads) -> np.ndarray:
    """Return the tangential component of the force (m, 3), body frame [N]."""
    return evaluate(loads.table, FRICTION)


def slip(loads: Loads) -> np.ndarray:
    """Return the tangential velocity of the other surface relative to this one (m, 3), body frame [m/s].

    It points in the direction of friction. It is NaN against a flex, whose surface does not move with one
    body.
    """
    return evaluate(loads.table, SLIP)


def per_area(skin: Skin) -> np.ndarray:
    """Return the inverse area of each taxel (n,) [1/m2], 0 for taxels without an area."""
    return np.divide(1.0, skin.areas, out=np.zeros(len(skin.areas)), where=skin.areas > 0.0)


def compliance(skin: Skin) -> np.ndarray:
    """Return the compliance of each taxel (n,): indentation of the elastic layer per force [m/N]."""
    layer = skin.patch_thickness / skin.patch_stiffness
    return np.repeat(layer, np.diff(skin.patch_offsets)) * per_area(skin)


@kernel
def evaluate(loads, quantity):
    """Return the values (m, c) of a built-in quantity for loads (m,) of `LOAD`."""
    out = np.empty((len(loads), 1 if quantity == NORMAL else 3))
    for m in range(len(loads)):
        load = loads[m]
        vector = load.velocity if quantity == SLIP else load.force
        along = 0.0
        for i in range(3):
            along += vector[i] * load.normal[i]
        if quantity == NORMAL:
            out[m, 0] = along
            continue
        for i in range(3):
            if quantity == NORMAL_FORCE:
                out[m, i] = along * load.normal[i]
            elif quantity == FORCE_VECTOR:
                out[m, i] = load.force[i]
            elif quantity == FORCE_VECTOR_GLOBAL:
                out[m, i] = load.force_world[i]
            else:
                out[m, i] = vector[i] - along * load.normal[i]
    return out


def name_of(function: Callable) -> str:
    """Return the name of a user-defined function or callable object for error messages."""
    return getattr(function, "__name__", repr(function))


def checked_values(touch: TouchFunction, loads: Loads) -> np.ndarray:
    """Return the values (m, channels) of a touch function for m loads.

    Raises:
        ConfigError: The function returned an array of another shape.
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
    "slip": TouchFunction(3, "m/s", slip, mean=True),
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
"""Touch functions that `evaluate` supports, with the quantity of each."""
