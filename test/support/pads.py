"""Small scenes with pads, and contacts on them."""

from __future__ import annotations

import mujoco

from tactile_sim.engines.contacts import Contacts
from tactile_sim.simulation import Simulation

PITCH = 0.00425, 0.0047
PAD_GEOM = '<geom type="box" size=".0113 .0123 .00275" pos="0 0 -.00275"/>'
"""A geom with the size of a uSPa 44; its body's origin is the center of the sensing face."""


def simulation(xml: str, pads: dict, **skin) -> Simulation:
    spec = mujoco.MjSpec.from_string(f"<mujoco><worldbody>{xml}</worldbody></mujoco>")
    return Simulation(spec, {"skin": {"pads": pads, **skin}})


def readings(made: Simulation, points, forces, touch="force_vector_taxel", response="spread_linear"):
    """Return the readings for contacts on body 1 at points (m, 3) [m] with forces (m, 3) [N].

    Points and forces are in the world frame.
    """
    return made.skin.readings_from_contacts(contacts_at(points, forces), *poses(made), touch, response)


def poses(made: Simulation):
    made.engine.forward()
    return made.engine.body_positions, made.engine.body_rotations


def contacts_at(points, forces, normals=None, geom=0, body=1) -> Contacts:
    contacts = Contacts.empty(len(points))
    contacts.position[:] = points
    contacts.wrench_world[:, :3] = forces
    contacts.frame[:, 0] = [0, 0, -1] if normals is None else normals
    contacts.geoms[:] = -1, geom
    contacts.bodies[:] = -1, body
    return contacts
