"""Collect the contacts of all MuJoCo Warp environments in the layout of `engines.Contacts`."""

from __future__ import annotations

from typing import Any

import mujoco
import mujoco_warp as mjw
import numpy as np
import warp as wp

from tactile_sim.batch.warp_backend import contact_kernels as kernels
from tactile_sim.engines.contacts import Contacts

_ROOM = 48


class WarpContacts:
    """Contacts with a force, sorted so that sums do not depend on the order in which threads run."""

    def __init__(self, model: mujoco.MjModel, num_envs: int, device: Any):
        """Allocate arrays for the contacts of all environments on a Warp device."""
        self.num_envs, self.device = num_envs, device
        with wp.ScopedDevice(device):
            self._bodies = [wp.array(array, dtype=int) for array in (model.geom_bodyid, model.body_rootid)]
            self._most = wp.zeros(1, dtype=int)
            self._ids = wp.zeros(0, dtype=int)
            self.counts = wp.zeros(num_envs, dtype=int)
            """(num_envs,) number of contacts in each environment."""
        self._make_room(_ROOM)

    def read(self, warp_model: Any, data: Any) -> None:
        """Read the contacts of MuJoCo Warp's last forward step. Call `fit` to check that all were stored."""
        contact = data.contact
        if len(self._ids) != data.naconmax:
            with wp.ScopedDevice(self.device):
                self._ids = wp.array(np.arange(data.naconmax), dtype=int)
                self._force = wp.zeros(data.naconmax, dtype=wp.spatial_vector)
        mjw.contact_force(warp_model, data, self._ids, False, self._force)
        self.counts.zero_()
        self._most.zero_()
        wp.launch(
            kernels.list_contacts, data.naconmax, [data.nacon, contact.worldid, contact.efc_address],
            [self.counts, self._slots], device=self.device,
        )  # fmt: skip
        wp.launch(
            kernels.sort_contacts, self.num_envs, [contact.geom, contact.geomcollisionid],
            [self.counts, self._slots, self._most], device=self.device,
        )  # fmt: skip
        wp.launch(
            kernels.record_contacts, self._slots.shape,
            [self.counts, self._slots, contact.pos, contact.frame, contact.dist, contact.friction,
             contact.dim, contact.geom, self._force, *self._bodies, data.cvel, data.subtree_com],
            [self.values, self.ids], device=self.device,
        )  # fmt: skip

    def fit(self) -> bool:
        """Return whether the arrays were large enough for the last `read`; if not, enlarge them."""
        if (most := int(self._most.numpy()[0])) <= self.values.shape[1]:
            return True
        self._make_room(2 * most)
        return False

    def _make_room(self, contacts: int) -> None:
        shape = self.num_envs, contacts
        with wp.ScopedDevice(self.device):
            self._slots = wp.zeros(shape, dtype=int)
            self.values = wp.zeros((*shape, Contacts.WIDTH), dtype=float)
            """(num_envs, k, Contacts.WIDTH) float columns of `engines.Contacts`."""
            self.ids = wp.zeros((*shape, Contacts.IDS), dtype=int)
            """(num_envs, k, Contacts.IDS) integer columns of `engines.Contacts`."""
