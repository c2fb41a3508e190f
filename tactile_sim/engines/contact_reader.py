"""Read the contacts that carry a force from MuJoCo's data."""

from __future__ import annotations

import mujoco

from tactile_sim import _core
from tactile_sim.engines.contacts import Contacts

FORCE_FLOOR = 1e-9
"""Magnitude below which a force component is negligible [N].

Contacts whose force components are all negligible are omitted.
"""


def read_contacts(model: mujoco.MjModel, data: mujoco.MjData) -> Contacts:
    """Return the contacts in MuJoCo's data that carry a force.

    Args:
        model: MuJoCo model.
        data: Data whose positions, velocities and constraint forces belong to the same state.
    """
    out = Contacts.empty(data.ncon)
    count = _core.read_contacts(model._address, data._address, out.values, out.ids)
    return Contacts(out.values[:count], out.ids[:count])
