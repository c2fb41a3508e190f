"""Contact state of each pad for use by controllers: contact, center of pressure, friction and slip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tactile_sim import _core
from tactile_sim.common.schema import Number, checks, parameter
from tactile_sim.skin.loads import Loads
from tactile_sim.skin.touch_functions import TouchFunction

_CAPACITY, _CHANNELS = 8, 12
"""Column of the friction limit in the readings of `CONTACT_PARTS`, and the number of columns."""


@dataclass(frozen=True)
class ContactThresholds:
    """Thresholds that decide whether a pad is in contact: a Schmitt trigger on normal force, with delays."""

    on_force: float = parameter(
        Number(above=0, unit="N", usual=(1e-4, 100.0)), "Normal force at which contact begins [N].", 0.05
    )
    off_force: float = parameter(
        Number(least=0, unit="N", usual=(1e-4, 100.0)), "Normal force at which contact ends [N].", 0.02
    )
    on_time: float = parameter(
        Number(least=0, unit="s", usual=(1e-4, 3600.0)),
        "Time above `on_force` before contact begins [s].",
        0.0,
    )
    off_time: float = parameter(
        Number(least=0, unit="s", usual=(1e-4, 3600.0)),
        "Time below `off_force` before contact ends [s].",
        0.0,
    )

    def __post_init__(self) -> None:
        """Check that contact does not end above the force at which it begins."""
        if self.off_force > self.on_force:
            raise ValueError(
                f"off_force: must be <= on_force ({self.on_force:g} N), got {self.off_force:g}; lower"
                " off_force or raise on_force"
            )


THRESHOLDS = checks(ContactThresholds)
"""Checks for the keys below ``skin.state.PATTERN``."""


class ContactQuantities(NamedTuple):
    """Contact quantities of p pads in the frames of their bodies.

    Without contact, the center of pressure is NaN and all other quantities are 0.
    """

    normal_force: np.ndarray
    """(p,) sum of the forces along the contact normals [N]."""
    center_of_pressure: np.ndarray
    """(p, 3) mean position of the taxels, weighted by their normal forces [m]."""
    normal: np.ndarray
    """(p, 3) unit vector opposite to the net normal force; it points out of the body."""
    area: np.ndarray
    """(p,) total area of the taxels with a positive normal force [m2]."""
    force: np.ndarray
    """(p, 3) net force on the pad [N]."""
    torque: np.ndarray
    """(p, 3) torque of the taxels' forces about the center of pressure [N m]."""
    friction_utilization: np.ndarray
    """(p,) ratio of total tangential force to total friction limit; 1 if all contacts slide.

    Torsion may raise it above 1, and pyramidal friction cones limit it to 0.71 to 1, see docs/skin.md."""
    slip_velocity: np.ndarray
    """(p, 3) mean tangential velocity of the other surfaces over the pad, weighted by normal force [m/s]."""


def _parts(loads: Loads) -> np.ndarray:
    """Return 12 quantities of each load (m, 12), which are summed up by taxel for `contact_quantities`.

    Columns: force (3) and its component along the contact normal (3), both in the body's frame [N];
    magnitudes of the normal force (1) and of the tangential force (1) [N]; friction limit (1) [N]; and slip
    velocity times normal force (3) [N m/s].
    """
    normal = np.einsum("mi,mi->m", loads.force, loads.normal)
    pressing = normal[:, None] * loads.normal
    slip = loads.velocity - np.einsum("mi,mi->m", loads.velocity, loads.normal)[:, None] * loads.normal
    shear = np.linalg.norm(loads.force - pressing, axis=1)
    weighted = np.nan_to_num(slip) * normal[:, None]  # a flex has no velocity
    return np.column_stack([loads.force, pressing, normal, shear, loads.friction * normal, weighted])


CONTACT_PARTS = TouchFunction(_CHANNELS, "", _parts, at_taxels=True)
"""Touch function that provides the readings for `contact_quantities`."""


def measured_parts(forces: np.ndarray, inward: np.ndarray) -> np.ndarray:
    """Convert measured forces to readings (n, 12) of `CONTACT_PARTS`; friction limit and slip are 0.

    Args:
        forces: (n, 3) forces on the taxels in the frame of the body [N].
        inward: (n, 3) inward normals of the taxels.
    """
    normal = np.einsum("ni,ni->n", forces, inward)
    pressing = normal[:, None] * inward
    shear = np.linalg.norm(forces - pressing, axis=1)
    unknown = np.zeros((len(forces), _CHANNELS - _CAPACITY))
    return np.column_stack([forces, pressing, normal, shear, unknown])


def contact_quantities(
    readings: np.ndarray, positions: np.ndarray, areas: np.ndarray, offsets: np.ndarray
) -> ContactQuantities:
    """Reduce readings of `CONTACT_PARTS` to the quantities of each pad.

    Args:
        readings: (n, 12) readings of all taxels.
        positions: (n, 3) positions of the taxels in the frames of their bodies [m].
        areas: (n,) areas of the taxels [m2].
        offsets: (p + 1,) first taxel of each pad; the last entry is n.

    Returns:
        The quantities of the p pads.
    """
    table = _core.contact_quantities(readings, positions, areas, offsets)
    return ContactQuantities(
        table[:, 0], table[:, 1:4], table[:, 4:7], table[:, 7], table[:, 8:11], table[:, 11:14], table[:, 14],
        table[:, 15:],
    )  # fmt: skip


class ContactState:
    """Contact state of p pads at one time; `advance` returns the next state."""

    def __init__(self, table: np.ndarray):
        """Use a table (p, 4): raw, contact, since, and the time at which a pending change began [s]."""
        self.table = table

    @staticmethod
    def start(pads: int) -> ContactState:
        """Return the state of pads without contact at time 0."""
        return ContactState(np.tile([0.0, 0.0, 0.0, np.inf], (pads, 1)))

    @property
    def raw(self) -> np.ndarray:
        """(p,) bool, whether the normal force is at least the threshold `on_force`."""
        return self.table[:, 0] > 0.0

    @property
    def contact(self) -> np.ndarray:
        """(p,) bool, whether the pad is in contact, with hysteresis and delays."""
        return self.table[:, 1] > 0.0

    @property
    def since(self) -> np.ndarray:
        """(p,) time of the last change of contact [s]."""
        return self.table[:, 2]

    def advance(self, time: float, normal_force: np.ndarray, thresholds: np.ndarray) -> ContactState:
        """Return the state after a sample.

        Args:
            time: Time of the sample since the reset [s].
            normal_force: (p,) sum of the normal forces on each pad [N].
            thresholds: (p, 4) fields of `ContactThresholds`.
        """
        return ContactState(_core.advance_contact_states(self.table, time, normal_force, thresholds))
