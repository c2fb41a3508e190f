"""The class `LoadedTaxels`, which computes the loads that contacts exert on the skin."""

from __future__ import annotations

import numpy as np

from tactile_sim.engines.contacts import Contacts
from tactile_sim.skin import kernels
from tactile_sim.skin.checks import require_contacts, require_loads
from tactile_sim.skin.contact_loads import resolve_loads
from tactile_sim.skin.loads import LOAD, Loads
from tactile_sim.skin.pairs import group_loads
from tactile_sim.skin.responses import RESPONSE_FUNCTIONS, Response, elastic_foundation
from tactile_sim.skin.search import TaxelSearch
from tactile_sim.skin.taxels import choose


class LoadedTaxels(TaxelSearch):
    """Taxels of bodies on which contacts act, in terms of loads and of net wrenches."""

    def loads(self, contacts: Contacts, body_positions: np.ndarray, body_rotations: np.ndarray) -> Loads:
        """Convert contacts to loads on the bodies with skin.

        Args:
            contacts: The contacts.
            body_positions: (nbody, 3) positions of the bodies in the world [m].
            body_rotations: (nbody, 3, 3) rotations from body frames to the world.

        Raises:
            CommandError: An argument is invalid, or the contacts are not those of this model.
        """
        require_contacts(self, contacts, body_positions, body_rotations)
        table = np.empty(2 * len(contacts), LOAD)
        m = resolve_loads(
            contacts.values, contacts.ids, self._geoms, self.patch_bodies, body_positions, body_rotations,
            table,
        )  # fmt: skip
        return Loads(table[:m])

    def inside(self, loads: Loads, response: str | Response = "elastic_foundation") -> np.ndarray:
        """Return whether each load (m,) is inside the pads; False only on pads that ignore loads outside.

        A load is outside if its point is farther than one spacing from the nearest taxel, or if that taxel
        faces away from it. With `elastic_foundation`, all contacts with another body are tested
        together at their centre.

        Raises:
            ConfigError: The name of the response function is unknown.
            CommandError: The loads are invalid.
        """
        require_loads(self, loads)
        response = choose("skin.response_function", response, RESPONSE_FUNCTIONS)
        inside = np.ones(len(loads), bool)
        if self._has_limits:
            group, count = np.full(len(loads), -1), 0
            if response is elastic_foundation:
                count = group_loads(loads.table, group)
            kernels.mark_inside(loads.table, group, count, self._extents, self._index, inside)
        return inside

    def outside(
        self,
        contacts: Contacts,
        body_positions: np.ndarray,
        body_rotations: np.ndarray,
        response: str | Response = "elastic_foundation",
    ) -> tuple[np.ndarray, np.ndarray]:
        """Sum up the loads outside the pads, see `inside`; the arguments are as in `loads` and `inside`.

        Returns:
            For each body with skin, in the order of ``body_ids``, the number of loads outside (b,) and the
            sum of their forces (b, 3) in the body's frame [N]. This sum and the forces on the body's taxels
            add up to the net contact force on the body.

        Raises:
            ConfigError, CommandError: As in `loads` and `inside`.
        """
        loads = self.loads(contacts, body_positions, body_rotations)
        out = loads[~self.inside(loads, response)]
        forces = np.zeros((len(self.body_ids), 3))
        np.add.at(forces, out.body, out.force)
        return np.bincount(out.body, minlength=len(self.body_ids)), forces

    def body_wrenches(
        self, contacts: Contacts, body_positions: np.ndarray, body_rotations: np.ndarray
    ) -> np.ndarray:
        """Return the net wrench of all contacts on the body of each pad, about its origin and in its frame.

        It includes the torsional and rolling torques of contacts, and loads that no taxel receives.

        Returns:
            (p, 6) force [N] and torque [N m], 0 for pads on flexes. Pads on one body have the same wrench.

        Raises:
            CommandError: As in `loads`.
        """
        require_contacts(self, contacts, body_positions, body_rotations)
        out = np.zeros((len(self.body_ids), 6))
        kernels.net_wrenches(contacts.values, contacts.ids, self._slot, body_positions, body_rotations, out)
        return out if len(self.pads) == len(self.body_ids) else out[self._pad_slots]
