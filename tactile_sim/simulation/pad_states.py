"""Debounced contact states of a simulation's pads."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import numpy as np

from tactile_sim import _core
from tactile_sim.config.skin import resolve_states
from tactile_sim.simulation.taxel_forces import TaxelForces
from tactile_sim.skin.state import ContactQuantities, ContactState

if TYPE_CHECKING:
    from tactile_sim.simulation import Simulation, Snapshot

_LOG = logging.getLogger("tactile_sim.skin")
EXCESS = 1.05
"""Friction utilization above which a warning is logged, because Coulomb's law limits it to 1."""

FELT = (
    "center_of_pressure",
    "normal",
    "area",
    "force",
    "torque",
    "friction_utilization",
    "slip_velocity",
)
"""Fields of `ContactQuantities` that are reported, in the order of TactileState."""
STATE_COLUMNS = dict(zip(("contact_time", "air_time", *FELT), (0, 1, 2, 5, 8, 9, 12, 15, 16), strict=True))
"""First column of each field in the values of `PadStates.table`."""


def state_table(contact: ContactState, felt: ContactQuantities, now: float) -> tuple[np.ndarray, np.ndarray]:
    """Convert the contact states of k pads to the flags and values in their messages.

    Args:
        contact: Debounced contact states of the k pads.
        felt: Contact quantities of the same pads.
        now: Time since the reset [s].

    Returns:
        flags: (k, 2) int32, contact_raw and contact of each pad.
        values: (k, 19) values of each pad, with the columns `STATE_COLUMNS`.
    """
    elapsed = now - contact.since
    flags = np.stack([contact.raw, contact.contact], axis=1).astype(np.int32)
    times = np.where(contact.contact, [elapsed, 0.0 * elapsed], [0.0 * elapsed, elapsed])
    return flags, np.column_stack([*times, *(getattr(felt, name) for name in FELT)])


class PadStates:
    """Debounced contact states of the pads in ``skin.state``, updated with each tactile message."""

    def __init__(self, simulation: Simulation):
        """Resolve the patterns of ``skin.state``.

        Args:
            simulation: Simulation whose skin already exists.

        Raises:
            ConfigError: A pattern matches no pad, or a pad's thresholds contradict each other.
            ConfigErrors: There are several such entries.
        """
        skin = simulation.skin
        names = [pad.name for pad in skin.pads]
        thresholds = resolve_states(simulation.settings, names)
        self.pads = [index for index, name in enumerate(names) if name in thresholds]
        """Indices of the k pads that have a contact state."""
        own = [thresholds[names[index]] for index in self.pads]
        self.thresholds = np.array([[t.on_force, t.off_force, t.on_time, t.off_time] for t in own]).reshape(
            -1, 4
        )
        """(k, 4) thresholds of these pads, in the order of the fields of `ContactThresholds`."""
        self._simulation, self._forces = simulation, TaxelForces(simulation)
        self._warned = False
        self._starts, self._stops = skin.offsets[self.pads], skin.offsets[np.array(self.pads, int) + 1]
        self._table = np.empty((len(self.pads), 4))
        self.restart()

    @property
    def native(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Starts and stops of the pads' taxels, contact states, which native code updates, and thresholds."""
        return self._starts, self._stops, self._table, self.thresholds

    def direction(self) -> np.ndarray | None:
        """Return the vectors whose products with readings are normal forces; None if there are none."""
        return self._forces.direction()

    def restart(self) -> None:
        """Reset all pads to no contact at time 0."""
        self._table[:] = ContactState.start(len(self.pads)).table

    def peek(self, snapshot: Snapshot) -> ContactState:
        """Return the contact states at a snapshot without storing them."""
        pressing = _core.pad_forces(*self._forces.inward(snapshot), self._starts, self._stops)
        return ContactState(self._table).advance(self._now, pressing, self.thresholds)

    def warn_of_excess(self, utilization: np.ndarray) -> None:
        """Log once if the friction utilization of a pad (pads,) exceeds what Coulomb's law allows."""
        if not self._warned and utilization.max(initial=0.0) > EXCESS:
            self._warned, pad = True, int(utilization.argmax())
            _LOG.warning(
                "pad %r: friction_utilization is %.2f, because the engine's contact points transmit more"
                " torsion than the contact area could; see docs/skin.md#friction-and-torsion",
                self._simulation.skin.pads[pad].name,
                utilization[pad],
            )

    def keep(self, snapshot: Snapshot) -> None:
        """Store the contact states at a snapshot. Must be called once for each tactile message."""
        if self.pads:
            self._table[:] = self.peek(snapshot).table

    def table(self, snapshot: Snapshot) -> tuple[np.ndarray, np.ndarray]:
        """Return the contact states of the k pads in `pads` at a snapshot, as in their messages.

        Returns:
            flags: (k, 2) int32, contact_raw and contact of each pad.
            values: (k, 19) values of each pad, with the columns `STATE_COLUMNS`.
        """
        felt = ContactQuantities(*(values[self.pads] for values in snapshot.contact_quantities))
        return state_table(snapshot.contact_state, felt, self._now)

    @property
    def _now(self) -> float:
        return self._simulation.steps_since_reset * self._simulation.engine.timestep
