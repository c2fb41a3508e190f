"""Compute the wrench and state of a pad from the forces that a real sensor measures."""

from __future__ import annotations

import numpy as np

from tactile_sim.simulation import Simulation
from tactile_sim.simulation.pad_states import state_table
from tactile_sim.skin.state import ContactState, contact_quantities, measured_parts


class MeasuredPad:
    """Computes the wrench and state of one pad in the same way as the simulation.

    ``friction_utilization`` and ``slip_velocity`` are NaN, because the friction coefficient and the velocity
    of the other surface are not measured.

    Attributes:
        wrench: (6,) net force and torque on the body in the latest update, about the body's origin and in the
            body frame [N, N m].
        state: Tuple of flags (1, 2) and values (1, 19) of the latest update, see `PadStates.table`. It is
            None before the first update, and if ``skin.state`` does not include the pad.
    """

    def __init__(self, simulation: Simulation, index: int):
        skin, states = simulation.skin, simulation.pad_states
        part = slice(skin.pads[index].start, skin.pads[index].stop)
        self._axes, self._areas = skin.axes[part], skin.areas[part]
        self._positions = skin.surface_positions[part]
        row = states.pads.index(index) if index in states.pads else None
        self._thresholds = None if row is None else states.thresholds[row : row + 1]
        self._contact, self._start = ContactState.start(1), 0
        self.wrench = np.zeros(6)
        self.state: tuple[np.ndarray, np.ndarray] | None = None

    def update(self, forces: np.ndarray, stamp: int) -> None:
        """Compute ``wrench`` and ``state`` from new forces.

        Args:
            forces: (n, 3) force on each taxel along its first tangent, second tangent and inward normal [N].
            stamp: Time of the measurement [ns], which must not decrease between calls.
        """
        on_body = np.einsum("nk,nki->ni", forces * [1.0, 1.0, -1.0], self._axes)
        self.wrench = np.concatenate([on_body.sum(axis=0), np.cross(self._positions, on_body).sum(axis=0)])
        if self._thresholds is None:
            return
        self._start = self._start or stamp
        now = (stamp - self._start) * 1e-9
        self._contact = self._contact.advance(now, forces[:, 2].sum(keepdims=True), self._thresholds)
        parts = measured_parts(on_body, -self._axes[:, 2])
        felt = contact_quantities(parts, self._positions, self._areas, np.array([0, len(forces)]))
        unknown = {"friction_utilization": np.full(1, np.nan), "slip_velocity": np.full((1, 3), np.nan)}
        self.state = state_table(self._contact, felt._replace(**unknown), now)
