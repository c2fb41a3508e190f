"""Bridge to ``ros_gz_interfaces/Contacts``, the messages of Gazebo's contact sensor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from ros_gz_interfaces.msg import Contacts as GazeboContacts
from ros_gz_interfaces.msg import Entity

from tactile_sim.common.names import topic_token
from tactile_sim.engines import Contacts
from tactile_sim.ros import cdr
from tactile_sim.ros.topic import Topic
from tactile_sim.simulation import Simulation, Snapshot

POSITION, NORMAL, DEPTH, WRENCH, REACTION = 0, 3, 6, 7, 13
"""Index of the first column of each field in the template's values."""


def topics(simulation: Simulation) -> Iterator[Topic]:
    """Yield the topic ``link/<body>/sensor/skin/contact``, named as in Gazebo, for each skin body."""
    template = _template(simulation)
    for body in simulation.skin_bodies.tolist():
        token = topic_token(simulation.names.bodies[body])

        def make(snapshot: Snapshot, body: int = body) -> bytes:
            return template.fill(snapshot.stamp, *_from_side(snapshot.all_contacts, body))

        yield Topic("contacts", GazeboContacts, f"link/{token}/sensor/skin/contact", make)


def _from_side(contacts: Contacts, body: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the contacts of a body as arrays for the template, with this body first in each contact.

    Returns:
        Keys (n, 4), which are the ids of both bodies and of both geoms, and values (n, 19) in the world
        frame, with fields that start at columns `POSITION`, `NORMAL`, `DEPTH`, `WRENCH` and `REACTION`.
    """
    mine = (contacts.bodies == body).any(axis=1)
    second = contacts.bodies[mine, 1] == body
    keys = np.hstack([contacts.bodies[mine], contacts.geoms[mine]])
    keys[second] = keys[second][:, [1, 0, 3, 2]]
    # Gazebo's normal has the direction of the force on the first body. Ours points from the first body to the
    # second, on which the wrench acts.
    sign = np.where(second, 1.0, -1.0)[:, None]
    wrench = sign * contacts.wrench_world[mine]
    values = np.hstack(
        [
            contacts.position[mine],
            sign * contacts.frame[mine, 0],
            -contacts.distance[mine, None],
            wrench,
            -wrench,
        ]
    )
    return keys, values


def _template(simulation: Simulation) -> cdr.MessageTemplate:
    names, model = simulation.names, simulation.engine.model
    # Index -1 denotes a flex and selects the last entry.
    bodies = [*names.bodies, ""]
    geoms = [f"{bodies[model.geom_bodyid[k]]}::{geom}" for k, geom in enumerate(names.geoms)] + [""]
    header = {"stamp": cdr.STAMP, "frame_id": simulation.settings.world_frame}
    sides = [
        {"id": cdr.IntColumn(column), "name": cdr.Lookup(column, geoms), "type": Entity.COLLISION}
        for column in (2, 3)
    ]
    wrench = {
        "header": header,
        "body_1_name": {"data": cdr.Lookup(0, bodies)},
        "body_1_id": {"data": cdr.IntColumn(0)},
        "body_2_name": {"data": cdr.Lookup(1, bodies)},
        "body_2_id": {"data": cdr.IntColumn(1)},
        "body_1_wrench": cdr.Value(WRENCH),
        "body_2_wrench": cdr.Value(REACTION),
    }
    contact = {
        "collision1": sides[0],
        "collision2": sides[1],
        "positions": [cdr.Value(POSITION)],
        "normals": [cdr.Value(NORMAL)],
        "depths": [cdr.Value(DEPTH)],
        "wrenches": [wrench],
    }
    return cdr.template(GazeboContacts, {"header": header, "contacts": cdr.Repeat(contact)})
